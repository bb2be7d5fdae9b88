"""What is left of the widgets in pages that are made of a notebook: pictures, words and tables."""

import re

import nbformat
import pytest
from nbconvert import HTMLExporter

from autograder.telling.safe_html import clean
from autograder.tests.support.searches import Full, Pruning
from autograder.workspace import load_answer
from sequence import Greedy, play
from sequence.widget import play as play_sequence
from sequence.widget.hidden_hand import hidden_hand
from sequence.widget.rays import read_along
from tictactoe import Board, Random
from tictactoe.games.pictures import image
from tictactoe.show import still
from tictactoe.show.counts import compare_counts
from tictactoe.show.explorer import explore
from tictactoe.show.growth import growing_tree
from tictactoe.show.play_board import play_against

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
}  # name -> how to make it, and how many tables it leaves


@pytest.fixture(params=WIDGETS)
def shown(request):
    """What a widget puts out, and how many tables of it are left."""
    make, tables = WIDGETS[request.param]
    data, metadata = make()._repr_mimebundle_()
    return data, metadata, tables


@pytest.fixture
def published(monkeypatch):
    """What boards put out in a notebook, as (MIME bundle, whether it replaces an earlier one)."""
    outputs = []
    monkeypatch.setattr(
        still,
        "publish_display_data",
        lambda data, transient=None, update=False: outputs.append((data, update)),
    )
    return outputs


def test_a_cell_keeps_the_last_position(published):
    """Below the widget lies a picture that follows the game, with what to do when it is alone."""
    game = play_against(Random(1))
    game._ipython_display_()
    (widget, _), (picture, replaced) = published
    assert widget["text/html"] == widget["text/plain"] == ""
    assert still.WIDGET in widget
    assert still.WIDGET not in picture
    assert not replaced
    game.click("4")
    game.board._still.flush()
    (latest, replaced) = published[-1]
    assert replaced
    shown = game.board.shown
    assert image(shown["svg"], shown["alt"], shrink=True) in latest["text/html"]
    assert still.GO_ON in latest["text/html"]


def test_the_tree_of_a_search_stays_whole(published):
    """What is left of an explorer is the finished tree with its table, wherever it was left."""
    explorer = explore(Full(), STATE)
    explorer._ipython_display_()
    explorer.click("first")
    assert len(published) == 2
    assert "<table" in published[1][0]["text/html"]


@pytest.mark.parametrize("make", [make for make, _ in WIDGETS.values()])
def test_a_feedback_page_shows_no_rules_of_style(published, make):
    """Cleaned, the picture of a cell is itself and its sentence; no mark-up is read as text."""
    make()._ipython_display_()
    page = clean(published[1][0]["text/html"])
    assert "display" not in page
    assert "&lt;" not in page
    assert still.GO_ON in page


def test_an_exported_notebook_keeps_picture_words_and_tables(shown):
    """nbconvert's page has an image with an alternative text, and the tables."""
    data, metadata, tables = shown
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
    cell = nbformat.v4.new_code_cell("a widget", outputs=[output])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert len(re.findall(r'<img alt="[^"]{20,}"[^>]* src="data:image/svg', page)) == 1
    assert page.count("<table") == tables


def test_a_cleaned_page_keeps_them_too(shown):
    """Where students' output is cleaned, for graders and for feedback, nothing of it is lost."""
    data, _, tables = shown
    page = clean(data["text/html"])
    assert len(re.findall(r'<img alt="[^"]{20,}"[^>]* src="data:image/svg', page)) == 1
    assert page.count("<table>") == page.count("</table>") == tables
    assert "&lt;" not in page
