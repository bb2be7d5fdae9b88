"""An instructor's own tests: which of them can be decided outside the student's interpreter.

The instructor's own solution tells. A test that it passes outside, where the submission's names are
remote, is decided there. One that needs live objects, such as `isinstance(account, Account)`, is
decided inside, as by nbgrader, where somebody who knows how can make it pass.
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
from autograder.grading.nbgrader_steps import GradingStep, is_own_test
from autograder.release.notebooks import NotebookError, complain_about_unknown_checks
from autograder.sandbox.client import CannotIsolate
from course.probes import UnknownCheck, load_study
from course.probes.syntax import FOR_THE_SHELL, parsed

Marks = Mapping[str, tuple[float, float]]  # by a test's name: what it earns, and the most


def learn_of_tests(step: GradingStep, name: str, solved: NotebookNode, folder: Path) -> Marks:
    """Tell `step` of the tests of the notebook `name`, whose solution lies in `folder`; gives what
    the solution earns."""
    known = {"imports": _imports(solved), "inside": []}
    for _ in range(3):  # a test that is decided inside may take others with it
        step.tests = step.tests | {name: known}
        marks, calls = _tested(step, name, solved, folder)
        failed = {test for test, (points, most) in marks.items() if points < most}
        if failed <= {*known["inside"]}:
            break
        known = known | {"inside": [*known["inside"], *sorted(failed - {*known["inside"]})]}
    step.tests = step.tests | {name: known | {"calls": calls}}
    return marks


def marks_of_tests(step: GradingStep, name: str, notebook: NotebookNode, folder: Path) -> Marks:
    """What a notebook's own tests earn."""
    return _tested(step, name, notebook, folder)[0]


def _tested(step: GradingStep, name: str, notebook: NotebookNode,
            folder: Path) -> tuple[Marks, dict[str, list[str]]]:
    """What a notebook's own tests earn, and what each called of the notebook."""
    _, found = step.preprocess(notebook, {"metadata": {"path": str(folder), "name": name}})
    marks = {cell.metadata.nbgrader.grade_id: determine_grade(cell)
             for cell in filter(is_own_test, notebook.cells)}
    return {test: (points or 0, most) for test, (points, most) in marks.items()}, found["calls"]


def _imports(notebook: NotebookNode) -> list[str]:
    """The statements that import in a notebook's cells, as far as they are Python."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            with contextlib.suppress(SyntaxError):
                found += [ast.unparse(node) for node in parsed(
                    FOR_THE_SHELL.sub("", cell.source)).body
                    if isinstance(node, (ast.Import, ast.ImportFrom))]
    return found


class TellInside(NbGraderPreprocessor):
    """Says, when an assignment is released, which of its tests can be decided inside only, and
    refuses checks that do not exist."""

    tell = Any(lambda notebook, test: None, help=(
        "Is called with the name of a notebook and that of each such test.")).tag(config=True)

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
            except CannotIsolate as error:
                self.log.info("tests are not tried: %s", error)
                return nb, resources
            for test, (points, most) in marks.items():
                if points < most:
                    self.log.warning("%s.ipynb: the test %r fails with your own solution", name,
                                     test)
                elif test in step.tests[name]["inside"]:
                    self.log.warning("%s.ipynb: %s", name, inside_sentence(test))
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


def inside_sentence(test: str) -> str:
    """What to say of a test that is decided inside."""
    return (f"the test {test!r} is decided in the student's own interpreter, where it can be "
            "fooled, because it does not pass outside; let it compare plain values (numbers, "
            "texts, containers, arrays), not objects of the student's classes")
