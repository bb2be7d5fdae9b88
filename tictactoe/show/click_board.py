"""A board to click on in JupyterLab, for any game that draws its positions as SVG."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from threading import RLock
from typing import Any

import anywidget
import traitlets

from tictactoe.errors import describe
from tictactoe.games.pictures import image
from tictactoe.show.asking import clicked_in_a_page
from tictactoe.show.still import Still, in_kernel


class ClickBoard(anywidget.AnyWidget):
    """A picture whose parts can be clicked, with a line of text and a row of buttons below it.

    The buttons and the SVG elements with a `data-move` can be clicked. They work by mouse and by
    keyboard: Tab to the picture, arrow keys to the next element in that direction, Enter or Space.
    Elements with a `data-place` can be visited, too, and those with a `data-layer` have neighbours
    by Page Up and Page Down. A screen reader reads an element's `data-label`, and every change of
    the text. Ctrl+Z and Ctrl+Y press the buttons "undo" and "redo".

    `on_click` is called with the move that was clicked; what it raises becomes the text. The
    picture can be told to change at any time by `show`. Where there are no widgets, in an exported
    page or a notebook that is not trusted, the picture is left as it was when it was displayed.

    Clicks may come in several threads. `lock` is held by who changes what is shown, and never while
    an agent thinks (`tictactoe.show.asking`).
    """

    _esm = Path(__file__).with_suffix(".js")
    _css = Path(__file__).with_suffix(".css")
    # All in one, so that the page never paints half a change: svg, alt, status, buttons (pairs of
    # move and label), and what else `show` was given.
    shown = traitlets.Dict().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)  # by which the page finds out whether it is alive

    def __init__(self, on_click: Callable[[str], None]) -> None:
        super().__init__(shown={"svg": "", "alt": "", "status": "", "buttons": []})
        self.own_id = self.model_id or ""
        self.lock = RLock()
        self._on_click = on_click
        self._still: Still | None = None
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

        `buttons` maps the move that a button sends to its label. `slider` holds the step that is
        shown and the last step, both counted from 0; moving it sends "step N". There may be `more`:
        `moves`, the game so far as a list of sentences; `busy`, true while an agent thinks;
        `arrows`, the moves that arrow keys send, by the name of the key, where they are not to go
        from place to place; `knobs`, more sliders below, each with its name, where it stands, its
        last place and its value as text, which send "turn" and two numbers; `narrow`, the picture
        as it is shown where `svg` would be too wide to be read whole; and `auto`, a move that
        the page sends by itself, with a number of milliseconds to wait, unless something is painted
        before. `off` names the buttons that cannot be pressed now.
        """
        shown: dict[str, Any] = {
            "svg": svg,
            "alt": alt,
            "status": status,
            "buttons": [list(button) for button in (buttons or {}).items()],
        }
        if slider is not None:
            shown["step"], shown["last"] = slider
        shown |= {name: extra for name, extra in more.items() if extra}
        with self.lock:
            self.shown = shown
            if self._still is not None:
                self._still.update(self._picture())

    def publish(self, bundle: Mapping[str, Any] | None = None, stays: bool = False) -> None:
        """Show the board in a notebook, with a picture that is seen when the widget is gone.

        The picture follows the board, or, if it `stays`, is what `bundle` has to show.
        """
        data = dict(bundle or self._repr_mimebundle_()[0])
        with self.lock:
            still = Still(data)
            self._still = None if stays else still

    def _clicked(self, _widget: object, content: object, _buffers: object) -> None:
        move = content.get("move") if isinstance(content, dict) else None
        if not isinstance(move, str):
            return
        try:
            with clicked_in_a_page() if in_kernel() else nullcontext():
                self._on_click(move)
        except Exception as error:  # else it would only be in the kernel's log
            with self.lock:
                self.shown = self.shown | {"status": describe(error)}

    def _picture(self) -> dict[str, str]:
        """What is left of the board without widgets."""
        return {
            "text/html": image(self.shown["svg"], self.shown["alt"], shrink=True),
            "text/plain": f"{self.shown['alt']}\n{self.shown['status']}".strip(),
        }

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return data | self._picture(), metadata

    def _ipython_display_(self) -> None:
        self.publish()


class OnBoard:
    """What is shown on a `ClickBoard`: end a notebook cell with it to show it."""

    board: ClickBoard

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.board._repr_mimebundle_(**kwargs)

    def _ipython_display_(self) -> None:
        self.board.publish(self._repr_mimebundle_()[0])
