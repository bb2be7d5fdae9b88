"""Parsing in several threads at once."""

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from common.syntax import parse_python, read_expression, read_literal

MODULE = Path(ast.__file__).read_text("utf-8")
LITERAL = str(list(range(2000)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (parse_python, MODULE),
        (read_expression, LITERAL),
        (read_literal, LITERAL),
    ],
    ids=["parse_python", "read_expression", "read_literal"],
)
def test_many_threads_can_parse_at_once(reader, text):
    """No parse fails while another one is interrupted, as by the garbage collector."""

    def collecting(*_) -> None:
        sum(range(300))  # long enough for another thread to take over

    interval = sys.getswitchinterval()
    gc.callbacks.append(collecting)
    try:
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(lambda _: reader(text), range(300)))
    finally:
        sys.setswitchinterval(interval)
        gc.callbacks.remove(collecting)
    assert len(trees) == 300


@pytest.mark.parametrize("text", ["(1, 'x')", "  [1.5, None]", "{'a': -1}"])
def test_literals_are_read_as_by_ast(text):
    """The values are those of `ast.literal_eval`, also after spaces."""
    assert read_literal(text) == read_literal(read_expression(text)) == ast.literal_eval(text)


def test_a_call_is_not_a_literal():
    """Only literals are evaluated."""
    with pytest.raises(ValueError, match="malformed node"):
        read_literal("print()")
