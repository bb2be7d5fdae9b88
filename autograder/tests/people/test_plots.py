"""Pictures and published counts, asked for in many threads at once."""

import matplotlib as mpl

from course.plots import figure, picture
from course.recorded import node_counts
from tictactoe.tests.support.threads import at_once


def test_pictures_in_many_threads():
    """Each has the course's style to the last byte, and matplotlib's settings stay as they were."""

    def drawn():
        return [picture(figure(2, 2), "nothing").svg for _ in range(4)]

    before, alone = dict(mpl.rcParams), drawn()
    assert at_once([drawn] * 4) == [alone] * 4
    assert dict(mpl.rcParams) == before


def test_published_counts_cannot_be_changed():
    """Whoever changes the counts that they were given changes them for nobody else."""
    before = node_counts()
    node_counts()["minimax"].clear()
    assert node_counts() == before
    assert before["minimax"]
