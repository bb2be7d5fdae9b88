"""nbgrader's exchange for a whole class: hand an assignment out, collect it, hand feedback back."""

from collections.abc import Callable
from pathlib import Path

from autograder.course_folder import COURSE_ID, CourseFolder
from autograder.doctor import exchange as problems_of
from autograder.errors import Refused
from autograder.grading.booked import require_gradebook
from autograder.grading.handed_in import shown
from autograder.telling.page_names import page_names
from course.probes import Study
from sequence.league.wire import clean

STEPS = {"hand-out": "release_assignment", "collect": "collect", "hand-back": "release_feedback"}
# Written by nbgrader when a student submits, and asked for when feedback is handed back.
BY_EXCHANGE = ("timestamp.txt", "submission_secret.txt")


def exchange(folder: CourseFolder, study: Study, step: str) -> str:
    """Take a step, one of `STEPS`, by nbgrader's own exchange; returns what came of it in a
    sentence. Raises `Refused`, in nbgrader's words if it refuses."""
    folder.require_release(study)
    if step == "collect":
        require_gradebook(folder, study.assignment)
    for problem in problems_of(folder):
        raise Refused(problem)
    name = study.assignment
    pages = sorted(path.parent.name for path in folder.root.glob(f"feedback/*/{name}"))
    if step == "hand-back" and not pages:
        raise Refused(
            f"there is no feedback on {name} yet: run `autograder feedback {study.name}` first"
        )
    place = folder.exchange() / COURSE_ID
    if (
        step == "collect"
        and not (place / "outbound" / name).is_dir()
        and not any((place / "inbound").glob(f"*+{name}+*"))
    ):
        raise Refused(
            f"{name} has not been released to students yet, so there is nothing to "
            f"collect: run `autograder hand-out {study.name}` first"
        )
    from nbgrader.apps.api import NbGraderAPI  # slow to import

    from autograder.grading.collecting import LEFT, UNKNOWN

    api = NbGraderAPI(config=folder.config())
    if step == "hand-back":
        return _hand_back(folder, name, pages, api.release_feedback)
    before = len(folder.submitted(name))
    done = getattr(api, STEPS[step])(name)
    if not done["success"]:
        raise Refused(f"nbgrader did not {step.replace('-', ' ')} {name}: {_reason(done)}")
    if step == "collect":
        now = len(folder.submitted(name))
        # nbgrader, too, writes names that students give into its log.
        left = [
            clean(line.partition("] ")[2])
            for line in done["log"].splitlines()
            if LEFT in line or UNKNOWN in line
        ]
        return "\n".join(
            [
                f"collected {name}; submissions in all: {now}, from new students: {now - before}",
                *left,
            ]
        )
    return f"{name} is in the exchange, where students fetch it"


def _hand_back(
    folder: CourseFolder, name: str, students: list[str], release: Callable[[str, str], dict]
) -> str:
    """Release the feedback of each student, because nbgrader stops a class at the first folder that
    lacks something. Raises `Refused` if anything did not arrive for a student.
    """
    reasons: dict[str, list[str]] = {}
    for student in students:
        if reason := _not_released(folder, name, student, release):
            reasons.setdefault(reason, []).append(student)
    back = len(students) - sum(map(len, reasons.values()))
    said = f"feedback on {name} is in the exchange; students: {back}"
    if reasons:
        raise Refused(
            "; ".join(
                [
                    said,
                    *(
                        f"nothing arrived for {', '.join(map(shown, left))}: {reason}"
                        for reason, left in reasons.items()
                    ),
                ]
            )
        )
    return said


def _not_released(
    folder: CourseFolder, name: str, student: str, release: Callable[[str, str], dict]
) -> str:
    """Put one student's pages into the exchange; why not all of them arrived, "" if they did.

    A student finds a page by the name of a notebook that was submitted, and by a secret that came
    with it, so that both are looked for in the exchange as the student will.
    """
    place = folder.root / "feedback" / student / name
    if not all((place / file).is_file() for file in BY_EXCHANGE):
        return (
            "what they submitted did not come through the exchange, so give them their pages "
            f"from {folder.root / 'feedback'} yourself"
        )
    names = page_names(folder.submission(name, student), folder.release(name))
    looked_for = sorted(names.found) or [path.stem for path in place.glob("*.html")]
    if not names.found and folder.submission(name, student).is_dir():
        return (
            "nbgrader fetches a page for each notebook that was submitted, and there was none, "
            f"so give them their pages from {folder.root / 'feedback'} yourself"
        )
    if missing := [each for each in looked_for if not (place / f"{each}.html").is_file()]:
        return (
            f"there is no page of {', '.join(map(shown, missing))} yet; run `autograder "
            "feedback` again"
        )
    from nbgrader.utils import notebook_hash  # slow to import

    done = release(name, student)
    config = folder.config()
    arrived = Path(config.Exchange.root, config.CourseDirectory.course_id, "feedback")
    secret = (place / "submission_secret.txt").read_text("utf-8")
    for each in looked_for:
        copy = arrived / f"{notebook_hash(secret=secret, notebook_id=each)}.html"
        if not _same(place / f"{each}.html", copy):
            return f"nbgrader did not release {shown(each)}.html ({_reason(done)})"
    return "" if done["success"] else f"nbgrader did not release everything ({_reason(done)})"


def _same(page: Path, copy: Path) -> bool:
    """Whether a page is in the exchange as it is here."""
    return copy.is_file() and page.read_bytes() == copy.read_bytes()


def _reason(done: dict) -> str:
    """The last error in nbgrader's log, or what it was stopped by, or the last line of all."""
    lines = [
        line
        for line in f"{done.get('log', '')}\n{done.get('error', '')}".splitlines()
        if line.strip()
    ]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["nbgrader gave no reason"])[-1].strip()
