"""The overview with its buttons, `desk()` in a cell: each runs a command and shows its progress.

A command runs in a process of its own, so that the page stays responsive. Its message appears
below its button. All fields follow the assignment that is chosen.
"""

import shlex
from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from importlib import import_module
from pathlib import Path
from threading import Thread

import ipywidgets as widgets
from IPython.display import HTML, DisplayHandle, display

from autograder.course_folder import CourseFolder
from autograder.desk import due
from autograder.desk.layout import button, row
from autograder.desk.message import Message, sentence
from autograder.desk.overview import overview
from autograder.desk.runner import Command, Runner
from autograder.desk.steps import (
    GENERATED_ALREADY,
    RELEASED_ALREADY,
    STEPS,
    Step,
    require,
    state_of,
)
from autograder.desk.wizard import Wizard, changed_rule, penalty_fields, rule
from autograder.errors import Refused, in_words
from course.probes import Study, load_study, studies
from tictactoe.show.still import show_with_words

FORMATS = ("gradebook", "canvas", "moodle")
STOPPED = "The kernel has stopped. Run this cell to continue."
MARK, LATE, EXPORT = "Mark written answers", "Set due date and late penalty", "Export"
NOTHING = "nothing has been generated yet: choose an assignment and click Generate first"
CHANGED = "the {} was changed elsewhere meanwhile, to {}: check the fields and click again"


class Desk:
    """A course's overview in a notebook, with buttons; `show` displays it."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder = folder
        self.runner = Runner(self._busy, self._ended)
        self._table: DisplayHandle | None = None  # where the overview is shown
        self._keeps = False  # the assignment, while the list of them changes
        self._due: datetime | None = None  # as the fields were filled in
        self._rule: tuple[float, float] = rule(folder)
        self.messages = {part: Message() for part in ("steps", "late", "marking", "export")}
        self.runner.messages += self.messages.values()
        self.wizard = Wizard(folder, self.runner, self._opened)
        self.assignment = widgets.Dropdown(
            description="Assignment",
            options=self._assignments(),
            layout={"width": "auto", "max_width": "40em"},
        )
        self.state = widgets.HTML()
        self.due = widgets.Text(description="Due date", placeholder=due.EXAMPLE)
        self.due_shown = widgets.HTML()
        self.percent, self.at_most = penalty_fields()
        self.format = widgets.Dropdown(
            description="Format", options=FORMATS, layout={"width": "auto"}
        )
        self.steps = {step.label: button(step.label, self._press("steps", step)) for step in STEPS}
        self.late = button(LATE, lambda: self.runner.press(self.messages["late"], self._late))
        self.mark = button(MARK, lambda: self.runner.press(self.messages["marking"], self._mark))
        self.export = button(
            EXPORT, lambda: self.runner.press(self.messages["export"], self._export)
        )
        self.made = (
            self.wizard.buttons
            | self.steps
            | {LATE: self.late, MARK: self.mark, EXPORT: self.export}
        )
        self.marking = widgets.VBox()
        self.box = widgets.VBox(
            [
                self.wizard.box,
                row(self.assignment, self.state),
                row(*self.steps.values()),
                self.messages["steps"],
                row(self.due, self.due_shown),
                row(self.percent, self.at_most, self.late),
                self.messages["late"],
                row(self.format, self.export),
                self.messages["export"],
                row(self.mark),
                self.messages["marking"],
                self.marking,
            ]
        )
        self.due.observe(lambda _change: self._show_due(), "value")
        self.assignment.observe(lambda _change: self._follow(), "value")
        self._fill()

    @property
    def study(self) -> Study:
        """The assignment that is chosen."""
        return self.folder.assignment(self.assignment.value)

    def show(self) -> None:
        """Display the overview, and the buttons below it."""
        Thread(target=import_module, args=("autograder.grading.late",), daemon=True).start()
        self._table = display(HTML(self._overview()), display_id=True)
        show_with_words(self.box, STOPPED)

    def _press(self, part: str, step: Step) -> Callable[[], None]:
        """Runs a step of the assignment that is chosen then."""
        return lambda: self.runner.press(self.messages[part], lambda: self._take(step))

    def _take(self, step: Step) -> None:
        """Run the command of a step, once what comes before it is done."""
        study, message = self.study, self.messages["steps"]
        state = state_of(self.folder, study)
        require(state, step.needs)
        if step.command == "hand-out" and state.released:
            raise Refused(RELEASED_ALREADY.format(title=study.title))

        def run() -> None:
            self.runner.run(
                Command(
                    step.label,
                    message,
                    study.title,
                    lines=step.lines,
                    done=lambda: step.done.format_map(vars(state_of(self.folder, study))),
                ),
                step.command,
                study.name,
                course=self.folder.root,
            )

        again = step.command == "release" and state.generated
        if question := GENERATED_ALREADY if again else step.question:
            message.ask(
                question.format(title=study.title), f"{step.label}{' again' if again else ''}", run
            )
        else:
            run()

    def _late(self) -> None:
        """Set the due date and the rule if they were changed, and update the penalties."""
        study = self.study
        require(state_of(self.folder, study), ("generated",))
        arguments = [*self._changed_due(study), *self._changed_rule()]
        self.runner.run(
            Command(
                LATE,
                self.messages["late"],
                study.title,
                lines=2,
                done=lambda: self._due_in_words(study),
            ),
            "late",
            study.name,
            *arguments,
            course=self.folder.root,
        )

    def _due_in_words(self, study: Study) -> str:
        """When an assignment is due, after penalties have been updated."""
        when = due.due_of(self.folder, study.assignment)
        return f"{'Due ' if when else ''}{self._in_both(when)}. Penalties are up to date."

    def _in_both(self, when: datetime | None) -> str:
        """A due date in local time and in UTC, in words if there is none."""
        return due.in_both(when, self.folder) if when else "no due date"

    def _changed_due(self, study: Study) -> Sequence[str]:
        """The option for the due date in the field, if it is another one."""
        typed, known = self.due.value.strip(), due.due_of(self.folder, study.assignment)
        if typed == self._due_text():
            return ()
        if known != self._due:
            self._due = known
            raise Refused(CHANGED.format("due date", self._in_both(known)))
        if not typed:
            raise Refused(
                f"{study.title} is due {self._in_both(known)}: a due date can be "
                f"changed but not removed; enter another one, like {due.EXAMPLE}"
            )
        return "--due", due.in_utc(due.parse(typed, self.folder))

    def _changed_rule(self) -> Sequence[str]:
        """The options for the late penalty in the fields, if it is another one."""
        wanted, known = (self.percent.value, self.at_most.value), rule(self.folder)
        if wanted == self._rule:
            return ()
        if known != self._rule:
            self._rule = known
            raise Refused(
                CHANGED.format("late penalty", f"{known[0]:g} % per day, at most {known[1]:g} %")
            )
        return changed_rule(wanted, known)

    def _export(self) -> None:
        if not any(self.folder.root.glob("release/*/")):
            raise Refused(NOTHING)
        kind = self.format.value
        self.runner.run(
            Command(
                EXPORT,
                self.messages["export"],
                done=lambda: f"The marks of all assignments are in reports/{kind}.csv.",
            ),
            "export",
            "--format",
            kind,
            course=self.folder.root,
        )

    def _mark(self) -> None:
        """Show the written answers to the assignment that is chosen."""
        from autograder.desk.marking import Marking  # slow to import

        study = self.study
        require(state_of(self.folder, study), ("generated", "submitted", "autograded"))
        marking = Marking(self.folder, study)
        self._close_marking()
        self.messages["marking"].clear()
        self.marking.children = [
            row(
                widgets.HTML(f"<h3>{escape(study.title)}: written answers</h3>"),
                button("Close", self._close_marking),
            ),
            marking,
        ]

    def _close_marking(self) -> None:
        shown, self.marking.children = self.marking.children, []
        for widget in shown:
            widget.close()

    def _busy(self, busy: bool) -> None:
        """Commands run one at a time; written answers can be marked meanwhile."""
        for name, made in self.made.items():
            made.disabled = busy and name != MARK

    def _ended(self) -> None:
        """Bring the table and the fields up to date after a command."""
        if self._table is not None:
            self._table.update(HTML(self._overview()))
        options = self._assignments()
        if tuple(options) != tuple(self.assignment.options):  # generated elsewhere
            chosen, self._keeps = self.assignment.value, True
            self.assignment.options = options  # chooses the first of them
            self.assignment.value, self._keeps = chosen, False
        self._fill(keep=True)

    def _follow(self) -> None:
        """Show what belongs to the assignment that was chosen; drop what belonged to another."""
        if self._keeps:
            return
        for part, message in self.messages.items():
            if (
                part != "export"
                and not self.runner.runs_in(message)
                and (message.kind != "question")
            ):
                message.clear()
        try:
            self._fill()
        except Exception as error:  # otherwise it would appear only in the kernel's log
            self.messages["steps"].refuse(error)
        if self.marking.children:
            self._close_marking()
            try:
                self._mark()
            except Exception as error:
                self.messages["marking"].refuse(error, here=False)

    def _fill(self, *, keep: bool = False) -> None:
        """Fill the fields for the assignment that is chosen; `keep` what is being edited."""
        study, known = self.study, rule(self.folder)
        self.state.value = escape(state_of(self.folder, study).in_words())
        found = due.due_of(self.folder, study.assignment)
        if not keep or self.due.value.strip() == self._due_text():
            self._due = found
            self.due.value = self._due_text()
        if not keep or (self.percent.value, self.at_most.value) == self._rule:
            self._rule = known
            self.percent.value, self.at_most.value = known
        self._show_due()
        course = shlex.quote(str(self.folder.root))
        for step in STEPS:
            self.steps[
                step.label
            ].tooltip = f"python3 run.py {step.command} {study.name} --course {course}"
        self.late.tooltip = f"python3 run.py late {study.name} --course {course}"

    def _due_text(self) -> str:
        """What the field for the due date was filled with."""
        return due.in_utc(self._due) if self._due else ""

    def _show_due(self) -> None:
        """Show the date in the field in both zones, before it is applied."""
        typed = self.due.value.strip()
        try:
            shown = self._in_both(due.parse(typed, self.folder) if typed else None)
        except Refused as error:
            shown = sentence(str(error))
        self.due_shown.value = escape(shown)

    def _opened(self, study: str) -> None:
        """Go to the assignment with which a course begins."""
        self.assignment.value = study
        self.assignment.focus()

    def _overview(self) -> str:
        """The table as HTML, or why there is none."""
        try:
            return overview(self.folder.root)._repr_html_()
        except Exception as error:
            return f"<p><strong>Problem:</strong> {escape(sentence(in_words(error)))}</p>"

    def _assignments(self) -> Sequence[tuple[str, str]]:
        """The studies, and other assignments that were generated here: title and name."""
        kit = {study.assignment: study for study in map(load_study, studies())}
        own = sorted(
            path.name for path in (self.folder.root / "release").glob("*/") if path.name not in kit
        )
        return [
            *((study.title, study.name) for study in kit.values()),
            *((name, name) for name in own),
        ]


_shown: dict[Path, Desk] = {}  # the latest overview of each course in this kernel


def desk(root: str | Path = ".") -> None:
    """Show the overview of the course folder at `root`, with its buttons.

    While a command is running, run again, it shows the same buttons with the command's progress.
    """
    try:
        folder = CourseFolder.open(Path(root))
        before = _shown.get(folder.root)
        if before is None or not before.runner.is_busy:
            if before:
                before.box.close()
            _shown[folder.root] = Desk(folder)
        _shown[folder.root].show()
    except Refused as error:
        display(HTML(f"<p><strong>Problem:</strong> {escape(sentence(str(error)))}</p>"))
