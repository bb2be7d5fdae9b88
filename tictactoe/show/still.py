"""The picture that a board leaves in its notebook: it is seen wherever the widget is gone.

A widget lives as long as its kernel. JupyterLab keeps its place in the saved notebook and says
"model not found" there later. So the cell gets two outputs: the widget, and below it a picture that
follows the game. One rule of style shows only one of them: the widget if it is alive, or else the
picture. Nothing has to run for that, so it holds after a restart, a reload and on another machine.
"""

from collections.abc import Mapping
from html import escape
from threading import RLock
from typing import Any
from uuid import uuid4

from IPython import get_ipython
from IPython.display import publish_display_data

from tictactoe.show.beside import beside

WIDGET = "application/vnd.jupyter.widget-view+json"
CALM = 0.3  # seconds between a change of the board and that of the picture below it
GO_ON = "A still picture: run this cell to go on."
LIVE = "leaves-words"  # a class of widgets that are no boards
# JupyterLab marks a widget whose kernel has stopped; a board shows that itself.
CONNECTED = f".{LIVE}:not(.jupyter-widgets-disconnected)"
OUTPUT, ALIVE, STILL = ".jp-OutputArea-child", f":is(.click-board, {CONNECTED})", ".board-still"
STYLE = (
    f"<style>{OUTPUT}:has({ALIVE}) + {OUTPUT}:has({STILL}), "
    f"{OUTPUT}:not(:has({ALIVE})):has(+ {OUTPUT} {STILL}) {{ display: none; }}</style>"
)


class Still:
    """The picture below one widget; making it shows both.

    `data` is the MIME bundle of the widget: its view, its picture as HTML, and its words. `say` is
    the sentence below the picture.
    """

    def __init__(self, data: Mapping[str, Any], say: str = GO_ON) -> None:
        self._id, self._say = uuid4().hex, say
        self._lock, self._is_waiting = RLock(), False
        self._shown = dict(data)
        view = self._shown.pop(WIDGET, None)
        if view is not None:
            publish_display_data({WIDGET: view, "text/html": "", "text/plain": ""})
        self._next = self._shown
        self._publish(update=False)

    def update(self, data: Mapping[str, Any]) -> None:
        """Show another picture, a little later: what the page paints now comes first."""
        with self._lock:
            self._next = dict(data)
            if not self._is_waiting:
                self._is_waiting = True
                beside(self.flush, CALM)

    def flush(self) -> None:
        """Show the latest picture now, unless it is shown already."""
        with self._lock:
            self._is_waiting = False
            if self._next["text/html"] == self._shown["text/html"]:
                return
            self._shown = self._next
            self._publish(update=True)

    def _publish(self, update: bool) -> None:
        page = f'{STYLE}<div class="board-still">{self._shown["text/html"]}<p>{self._say}</p></div>'
        publish_display_data(
            self._shown | {"text/html": page}, transient={"display_id": self._id}, update=update
        )


def show_with_words(widget: Any, words: str) -> None:
    """Show a widget that is no board; these words are seen where it is gone."""
    widget.add_class(LIVE)
    bundle = widget._repr_mimebundle_()
    view = (bundle[0] if isinstance(bundle, tuple) else bundle)[WIDGET]
    Still({WIDGET: view, "text/html": "", "text/plain": words}, escape(words))


def in_kernel() -> bool:
    """Whether this runs in a notebook's kernel, and not in a script or a test."""
    return getattr(get_ipython(), "kernel", None) is not None
