"""A kernel, started like JupyterLab's, in a folder with a study's files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_client.manager import KernelManager

START = 60  # seconds that a kernel may need under load
CELL = 600  # and a cell


class Kernel:
    """Runs cells one after another."""

    def __init__(self, client, manager: KernelManager) -> None:
        self._client, self._manager = client, manager

    def run(self, cell: str, interrupt_at: str | None = None) -> tuple[str, str]:
        """How the cell ended ("ok" or "error"), and its output.

        The kernel is interrupted after it has shown the text `interrupt_at`.
        """
        shown: list[str] = []

        def keep(message: dict) -> None:
            content = message["content"]
            shown.extend(
                [content["text"]]
                if message["msg_type"] == "stream"
                else content["traceback"]
                if message["msg_type"] == "error"
                else [content["data"].get("text/plain", "")]
                if "data" in content
                else []
            )
            if interrupt_at and interrupt_at in content.get("text", ""):
                self._manager.interrupt_kernel()

        reply = self._client.execute_interactive(cell, output_hook=keep, timeout=CELL)
        return reply["content"]["status"], "".join(shown)


@contextmanager
def kernel_in(folder: Path, **environment: str) -> Iterator[Kernel]:
    """A new kernel in a folder."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(
        cwd=folder, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4]), **environment}
    )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=START)
        yield Kernel(client, manager)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
