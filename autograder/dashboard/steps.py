"""The steps of an assignment as buttons, which have nbgrader's verbs, our commands and their
prerequisites.

A button that is clicked too early names the button to click first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from course.checks import Study, studies


@dataclass(frozen=True)
class State:
    """The progress of an assignment, as counted in the course's folders."""

    title: str
    in_kit: bool
    generated: bool
    released: bool  # students can fetch it
    submitted: int
    autograded: int
    feedback: int

    def summary(self) -> str:
        """Return the progress in one line."""
        if not self.generated:
            return "not generated yet"
        return (
            f"generated, {'released' if self.released else 'not released'}, "
            f"{self.submitted} submitted, {self.autograded} autograded, "
            f"{self.feedback} with feedback"
        )


@dataclass(frozen=True)
class Step:
    """A button that runs a command on the selected assignment.

    `done` is the sentence that reports success; without it, the last line of the command's output
    is shown.
    """

    label: str
    command: str
    needs: tuple[str, ...]  # keys of `MISSING`, in the order in which they are checked
    done: str = ""
    question: str = ""  # asked before anything reaches students
    lines: int | None = None  # of output; longer output is shown unfolded


MISSING: Mapping[str, str] = {
    "in_kit": "{title} is your own assignment: generate it in formgrader (menu Nbgrader, "
    "Formgrader).",
    "generated": "{title} has not been generated yet. Click Generate first.",
    "released": "{title} has not been released to students yet. Click Release first.",
    "submitted": "There are no submissions to {title} yet. Click Collect when students have "
    "submitted.",
    "autograded": "No submission to {title} has been autograded yet. Click Autograde first.",
    "feedback": "There is no feedback on {title} yet. Click Generate feedback first.",
}
RELEASED_ALREADY = (
    "{title} has already been released: students can fetch it. To replace it, "
    "unrelease it in formgrader first (menu Nbgrader, Formgrader)."
)
GENERATED_ALREADY = (
    "{title} has been generated before. Generate it again? The next autograding "
    "then grades all submissions again."
)
STEPS = (
    Step(
        "Generate",
        "generate",
        ("in_kit",),
        "Done. Click Release when students may fetch it.",
        lines=1,
    ),
    Step(
        "Release",
        "release",
        ("generated",),
        "Students can now fetch it.",
        "Release {title}? Students can fetch it immediately.",
    ),
    Step(
        "Collect",
        "collect",
        ("generated", "released"),
        "Submissions in total: {submitted}.",
        lines=1,
    ),
    Step(
        "Autograde",
        "grade",
        ("generated", "submitted"),
        "Autograded: {autograded} of {submitted} submissions.",
    ),
    Step(
        "Generate feedback",
        "feedback",
        ("generated", "submitted", "autograded"),
        "Students with feedback pages: {feedback}. Click Release feedback to publish them.",
    ),
    Step(
        "Generate report",
        "report",
        ("generated", "submitted", "autograded"),
        "Done. The table above has a link to the report.",
    ),
    Step(
        "Autograde, feedback and report",
        "grade-all",
        ("generated", "submitted"),
        "Autograded: {autograded} of {submitted} submissions. Students with feedback pages: "
        "{feedback}. The table above has a link to the report.",
    ),
    Step(
        "Release feedback",
        "release-feedback",
        ("generated", "submitted", "autograded", "feedback"),
        "",
        "Release feedback on {title}? Students can fetch it immediately.",
    ),
)


def state_of(folder: CourseFolder, study: Study) -> State:
    """Return the current progress of an assignment."""

    def count(stage: str) -> int:
        return len(list(folder.root.glob(f"{stage}/*/{study.assignment}")))

    return State(
        study.title,
        study.name in studies(),
        folder.release(study.assignment).is_dir(),
        (folder.exchange() / folder.course_id() / "outbound" / study.assignment).is_dir(),
        len(folder.submitted(study.assignment)),
        count("autograded"),
        count("feedback"),
    )


def require(state: State, needs: tuple[str, ...]) -> None:
    """Raise `UserError`, which names the step to do first, unless all prerequisites are met."""
    for need in needs:
        if not getattr(state, need):
            raise UserError(MISSING[need].format(title=state.title))
