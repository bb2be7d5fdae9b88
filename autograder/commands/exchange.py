"""nbgrader's exchange for a whole class: hand an assignment out, collect it, hand feedback back."""

from collections.abc import Callable

from autograder.course_folder import CourseFolder
from autograder.doctor import exchange as problems_of
from autograder.errors import Refused
from course.probes import Study
from sequence.league.wire import clean

STEPS = {"hand-out": "release_assignment", "collect": "collect", "hand-back": "release_feedback"}
# Written by nbgrader when a student submits, and asked for when feedback is handed back.
BY_EXCHANGE = ("timestamp.txt", "submission_secret.txt")


def exchange(folder: CourseFolder, study: Study, step: str) -> str:
    """Take a step, one of `STEPS`, by nbgrader's own exchange; returns what came of it in a
    sentence. Raises `Refused`, in nbgrader's words if it refuses."""
    folder.require_release(study)
    for problem in problems_of(folder):
        raise Refused(problem)
    name = study.assignment
    pages = sorted(path.parent.name for path in folder.root.glob(f"feedback/*/{name}"))
    if step == "hand-back" and not pages:
        raise Refused(f"there is no feedback on {name} yet: run `autograder feedback {study.name}` "
                      "first")
    from nbgrader.apps.api import NbGraderAPI  # slow to import

    from autograder.grading.collecting import LEFT

    api = NbGraderAPI(config=folder.config())
    if step == "hand-back":
        return _hand_back(folder, name, pages, api.release_feedback)
    before = len(folder.submitted(name))
    done = getattr(api, STEPS[step])(name)
    if not done["success"]:
        raise Refused(f"nbgrader did not {step.replace('-', ' ')} {name}: {_reason(done)}")
    if step == "collect":
        now = len(folder.submitted(name))
        left = [clean(line.partition("] ")[2]) for line in done["log"].splitlines()
                if LEFT in line]  # nbgrader, too, writes names that students give into its log
        return "\n".join([f"collected {name}; submissions in all: {now}, from new students: "
                          f"{now - before}", *left])
    return f"{name} is in the exchange, where students fetch it"


def _hand_back(folder: CourseFolder, name: str, students: list[str],
               release: Callable[[str, str], dict]) -> str:
    """Hand back to each student: nbgrader stops a class at the first folder that lacks something.
    """
    apart, failed = [], []
    for student in students:
        place = folder.root / "feedback" / student / name
        if not all((place / file).is_file() for file in BY_EXCHANGE):
            apart.append(student)
        elif not (done := release(name, student))["success"]:
            failed.append(f"{student} ({_reason(done)})")
    back = len(students) - len(apart) - len(failed)
    said = f"feedback on {name} is in the exchange; students: {back}"
    if apart:
        said += (f"; left out, as what they handed in did not come through the exchange, so give "
                 f"them their pages yourself: {', '.join(apart)}")
    if failed:
        raise Refused(f"{said}; nbgrader did not hand back to {', '.join(failed)}")
    if not back:
        raise Refused(said)
    return said


def _reason(done: dict) -> str:
    """The last error in nbgrader's log, or what it was stopped by, or the last line of all."""
    lines = [line for line in f"{done.get('log', '')}\n{done.get('error', '')}".splitlines()
             if line.strip()]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["it says no reason"])[-1].strip()
