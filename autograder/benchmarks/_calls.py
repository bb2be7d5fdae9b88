"""Calls functions here, or on the workers of a cluster; what they need of an answer goes with them.

Workers have the public packages only. Functions and agents of an answer are sent as they are, and
say how they play: name a cluster whose workers only staff can reach.
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

from sequence.league.cluster import called, executor, kit_digest
from sequence.league.players.specs import LeagueError

Call = Callable[..., Callable[[], Any]]


@contextmanager
def calls(scheduler: str | None = None) -> Iterator[Call]:
    """Yield `call(function, *arguments)`, which gives a function that returns the result.

    Here it is called when that is asked for; on the cluster of a scheduler at once, beside others.
    Raises LookupError where there is no cluster, or no longer.
    """
    if scheduler is None:
        yield partial
        return
    try:
        with executor(scheduler) as workers:
            yield (
                lambda function, *arguments: (
                    workers.submit(called, kit_digest(), _packed(function, arguments)).result
                )
            )
    except LeagueError as error:
        raise LookupError(str(error)) from error
    except CancelledError as error:
        raise LookupError(f"the cluster at {scheduler} was lost") from error


def _packed(function: Callable, arguments: tuple) -> bytes:
    """A function and its arguments, with the code of what no worker could import.

    cloudpickle does that but for functions with a cache: these get a new one.
    """

    class Pickler(import_module("cloudpickle").Pickler):  # which comes with Dask
        def reducer_override(self, found):
            if isinstance(found, type(cache(len))) and found.__module__ not in sys.modules:
                return operator.call, (lru_cache(**found.cache_parameters()), found.__wrapped__)
            return super().reducer_override(found)

    with io.BytesIO() as file:
        Pickler(file).dump((function, arguments))
        return file.getvalue()
