"""A knob to turn in JupyterLab: a picture for each of several settings, with a slider below it.

from tictactoe.show.knob import knob
knob("c", (0, 0.5, 1, 2), lambda c: picture(...))
"""

from collections.abc import Callable, Sequence
from typing import Any

from tictactoe.games.pictures import Picture
from tictactoe.show.explorable import Explorable, Settings, View


def knob(
    name: str, values: Sequence[Any], draw: Callable[[Any], Picture], at: int = 0
) -> Explorable:
    """Show `draw(value)` for one of the `values`, first for number `at`, with a slider.

    A picture is drawn when it is first looked at, and kept.

    Raises ValueError if there is no such value.
    """
    values, drawn = list(values), {}
    if not 0 <= at < len(values):
        raise ValueError(f"a knob with {len(values)} values has no value number {at}")

    def view(_step: int, settings: Settings) -> View:
        number = values.index(settings[name])
        if number not in drawn:
            drawn[number] = draw(values[number])
        return View(drawn[number].svg, drawn[number].alt, f"{name} = {values[number]}")

    return Explorable(view, knobs={name: values}, at={name: values[at]})
