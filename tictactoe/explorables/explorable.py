"""An interactive picture that depends only on a step and on settings.

    from tictactoe.explorables.explorable import Explorable, View
    Explorable(lambda step, settings: View(svg, alt, status), last=9, options={"c": (0, 1, 2)})

Buttons, a slider and the arrow keys move through the steps, Play runs through them automatically,
and each option has its own slider. It also works in a browser, where Python may lack threads and
numpy.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tictactoe.boards.playback import Stepper

SET_OPTION = "set"  # what an option's slider sends, with the numbers of the option and its value

Settings = Mapping[str, Any]  # the value of each option by its name


class View(NamedTuple):
    """A picture, its alternative text, and the status line below it.

    `compact` is the picture for a phone, if `svg` is too wide for one.
    """

    svg: str
    alt: str
    status: str
    compact: str = ""


class Explorable(Stepper):
    """Shows what `draw(step, settings)` returns, with controls for the step and the options.

    `last` is the number of the last step, or a function that computes it from the settings; by
    default there are no steps. `options` maps the name of each option to its values, and `initial`
    maps names to initial values, by default the first ones. End a notebook cell with it to show it.

    A step is drawn when it is shown. An error that `draw` raises for the first step is passed on,
    so a function that is not implemented yet is reported as in any other cell.

    Raises ValueError for an option without values and for an invalid initial value.
    """

    def __init__(
        self,
        draw: Callable[[int, Settings], View],
        last: int | Callable[[Settings], int] = 0,
        options: Mapping[str, Sequence[Any]] | None = None,
        initial: Settings | None = None,
        step: int = 0,
    ) -> None:
        super().__init__()
        self._draw, self._last = draw, last
        self._options = {name: list(values) for name, values in (options or {}).items()}
        self._positions = {
            name: _initial_index(name, values, initial or {})
            for name, values in self._options.items()
        }
        self.view = View("", "", "")
        self.go_to(step)

    @property
    def settings(self) -> Settings:
        """The value of each option."""
        return {name: values[self._positions[name]] for name, values in self._options.items()}

    @property
    def last(self) -> int:
        """The number of the last step."""
        return self._last(self.settings) if callable(self._last) else self._last

    def set_option(self, name: str, value: Any) -> None:
        """Set an option to a value.

        Raises KeyError for an unknown name and ValueError for an unknown value.
        """
        self._set_option(name, self._options[name].index(value))

    def click(self, move: str) -> None:
        """Handle a click: as `Stepper` does, or "set K N": option number K to its value N."""
        word, _, rest = move.partition(" ")
        if word != SET_OPTION:
            super().click(move)
            return
        option, number = map(int, rest.split())
        self._set_option(list(self._options)[option], number)

    def _set_option(self, name: str, number: int) -> None:
        with self.board.lock:
            self._positions[name] = min(max(number, 0), len(self._options[name]) - 1)
            self.step = min(self.step, self.last)
            self.paint()

    def paint(self) -> None:
        """Show the step with the settings."""
        last = self.last
        self.view = self._draw(self.step, self.settings)
        self.playback.running &= self.step < last
        steps = (
            {
                "buttons": self.BUTTONS | self.playback.buttons(),
                "slider": (self.step, last),
                "arrows": self.ARROWS,
                "auto": self.playback.auto(self.step),
            }
            if last
            else {"arrows": self._single_option_arrows()}
        )
        self.board.show(
            self.view.svg,
            self.view.alt,
            self.playback.speed_text() + self.view.status,
            options=[
                [name, self._positions[name], len(values) - 1, str(values[self._positions[name]])]
                for name, values in self._options.items()
            ],
            compact=self.view.compact,
            **steps,
        )

    def _single_option_arrows(self) -> dict[str, str]:
        """The arrow keys for a picture without steps: if there is a single option, they change it."""
        if len(self._options) != 1:
            return {}
        ((name, values),) = self._options.items()
        at, last = self._positions[name], len(values) - 1
        return {
            "ArrowLeft": f"{SET_OPTION} 0 {max(at - 1, 0)}",
            "Home": f"{SET_OPTION} 0 0",
            "ArrowRight": f"{SET_OPTION} 0 {min(at + 1, last)}",
            "End": f"{SET_OPTION} 0 {last}",
        }

    def __repr__(self) -> str:
        settings = "".join(f", {name} = {value}" for name, value in self.settings.items())
        return f"<Explorable at {self.step} of {self.last}{settings}: {self.view.status}>"


def _initial_index(name: str, values: Sequence[Any], initial: Settings) -> int:
    """The index of an option's initial value."""
    if not values:
        raise ValueError(f"the option {name!r} has no values")
    if name not in initial:
        return 0
    if initial[name] not in values:
        raise ValueError(
            f"the option {name!r} cannot begin at {initial[name]!r}; its values are "
            + ", ".join(map(str, values))
        )
    return values.index(initial[name])
