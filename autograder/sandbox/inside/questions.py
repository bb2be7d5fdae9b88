"""Asks the submission's module the cases of one check: the warm twin of `course.probes.answer`."""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from course.probes.answer import answer_cases
from course.probes.positions import read_position

from .isolate import FOLDER


def warm_up() -> None:
    """Import in advance what submissions' modules import."""
    import course.probes.made_up  # noqa: F401
    import tictactoe  # noqa: F401


def get_ready(positions: Iterable[str]) -> None:
    """Read positions in the parent: every submission is asked the same ones, and inherits them."""
    for text in positions:
        with contextlib.suppress(ValueError):  # a case that asks for what is not there says so
            read_position(text)


def answer(request: dict[str, Any], send: Callable[[dict], None], *_) -> None:
    """Load the module that the request names, and send one frame for each case."""
    answer_cases(FOLDER / Path(request["module"]).name, request["ask"], request["cases"], send)
