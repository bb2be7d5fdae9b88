"""Grades one submission after another: the part of `grade` that runs in a worker process.

Each is taken in, autograded by nbgrader with our step instead of `Execute`, and entered in the
ledger. The worker has one sandbox and one open gradebook for all of them.
"""

import autograder.grading.quick_start  # noqa: F401, I001 - before nbformat

import contextlib
import gc
import shutil
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder import workspace
from autograder.course_folder import CourseFolder, held, run_quietly
from autograder.database import passes, patiently
from autograder.errors import in_words, is_for_all
from autograder.grading.booked import Booked, booked
from autograder.grading.handed_in import look_at
from autograder.grading.intake import take_in
from autograder.grading.deciding import grader_state
from autograder.grading.ledger import (
    LEDGER,
    LOG,
    NOTHING,
    OTHER_DOOR,
    FaultForAll,
    Graded,
    enter,
    graded_before,
    read_results,
    set_aside,
    state_of,
)
from autograder.grading.gradebook_session import OpenGradebook, one_session
from autograder.grading.needed import remembered
from autograder.grading.nbgrader_steps import GradingStep, fault_of, is_own_test
from autograder.grading.patient import Later
from autograder.grading.own_tests import (
    Marks,
    learn_of_tests,
    marks_of_tests,
    varying_sentence,
    varying_tests,
)
from autograder.release.gradable import require_python
from autograder.release.notebooks import NotebookError, complain_about_unknown_checks
from autograder.grading.where import AS_CONFIGURED, Where, config_for
from autograder.times import course_zone
from course.probes import Study
from course.probes.question import NOT_WRITTEN
from sequence.league.clock import factor


PATIENT = 10  # times the limit of a check, for the reference: that it is late is nobody's fault


class CanaryError(RuntimeError):
    """A known right answer does not get full marks, or a known wrong one gets some."""


Found = Mapping[str, Any]  # by the proof of the canaries: values of options of `GradingStep`


@contextlib.contextmanager
def prover(
    folder: CourseFolder, study: Study, where: Where = AS_CONFIGURED, door: Path | None = None
) -> Iterator[Callable[[str], Found]]:
    """Prove the canaries; yield a function that gives what this found out about own tests, and the
    seconds that right answers need.

    Raises `CanaryError`, or `CannotIsolate`. `door`: see `sandbox.launch`.
    """
    config = _config(folder, where, door)
    config.GradingStep.scheduler = ""  # answers stay on this machine
    step = GradingStep(config=config)
    try:
        prove_by_canaries(step, folder, study)
        needed = remembered(folder, study, grader_state(folder, study, config), step.needed)
    except OSError as error:  # a write to a full disk does not say to which
        raise RuntimeError(in_words(error, folder.root)) from error
    yield lambda _: {"tests": step.tests, "needed": needed}


@contextlib.contextmanager
def grader(
    folder: CourseFolder,
    study: Study,
    force: bool,
    where: Where = AS_CONFIGURED,
    door: Path | None = None,
    found: Found | None = None,
) -> Iterator[Callable[[str], Graded | Later]]:
    """Yield a function that grades one student's submission to `study`.

    `found` is what a `prover` gave on this machine, just now. Without it the canaries are proved
    first, with what that raises.
    """
    if found is None:
        with prover(folder, study, where, door) as prove:
            found = prove(study.name)
    config = _config(folder, where, door)
    config.SaveOutcomes.our_door = True
    config.GradingStep.update(found)
    place = config.CourseDirectory
    gc.collect()
    gc.freeze()  # what was imported lives as long as the worker: it need not be looked through
    with contextlib.ExitStack() as stack:

        @cache
        def open_gradebook() -> OpenGradebook:
            return stack.enter_context(
                one_session(place.db_url, place.course_id, folder.root / "results")
            )

        def grade(student: str) -> Graded | Later:
            try:
                return grade_one(folder, study, config, force, student, open_gradebook().opened)
            except Exception as error:
                if passes(error):
                    return Later(in_words(error, folder.root))
                return _fault(folder, study, student, error, in_words(error, folder.root))

        try:
            open_gradebook()
        except Exception as error:
            if not passes(error):
                raise RuntimeError(in_words(error, folder.root)) from error
        yield grade


def _config(folder: CourseFolder, where: Where, door: Path | None) -> Config:
    """The configuration, by which sandboxes are reached through the door, if there is one."""
    config = config_for(folder, where)
    if door:
        config.GradingStep.door = str(door)
    return config


def grade_one(
    folder: CourseFolder,
    study: Study,
    config: Config,
    force: bool,
    student: str,
    opened: Engine | None = None,
) -> Graded:
    """Grade one submission, unless it is graded, has not changed, and its marks are still booked.

    The gradebook may be an older one that was put back, or a student may have been removed from it.
    `opened`: see `booked`.
    """
    start = time.perf_counter()
    submission = folder.submission(study.assignment, student)
    results = folder.results(study.assignment, student)
    ledger = results / LEDGER
    with held(results):
        handed_in = look_at(submission, study, folder.release(study.assignment))
        state = state_of(handed_in, grader_state(folder, study, config))
        marks = partial(_marks, config, study, student, opened)
        if (
            not force
            and ledger.is_file()
            and (before := graded_before(folder, study.assignment, student, state, marks()))
        ):
            return before
        set_aside(ledger)  # a run that is stopped from here on grades it again
        (results / OTHER_DOOR).unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(prefix="intake-") as temporary:
            staged = Path(temporary) / student / study.assignment
            intake = take_in(
                handed_in, study, folder.release(study.assignment), staged, course_zone(config)
            )
            if not intake.gradable:
                result = Graded(student, NOTHING, intake.problems)
            else:
                try:
                    _autograde(config, study, student, Path(temporary), results / LOG)
                except Exception as error:
                    if passes(error):
                        raise
                    return _fault(
                        folder,
                        study,
                        student,
                        error,
                        *intake.problems,
                        f"{fault_of(error, folder.root)} (see {results / LOG})",
                    )
                problems = [*intake.problems, *_told(results, study, intake.problems)]
                result = Graded(
                    student, "graded", tuple(problems), round(time.perf_counter() - start, 3)
                )
        enter(
            ledger,
            {
                "state": state,
                "marks": marks(),
                "notebooks": [*read_results(results)],
                **asdict(result),
            },
        )
        return result


def _fault(
    folder: CourseFolder, study: Study, student: str, error: Exception, *problems: str
) -> Graded:
    results = folder.results(study.assignment, student)
    shared = (folder.root, results.parent, folder.root / "autograded", folder.root / "gradebook.db")
    kind = FaultForAll if is_for_all(error, shared) else Graded
    return kind(student, "fault", problems)


def _marks(config: Config, study: Study, student: str, opened: Engine | None) -> Booked:
    place = config.CourseDirectory
    return booked(place.db_url, study.assignment, student, opened).get(student, {})


def prove_by_canaries(step: GradingStep, folder: CourseFolder, study: Study) -> None:
    """Raise `CanaryError` unless the reference gets full marks here and now, and the stub none."""
    texts = workspace.module_texts(study) if study.checks else {}
    for name, wanted in (("reference", 1), ("stub", 0)) if texts else ():
        with workspace.workspace(study, texts[name]) as module:
            for check in study.checks.values():
                seconds = PATIENT * (check.seconds or step.probe_seconds)
                outcome = step.mark(check.id, module.parent, seconds)
                if outcome.earned != wanted * outcome.points:
                    raise CanaryError(
                        f"the {name} gets {outcome.earned:g} of {outcome.points:g} points for "
                        f"{outcome.check}"
                        + (f" ({outcome.problem})" if outcome.problem else "")
                        + "; if answers or positions were edited, run `autograder build`"
                    )
                if name == "reference":
                    _note_needed(step, check.id)
    _prove_own_cells(step, folder, study, texts.get("reference"))


def _prove_own_cells(
    step: GradingStep, folder: CourseFolder, study: Study, module: str | None
) -> None:
    """Where an instructor has graded code cells: the source must pass all, the release not all."""
    source = folder.root / "source" / study.assignment
    notebooks = sorted(source.glob("*.ipynb"))
    if not notebooks:
        raise CanaryError(
            f"there is no notebook in {source}: the instructor's solution is needed "
            "to prove that a right answer gets its marks"
        )
    for path in notebooks:
        solved = nbformat.read(path, as_version=4)
        try:
            require_python(solved, path)
            complain_about_unknown_checks(solved, path)
        except NotebookError as error:
            raise CanaryError(f"{error}; correct it in source/ and release again") from None
        own = list(filter(is_own_test, solved.cells))
        if not own:
            continue
        graded = _graded_sources(folder, study, path.stem)
        for cell in own:
            cell.source = graded.get(cell.metadata.nbgrader.grade_id, cell.source)
        tests = {cell.metadata.nbgrader.grade_id: cell.source for cell in own}
        with tempfile.TemporaryDirectory(prefix="canary-") as temporary:
            place = Path(temporary) / study.assignment
            shutil.copytree(source, place)
            if module is not None:
                (place / study.module).write_text(module, "utf-8")
            marks = learn_of_tests(step, path.stem, solved, place)
            for test, passed in varying_tests(step, path.stem, solved, place, marks).items():
                raise CanaryError(
                    f"{path.name}: {varying_sentence(test, passed)}; then release it again"
                )
            points, most = _points(marks)
            _note_needed(step, path.name)
            if points < most:
                raise CanaryError(
                    f"{path.name} in source/, the instructor's own solution, gets "
                    f"{points:g} of {most:g} points: correct it or its tests, and "
                    "release it again"
                )
            unsolved = nbformat.read(folder.release(study.assignment) / path.name, as_version=4)
            for cell in filter(is_own_test, unsolved.cells):  # hidden tests are not in a release
                cell.source = tests.get(cell.metadata.nbgrader.grade_id, cell.source)
            shutil.copytree(folder.release(study.assignment), place, dirs_exist_ok=True)
            points, most = _points(marks_of_tests(step, path.stem, unsolved, place))
            if points == most > 0:
                raise CanaryError(
                    f"{path.name} gets all {most:g} points as it was released, with "
                    "nothing solved: its tests pass whatever students write, so "
                    "correct them and release again"
                )


def _graded_sources(folder: CourseFolder, study: Study, notebook: str) -> dict[str, str]:
    """The cells of a notebook as nbgrader grades them, by grade id: with the tests that it has
    generated from AUTOTEST lines, and with hidden tests. Empty for a notebook that is not released.
    """
    place = folder.config().CourseDirectory

    def read() -> dict[str, str]:
        with Gradebook(place.db_url, place.course_id) as gradebook:
            try:
                found = gradebook.find_notebook(notebook, study.assignment)
            except MissingEntry:
                return {}
            return {cell.name: cell.source for cell in found.source_cells}

    return patiently(folder, read)


def _note_needed(step: GradingStep, what: str) -> None:
    """Tell `step` what the right answer has computed, where that was measured."""
    if computed := step.computed.get(what):
        step.needed = step.needed | {what: round(computed / factor(), 3)}


def _points(marks: Marks) -> tuple[float, float]:
    return sum(points for points, _ in marks.values()), sum(most for _, most in marks.values())


def _told(results: Path, study: Study, known: tuple[str, ...]) -> Iterator[str]:
    """Why cells or checks of a submission were stopped or failed, each reason once."""
    module_is_known = study.module and any(p.startswith(study.module) for p in known)
    reasons = defaultdict(list)
    for notebook, result in read_results(results).items():
        if result["stopped"]:
            yield f"{notebook}.ipynb: {result['stopped']}"
        for outcome in result["outcomes"]:
            if outcome["problem"] and not outcome["problem"].startswith(NOT_WRITTEN):
                reasons[outcome["problem"]].append(outcome["check"])
    if not module_is_known:
        for problem, checks in reasons.items():
            yield f"{', '.join(checks)}: {problem}"


def _autograde(config: Config, study: Study, student: str, staging: Path, log: Path) -> None:
    """nbgrader's own autograde of one submission, reading what the intake has staged."""
    place = config.CourseDirectory
    place.assignment_id, place.student_id = study.assignment, student
    place.submitted_directory = str(staging)
    converter = Autograde(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    with warnings.catch_warnings():  # nbgrader's models make SQLAlchemy warn on every submission
        warnings.simplefilter("ignore", SAWarning)
        run_quietly(converter, log)
