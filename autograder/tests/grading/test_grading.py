"""From the release to the report, in temporary course folders, with real nbgrader.

One class is graded once; tests that change something use a copy of it.
"""

import csv
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning

from autograder import workspace
from autograder.commands.progress import generate_studies
from autograder.course_folder import (
    CourseFolder,
    put_environment_on_path,
)
from autograder.grading.records import deciding
from autograder.grading.records import ledger as books
from autograder.grading.records.ledger import LEDGER, Graded
from autograder.grading.run import submission as grading
from autograder.grading.run.batch import GradingError, grade
from autograder.grading.run.nbgrader_steps import GradingStep, SaveOutcomes
from autograder.grading.run.submission import grade_one
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.release import assignments
from autograder.release.assignments import GenerationError, generate_assignment
from autograder.release.notebooks import answer_id
from autograder.reporting.pages.feedback import write_feedback
from autograder.reporting.report import write_report
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import (
    ALWAYS,
    CHECK,
    ENDLESS,
    MODULES,
    NOTEBOOK,
    STUDY,
    config,
    first_cell,
    gradebook,
    ledger,
    outcomes,
    page_of,
    score,
    stopped,
    submit,
)
from autograder.tests.support.courses.own_assignments import (
    OWN,
    SECRET,
    SHOWN,
    own_assignment,
    own_scores,
    solve,
)
from course.checks import load_expected, load_study, study_paths
from course.checks.marking.outcome import Aspect, Outcome
from course.checks.running.process import CheckRunError

pytestmark = pytest.mark.xdist_group("grading")  # the class is graded once, in a single process
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no sessions and no SIGKILL")

HIDDEN = [case["on"] for case in hidden_cases.hidden_study("study2").checks["alpha_beta"].cases]
# Whether a page may show the first hidden case, at which kit's module does not end.
FIRST_IS_SHOWN = 0 in load_answer_key(hidden_cases.hidden_study("study2")).shown_cases[CHECK.name]
MISTAKE = next(m for m in load_mutants("study2") if m.name == "root_not_counted")
MISTAKE_POINTS = CHECK.max_points - CHECK.points["nodes"]  # points that remain with that mistake
LIMITS = (
    "\nc.GradingStep.cell_seconds = {timeout}\n"
    "c.GradingStep.check_seconds = c.GradingStep.least_seconds = {check}\n"
)
BREAK_FOR_LOU = """
def break_for_lou(notebook, resources):
    if resources["nbgrader"]["student"] == "lou":
        raise OSError("the disk is full")
    return notebook, resources


c.Autograde.autograde_preprocessors = [break_for_lou, *c.Autograde.autograde_preprocessors]
"""
COMPUTING = " of computing time"
ANSWER = "Seven nodes: one successor in full, and a bound of each other."
WRONG = """
from tictactoe import Search
class AlphaBeta:
    def search(self, state):
        return Search(None, 5, 0)
    def value(self, state, player, alpha, beta):
        return 5, None
"""


# ---- Submitting


def write_answer(notebook) -> None:
    """Answer the first written question."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == answer_id("fewest-nodes"):
            cell.source = ANSWER


def replace_check(notebook) -> None:
    """Replace the check by a number."""
    for cell in notebook.cells:
        if cell.source.startswith("check("):
            cell.source = "15.0"


FORGERIES = {
    "printing": first_cell("print(15)", "15", "print('study2.alpha_beta: 15 of 15 points')\n15.0"),
    "replacing": replace_check,
    "patching": first_cell(
        "import course.check, course.checks.marking.comparison\n"
        "check = course.check.check = course.check.query_module = lambda *a, **k: 15.0\n"
        "course.checks.marking.comparison.equal = lambda *a: True"
    ),
}


# ---- Reading the results


def auto_scores(folder: CourseFolder, student: str, study=STUDY) -> dict[str, float | None]:
    """The scores in nbgrader's gradebook for each cell of one submission."""
    with gradebook(folder) as book:
        submission = book.find_submission(study.assignment, student)
        return {g.name: g.auto_score for notebook in submission.notebooks for g in notebook.grades}


def everything_booked(folder: CourseFolder) -> list[str]:
    """The whole gradebook, as SQL."""
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        return list(database.iterdump())


class Loads(HTMLParser):
    """Collects the URLs that a page would load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Record the addresses of elements that a browser loads automatically."""
        if tag in ("script", "link", "img", "iframe", "source", "object", "embed", "video"):
            self.found += [value for name, value in attrs if name in ("src", "href", "data")]


def loads_from_elsewhere(page: str) -> list[str]:
    """The addresses on a page that need network access."""
    found = Loads(page).found + re.findall(r"@import\s+\S+|url\([\"']?(?:https?:)?//\S+", page)
    return [address for address in found if not address.startswith(("data:", "#"))]


# ---- Courses


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course folder with studies 1 and 2 released, shared and never modified."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("released") / "course")
    for name in ("study1", "study2"):
        generate_assignment(folder, load_study(name))
    return folder


@pytest.fixture
def course(course_template, tmp_path) -> CourseFolder:
    """A released course without submissions, for one test."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


@dataclass(frozen=True)
class Class:
    """A graded class with its pages."""

    folder: CourseFolder
    graded: dict[str, Graded]
    report: Path
    table: Path


@pytest.fixture(scope="module")
def school(course_template, tmp_path_factory) -> Class:
    """A graded class with all kinds of submissions, pages and report, shared and never modified."""
    root = shutil.copytree(course_template.root, tmp_path_factory.mktemp("school") / "course")
    folder = CourseFolder.open(root)
    config(folder, LIMITS.format(timeout=6, check=4) + ALWAYS + BREAK_FOR_LOU)
    mistake = MODULES[MISTAKE.name]
    submit(folder, "ada", MODULES["reference"], write_answer, whole=True)
    submit(folder, "bob", MODULES["stub"])
    submit(folder, "cy", mistake)
    (submit(folder, "dan", WRONG) / f"{NOTEBOOK}.ipynb").write_text('{"cells": [', "utf-8")
    (root / "submitted" / "eve" / STUDY.assignment).mkdir(parents=True)
    for forgery, edit in FORGERIES.items():
        submit(folder, forgery, mistake, edit)
    submit(folder, "ivy", MODULES["reference"], first_cell("import os; os._exit(0)", "print(1)"))
    submit(folder, "jon", MODULES["reference"], first_cell("while True: pass", "print(1)"))
    submit(folder, "kit", ENDLESS)
    submit(folder, "lou", MODULES["reference"])
    graded = {g.student: g for g in grade(folder, STUDY)}
    write_feedback(folder, STUDY)
    return Class(folder, graded, *write_report(folder, STUDY))


GRADED = ["ada", "bob", "cy", "dan", "ivy", "jon", "kit", *FORGERIES]


@pytest.fixture
def copied(school, tmp_path) -> CourseFolder:
    """A copy of the graded class that may be changed."""
    return CourseFolder.open(shutil.copytree(school.folder.root, tmp_path / "copy"))


# ---- Release


def test_a_release_is_made(course_template):
    """Source, release and the gradebook's assignment contain the study, with its points."""
    names = {STUDY.module, f"{NOTEBOOK}.ipynb"}
    for stage in ("source", "release"):
        assert {
            p.name for p in (course_template.root / stage / STUDY.assignment).iterdir()
        } == names
    with gradebook(course_template) as book:
        assert book.find_assignment(STUDY.assignment).max_score == STUDY.max_points
        cells = {
            c.name: c.max_score for c in book.find_notebook(NOTEBOOK, STUDY.assignment).grade_cells
        }
    assert cells == {CHECK.grade_id: CHECK.max_points} | {
        answer_id(name): points for name, points in STUDY.written.items()
    }


def test_what_is_released_is_locked_and_has_no_answer(course_template):
    """Students get the stub and a notebook whose check is read-only."""
    folder = course_template.release(STUDY.assignment)
    assert (folder / STUDY.module).read_text("utf-8") == MODULES["stub"]
    notebook = nbformat.read(folder / f"{NOTEBOOK}.ipynb", as_version=4)
    (check,) = (c for c in notebook.cells if c.source.startswith("check("))
    assert check.metadata.nbgrader.locked
    assert check.metadata.editable is False


def test_a_second_release_changes_nothing(course):
    """A second release gives the same files and does not change the gradebook."""

    def state():
        files = {p.name: p.read_bytes() for p in course.release(STUDY.assignment).iterdir()}
        return files, everything_booked(course)

    before = state()
    assert generate_assignment(course, STUDY) == course.release(STUDY.assignment)
    assert state() == before


@pytest.fixture(params=["answer", "position"])
def leak(request, tmp_path, monkeypatch) -> str:
    """A release that would disclose something, and the error message."""
    honest = assignments.assignment_files(STUDY)
    if request.param == "answer":
        planted = [workspace.answer_path(STUDY), *honest[1:]]
        sentence = "alphabeta.py holds a solution region"
    else:
        note = tmp_path / "note.txt"
        note.write_text(f"look at {HIDDEN[0]}", "utf-8")
        planted = [*honest, note]
        sentence = f"note.txt contains the hidden position {HIDDEN[0]}"
    monkeypatch.setattr(assignments, "assignment_files", lambda study: planted)
    return sentence


def test_a_leak_is_not_released(leak, tmp_path):
    """The release is refused with the reason, and no file is released."""
    folder = CourseFolder.create(tmp_path / "new")
    with pytest.raises(GenerationError, match=f"study2_alpha_beta was not generated: .*{leak}"):
        generate_assignment(folder, STUDY)
    assert not folder.release(STUDY.assignment).exists()


def test_an_earlier_release_outlives_a_leak(leak, course):
    """The earlier release is unchanged."""
    before = {p.name: p.read_bytes() for p in course.release(STUDY.assignment).iterdir()}
    with pytest.raises(GenerationError):
        generate_assignment(course, STUDY)
    assert {p.name: p.read_bytes() for p in course.release(STUDY.assignment).iterdir()} == before


def test_an_earlier_release_outlives_a_leak_that_nbgrader_makes(course, monkeypatch):
    """A leak that exists only in the generated files leaves the earlier release intact."""
    before = {p.name: p.read_bytes() for p in course.release(STUDY.assignment).iterdir()}
    answers = iter([[], ["it leaks"]])
    monkeypatch.setattr(assignments, "find_leaks", lambda study, files: next(answers))
    with pytest.raises(GenerationError, match="it leaks"):
        generate_assignment(course, STUDY)
    released = course.release(STUDY.assignment)
    assert {p.name: p.read_bytes() for p in released.iterdir()} == before


def test_a_missing_file_is_reported(course, monkeypatch, tmp_path):
    """A file of the release that was never built is named, with the command to run."""
    monkeypatch.setattr(assignments, "assignment_files", lambda study: [tmp_path / "05_new.ipynb"])
    with pytest.raises(GenerationError, match=r"05_new\.ipynb of .* is missing: run"):
        generate_assignment(course, STUDY)


TESTS = {  # an instructor's own, in a study's notebook
    "of-values": "assert AlphaBeta.__name__ == 'AlphaBeta'",
    "of-objects": "assert isinstance(AlphaBeta(), AlphaBeta)",
    "wrong": "assert False",
}


@pytest.mark.slow
def test_release_lists_the_tests_that_are_decided_inside(course, monkeypatch, tmp_path, capsys):
    """Tests are named with the reason, unless they are decided outside or always fail."""
    module, path = assignments.assignment_files(STUDY)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells += [
        new_code_cell(
            test,
            metadata={
                "nbgrader": {
                    "grade_id": name,
                    "grade": True,
                    "locked": True,
                    "solution": False,
                    "task": False,
                    "points": 1,
                    "schema_version": 3,
                }
            },
        )
        for name, test in TESTS.items()
    ]
    nbformat.write(notebook, tmp_path / path.name)
    monkeypatch.setattr(
        assignments, "assignment_files", lambda study: [module, tmp_path / path.name]
    )
    generate_studies(course.root, [STUDY])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("generated study2_alpha_beta")
    assert [line.rpartition(": ")[2] for line in said[1:]] == ["of-objects"]
    assert said[1].startswith(f"{NOTEBOOK}.ipynb: these tests need live objects")


# ---- Marks


@pytest.mark.parametrize(
    ("student", "points"),
    [
        ("ada", CHECK.max_points),
        ("bob", 0),
        ("cy", MISTAKE_POINTS),
        ("dan", 0),
        ("ivy", CHECK.max_points),
        ("jon", CHECK.max_points),
        ("kit", 0),
    ],
)
def test_marks_in_nbgraders_gradebook(school, student, points):
    """The reference gets full marks, the stub none and a mistake partial marks; written answers are
    open.
    """
    written = {answer_id(name): 0 for name in STUDY.written}
    if student == "ada":
        written[answer_id("fewest-nodes")] = None  # marked by hand
    assert auto_scores(school.folder, student) == {CHECK.grade_id: points} | written
    assert score(school.folder, student) == points
    assert school.graded[student].status == "graded"


def test_the_mistake_keeps_its_other_aspects(school):
    """The gradebook's number is the sum of the aspects, which are marked separately."""
    outcome = outcomes(school.folder, "cy")[CHECK.id]
    assert {a["name"]: a["earned"] for a in outcome["aspects"]} == {**CHECK.points, "nodes": 0}
    assert outcome["mistake"] == MISTAKE.name


def test_a_broken_notebook_is_reported_and_costs_no_marks(school):
    """Only the notebook's own problem is reported; the module is marked."""
    (problem,) = school.graded["dan"].problems
    assert problem.startswith(f"{NOTEBOOK}.ipynb is not valid JSON (line 1")
    assert outcomes(school.folder, "dan")[CHECK.id]["earned"] == 0
    assert school.graded["dan"].needs_a_look


def test_an_empty_folder_is_nothing_to_grade(school):
    """There are no marks, no submission in the gradebook and no feedback."""
    assert school.graded["eve"] == Graded(
        "eve", "nothing to grade", ("the folder is empty: nothing was submitted",)
    )
    with gradebook(school.folder) as book:
        assert "eve" not in {
            s.student_id for s in book.find_assignment(STUDY.assignment).submissions
        }
    assert not (school.folder.root / "feedback" / "eve").exists()


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_verdict_cannot_be_forged_in_the_notebook(school, forgery):
    """Output, replacements and patches of cells earn no more than the module does without them."""
    assert auto_scores(school.folder, forgery) == auto_scores(school.folder, "cy")
    assert score(school.folder, forgery) == MISTAKE_POINTS


@pytest.mark.parametrize(
    ("student", "reason"),
    [
        ("ivy", "a cell ended the Python process"),
        ("jon", f"a cell did not finish within 6 s{COMPUTING}"),
    ],
)
def test_a_cell_that_does_not_end_or_ends_python_is_reported(school, student, reason):
    """The reason is stored and shown, and the check is marked."""
    assert stopped(school.folder, student) == reason
    shown = {"ivy": f"not finished: {reason}", "jon": f"stopped after 6 s{COMPUTING}"}[student]
    assert shown in page_of(school.folder, student)
    assert any(reason in problem for problem in school.graded[student].problems)
    assert outcomes(school.folder, student)[CHECK.id]["earned"] == CHECK.max_points
    assert school.graded[student].seconds < 600


def test_a_module_that_does_not_end_is_reported_with_the_question(school):
    """The message has the limit and, if a page may show that case, the query without a reply."""
    outcome = outcomes(school.folder, "kit")[CHECK.id]
    assert outcome["stopped"]
    query = f': no answer to AlphaBeta().search(Board("{HIDDEN[0]}"))' if FIRST_IS_SHOWN else ""
    assert outcome["problem"] == f"stopped after 4 s{COMPUTING}{query}"
    assert stopped(school.folder, "kit") is None


@pytest.mark.slow
def test_an_endless_check_leaves_the_others_alone(course):
    """One check's loop costs its own marks; the other checks have full marks."""
    study = load_study("study1")
    config(course, LIMITS.format(timeout=10, check=10))
    reference = workspace.module_texts(study)["reference"]
    loop = "\n\ndef endless(self, state):\n    while True: pass\n\n\nTabular.search = endless\n"
    submit(course, "kit", reference + loop, study=study)
    (done,) = grade(course, study)
    assert done.status == "graded"
    seen = outcomes(course, "kit", study)
    minimax, tabular = seen["study1.minimax"], seen["study1.tabular"]
    assert minimax["earned"] == minimax["points"]
    assert (tabular["earned"], tabular["stopped"]) == (0, True)
    assert tabular["problem"].startswith(
        f"stopped after 10 s{COMPUTING}: no answer to Tabular().search("
    )
    mixed = seen["study1.mixed_tabular"]
    assert score(course, "kit", study) == minimax["earned"] + mixed["earned"] > minimax["earned"]


# ---- Internal errors


def test_a_fault_is_no_mark(school):
    """The submission has no ledger and no score, its log has the reason, and others are graded."""
    lou = school.graded["lou"]
    log = school.folder.results(STUDY.assignment, "lou") / "grade.log"
    assert lou.status == "fault"
    assert lou.needs_a_look
    assert len(lou.problems) == 1
    assert str(log) in lou.problems[0]
    assert "the disk is full" in log.read_text("utf-8")
    assert not ledger(school.folder, "lou").exists()
    assert set(auto_scores(school.folder, "lou").values()) == {None}
    assert not (school.folder.root / "autograded" / "lou" / STUDY.assignment).exists()
    assert {s for s, g in school.graded.items() if g.status == "graded"} == set(GRADED)


@pytest.mark.parametrize("interpreter", ["fails", "missing"])
def test_a_check_that_cannot_start_is_a_fault(tmp_path, monkeypatch, interpreter):
    """Without isolation, the step raises if the module's process cannot be started."""
    program = tmp_path / "python"
    if interpreter == "fails":
        program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
        program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    (tmp_path / STUDY.module).write_text(MODULES["reference"], "utf-8")
    with pytest.raises(CheckRunError, match="did not start"):
        GradingStep(isolation="process").mark(CHECK.id, tmp_path)


@pytest.mark.slow
@posix
def test_a_worker_that_dies_takes_nobody_with_it(course):
    """A submission that ends the grading process is a fault, and the others are graded."""
    kill = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    config(course, ALWAYS + 'c.GradingStep.isolation = "process"\n')
    submit(course, "ann", MODULES["reference"], first_cell(kill))
    for student in ("ben", "cem", "dea"):
        submit(course, student, MODULES["reference"])
    graded = grade(course, STUDY, jobs=2)
    assert {g.student: g.status for g in graded} == {
        "ann": "fault",
        "ben": "graded",
        "cem": "graded",
        "dea": "graded",
    }
    assert not ledger(course, "ann").exists()
    assert {score(course, student) for student in ("ben", "cem", "dea")} == {CHECK.max_points}


# ---- Feedback


def test_feedback_explains_the_mistake(school):
    """A page has the marks of each aspect, the probable cause in words, and the shown case."""
    page = page_of(school.folder, "cy")
    assert (
        f"{CHECK.id}: {MISTAKE_POINTS:g} of {CHECK.max_points:g} points - not all correct" in page
    )
    assert MISTAKE.sentence in page
    assert outcomes(school.folder, "cy")[CHECK.id]["case"]["question"]["on"] in page


@pytest.mark.parametrize("student", GRADED)
def test_feedback_gives_only_one_case_away(school, student):
    """A page contains only the explained hidden position, and no table of expected replies."""
    page = page_of(school.folder, student)
    case = outcomes(school.folder, student)[CHECK.id]["case"]
    shown = {position for position in HIDDEN if position in page}
    assert shown <= ({case["question"]["on"]} if case else set())
    without_case = {"ada", "bob", "ivy", "jon"} | (set() if FIRST_IS_SHOWN else {"kit"})
    assert (student in without_case) == (not shown)
    assert page.count(">Expected<") == (student in ("cy", "dan", *FORGERIES))
    assert not re.search(r"(&quot;|\")(mistakes|observed)(&quot;|\")", page)
    _, mistakes = load_expected(hidden_cases.expected_file(STUDY), [])
    named = [mistake.name for mistake in mistakes if mistake.sentence in page]
    assert named == ([MISTAKE.name] if student in ("cy", *FORGERIES) else [])


@pytest.mark.parametrize("student", GRADED)
def test_feedback_needs_no_network(school, student):
    """A page loads nothing from the network."""
    assert loads_from_elsewhere(page_of(school.folder, student)) == []


def test_each_kind_of_page_has_its_template(school):
    """Exchanged templates would leave formgrader without forms, and give feedback pages forms."""
    config = school.folder.config()
    assert config.HTMLExporter.template_name == "offline_formgrade"
    assert config.FeedbackExporter.template_name == "offline_feedback"


def test_feedback_holds_nothing_but_the_students_own(school):
    """The folder has the page and the submitted files, but no ledger and no outcomes."""
    for student in GRADED:
        folder = school.folder.root / "feedback" / student / STUDY.assignment
        assert {p.name for p in folder.iterdir()} == {f"{NOTEBOOK}.html", STUDY.module}


# ---- Written answers and extra credit


def test_a_written_answer_waits_for_a_person(school):
    """A written answer needs manual grading, and the unchanged template does not."""
    with gradebook(school.folder) as book:
        waiting = {
            g.name: g.needs_manual_grade
            for g in book.find_submission_notebook(NOTEBOOK, STUDY.assignment, "ada").grades
        }
        assert waiting == {CHECK.grade_id: False} | {
            answer_id(name): name == "fewest-nodes" for name in STUDY.written
        }
        assert book.find_submission(STUDY.assignment, "ada").needs_manual_grade
        assert not book.find_submission(STUDY.assignment, "bob").needs_manual_grade


@pytest.mark.slow
def test_a_persons_marks_outlive_a_regrade(copied):
    """A manual score and a comment are kept after a forced regrade."""
    where = (answer_id("fewest-nodes"), NOTEBOOK, STUDY.assignment, "ada")
    submit(copied, "ada", MODULES["reference"], write_answer)
    with gradebook(copied) as book:
        book.find_grade(*where).manual_score = 4
        book.find_comment(*where).manual_comment = "Nearly."
        book.db.commit()
    old = (copied.root / "autograded" / "ada" / STUDY.assignment / STUDY.module).stat().st_mtime_ns
    (done,) = grade(copied, STUDY, ["ada"], force=True)
    assert done.status == "graded"
    with gradebook(copied) as book:
        assert book.find_grade(*where).manual_score == 4
        assert book.find_comment(*where).manual_comment == "Nearly."
    assert score(copied, "ada") == CHECK.max_points + 4
    new = (copied.root / "autograded" / "ada" / STUDY.assignment / STUDY.module).stat().st_mtime_ns
    assert new > old


class ExtraCredit:
    """A gradebook with one cell for extra credit, and the values stored there."""

    def __init__(self, root: Path) -> None:
        self.check = load_study("study3").checks["type_a_plus"]
        self.url = f"sqlite:///{root / 'gradebook.db'}"
        with Gradebook(self.url) as book, warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's models make SQLAlchemy warn
            book.add_assignment("study3_type_a")
            book.add_notebook("05_move_ordering", "study3_type_a")
            book.add_grade_cell(
                self.check.grade_id,
                "05_move_ordering",
                "study3_type_a",
                max_score=0,
                cell_type="code",
            )
            book.add_student("ada")
            book.add_submission("study3_type_a", "ada")

    def book(self, earned: float) -> None:
        """Let the step save an outcome with these points."""
        outcome = Outcome(
            self.check.id,
            True,
            (Aspect("nodes", 1, 1, earned, 10),),
            None,
            None,
            None,
            None,
            False,
            0.1,
        )
        SaveOutcomes().preprocess(
            new_notebook(),
            {
                "outcomes": [outcome],
                "stopped": None,
                "inside": [],
                "nbgrader": {
                    "assignment": "study3_type_a",
                    "student": "ada",
                    "db_url": self.url,
                    "notebook": "05_move_ordering",
                },
            },
        )

    def enter(self, points: float) -> None:
        """Enter these points manually."""
        with Gradebook(self.url) as book:
            self._grade(book).extra_credit = points
            book.db.commit()

    @property
    def booked(self) -> float | None:
        """The values in the gradebook."""
        with Gradebook(self.url) as book:
            return self._grade(book).extra_credit

    def _grade(self, book):
        return book.find_grade(self.check.grade_id, "05_move_ordering", "study3_type_a", "ada")


@pytest.fixture
def extra(tmp_path, monkeypatch) -> ExtraCredit:
    """Extra credit in a small gradebook; nbgrader's steps run in the course folder."""
    put_environment_on_path()
    monkeypatch.chdir(tmp_path)
    return ExtraCredit(tmp_path)


def test_extra_credit_is_booked(extra):
    """Points for extra credit are in nbgrader's own column and in the score."""
    assert extra.booked is None
    extra.book(6)
    assert extra.booked == 6
    saved = json.loads(Path("results/study3_type_a/ada/05_move_ordering.json").read_text("utf-8"))
    assert saved["outcomes"][0]["earned"] == 6


def test_extra_credit_is_booked_into_the_right_cell():
    """The id of the extra-credit cell is the one that was built into the notebook."""
    check = load_study("study3").checks["type_a_plus"]
    folder = study_paths.KIT / "course" / "study3_type_a"
    ids = [
        cell.metadata.nbgrader.grade_id
        for path in folder.glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if f'check("{check.id}")' in cell.source.splitlines()
    ]
    assert ids == [check.grade_id]


def test_extra_credit_follows_a_regrade(extra):
    """A better submission gets more, a worse one less, and no submission none."""
    for earned in (0, 6, 10, 2.5, 0, 4):
        extra.book(earned)
        assert extra.booked == earned


@pytest.mark.parametrize("entered", [9, 3, 0])
def test_extra_credit_that_a_person_entered_stays(extra, entered):
    """A manual number survives every regrade, whether the result is more, less or nothing."""
    extra.book(6)
    extra.enter(entered)
    for earned in (6, 10):
        extra.book(earned)
        assert extra.booked == entered


def test_extra_credit_that_a_person_entered_first_stays(extra):
    """This also holds if it was entered before anything was graded."""
    extra.enter(5)
    extra.book(10)
    extra.book(8)
    assert extra.booked == 5


# ---- Grading again


def test_a_second_run_changes_nothing(copied):
    """Ledgers, gradebook and graded files are identical byte for byte, as are their times."""

    def state():
        files = [
            p
            for name in ("results", "autograded")
            for p in (copied.root / name).rglob("*")
            if p.is_file()
        ]
        return everything_booked(copied), {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in files}

    students = [*GRADED, "eve"]
    before = state()
    again = {g.student: g for g in grade(copied, STUDY, students)}
    assert {g.status for g in again.values()} == {"unchanged"}
    assert again["dan"].problems
    assert again["dan"].needs_a_look
    assert again["eve"].needs_a_look
    assert not again["ada"].needs_a_look
    assert state() == before


@pytest.mark.slow
def test_only_what_has_changed_is_graded_again(copied):
    """One student's new module changes only that student's marks."""
    before = {s: (auto_scores(copied, s), ledger(copied, s).read_bytes()) for s in GRADED}
    path = copied.root / "submitted" / "cy" / STUDY.assignment / STUDY.module
    path.write_text(MODULES["reference"], "utf-8")
    done = {g.student: g.status for g in grade(copied, STUDY, GRADED)}
    assert done == dict.fromkeys(GRADED, "unchanged") | {"cy": "graded"}
    assert score(copied, "cy") == CHECK.max_points
    for student in set(GRADED) - {"cy"}:
        assert (auto_scores(copied, student), ledger(copied, student).read_bytes()) == before[
            student
        ]


@pytest.fixture
def ledgers(course, monkeypatch) -> Callable[..., str]:
    """Grades one submission without nbgrader: only the ledger is examined."""
    submit(course, "ada", MODULES["reference"])
    monkeypatch.setattr(grading, "_autograde", lambda *arguments: None)
    return lambda force=False: grade_one(course, STUDY, course.config(), force, "ada").status


def test_the_ledger_knows_what_is_graded(ledgers):
    """The first run grades, the second does not, and a forced one does."""
    assert [ledgers(), ledgers(), ledgers(True), ledgers()] == [
        "graded",
        "unchanged",
        "graded",
        "unchanged",
    ]


def test_a_change_of_the_points_regrades(ledgers, monkeypatch):
    """If something that decides the marks has changed, every student is graded again."""
    assert [ledgers(), ledgers()] == ["graded", "unchanged"]
    monkeypatch.setattr(deciding, "_code", lambda: "0.2 other")
    assert [ledgers(), ledgers()] == ["graded", "unchanged"]


def test_a_torn_ledger_is_graded_again(ledgers, course):
    """A truncated entry is ignored."""
    assert ledgers() == "graded"
    path = ledger(course, "ada")
    path.write_text(path.read_text("utf-8")[:40], "utf-8")
    assert [ledgers(), ledgers()] == ["graded", "unchanged"]


def test_a_fault_leaves_no_ledger(ledgers, course, monkeypatch):
    """After a failed regrade, the old entry is gone and the next run grades again."""
    assert ledgers() == "graded"

    def fail(*arguments):
        raise OSError("the disk is full\nand more")

    with monkeypatch.context() as broken:
        broken.setattr(grading, "_autograde", fail)
        assert [ledgers(), ledgers(True)] == ["unchanged", "fault"]
        assert not ledger(course, "ada").exists()
        (problem,) = grade_one(course, STUDY, course.config(), False, "ada").problems
        assert problem.startswith("the disk is full (see ")
    assert ledgers() == "graded"


# ---- Interruption


@dataclass
class Run:
    """A grading run in its own process and session."""

    process: subprocess.Popen
    folder: CourseFolder

    def graded(self) -> set[str]:
        """The students whose grading is complete."""
        return {path.parent.name for path in self.folder.root.glob(f"results/*/*/{LEDGER}")}

    def wait_for_the_first(self) -> set[str]:
        """Wait until a student has been graded."""
        end = time.monotonic() + 600
        while not self.graded():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.02)
        return self.graded()

    def is_alive(self) -> bool:
        """Whether a process of the run still exists."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


@pytest.fixture
def run(course):
    """A run over five submissions, one at a time, that has just started."""
    for number, name in enumerate(("reference", "stub", MISTAKE.name, "reference", "stub")):
        submit(course, f"s{number}", MODULES[name])
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "autograder",
            "grade",
            "study2",
            "--course",
            course.root,
            "--jobs",
            "1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(grading.__file__).parents[2],
    )
    yield Run(process, course)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finish(run: Run, first: set[str]) -> None:
    """Grade to the end; `first` must not be graded again, and all scores must be correct."""
    before = {s: ledger(run.folder, s).read_bytes() for s in first}
    rest = {g.student: g.status for g in grade(run.folder, STUDY)}
    assert rest == {f"s{n}": "unchanged" if f"s{n}" in first else "graded" for n in range(5)}
    assert {s: ledger(run.folder, s).read_bytes() for s in first} == before
    full = CHECK.max_points
    assert [score(run.folder, f"s{n}") for n in range(5)] == [full, 0, MISTAKE_POINTS, full, 0]


@pytest.mark.slow
@posix
@pytest.mark.parametrize("whom", ["command", "terminal"])
def test_a_run_that_was_interrupted_goes_on(run, whom):
    """Ctrl-C keeps the finished results and prints one message; the next run grades only the rest."""
    first = run.wait_for_the_first()
    if whom == "command":
        run.process.send_signal(signal.SIGINT)
    else:  # as a terminal sends it: to every process of the group
        os.killpg(run.process.pid, signal.SIGINT)
    _, said = run.process.communicate(timeout=600)
    assert said == (
        "autograder: stopped; finished work is kept, and the same command continues from there\n"
    )
    assert run.process.returncode == 130
    kept = run.graded()
    assert first <= kept < {f"s{n}" for n in range(5)}
    finish(run, kept)


@pytest.mark.slow
@posix
def test_a_run_that_was_killed_goes_on(run):
    """After SIGKILL nothing runs in the background, and the next run grades only the rest."""
    first = run.wait_for_the_first()
    run.process.kill()
    run.process.wait()
    end = time.monotonic() + 60
    while run.is_alive() and time.monotonic() < end:
        time.sleep(0.1)
    assert not run.is_alive(), "grading continues although the command was killed"
    kept = run.graded()
    assert first <= kept < {f"s{n}" for n in range(5)}
    finish(run, kept)


# ---- nbgrader's own command, and formgrader's button

FORMGRADER = """
import sys
from nbgrader.apps import NbGraderAPI
from traitlets.config import PyFileConfigLoader

config = PyFileConfigLoader("nbgrader_config.py", path=".").load_config()
done = NbGraderAPI(config=config).autograde(sys.argv[1], sys.argv[2])
sys.exit(0 if done["success"] else done["log"])
"""
DOORS = {
    "command": ["-m", "nbgrader", "autograde", STUDY.assignment, "--student", "{student}"],
    "button": ["-c", FORMGRADER, STUDY.assignment, "{student}"],
}


def spoil(notebook) -> None:
    """Changes that students make to notebooks: a duplicate check, a deleted answer, tags, points."""
    checks = [cell for cell in notebook.cells if cell.source.startswith("check(")]
    checks[0].metadata.nbgrader.points = 1000
    checks[0].metadata.tags = ["skip-execution"]
    notebook.cells.append(nbformat.from_dict({**checks[0], "id": "another"}))
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type != "markdown"]


def autograde_by(door: str, course: CourseFolder, student: str) -> subprocess.CompletedProcess:
    """Autograde one student's submission with nbgrader's own command or formgrader's button."""
    arguments = [student if word == "{student}" else word for word in DOORS[door]]
    return subprocess.run(
        [sys.executable, *arguments], cwd=course.root, check=False, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_nbgraders_own_commands_give_the_same_marks(course, school, door):
    """`nbgrader autograde` and formgrader's button give the same marks as our command."""
    submit(course, "cy", MODULES[MISTAKE.name])
    submit(course, "dee", MODULES[MISTAKE.name], spoil)
    for student in ("cy", "dee"):
        assert autograde_by(door, course, student).returncode == 0
        assert auto_scores(course, student) == auto_scores(school.folder, "cy")
    seen, ours = (outcomes(f, "cy")[CHECK.id] for f in (course, school.folder))
    assert {**seen, "seconds": 0} == {**ours, "seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_only_grade_finds_a_single_students_notebook_in_a_subfolder(course, door):
    """For one student, nbgrader requires a notebook at the top level; `grade` does not."""
    submit(course, "ann", MODULES["reference"])
    submission = course.root / "submitted" / "ann" / STUDY.assignment
    (submission / "inner").mkdir()
    for notebook in submission.glob("*.ipynb"):
        notebook.rename(submission / "inner" / notebook.name)
    refused = autograde_by(door, course, "ann")
    assert refused.returncode != 0
    assert "No notebooks were matched" in refused.stdout + refused.stderr
    (done,) = grade(course, STUDY)
    assert done.status == "graded"


@pytest.mark.slow
def test_our_command_gives_a_damaged_notebook_the_same_marks(course, school):
    """The intake repairs and reports the problems that nbgrader's commands repair."""
    submit(course, "dee", MODULES[MISTAKE.name], spoil)
    (done,) = grade(course, STUDY)
    assert auto_scores(course, "dee") == auto_scores(school.folder, "cy")
    assert len(done.problems) >= 2


# ---- Report


def section(page: str, title: str) -> str:
    """The part of a page below one heading."""
    return page.partition(f"<h2>{title}</h2>")[2].partition("<h2>")[0]


def named(part: str) -> list[str]:
    """The students in a table of the report, with links to their pages if there are any."""
    return re.findall(r'<th scope="row">(?:<a href="[^"]+">)?([^<]+)(?:</a>)?</th>', part)


def test_the_report_has_a_row_for_everybody(school):
    """The page and the CSV list every student who submitted a folder, in the same order."""
    everybody = sorted([*GRADED, "eve", "lou"])
    assert named(section(school.report.read_text("utf-8"), "All students")) == everybody
    with school.table.open(newline="", encoding="utf-8") as file:
        assert [row["student"] for row in csv.DictReader(file)] == everybody


def test_the_reports_numbers_are_the_gradebooks(school):
    """The CSV has nbgrader's score, one column per aspect, and no marks for ungraded students."""
    with school.table.open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    for student in GRADED:
        assert float(rows[student]["score"]) == score(school.folder, student)
        assert float(rows[student]["score"]) == sum(
            float(rows[student][f"{CHECK.id}.{aspect}"]) for aspect in CHECK.points
        )
        assert float(rows[student]["max_score"]) == STUDY.max_points
    assert {s: (rows[s]["status"], rows[s]["score"]) for s in ("eve", "lou")} == {
        "eve": ("nothing to grade", ""),
        "lou": ("fault", ""),
    }
    assert {s for s, row in rows.items() if row["written_answers_waiting"] == "yes"} == {"ada"}
    assert {s for s, row in rows.items() if row["causes"] == MISTAKE.name} == {"cy", *FORGERIES}


def test_the_report_counts_misconceptions(school):
    """The mistake's description appears once, with the number and names of the students."""
    part = section(school.report.read_text("utf-8"), "Misconceptions")
    who = sorted(["cy", *FORGERIES])
    assert part.count(MISTAKE.sentence) == 1
    text = re.sub(r"</?a[^>]*>", "", part)  # names are links
    cells = f"{MISTAKE.sentence}</td><td>{', '.join(who)}</td>"
    assert f'<td class="n">{len(who)}</td><td class="sentence">{cells}' in text


def test_the_report_says_who_needs_a_look(school):
    """Exactly the stopped, broken and empty submissions are listed with a reason; the fault has a
    separate section.
    """
    page = school.report.read_text("utf-8")
    assert named(section(page, "Internal errors")) == ["lou"]
    part = section(page, "Needs review")
    assert named(part) == ["dan", "eve", "ivy", "jon", "kit"]
    assert part.count("<ul>") == 5
    assert re.search(r"<ul>\s*</ul>", part) is None
    for reason in (
        "is not valid JSON",
        "no marks: nothing to grade",
        "ended the Python process",
        f"did not finish within 6 s{COMPUTING}",
        f"stopped after 4 s{COMPUTING}",
    ):
        assert reason in part, reason


def test_the_report_needs_no_network(school):
    """The page is self-contained."""
    assert loads_from_elsewhere(school.report.read_text("utf-8")) == []


def test_the_report_is_text_whatever_names_hold(copied):
    """A student's name cannot become markup."""
    with gradebook(copied) as book:
        book.update_or_create_student("bob", first_name="<b>Bob</b>", last_name="O'Neil, Jr.")
    page, table = write_report(copied, STUDY)
    assert "<b>Bob" not in page.read_text("utf-8")
    with table.open(newline="", encoding="utf-8") as file:
        assert {r["student"]: r["name"] for r in csv.DictReader(file)}["bob"] == (
            "<b>Bob</b> O'Neil, Jr."
        )


# ---- An instructor's own assignment, and the lifetime of a worker


@pytest.fixture
def own(course) -> CourseFolder:
    """A course with the instructor's own assignment, and two submissions to it."""
    own_assignment(course)
    solve(course, "ada", "return 2 * x")
    solve(course, "ben", "return x + 1")
    return course


def test_an_own_assignment_is_graded_and_its_hidden_tests_stay_hidden(own):
    """Assert cells are counted as in nbgrader, and feedback shows no hidden test."""
    assert {g.status for g in grade(own, own.assignment(OWN))} == {"graded"}
    assert own_scores(own) == {"ada": 10, "ben": 0}
    write_feedback(own, own.assignment(OWN))
    for student in ("ada", "ben"):
        page = (own.root / "feedback" / student / OWN / "numbers.html").read_text("utf-8")
        assert SHOWN.split(maxsplit=1)[0] in page
        assert not re.search("SECRETCODE|98765|197530", page)


LOUD = """
from IPython.display import HTML
class Quiet(Exception): pass
Quiet.__name__ = f"said{seen}"
print(f"said {seen}")
display(HTML(f"said {seen}"))
raise Quiet(seen)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        "return x",
        "raise type(f'said{x}', (Exception,), {})",
        "return type(f'said{x}', (Exception,), {})()",
        "raise Quiet(x)",
    ],
)
def test_what_a_submission_heard_from_hidden_tests_is_not_shown(own, said):
    """Printed or displayed text and exception names are removed, also in later cells."""
    target = own.submission(OWN, "ada") / "numbers.ipynb"
    notebook = nbformat.read(target, as_version=4)
    notebook.cells[0].source = (
        "seen = []\nclass Quiet(Exception): pass\ndef double(x):\n"
        "    seen.append(x)\n    print('said', x)\n"
        f"    if x > 1: {said}\n    return 2 * x"
    )
    notebook.cells.append(new_code_cell(LOUD))
    nbformat.write(notebook, target)
    grade(own, own.assignment(OWN))
    assert own_scores(own)["ada"] == 0
    write_feedback(own, own.assignment(OWN))
    page = (own.root / "feedback" / "ada" / OWN / "numbers.html").read_text("utf-8")
    assert not re.search("SECRETCODE|98765|197530", page)
    assert "A hidden test failed." in page
    assert "This cell failed. Its output is not shown, because hidden tests ran above." in page


@pytest.mark.slow
def test_a_test_of_live_objects_is_decided_inside_and_release_says_so(own):
    """Marks are nbgrader's, and the instructor is informed at release, not after grading."""
    own_assignment(own, "twice = double\nassert twice == double\nassert double(4) == 8")
    said = (own.root / "generate.log").read_text("utf-8")
    assert "numbers.ipynb: the test 'test' is decided in the student's own interpreter" in said
    assert {g.status for g in grade(own, own.assignment(OWN))} == {"graded"}
    assert own_scores(own) == {"ada": 10, "ben": 0}
    (inside,) = (
        json.loads(path.read_text("utf-8"))["inside"]
        for path in own.results(OWN, "ada").glob("numbers.json")
    )
    assert inside == ["test"]


@pytest.mark.slow
def test_an_edited_hidden_test_regrades(own):
    """Hidden tests are not in the release but decide marks, so editing one causes a regrade."""
    grade(own, own.assignment(OWN))
    own_assignment(own, f"{SHOWN}\n{SECRET.replace('double(98765) == 197530', 'double(1) == 2')}")
    assert {g.status for g in grade(own, own.assignment(OWN))} == {"graded"}
    assert own_scores(own) == {"ada": 10, "ben": 10}


@pytest.mark.slow
def test_tests_that_prove_nothing_are_refused(own):
    """No student is graded if the unsolved release notebook gets all points."""
    own_assignment(own, "assert True")
    with pytest.raises(
        GradingError, match=r"numbers\.ipynb gets all 10 points without any solution"
    ):
        grade(own, own.assignment(OWN))


@pytest.mark.parametrize("missing", ["solution", pytest.param("source", marks=pytest.mark.slow)])
def test_a_wrong_or_missing_solution_is_refused(own, missing):
    """No student is graded if the instructor's own solution fails or is missing."""
    source = own.root / "source" / OWN / "numbers.ipynb"
    if missing == "source":
        source.unlink()
    else:
        wrong = source.read_text("utf-8").replace("return 2 * x", "return 3 * x")
        source.write_text(wrong, "utf-8")
    with pytest.raises(GradingError, match="nothing was graded"):
        grade(own, own.assignment(OWN))
    assert not list(own.root.glob("results/week7/*/submission.json"))


def test_a_sandbox_that_dies_is_restarted(course):
    """The submission being graded and the next one both get their marks."""
    for student in ("ann", "ben"):
        submit(course, student, MODULES["reference"])
    before = set(psutil.Process().children(recursive=True))  # of other tests in this process
    with grading.grader(course, STUDY, False) as grade_next:
        assert grade_next("ann").status == "graded"
        own = set(psutil.Process().children(recursive=True)) - before
        walls = [child for child in own if child.name() == "bwrap"]
        assert walls
        for child in walls:
            child.kill()
        assert grade_next("ben").status == "graded"
    assert score(course, "ann") == score(course, "ben") == CHECK.max_points


def test_nothing_stays_open_after_a_submission(course):
    """The number of a worker's open files does not grow with the class."""
    for number in range(4):
        submit(course, f"s{number}", MODULES["stub"])
    with grading.grader(course, STUDY, False) as grade_next:
        grade_next("s0")
        before = psutil.Process().num_fds()
        for number in range(1, 4):
            grade_next(f"s{number}")
        assert psutil.Process().num_fds() == before


@pytest.mark.slow
def test_marks_made_without_isolation_are_made_again_with_it(course):
    """Results from another isolation mode count as ungraded."""
    submit(course, "ann", MODULES["reference"])
    states = [
        grade(course, STUDY, overrides={"isolation": isolation})[0].status
        for isolation in ("process", "process", None, None)
    ]
    assert states == ["graded", "unchanged", "graded", "unchanged"]


@pytest.mark.slow
def test_nbgraders_command_outweighs_an_old_fault(course):
    """A submission graded by nbgrader's own command is graded, whatever our ledger contained."""
    submit(course, "ann", MODULES["reference"])
    books.record_fault(course.results(STUDY.assignment, "ann"), Graded("ann", "fault", ("full",)))
    assert books.current_entry(course, STUDY.assignment, "ann")["status"] == "fault"
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", STUDY.assignment, "--student", "ann"],
        cwd=course.root,
        check=True,
        capture_output=True,
    )
    assert books.current_entry(course, STUDY.assignment, "ann")["status"] == "graded"
    (done,) = grade(course, STUDY)
    assert done.status == "graded"


@pytest.mark.slow
def test_after_one_stop_all_later_checks_of_a_submission_are_short(course):
    """The short limit also applies to the notebooks that follow."""
    study = load_study("study3")
    generate_assignment(course, study)
    config(course, "\nc.GradingStep.least_seconds = 3\nc.GradingStep.later_seconds = 0.5\n")
    loops = "\n".join(
        f"def {name}(*a): \n    while True: pass\n"
        for name in ("lane_counts", "heuristic", "is_quiescent", "priority", "by_priority")
    )
    submit(course, "kit", loops, study=study)
    (done,) = grade(course, study)
    assert done.status == "graded"
    assert [p for p in done.problems if f"stopped after 3 s{COMPUTING}" in p][1:] == []
    short = [p for p in done.problems if f"stopped after 0.5 s{COMPUTING}" in p]
    assert sum(problem.count("study3.") for problem in short) == 3


@pytest.mark.slow
def test_an_error_of_many_lines_is_reported_on_one(course):
    """A module's exception cannot imitate our messages or fill the ledger."""
    lines = "        raise ValueError('a\\nstudy2: 99 graded\\n' * 9999)"
    forged = MODULES["reference"].replace("        ### BEGIN SOLUTION", lines, 1)
    submit(course, "eve", forged)
    (problem,) = grade(course, STUDY)[0].problems
    assert "\n" not in problem
    assert len(problem) < 800
