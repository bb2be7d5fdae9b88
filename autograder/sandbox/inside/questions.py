"""Runs the cases of one check on the submission's module like `course.checks.running.query_runner`,
but in a forked process in which everything has already been imported.
"""

import contextlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from course.checks.positions import read_position
from course.checks.question import texts_of
from course.checks.running.query_runner import answer_cases

from .isolate import FOLDER


def warm_up() -> None:
    """Import what submissions' modules import."""
    import course.checks.toy_games  # noqa: F401
    import tictactoe  # noqa: F401


def answer(request: dict[str, Any], send: Callable[[dict], None], *_) -> None:
    """Load the module that the request names, and send one frame for each case.

    The positions are read first, and only in this process. So the module cannot alter them by
    changing the players of sampled games, and they are unknown to other processes.
    """
    for text in chain.from_iterable(map(texts_of, request["cases"])):
        with contextlib.suppress(ValueError):  # the case itself will report the error
            read_position(text)
    answer_cases(FOLDER / Path(request["module"]).name, request["ask"], request["cases"], send)
