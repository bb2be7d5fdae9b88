"""The front pages of the repository: links, numbers, tables and the citation."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.benchmarks import available
from autograder.benchmarks.grading._scale_page import PAGE, read
from autograder.release.notebooks import notebook_number, notebook_texts
from autograder.release.teaching import hours, is_open
from course.checks import load_study, studies
from sequence import Greedy, play
from sequence.pictures.view import picture

ROOT = Path(__file__).parents[4]
DOCS = ROOT / "docs"
FRONT = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    DOCS / "architecture.md",
    DOCS / "benchmarks.md",
]
LINK = re.compile(r'\]\(([^)\s]+)\)|src="([^"]+)"')
CODE = re.compile(r"```.*?```", re.DOTALL)
STUDIES = [load_study(name) for name in studies()]


def links_of(page: Path) -> list[str]:
    """The files and headings to which a page links, as written."""
    found = LINK.findall(CODE.sub("", page.read_text("utf-8")))
    return [link for pair in found for link in pair if link and "://" not in link]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", FRONT, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page):
    """The linked file exists and has the heading."""
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_lists_every_document():
    """Each document is linked in the README or on the teaching page, which the README links."""
    listed = {(ROOT / link.partition("#")[0]).resolve() for link in links_of(ROOT / "README.md")}
    teaching = DOCS / "teaching" / "README.md"
    assert teaching in listed
    listed |= {(teaching.parent / link.partition("#")[0]).resolve() for link in links_of(teaching)}
    pages = {
        path
        for folder in ("", "docs", "docs/teaching", "deploy", "research")
        for path in (ROOT / folder).glob("*.md")
    }
    assert sorted(pages - listed - {ROOT / "README.md"}) == []


def test_the_readmes_studies_are_those_of_the_course():
    """The table has every study in order, with its page, its notebooks and its hours."""
    rows = re.findall(
        r"^\| \[(\d+) .+?\]\(autograder/studies/(\w+)/teaching\.md\) \| ([\w, ]+) \| .+ \| (.+) \|$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    wanted = []
    for number, study in enumerate(STUDIES, 1):
        notebooks = [notebook_number(path.stem) for path in notebook_texts(study.folder)]
        low, high = hours(study)
        time = f"{low} to {high}" + (" plus the agent" if is_open(study) else "")
        wanted.append((str(number), study.assignment, ", ".join(notebooks), time))
    assert rows == wanted


def test_the_architectures_studies_are_those_of_the_course():
    """The table names the module and the first check of each study."""
    rows = re.findall(
        r"^\| (\d+) [^|]+ \| `(\w+\.py)`: [^|]+ \| `(study\d+\.\w+)`",
        (DOCS / "architecture.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert rows == [
        (str(number), study.module, f"{study.name}.{next(iter(study.checks))}")
        for number, study in enumerate(STUDIES, 1)
    ]


def test_the_tour_is_so(monkeypatch):
    """Every example of the architecture page gives the printed result."""
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(
        str(DOCS / "architecture.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 10
    assert not failed


def test_the_picture_of_the_board_is_drawn_by_the_kit():
    """The picture is byte for byte the current drawing; after a change, write `drawn` to the file."""
    game = play([Greedy(), Greedy()], seed=1)
    drawn = picture(game.states[40].observation())
    assert (DOCS / "pictures" / "sequence-board.svg").read_text("utf-8") == drawn


def test_there_are_as_many_mutants_as_stated():
    """The table of positions has more than 4,000 mutants that are not equivalent to the reference."""
    table = (DOCS / "positions.md").read_text("utf-8")
    rows = re.findall(r"^\| study\d+ \| \d+ \| (\d+) \| (\d+) \|", table, re.MULTILINE)
    assert sum(int(mutants) - int(equivalent) for mutants, equivalent in rows) > 4_000
    for page in ("README.md", "CHANGELOG.md"):
        assert "ore than 4,000 mutants" in (ROOT / page).read_text("utf-8")


def test_every_benchmark_has_a_line():
    """The page on benchmarks describes every benchmark and no others."""
    text = (DOCS / "benchmarks.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(available())


def test_what_300_students_cost_follows_from_the_measurements():
    """The table scales up the measurements of 100 submissions, and the written answers are counted."""
    text = (DOCS / "benchmarks.md").read_text("utf-8").partition("## A class of 300")[2]
    cost = read(PAGE.read_text("utf-8"))["100 submissions"]
    assert re.findall(r"^\| .+ \| (\S+ \w+) \|$", text, re.MULTILINE) == [
        f"{300 * cost['time']:.0f} s",
        f"{300 * cost['feedback']:.0f} s",
        f"{300 * cost['files'] / 1e3:.1f} MB",
        f"{300 * cost['pages'] / 1e3:.1f} MB",
        f"{cost['memory'] + cost['sandbox memory']:.0f} MB",
    ]
    questions = [len(study.written) for study in STUDIES]
    assert "A study has two to six questions" in text
    assert (min(questions), max(questions)) == (2, 6)
    assert f"{300 * min(questions)} to {300 * max(questions):,} answers" in " ".join(text.split())


def test_the_citation_is_valid():
    """CITATION.cff is valid and has the kit's version and authors."""
    path = ROOT / "CITATION.cff"
    schema = ["--builtin-schema", "vendor.citation-file-format"]
    subprocess.run([sys.executable, "-m", "check_jsonschema", *schema, path], check=True)
    citation = yaml.safe_load(path.read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{citation["version"]}"\n' in project
    (author,) = citation["authors"]
    holder = re.search(r"Copyright \(c\) \d+ (.+)", (ROOT / "LICENSE").read_text("utf-8"))[1]
    assert author == {"name": holder}
