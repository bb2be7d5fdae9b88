"""A board to click on in JupyterLab, for any game that draws its positions as SVG."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock

import anywidget
import traitlets

from tictactoe.errors import describe
from tictactoe.games.pictures import image


class ClickBoard(anywidget.AnyWidget):
    """A picture whose parts can be clicked, with a line of text and a row of buttons below it.

    The buttons and the SVG elements with a `data-move` can be clicked. They work by mouse and by
    keyboard: Tab to the picture, arrow keys to the next element in that direction, Enter or Space.
    A screen reader reads an element's `data-label`, and every change of the text.

    `on_click` is called with the move that was clicked; what it raises becomes the text. The
    picture can be told to change at any time by `show`. Where there are no widgets, in an exported
    page or a notebook that is not trusted, the picture is left as it was when it was displayed.

    Clicks may come in several threads. `lock` is held by who changes what is shown, and never while
    an agent thinks (`tictactoe.show.asking`).
    """

    _esm = Path(__file__).with_suffix(".js")
    # All in one, so that the page never paints half a change: svg, alt, status, buttons (pairs of
    # move and label), and for a slider the step and the last step.
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self, on_click: Callable[[str], None]) -> None:
        super().__init__(shown={"svg": "", "alt": "", "status": "", "buttons": []})
        self.lock = RLock()
        self._on_click = on_click
        self.on_msg(self._clicked)

    def show(self, svg: str, alt: str, status: str = "", buttons: Mapping[str, str] | None = None,
             slider: tuple[int, int] | None = None) -> None:
        """Paint a position.

        `buttons` maps the move that a button sends to its label. `slider` holds the step that is
        shown and the last step, both counted from 0; moving it sends "step N".
        """
        shown = {"svg": svg, "alt": alt, "status": status,
                 "buttons": [list(button) for button in (buttons or {}).items()]}
        if slider is not None:
            shown["step"], shown["last"] = slider
        with self.lock:
            self.shown = shown

    def _clicked(self, _widget: object, content: object, _buffers: object) -> None:
        move = content.get("move") if isinstance(content, dict) else None
        if not isinstance(move, str):
            return
        try:
            self._on_click(move)
        except Exception as error:  # else it would only be in the kernel's log
            with self.lock:
                self.shown = self.shown | {"status": describe(error)}

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        still = {"text/html": image(self.shown["svg"], self.shown["alt"]),
                 "text/plain": f"{self.shown['alt']}\n{self.shown['status']}".strip()}
        return data | still, metadata
