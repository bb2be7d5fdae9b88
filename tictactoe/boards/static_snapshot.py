"""A static picture of a board, visible in its notebook when the widget is gone.

A widget lives only as long as its kernel. In a saved notebook, JupyterLab shows "model not found"
instead. The cell therefore has two outputs: the widget and, below it, a picture that is updated
with the game. A CSS rule shows only one of them: the widget if it is alive, otherwise the picture.
Since this requires no code, it also works after a restart, after a reload and on another machine.
"""

from collections.abc import Mapping
from html import escape
from threading import RLock
from typing import Any
from uuid import uuid4

from IPython import get_ipython
from IPython.display import publish_display_data

from tictactoe.boards.background import run_in_background

WIDGET = "application/vnd.jupyter.widget-view+json"
UPDATE_DELAY = 0.3  # seconds from a change of the board to that of the picture
SNAPSHOT_HINT = "A static picture. Run this cell to continue."
FALLBACK_CLASS = "leaves-words"  # the class of widgets other than boards
# JupyterLab marks widgets whose kernel has stopped; boards detect that themselves.
CONNECTED = f".{FALLBACK_CLASS}:not(.jupyter-widgets-disconnected)"
OUTPUT, LIVE_WIDGET, SNAPSHOT = (
    ".jp-OutputArea-child",
    f":is(.click-board, {CONNECTED})",
    ".board-still",
)
STYLE = (
    f"<style>{OUTPUT}:has({LIVE_WIDGET}) + {OUTPUT}:has({SNAPSHOT}), "
    f"{OUTPUT}:not(:has({LIVE_WIDGET})):has(+ {OUTPUT} {SNAPSHOT}) {{ display: none; }}</style>"
)


class StaticSnapshot:
    """The picture below a widget; creating it displays both.

    `data` is the MIME bundle of the widget: its view, its picture as HTML, and its text. `caption`
    is the sentence below the picture.
    """

    def __init__(self, data: Mapping[str, Any], caption: str = SNAPSHOT_HINT) -> None:
        self._id, self._caption = uuid4().hex, caption
        self._lock, self._is_waiting = RLock(), False
        self._current = dict(data)
        view = self._current.pop(WIDGET, None)
        if view is not None:
            publish_display_data({WIDGET: view, "text/html": "", "text/plain": ""})
        self._next = self._current
        self._publish(update=False)

    def update(self, data: Mapping[str, Any]) -> None:
        """Show another picture after a short delay, so that the page can paint the board first."""
        with self._lock:
            self._next = dict(data)
            if not self._is_waiting:
                self._is_waiting = True
                run_in_background(self.flush, UPDATE_DELAY)

    def flush(self) -> None:
        """Show the latest picture now."""
        with self._lock:
            self._is_waiting = False
            if self._next["text/html"] == self._current["text/html"]:
                return
            self._current = self._next
            self._publish(update=True)

    def _publish(self, update: bool) -> None:
        picture = self._current["text/html"]
        page = f'{STYLE}<div class="board-still">{picture}<p>{self._caption}</p></div>'
        publish_display_data(
            self._current | {"text/html": page}, transient={"display_id": self._id}, update=update
        )


def show_with_fallback(widget: Any, text: str) -> None:
    """Show a widget other than a board, with a text that replaces the widget when it is gone."""
    widget.add_class(FALLBACK_CLASS)
    bundle = widget._repr_mimebundle_()
    view = (bundle[0] if isinstance(bundle, tuple) else bundle)[WIDGET]
    StaticSnapshot({WIDGET: view, "text/html": "", "text/plain": text}, escape(text))


def in_kernel() -> bool:
    """Whether this runs in a notebook's kernel, as opposed to a script or a test."""
    return getattr(get_ipython(), "kernel", None) is not None
