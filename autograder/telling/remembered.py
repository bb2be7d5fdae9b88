"""Remembers what a text looks like on a page: most cells are the same in everybody's notebook."""

from collections.abc import Callable
from functools import lru_cache, wraps

TEXTS = 1000  # that one function remembers: more than the cells of a study
LONGEST = 20_000  # characters of one; what is longer is a student's own


def remembered(function: Callable[..., str]) -> Callable[..., str]:
    """Let a function remember its results for the life of the process.

    Only for functions whose result follows from what they are given: then one student's text can
    change nothing on another's page. Memory is bounded, whatever is handed in.
    """
    kept = lru_cache(TEXTS)(function)

    @wraps(function)
    def remembering(text: str, *more: str) -> str:
        return (kept if len(text) <= LONGEST else function)(text, *more)

    return remembering
