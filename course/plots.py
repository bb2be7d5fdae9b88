"""Plots for the notebooks: one style, colours that everybody can tell apart, and alternative texts.

`figure()` makes matplotlib axes in the course's style, `picture(axes, alt)` ends a cell with them.
"""

import io

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tictactoe.view import Picture

# Okabe and Ito's palette: apart under all three colour-vision deficiencies. Markers and dashes
# differ too, so that nothing is told by colour alone.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLE = {
    "axes.grid": True,
    "axes.prop_cycle": mpl.cycler(color=COLOURS, marker=MARKERS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 11,
    "grid.alpha": 0.3,
    "svg.fonttype": "path",  # the same picture on every machine
    "svg.hashsalt": "course",  # and the same bytes
}


def figure(width: float = 7.0, height: float = 4.0) -> Axes:
    """New axes, `width` by `height` inches, in the course's style."""
    with mpl.rc_context(STYLE):
        return Figure(figsize=(width, height), layout="constrained").subplots()


def picture(axes: Axes, alt: str) -> Picture:
    """The axes' figure as a picture; `alt` says in words what it shows."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        axes.figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return Picture(svg[svg.index("<svg"):], alt)
