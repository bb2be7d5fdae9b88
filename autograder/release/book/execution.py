"""Executes a notebook so that Ctrl-C and SIGTERM still reach the command that runs this code.

While a kernel runs, nbclient replaces the handlers of both signals, unless it runs in a thread. So
it runs in a thread here, and the main thread receives the `KeyboardInterrupt` that the command's
own handlers raise.
"""

import asyncio
import atexit
from concurrent.futures import wait
from threading import Thread

from nbclient import NotebookClient

SIGNAL_POLL_SECONDS = 0.5  # between checks for signals on Windows, where a wait is not interrupted
CLEANUP_SECONDS = 0.5  # for an interrupted kernel to end; the command's end kills it


def execute(client: NotebookClient) -> None:
    """Run all cells of a client's notebook; if interrupted, end its kernel."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    execution = asyncio.run_coroutine_threadsafe(client.async_execute(), loop)
    try:
        while not wait([execution], SIGNAL_POLL_SECONDS).done:
            pass
    except KeyboardInterrupt:
        execution.cancel()
        atexit.unregister(client._cleanup_kernel)  # registered by nbclient
        asyncio.run_coroutine_threadsafe(_cleanup(), loop).result()
        raise
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    execution.result()


async def _cleanup() -> None:
    """Give the cancelled execution time to shut the kernel down."""
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        _, unfinished = await asyncio.wait(others, timeout=CLEANUP_SECONDS)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
