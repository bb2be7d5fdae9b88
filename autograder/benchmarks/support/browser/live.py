"""Serves the live site as any web server would, and opens its course in a browser window."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from autograder.benchmarks.support.browser.harness import KIT, Browser

CACHE = KIT / "build" / "site-cache"
PLAY = """from tictactoe.boards.play_board import play_against


class First:
    def choose(self, state):
        return state.legal_moves()[0]


play_against(First(), values=lambda state, player: 0.5)"""
TYPES = {".mjs": "text/javascript", ".wasm": "application/wasm"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | TYPES

    def log_message(self, *_args: Any) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """A server that ignores connections that a page closes early."""

    def handle_error(self, *_request: Any) -> None:
        """Nothing."""


@contextmanager
def serve_site(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; yield the address."""
    with Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Live:
    """The live course in a window."""

    browser: Browser

    def wait_for(self, path: str) -> None:
        """Wait until the notebook is the current tab and Python is idle."""
        self.browser.page.wait_for_function(
            """path => { const now = window.jupyterapp?.shell.currentWidget;
                 return now?.context?.path === path
                   && now.sessionContext?.session?.kernel?.status === 'idle' }""",
            arg=path,
        )

    def open(self, path: str) -> None:
        """Open a notebook, and wait for Python."""
        self.browser.command("docmanager:open", path=path)
        self.wait_for(path)

    def write(self, path: str, text: str) -> None:
        """Write a file in Lab's editor, and save it."""
        self.browser.command("docmanager:open", path=path)
        self.browser.page.wait_for_function(
            "path => jupyterapp.shell.currentWidget?.context?.path === path", arg=path
        )
        self.browser.evaluate(
            "text => { const file = jupyterapp.shell.currentWidget.context;"
            " return file.ready.then(() => { file.model.sharedModel.setSource(text);"
            " return file.save() }).then(() => 0) }",
            text,
        )

    def run(self, source: str) -> list[dict[str, Any]]:
        """Add a cell to the end of the current notebook and run it; return its outputs."""
        last = len(self.browser.cells()) - 1
        self.browser.show_cell(last)
        self.browser.command("notebook:insert-cell-below")
        self.browser.write_cell(last + 1, source)
        self.browser.command("notebook:change-cell-to-code")
        self.browser.run_cell(last + 1)
        return self.browser.cells()[last + 1]["outputs"]
