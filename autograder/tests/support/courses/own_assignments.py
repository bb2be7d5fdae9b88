"""An instructor's own assignment with hidden tests, and submissions to it."""

import shutil
from collections.abc import Iterable

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly
from autograder.tests.support.courses.classes import gradebook

OWN = "week7"
SOLVED = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
SHOWN = "assert double(1) == 2"
SECRET = (
    "### BEGIN HIDDEN TESTS\nassert double(98765) == 197530, 'SECRETCODE'\n### END HIDDEN TESTS"
)


def own_assignment(
    folder: CourseFolder,
    test: str = f"{SHOWN}\n{SECRET}",
    more: Iterable[nbformat.NotebookNode] = (),
) -> None:
    """Release an instructor's own assignment: a solution cell, a test cell, and more."""

    def cell(source, grade_id, **nbgrader):
        return new_code_cell(
            source,
            metadata={
                "nbgrader": {"grade_id": grade_id, "schema_version": 3, "task": False, **nbgrader}
            },
        )

    notebook = new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        }
    )
    notebook.cells = [
        cell(SOLVED, "double", grade=False, locked=False, solution=True),
        cell(test, "test", grade=True, locked=True, solution=False, points=10),
        *more,
    ]
    source = folder.root / "source" / OWN
    source.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, source / "numbers.ipynb")
    config = folder.config()
    config.CourseDirectory.assignment_id = OWN
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    run_quietly(converter, folder.root / "generate.log")


def solve(folder: CourseFolder, student: str, solution: str) -> None:
    """Submit the released notebook with this body of the function."""
    target = folder.own_submission(OWN, student)
    shutil.copytree(folder.release(OWN), target)
    notebook = nbformat.read(target / "numbers.ipynb", as_version=4)
    notebook.cells[0].source = f"def double(x):\n    {solution}"
    nbformat.write(notebook, target / "numbers.ipynb")


def own_scores(folder: CourseFolder) -> dict[str, float]:
    """The scores of the instructor's own assignment."""
    with gradebook(folder) as book:
        return {s.student_id: s.score for s in book.find_assignment(OWN).submissions}
