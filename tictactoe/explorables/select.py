"""A slider in JupyterLab that chooses among pictures, one for each value of an option.

from tictactoe.explorables.select import option_slider
option_slider("c", (0, 0.5, 1, 2), lambda c: picture(...))
"""

from collections.abc import Callable, Sequence
from typing import Any

from tictactoe.explorables.explorable import Explorable, Settings, View
from tictactoe.games.pictures import Picture


def option_slider(
    name: str, values: Sequence[Any], draw: Callable[[Any], Picture], initial: int = 0
) -> Explorable:
    """Show `draw(value)` with a slider that chooses among the `values`.

    `initial` is the index of the value shown first. A picture is drawn when it is first needed, and
    cached.

    Raises ValueError if there is no such index.
    """
    values, drawn = list(values), {}
    if not 0 <= initial < len(values):
        raise ValueError(f"an option with {len(values)} values has no value number {initial}")

    def view(_step: int, settings: Settings) -> View:
        number = values.index(settings[name])
        if number not in drawn:
            drawn[number] = draw(values[number])
        return View(drawn[number].svg, drawn[number].alt, f"{name} = {values[number]}")

    return Explorable(view, options={name: values}, initial={name: values[initial]})
