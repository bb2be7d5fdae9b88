"""The glossary: each term is in bold once, in the notebook that introduces it, before its use."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from autograder.release.book.reference import references
from autograder.release.derive import COURSE
from autograder.release.notebooks import notebook_number, notebook_texts
from autograder.release.teaching import page_of
from autograder.tests.support.pages.static_site import read_page
from course.checks import load_study, studies

STUDIES = [load_study(name) for name in studies()]
NOTEBOOKS = {
    notebook_number(path.stem): path for study in STUDIES for path in notebook_texts(study.folder)
}  # in reading order
ENTRY = re.compile(r"\* \*\*(.+?)\*\*: (.+?) \(notebook (\d+[a-z]?)(?:; (.+))?\)")
FURTHER = re.compile(
    r"(?:AIMA|RL) (?:chapter \d+|\d+\.\d+(?:\.\d+)?(?: and \d+\.\d+)?)|[A-Z]\D+ \d{4}"
)
# Bold text that may be repeated: the beginning of a task, formulas, results in tables.
EMPHASIS = re.compile(
    r"question|sources|think first|guess|find|(?:before you .+)?predict|what do you expect"
    r"|value = .+|\d+|cut|call one time in three"
)


class Entry(NamedTuple):
    """One entry of the glossary."""

    term: str
    definition: str
    notebook: str
    further: str  # further reading; may be empty


def _entries() -> list[Entry]:
    text = (COURSE / "glossary.md").read_text("utf-8")
    found = []
    for item in re.findall(r"^\* .+?(?=^\* |\Z)", text, re.MULTILINE | re.DOTALL):
        entry = ENTRY.fullmatch(" ".join(item.split()))
        assert entry, item
        term, definition, notebook, further = entry.groups()
        found.append(Entry(term, definition, notebook, further or ""))
    return found


ENTRIES = _entries()


def in_bold(text: str) -> list[str]:
    """The bold text in a notebook's Markdown cells, in lower case."""
    found = []
    for cell in re.split(r"^# %%", text, flags=re.MULTILINE):
        if cell.startswith(" [markdown]"):
            words = re.sub(r"^#", "", cell, flags=re.MULTILINE)
            found += re.findall(r"\*\*(.+?)\*\*", re.sub(r"`[^`]*`", "", words), re.DOTALL)
    return [" ".join(words.split()).lower().rstrip(".:?,") for words in found]


BOLD = {number: in_bold(path.read_text("utf-8")) for number, path in NOTEBOOKS.items()}


def test_bold_words_are_found():
    """They may span lines, but code and code cells do not count."""
    text = "# %% [markdown]\n# A **game\n# tree**, `a**b` and **MAX**.\n# %%\nprint(2**3, 2**4)\n"
    assert in_bold(text) == ["game tree", "max"]


def test_entries_are_sorted_and_short():
    """Entries are in alphabetical order, unique, and one or two sentences long."""
    terms = [entry.term.lower() for entry in ENTRIES]
    assert terms == sorted(set(terms))
    for entry in ENTRIES:
        assert entry.definition.endswith("."), entry
        assert len(re.findall(r"\.(?= [A-Z]|$)", entry.definition)) <= 2, entry
        assert all(FURTHER.fullmatch(part) for part in _parts(entry.further)), entry


def _parts(further: str) -> list[str]:
    """The references of an entry: "RL 6.5, AIMA 22.3" are two."""
    return [part for part in re.split(r", (?=AIMA|RL)", further) if part]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.term)
def test_a_term_is_bold_in_the_notebook_that_introduces_it(entry):
    """It is in bold there once, and in no other notebook."""
    forms = {entry.term.lower(), f"{entry.term.lower()}s"}
    found = [number for number, words in BOLD.items() for word in words if word in forms]
    assert found == [entry.notebook]


def test_no_term_is_introduced_twice():
    """A term is in bold only where it is introduced."""
    counts = Counter(word for words in BOLD.values() for word in words)
    twice = {word for word, number in counts.items() if number > 1}
    assert {word for word in twice if not EMPHASIS.fullmatch(word)} == set()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_terms_of_the_learning_outcomes_are_introduced_in_time(study):
    """The term is introduced in a notebook of the same study or an earlier one."""
    page = page_of(study).read_text("utf-8")
    outcomes = page.partition("**Learning outcomes.**")[2].partition("**Prerequisites.**")[0]
    words = " ".join(outcomes.split())
    assert words
    order = list(NOTEBOOKS)
    last = order.index(notebook_number(notebook_texts(study.folder)[-1].stem))
    used = [entry for entry in ENTRIES if re.search(rf"\b{re.escape(entry.term)}s?\b", words, re.I)]
    assert [entry for entry in used if order.index(entry.notebook) > last] == []


def test_the_page_of_the_book_links_to_each_notebook(tmp_path):
    """Notebooks that the book lacks are given as plain numbers."""
    pages = {number: f"{path.stem}.html" for number, path in NOTEBOOKS.items()}
    assert _links(tmp_path, [*pages.values()]) == [
        "bibliography.html",
        *(pages[entry.notebook] for entry in ENTRIES),
    ]
    assert set(_links(tmp_path, [pages["1"]])) == {"bibliography.html", pages["1"]}


def _links(folder: Path, chapters: list[str]) -> list[str]:
    """The links of the glossary page in a book with these chapters."""
    (glossary,) = (one for one in references(chapters) if one.page == "glossary.html")
    page = folder / glossary.page
    page.write_text(str(glossary.facts["text"]), "utf-8")
    return read_page(page).links
