"""Assignments that cannot be generated, and the advice in the error messages."""

import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Assignment, Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import COURSE_ID
from autograder.database import db_url
from autograder.errors import UserError
from autograder.release import gradable
from autograder.release.assignments import GenerationError, generate_assignment
from autograder.release.notebooks import NotebookError
from course.checks import load_study

R = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}


def graded_notebook(metadata: dict) -> nbformat.NotebookNode:
    """A notebook with one test of two points."""
    marked = {
        "grade": True,
        "grade_id": "square",
        "locked": True,
        "points": 2,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return new_notebook(
        metadata=metadata,
        cells=[new_code_cell("assert square(3) == 9", metadata={"nbgrader": marked})],
    )


def generated(folder: CourseFolder, name: str, metadata: dict) -> subprocess.CompletedProcess:
    """Run nbgrader's own command, as formgrader's button does."""
    source = folder.root / "source" / name
    source.mkdir(parents=True)
    nbformat.write(graded_notebook(metadata), source / "square.ipynb")
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", f"--assignment={name}"],
        cwd=folder.root,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "metadata",
    [
        R,
        {"language_info": {"name": "R"}},
        {"kernelspec": {"name": "ir", "display_name": "R"}},
        {"kernelspec": {"name": "julia-1.9", "display_name": "J", "language": "julia"}},
    ],
)
def test_another_language_is_refused(tmp_path, metadata):
    """The message names the language."""
    with pytest.raises(NotebookError, match="only Python is supported"):
        gradable.require_python(graded_notebook(metadata), tmp_path / "square.ipynb")


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "conda-env-ai-py", "display_name": "AI"}},
        {"kernelspec": {"name": "sagemath", "display_name": "Sage", "language": "python"}},
        {"language_info": {"name": "python"}},
    ],
)
def test_python_by_any_kernel_is_not(tmp_path, metadata):
    """Environments have their own kernel names."""
    gradable.require_python(graded_notebook(metadata), tmp_path / "square.ipynb")


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("week 7", "week_7"),
        ("Übung 1", "Ubung_1"),
        ("a/b", "a_b"),
        ("it's", "it_s"),
        ('"x"', "x"),
        ("-x", "x"),
        (".x", "x"),
        ("a+b", "a_b"),
        ("a%20b", "a_20b"),
        ("a?b#c", "a_b_c"),
        ("été", "ete"),
        ("Straße", "Strasse"),
        ("周", "week1"),
        ("x" * 200, "x" * 100),
        ("x.", "x"),
        ("", "week1"),
        ("a\nb", "a_b"),
    ],
)
def test_names_that_break_something(name, better):
    """Each message suggests another name, which is allowed."""
    assert f"for example {better!r}" in gradable.name_problem(name)
    assert gradable.name_problem(better) == ""


@pytest.mark.parametrize("name", ["week7", "study1_minimax", "ps1.2", "Final-Exam", "1"])
def test_plain_names_are_allowed(name):
    """Examples are the names of the studies."""
    assert gradable.name_problem(name) == ""


@pytest.mark.parametrize("name", ["week 7", "week+7", "week/7", "", "..", "Übung", "x" * 200])
def test_a_new_assignment_needs_a_name_that_works(tmp_path, name):
    """A refused name never enters the gradebook; an assignment that is already there may be
    changed.
    """
    folder = CourseFolder.create(tmp_path / "course")
    with Gradebook(db_url(folder)) as book:
        with pytest.raises(UserError, match="for example"):
            book.update_or_create_assignment(name)
        assert not book.assignments
        book.db.add(Assignment(name="week 7", course_id=COURSE_ID))  # from an earlier version
        book.db.commit()
        book.update_or_create_assignment("week 7", duedate="2026-03-02 10:00 UTC")
        assert book.find_assignment("week 7").duedate


@pytest.mark.slow
def test_nbgraders_own_command_refuses(tmp_path):
    """The message is the same, and `grade` repeats it for an R notebook released before."""
    folder = CourseFolder.create(tmp_path / "course")
    for name, metadata, said in (
        ("week 7", {}, "for example 'week_7'"),
        ("rkernel", R, "square.ipynb is a notebook in R: only Python"),
    ):
        done = generated(folder, name, metadata)
        assert done.returncode != 0 and said in done.stderr, done.stderr
        assert not (folder.release(name) / "square.ipynb").exists()
    folder.release("rkernel").mkdir(parents=True, exist_ok=True)
    nbformat.write(graded_notebook(R), folder.release("rkernel") / "square.ipynb")
    with Gradebook(db_url(folder)) as book:
        book.update_or_create_assignment("rkernel")
    place = folder.submission("rkernel", "ada")
    place.mkdir(parents=True)
    nbformat.write(graded_notebook(R), place / "square.ipynb")
    done = CliRunner().invoke(app, ["grade", "rkernel", "-c", str(folder.root), "--jobs", "1"])
    assert done.exit_code == 2
    assert "only Python is supported" in done.output


@pytest.mark.slow
def test_a_question_added_after_grading(tmp_path):
    """The refusal gives both alternatives; the printed command works, and then the release."""
    folder = CourseFolder.create(tmp_path / "my course")
    study = load_study("study1")
    generate_assignment(folder, study)
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        book.add_student("ada")
        name = book.find_assignment(study.assignment).notebooks[0].name
        book.add_grade_cell(
            "since-removed", name, study.assignment, max_score=1, cell_type="markdown"
        )
        book.add_submission(study.assignment, "ada")
    with pytest.raises(GenerationError) as refused:
        generate_assignment(folder, study)
    text = str(refused.value)
    assert "has been graded" in text and "deletes all its marks" in text
    assert f"generate {study.assignment} --course '{folder.root}_new'" in text
    command = re.search(r"`(\(cd .*?\))`", text)[1]
    subprocess.run(command, shell=True, check=True, capture_output=True)
    generate_assignment(folder, study)
