"""Grades one submission after another: the part of `grade` that runs in a worker process.

Each submission is staged, autograded by nbgrader with our step instead of `Execute`, and entered in
the ledger. The worker keeps one sandbox and one open gradebook.
"""

import autograder.grading.run.fast_imports  # noqa: F401, I001 - before nbformat

import contextlib
import copy
import gc
import shutil
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from common.command_lines import advice
from autograder import workspace
from autograder.course_folder import CourseFolder, folder_lock, run_quietly
from autograder.database import is_transient, with_retry
from autograder.errors import format_error, is_fatal
from autograder.grading.records.attempts import (
    describe_version,
    keep_files,
    keep_versions_of_others,
    record_marks,
    unmarked_versions,
    write_record,
)
from autograder.grading.records.gradebook_reader import AutomaticMarks, read_automatic_marks
from autograder.grading.intake.submission_files import list_submission
from autograder.grading.intake.intake import stage_submission
from autograder.grading.records.deciding import grader_state
from autograder.grading.records.ledger import (
    LEDGER,
    LOG,
    NOTHING,
    EXTERNAL_GRADING,
    FatalError,
    Graded,
    write_entry,
    previous_result,
    read_ledger,
    read_results,
    invalidate,
    state_of,
)
from autograder.grading.run.gradebook_session import (
    SharedGradebook,
    shared_gradebook,
    temporary_gradebook,
)
from autograder.grading.records.reference_timing import keep_first_timings
from autograder.grading.run.nbgrader_steps import GradingStep, fault_message, is_own_test
from autograder.grading.run.retry import RetryLater
from autograder.grading.run.instructor_tests import (
    Marks,
    classify_tests,
    score_tests,
    flaky_message,
    flaky_tests,
)
from autograder.release.gradable import require_python
from autograder.release.notebooks import NotebookError, require_known_checks
from autograder.grading.run.execution_overrides import (
    NO_OVERRIDES,
    ExecutionOverrides,
    config_with_overrides,
)
from autograder.times import course_zone
from course.checks import Study
from course.checks.question import NOT_WRITTEN
from common.clock import speed_factor
from common.messages import english


# The limit of a check is multiplied by this, so that the self-test does not fail on a slow machine.
SELF_TEST_TIME_FACTOR = 10


class SelfTestFailed(RuntimeError):
    """A known correct answer does not get full marks, or a known wrong answer gets too many."""


SelfTestResult = Mapping[str, Any]  # values for options of `GradingStep`


@contextlib.contextmanager
def self_test(
    folder: CourseFolder,
    study: Study,
    overrides: ExecutionOverrides = NO_OVERRIDES,
    fork_server: Path | None = None,
) -> Iterator[Callable[[str], SelfTestResult]]:
    """Run the self-test, and yield a function that returns the measured values.

    The result states how the instructor's own tests run, and how many seconds correct answers need.
    Raises `SelfTestFailed` or `CannotIsolate`. For `fork_server` see `sandbox.launch`.
    """
    config = _config(folder, overrides, fork_server)
    config.GradingStep.scheduler = ""  # answers stay on this machine
    step = GradingStep(config=config)
    try:
        run_self_test(step, folder, study)
        needed = keep_first_timings(folder, study, grader_state(folder, study, config), step.needed)
    except OSError as error:  # the error of a write to a full disk does not name the file
        raise RuntimeError(format_error(error, folder.root)) from error
    yield lambda _: {"tests": step.tests, "needed": needed}


@contextlib.contextmanager
def grader(
    folder: CourseFolder,
    study: Study,
    force: bool,
    overrides: ExecutionOverrides = NO_OVERRIDES,
    fork_server: Path | None = None,
    tested: SelfTestResult | None = None,
) -> Iterator[Callable[[str], Graded | RetryLater]]:
    """Yield a function that grades one student's submission to `study`.

    `tested` is the result of a `self_test` that has just run on this machine. Without one, the
    self-test runs first and may raise its errors.
    """
    if tested is None:
        with self_test(folder, study, overrides, fork_server) as result_of:
            tested = result_of(study.name)
    config = _config(folder, overrides, fork_server)
    config.SaveOutcomes.by_autograder = True
    config.GradingStep.update(tested)
    place = config.CourseDirectory
    gc.collect()
    gc.freeze()  # imported objects live as long as the worker, so collections can skip them
    with contextlib.ExitStack() as stack:

        @cache
        def open_gradebook() -> SharedGradebook:
            return stack.enter_context(
                shared_gradebook(place.db_url, place.course_id, folder.root / "results")
            )

        def grade(student: str) -> Graded | RetryLater:
            try:
                return grade_one(folder, study, config, force, student, open_gradebook().opened)
            except Exception as error:
                if is_transient(error):
                    return RetryLater(format_error(error, folder.root))
                return _fault(folder, study, student, error, format_error(error, folder.root))

        try:
            open_gradebook()
        except Exception as error:
            if not is_transient(error):
                raise RuntimeError(format_error(error, folder.root)) from error
        yield grade


def _config(
    folder: CourseFolder, overrides: ExecutionOverrides, fork_server: Path | None
) -> Config:
    """Return the configuration, with the address of the fork server of sandboxes, if there is one."""
    config = config_with_overrides(folder, overrides)
    config.Autograde.create_student = True  # an older gradebook may lack students of the roster
    if fork_server:
        config.GradingStep.fork_server = str(fork_server)
    return config


def grade_one(
    folder: CourseFolder,
    study: Study,
    config: Config,
    force: bool,
    student: str,
    opened: Engine | None = None,
) -> Graded:
    """Grade one submission, unless it has already been graded, is unchanged, and its marks are in
    the gradebook. Attempts that were replaced before they were graded are graded first.

    The marks can be missing if an older gradebook was restored or the student was removed from it.
    For `opened` see `read_automatic_marks`.
    """
    submission = folder.submission(study.assignment, student)
    results = folder.results(study.assignment, student)
    ledger = results / LEDGER
    with folder_lock(results):
        files = list_submission(submission, study, folder.release(study.assignment))
        state = state_of(files, grader_state(folder, study, config))
        digest = state["submission"]
        keep_versions_of_others(folder, study, student)
        for member in folder.people().members(student):
            entry = read_ledger(folder.results(study.assignment, member) / LEDGER)
            record_marks(folder, study, member, entry, digest)
        failed = tuple(_grade_attempts(folder, study, config, student, digest))
        start = time.perf_counter()
        marks = partial(_marks, config, study, student, opened)
        if (
            not force
            and ledger.is_file()
            and (before := previous_result(folder, study.assignment, student, state, marks()))
        ):
            return replace(before, problems=before.problems + failed)
        keep_files(folder, study.assignment, student, files, digest)
        invalidate(ledger)  # if the run is stopped from here on, the next one grades it again
        (results / EXTERNAL_GRADING).unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="intake-") as temporary:
            staged = Path(temporary) / student / study.assignment
            intake = stage_submission(
                files, study, folder.release(study.assignment), staged, course_zone(config)
            )
            if not intake.gradable:
                result = Graded(student, NOTHING, intake.problems)
            else:
                try:
                    _autograde(config, study, student, Path(temporary), results / LOG)
                except Exception as error:
                    if is_transient(error):
                        raise
                    return _fault(
                        folder,
                        study,
                        student,
                        error,
                        *intake.problems,
                        f"{fault_message(error, folder.root)} (see {results / LOG})",
                    )
                problems = [*intake.problems, *_stop_messages(results, study, intake.problems)]
                result = Graded(
                    student, "graded", tuple(problems), round(time.perf_counter() - start, 3)
                )
        write_entry(
            ledger,
            {
                "state": state,
                "marks": marks(),
                "notebooks": [*read_results(results)],
                **asdict(result),
            },
        )
        return replace(result, problems=result.problems + failed)


def _grade_attempts(
    folder: CourseFolder, study: Study, config: Config, student: str, present: str
) -> Iterator[str]:
    """Grade the attempts that have no marks, without changes to the gradebook and the results of
    the submission; yield why some could not be graded.
    """
    zone = course_zone(config)
    for version in unmarked_versions(folder, study.assignment, student, present, zone):
        try:
            _grade_attempt(folder, study, config, student, version)
        except Exception as error:
            if is_transient(error) or is_fatal(error, (version.parent,)):
                raise
            reason = fault_message(error, folder.root)
            yield f"{describe_version(version, zone)} was not graded: {reason}"


def _grade_attempt(
    folder: CourseFolder, study: Study, config: Config, student: str, version: Path
) -> None:
    """Grade the files of an earlier version in a temporary gradebook, and record its marks."""
    config, release = copy.deepcopy(config), folder.release(study.assignment)
    place = config.CourseDirectory
    with tempfile.TemporaryDirectory(prefix="attempt-") as temporary:
        top = Path(temporary)
        staged = top / student / study.assignment
        files = list_submission(version, study, release)
        stage_submission(files, study, release, staged, course_zone(config))
        with temporary_gradebook(place.db_url, place.course_id, top) as place.db_url:
            place.autograded_directory = str(top / "autograded")
            config.SaveGrades.results = config.SaveOutcomes.results = str(top / "results")
            _autograde(config, study, student, top, top / LOG)
            results = top / "results" / study.assignment / student
            write_record(version, study, student, place.db_url, results)


def _fault(
    folder: CourseFolder, study: Study, student: str, error: Exception, *problems: str
) -> Graded:
    results = folder.results(study.assignment, student)
    shared = (folder.root, results.parent, folder.root / "autograded", folder.root / "gradebook.db")
    kind = FatalError if is_fatal(error, shared) else Graded
    return kind(student, "fault", problems)


def _marks(config: Config, study: Study, student: str, opened: Engine | None) -> AutomaticMarks:
    place = config.CourseDirectory
    return read_automatic_marks(place.db_url, study.assignment, student, opened).get(student, {})


def run_self_test(step: GradingStep, folder: CourseFolder, study: Study) -> None:
    """Raise `SelfTestFailed` unless, on this machine, the reference gets full marks and the stub
    earns 0 points.
    """
    texts = workspace.module_texts(study) if study.checks else {}
    for name, wanted in (("reference", 1), ("stub", 0)) if texts else ():
        with workspace.workspace(study, texts[name]) as module:
            for check in study.checks.values():
                seconds = SELF_TEST_TIME_FACTOR * (check.seconds or step.check_seconds)
                outcome = step.mark(check.id, module.parent, seconds)
                if outcome.earned != wanted * outcome.points:
                    raise SelfTestFailed(
                        f"the {name} gets {outcome.earned:g} of {outcome.points:g} points for "
                        f"{outcome.check}"
                        + (f" ({outcome.problem})" if outcome.problem else "")
                        + "; if answers or positions were edited, run "
                        + advice("build", study.name)
                    )
                if name == "reference":
                    _record_reference_seconds(step, check.id)
    _self_test_notebooks(step, folder, study, texts.get("reference"))


def _self_test_notebooks(
    step: GradingStep, folder: CourseFolder, study: Study, module: str | None
) -> None:
    """Raise `SelfTestFailed` unless the instructor's own graded code cells give the right marks.

    The notebook in source/ must get full marks, and the released notebook must not.
    """
    source = folder.root / "source" / study.assignment
    notebooks = sorted(source.glob("*.ipynb"))
    if not notebooks:
        raise SelfTestFailed(
            f"there is no notebook in {source}: the instructor's solution is needed "
            "to test that a correct answer gets full marks"
        )
    for path in notebooks:
        solved = nbformat.read(path, as_version=4)
        try:
            require_python(solved, path)
            require_known_checks(solved, path)
        except NotebookError as error:
            raise SelfTestFailed(
                f"{error}; correct it in source/ and generate the assignment again"
            ) from None
        if any(map(is_own_test, solved.cells)):
            _self_test_notebook(step, folder, study, module, path, solved)


def _self_test_notebook(
    step: GradingStep,
    folder: CourseFolder,
    study: Study,
    module: str | None,
    path: Path,
    solved: NotebookNode,
) -> None:
    """Raise `SelfTestFailed` unless `solved` gets full marks and its released version does not."""
    own = list(filter(is_own_test, solved.cells))
    graded = _graded_sources(folder, study, path.stem)
    for cell in own:
        cell.source = graded.get(cell.metadata.nbgrader.grade_id, cell.source)
    tests = {cell.metadata.nbgrader.grade_id: cell.source for cell in own}
    with tempfile.TemporaryDirectory(prefix="self-test-") as temporary:
        place = Path(temporary) / study.assignment
        shutil.copytree(path.parent, place)
        if module is not None:
            (place / study.module).write_text(module, "utf-8")
        marks = classify_tests(step, path.stem, solved, place)
        for test, passed in flaky_tests(step, path.stem, solved, place, marks).items():
            raise SelfTestFailed(
                f"{path.name}: {flaky_message(test, passed)}; then generate the assignment again"
            )
        points, most = _points(marks)
        _record_reference_seconds(step, path.name)
        if points < most:
            raise SelfTestFailed(
                f"{path.name} in source/, the instructor's own solution, gets "
                f"{points:g} of {most:g} points: correct it or its tests, and "
                "generate the assignment again"
            )
        unsolved = nbformat.read(folder.release(study.assignment) / path.name, as_version=4)
        for cell in filter(is_own_test, unsolved.cells):  # a release lacks the hidden tests
            cell.source = tests.get(cell.metadata.nbgrader.grade_id, cell.source)
        shutil.copytree(folder.release(study.assignment), place, dirs_exist_ok=True)
        points, most = _points(score_tests(step, path.stem, unsolved, place))
        if points == most > 0:
            raise SelfTestFailed(
                f"{path.name} gets all {most:g} points without any solution: its tests pass "
                "whatever students write, so correct them and generate the assignment again"
            )


def _graded_sources(folder: CourseFolder, study: Study, notebook: str) -> dict[str, str]:
    """Return the cells of a notebook as nbgrader grades them, by grade id.

    They contain the hidden tests, and the tests that nbgrader generated from AUTOTEST lines. The
    result is empty for a notebook that has not been released.
    """
    place = folder.config().CourseDirectory

    def read() -> dict[str, str]:
        with Gradebook(place.db_url, place.course_id) as gradebook:
            try:
                released = gradebook.find_notebook(notebook, study.assignment)
            except MissingEntry:
                return {}
            return {cell.name: cell.source for cell in released.source_cells}

    return with_retry(folder, read)


def _record_reference_seconds(step: GradingStep, what: str) -> None:
    """Record in `step` how long the correct answer took to compute, if that was measured."""
    if computed := step.computed.get(what):
        step.needed = step.needed | {what: round(computed / speed_factor(), 3)}


def _points(marks: Marks) -> tuple[float, float]:
    return sum(points for points, _ in marks.values()), sum(most for _, most in marks.values())


def _stop_messages(results: Path, study: Study, intake_problems: tuple[str, ...]) -> Iterator[str]:
    """Yield the reasons why cells or checks of a submission were stopped or failed, without
    repetition.
    """
    module_is_missing = study.module and any(
        problem.startswith(study.module) for problem in intake_problems
    )
    reasons = defaultdict(list)
    for notebook, result in read_results(results).items():
        if result["stopped"]:
            yield english(f"{notebook}.ipynb: {result['stopped']}")
        for outcome in result["outcomes"]:
            if outcome["problem"] and not outcome["problem"].startswith(NOT_WRITTEN):
                reasons[outcome["problem"]].append(outcome["check"])
    if not module_is_missing:
        for problem, checks in reasons.items():
            yield english(f"{', '.join(checks)}: {problem}")


def _autograde(config: Config, study: Study, student: str, staging: Path, log: Path) -> None:
    """Run nbgrader's own autograde step on the staged files of one submission."""
    place = config.CourseDirectory
    place.assignment_id, place.student_id = study.assignment, student
    place.submitted_directory = str(staging)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    with warnings.catch_warnings():  # SQLAlchemy warns about nbgrader's models each time
        warnings.simplefilter("ignore", SAWarning)
        run_quietly(converter, log)
