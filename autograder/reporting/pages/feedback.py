"""Writes feedback pages for students, which can be read offline, with nbgrader's own converter.

Pages whose content would not change are not written again. This module imports little, because only
the workers need nbgrader.
"""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from autograder.course_folder import CONFIG_FILE, CourseFolder, nfc, run_quietly
from autograder.database import is_transient, with_retry
from autograder.errors import format_error
from autograder.grading.intake.submission_files import fingerprint, list_files
from autograder.grading.mark_history.requests import read_requests
from autograder.grading.records.attempts import AttemptRule
from autograder.grading.records.free_days import accounts, rule_of
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.grading.records.ledger import LEDGER, current_entry, has_kept_marks, read_results
from autograder.grading.run.batch import GradingError
from autograder.grading.run.retry import RetryLater, run_with_retry
from autograder.grading.run.workers import TaskFailed, WorkerSetupError, preload
from autograder.reporting.gradebook import full_name, notebook_records, read_gradebook, students_of
from autograder.reporting.pages.page_names import page_names
from common import messages
from common.command_lines import advice
from course.checks import Study
from course.checks.marking import explain

LOG = "feedback.log"
RECORD = "feedback.sha256"  # a digest of the pages and their inputs
CODE = {".py", ".j2", ".json", ".css"}
CPU_SECONDS = 60  # limit for one student's pages, which usually take a tenth of a second
RENDERERS = ("nbgrader", "nbconvert", "bleach", "mistune", "Pygments")
Task = tuple[str, str]  # a student, and a digest of the inputs of the pages


class Feedback(NamedTuple):
    """One student's pages: their folder, and the problem if they could not be written."""

    student: str
    folder: Path
    problem: str | None
    unchanged: bool = False


def write_feedback(
    folder: CourseFolder,
    study: Study,
    students: Iterable[str] | None = None,
    jobs: int | None = None,
    done: Callable[[Feedback], None] = lambda feedback: None,
    section: Collection[str] | None = None,
) -> list[Feedback]:
    """Write `feedback/{student}/{assignment}/*.html` for all graded students.

    If `section` is given, write only the pages of those of its students who have been graded.
    `done` is called with each result. Raises `GradingError` if no student, or not every one of
    `students`, has been graded, and `OSError` if the folder is not writable.
    """
    assignment = study.assignment
    folder.require_release(study)
    require_gradebook(folder, assignment)
    selected = _graded(folder, study, students, section)
    states = _states(folder, assignment, selected)
    tasks: list[Task] = []
    written = [] if students else _damaged(folder, assignment, section)
    damaged = len(written)
    for student, state in states.items():
        if _is_recorded(folder, assignment, student, state):
            written.append(Feedback(student, _pages(folder, assignment, student), None, True))
            done(written[-1])
        else:
            tasks.append((student, state))
    if tasks:
        _require_writable(folder.root / "feedback")
        preload(
            [
                "autograder.grading.run.fast_imports",
                "autograder.reporting.pages.feedback_page",
                "autograder.reporting.summary",
                "autograder.reporting.pages.safe_html",
            ]
        )
    try:
        jobs = jobs or os.cpu_count() or 1
        for (student, _), result in run_with_retry(
            folder, _writer, (folder, assignment), tasks, jobs, CPU_SECONDS
        ):
            log = folder.results(assignment, student) / LOG
            written.append(
                Feedback(
                    student,
                    _pages(folder, assignment, student),
                    f"{result.reason} (see {log})" if isinstance(result, TaskFailed) else None,
                )
            )
            done(written[-1])
    except WorkerSetupError as error:
        raise GradingError(f"no feedback was written: {error}") from error
    if left := len(selected) + damaged - len(written):
        problem = next(page.problem for page in reversed(written) if page.problem)
        raise GradingError(
            f"feedback stopped before the pages of {left} students were written; run the same "
            f"command again: {problem}"
        )
    return sorted(written)


def _damaged(
    folder: CourseFolder, assignment: str, section: Collection[str] | None
) -> list[Feedback]:
    """Return the students whose stored results are damaged, so that they cannot be rendered."""
    damaged = []
    for student in folder.submitted(assignment):
        if section is not None and student not in section:
            continue
        results = folder.results(assignment, student)
        entry = current_entry(folder, assignment, student)
        if entry["status"] == "not graded" and (results / LEDGER).exists():
            damaged.append(
                Feedback(student, _pages(folder, assignment, student), entry["problems"][0])
            )
    return damaged


def _require_writable(pages: Path) -> None:
    """Raise an `OSError` that would affect all pages before any page is written."""
    pages.mkdir(exist_ok=True)
    with tempfile.TemporaryFile(dir=pages):
        pass


def _graded(
    folder: CourseFolder,
    study: Study,
    students: Iterable[str] | None,
    section: Collection[str] | None,
) -> list[str]:
    assignment = study.assignment
    graded = [
        student
        for student in folder.submitted(assignment)
        if (section is None or student in section)
        and (
            (entry := current_entry(folder, assignment, student))["status"] == "graded"
            or has_kept_marks(entry)
        )
    ]
    selected = graded if students is None else list(dict.fromkeys(map(nfc, students)))
    ungraded = sorted(set(selected) - set(graded))
    if ungraded or not selected:
        people = folder.people()
        if dropped := [name for name in ungraded if people.person(name).dropped]:
            raise GradingError(f"{', '.join(dropped)}: marked as dropped, so there is no page")
        names = ", ".join(ungraded) or f"all students{'' if section is None else ' of the section'}"
        raise GradingError(
            f"not graded in {assignment} yet: {names}; "
            f"run {advice('grade', study.name, course=folder.root)} first"
        )
    return selected


def _states(folder: CourseFolder, assignment: str, students: list[str]) -> dict[str, str]:
    """Return a digest of the inputs of each student's pages; "" if the inputs cannot be read."""
    versions = [importlib.metadata.version(name) for name in RENDERERS]
    code = [
        path.read_text("utf-8")
        for path in (
            Path(explain.__file__),
            Path(messages.__file__),
            *sorted(path for path in Path(__file__).parents[1].rglob("*") if path.suffix in CODE),
        )
    ]
    config = (folder.root / CONFIG_FILE).read_text("utf-8")
    translations = folder.compiled_translations()
    if translations and translations.is_file():
        config += hashlib.sha256(translations.read_bytes()).hexdigest()
    marks = with_retry(
        folder, partial(notebook_records, folder.config().CourseDirectory.db_url, assignment)
    )
    rule = rule_of(folder.config())
    people, free, attempts = read_gradebook(
        folder,
        lambda gradebook: (
            {row.id: full_name(row) for row in students_of(gradebook)},
            accounts(gradebook, rule),
            AttemptRule(folder, assignment, gradebook),
        ),
    )
    requests = read_requests(folder, assignment)
    release = folder.release(assignment)
    released = fingerprint(list_files(release))
    states = dict.fromkeys(students, "")
    for student in students:
        with contextlib.suppress(Exception):  # the worker reports what cannot be read
            entry = current_entry(folder, assignment, student)
            names = page_names(folder.submission(assignment, student), release)
            states[student] = _digest(
                versions,
                code,
                config,
                released,
                marks.get(student),
                people.get(student),
                free[student].describe_for(assignment) if student in free else "",
                has_kept_marks(entry),
                entry.get("owner"),
                attempts.earlier(student, entry),
                attempts.counts,
                [asdict(each) for each in requests if each.student == student],
                list(entry.get("problems", ())),
                names.pages,
                read_results(folder.results(assignment, student)),
                fingerprint(list_files(folder.root / "autograded" / student / assignment)),
            )
    return states


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _pages(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.root / "feedback" / student / assignment


def _record(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.results(assignment, student) / RECORD


def _is_recorded(folder: CourseFolder, assignment: str, student: str, state: str) -> bool:
    """Whether the existing pages were made from this state."""
    record = _record(folder, assignment, student)
    return (
        bool(state)
        and record.is_file()
        and record.read_bytes()
        == _digest(state, fingerprint(list_files(_pages(folder, assignment, student)))).encode()
    )


@contextlib.contextmanager
def _writer(folder: CourseFolder, assignment: str) -> Iterator[Callable[[Task], RetryLater | None]]:
    """Yield the function with which a worker writes one student's pages."""
    import autograder.grading.run.fast_imports  # noqa: F401 - before nbformat
    from autograder.reporting.pages.feedback_page import FeedbackWriter

    config = folder.config()
    config.CourseDirectory.assignment_id = assignment
    writer = FeedbackWriter(config)

    def write(task: Task) -> RetryLater | None:
        student, state = task
        record = _record(folder, assignment, student)
        record.unlink(missing_ok=True)
        writer.coursedir.student_id = student
        try:
            run_quietly(writer, folder.results(assignment, student) / LOG)
        except Exception as error:
            if is_transient(error):
                return RetryLater(format_error(error, folder.root))
            raise
        record.write_text(
            _digest(state, fingerprint(list_files(_pages(folder, assignment, student)))), "ascii"
        )
        return None

    yield write
