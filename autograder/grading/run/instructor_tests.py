"""Decides which of an instructor's own tests can run outside the student's interpreter.

The source of the notebook decides first. A test that could share hidden state with the submission,
such as a random generator, runs inside, as in nbgrader (see `hidden_state`). For the other tests
the instructor's own solution decides. A test that the solution passes outside, where the names of
the submission are proxies, runs outside. A test that needs live objects, such as
`isinstance(account, Account)`, runs inside, where a student can manipulate its result.

Functions, classes and values that are defined in locked cells other than tests come from the
instructor's notebook (see `locked_cells`). A submission that redefines `close` therefore changes no
test.
"""

import ast
import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import determine_grade
from traitlets import Any

from autograder import workspace
from autograder.grading.intake.hidden_state import place_tests
from autograder.grading.intake.locked_cells import read_locked_cells, statements
from autograder.grading.run.nbgrader_steps import GradingStep, is_own_test
from autograder.release.notebooks import NotebookError, require_known_checks
from autograder.sandbox.client import CannotIsolate
from course.checks import UnknownCheck, load_study

RUNS = 5  # runs of the instructor's solution if a test's outcome may be random
NEEDS_LIVE_OBJECTS = (
    "it does not pass outside; make it compare plain values (numbers, strings, containers, "
    "arrays), not objects of the student's classes"
)
NEEDS_OTHER_TESTS = "another test of the notebook fails while this one runs outside"
Marks = Mapping[str, tuple[float, float]]  # by test, the points earned and the maximum


def classify_tests(step: GradingStep, name: str, solved: NotebookNode, folder: Path) -> Marks:
    """Record in `step` where each test of the notebook `name` runs; return the solution's marks.

    `folder` contains the solution's files. Chance does not influence where a test runs, because a
    test whose outcome may be random is placed by its source alone.
    """
    tests = [cell.metadata.nbgrader.grade_id for cell in filter(is_own_test, solved.cells)]
    locked = read_locked_cells(solved.cells, folder)
    placed = place_tests(
        solved.cells, tests, folder, locked.not_reproducible(filter(is_own_test, solved.cells))
    )
    reasons = dict(placed.inside)
    facts = {
        "imports": [*_imports(solved), *locked.helpers],
        "withheld": sorted(locked.withheld),
        "inside": sorted(reasons),
        "reasons": reasons,
    }
    for _ in range(3):  # because moving one test inside can make others fail outside
        step.tests = step.tests | {name: facts}
        marks, calls = _run_tests(step, name, solved, folder)
        failed = {test for test, (points, most) in marks.items() if points < most}
        if not failed - reasons.keys():
            break
        reasons |= dict.fromkeys(sorted(failed - reasons.keys()), NEEDS_LIVE_OBJECTS)
        facts = facts | {"inside": sorted(reasons), "reasons": reasons}
    wrong = failed - placed.unsteady
    if wrong and len(reasons) < len(tests):  # another test that runs outside may be the cause
        step.tests = step.tests | {name: facts | {"inside": sorted(tests)}}
        marks_inside, calls_inside = _run_tests(step, name, solved, folder)
        if any(marks_inside[test][0] >= marks_inside[test][1] for test in wrong):
            marks, calls = marks_inside, calls_inside
            reasons |= {test: NEEDS_OTHER_TESTS for test in tests if test not in reasons}
            facts = facts | {"inside": sorted(reasons), "reasons": reasons}
    step.tests = step.tests | {name: facts | {"calls": calls, "unsteady": sorted(placed.unsteady)}}
    return marks


def flaky_tests(
    step: GradingStep, name: str, solved: NotebookNode, folder: Path, marks: Marks
) -> dict[str, int]:
    """Return the tests that the instructor's solution passes in only some of `RUNS` runs, each with
    the number of passes.

    `marks` are the marks of the first run, as returned by `classify_tests`. Only tests whose
    outcome may be random run again.
    """
    unsteady = step.tests.get(name, {}).get("unsteady", ())
    runs = [
        marks,
        *(
            score_tests(step, name, deepcopy(solved), folder)
            for _ in range(RUNS - 1 if unsteady else 0)
        ),
    ]
    passed = {test: sum(run[test][0] >= run[test][1] for run in runs) for test in unsteady}
    return {test: count for test, count in passed.items() if 0 < count < RUNS}


def flaky_message(test: str, passed: int) -> str:
    """Return the message about a test whose outcome is random."""
    return (
        f"the test {test!r} passes in {passed} of {RUNS} runs of your own solution: set the "
        "seed of the random generator at the beginning of the test, or allow a larger "
        "deviation"
    )


def score_tests(step: GradingStep, name: str, notebook: NotebookNode, folder: Path) -> Marks:
    """Return the marks that a notebook gets for the instructor's own tests."""
    return _run_tests(step, name, notebook, folder)[0]


def _run_tests(
    step: GradingStep, name: str, notebook: NotebookNode, folder: Path
) -> tuple[Marks, dict[str, list[str]]]:
    """Return the marks for the tests in a notebook, and which of the notebook's functions each test
    called.
    """
    _, resources = step.preprocess(notebook, {"metadata": {"path": str(folder), "name": name}})
    marks = {
        cell.metadata.nbgrader.grade_id: determine_grade(cell)
        for cell in filter(is_own_test, notebook.cells)
    }
    return {test: (points or 0, most) for test, (points, most) in marks.items()}, resources["calls"]


def _imports(notebook: NotebookNode) -> list[str]:
    """Return the import statements in a notebook's Python cells."""
    return [
        ast.unparse(node)
        for cell in notebook.cells
        for node in statements(cell)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]


class MarkInProcessTests(NbGraderPreprocessor):
    """Reports, when an assignment is released, which of its tests must run in the student's
    process, and rejects checks that do not exist."""

    report = Any(
        lambda notebook, test: None,
        help="Called with the name of a notebook and the name of each such test.",
    ).tag(config=True)

    def preprocess(self, nb, resources):
        """Run the tests of a notebook on its solution; the notebook is not changed.

        Raises `NotebookError` for checks that do not exist.
        """
        name, folder = resources["metadata"]["name"], Path(resources["metadata"]["path"])
        try:
            require_known_checks(nb, folder / f"{name}.ipynb")
        except NotebookError as error:
            self.log.error("%s", error)  # before nbgrader's longer messages
            raise
        if any(map(is_own_test, nb.cells)):
            step = GradingStep(config=self.config)
            try:
                with _solved_folder(folder, resources["nbgrader"]["assignment"]) as place:
                    marks = classify_tests(step, name, deepcopy(nb), place)
                    varying = flaky_tests(step, name, deepcopy(nb), place, marks)
            except CannotIsolate as error:
                self.log.info("the tests were not run on the solution: %s", error)
                return nb, resources
            reasons = step.tests[name]["reasons"]
            for test, (points, most) in marks.items():
                if test in varying:
                    self.log.warning("%s.ipynb: %s", name, flaky_message(test, varying[test]))
                elif points < most:
                    self.log.warning(
                        "%s.ipynb: the test %r fails with your own solution", name, test
                    )
                    continue
                if test in reasons:
                    self.log.warning("%s.ipynb: %s", name, in_process_message(test, reasons[test]))
                    self.report(f"{name}.ipynb", test)
        return nb, resources


@contextlib.contextmanager
def _solved_folder(folder: Path, assignment: str) -> Iterator[Path]:
    """Yield a folder with an assignment's files, in which the module of a study is the reference
    solution.
    """
    try:
        study = load_study(assignment)
    except UnknownCheck:  # an assignment that the instructor wrote, whose source is the solution
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="solved-") as temporary:
        place = Path(temporary) / assignment
        shutil.copytree(folder, place)
        (place / study.module).write_text(workspace.module_texts(study)["reference"], "utf-8")
        yield place


def in_process_message(test: str, reason: str) -> str:
    """Return the message about a test that runs in the student's process."""
    return (
        f"the test {test!r} is decided in the student's own interpreter, where it can be "
        f"fooled, because {reason}"
    )
