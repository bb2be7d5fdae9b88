"""What is left of the widgets in pages that are made of a notebook: pictures, words and tables."""

import re

import nbformat
import pytest
from nbconvert import HTMLExporter

from autograder.telling.safe_html import clean
from autograder.tests.people.test_walk import Full, Pruning
from sequence.widget import play as play_sequence
from tictactoe import Board, Random
from tictactoe.show.counts import compare_counts
from tictactoe.show.explorer import explore
from tictactoe.show.play_board import play_against

STATE = Board("xoox__ox_")
WIDGETS = {
    "play": (lambda: play_against(Random(1)), 0),
    "explorer": (lambda: explore(Pruning(), STATE), 1),
    "two searches": (lambda: explore(Full(), STATE, against=Pruning()), 2),
    "counts": (lambda: compare_counts({"full": Full()}, STATE), 1),
    "Sequence": (play_sequence, 0),
}  # name -> how to make it, and how many tables it leaves


@pytest.fixture(params=WIDGETS)
def shown(request):
    """What a widget puts out, and how many tables of it are left."""
    make, tables = WIDGETS[request.param]
    data, metadata = make()._repr_mimebundle_()
    return data, metadata, tables


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
