"""Parses Python code, in one thread at a time.

In CPython, at least up to 3.11, all threads share the recursion depth of `ast.parse`. It raises a
SystemError if the garbage collector runs Python code during a call and another thread parses
(gh-106905).
"""

import ast
import codecs
import io
import re
import tokenize
from contextlib import suppress
from threading import RLock
from typing import Any

SHELL_LINES = re.compile(r"^[%!].*$", re.MULTILINE)  # lines of a cell that are not Python
SLOW_ENCODING = "punycode"  # an encoding in which Python needs hours to decode megabytes
_lock = RLock()


def text_of(module: bytes) -> str:
    """A module's text, decoded as Python does: by its byte order mark or encoding declaration.

    Invalid bytes become replacement characters.
    """
    with suppress(SyntaxError, LookupError, UnicodeError):  # Python cannot decode the text either
        encoding, _ = tokenize.detect_encoding(io.BytesIO(module).readline)
        if codecs.lookup(encoding).name != SLOW_ENCODING:
            return module.decode(encoding, "replace")
    return module.decode("utf-8", "replace")


def parse_python(text: str | bytes, name: str = "<unknown>") -> ast.Module:
    """The syntax tree of a module's text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    with _lock:
        return ast.parse(text, name)  # noqa: TID251


def read_expression(text: str) -> ast.expr:
    """The syntax tree of an expression.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.
    """
    with _lock:
        return ast.parse(text.lstrip(" \t"), mode="eval").body  # noqa: TID251


def read_literal(text: str | ast.expr) -> Any:
    """The value of a literal, such as `(1, "x")`, given as text or as its syntax tree.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.literal_eval` does.
    """
    return ast.literal_eval(read_expression(text) if isinstance(text, str) else text)  # noqa: TID251
