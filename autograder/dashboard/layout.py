"""Makes buttons and rows for the overview."""

from collections.abc import Callable

import ipywidgets as widgets


def button(name: str, work: Callable[[], object]) -> widgets.Button:
    """Return a button that is as wide as its name."""
    made = widgets.Button(description=name, layout={"width": "auto"})
    made.on_click(lambda _button: work())
    return made


def row(*children: widgets.Widget) -> widgets.Box:
    """Return a row of widgets, which takes several lines if the window is narrow."""
    return widgets.Box(children, layout={"flex_flow": "row wrap", "align_items": "center"})
