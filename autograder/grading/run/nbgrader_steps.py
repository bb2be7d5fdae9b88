"""Replaces nbgrader's `Execute` step: cells run in a sandbox, and `verdict` marks the checks.

A cell that only calls `check(...)` does not run. Instead its module is called with the hidden cases
in a separate process, and the verdict becomes the cell's output, where nbgrader's next step reads
the marks. Other cells run as in nbgrader, except the instructor's own assert cells. They run in a
process without the submission's code, which only requests values from the submission.
"""

import atexit
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from itertools import filterfalse
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import Bool, Dict, Enum, Float, Integer, Unicode, default

from autograder.course_folder import CourseFolder, hidden_folders
from autograder.course_folder.people import read_people
from autograder.database import MAX_WAIT_SECONDS
from autograder.errors import format_error
from autograder.gradebook import Gradebook
from autograder.grading.intake.released_cells import restore_metadata
from autograder.grading.records.deciding import grader_state
from autograder.grading.records.extensions import apply_extension
from autograder.grading.records.free_days import rule_of
from autograder.grading.records.late import has_free_days, update_student, update_time
from autograder.grading.records.ledger import read_result, record_external_grading, write_json
from autograder.grading.records.reference_timing import (
    DEFAULT_FACTOR,
    MAX_CELL_SECONDS,
    MIN_SECONDS,
    check_limit,
    load_timings,
    time_limit,
)
from autograder.grading.run.kernel import run_in_kernel
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.judging import judge
from autograder.grading.verdict.reply_collection import (
    CheckRun,
    SubmissionContext,
    TimeLimits,
    collect,
)
from autograder.release.notebooks import check_id
from autograder.sandbox.client import ExternalTests, JobResult, Sandbox, SandboxFault
from autograder.sandbox.cluster import MAX_OUTAGE_SECONDS as CLUSTER_PATIENCE
from autograder.sandbox.cluster import ClusterSandbox, ClusterUnavailable, cluster
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.times import course_zone
from autograder.workspace import answers_folder
from common.clock import WaitBudget, scaling_notice, speed_factor
from common.messages import english
from course.checks import MAX_SECONDS, Check, Study
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import Outcome
from course.checks.questions import MATCHES
from course.checks.replies import Replies
from course.checks.running.newer_python import explain_error, explain_replies
from course.checks.running.process import query_module

GRADING_USES = english("grading uses Python")  # before the version
MAX_FILES = 20_000_000  # bytes of all files next to the notebook that go into the sandbox


class RestoreCells(NbGraderPreprocessor):
    """Restores the released cells in notebooks that nbgrader's commands or formgrader grade.

    `autograder grade` does the same before nbgrader reads a notebook.
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
            "Where submissions run: in a 'sandbox' (Linux only), or in a 'process' that has all "
            "your permissions."
        ),
    ).tag(config=True)
    scheduler = Unicode(
        "",
        help=(
            "The address of a Dask scheduler (tcp://HOST:8786 or tls://HOST:8786) whose workers run "
            "submissions in their sandboxes; by default they run on this machine."
        ),
    ).tag(config=True)
    cluster_seconds = Float(
        CLUSTER_PATIENCE,
        min=0,
        help="Seconds that a cluster may be unavailable, or without a worker, before grading stops.",
    ).tag(config=True)
    run_cells = Enum(
        ["needed", "always"],
        "needed",
        help=(
            "Which notebooks run: 'needed', those with a graded code cell that is not a check, or "
            "'always', all. The others keep the outputs that were submitted."
        ),
    ).tag(config=True)
    times_needed = Float(
        DEFAULT_FACTOR,
        min=1,
        help=(
            "A cell of the release may compute this many times as long as the instructor's own "
            "solution. Checks have the limits of the study's table, as at home."
        ),
    ).tag(config=True)
    least_seconds = Float(
        MIN_SECONDS,
        min=0,
        help=(
            "Lowest CPU time limit of a check or a cell, in seconds, however fast the instructor's "
            "own solution is."
        ),
    ).tag(config=True)
    cell_seconds = Float(
        MAX_CELL_SECONDS,
        help=(
            "Highest CPU time limit of a cell, in seconds. As with all time limits, code that only "
            "waits is stopped after ten times the limit plus half a minute."
        ),
    ).tag(config=True)
    check_seconds = Float(help="Highest CPU time limit of a check, in seconds.").tag(config=True)
    probe_seconds = Float(MAX_SECONDS, help="The former name of `check_seconds`.").tag(config=True)
    later_seconds = Float(
        2,
        help=(
            "CPU time limit, in seconds, of each further cell after one of the same submission was "
            "stopped. If this option is set, it also limits further checks."
        ),
    ).tag(config=True)
    more_seconds = Float(
        20,
        help=(
            "CPU time limit, in seconds, of all calls of a submission except the hidden cases: "
            "values for errors carried forward, and explanations."
        ),
    ).tag(config=True)
    waiting_seconds = Float(
        60,
        min=0,
        help=(
            "Seconds that all checks and notebooks of a submission together may wait, for example in "
            "`sleep`."
        ),
    ).tag(config=True)
    notebook_seconds = Float(
        60, help="CPU time limit, in seconds, of all cells of a notebook."
    ).tag(config=True)
    cpu_seconds = Integer(
        60,
        help="CPU time limit, in seconds, of one process and all processes that it starts.",
    ).tag(config=True)
    memory_mb = Integer(1024, help="Memory limit of all processes together, in MB.").tag(
        config=True
    )
    processes = Integer(64, help="Maximum number of simultaneous processes and threads.").tag(
        config=True
    )
    files_mb = Integer(64, help="Maximum amount of data written to files, in MB.").tag(config=True)
    gradebook_seconds = Float(
        MAX_WAIT_SECONDS,
        help=(
            "Seconds to wait for the server of a gradebook, such as PostgreSQL, while it does not "
            "respond."
        ),
    ).tag(config=True)
    output_characters = Integer(
        2_000_000, help="Maximum number of characters of output that are kept."
    ).tag(config=True)

    fork_server = Unicode(
        help=(
            "The socket of a fork server for sandboxes, if one has been started in advance; set by "
            "`autograder grade`."
        )
    ).tag(config=True)

    tests = Dict(
        help=(
            "How each notebook's own tests run, by the notebook's name: a table with the instructor's "
            "`imports`, the names `withheld` from tests that run outside, the tests that must run "
            "`inside` the student's own interpreter, and the functions that each other test `calls`. "
            "Set by `autograder grade`."
        )
    ).tag(config=True)

    needed = Dict(
        help=(
            "Seconds that the instructor's own solution computes, for each check by its id, and for "
            "the longest cell of each notebook by its file name. Measured by `autograder grade`."
        )
    ).tag(config=True)
    computed = Dict(
        help="Seconds that each check, or cell of a notebook, computed in the last run."
    )

    @default("check_seconds")
    def _former_check_seconds(self) -> float:
        return self.probe_seconds

    def preprocess(self, nb, resources):
        """Run the cells and mark the checks; the results are added to `resources`.

        "outcomes" contains the outcomes of the checks, and "stopped" explains why the run ended
        early. "inside" lists the graded cells that ran in the student's own interpreter. "calls"
        lists for each other test the functions of the submission that it called.
        """
        name = resources["metadata"].get("name")
        test_facts = self.tests.get(name, {})
        self._load_timings(resources.get("nbgrader", {}))
        folder = Path(resources["metadata"]["path"])
        if speed_factor() != 1:
            self.log.warning(scaling_notice(speed_factor()))
        stopped_before = _submission.enter(resources.get("nbgrader", {}))
        checks, cells = _checks_and_others(nb)
        outside = self._outside_tests(cells, test_facts)
        ran, newer = JobResult([], []), None
        if self.run_cells == "always" or any(map(_is_marked, cells)):
            seconds = self.cell_seconds
            if stopped_before:
                seconds = min(seconds, self.later_seconds)
            released = min(seconds, self._limit(f"{name}.ipynb", self.cell_seconds))
            ran = self._run(nb, cells, folder, seconds, outside, test_facts, released=released)
            self.computed[f"{name}.ipynb"] = ran.longest
            write_outputs(cells, ran)
            newer = _state_newer_python(cells)
        cells_stopped = bool(ran.late or ran.stopped)
        outcomes = self._mark_checks(checks, folder, stopped_before or cells_stopped)
        _submission.stopped |= cells_stopped or any(outcome.stopped for outcome in outcomes)
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

    def _outside_tests(
        self, cells: list[NotebookNode], test_facts: Mapping[str, Any]
    ) -> list[NotebookNode]:
        """Return the instructor's own tests that run outside the student's interpreter."""
        if not test_facts or self.isolation != "sandbox":
            return []
        return [
            cell
            for cell in cells
            if is_own_test(cell) and cell.metadata.nbgrader.grade_id not in test_facts["inside"]
        ]

    def _mark_checks(
        self, cells: list[NotebookNode], folder: Path, was_stopped: bool
    ) -> list[Outcome]:
        """Mark the checks of these cells, and write the outcomes as the cells' outputs.

        Once a cell or check of the submission was stopped, the remaining checks have less time if
        the instructor set `later_seconds`. By default, all have the limits of `check`.
        """
        ids = [check for cell in cells if (check := check_id(cell))]
        for check in ids:
            is_short = was_stopped and "later_seconds" in self.config.GradingStep
            seconds = min(self.check_seconds, self.later_seconds) if is_short else None
            run = self._collect(check, folder, seconds, _submission.contexts)
            was_stopped |= run.replies.stopped is not None
        outcomes = _judged(ids, _submission.contexts)
        for cell, outcome in zip(cells, outcomes, strict=True):
            cell.outputs, cell.execution_count = outputs(outcome), None
        return outcomes

    def _load_timings(self, where: Mapping[str, str]) -> None:
        """Load the times that `autograder grade` measured, unless it has just set them."""
        root = self.config.CourseDirectory.get("root")
        if not (root and where) or self.needed:
            return
        folder = CourseFolder(Path(root))
        if folder.release(where["assignment"]).is_dir():
            study = folder.assignment(where["assignment"])
            self.needed = load_timings(folder, study, grader_state(folder, study, self.config))

    def _limit(self, what: str, most: float) -> float:
        """Return the time limit of a check or of a notebook's cells, which is at most `most`."""
        needed = self.needed.get(what)
        return (
            most
            if needed is None
            else time_limit(needed, self.times_needed, self.least_seconds, most)
        )

    def _run(
        self,
        nb: NotebookNode,
        cells: list[NotebookNode],
        folder: Path,
        seconds: float,
        tests: list[NotebookNode],
        test_facts: Mapping[str, Any],
        *,
        released: float,
    ) -> JobResult:
        if self.isolation == "process":
            return run_in_kernel(nb, cells, folder, seconds, self.config, self._wait_budget())
        calls = test_facts.get("calls", {})
        numbers = {
            number: calls.get(cell.metadata.nbgrader.grade_id)
            for number, cell in enumerate(cells)
            if _is_one_of(cell, tests)
        }
        # Cells that students added have no counterpart in the solution whose time was measured.
        limits = {
            number: released for number, cell in enumerate(cells) if "nbgrader" in cell.metadata
        }

        def run(sandbox: Sandbox | ClusterSandbox) -> JobResult:
            other = self._sandbox("tests") if tests else None
            here = other if isinstance(other, Sandbox) else None  # a cluster's worker has its own
            outside = (
                ExternalTests(here, numbers, test_facts["imports"], test_facts.get("withheld", ()))
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

        return self._in_sandbox(run)

    def mark(self, check_id: str, folder: Path, seconds: float | None = None) -> Outcome:
        """Mark the module in `folder` on the hidden cases of a check ("study3.type_a")."""
        contexts: dict[str, SubmissionContext] = {}
        self._collect(check_id, folder, seconds, contexts)
        return _judged([check_id], contexts)[0]

    def _collect(
        self,
        check_id: str,
        folder: Path,
        seconds: float | None,
        contexts: dict[str, SubmissionContext],
    ) -> CheckRun:
        """Collect the data needed to judge a check; `contexts` are the contexts of the submission."""
        name, _, check = check_id.partition(".")
        study = hidden_cases.hidden_study(name)
        if study.name not in contexts:
            contexts[study.name] = SubmissionContext(load_answer_key(study))
        limits = {
            each.id: check_limit(each, self.least_seconds, self.check_seconds)
            for each in study.checks.values()
        }
        context = contexts[study.name]
        before = len(context.obstacles.limits)
        run = collect(
            context,
            study.checks[check],
            lambda study, check, most: self._ask(folder, study, check, most),
            TimeLimits(seconds, self.check_seconds, self.later_seconds, limits, self.more_seconds),
        )
        for limit in context.obstacles.limits[before:]:
            self.log.info("errors were not carried forward completely in %s", limit)
        return run

    def _ask(self, folder: Path, study: Study, check: Check, seconds: float) -> Replies:
        answers, module = answers_folder(study), study.module
        root = self.config.CourseDirectory.get("root")
        secret = CourseFolder(Path(root)).secret() if root and check.ask in MATCHES else ""
        if self.isolation == "process":
            replies = query_module(
                folder / module, check, seconds, answers, secret=secret, waiting=self._wait_budget()
            )
        else:
            replies = self._in_sandbox(
                lambda sandbox: sandbox.run_check(
                    _files(folder), module, check, seconds, answers, secret
                )
            )
            self.computed[check.id] = replies.computed
        path = folder / module
        return (
            explain_replies(replies, path.read_bytes(), GRADING_USES) if path.is_file() else replies
        )

    def _in_sandbox(self, work: Callable[[Sandbox | ClusterSandbox], Any]) -> Any:
        """Do `work` in the sandbox; if the sandbox fails, repeat the work in a new one."""
        for attempt in (1, 2):
            try:
                return work(self._sandbox(waiting=self._wait_budget()))
            except (SandboxFault, ClusterUnavailable) as fault:
                _forget_sandboxes()
                if attempt == 2 or isinstance(fault, ClusterUnavailable):  # after waiting for it
                    _submission.fault = str(fault)
                    raise
                self.log.warning("the sandbox failed and is being restarted: %s", fault)
        raise AssertionError("the last attempt returns or raises")

    def _wait_budget(self) -> WaitBudget:
        """Return the waiting time of the submission that is being graded."""
        return _submission.budget(self.waiting_seconds)

    def _sandbox(
        self, kind: str = "submission", waiting: WaitBudget | None = None
    ) -> Sandbox | ClusterSandbox:
        limits = SandboxLimits(
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
        sandbox = _sandbox(kind, limits, self.fork_server, *hidden)
        sandbox.waiting = waiting
        return sandbox


@dataclass
class _Submission:
    """The state of the submission whose notebooks are being graded one after another."""

    student: tuple[str, str] | None = None
    notebook: str = ""
    stopped: bool = False  # whether a cell or a check had to be stopped
    fault: str | None = None  # why the sandbox failed
    contexts: dict[str, SubmissionContext] = field(default_factory=dict)  # by the study's name
    waiting: WaitBudget | None = None  # the remaining waiting time

    def budget(self, seconds: float) -> WaitBudget:
        """Return the waiting time that all runs of this submission share."""
        self.waiting = self.waiting or WaitBudget(seconds)
        return self.waiting

    def enter(self, where) -> bool:
        """Begin a notebook; return whether an earlier one of the same submission was stopped."""
        student = (where.get("assignment"), where.get("student"))
        notebook = where.get("notebook", "")
        if student != self.student or notebook <= self.notebook:  # another one, or a repetition
            self.stopped, self.contexts, self.waiting = False, {}, None
        self.student, self.notebook, self.fault = student, notebook, None
        return self.stopped


_submission = _Submission()


def _judged(check_ids: list[str], contexts: Mapping[str, SubmissionContext]) -> list[Outcome]:
    """Return the outcomes of these checks; the explanations take into account all checks of the
    submission so far.
    """
    outcomes: dict[str, Outcome] = {}
    for context in contexts.values():
        outcomes |= judge(context.key, context.runs)
    return [outcomes[check] for check in check_ids]


def fault_message(error: Exception, course: Path) -> str:
    """Return in one line why grading failed. If nbgrader hides the sandbox's own message, that
    message is returned.
    """
    reason, _submission.fault = _submission.fault, None
    return reason or format_error(error, course)


@cache
def _sandbox(_kind: str, limits: SandboxLimits, fork_server: str, *hidden: Path) -> Sandbox:
    """Return this process's sandbox of one kind; submissions in it cannot see the hidden folders.

    It is closed when this process ends.
    """
    sandbox = Sandbox(limits, hidden, Path(fork_server) if fork_server else None)
    _open.callback(sandbox.close)
    return sandbox


_open = ExitStack()
atexit.register(_open.close)


def _forget_sandboxes() -> None:
    _sandbox.cache_clear()
    _open.close()


def _files(folder: Path) -> dict[str, bytes]:
    """Return the regular files next to the notebooks, by relative path, up to `MAX_FILES` bytes.

    Python files come first, so that data files cannot displace them.
    """
    files, size = {}, 0
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb"
    ]
    for path in sorted(paths, key=lambda path: (path.suffix != ".py", path)):
        size += path.stat().st_size
        if size > MAX_FILES:
            break
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def _is_check(cell: NotebookNode) -> bool:
    """Whether a check marks this cell. A cell that students write is not marked, even if it calls
    `check`.
    """
    return check_id(cell) is not None and is_grade(cell) and not is_solution(cell)


def _checks_and_others(nb: NotebookNode) -> tuple[list[NotebookNode], list[NotebookNode]]:
    """Return the code cells of a notebook, without empty ones, in two groups: the cells that a
    check marks, and all others.
    """
    code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
    return list(filter(_is_check, code)), list(filterfalse(_is_check, code))


def _is_one_of(cell: NotebookNode, cells: list[NotebookNode]) -> bool:
    return any(other is cell for other in cells)


def is_own_test(cell: NotebookNode) -> bool:
    """Whether a cell is marked by running it, that is, whether it is graded code that is neither a
    check nor a solution.
    """
    return (
        is_grade(cell)
        and not is_solution(cell)
        and cell.cell_type == "code"
        and check_id(cell) is None
    )


def _is_marked(cell: NotebookNode) -> bool:
    """Whether the output of this cell is marked by a person or by nbgrader's own next step."""
    return is_grade(cell) or is_task(cell)


def write_outputs(cells: list[NotebookNode], ran: JobResult) -> None:
    """Write the cells' outputs into the notebook; a cell that did not finish gets an error."""
    for number, cell in enumerate(cells):
        cell_outputs = ran.outputs[number]
        cell.outputs, cell.execution_count = cell_outputs or [], ran.counts[number]
        if number in ran.late:
            cell.outputs.append(
                _error("CellTimeoutError", english(f"stopped after {ran.late[number]}"))
            )
        elif cell_outputs is None:
            cell.outputs = [_error("NotRun", english(f"not finished: {ran.stopped}"))]


def _state_newer_python(cells: list[NotebookNode]) -> str | None:
    """Add a sentence with the required version to the errors of cells that need a newer Python;
    return the first such sentence.
    """
    first = None
    for cell in cells:
        for output in cell.outputs:
            if output.output_type == "error":
                message = f"{output.ename}: {output.evalue}"
                explained = explain_error(message, cell.source, GRADING_USES)
                if explained != message:
                    output.evalue = explained.removeprefix(f"{output.ename}: ")
                    output.traceback = [*output.traceback, explained]
                    first = first or english(f"a cell needs a newer Python ({explained})")
    return first


def _why_stopped(ran: JobResult) -> str | None:
    first = next(iter(ran.late.values()), None)
    return ran.stopped or (first and english(f"a cell did not finish within {first}"))


class SaveOutcomes(NbGraderPreprocessor):
    """Saves the outcomes of the checks and enters extra credit, which nbgrader's own steps do not
    enter.
    """

    by_autograder = Bool(False, help="Whether `autograder grade` is grading.").tag(config=True)
    results = Unicode("results", help="The folder of all results; set by `autograder grade`.").tag(
        config=True
    )

    def preprocess(self, nb, resources):
        """Write `results/{assignment}/{student}/{notebook}.json` in the course folder."""
        where = resources["nbgrader"]
        path = Path(
            self.results, where["assignment"], where["student"], f"{where['notebook']}.json"
        )
        outcomes = resources["outcomes"]
        if not self.by_autograder:
            path.parent.mkdir(parents=True, exist_ok=True)
            record_external_grading(path.parent)
        ours = _entered_before(path)
        extra = {o.check: o.earned for o in outcomes if o.extra_credit}
        data = {
            "stopped": resources["stopped"],
            "inside": resources["inside"],
            "answers": resources.get("answers", {}),
            "outcomes": [outcome.to_json() for outcome in outcomes],
        }
        # If the run is killed in between, the next run must not mistake this credit for credit that
        # a person entered.
        write_json(
            path,
            data
            | {
                "booked": {check: [*ours.get(check, []), earned] for check, earned in extra.items()}
            },
        )
        with Gradebook(where["db_url"]) as gradebook:
            for check, earned in extra.items():
                self._enter_credit(gradebook, where, check, earned, ours.get(check, []))
        write_json(path, data | {"booked": {check: [earned] for check, earned in extra.items()}})
        return nb, resources

    def _enter_credit(
        self, gradebook: Gradebook, where, check: str, earned: float, ours: list[float]
    ) -> None:
        """Set the extra credit unless a person has entered a different one."""
        study, name = check.split(".")
        grade_id = hidden_cases.hidden_study(study).checks[name].grade_id
        grade = gradebook.find_grade(
            grade_id, where["notebook"], where["assignment"], where["student"]
        )
        gradebook.db.refresh(grade, with_for_update=True)  # a person may be editing it
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
    """Runs nbgrader's own step after parsing the submission's time strictly.

    If timestamp.txt cannot be read, the submission has no time and no penalty, and the time and
    penalty of an earlier submission are removed.
    """

    def preprocess(self, nb, resources):
        """Set the time and the extension in the gradebook, then the notebook's penalty.

        With free late days, the penalties of all assignments of the student are set.
        """
        where = resources["nbgrader"]
        student, assignment = where["student"], where["assignment"]
        with Gradebook(where["db_url"]) as gradebook:
            submission = gradebook.find_submission(assignment, student)
            update_time(
                submission,
                course_zone(self.config),
                Path(resources["metadata"]["path"]),
                Path("submitted", student, assignment),
            )
            apply_extension(CourseFolder(Path()), read_people(Path()), submission)
            gradebook.db.commit()
            if has_free_days(self.config):
                self.init_plugin()
                update_student(gradebook, self, rule_of(self.config), student)
                gradebook.db.commit()
                return nb, resources
        return super().preprocess(nb, resources)


def outputs(outcome: Outcome) -> list:
    """Return the outputs of a cell for an outcome: the explanation, then the points in the form
    that nbgrader reads.
    """
    text, page = as_text(outcome), as_html(outcome)
    explanation = new_output("display_data", {"text/plain": text, "text/html": page})
    if outcome.extra_credit:  # the cell itself has no points
        return [explanation]
    return [explanation, new_output("execute_result", {"text/plain": f"{outcome.earned:g}"})]


def _entered_before(path: Path) -> dict[str, list[float]]:
    """Return the extra credit that an earlier run entered, or was about to enter, for each check."""
    return (read_result(path) or {"booked": {}})["booked"]


def _error(name: str, text: str):
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
