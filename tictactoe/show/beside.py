"""Does something beside the thread that asks for it; in a browser, which has no other, at once."""

import sys
from collections.abc import Callable
from contextvars import copy_context
from threading import Thread, Timer

HAS_THREADS = sys.platform != "emscripten"  # Python in a browser starts none


def beside(work: Callable[[], object], seconds: float = 0.0) -> None:
    """Do `work` in a thread of its own and in a copy of this context, after so many `seconds`."""
    if not HAS_THREADS:
        work()
        return
    run = copy_context().run
    thread = Timer(seconds, run, (work,)) if seconds else Thread(target=run, args=(work,))
    thread.daemon = True
    thread.start()
