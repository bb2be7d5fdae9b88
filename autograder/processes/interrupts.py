"""Makes Ctrl-C end a starting command silently, with the exit status that a shell expects.

A command imports modules for about a second before it can clean up anything. A KeyboardInterrupt
raised there would end in a traceback.
"""

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT


def end_silently_when_interrupted() -> None:
    """Let Ctrl-C end this process immediately, until `raise_when_interrupted`.

    If Ctrl-C has been received since `block_interrupts`, even by the program that this process ran
    before, the process ends now. If SIGINT is being ignored, it remains ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def raise_when_interrupted() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def block_interrupts() -> None:
    """Delay Ctrl-C until `end_silently_when_interrupted` is called in the program that this process
    runs next.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
