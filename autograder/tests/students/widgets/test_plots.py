"""Pictures and published counts, requested in many threads simultaneously."""

import matplotlib as mpl

from course.plots import cell_rows, figure, picture, score_map
from course.published import node_counts
from sequence import sketch
from tictactoe.tests.support.threads import at_once


def test_pictures_in_many_threads():
    """Each picture has the course's style exactly, and matplotlib's settings are unchanged."""

    def drawn():
        return [picture(figure(2, 2), "nothing").svg for _ in range(4)]

    before, alone = dict(mpl.rcParams), drawn()
    assert at_once([drawn] * 4) == [alone] * 4
    assert dict(mpl.rcParams) == before


def test_a_map_of_scores_names_the_best_cell():
    """Its alternative text has the numbers, and marked cells have a circle each."""
    board = sketch("o 4,4")
    scores = {(4, 3): 2.5, (4, 5): 7, (9, 1): 1}
    plain, marked = (score_map(board, scores, "Scores", mark) for mark in ((), [(4, 3), (9, 1)]))
    assert plain.alt == "Heat map of the board: Scores. The best cell is (4, 5) with 7."
    assert marked.alt == plain.alt[:-1] + "; cell (4, 3) has 2.5; cell (9, 1) has 1."
    assert len(marked.svg) > len(plain.svg)


def test_published_counts_cannot_be_changed():
    """Changing the returned counts does not change other users' counts."""
    before = node_counts()
    node_counts()["minimax"].clear()
    assert node_counts() == before
    assert before["minimax"]


def test_rows_of_cells_are_drawn_and_described():
    """A circle for each chip of ours, a square for each of theirs, and both in words."""
    drawn = cell_rows(["_mmt#", "__m__"], ["blocked", "alone <1>"])
    assert drawn.alt == "Rows of cells. _mmt#: blocked; __m__: alone <1>."
    assert drawn.svg.count("<circle") == 3
    assert drawn.svg.count('width="18"') == 1
    assert "alone &lt;1&gt;" in drawn.svg
