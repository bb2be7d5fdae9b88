"""Asks the submission's module the cases of one check: the warm twin of `course.probes.answer`."""

import contextlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from course.probes.answer import answer_cases
from course.probes.positions import read_position
from course.probes.question import texts_of

from .isolate import FOLDER


def warm_up() -> None:
    """Import in advance what submissions' modules import."""
    import course.probes.made_up  # noqa: F401
    import tictactoe  # noqa: F401


def answer(request: dict[str, Any], send: Callable[[dict], None], *_) -> None:
    """Load the module that the request names, and send one frame for each case.

    The positions are read first, in this process alone: nothing that the module does to the players
    of sampled games alters one, and no other process knows of them.
    """
    for text in chain.from_iterable(map(texts_of, request["cases"])):
        with contextlib.suppress(ValueError):  # a case that asks for what is not there says so
            read_position(text)
    answer_cases(FOLDER / Path(request["module"]).name, request["ask"], request["cases"], send)
