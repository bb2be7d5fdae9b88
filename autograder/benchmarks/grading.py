"""Grading: submissions per second, compared with plain nbgrader.

The class hands in a classic assignment: four assert cells with numpy and one figure, no checks;
seven of ten solve it.
Plain nbgrader grades it by its own command, one process for each core, each with its share of the
students; ours by `autograder grade`. Times are of whole commands, start included; the rate while
grading is that between the first and the last submission that was done. Marks are compared cell by
cell. A second class is the same with 2 of 40 in an endless loop, which both stop after the same
time; in a third comparison each stops it when it does by default. Study 3 stands beside them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder import workspace
from autograder.benchmarks import Result
from autograder.course_folder import CourseFolder, put_environment_on_path, run_quietly
from autograder.release.assignments import release
from course.probes import load_study

STUDENTS = 40
LOOPS = 2
LOOP_SECONDS = 10  # after which both stop a cell; our default
PLAIN_SECONDS = 30  # nbgrader's default
ASSIGNMENT, NOTEBOOK = "classic", "arrays"
PEER = "nbgrader autograde, one process per core"
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
TESTS = ("assert len(smooth(np.arange(10.0), 3)) == 8",
         "assert np.allclose(smooth(np.arange(10.0), 3), np.arange(1.0, 9.0))",
         "assert np.allclose(smooth(np.ones(5), 5), [1.0])",
         "noise = np.random.default_rng(0).normal(size=2000)\n"
         "assert smooth(noise, 50).std() < 0.3 * noise.std()")
RIGHT = (
    '    return np.convolve(values, np.ones(width) / width, mode="valid")',
    "    return np.array([values[i:i + width].mean() for i in range(len(values) - width + 1)])",
    "    sums = np.cumsum(np.insert(values, 0, 0.0))\n"
    "    return (sums[width:] - sums[:-width]) / width")
WRONG = (
    '    return np.convolve(values, np.ones(width), mode="valid")',
    '    return np.convolve(values, np.ones(width) / width, mode="same")',
    "    raise NotImplementedError()")
WAYS = (RIGHT[0], RIGHT[1], WRONG[0], RIGHT[2], RIGHT[0], WRONG[1], RIGHT[1], RIGHT[2], WRONG[2],
        RIGHT[0])  # seven of ten right
LOOP = "    while True:\n        pass"


def run() -> list[Result]:
    """Compare three classes with plain nbgrader, and time study 3."""
    put_environment_on_path()
    with tempfile.TemporaryDirectory(prefix="bench-grading-") as folder:
        root = Path(folder)
        classic = _compare(root, "classic", list(islice(cycle(WAYS), STUDENTS)), 12)
        looping = _compare(root, "2 of 40 looping",
                           list(islice(cycle(WAYS), STUDENTS - LOOPS)) + [LOOP] * LOOPS, 5)
        defaults = _compare(root, "2 of 40 looping, both by default",
                            list(islice(cycle(WAYS), STUDENTS - LOOPS)) + [LOOP] * LOOPS, None,
                            PLAIN_SECONDS)
        return classic + looping + defaults + _study3(root)


def _compare(root: Path, name: str, ways: list[str], target: float | None,
             plain_seconds: int = LOOP_SECONDS) -> list[Result]:
    print(f"{name}: {len(ways)} submissions, plain nbgrader first ...", file=sys.stderr)
    plain, ours = root / name / "plain", root / name / "ours"
    plain.mkdir(parents=True)
    (plain / "nbgrader_config.py").write_text(PLAIN_CONFIG.format(
        root=str(plain), timeout=plain_seconds), "utf-8")
    CourseFolder.create(ours)
    with (ours / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"c.GradingStep.cell_seconds = {LOOP_SECONDS}\n")
    for course in (plain, ours):
        _release(course)
        for number, way in enumerate(ways):
            _hand_in(course, f"s{number:03}", way)
    theirs = _timed(lambda: _plain(plain, len(ways)))
    whole = _timed(lambda: _ours(ours, ASSIGNMENT))
    rate = _rate(ours, ASSIGNMENT)
    same = _marks(plain) == _marks(ours)
    return [
        Result(f"{name}: plain nbgrader", len(ways) / theirs, "submissions/s"),
        Result(f"{name}: this kit, whole command", len(ways) / whole, "submissions/s"),
        Result(f"{name}: this kit, while grading", rate, "submissions/s"),
        Result(f"{name}: whole commands", theirs / whole, "times", None, PEER),
        Result(f"{name}: rate of grading", rate * theirs / len(ways), "times",
               None if target is None else f">= {target}", PEER),
        Result(f"{name}: marks identical", float(same), "1 if so",
               "== 1" if "loop" not in name else None, PEER),
    ]


def _study3(root: Path) -> list[Result]:
    study = load_study("type_a")
    folder = CourseFolder.create(root / "type_a")
    release(folder, study)
    texts = workspace.module_texts(study)
    for number, text in enumerate(islice(cycle(list(texts.values())[:20]), STUDENTS)):
        target = folder.submission(study.assignment, f"s{number:03}")
        shutil.copytree(folder.release(study.assignment), target)
        (target / study.module).write_text(text, "utf-8")
    whole = _timed(lambda: _ours(folder.root, "type_a"))
    return [Result("study 3: whole command", STUDENTS / whole, "submissions/s"),
            Result("study 3: while grading", _rate(folder.root, study.assignment),
                   "submissions/s")]


def _release(course: Path) -> None:
    """The classic assignment through nbgrader's own `generate_assignment`."""
    def tested(number: int, test: str):
        return new_code_cell(test, metadata={"nbgrader": {
            "grade": True, "grade_id": f"test-{number}", "locked": True, "points": 2,
            "schema_version": 3, "solution": False, "task": False}})

    notebook = new_notebook(metadata={
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}})
    notebook.cells = [
        new_markdown_cell("# Moving averages"),
        new_code_cell("import numpy as np\nimport matplotlib.pyplot as plt"),
        new_code_cell(SOLUTION, metadata={"nbgrader": {
            "grade": False, "grade_id": "smooth", "locked": False, "schema_version": 3,
            "solution": True, "task": False}}),
        *(tested(number, test) for number, test in enumerate(TESTS)),
        new_code_cell("x = np.linspace(0, 10, 200)\nplt.plot(x, np.sin(x))\nplt.title('sine')\n"
                      "plt.show()"),
        new_code_cell("np.arange(12).reshape(3, 4)"),
        new_markdown_cell("The end."),
    ]
    source = course / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    nbformat.write(notebook, source / f"{NOTEBOOK}.ipynb")
    config = CourseFolder.open(course).config()
    config.CourseDirectory.assignment_id = ASSIGNMENT
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    run_quietly(converter, course / "release.log")


def _hand_in(course: Path, student: str, way: str) -> None:
    target = course / "submitted" / student / ASSIGNMENT
    shutil.copytree(course / "release" / ASSIGNMENT, target)
    path = target / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    head = SOLUTION.split("    ### BEGIN", maxsplit=1)[0]
    for cell in notebook.cells:
        if cell.source.startswith("def smooth"):
            cell.source = head + way
    nbformat.write(notebook, path)


def _plain(course: Path, students: int) -> None:
    """nbgrader's own command, one process per core."""
    cores = os.cpu_count() or 1
    # Students are chosen by pattern: process 0 takes the names whose number ends in 0, 2, 4 ...
    digits = [[d for d in range(10) if d % cores == core] for core in range(cores)]
    processes = [subprocess.Popen(
        [sys.executable, "-m", "nbgrader", "autograde", ASSIGNMENT, "--student",
         f"s*[{''.join(map(str, some))}]"], cwd=course, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for some in digits if some]
    for process in processes:
        process.wait()
    assert len(list(course.glob(f"autograded/*/{ASSIGNMENT}/*.ipynb"))) == students


def _ours(course: Path, name: str) -> None:
    subprocess.run([sys.executable, "-m", "autograder", "grade", name, "--course", str(course)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rate(course: Path, assignment: str) -> float:
    """Submissions per second between the first entry in the ledger and the last one."""
    times = sorted(path.stat().st_mtime
                   for path in course.glob(f"results/{assignment}/*/submission.json"))
    return (len(times) - 1) / (times[-1] - times[0])


def _marks(course: Path) -> dict[tuple[str, str], float | None]:
    """The automatic score of every cell, by student and cell."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        return {(submission.student_id, grade.name): grade.auto_score
                for submission in book.find_assignment(ASSIGNMENT).submissions
                for notebook in submission.notebooks for grade in notebook.grades}
