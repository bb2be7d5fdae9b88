"""Ctrl-C while a command starts ends it silently, with the exit status that a shell expects.

A command imports modules for about a second before it can clean up anything. A KeyboardInterrupt
raised there would end in a traceback.
"""

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT


def end_silently_when_interrupted() -> None:
    """Let Ctrl-C end this process immediately, until `raise_when_interrupted`.

    A Ctrl-C since `block_interrupts`, also by the program that became this one, ends it now. If
    SIGINT is ignored, it stays ignored.
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
    """Let Ctrl-C wait for `end_silently_when_interrupted`, in the program that is run next."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _end(_number: int, _frame: object) -> None:
    os._exit(INTERRUPTED)
