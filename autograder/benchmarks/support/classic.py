"""A classic assignment with assert cells, in a course of plain nbgrader and in one of this kit."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly

LOOP_SECONDS = 10  # time limit of a cell in both programs, unless the defaults are used
PLAIN_SECONDS = 30  # nbgrader's default
ASSIGNMENT, NOTEBOOK = "classic", "arrays"
PLAIN_CONFIG = """
c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.db_url = "sqlite:///" + {root!r} + "/gradebook.db?timeout=120"
c.Execute.timeout = {timeout}
"""
SOLUTION = '''def smooth(values, width):
    """The moving average of `values` over `width` neighbours."""
    ### BEGIN SOLUTION
    window = np.ones(width) / width
    return np.convolve(values, window, mode="valid")
    ### END SOLUTION'''
TESTS = (
    "assert len(smooth(np.arange(10.0), 3)) == 8",
    "assert np.allclose(smooth(np.arange(10.0), 3), np.arange(1.0, 9.0))",
    "assert np.allclose(smooth(np.ones(5), 5), [1.0])",
    "noise = np.random.default_rng(0).normal(size=2000)\n"
    "assert smooth(noise, 50).std() < 0.3 * noise.std()",
)
RIGHT = (
    '    return np.convolve(values, np.ones(width) / width, mode="valid")',
    "    return np.array([values[i:i + width].mean() for i in range(len(values) - width + 1)])",
    "    sums = np.cumsum(np.insert(values, 0, 0.0))\n"
    "    return (sums[width:] - sums[:-width]) / width",
)
WRONG = (
    '    return np.convolve(values, np.ones(width), mode="valid")',
    '    return np.convolve(values, np.ones(width) / width, mode="same")',
    "    raise NotImplementedError()",
)
WAYS = (
    RIGHT[0],
    RIGHT[1],
    WRONG[0],
    RIGHT[2],
    RIGHT[0],
    WRONG[1],
    RIGHT[1],
    RIGHT[2],
    WRONG[2],
    RIGHT[0],
)  # seven of ten are right
LOOP = "    while True:\n        pass"


def ways(students: int, loops: int = 0) -> list[str]:
    """Return the answers of this many students; the last `loops` of them have an endless loop."""
    return [*islice(cycle(WAYS), students - loops), *[LOOP] * loops]


def two_courses(root: Path, answers: Sequence[str], plain_seconds: int) -> tuple[Path, Path]:
    """Make the same class in a course folder of plain nbgrader and in one of this kit."""
    plain, ours = root / "plain", root / "ours"
    plain.mkdir(parents=True)
    (plain / "nbgrader_config.py").write_text(
        PLAIN_CONFIG.format(root=str(plain), timeout=plain_seconds), "utf-8"
    )
    CourseFolder.create(ours)
    with (ours / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        if plain_seconds == LOOP_SECONDS:  # both stop a loop after the same time
            file.write(f"c.GradingStep.least_seconds = {LOOP_SECONDS}\n")
    for course in (plain, ours):
        _release(course)
        for number, way in enumerate(answers):
            (course / "submitted" / f"s{number:03}").mkdir(parents=True)
            shutil.copytree(
                course / "release" / ASSIGNMENT, course / "submitted" / f"s{number:03}" / ASSIGNMENT
            )
            write_answer(course, f"s{number:03}", way)
    return plain, ours


def _release(course: Path) -> None:
    """Generate the classic assignment with nbgrader's own `generate_assignment`."""

    def tested(number: int, test: str):
        return new_code_cell(
            test,
            metadata={
                "nbgrader": {
                    "grade": True,
                    "grade_id": f"test-{number}",
                    "locked": True,
                    "points": 2,
                    "schema_version": 3,
                    "solution": False,
                    "task": False,
                }
            },
        )

    notebook = new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        }
    )
    notebook.cells = [
        new_markdown_cell("# Moving averages"),
        new_code_cell("import numpy as np\nimport matplotlib.pyplot as plt"),
        new_code_cell(
            SOLUTION,
            metadata={
                "nbgrader": {
                    "grade": False,
                    "grade_id": "smooth",
                    "locked": False,
                    "schema_version": 3,
                    "solution": True,
                    "task": False,
                }
            },
        ),
        *(tested(number, test) for number, test in enumerate(TESTS)),
        new_code_cell(
            "x = np.linspace(0, 10, 200)\nplt.plot(x, np.sin(x))\nplt.title('sine')\nplt.show()"
        ),
        new_code_cell("np.arange(12).reshape(3, 4)"),
        new_markdown_cell("The end."),
    ]
    source = course / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    nbformat.write(notebook, source / f"{NOTEBOOK}.ipynb")
    config = CourseFolder.open(course).config()
    config.CourseDirectory.assignment_id = ASSIGNMENT
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    run_quietly(converter, course / "generate.log")


def write_answer(course: Path, student: str, way: str) -> None:
    """Write an answer into a student's submission."""
    path = course / "submitted" / student / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    head = SOLUTION.split("    ### BEGIN", maxsplit=1)[0]
    for cell in notebook.cells:
        if cell.source.startswith("def smooth"):
            cell.source = head + way
    nbformat.write(notebook, path)


def nbgrader(course: Path, command: str, made: str) -> None:
    """Run nbgrader's own command with one process per core; `made` is a pattern for the files that
    it makes.
    """
    cores = os.cpu_count() or 1
    # Students are chosen by pattern. For example, process 0 takes the names whose number ends in 0,
    # 2, 4 ...
    digits = [[d for d in range(10) if d % cores == core] for core in range(cores)]
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "nbgrader",
                command,
                ASSIGNMENT,
                "--student",
                f"s*[{''.join(map(str, some))}]",
            ],
            cwd=course,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for some in digits
        if some
    ]
    for process in processes:
        process.wait()
    students = len(list(course.glob("submitted/*")))
    assert len(list(course.glob(f"{made}/*/{ASSIGNMENT}/{NOTEBOOK}.*"))) == students


def ours(course: Path, command: str, name: str = ASSIGNMENT) -> None:
    """Run a command of this kit."""
    subprocess.run(
        [sys.executable, "-m", "autograder", command, name, "--course", str(course)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def marks(course: Path) -> dict[tuple[str, str], float | None]:
    """Return the automatic score of every cell, by student and cell."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {
            (submission.student_id, grade.name): grade.auto_score
            for submission in book.find_assignment(ASSIGNMENT).submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }
