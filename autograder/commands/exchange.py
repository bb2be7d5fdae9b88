"""Releases, collects and releases feedback for a whole class through nbgrader's exchange."""

from collections.abc import Callable, Collection
from pathlib import Path

from autograder.course_folder import CourseFolder
from autograder.doctor import exchange as problems_of
from autograder.errors import UserError
from autograder.grading.intake.submission_files import printable_name
from autograder.grading.records.attempts import keep_version
from autograder.grading.records.gradebook_reader import require_gradebook
from autograder.reporting.pages.page_names import page_names
from common.command_lines import advice
from course.checks import Study
from sequence.league.protocol import clean

STEPS = {  # by the name of our command
    "release": "release_assignment",
    "collect": "collect",
    "release-feedback": "release_feedback",
}
# Written by nbgrader when a student submits, and required when feedback is released.
BY_EXCHANGE = ("timestamp.txt", "submission_secret.txt")


def exchange(
    folder: CourseFolder, study: Study, step: str, students: Collection[str] | None = None
) -> str:
    """Run one of the `STEPS` through nbgrader's own exchange; return a description of the result.

    Feedback is released to all students who have some, or to those among `students`.
    Raises `UserError`; if nbgrader fails, the error has nbgrader's own message.
    """
    folder.require_release(study)
    if step == "collect":
        require_gradebook(folder, study.assignment)
        _keep_versions(folder, study)
    for problem in problems_of(folder):
        raise UserError(problem)
    name = study.assignment
    pages = _students_with_pages(folder, study, students) if step == "release-feedback" else []
    place = folder.exchange() / folder.course_id()
    if (
        step == "collect"
        and not (place / "outbound" / name).is_dir()
        and not any((place / "inbound").glob(f"*+{name}+*"))
    ):
        raise UserError(
            f"{name} has not been released to students yet, so there is nothing to "
            f"collect: run {advice('release', study.name, course=folder.root)} first"
        )
    from nbgrader.apps.api import NbGraderAPI  # slow to import

    from autograder.grading.intake.exchange_collect import NOT_COLLECTED, UNKNOWN_TIME

    api = NbGraderAPI(config=folder.config())
    if step == "release-feedback":
        return _release_feedback(folder, study, pages, api.release_feedback)
    before = len(folder.submitted(name))
    response = getattr(api, STEPS[step])(name)
    if not response["success"]:
        raise UserError(f"nbgrader did not {step.replace('-', ' ')} {name}: {_reason(response)}")
    if step == "collect":
        now = len(folder.submitted(name))
        # nbgrader's log contains names that students chose.
        skipped = [
            clean(line.partition("] ")[2])
            for line in response["log"].splitlines()
            if NOT_COLLECTED in line or UNKNOWN_TIME in line
        ]
        return "\n".join(
            [
                f"collected {name}; submissions in total: {now}, from new students: {now - before}",
                *skipped,
                *folder.skipped(name).values(),
            ]
        )
    return f"{name} is in the exchange, where students can fetch it"


def _students_with_pages(
    folder: CourseFolder, study: Study, students: Collection[str] | None
) -> list[str]:
    """Return the students with feedback, or those among `students`. Raises `UserError` if there are
    none.
    """
    name = study.assignment
    pages = sorted(
        path.parent.name
        for path in folder.root.glob(f"feedback/*/{name}")
        if students is None or path.parent.name in students
    )
    if not pages:
        raise UserError(
            f"there is no feedback on {name} yet{'' if students is None else ' in this section'}: "
            f"run {advice('feedback', study.name, course=folder.root)} first"
        )
    return pages


def _keep_versions(folder: CourseFolder, study: Study) -> None:
    """Keep the versions that have been collected, because nbgrader removes replaced versions."""
    for path in folder.root.glob(f"submitted/*/{study.assignment}"):
        keep_version(folder, study, path.parent.name)


def _release_feedback(
    folder: CourseFolder, study: Study, students: list[str], release: Callable[[str, str], dict]
) -> str:
    """Release each student's feedback separately, because nbgrader stops at the first student with
    an incomplete folder. Raises `UserError` if a page of any student did not arrive.
    """
    name = study.assignment
    reasons: dict[str, list[str]] = {}
    for student in students:
        if reason := _not_released(folder, study, student, release):
            reasons.setdefault(reason, []).append(student)
    released = len(students) - sum(map(len, reasons.values()))
    summary = f"feedback on {name} is in the exchange; students: {released}"
    if reasons:
        raise UserError(
            "; ".join(
                [
                    summary,
                    *(
                        f"nothing arrived for {', '.join(map(printable_name, without))}: {reason}"
                        for reason, without in reasons.items()
                    ),
                ]
            )
        )
    return summary


def _not_released(
    folder: CourseFolder, study: Study, student: str, release: Callable[[str, str], dict]
) -> str:
    """Copy one student's pages into the exchange; return why a page did not arrive, or "".

    nbgrader finds a student's page by the name of a submitted notebook and by a secret that was
    submitted with it, so the pages are looked up in the exchange in the same way.
    """
    name = study.assignment
    place = folder.root / "feedback" / student / name
    if not all((place / file).is_file() for file in BY_EXCHANGE):
        return (
            "they did not submit through the exchange, so give them their pages "
            f"from {folder.root / 'feedback'} yourself"
        )
    names = page_names(folder.submission(name, student), folder.release(name))
    expected = sorted(names.pages) or [path.stem for path in place.glob("*.html")]
    if not names.pages and folder.submission(name, student).is_dir():
        return (
            "nbgrader fetches one page per submitted notebook, but no notebook was submitted, "
            f"so give them their pages from {folder.root / 'feedback'} yourself"
        )
    if missing := [each for each in expected if not (place / f"{each}.html").is_file()]:
        return (
            f"there is no page of {', '.join(map(printable_name, missing))} yet; "
            f"run {advice('feedback', study.name, course=folder.root)} again"
        )
    from nbgrader.utils import notebook_hash  # slow to import

    response = release(name, student)
    config = folder.config()
    arrived = Path(config.Exchange.root, config.CourseDirectory.course_id, "feedback")
    secret = (place / "submission_secret.txt").read_text("utf-8")
    for each in expected:
        copy = arrived / f"{notebook_hash(secret=secret, notebook_id=each)}.html"
        if not _same(place / f"{each}.html", copy):
            return f"nbgrader did not release {printable_name(each)}.html ({_reason(response)})"
    return (
        "" if response["success"] else f"nbgrader did not release everything ({_reason(response)})"
    )


def _same(page: Path, copy: Path) -> bool:
    """Whether the copy of a page in the exchange is identical."""
    return copy.is_file() and page.read_bytes() == copy.read_bytes()


def _reason(response: dict) -> str:
    """Return the last error in nbgrader's log, or the last line if there is no error."""
    lines = [
        line
        for line in f"{response.get('log', '')}\n{response.get('error', '')}".splitlines()
        if line.strip()
    ]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["nbgrader gave no reason"])[-1].strip()
