"""Sets up a course from the fields of a form: plan, first day, roster and late penalty."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from autograder.commands.plan import PLANS, due_dates
from autograder.commands.roster import read_roster
from autograder.course_folder import CourseFolder, late_rule
from autograder.dashboard.background.message import Message
from autograder.dashboard.background.runner import Command, Runner
from autograder.dashboard.layout import button, row
from autograder.dashboard.new_course import start_lab
from autograder.errors import UserError

ALL = 100  # percent
ROSTER = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org"
INTRODUCTION = (
    "A plan from docs/teaching generates its studies and gives each a due date. Roster and "
    "late penalty are optional, and everything can be changed later. If you name a folder, "
    "the new course is created in it, next to this one."
)
OPEN = "Open the course"


class Wizard:
    """The fields and buttons that set up a course, here or in a new folder next to this one.

    `opened` is called to show a course that was set up here, with the name of the first study.
    """

    def __init__(
        self, folder: CourseFolder, runner: Runner, opened: Callable[[str], object]
    ) -> None:
        self.folder, self._runner, self._opened = folder, runner, opened
        self.message = Message()
        runner.messages.append(self.message)
        self.weeks = widgets.Dropdown(
            description="Plan",
            options=[
                (f"{weeks} weeks, {len(plan)} studies", weeks) for weeks, plan in PLANS.items()
            ],
            layout={"width": "auto"},
        )
        self.first_day = widgets.DatePicker(description="First day", layout={"width": "16em"})
        self.place = widgets.Text(
            description="Folder", placeholder="this one", layout={"width": "16em"}
        )
        self.students = widgets.Textarea(
            description="Students", placeholder=ROSTER, rows=3, layout={"width": "34em"}
        )
        self.percent, self.at_most = penalty_fields()
        self.buttons = {
            name: button(name, partial(runner.press, self.message, work))
            for name, work in (
                ("Add to the roster", self._add_students),
                ("Set up the course", self._set_up),
            )
        }
        roster, plan = self.buttons.values()
        new = not any(folder.root.glob("release/*/"))
        self.box = widgets.Accordion(
            [
                widgets.VBox(
                    [
                        row(widgets.HTML(INTRODUCTION)),
                        row(self.weeks, self.first_day, self.place),
                        row(self.students, roster),
                        row(self.percent, self.at_most),
                        row(plan),
                        self.message,
                    ]
                )
            ],
            titles=["Set up a course"],
            selected_index=0 if new else None,
        )

    def _add_students(self) -> None:
        """Keep the pasted roster, and add its students to the gradebook."""
        if not self.students.value.strip():
            raise UserError(
                "paste the roster into the field Students first: a line with the names "
                "of the columns, then one line per student"
            )
        self._with_roster(
            self.folder,
            lambda path: self._runner.run(
                Command("Add to the roster", self.message),
                "roster",
                str(path),
                course=self.folder.root,
            ),
        )

    def _with_roster(self, folder: CourseFolder, work: Callable[[Path], object]) -> None:
        """Save the pasted roster as the folder's `roster.csv`, and continue with that file."""
        pasted, path = self.students.value, folder.root / "roster.csv"
        read_roster(pasted)

        def put() -> None:
            path.write_text(pasted, "utf-8")
            work(path)

        if path.exists() and path.read_text("utf-8", "replace") != pasted:
            self.message.ask(
                f"The course folder has a different {path.name}. Replace it?", "Replace it", put
            )
        else:
            put()

    def _set_up(self) -> None:
        """Set up this course, or a new one next to it, from the fields."""
        if self.first_day.value is None:
            raise UserError("choose the day on which the first week begins")
        due_dates(
            PLANS[self.weeks.value], self.first_day.value
        )  # validate before creating a folder
        name = self.place.value.strip()
        if name in (".", "..") or set("/\\") & set(name):
            raise UserError(f"{name!r} cannot be the name of a folder next to this one")
        if self.students.value.strip():
            read_roster(self.students.value)
        folder = CourseFolder.create(self.folder.root.parent / name) if name else self.folder
        studies = list(PLANS[self.weeks.value])
        arguments = [
            "plan",
            str(self.weeks.value),
            "--first-day",
            f"{self.first_day.value}",
            *changed_rule((self.percent.value, self.at_most.value), rule(folder)),
        ]
        command = Command(
            "Set up the course",
            self.message,
            lines=None,
            done=lambda: (
                f"{folder.root.name} is ready, with {len(studies)} assignments and their due dates."
            ),
            then=lambda: self._open(folder, studies[0]),
        )

        def run(*roster: str) -> None:
            self._runner.run(command, *arguments, *roster, course=folder.root)

        if self.students.value.strip():
            self._with_roster(folder, lambda path: run("--roster", str(path)))
        else:
            run()

    def _open(self, folder: CourseFolder, study: str) -> Mapping[str, Any]:
        """Return the parts of the message with the button or link that opens the course."""
        if folder.root == self.folder.root:

            def show() -> None:
                self.box.selected_index = None
                self.message.clear()
                self._opened(study)

            return {"buttons": [("open", OPEN)], "actions": {"open": show}}
        self.message.update(text="Set up the course: opening JupyterLab on it ...")
        lab = start_lab(folder.root)
        return {"link": (OPEN, lab.port, lab.path)}


def penalty_fields() -> tuple[widgets.BoundedFloatText, widgets.BoundedFloatText]:
    """Return the fields for the late penalty: percent per day, and the maximum."""
    style = {"description_width": "initial"}
    return (
        widgets.BoundedFloatText(
            description="Late penalty, % per day",
            min=0,
            max=ALL,
            layout={"width": "16em"},
            style=style,
        ),
        widgets.BoundedFloatText(
            description="at most %",
            min=0,
            max=ALL,
            value=ALL,
            layout={"width": "10em"},
            style=style,
        ),
    )


def rule(folder: CourseFolder) -> tuple[float, float]:
    """Return the course's late penalty: the percentage per day and the maximum."""
    saved = late_rule(folder)
    return saved.get("percent_a_day", 0), saved.get("at_most", ALL)


def changed_rule(wanted: tuple[float, float], known: tuple[float, float]) -> Sequence[str]:
    """Return the options that change a course's late penalty; none if the penalty is unchanged."""
    if wanted == known:
        return ()
    return "--percent-a-day", f"{wanted[0]:g}", "--at-most", f"{wanted[1]:g}"
