"""Caches rendered text, because most cells are the same in every student's notebook."""

from collections.abc import Callable
from functools import lru_cache, wraps

MAX_ENTRIES = 1000  # per function; more than the number of cells in a study
MAX_LENGTH = 20_000  # characters of a cached text; longer texts are written by students


def cache_render(function: Callable[..., str]) -> Callable[..., str]:
    """Cache the results of a function for the lifetime of the process.

    The result must depend only on the arguments, so that one student's text cannot change another
    student's page. The memory of the cache is bounded.
    """
    cached = lru_cache(MAX_ENTRIES)(function)

    @wraps(function)
    def render(text: str, *more: str) -> str:
        return (cached if len(text) <= MAX_LENGTH else function)(text, *more)

    return render
