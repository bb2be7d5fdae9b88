"""Text that students read: citations are in the bibliography, and staff-only documents are not
mentioned.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import codespell_lib
import pytest

from autograder.release import kit
from autograder.release.derive import COURSE
from autograder.release.notebooks import notebook_texts
from course.checks import load_study, studies

AMERICAN = Path(codespell_lib.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
AS_WE_WRITE = {
    "program",
    "practice",  # the noun, of a computer
    "maximization",
}  # bias: Sutton and Barto's term
STUDIES = [load_study(name) for name in studies()]
NOTEBOOKS = [path for study in STUDIES for path in notebook_texts(study.folder)]
BIBLIOGRAPHY = (COURSE / "bibliography.md").read_text("utf-8")
ENTRIES = re.findall(r"^\* \*\*(.+?)\.\*\* ", BIBLIOGRAPHY, re.MULTILINE)
NAME = r"[A-Z][\w'-]+"
CITATION = re.compile(rf"({NAME}(?:, {NAME})*(?: and {NAME}| et al\.)?),? \(?((?:19|20)\d\d)\b")
NO_AUTHORS = {"In"}
CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)  # and addresses
SOURCES = "**Sources**, in full in `course/bibliography.md`:"
# Staff made the course from five documents; students have only notebooks and code.
NOT_THEIRS = re.compile(r"\b(?:seeds? 00\d|staff|recipes?)\b")
NOT_IN_STUDIES = re.compile(r"\bthe (?:report|page)\b", re.IGNORECASE)


def flowing(text: str) -> str:
    """The text on one line, without comment signs at the beginning of lines."""
    return " ".join(re.sub(r"^\s*#(?: |$)", " ", text, flags=re.MULTILINE).split())


@cache
def texts() -> dict[str, str]:
    """The readable text of each file in the student kit, by path: a notebook's cells."""
    return dict(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    for path, data in kit.contents(STUDIES).items():
        if path.endswith(".ipynb"):
            cells = json.loads(data)["cells"]
            yield path, "\n\n".join("".join(cell["source"]) for cell in cells)
        elif PurePosixPath(path).suffix in (".py", ".md", ".toml", ".json", ".js", ".css"):
            yield path, data.decode("utf-8")


def cited(text: str) -> set[str]:
    """The citations in a text, in the bibliography's form: "Shannon 1950"."""
    found = {
        f"{authors} {year}"
        for authors, year in CITATION.findall(flowing(text))
        if authors not in NO_AUTHORS
    }
    return found | ({"CS188"} if "CS188" in text else set())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as Shannon (1950) asks, in 1950", {"Shannon 1950"}),
        ("# (Russell and\n# Norvig 2021, figure 5.3)", {"Russell and Norvig 2021"}),
        (
            "Cowling, Powley and Whitehouse 2012; Chaslot et al. 2008",
            {"Cowling, Powley and Whitehouse 2012", "Chaslot et al. 2008"},
        ),
        ("In 1950 the project of CS188 was far away", {"CS188"}),
    ],
)
def test_citations_are_found(text, found):
    """Citations may have parentheses, span lines, and have one author or many."""
    assert cited(text) == found


def test_every_citation_has_an_entry():
    """Every work cited in a notebook, docstring or guide is in the bibliography."""
    missing = {
        path: cited(text) - set(ENTRIES)
        for path, text in texts().items()
        if path.endswith((".ipynb", ".py", ".md")) and path != "course/bibliography.md"
    }
    assert {path: names for path, names in missing.items() if names} == {}


@pytest.mark.slow
def test_every_entry_is_cited():
    """Each entry is cited, unique and in order."""
    everywhere = set().union(
        *(cited(text) for path, text in texts().items() if path.endswith((".ipynb", ".py")))
    )
    assert set(ENTRIES) - everywhere == set()
    assert sorted(set(ENTRIES), key=str.lower) == ENTRIES


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_names_its_sources(notebook):
    """The last cell lists all works cited above; only *Submit* may follow it."""
    text = notebook.read_text("utf-8").partition("\n# %% [markdown]\n# ## Submit\n")[0]
    *cells, last = re.split(r"^# %%", text, flags=re.MULTILINE)
    assert flowing(last.removeprefix(" [markdown]\n")).startswith(SOURCES)
    assert cited(last)
    assert cited("\n\n".join(cells)) <= cited(last)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_notebook_asks_for_more_than_two_written_answers(notebook):
    """With 300 students, each notebook already has 600 answers to mark."""
    assert len(re.findall(r'^# %% .*answer="', notebook.read_text("utf-8"), re.MULTILINE)) <= 2


def test_no_word_is_about_what_students_do_not_have():
    """Neither the documents nor the authors that the course is based on are mentioned."""
    found = {path: NOT_THEIRS.findall(flowing(text)) for path, text in texts().items()}
    in_studies = {
        path: NOT_IN_STUDIES.findall(flowing(text))
        for path, text in texts().items()
        if path.startswith("course/study")
    }
    assert {path: words for path, words in {**found, **in_studies}.items() if words} == {}


def test_licences_are_stated_on_each_first_page():
    """Both READMEs, the bibliography and notebook 9 state both licences and the trade mark."""
    pages = [texts()["README.md"], (COURSE.parent / "README.md").read_text("utf-8"), BIBLIOGRAPHY]
    for page in pages:
        assert "Sequence is a trade mark" in flowing(page)
        assert re.search(r"CC BY 4\.0|Creative Commons Attribution 4\.0", flowing(page))
    seventh = next(path for path in NOTEBOOKS if path.stem == "09_sequence")
    assert re.search(r"Sequence .{0,20}is a trade mark", flowing(seventh.read_text("utf-8")))
    assert "LICENSE-texts" in kit.contents(STUDIES)


def test_prose_is_british():
    """No page or text cell has an American spelling."""
    american = (
        {
            word.strip().lower()
            for line in AMERICAN.read_text("utf-8").splitlines()
            for word in line.partition("->")[2].split(",")
        }
        - AS_WE_WRITE
        - {""}
    )
    own = [
        path
        for folder in ("docs", "deploy", "autograder", "course")
        for path in (COURSE.parent / folder).rglob("*.md")
    ]
    pages = {
        str(path): path.read_text("utf-8")
        for path in [*own, *COURSE.parent.glob("*.md")]
        if path.name != "bibliography.md"
    }  # titles keep the printed spelling
    cells = {
        str(path): "\n".join(
            line for line in path.read_text("utf-8").splitlines() if line.startswith("# ")
        )
        for path in NOTEBOOKS
    }
    found = {
        path: american & set(re.findall(r"[a-z]+", CODE.sub("", text).lower()))
        for path, text in (pages | cells).items()
    }
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_sum_is_broken_into_a_list(path):
    """Markdown reads a line that begins with a plus or minus and a number as a list item."""
    assert re.findall(r"^# [+-] \d.*", path.read_text("utf-8"), re.MULTILINE) == []
