"""An instructor's own tests: which of them can be decided outside the student's interpreter.

The source of the notebook decides first: a test that could share hidden state with the submission,
such as a random generator, runs inside, as in nbgrader (see `hidden_state`). The instructor's own
solution decides about the others. A test that it passes outside, where the submission's names are
remote, is decided there. A test that needs live objects, such as `isinstance(account, Account)`,
runs inside. A student who knows how can make a test pass that runs inside.

The functions, classes and values of locked cells that are no tests come from the instructor's
notebook (see `locked_cells`): a submission that defines `close` again changes no test of it.
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
from autograder.grading.hidden_state import place_tests
from autograder.grading.locked_cells import read_locked_cells, statements
from autograder.grading.nbgrader_steps import GradingStep, is_own_test
from autograder.release.notebooks import NotebookError, complain_about_unknown_checks
from autograder.sandbox.client import CannotIsolate
from course.probes import UnknownCheck, load_study

RUNS = 5  # of the instructor's solution, if a test's outcome could be random
NEEDS_OBJECTS = (
    "it does not pass outside; let it compare plain values (numbers, texts, "
    "containers, arrays), not objects of the student's classes"
)
NEEDS_OTHERS = "another test of the notebook fails while this one runs outside"
Marks = Mapping[str, tuple[float, float]]  # by a test's name: what it earns, and the most


def learn_of_tests(step: GradingStep, name: str, solved: NotebookNode, folder: Path) -> Marks:
    """Record in `step` where each test of the notebook `name` runs, whose solution is in `folder`.

    Returns what the solution earns. Chance has no influence on where a test runs: a test whose
    outcome could be random is placed by its source alone.
    """
    tests = [cell.metadata.nbgrader.grade_id for cell in filter(is_own_test, solved.cells)]
    locked = read_locked_cells(solved.cells, folder)
    placed = place_tests(
        solved.cells, tests, folder, locked.unrepeatable(filter(is_own_test, solved.cells))
    )
    reasons = dict(placed.inside)
    known = {
        "imports": [*_imports(solved), *locked.helpers],
        "withheld": sorted(locked.withheld),
        "inside": sorted(reasons),
        "reasons": reasons,
    }
    for _ in range(3):  # a test that is decided inside may take others with it
        step.tests = step.tests | {name: known}
        marks, calls = _tested(step, name, solved, folder)
        failed = {test for test, (points, most) in marks.items() if points < most}
        if not failed - reasons.keys():
            break
        reasons |= dict.fromkeys(sorted(failed - reasons.keys()), NEEDS_OBJECTS)
        known = known | {"inside": sorted(reasons), "reasons": reasons}
    wrong = failed - placed.unsteady
    if wrong and len(reasons) < len(tests):  # because another test runs outside, or in any case?
        step.tests = step.tests | {name: known | {"inside": sorted(tests)}}
        again, calls_again = _tested(step, name, solved, folder)
        if any(again[test][0] >= again[test][1] for test in wrong):
            marks, calls = again, calls_again
            reasons |= {test: NEEDS_OTHERS for test in tests if test not in reasons}
            known = known | {"inside": sorted(reasons), "reasons": reasons}
    step.tests = step.tests | {name: known | {"calls": calls, "unsteady": sorted(placed.unsteady)}}
    return marks


def varying_tests(
    step: GradingStep, name: str, solved: NotebookNode, folder: Path, marks: Marks
) -> dict[str, int]:
    """The tests that the instructor's solution passes in some of `RUNS` runs only, and in how many.

    `marks` are those of the first run, which `learn_of_tests` has returned. Only tests whose
    outcome could be random are run again.
    """
    unsteady = step.tests.get(name, {}).get("unsteady", ())
    runs = [
        marks,
        *(
            marks_of_tests(step, name, deepcopy(solved), folder)
            for _ in range(RUNS - 1 if unsteady else 0)
        ),
    ]
    passed = {test: sum(run[test][0] >= run[test][1] for run in runs) for test in unsteady}
    return {test: count for test, count in passed.items() if 0 < count < RUNS}


def varying_sentence(test: str, passed: int) -> str:
    """What to report of a test whose outcome is random."""
    return (
        f"the test {test!r} passes in {passed} of {RUNS} runs of your own solution: set the "
        "seed of the random generator at the beginning of the test, or allow a larger "
        "deviation"
    )


def marks_of_tests(step: GradingStep, name: str, notebook: NotebookNode, folder: Path) -> Marks:
    """What a notebook's own tests earn."""
    return _tested(step, name, notebook, folder)[0]


def _tested(
    step: GradingStep, name: str, notebook: NotebookNode, folder: Path
) -> tuple[Marks, dict[str, list[str]]]:
    """What a notebook's own tests earn, and what each called of the notebook."""
    _, found = step.preprocess(notebook, {"metadata": {"path": str(folder), "name": name}})
    marks = {
        cell.metadata.nbgrader.grade_id: determine_grade(cell)
        for cell in filter(is_own_test, notebook.cells)
    }
    return {test: (points or 0, most) for test, (points, most) in marks.items()}, found["calls"]


def _imports(notebook: NotebookNode) -> list[str]:
    """The statements that import in a notebook's cells, as far as they are Python."""
    return [
        ast.unparse(node)
        for cell in notebook.cells
        for node in statements(cell)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]


class TellInside(NbGraderPreprocessor):
    """Says, when an assignment is released, which of its tests can be decided inside only, and
    refuses checks that do not exist."""

    tell = Any(
        lambda notebook, test: None,
        help=("Is called with the name of a notebook and that of each such test."),
    ).tag(config=True)

    def preprocess(self, nb, resources):
        """Try the tests of a notebook on its solution, and leave it as it is.

        Raises `NotebookError` for checks that do not exist.
        """
        name, folder = resources["metadata"]["name"], Path(resources["metadata"]["path"])
        try:
            complain_about_unknown_checks(nb, folder / f"{name}.ipynb")
        except NotebookError as error:
            self.log.error("%s", error)  # nbgrader says more, but not at once
            raise
        if any(map(is_own_test, nb.cells)):
            step = GradingStep(config=self.config)
            try:
                with _solved(folder, resources["nbgrader"]["assignment"]) as place:
                    marks = learn_of_tests(step, name, deepcopy(nb), place)
                    varying = varying_tests(step, name, deepcopy(nb), place, marks)
            except CannotIsolate as error:
                self.log.info("tests are not tried: %s", error)
                return nb, resources
            reasons = step.tests[name]["reasons"]
            for test, (points, most) in marks.items():
                if test in varying:
                    self.log.warning("%s.ipynb: %s", name, varying_sentence(test, varying[test]))
                elif points < most:
                    self.log.warning(
                        "%s.ipynb: the test %r fails with your own solution", name, test
                    )
                    continue
                if test in reasons:
                    self.log.warning("%s.ipynb: %s", name, inside_sentence(test, reasons[test]))
                    self.tell(f"{name}.ipynb", test)
        return nb, resources


@contextlib.contextmanager
def _solved(folder: Path, assignment: str) -> Iterator[Path]:
    """A folder with an assignment's files, in which the module of a study is the reference."""
    try:
        study = load_study(assignment)
    except UnknownCheck:  # the instructor's own, which lies there solved
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="solved-") as temporary:
        place = Path(temporary) / assignment
        shutil.copytree(folder, place)
        (place / study.module).write_text(workspace.module_texts(study)["reference"], "utf-8")
        yield place


def inside_sentence(test: str, reason: str) -> str:
    """What to report of a test that is decided inside."""
    return (
        f"the test {test!r} is decided in the student's own interpreter, where it can be "
        f"fooled, because {reason}"
    )
