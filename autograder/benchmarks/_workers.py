"""Work for all cores: a function with each of many keys, in processes that Ctrl-C ends at once."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any


def on_all_cores(
    function: Callable, keys: Sequence[tuple], what: str
) -> Iterator[tuple[tuple, Any]]:
    """Each key and what the function makes of it, as they are done.

    A line on standard error counts them: "3 of 20 `what`". Who stops early waits for none that has
    not been begun.
    """
    with ProcessPoolExecutor(
        os.cpu_count(), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL)
    ) as workers:
        begun = {workers.submit(function, *key): key for key in keys}
        try:
            for done, future in enumerate(as_completed(begun), 1):
                yield begun[future], future.result()
                print(f"\r{done} of {len(keys)} {what}", end="", file=sys.stderr, flush=True)
        finally:
            workers.shutdown(cancel_futures=True)
    if keys:
        print(file=sys.stderr)
