"""Slides made from a notebook's text and figures: one file per study, without answers."""

import base64

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.release import slides as decks
from autograder.release.book.pages import BookError, plain
from autograder.release.slides import page, sources_of, write_slides
from autograder.release.slides.cut import MAX_ITEM_WORDS, MAX_ITEMS, MAX_WORDS, cut, short
from autograder.studies import hidden_cases
from autograder.tests.support.pages.static_site import outside
from course.checks import load_study
from course.checks.question import texts_of

STUDY = load_study("study2")
SVG = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg"></svg>').decode()


def figure(alt: str) -> nbformat.NotebookNode:
    """A cell that shows a picture."""
    html = f'<img alt="{alt}" style="max-width:none;" src="data:image/svg+xml;base64,{SVG}"/>'
    return new_code_cell("draw()", outputs=[new_output("display_data", {"text/html": html})])


def printing(source: str, text: str) -> nbformat.NotebookNode:
    """A cell that prints."""
    return new_code_cell(source, outputs=[new_output("stream", name="stdout", text=text)])


def notebook(*cells: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook with these cells."""
    return new_notebook(cells=list(cells))


ANSWER = new_markdown_cell(
    "*Write your answer here.*",
    metadata={"nbgrader": {"grade": True, "solution": True, "points": 2}},
)
TALK = notebook(
    new_markdown_cell("# 7. A talk\n\nWhat it is about."),
    printing("%load_ext course.notebook", "noise"),
    new_markdown_cell("## First\nThe lead.\n\nMore for the notes.\n\n> **A definition.**"),
    figure("one"),
    new_markdown_cell(
        "What leads to two.\n\n<details><summary>Answers</summary>\n\nfolded\n\n</details>"
    ),
    figure("two"),
    printing('check("study2.alpha_beta")', "15 of 15 points"),
    new_markdown_cell("## Second\n\nCode comes.\n\n* a\n* b"),
    printing("print(6 * 7)", "42\n"),
    new_markdown_cell("**1. Why?** Say it."),
    ANSWER,
)


def test_a_notebook_becomes_slides():
    """A heading, a further figure and a question each start a slide; the rest goes into the notes."""
    first, lead, more, second, question = cut("talk", TALK)
    assert (first.title, first.level, plain(first.text)) == ("7. A talk", 1, "What it is about.")
    assert plain(lead.text) == "The lead. A definition."
    assert 'alt="one"' in lead.figure
    assert plain(lead.notes) == "More for the notes."
    assert (more.title, plain(more.text)) == ("First", "What leads to two.")
    assert 'alt="two"' in more.figure
    assert plain(second.text) == "Code comes. a b"
    assert plain(second.code) == "print(6 * 7) 42"
    assert (question.title, plain(question.text)) == ("Question", "1. Why? Say it.")
    said = "".join(map(str, cut("talk", TALK)))
    assert not [word for word in ("folded", "noise", "15 of 15", "Write your") if word in said]


def test_long_texts_are_cut_at_sentences():
    """A paragraph keeps whole sentences and a list its first items; at least one sentence remains."""
    sentence = "word " * (MAX_WORDS // 2 - 1) + "end."
    assert short("paragraph", " ".join([sentence.capitalize()] * 5)).count("end.") == 2
    assert short("paragraph", "word " * 99 + "end.").endswith("end.")
    assert short("paragraph", "A league. On the command line it is") == "A league."
    items = "\n".join(f"* {'Item ' * MAX_ITEM_WORDS}one. Two." for _ in range(MAX_ITEMS + 2))
    assert short("list", items).count("* ") == MAX_ITEMS
    assert "Two." not in short("list", items)


def test_a_picture_without_words_is_refused():
    """As in the book, the message names the cell."""
    with pytest.raises(BookError, match=r"talk\.ipynb, cell 2 shows a picture without"):
        list(cut("talk", notebook(new_markdown_cell("# T"), figure(""))))


def test_a_deck_is_one_file_that_asks_for_nothing(tmp_path):
    """The file contains its style and script, has a plain title, and its policy allows no URL."""
    (tmp_path / "deck.html").write_text(page(STUDY, list(cut("talk", TALK))), "utf-8")
    text = (tmp_path / "deck.html").read_text("utf-8")
    assert outside(tmp_path) == []
    assert "default-src 'none'" in text
    assert "7. A talk" in plain(text)
    assert text.count('<section class="slide') == 6


def run_as(monkeypatch, made: nbformat.NotebookNode) -> None:
    """Use this notebook for all, instead of running them."""
    monkeypatch.setattr(decks, "run", lambda source, folder, tick: made)


def test_decks_replace_decks_and_nothing_else(tmp_path, monkeypatch):
    """Other files in the folder stay, and no temporary files remain."""
    run_as(monkeypatch, TALK)
    (tmp_path / "mine.txt").write_text("years of work")
    (tmp_path / f"{STUDY.assignment}.html").write_text("earlier")
    (made,) = write_slides(tmp_path, sources_of([STUDY]))
    assert "A talk" in made.read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", made.name]


def test_a_deck_with_a_hidden_position_is_refused(tmp_path, monkeypatch):
    """Slides are searched like the book, and the earlier slides stay."""
    study = load_study("minimax")
    public = {t for c in study.checks.values() for case in c.cases for t in texts_of(case)}
    hidden = next(
        t
        for c in hidden_cases.hidden_study(study.name).checks.values()
        for case in c.cases
        for t in texts_of(case)
        if t not in public
    )
    run_as(monkeypatch, notebook(new_markdown_cell(f"# Look\n\nAt `{hidden}`.")))
    with pytest.raises(BookError, match="contains the hidden position"):
        write_slides(tmp_path, sources_of([study]))
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path):
    """The file is left unchanged."""
    (tmp_path / "thesis").write_text("years of work")
    with pytest.raises(BookError, match="is not a folder"):
        write_slides(tmp_path / "thesis", sources_of([STUDY]))
    assert (tmp_path / "thesis").read_text() == "years of work"
