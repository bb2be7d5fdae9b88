"""nbgrader's exchange for a whole class: hand an assignment out, collect it, hand feedback back."""

from autograder.course_folder import CourseFolder
from autograder.doctor import exchange as problems_of
from autograder.errors import Refused
from course.probes import Study

STEPS = {"hand-out": "release_assignment", "collect": "collect", "hand-back": "release_feedback"}


def exchange(folder: CourseFolder, study: Study, step: str) -> str:
    """Take a step, one of `STEPS`, by nbgrader's own exchange; returns what came of it in a
    sentence. Raises `Refused`, in nbgrader's words if it refuses."""
    folder.require_release(study)
    for problem in problems_of(folder):
        raise Refused(problem)
    name = study.assignment
    pages = len(list(folder.root.glob(f"feedback/*/{name}")))
    if step == "hand-back" and not pages:
        raise Refused(f"there is no feedback on {name} yet: run `autograder feedback {study.name}` "
                      "first")
    from nbgrader.apps.api import NbGraderAPI  # slow to import

    before = len(folder.submitted(name))
    done = getattr(NbGraderAPI(config=folder.config()), STEPS[step])(name)
    if not done["success"]:
        raise Refused(f"nbgrader did not {step.replace('-', ' ')} {name}: {_reason(done)}")
    if step == "collect":
        now = len(folder.submitted(name))
        return f"collected {name}; submissions in all: {now}, from new students: {now - before}"
    return (f"{name} is in the exchange, where students fetch it" if step == "hand-out"
            else f"feedback on {name} is in the exchange; students: {pages}")


def _reason(done: dict) -> str:
    """The last error in nbgrader's log, or the last line of all."""
    lines = [line for line in f"{done.get('error', '')}\n{done.get('log', '')}".splitlines()
             if line.strip()]
    errors = [line for line in lines if "ERROR" in line]
    return (errors or lines or ["it says no reason"])[-1].strip()
