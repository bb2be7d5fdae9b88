"""Buttons and rows of the overview."""

from collections.abc import Callable

import ipywidgets as widgets


def button(name: str, work: Callable[[], object]) -> widgets.Button:
    """A button that is as wide as its name."""
    made = widgets.Button(description=name, layout={"width": "auto"})
    made.on_click(lambda _button: work())
    return made


def row(*children: widgets.Widget) -> widgets.Box:
    """Widgets next to each other, in several lines if the window is narrow."""
    return widgets.Box(children, layout={"flex_flow": "row wrap", "align_items": "center"})
