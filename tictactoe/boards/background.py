"""Runs work in a background thread or, in a browser without threads, immediately."""

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Thread, Timer

HAS_THREADS = sys.platform != "emscripten"  # Python in a browser cannot start threads


def run_in_background(work: Callable[[], object], seconds: float = 0.0) -> None:
    """Run `work` in a new thread and in a copy of this context, after a delay of `seconds`."""
    if not HAS_THREADS:
        work()
        return
    run = copy_context().run
    thread = Timer(seconds, run, (work,)) if seconds else Thread(target=run, args=(work,))
    thread.daemon = True
    thread.start()
