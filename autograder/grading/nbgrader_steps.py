"""Replaces nbgrader's `Execute` step: cells run in a sandbox, checks are decided by `verdict`.

A cell that only calls `check(...)` is not run: its module is asked the hidden questions in a
process of its own, and the verdict is written as the cell's outcome, where nbgrader's own next
step reads the marks. Other cells run as nbgrader runs them, but that an instructor's own assert
cells run in a process that runs nothing of the submission, and only ask it for values.
"""

import atexit
import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import Bool, Dict, Enum, Float, Integer, Unicode

from autograder import verdicts
from autograder.course_folder import CourseFolder, hidden_folders
from autograder.database import PATIENCE
from autograder.errors import in_words
from autograder.gradebook import Gradebook
from autograder.grading.deciding import grader_state
from autograder.grading.kernel import run_in_kernel
from autograder.grading.late import update_time
from autograder.grading.ledger import note_other_door, read_result, write_json
from autograder.grading.needed import LEAST, MOST, TIMES, limit, recalled
from autograder.grading.released_cells import restore_metadata
from autograder.grading.verdict import Known, Seconds, decide, explain
from autograder.release.notebooks import check_id
from autograder.sandbox.client import Outside, Ran, Sandbox, SandboxFault
from autograder.sandbox.cluster import PATIENCE as CLUSTER_PATIENCE
from autograder.sandbox.cluster import ClusterGone, ClusterSandbox, cluster
from autograder.sandbox.limits import Limits
from autograder.times import course_zone
from autograder.workspace import answers_folder
from course.probes import Check, load_study
from course.probes.explain import as_html, as_text
from course.probes.newer_python import explain_error, explain_replies
from course.probes.outcome import Outcome
from course.probes.process import ask_module
from course.probes.questions import MATCHES
from course.probes.replies import Replies
from sequence.league.clock import Waiting, factor, told

GRADING_USES = "grading uses Python"  # before the version
MAX_FILES = 20_000_000  # bytes of all files beside the notebook that go into the sandbox


class RestoreCells(NbGraderPreprocessor):
    """Restores the released cells in notebooks that come in by nbgrader's own door.

    Our command does the same before nbgrader sees a notebook; nbgrader's commands and formgrader's
    button begin here.
    """

    def preprocess(self, nb, resources):
        """Give `nb` the graded cells and the metadata of the release."""
        where = resources["nbgrader"]
        path = Path("release", where["assignment"], f"{where['notebook']}.ipynb")
        if path.is_file():
            released = nbformat.read(path, as_version=4)
            for problem in restore_metadata(nb, released, path.name):
                self.log.warning("%s: %s", where["student"], problem)
        return nb, resources


class GradingStep(NbGraderPreprocessor):
    """Runs a submission's notebook and marks its checks."""

    isolation = Enum(
        ["sandbox", "process"],
        "sandbox",
        help=(
            "Where submissions run: 'sandbox', isolated (Linux only), or 'process', in processes that "
            "can do whatever you can do."
        ),
    ).tag(config=True)
    scheduler = Unicode(
        "",
        help=(
            "The address of a Dask scheduler (tcp://HOST:8786 or tls://HOST:8786) whose workers run "
            "submissions in sandboxes of theirs; by default this machine does."
        ),
    ).tag(config=True)
    cluster_seconds = Float(
        CLUSTER_PATIENCE,
        min=0,
        help=("Seconds that a cluster may be away, or without a worker, before grading stops."),
    ).tag(config=True)
    run_cells = Enum(
        ["needed", "always"],
        "needed",
        help=(
            "Which notebooks are run: 'needed', those with a graded code cell that is not a check, or "
            "'always', all. The others keep the outputs that were handed in."
        ),
    ).tag(config=True)
    times_needed = Float(
        TIMES,
        min=1,
        help=(
            "A check, or a cell of the release, may compute for so many times as long as the "
            "instructor's own solution."
        ),
    ).tag(config=True)
    least_seconds = Float(
        LEAST,
        min=0,
        help=(
            "Seconds of computing that a check or a cell has at least, however little the "
            "instructor's own solution needs."
        ),
    ).tag(config=True)
    cell_seconds = Float(
        MOST,
        help=(
            "Seconds of computing that one cell has at most. What only waits is stopped after ten "
            "times as long and half a minute more, and so with all limits of time."
        ),
    ).tag(config=True)
    probe_seconds = Float(MOST, help="Seconds of computing that one check has at most.").tag(
        config=True
    )
    later_seconds = Float(
        2,
        help=(
            "Seconds of computing for one cell, or one check, after another of the same submission "
            "was stopped."
        ),
    ).tag(config=True)
    more_seconds = Float(
        20,
        help=(
            "Seconds of computing for all that is asked of a submission besides the hidden cases: "
            "values by which errors are carried forward, and what explains."
        ),
    ).tag(config=True)
    waiting_seconds = Float(
        60,
        min=0,
        help=(
            "Seconds that all checks and notebooks of a submission together may wait, for example in "
            "sleep."
        ),
    ).tag(config=True)
    notebook_seconds = Float(60, help="Seconds of computing for all cells of a notebook.").tag(
        config=True
    )
    cpu_seconds = Integer(
        60,
        help=("Seconds of computing for whatever runs in one process, and for all that it starts."),
    ).tag(config=True)
    memory_mb = Integer(1024, help="Megabytes of memory, of all processes together.").tag(
        config=True
    )
    processes = Integer(64, help="Processes and threads at once.").tag(config=True)
    files_mb = Integer(64, help="Megabytes that may be written to files.").tag(config=True)
    gradebook_seconds = Float(
        PATIENCE,
        help=(
            "Seconds to wait for the server of a gradebook, such as PostgreSQL, that does not answer."
        ),
    ).tag(config=True)
    output_characters = Integer(2_000_000, help="Characters of output that are kept.").tag(
        config=True
    )

    door = Unicode(
        help=(
            "The path of the door to a warm parent, if one has been started in advance: `autograder "
            "grade` sets it."
        )
    ).tag(config=True)

    tests = Dict(
        help=(
            "What is known of each notebook's own tests, by its name: a table of the instructor's "
            "`imports`, of the names `withheld` from tests that run outside, of the tests that must "
            "be decided `inside`, in the student's own interpreter, and of what each other one "
            "`calls`. `autograder grade` finds it out."
        )
    ).tag(config=True)

    needed = Dict(
        help=(
            "Seconds that the instructor's own solution computes, for each check by its id, and for "
            "the longest cell of each notebook by its file's name. `autograder grade` measures them."
        )
    ).tag(config=True)
    computed = Dict(help="What the module, or the notebook, that was run last has computed.")

    def preprocess(self, nb, resources):
        """Run the cells, mark the checks; `resources` gets "outcomes", "stopped" and "inside".

        "inside" names the graded cells that were decided in the student's own interpreter, and
        "calls" says of each other test what it called of the submission.
        """
        name = resources["metadata"].get("name")
        known = self.tests.get(name, {})
        self._recall(resources.get("nbgrader", {}))
        folder = Path(resources["metadata"]["path"])
        if factor() != 1:
            self.log.warning(told(factor()))
        stopped_before = _submission.enter(resources.get("nbgrader", {}))
        code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
        checks = [cell for cell in code if _is_check(cell)]
        cells = [cell for cell in code if not _is_check(cell)]
        outside = [
            cell
            for cell in cells
            if known
            and self.isolation == "sandbox"
            and is_own_test(cell)
            and cell.metadata.nbgrader.grade_id not in known["inside"]
        ]
        ran, newer = Ran([], []), None
        if self.run_cells == "always" or any(map(_is_marked, cells)):
            seconds = min(
                self.cell_seconds, self.later_seconds if stopped_before else self.cell_seconds
            )
            released = min(seconds, self._limit(f"{name}.ipynb", self.cell_seconds))
            ran = self._run(nb, cells, folder, seconds, outside, known, released=released)
            self.computed[f"{name}.ipynb"] = ran.longest
            write_outputs(cells, ran)
            newer = _state_newer_python(cells)
        outcomes: list[Outcome] = []
        for cell in checks:
            once_stopped = (
                stopped_before or ran.late or ran.stopped or any(o.stopped for o in outcomes)
            )
            seconds = min(self.probe_seconds, self.later_seconds) if once_stopped else None
            outcome = self.mark(check_id(cell), folder, seconds, _submission.known)
            outcomes.append(outcome)
        outcomes = [explain(outcome.check, _submission.known) for outcome in outcomes]
        for cell, outcome in zip(checks, outcomes, strict=True):
            cell.outputs, cell.execution_count = outputs(outcome), None
        _submission.stopped |= bool(ran.late or ran.stopped or any(o.stopped for o in outcomes))
        resources["outcomes"], resources["stopped"] = outcomes, _why_stopped(ran) or newer
        resources["inside"] = [
            cell.metadata.nbgrader.grade_id
            for cell in cells
            if is_grade(cell) and not _is_one_of(cell, outside)
        ]
        resources["calls"] = {
            cells[number].metadata.nbgrader.grade_id: calls for number, calls in ran.calls.items()
        }
        return nb, resources

    def _recall(self, where: Mapping[str, str]) -> None:
        """Know what `autograder grade` measured, by nbgrader's own door, too."""
        root = self.config.CourseDirectory.get("root")
        if not (root and where) or self.needed:
            return
        folder = CourseFolder(Path(root))
        if folder.release(where["assignment"]).is_dir():
            study = folder.assignment(where["assignment"])
            self.needed = recalled(folder, study, grader_state(folder, study, self.config))

    def _limit(self, what: str, most: float) -> float:
        """The limit of a check or of a notebook's cells, which is never above `most`."""
        needed = self.needed.get(what)
        return (
            most if needed is None else limit(needed, self.times_needed, self.least_seconds, most)
        )

    def _run(
        self,
        nb: NotebookNode,
        cells: list[NotebookNode],
        folder: Path,
        seconds: float,
        tests: list[NotebookNode],
        known: Mapping[str, Any],
        *,
        released: float,
    ) -> Ran:
        if self.isolation == "process":
            return run_in_kernel(nb, cells, folder, seconds, self.config, self._waiting())
        calls = known.get("calls", {})
        numbers = {
            number: calls.get(cell.metadata.nbgrader.grade_id)
            for number, cell in enumerate(cells)
            if _is_one_of(cell, tests)
        }
        # What students add has no counterpart that could have been measured.
        limits = {
            number: released for number, cell in enumerate(cells) if "nbgrader" in cell.metadata
        }

        def run(sandbox: Sandbox | ClusterSandbox) -> Ran:
            other = self._sandbox("tests") if tests else None
            here = other if isinstance(other, Sandbox) else None  # a cluster's worker has its own
            outside = (
                Outside(here, numbers, known["imports"], known.get("withheld", ()))
                if tests
                else None
            )
            return sandbox.run_cells(
                _files(folder),
                [cell.source for cell in cells],
                seconds,
                self.later_seconds,
                self.notebook_seconds,
                outside,
                limits=limits,
            )

        return self._inside(run)

    def mark(
        self, check_id: str, folder: Path, seconds: float | None = None, known: Known | None = None
    ) -> Outcome:
        """Mark the module in `folder` on the hidden cases of a check ("study3.type_a")."""

        def ask(module: str, check: Check, most: float) -> Replies:
            return self._ask(folder, module, check, most)

        limits = {each: self._limit(each, math.inf) for each in self.needed}
        return decide(
            check_id,
            ask,
            Seconds(seconds, self.probe_seconds, self.later_seconds, limits, self.more_seconds),
            known,
        )

    def _ask(self, folder: Path, module: str, check: Check, seconds: float) -> Replies:
        answers = answers_folder(load_study(check.study))
        root = self.config.CourseDirectory.get("root")
        secret = CourseFolder(Path(root)).secret() if root and check.ask in MATCHES else ""
        if self.isolation == "process":
            replies = ask_module(
                folder / module, check, seconds, answers, secret=secret, waiting=self._waiting()
            )
        else:
            replies = self._inside(
                lambda sandbox: sandbox.ask(_files(folder), module, check, seconds, answers, secret)
            )
            self.computed[check.id] = replies.computed
        path = folder / module
        return (
            explain_replies(replies, path.read_bytes(), GRADING_USES) if path.is_file() else replies
        )

    def _inside(self, work: Callable[[Sandbox | ClusterSandbox], Any]) -> Any:
        """Do something in the sandbox; if that fails, once more in a new one."""
        for attempt in (1, 2):
            try:
                return work(self._sandbox(waiting=self._waiting()))
            except (SandboxFault, ClusterGone) as fault:
                _forget_sandboxes()
                if attempt == 2 or isinstance(fault, ClusterGone):  # that has been waited for
                    _submission.fault = str(fault)
                    raise
                self.log.warning("the sandbox failed and is being restarted: %s", fault)
        raise AssertionError("the last attempt returns or raises")

    def _waiting(self) -> Waiting:
        """The budget of the submission that is being graded."""
        return _submission.budget(self.waiting_seconds)

    def _sandbox(
        self, kind: str = "submission", waiting: Waiting | None = None
    ) -> Sandbox | ClusterSandbox:
        limits = Limits(
            cpu_seconds=self.cpu_seconds,
            memory_mb=self.memory_mb,
            processes=self.processes,
            files_mb=self.files_mb,
            characters=self.output_characters,
        )
        hidden = hidden_folders(self.config)
        if self.scheduler:
            there = cluster(self.scheduler, self.cluster_seconds)
            return ClusterSandbox(there, limits, hidden, waiting)
        sandbox = _sandbox(kind, limits, self.door, *hidden)
        sandbox.waiting = waiting
        return sandbox


@dataclass
class _Submission:
    """What is known of the submission whose notebooks are being graded, one after the other."""

    student: tuple[str, str] | None = None
    notebook: str = ""
    stopped: bool = False  # whether something of it had to be stopped
    fault: str | None = None  # why the machinery failed with it
    known: Known = field(default_factory=Known)  # what its checks have shown
    waiting: Waiting | None = None  # how long it may still wait

    def budget(self, seconds: float) -> Waiting:
        """The budget of waiting that all runs of this submission share."""
        self.waiting = self.waiting or Waiting(seconds)
        return self.waiting

    def enter(self, where) -> bool:
        """Begin a notebook; whether an earlier one of the same submission was stopped."""
        student = (where.get("assignment"), where.get("student"))
        notebook = where.get("notebook", "")
        if student != self.student or notebook <= self.notebook:  # another one, or once more
            self.stopped, self.known, self.waiting = False, Known(), None
        self.student, self.notebook, self.fault = student, notebook, None
        return self.stopped


_submission = _Submission()


def fault_of(error: Exception, course: Path) -> str:
    """Why grading failed, in one line: the sandbox's own message where nbgrader hides it."""
    reason, _submission.fault = _submission.fault, None
    return reason or in_words(error, course)


@cache
def _sandbox(_kind: str, limits: Limits, door: str, *hidden: Path) -> Sandbox:
    """The warm parent of a kind of this process, which cannot see the folders `hidden`; it ends
    with us."""
    sandbox = Sandbox(limits, hidden, Path(door) if door else None)
    _open.callback(sandbox.close)
    return sandbox


_open = ExitStack()
atexit.register(_open.close)


def _forget_sandboxes() -> None:
    _sandbox.cache_clear()
    _open.close()


def _files(folder: Path) -> dict[str, bytes]:
    """The files beside the notebooks, by relative path: regular ones, while they are not too many.

    Python files come first, so that data cannot crowd them out.
    """
    found, size = {}, 0
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb"
    ]
    for path in sorted(paths, key=lambda path: (path.suffix != ".py", path)):
        size += path.stat().st_size
        if size > MAX_FILES:
            break
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def _is_check(cell: NotebookNode) -> bool:
    """Whether a check decides this cell; in a cell that students write, a call is only a call."""
    return check_id(cell) is not None and is_grade(cell) and not is_solution(cell)


def _is_one_of(cell: NotebookNode, cells: list[NotebookNode]) -> bool:
    return any(other is cell for other in cells)


def is_own_test(cell: NotebookNode) -> bool:
    """Whether a cell is marked by running it: graded code that is no check and no solution."""
    return (
        is_grade(cell)
        and not is_solution(cell)
        and cell.cell_type == "code"
        and check_id(cell) is None
    )


def _is_marked(cell: NotebookNode) -> bool:
    """Whether somebody, or nbgrader's own next step, marks what this cell puts out."""
    return is_grade(cell) or is_task(cell)


def write_outputs(cells: list[NotebookNode], ran: Ran) -> None:
    """Write the cells' outputs into the notebook; a cell that did not finish gets an error."""
    for number, cell in enumerate(cells):
        found = ran.outputs[number]
        cell.outputs, cell.execution_count = found or [], ran.counts[number]
        if number in ran.late:
            cell.outputs.append(_error("CellTimeoutError", f"stopped after {ran.late[number]}"))
        elif found is None:
            cell.outputs = [_error("NotRun", f"not finished: {ran.stopped}")]


def _state_newer_python(cells: list[NotebookNode]) -> str | None:
    """Add to the error of a cell that needs a newer Python which one; returns the first such
    sentence."""
    first = None
    for cell in cells:
        for output in cell.outputs:
            if output.output_type == "error":
                message = f"{output.ename}: {output.evalue}"
                explained = explain_error(message, cell.source, GRADING_USES)
                if explained != message:
                    output.evalue = explained.removeprefix(f"{output.ename}: ")
                    output.traceback = [*output.traceback, explained]
                    first = first or f"a cell needs a newer Python ({explained})"
    return first


def _why_stopped(ran: Ran) -> str | None:
    first = next(iter(ran.late.values()), None)
    return ran.stopped or (first and f"a cell did not finish within {first}")


class SaveOutcomes(NbGraderPreprocessor):
    """Saves the outcomes of the checks, and books extra credit, which nbgrader's steps do not."""

    our_door = Bool(False, help="Whether `autograder grade` is grading.").tag(config=True)

    def preprocess(self, nb, resources):
        """Write `results/{assignment}/{student}/{notebook}.json` in the course folder."""
        where = resources["nbgrader"]
        path = Path("results", where["assignment"], where["student"], f"{where['notebook']}.json")
        outcomes = resources["outcomes"]
        if not self.our_door:
            path.parent.mkdir(parents=True, exist_ok=True)
            note_other_door(path.parent)
        ours = _booked_by_us(path)
        extra = {o.check: o.earned for o in outcomes if o.extra_credit}
        data = {
            "stopped": resources["stopped"],
            "inside": resources["inside"],
            "answers": resources.get("answers", {}),
            "outcomes": [outcome.to_json() for outcome in outcomes],
        }
        # A run killed between these steps must not take its own number for a person's.
        write_json(
            path,
            data
            | {
                "booked": {check: [*ours.get(check, []), earned] for check, earned in extra.items()}
            },
        )
        with Gradebook(where["db_url"]) as gradebook:
            for check, earned in extra.items():
                self._book(gradebook, where, check, earned, ours.get(check, []))
        write_json(path, data | {"booked": {check: [earned] for check, earned in extra.items()}})
        return nb, resources

    def _book(
        self, gradebook: Gradebook, where, check: str, earned: float, ours: list[float]
    ) -> None:
        """Set the extra credit unless a person has given another one than ours."""
        study, name = check.split(".")
        grade_id = verdicts.hidden_study(study).checks[name].grade_id
        grade = gradebook.find_grade(
            grade_id, where["notebook"], where["assignment"], where["student"]
        )
        gradebook.db.refresh(grade, with_for_update=True)  # a person may be entering another
        if grade.extra_credit is None or grade.extra_credit in (*ours, earned):
            grade.extra_credit = earned
            gradebook.db.commit()
        else:
            self.log.warning(
                "%s: extra credit %s was entered by a person and is kept",
                grade_id,
                grade.extra_credit,
            )


class LatePenalties(AssignLatePenalties):
    """nbgrader's own step, after the time of the submission has been read strictly.

    Where timestamp.txt cannot be read, the submission has no time and no penalty, not those of the
    one before it.
    """

    def preprocess(self, nb, resources):
        """Set the time in the gradebook, then the notebook's penalty."""
        where = resources["nbgrader"]
        student, assignment = where["student"], where["assignment"]
        with Gradebook(where["db_url"]) as gradebook:
            update_time(
                gradebook.find_submission(assignment, student),
                course_zone(self.config),
                Path(resources["metadata"]["path"]),
                Path("submitted", student, assignment),
            )
            gradebook.db.commit()
        return super().preprocess(nb, resources)


def outputs(outcome: Outcome) -> list:
    """An outcome as a cell's outputs: the explanation, then the points as nbgrader reads them."""
    text, page = as_text(outcome), as_html(outcome)
    shown = new_output("display_data", {"text/plain": text, "text/html": page})
    if outcome.extra_credit:  # the cell has no points of its own
        return [shown]
    return [shown, new_output("execute_result", {"text/plain": f"{outcome.earned:g}"})]


def _booked_by_us(path: Path) -> dict[str, list[float]]:
    """The extra credit of each check that an earlier run booked, or was about to book."""
    return (read_result(path) or {"booked": {}})["booked"]


def _error(name: str, text: str):
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
