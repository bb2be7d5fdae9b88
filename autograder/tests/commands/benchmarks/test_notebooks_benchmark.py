"""The notebook benchmark: run times, and pauses without output."""

from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.benchmarks import main
from autograder.benchmarks.studies import notebooks


@pytest.mark.slow
def test_the_longest_silence_is_found(tmp_path):
    """The longest pause is measured between two lines of a cell or from its last line to its end;
    output ends a pause.
    """
    cells = [
        "import time",
        "for _ in range(3):\n    time.sleep(0.4)\n    print('still here')",
        "print('a long pause')\ntime.sleep(1.5)",
    ]
    source = SimpleNamespace(
        name="made_up",
        read=lambda: new_notebook(cells=[new_markdown_cell("Text"), *map(new_code_cell, cells)]),
    )
    seconds, silence = notebooks.timed(source, tmp_path)
    assert silence.cell == 4
    assert 1.2 <= silence.seconds <= seconds - 1.2  # excludes the time of the other cell


def test_a_notebook_that_fails_is_named(monkeypatch, capsys):
    """A failing notebook is reported with its cell and error, and the exit status for "not
    measured".
    """
    source = SimpleNamespace(
        name="made_up",
        study=SimpleNamespace(assignment="study3_type_a"),
        read=lambda: new_notebook(cells=[new_code_cell("1 / 0")]),
    )
    monkeypatch.setattr(notebooks, "sources", lambda: [source])
    assert main(["notebooks"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "bench: made_up.ipynb, cell 1: with the reference answers every cell must "
        "run, but this one raised ZeroDivisionError: division by zero\n"
    )


def test_every_number_has_its_target():
    """A notebook with 31 s and a pause of 2 s misses the first of its two targets."""
    whole, silent = notebooks.results("01_minimax", 31.0, notebooks.Silence(2.0, 7))
    assert (whole.met, silent.met) == (False, True)
    assert "cell 7" in silent.name
