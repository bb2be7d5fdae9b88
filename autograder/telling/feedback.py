"""Writes feedback pages for students with nbgrader's own converter, readable offline.

Pages that would say what they say already are left alone. This module imports little: the workers
import nbgrader.
"""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from autograder.course_folder import CONFIG_FILE, CourseFolder, nfc, run_quietly
from autograder.database import passes, patiently
from autograder.errors import in_words
from autograder.grading.batch import GradingError
from autograder.grading.booked import require_gradebook
from autograder.grading.handed_in import fingerprint, look_through
from autograder.grading.ledger import LEDGER, read_results, standing, stands
from autograder.grading.patient import Later, run_patiently
from autograder.grading.workers import CannotWork, Failed, prepare
from autograder.telling.gradebook import full_name, noted, read_gradebook, students_of
from autograder.telling.page_names import page_names
from course.probes import Study, explain

LOG = "feedback.log"
RECORD = "feedback.sha256"  # of what pages are made of, and of the pages
CODE = {".py", ".j2", ".json", ".css"}
SECONDS = 60  # of computing for one student's pages; a usual one needs a tenth of a second
MAKERS = ("nbgrader", "nbconvert", "bleach", "mistune", "Pygments")
Task = tuple[str, str]  # a student, and a digest of what the pages are made of


class Feedback(NamedTuple):
    """One student's pages: their folder, and, if they could not be written, why not."""

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
) -> list[Feedback]:
    """Write `feedback/{student}/{assignment}/*.html` for everybody who has been graded.

    `done` gets each result. Raises `GradingError` if nobody, or not each of `students`, is graded,
    and `OSError` if nothing can be written there.
    """
    assignment = study.assignment
    folder.require_release(study)
    require_gradebook(folder, assignment)
    wanted = _graded(folder, study, students)
    states = _states(folder, assignment, wanted)
    tasks: list[Task] = []
    written = [] if students else _damaged(folder, assignment)
    known = len(written)
    for student, state in states.items():
        if _is_recorded(folder, assignment, student, state):
            written.append(Feedback(student, _pages(folder, assignment, student), None, True))
            done(written[-1])
        else:
            tasks.append((student, state))
    if tasks:
        _try_to_write(folder.root / "feedback")
        prepare(
            [
                "autograder.grading.quick_start",
                "autograder.telling.feedback_page",
                "autograder.telling.summary",
                "autograder.telling.safe_html",
            ]
        )
    try:
        jobs = jobs or os.cpu_count() or 1
        for (student, _), result in run_patiently(
            folder, _writer, (folder, assignment), tasks, jobs, SECONDS
        ):
            log = folder.results(assignment, student) / LOG
            written.append(
                Feedback(
                    student,
                    _pages(folder, assignment, student),
                    f"{result.reason} (see {log})" if isinstance(result, Failed) else None,
                )
            )
            done(written[-1])
    except CannotWork as error:
        raise GradingError(f"no feedback was written: {error}") from error
    if left := len(wanted) + known - len(written):
        why = next(page.problem for page in reversed(written) if page.problem)
        raise GradingError(
            f"feedback stopped, and the pages of {left} students are left for the "
            f"same command later: {why}"
        )
    return sorted(written)


def _damaged(folder: CourseFolder, assignment: str) -> list[Feedback]:
    """The students whose result is damaged, so that no page can be made of it."""
    found = []
    for student in folder.submitted(assignment):
        results = folder.results(assignment, student)
        entry = standing(folder, assignment, student)
        if entry["status"] == "not graded" and (results / LEDGER).exists():
            found.append(
                Feedback(student, _pages(folder, assignment, student), entry["problems"][0])
            )
    return found


def _try_to_write(pages: Path) -> None:
    """Raises the `OSError` that everybody's page would meet, once for all."""
    pages.mkdir(exist_ok=True)
    with tempfile.TemporaryFile(dir=pages):
        pass


def _graded(folder: CourseFolder, study: Study, students: Iterable[str] | None) -> list[str]:
    assignment = study.assignment
    graded = [
        student
        for student in folder.submitted(assignment)
        if (entry := standing(folder, assignment, student))["status"] == "graded" or stands(entry)
    ]
    wanted = graded if students is None else list(dict.fromkeys(map(nfc, students)))
    ungraded = sorted(set(wanted) - set(graded))
    if ungraded or not wanted:
        who = ", ".join(ungraded) or "everybody"
        raise GradingError(
            f"not graded in {assignment} yet: {who}; run `autograder grade {study.name}` first"
        )
    return wanted


def _states(folder: CourseFolder, assignment: str, students: list[str]) -> dict[str, str]:
    """For each student a digest of what the pages are made of; none where it cannot be read."""
    makers = [importlib.metadata.version(name) for name in MAKERS]
    code = [
        path.read_text("utf-8")
        for path in (
            Path(explain.__file__),
            *sorted(path for path in Path(__file__).parent.rglob("*") if path.suffix in CODE),
        )
    ]
    config = (folder.root / CONFIG_FILE).read_text("utf-8")
    marks = patiently(folder, partial(noted, folder.config().CourseDirectory.db_url, assignment))
    people = {row.id: full_name(row) for row in read_gradebook(folder, students_of)}
    release = folder.release(assignment)
    released = fingerprint(look_through(release))
    states = dict.fromkeys(students, "")
    for student in students:
        with contextlib.suppress(Exception):  # what cannot be read is its worker's to tell
            entry = standing(folder, assignment, student)
            names = page_names(folder.submission(assignment, student), release)
            states[student] = _digest(
                makers,
                code,
                config,
                released,
                marks.get(student),
                people.get(student),
                stands(entry),
                list(entry.get("problems", ())),
                names.found,
                read_results(folder.results(assignment, student)),
                fingerprint(look_through(folder.root / "autograded" / student / assignment)),
            )
    return states


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _pages(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.root / "feedback" / student / assignment


def _record(folder: CourseFolder, assignment: str, student: str) -> Path:
    return folder.results(assignment, student) / RECORD


def _is_recorded(folder: CourseFolder, assignment: str, student: str, state: str) -> bool:
    """Whether the pages that are there are those that were made of this."""
    record = _record(folder, assignment, student)
    return (
        bool(state)
        and record.is_file()
        and record.read_bytes()
        == _digest(state, fingerprint(look_through(_pages(folder, assignment, student)))).encode()
    )


@contextlib.contextmanager
def _writer(folder: CourseFolder, assignment: str) -> Iterator[Callable[[Task], Later | None]]:
    """The worker's side: yields a function that writes one student's pages."""
    import autograder.grading.quick_start  # noqa: F401 - before nbformat
    from autograder.telling.feedback_page import FeedbackWriter

    config = folder.config()
    config.CourseDirectory.assignment_id = assignment
    writer = FeedbackWriter(config)

    def write(task: Task) -> Later | None:
        student, state = task
        record = _record(folder, assignment, student)
        record.unlink(missing_ok=True)
        writer.coursedir.student_id = student
        try:
            run_quietly(writer, folder.results(assignment, student) / LOG)
        except Exception as error:
            if passes(error):
                return Later(in_words(error, folder.root))
            raise
        record.write_text(
            _digest(state, fingerprint(look_through(_pages(folder, assignment, student)))), "ascii"
        )
        return None

    yield write
