"""The pages for instructors: one per study, current and without leaks."""

import re
from pathlib import Path

import pytest

from autograder import workspace
from autograder.commands.plan import PLANS
from autograder.release.kit import Member, find_all_leaks
from autograder.release.notebooks import NOTEBOOK_NAME, notebook_texts
from autograder.release.teaching import (
    TeachingError,
    cost,
    facts,
    filled,
    mutants_of_check,
    overview,
    page_of,
    teaching_pages,
)
from autograder.studies.mutants import load_mutants
from course.checks import load_study, studies

DOCS = Path(__file__).parents[4] / "docs" / "teaching"
PARTS = (
    "Summary",
    "Learning outcomes",
    "Prerequisites",
    "Difficulty",
    "Strengths",
    "Weaknesses",
    "Dependencies",
    "Variants",
)  # the form of the EAAI Model AI Assignments


@pytest.mark.parametrize("name", studies())
def test_every_study_has_a_page_of_the_same_form(name):
    """All pages have the same sections in the same order."""
    text = page_of(load_study(name)).read_text("utf-8")
    parts = re.findall(r"(?m)^\*\*([A-Z][a-z ]+)\.\*\*\s", text.partition("## In class")[0])
    assert tuple(parts) == PARTS


def test_what_is_derived_is_fresh():
    """Points, hours and mistakes match the tables; `autograder build` updates them."""
    derived = [
        *overview(DOCS.parents[1]),
        *(page for name in studies() for page in teaching_pages(load_study(name))),
    ]
    assert len(derived) == len(studies()) + 1
    assert [path.name for path, text in derived if path.read_text("utf-8") != text] == []


def test_every_mistake_stands_at_one_check():
    """A mutant is listed once, with the check where the mistake was made."""
    study = load_study("minimax")
    mutants = load_mutants(study.name)
    at = [mutants_of_check(study, check, mutants) for check in study.checks]
    assert sorted(m.name for mistakes in at for m in mistakes) == sorted(m.name for m in mutants)
    worst = max(mutants, key=lambda mutant: cost(study, mutant))
    assert any(worst.sentence in line for line in facts(study))


def test_a_page_without_a_place_is_refused(tmp_path):
    """If a marker was deleted, the command names it."""
    page = tmp_path / "page.md"
    page.write_text("Nothing is derived here.\n")
    with pytest.raises(TeachingError, match="there must be a line"):
        filled(page, ["a line"])


def test_plans_name_what_there_is():
    """Links and notebooks exist, required studies have all their notebooks, and the longest plan
    has all studies.
    """
    notebooks = {
        NOTEBOOK_NAME.sub("", path.stem)
        for name in studies()
        for path in notebook_texts(load_study(name).folder)
    }
    for page in DOCS.glob("*.md"):
        text = page.read_text("utf-8")
        assert [
            link for link in re.findall(r"\]\(([^)#]+)\)", text) if not (DOCS / link).exists()
        ] == [], page.name
        read = [
            cell
            for row in re.findall(r"(?m)^\| \d+ \|([^|]*)\|", text)
            for cell in re.findall(r"`(\w+)`", row)
        ]
        assert set(read) <= notebooks, page.name
    for weeks, due in PLANS.items():
        text = (DOCS / f"plan_{weeks}_weeks.md").read_text("utf-8")
        assert [
            path.stem
            for study in due
            for path in notebook_texts(load_study(study).folder)
            if f"`{NOTEBOOK_NAME.sub('', path.stem)}`" not in text
        ] == [], weeks
    every = (DOCS / "plan_14_weeks.md").read_text("utf-8")
    assert [
        name for name in studies() if f"/{load_study(name).assignment}/teaching.md)" not in every
    ] == []


def test_nothing_there_gives_an_answer_away():
    """Students may read the pages: they contain no hidden position, solution, model or oral answer."""
    pages = [Member(page.name, page.read_bytes()) for page in sorted(DOCS.glob("*.md"))]
    oral = workspace.answer_path(load_study(studies()[0])).with_name("oral.md").read_bytes()
    assert find_all_leaks([*pages, Member("planted.md", b"Look: " + oral)]) == [
        "planted.md contains a model answer to a written question"
    ]


@pytest.mark.parametrize("name", studies())
def test_two_oral_questions_a_study(name):
    """Each question has the text to ask, and descriptions of a good and a poor answer."""
    text = workspace.answer_path(load_study(name)).with_name("oral.md").read_text("utf-8")
    questions = text.split("\n## ")[1:]
    assert len(questions) == 2
    for question in questions:
        assert re.findall(r"(?m)^\*\*(.+?)\.\*\* ", question) == [
            "Ask",
            "A good answer",
            "A poor answer",
        ]
