"""Something to explore: a picture that depends on a step and on settings, and on nothing else.

    from tictactoe.show.explorable import Explorable, View
    Explorable(lambda step, settings: View(svg, words, line), last=9, knobs={"c": (0, 1, 2)})

Buttons, a slider and the arrow keys go through the steps, Play goes by itself, and each knob has a
slider of its own. It all works where Python has neither threads nor numpy, in a browser.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tictactoe.show.pace import Stepper

TURN = "turn"  # what the slider of a knob sends, with two numbers: the knob's and the setting's

Settings = Mapping[str, Any]  # the value of each knob by its name


class View(NamedTuple):
    """What is shown: a picture, the same in words, and the line below it.

    `narrow` is the picture for a telephone, if the other one is too wide for it.
    """

    svg: str
    alt: str
    said: str
    narrow: str = ""


class Explorable(Stepper):
    """What `draw(step, settings)` draws, with the means to step and to turn its knobs.

    `last` is the number of the last step, or a function that finds it for the settings; without
    steps there are only the knobs. `knobs` has the values of each knob by its name, and `at` the
    values at which they begin, by default the first. End a notebook cell with it to show it.

    A step is drawn when it is looked at. What `draw` raises at first is raised here: a function
    that is not written yet says so as in any other cell.

    Raises ValueError for a knob without values, and for one that is to begin at none of its own.
    """

    def __init__(
        self,
        draw: Callable[[int, Settings], View],
        last: int | Callable[[Settings], int] = 0,
        knobs: Mapping[str, Sequence[Any]] | None = None,
        at: Settings | None = None,
        step: int = 0,
    ) -> None:
        super().__init__()
        self._draw, self._last = draw, last
        self._knobs = {name: list(values) for name, values in (knobs or {}).items()}
        self._at = {name: _place(name, values, at or {}) for name, values in self._knobs.items()}
        self.view = View("", "", "")
        self.go_to(step)

    @property
    def settings(self) -> Settings:
        """The value of each knob."""
        return {name: values[self._at[name]] for name, values in self._knobs.items()}

    @property
    def last(self) -> int:
        """The number of the last step."""
        return self._last(self.settings) if callable(self._last) else self._last

    def turn(self, name: str, value: Any) -> None:
        """Turn a knob to a value.

        Raises KeyError for a name and ValueError for a value that it does not have.
        """
        self._turn(name, self._knobs[name].index(value))

    def click(self, move: str) -> None:
        """Handle a click: as `Stepper` does, or "turn K N": knob number K to its value N."""
        word, _, rest = move.partition(" ")
        if word != TURN:
            super().click(move)
            return
        knob, number = map(int, rest.split())
        self._turn(list(self._knobs)[knob], number)

    def _turn(self, name: str, number: int) -> None:
        with self.board.lock:
            self._at[name] = min(max(number, 0), len(self._knobs[name]) - 1)
            self.step = min(self.step, self.last)
            self.paint()

    def paint(self) -> None:
        """Show the step with the settings."""
        last = self.last
        self.view = self._draw(self.step, self.settings)
        self.pace.running &= self.step < last
        steps = (
            {
                "buttons": self.BUTTONS | self.pace.buttons(),
                "slider": (self.step, last),
                "arrows": self.ARROWS,
                "auto": self.pace.auto(self.step),
            }
            if last
            else {"arrows": self._only_knob()}
        )
        self.board.show(
            self.view.svg,
            self.view.alt,
            self.pace.words() + self.view.said,
            knobs=[
                [name, self._at[name], len(values) - 1, str(values[self._at[name]])]
                for name, values in self._knobs.items()
            ],
            narrow=self.view.narrow,
            **steps,
        )

    def _only_knob(self) -> dict[str, str]:
        """Without steps the arrow keys turn the knob, if there is but one."""
        if len(self._knobs) != 1:
            return {}
        ((name, values),) = self._knobs.items()
        at, last = self._at[name], len(values) - 1
        return {
            "ArrowLeft": f"{TURN} 0 {max(at - 1, 0)}",
            "Home": f"{TURN} 0 0",
            "ArrowRight": f"{TURN} 0 {min(at + 1, last)}",
            "End": f"{TURN} 0 {last}",
        }

    def __repr__(self) -> str:
        turned = "".join(f", {name} = {value}" for name, value in self.settings.items())
        return f"<Explorable at {self.step} of {self.last}{turned}: {self.view.said}>"


def _place(name: str, values: Sequence[Any], at: Settings) -> int:
    """Where among its values a knob begins."""
    if not values:
        raise ValueError(f"the knob {name!r} has no values")
    if name not in at:
        return 0
    if at[name] not in values:
        raise ValueError(
            f"the knob {name!r} cannot begin at {at[name]!r}; its values are "
            + ", ".join(map(str, values))
        )
    return values.index(at[name])
