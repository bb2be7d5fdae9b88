"""Inputs that decide the marks: changes are reported with the marks and reopen no settled mark."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.dashboard.overview import overview
from autograder.doctor.case_selection import choose_cases
from autograder.errors import UserError
from autograder.grading.records import deciding
from autograder.grading.records.agreement import require_same_points
from autograder.grading.records.deciding import (
    CAUSES,
    UNKNOWN,
    changes,
    grader_state,
    outdated_results,
)
from autograder.grading.records.ledger import LEDGER, read_ledger
from autograder.grading.run import batch
from autograder.grading.run import submission as grading
from autograder.grading.run.batch import grade
from autograder.release.notebooks import answer_id
from autograder.reporting.export import read_marks, warnings
from autograder.studies import hidden_cases
from autograder.studies.fresh_cases import fresh_cases
from autograder.tests.support.courses.classes import make_course
from autograder.workspace import module_texts
from course.checks import StudyTableError, load_expected, load_study, study_paths

STUDY = load_study("study2")
(CHECK,) = STUDY.checks.values()
NOTEBOOK = "02_alpha_beta"
QUESTION = answer_id("fewest-nodes")
WHERE = (QUESTION, NOTEBOOK, STUDY.assignment, "ada")
ANOTHER_PROCESS = """
import sys
from pathlib import Path
from autograder.course_folder import CourseFolder
from autograder.grading.records.deciding import grader_state
from course.checks import load_study
course = CourseFolder.open(Path(sys.argv[1]))
print(grader_state(course, load_study("study2"), course.config())["settings"])
"""
RAISED = replace(
    STUDY, checks={CHECK.name: replace(CHECK, points=dict.fromkeys(CHECK.points, 20.0))}
)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> CourseFolder:
    """A graded course with a manually marked answer of ada's, shared and never modified."""
    folder = make_course(tmp_path_factory.mktemp("made") / "course", STUDY)
    submit(folder, "Both bounds of one successor.")
    assert grade(folder, STUDY, jobs=1)[0].status == "graded"
    give(folder, 3)
    return folder


@pytest.fixture
def course(made, tmp_path) -> CourseFolder:
    """A copy of the course for a single test."""
    return CourseFolder.open(shutil.copytree(made.root, tmp_path / "course"))


@pytest.fixture
def tables(tmp_path, monkeypatch) -> Path:
    """The kit's tables as files that a test may edit."""
    for place in (
        f"course/{STUDY.assignment}",
        f"autograder/studies/{STUDY.assignment}",
    ):
        shutil.copytree(study_paths.KIT / place, tmp_path / "kit" / place)
    monkeypatch.setattr(study_paths, "KIT", tmp_path / "kit")
    return tmp_path / "kit"


def submit(folder: CourseFolder, answer: str, module: str = "reference") -> None:
    """Submit a module, and an answer to the question."""
    target = folder.root / "submitted" / "ada" / STUDY.assignment
    shutil.copytree(folder.release(STUDY.assignment), target, dirs_exist_ok=True)
    (target / STUDY.module).write_text(module_texts(STUDY)[module], "utf-8")
    notebook = nbformat.read(target / f"{NOTEBOOK}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == QUESTION:
            cell.source = answer
    nbformat.write(notebook, target / f"{NOTEBOOK}.ipynb")


def opened(folder: CourseFolder) -> Gradebook:
    """The gradebook."""
    return Gradebook(folder.config().CourseDirectory.db_url)


def give(folder: CourseFolder, points: float, cell: str = QUESTION) -> None:
    """Give a mark manually."""
    with opened(folder) as book:
        mark = book.find_grade(cell, *WHERE[1:])
        mark.manual_score, mark.needs_manual_grade = points, False
        book.db.commit()


def waits(folder: CourseFolder, cell: str = QUESTION) -> bool:
    """Whether an answer waits for a manual mark."""
    with opened(folder) as book:
        return book.find_grade(cell, *WHERE[1:]).needs_manual_grade


def again(folder: CourseFolder, force: bool = False) -> str:
    """Grade in this process."""
    with grading.grader(folder, STUDY, force) as grade_one:
        return grade_one("ada").status


def a_comment(course: CourseFolder) -> None:
    config = course.root / CONFIG_FILE
    config.write_text(f"# ours\n{config.read_text('utf-8')}\n# the end\n", "utf-8")


def a_setting(course: CourseFolder) -> None:
    config = course.root / CONFIG_FILE
    config.write_text(config.read_text("utf-8") + "\nc.GradingStep.least_seconds = 3\n", "utf-8")


def a_function(course: CourseFolder) -> None:
    config = course.root / CONFIG_FILE
    config.write_text(
        config.read_text("utf-8") + "\ndef rule(n):\n    return n\nc.MyStep.rule = rule\n", "utf-8"
    )


def a_class(course: CourseFolder) -> None:
    config = course.root / CONFIG_FILE
    config.write_text(
        config.read_text("utf-8") + "\nfrom traitlets import Int\n\nclass Step:\n"
        "    points = Int(1)\n    def rule(self):\n        return 1\n"
        "c.MyStep.step = Step\n",
        "utf-8",
    )


def a_release(course: CourseFolder) -> None:
    path = course.release(STUDY.assignment) / STUDY.module
    path.write_text(path.read_text("utf-8") + "# one more line\n", "utf-8")


def a_module(course: CourseFolder) -> None:
    (course.root / "rules.py").write_text("x = 1\n", "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (a_comment, None),
        (a_setting, "settings"),
        (a_function, "settings"),
        (a_class, "settings"),
        (a_module, "settings"),
        (a_release, "release"),
    ],
)
def test_a_change_in_the_course_folder_is_named(course, change: Callable, cause):
    """Only this cause is reported; a comment in the configuration is not a change."""
    before = grader_state(course, STUDY, course.config())
    change(course)
    now = grader_state(course, STUDY, course.config())
    assert changes(before, now) == ([CAUSES[cause]] if cause else [])
    other = subprocess.run(
        [sys.executable, "-c", ANOTHER_PROCESS, str(course.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert now["settings"] == other.stdout.strip()


@pytest.mark.parametrize(
    ("name", "old", "new", "cause"),
    [
        ("course/study2_alpha_beta/_check/checks.toml", "nodes = ", "nodes = 1", "points"),
        (
            "course/study2_alpha_beta/_check/checks.toml",
            "fewest-nodes = ",
            "fewest-nodes = 1",
            "points",
        ),
        ("course/study2_alpha_beta/_check/checks.toml", "# ", "#  ", None),
        ("autograder/studies/study2_alpha_beta/hidden_cases.toml", "__", "_x", "positions"),
        (
            "autograder/studies/study2_alpha_beta/hidden_expected.json",
            '"move"',
            '"moves"',
            "positions",
        ),
    ],
)
def test_a_change_in_the_kit_is_named(course, tables, name, old, new, cause):
    """Points and positions are reported separately, and a comment is not a change."""
    before = grader_state(course, load_study("study2"), course.config())
    text = (tables / name).read_text("utf-8")
    assert old in text
    (tables / name).write_text(text.replace(old, new, 1), "utf-8")
    now = grader_state(course, load_study("study2"), course.config())
    assert changes(before, now) == ([CAUSES[cause]] if cause else [])


def test_other_code_is_named_with_its_version(course, monkeypatch):
    """Results from a version that kept no such record are recognised as well."""
    now = grader_state(course, STUDY, course.config())
    assert changes(now | {"code": "0.0.9 0000"}, now) == [
        f"the grading code has changed (version {now['code'].split()[0]}, before: 0.0.9)"
    ]
    other = f"{now['code'].split()[0]} 0000"
    assert changes(now | {"code": other}, now) == ["the grading code has changed"]
    assert changes({"grader": "one", "isolation": "sandbox"}, now) == [UNKNOWN]


def test_marks_of_other_code_are_reported_everywhere_before_they_change(course, monkeypatch):
    """The report, its page, the export, the feedback and the overview mention it until grading is
    complete.
    """
    run = CliRunner()
    assert not outdated_results(course, STUDY)
    monkeypatch.setattr(deciding, "_code", lambda: "9.9 other")
    why = "the grading code has changed (version 9.9, before: "
    said = f"{STUDY.assignment}: 1 submission has outdated marks ({why}"
    for command in (["report", "study2"], ["feedback", "study2"], ["export", "--output", "-"]):
        done = run.invoke(app, [*command, "--course", str(course.root)])
        assert said in " ".join(done.stderr.split()), command
    assert "Out of date:" in (course.root / "reports" / f"{STUDY.assignment}.html").read_text()
    assert said in repr(overview(course.root))
    assert any(said in one for one in warnings(read_marks(course)))
    notes = []
    monkeypatch.setattr(batch, "_grade_in_workers", lambda *arguments: (each for each in ()))
    grade(course, STUDY, note=notes.append)
    assert notes[0].startswith(f"{STUDY.assignment}: 1 submission is graded again ({why}")


def test_an_answer_that_is_unchanged_is_not_reopened(course, no_self_test):
    """However often it is graded again, it stays; a changed answer waits for a manual mark and
    counts.
    """
    for _ in range(2):
        assert again(course, force=True) == "graded"
        assert not waits(course)
        assert not any("count 0" in said for said in warnings(read_marks(course)))
    submit(course, "Another answer.")
    assert again(course) == "graded"
    assert waits(course)
    said = " ".join(warnings(read_marks(course)))
    assert "the marks count until a grader reviews them: ada" in said
    assert "count 0" not in said


def test_a_score_that_a_person_replaced_waits_only_where_ours_has_changed(course, no_self_test):
    """The module has changed, and the automatic score with it."""
    give(course, 1, CHECK.grade_id)
    assert again(course, force=True) == "graded"
    assert not waits(course, CHECK.grade_id)
    submit(course, "Both bounds of one successor.", "stub")
    assert again(course) == "graded"
    assert waits(course, CHECK.grade_id)
    assert not waits(course)


def test_without_a_record_of_the_answers_a_person_looks_again(course, no_self_test):
    """This is the case for the results of an earlier version."""
    path = course.results(STUDY.assignment, "ada") / f"{NOTEBOOK}.json"
    kept = json.loads(path.read_text("utf-8"))
    del kept["answers"]
    path.write_text(json.dumps(kept), "utf-8")
    again(course, force=True)
    assert waits(course)


def test_points_that_disagree_are_refused(course, monkeypatch):
    """The table, the release or the gradebook may be higher or lower; the suggested command repairs
    it.
    """
    url = course.config().CourseDirectory.db_url
    require_same_points(course, STUDY, url)
    with pytest.raises(
        UserError,
        match=r"has 80 in the study's table, .* in the release, .* in the "
        r"gradebook\. Run `autograder build study2` and `autograder generate ",
    ):
        grade(course, RAISED)
    assert read_ledger(course.results(STUDY.assignment, "ada") / LEDGER)["status"] == "graded"
    with opened(course) as book:
        book.find_graded_cell(*WHERE[:3]).max_score = 1
        book.db.commit()
    with pytest.raises(
        UserError,
        match=rf"{QUESTION} has .* 1 in the gradebook\. Run `autograder "
        r"generate study2 --course \S+`, then grade again",
    ):
        grade(course, STUDY)


@pytest.mark.parametrize(
    "mistake",
    [
        "a case more",
        "a case less",
        "another case",
        "another question",
        "no file",
        "half a file",
        "a list",
    ],
)
def test_expected_replies_that_do_not_belong_to_the_positions_are_refused(course, tables, mistake):
    """Every command that needs them suggests the command that creates them."""
    table, expected = (
        tables / "autograder/studies" / STUDY.assignment / name
        for name in ("hidden_cases.toml", "hidden_expected.json")
    )
    text = table.read_text("utf-8")
    line = next(line for line in text.splitlines() if line.lstrip().startswith("{ on"))
    if "case" in mistake:
        table.write_text(
            text.replace(
                line,
                {
                    "a case more": f'{line}\n    {{ on = "xo_______" }},',
                    "a case less": "",
                    "another case": '    { on = "xo_______" },',
                }[mistake],
                1,
            ),
            "utf-8",
        )
    elif mistake == "another question":
        table = tables / "course/study2_alpha_beta/_check/checks.toml"
        text = table.read_text("utf-8")
        table.write_text(text.replace('agent = "AlphaBeta"', 'agent = "Other"'), "utf-8")
        assert text != table.read_text("utf-8")
    elif mistake == "no file":
        expected.unlink()
    else:
        expected.write_text(
            "[]" if mistake == "a list" else expected.read_text("utf-8")[:99], "utf-8"
        )
    hidden = hidden_cases.hidden_study("study2")
    with pytest.raises(StudyTableError, match=r"run `autograder build study2`"):
        load_expected(hidden_cases.expected_file(hidden), hidden.checks.values())
    for command in (
        ["grade", "study2", "--course", str(course.root)],
        ["generate", "study2", "--course", str(course.root)],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2, command
        assert "run `autograder build study2`" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "case", [{"on": "pile 3,4,5"}, {"on": ["xo_______", "pile 1"]}, {"heaps": [3, 4]}]
)
def test_cases_that_cannot_be_drawn_are_refused(case, monkeypatch):
    """No cases are selected from an incomplete set, and nothing is written."""
    odd = replace(CHECK, cases=[CHECK.cases[0], case])
    with pytest.raises(UserError, match="needs a drawer"):
        next(fresh_cases(odd, list(odd.cases), random.Random(1)))
    hidden = hidden_cases.hidden_study("study2")
    monkeypatch.setattr(
        hidden_cases, "hidden_study", lambda name: replace(hidden, checks={CHECK.name: odd})
    )
    with pytest.raises(UserError, match="Nothing was changed"):
        choose_cases("study2", 1)
