"""A board to click on in JupyterLab, for any game that draws its positions as SVG."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from threading import RLock
from typing import Any

import anywidget
import traitlets

from common.errors import describe
from tictactoe.boards.agent_requests import handling_browser_click
from tictactoe.boards.static_snapshot import StaticSnapshot, in_kernel
from tictactoe.games.pictures import image


class ClickBoard(anywidget.AnyWidget):
    """A picture whose parts can be clicked, with a line of text and a row of buttons below it.

    The buttons and the SVG elements with a `data-move` can be clicked. They can also be used by
    keyboard: Tab moves to the picture, arrow keys to the next element in that direction, and Enter
    or Space clicks. Elements with a `data-place` can be focused as well, and Page Up and Page Down
    move between elements with a `data-layer`. Screen readers read an element's `data-label`, and
    the text whenever it changes. Ctrl+Z and Ctrl+Y press the buttons "undo" and "redo".

    `on_click` is called with the move that was clicked; an error that it raises is shown as the
    text. `show` changes the picture at any time. Exported pages and untrusted notebooks have no
    widgets, so they show the state of the picture at the time when it was displayed.

    Clicks may arrive in several threads. Hold `lock` while changing the content, but never while an
    agent thinks (`tictactoe.boards.agent_requests`).
    """

    _esm = Path(__file__).with_suffix(".js")
    _css = Path(__file__).with_suffix(".css")
    # A single value, so that the page never paints half a change: svg, alt, status, buttons (pairs
    # of move and label), and the other arguments of `show`.
    content = traitlets.Dict().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)  # lets the page check that the widget is alive

    def __init__(self, on_click: Callable[[str], None]) -> None:
        super().__init__(content={"svg": "", "alt": "", "status": "", "buttons": []})
        self.own_id = self.model_id or ""
        self.lock = RLock()
        self._on_click = on_click
        self._snapshot: StaticSnapshot | None = None
        self.on_msg(self._clicked)

    def show(
        self,
        svg: str,
        alt: str,
        status: str = "",
        buttons: Mapping[str, str] | None = None,
        slider: tuple[int, int] | None = None,
        **more: Any,
    ) -> None:
        """Paint a position.

        `buttons` maps the move that a button sends to the button's label. `slider` holds the
        current step and the last step, both counted from 0; moving it sends "step N". The optional
        arguments in `more` are

        - `moves`: the game so far as a list of sentences
        - `busy`: true while an agent thinks
        - `off`: the moves of disabled buttons
        - `arrows`: the moves that keys send, by the name of the key; otherwise arrow keys move the
          focus
        - `options`: more sliders, each with its name, position, last position and value as text,
          which send "set" and two numbers
        - `compact`: the picture to show if `svg` is too wide for the page
        - `auto`: a move that the page sends automatically after a number of milliseconds, unless
          something is painted before
        """
        content: dict[str, Any] = {
            "svg": svg,
            "alt": alt,
            "status": status,
            "buttons": [list(button) for button in (buttons or {}).items()],
        }
        if slider is not None:
            content["step"], content["last"] = slider
        content |= {name: extra for name, extra in more.items() if extra}
        with self.lock:
            self.content = content
            if self._snapshot is not None:
                self._snapshot.update(self._picture())

    def publish(self, bundle: Mapping[str, Any] | None = None, stays: bool = False) -> None:
        """Show the board in a notebook, with a picture that replaces the widget when it is gone.

        The picture is updated with the board; if `stays` is set, it remains the one in `bundle`.
        """
        data = dict(bundle or self._repr_mimebundle_()[0])
        with self.lock:
            snapshot = StaticSnapshot(data)
            self._snapshot = None if stays else snapshot

    def _clicked(self, _widget: object, content: object, _buffers: object) -> None:
        move = content.get("move") if isinstance(content, dict) else None
        if not isinstance(move, str):
            return
        try:
            with handling_browser_click() if in_kernel() else nullcontext():
                self._on_click(move)
        except Exception as error:  # otherwise, only the kernel's log would show it
            with self.lock:
                self.content = self.content | {"status": describe(error)}

    def _picture(self) -> dict[str, str]:
        """The MIME bundle that represents the board without widgets."""
        return {
            "text/html": image(self.content["svg"], self.content["alt"], shrink=True),
            "text/plain": f"{self.content['alt']}\n{self.content['status']}".strip(),
        }

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return data | self._picture(), metadata

    def _ipython_display_(self) -> None:
        self.publish()


class BoardDisplay:
    """An object that is displayed on a `ClickBoard` if a notebook cell ends with it."""

    board: ClickBoard

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.board._repr_mimebundle_(**kwargs)

    def _ipython_display_(self) -> None:
        self.board.publish(self._repr_mimebundle_()[0])
