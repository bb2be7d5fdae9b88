"""Notebooks show plots, not plotting code, which is in folded cells or in `course.plots`."""

import ast
import re

import jupytext
import pytest

from autograder.release.notebooks import is_folded, notebook_texts
from common.syntax import parse_python
from course.checks import load_study, studies

NOTEBOOKS = [path for name in studies() for path in notebook_texts(load_study(name).folder)]
PLOTTING = {"axes", "figure", "board_figure", "picture"}
MAX_LINES = 3  # plotting lines in a visible cell


def plotting_lines(source: str) -> int:
    """The number of lines in simple statements that use axes or the plotting functions."""
    code = re.sub(r"^%", "#", source, flags=re.MULTILINE)  # magics are not Python
    lines = set()
    for node in ast.walk(parse_python(code)):
        if not isinstance(node, ast.stmt) or hasattr(node, "body"):
            continue
        names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        if names & PLOTTING:
            lines |= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return len(lines)


def test_lines_that_plot_are_counted():
    """Lines in loops and functions count; imports and pure computation do not."""
    source = (
        "from course.plots import figure\naxes = figure()\nfor n in (1, 2):\n    m = n\n"
        "    axes.plot(\n        m)\ndef show():\n    return picture(axes, 'words')\nshow()\n"
    )
    assert plotting_lines(source) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_plotting_code_is_folded(path):
    """No visible cell has more than a few plotting lines."""
    cells = jupytext.reads(path.read_text("utf-8"), fmt="py:percent").cells
    visible = [cell.source for cell in cells if cell.cell_type == "code" and not is_folded(cell)]
    long = {source: lines for source in visible if (lines := plotting_lines(source)) > MAX_LINES}
    assert long == {}
