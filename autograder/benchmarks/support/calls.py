"""Calls functions in this process or on the workers of a cluster, with the code of answers.

Workers have only the public packages. Functions and agents of an answer are sent together with
their code. This reveals the code, so use only a cluster whose workers are accessible to staff
alone.
"""

import io
import operator
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from sequence.league.cluster import call_remotely, executor, game_code_digest
from sequence.league.players.specs import LeagueError

Call = Callable[..., Callable[[], Any]]


@contextmanager
def calls(scheduler: str | None = None) -> Iterator[Call]:
    """Yield `call(function, *arguments)`, which returns a function that returns the result.

    Without a scheduler, the call is made when the result is requested; on a cluster, it starts
    immediately and in parallel. Raises LookupError if there is no cluster or if the connection to
    it is lost.
    """
    if scheduler is None:
        yield partial
        return
    try:
        with executor(scheduler) as workers:
            yield (
                lambda function, *arguments: (
                    workers.submit(
                        call_remotely, game_code_digest(), _packed(function, arguments)
                    ).result
                )
            )
    except LeagueError as error:
        raise LookupError(str(error)) from error
    except CancelledError as error:
        raise LookupError(f"the cluster at {scheduler} was lost") from error


def _packed(function: Callable, arguments: tuple) -> bytes:
    """Pickle a function and its arguments, including code that workers cannot import.

    cloudpickle does this, except for functions with a cache, which are given a new cache.
    """

    base: Any = import_module("cloudpickle").Pickler  # installed with Dask

    class Pickler(base):
        def reducer_override(self, obj):
            if isinstance(obj, type(cache(len))) and obj.__module__ not in sys.modules:
                return operator.call, (lru_cache(**obj.cache_parameters()), obj.__wrapped__)
            return super().reducer_override(obj)

    with io.BytesIO() as file:
        Pickler(file).dump((function, arguments))
        return file.getvalue()
