"""Pages exported from a notebook show the widgets as pictures, text and tables."""

import re

import nbformat
import pytest
from nbconvert import HTMLExporter

from autograder.reporting.pages.safe_html import clean
from autograder.tests.support.modules.searches import Full, Pruning
from autograder.workspace import load_answer
from sequence import Greedy, play
from sequence.widget import play as play_sequence
from sequence.widget.hidden_hand import hidden_hand
from sequence.widget.rays import read_along
from tictactoe import Board, Random
from tictactoe.boards import static_snapshot
from tictactoe.boards.play_board import play_against
from tictactoe.explorables.counts import compare_counts
from tictactoe.explorables.explorer import explore
from tictactoe.explorables.growth import growing_tree
from tictactoe.games.pictures import image

STATE = Board("xoox__ox_")
WIDGETS = {
    "play": (lambda: play_against(Random(1)), 0),
    "explorer": (lambda: explore(Pruning(), STATE), 1),
    "two searches": (lambda: explore(Full(), STATE, against=Pruning()), 2),
    "counts": (lambda: compare_counts({"full": Full()}, STATE), 1),
    "Sequence": (play_sequence, 0),
    "growing tree": (lambda: growing_tree(load_answer("study9").UCT(9, seed=1), STATE), 0),
    "hidden hand": (lambda: hidden_hand(play([Greedy(), Greedy()], seed=1).states), 0),
    "ray": (
        lambda: read_along(100 * "_", (4, 4), {"up": (-1, 0)}, lambda text: [text], ["read"]),
        0,
    ),
}  # name -> how to make it, and the number of tables it leaves


@pytest.fixture(params=WIDGETS)
def shown(request):
    """The output of a widget, and the number of its tables that remain."""
    make, tables = WIDGETS[request.param]
    data, metadata = make()._repr_mimebundle_()
    return data, metadata, tables


@pytest.fixture
def published(monkeypatch):
    """The output of boards in a notebook, as (MIME bundle, whether it replaces an earlier one)."""
    outputs = []
    monkeypatch.setattr(
        static_snapshot,
        "publish_display_data",
        lambda data, transient=None, update=False: outputs.append((data, update)),
    )
    return outputs


def test_a_cell_keeps_the_last_position(published):
    """A picture below the widget follows the game, with advice for when it remains alone."""
    game = play_against(Random(1))
    game._ipython_display_()
    (widget, _), (picture, replaced) = published
    assert widget["text/html"] == widget["text/plain"] == ""
    assert static_snapshot.WIDGET in widget
    assert static_snapshot.WIDGET not in picture
    assert not replaced
    game.click("4")
    game.board._snapshot.flush()
    (latest, replaced) = published[-1]
    assert replaced
    shown = game.board.content
    assert image(shown["svg"], shown["alt"], shrink=True) in latest["text/html"]
    assert static_snapshot.SNAPSHOT_HINT in latest["text/html"]


def test_the_tree_of_a_search_stays_whole(published):
    """An explorer leaves the finished tree with its table, whatever its current step."""
    explorer = explore(Full(), STATE)
    explorer._ipython_display_()
    explorer.click("first")
    assert len(published) == 2
    assert "<table" in published[1][0]["text/html"]


@pytest.mark.parametrize("make", [make for make, _ in WIDGETS.values()])
def test_a_feedback_page_shows_no_rules_of_style(published, make):
    """After cleaning, a cell shows its picture and sentence, and no markup appears as text."""
    make()._ipython_display_()
    page = clean(published[1][0]["text/html"])
    assert "display" not in page
    assert "&lt;" not in page
    assert static_snapshot.SNAPSHOT_HINT in page


def test_an_exported_notebook_keeps_picture_words_and_tables(shown):
    """nbconvert's page has an image with an alternative text, and the tables."""
    data, metadata, tables = shown
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
    cell = nbformat.v4.new_code_cell("a widget", outputs=[output])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert len(re.findall(r'<img alt="[^"]{20,}"[^>]* src="data:image/svg', page)) == 1
    assert page.count("<table") == tables


def test_a_cleaned_page_keeps_them_too(shown):
    """Cleaning students' output, for graders and for feedback, removes nothing of it."""
    data, _, tables = shown
    page = clean(data["text/html"])
    assert len(re.findall(r'<img alt="[^"]{20,}"[^>]* src="data:image/svg', page)) == 1
    assert page.count("<table>") == page.count("</table>") == tables
    assert "&lt;" not in page
