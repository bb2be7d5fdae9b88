"""Course folders with submissions made without the exchange, and the gradebook's results."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from autograder import workspace
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.database import db_url
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.grading.records.ledger import LEDGER
from autograder.release.assignments import generate_assignment
from autograder.reporting.export import FORMATS, export, read_marks
from course.checks import Study, load_study

STUDY = load_study("study2")
CHECK = STUDY.checks["alpha_beta"]
NOTEBOOK = "02_alpha_beta"
MODULES = workspace.module_texts(STUDY)
ALWAYS = 'c.GradingStep.run_cells = "always"\n'
ENDLESS = "class AlphaBeta:\n    def search(self, state):\n        while True:\n            pass\n"


def config(folder: CourseFolder, text: str) -> None:
    """Add a text to the course's own configuration."""
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
        file.write(text)


def submit(
    folder: CourseFolder,
    student: str,
    module: str,
    edit: Callable[[nbformat.NotebookNode], None] = lambda notebook: None,
    *,
    whole: bool = False,
    study: Study = STUDY,
) -> Path:
    """Submit a module and the notebooks, after `edit`; only the graded cells unless `whole`."""
    target = folder.root / "submitted" / student / study.assignment
    shutil.copytree(folder.release(study.assignment), target, dirs_exist_ok=True)
    (target / study.module).write_text(module, "utf-8")
    for path in target.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        if not whole:
            notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        edit(notebook)
        nbformat.write(notebook, path)
    return target


def gradebook(folder: CourseFolder) -> Gradebook:
    """nbgrader's gradebook of the course; for `with`."""
    return Gradebook(folder.config().CourseDirectory.db_url, "adversarial_search")


def score(folder: CourseFolder, student: str, study: Study = STUDY) -> float:
    """The score of one submission, as formgrader shows it."""
    with gradebook(folder) as book:
        return book.find_submission(study.assignment, student).score


def ledger(folder: CourseFolder, student: str, study: Study = STUDY) -> Path:
    """The path of the ledger's entry for one submission."""
    return folder.results(study.assignment, student) / LEDGER


def make_course(root: Path, *studies: Study, url: str | None = None) -> CourseFolder:
    """A course folder with releases, and with its gradebook in PostgreSQL if `url` is given."""
    folder = CourseFolder.create(root)
    if url:
        config(folder, f"c.CourseDirectory.db_url = {url!r}\n")
    for study in studies:
        generate_assignment(folder, study)
    return folder


def _without_times(path: Path) -> dict:
    """The saved outcomes of a notebook."""
    saved = json.loads(path.read_text("utf-8"))
    for outcome in saved["outcomes"]:
        del outcome["seconds"]
    return saved


def graded_by(folder: CourseFolder, study: Study) -> dict:
    """The results of a class in a course folder, without times."""
    with (folder.root / "reports" / f"{study.assignment}.csv").open() as file:
        table = [
            {name: value for name, value in row.items() if name != "seconds"}
            for row in csv.DictReader(file)
        ]
    return {
        "booked": read_automatic_marks(db_url(folder), study.assignment),
        "report": table,
        "exports": {kind: export(read_marks(folder), kind) for kind in FORMATS},
        "pages": {
            str(path.relative_to(folder.root)): path.read_text("utf-8")
            for path in sorted(folder.root.glob("feedback/*/*/*.html"))
        },
        "outcomes": {
            str(path.relative_to(folder.root)): _without_times(path)
            for path in sorted(folder.root.glob("results/*/*/0*.json"))
        },
    }


def first_cell(*sources: str) -> Callable:
    """An edit that inserts code cells at the beginning of the notebook."""

    def edit(notebook):
        notebook.cells[:0] = map(new_code_cell, sources)

    return edit


def outcomes(folder: CourseFolder, student: str, study: Study = STUDY) -> dict[str, dict]:
    """The outcome of each check of one submission."""
    return {
        outcome["check"]: outcome
        for path in folder.results(study.assignment, student).glob("[0-9]*.json")
        for outcome in json.loads(path.read_text("utf-8"))["outcomes"]
    }


def stopped(folder: CourseFolder, student: str) -> str | None:
    """Why the notebook was stopped, if it was."""
    path = folder.results(STUDY.assignment, student) / f"{NOTEBOOK}.json"
    return json.loads(path.read_text("utf-8"))["stopped"]


def page_of(folder: CourseFolder, student: str) -> str:
    """The feedback page of a student."""
    path = folder.root / "feedback" / student / STUDY.assignment / f"{NOTEBOOK}.html"
    return path.read_text("utf-8")
