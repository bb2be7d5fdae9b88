"""A knob to turn in JupyterLab: a picture for each of several settings, with a slider below it.

    from tictactoe.show.knob import knob
    knob("c", (0, 0.5, 1, 2), lambda c: picture(...))
"""

from collections.abc import Callable, Sequence
from typing import Any

from tictactoe.games.pictures import Picture
from tictactoe.show.click_board import ClickBoard, OnBoard


class Knob(OnBoard):
    """A picture that depends on a setting; `knob` makes it. End a notebook cell with it.

    `value` is the setting that is shown. In an exported page the picture stays as it was.
    """

    def __init__(self, name: str, values: Sequence[Any], draw: Callable[[Any], Picture],
                 at: int = 0) -> None:
        self._name, self._values, self._draw = name, list(values), draw
        self._drawn: dict[int, Picture] = {}
        self._at = at
        self.board = ClickBoard(self.click)
        self._paint()

    @property
    def value(self) -> Any:
        """The setting that is shown."""
        return self._values[self._at]

    def click(self, move: str) -> None:
        """Turn the knob: "step N" is setting number N; anything else is ignored."""
        word, _, number = move.partition(" ")
        if word == "step" and number.isdecimal() and int(number) < len(self._values):
            with self.board.lock:
                self._at = int(number)
                self._paint()

    def _paint(self) -> None:
        if self._at not in self._drawn:
            self._drawn[self._at] = self._draw(self.value)
        drawn = self._drawn[self._at]
        self.board.show(drawn.svg, drawn.alt, f"{self._name} = {self.value}",
                        slider=(self._at, len(self._values) - 1),
                        arrows=self._arrows())

    def _arrows(self) -> dict[str, str]:
        """The settings beside this one, by arrow key."""
        last = len(self._values) - 1
        return {"ArrowLeft": f"step {max(self._at - 1, 0)}",
                "ArrowRight": f"step {min(self._at + 1, last)}"}

    def __repr__(self) -> str:
        return f"<Knob {self._name} = {self.value}: {self._drawn[self._at].alt}>"


def knob(name: str, values: Sequence[Any], draw: Callable[[Any], Picture], at: int = 0) -> Knob:
    """Show `draw(value)` for one of the `values`, first for number `at`, with a slider.

    A picture is drawn when it is first looked at, and kept.

    Raises ValueError if there is no such value.
    """
    if not 0 <= at < len(values):
        raise ValueError(f"a knob with {len(values)} values has no value number {at}")
    return Knob(name, values, draw, at)
