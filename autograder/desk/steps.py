"""The steps of an assignment as buttons: nbgrader's verbs, our commands, and what comes before.

A button that is clicked too early names the button to click first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course_folder import COURSE_ID, CourseFolder
from autograder.errors import Refused
from course.probes import Study, studies


@dataclass(frozen=True)
class State:
    """How far an assignment is, counted in the folders of the course."""

    title: str
    of_the_kit: bool
    generated: bool
    released: bool  # students can fetch it
    submitted: int
    autograded: int
    feedback: int

    def in_words(self) -> str:
        """All of it in one line."""
        if not self.generated:
            return "not generated yet"
        return (
            f"generated, {'released' if self.released else 'not released'}, "
            f"{self.submitted} submitted, {self.autograded} autograded, "
            f"{self.feedback} with feedback"
        )


@dataclass(frozen=True)
class Step:
    """A button that runs a command on the chosen assignment.

    `done` is the sentence for its result; without one, the command's last line is shown.
    """

    label: str
    command: str
    needs: tuple[str, ...]  # keys of `MISSING`, in the order in which they are checked
    done: str = ""
    question: str = ""  # asked before it reaches students
    lines: int | None = None  # of output; if there are more, they are unfolded


MISSING: Mapping[str, str] = {
    "of_the_kit": "{title} is your own assignment: generate it in formgrader (menu Nbgrader, "
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
        "release",
        ("of_the_kit",),
        "Done. Click Release when students may fetch it.",
        lines=1,
    ),
    Step(
        "Release",
        "hand-out",
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
        "evening",
        ("generated", "submitted"),
        "Autograded: {autograded} of {submitted} submissions. Students with feedback pages: "
        "{feedback}. The table above has a link to the report.",
    ),
    Step(
        "Release feedback",
        "hand-back",
        ("generated", "submitted", "autograded", "feedback"),
        "",
        "Release feedback on {title}? Students can fetch it immediately.",
    ),
)


def state_of(folder: CourseFolder, study: Study) -> State:
    """How far an assignment is now."""

    def count(stage: str) -> int:
        return len(list(folder.root.glob(f"{stage}/*/{study.assignment}")))

    return State(
        study.title,
        study.name in studies(),
        folder.release(study.assignment).is_dir(),
        (folder.exchange() / COURSE_ID / "outbound" / study.assignment).is_dir(),
        len(folder.submitted(study.assignment)),
        count("autograded"),
        count("feedback"),
    )


def require(state: State, needs: tuple[str, ...]) -> None:
    """Raise `Refused`, naming the step that comes first, unless an assignment is far enough."""
    for need in needs:
        if not getattr(state, need):
            raise Refused(MISSING[need].format(title=state.title))
