"""The dashboard, which `dashboard()` shows in a cell. Each button runs a command and shows its
progress.

A command runs in a separate process, so that the page stays responsive. Its message appears
below its button. All fields follow the selected assignment.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from importlib import import_module
from pathlib import Path
from threading import Thread

import ipywidgets as widgets
from IPython.display import HTML, DisplayHandle, display

from autograder.commands.people.extend import MAX_DAYS
from autograder.course_folder import CourseFolder
from autograder.course_folder.people import KINDS
from autograder.dashboard import due
from autograder.dashboard.background.message import Message, sentence
from autograder.dashboard.background.runner import Command, Runner
from autograder.dashboard.layout import button, row
from autograder.dashboard.overview import overview
from autograder.dashboard.steps import (
    GENERATED_ALREADY,
    RELEASED_ALREADY,
    STEPS,
    Step,
    require,
    state_of,
)
from autograder.dashboard.wizard import Wizard, changed_rule, penalty_fields, rule
from autograder.errors import UserError, format_error
from common.command_lines import advice
from course.checks import Study, load_study, studies
from tictactoe.boards.static_snapshot import show_with_fallback

FORMATS = ("gradebook", "canvas", "moodle")
STOPPED = "The kernel has stopped. Run this cell to continue."
MARK, LATE, EXPORT = "Mark written answers", "Set due date and late penalty", "Export"
EXTEND, ARCHIVE = "Extend", "Collect an archive"
NOTHING = "nothing has been generated yet: choose an assignment and click Generate first"
CHANGED = "the {} was changed elsewhere in the meantime, to {}: check the fields and click again"


class Dashboard:
    """A course's overview with buttons in a notebook; `show` displays it."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder = folder
        self.runner = Runner(self._busy, self._ended)
        self._table: DisplayHandle | None = None  # where the overview is shown
        self._keeps = False  # whether to keep the selection while the list of assignments changes
        self._due: datetime | None = None  # the due date with which the fields were filled
        self._rule: tuple[float, float] = rule(folder)
        self.messages = {
            part: Message() for part in ("steps", "archive", "late", "extend", "marking", "export")
        }
        self.runner.messages += self.messages.values()
        self.wizard = Wizard(folder, self.runner, self._opened)
        self.assignment = widgets.Dropdown(
            description="Assignment",
            options=self._assignments(),
            layout={"width": "auto", "max_width": "40em"},
        )
        self.state = widgets.HTML()
        self.archive = widgets.Text(description="Archive", placeholder="submissions.zip")
        self.times = widgets.Text(description="Times", placeholder="optional: worksheet.csv")
        self.due = widgets.Text(description="Due date", placeholder=due.EXAMPLE)
        self.due_shown = widgets.HTML()
        self.percent, self.at_most = penalty_fields()
        self.extended_kind = widgets.Dropdown(
            description="Extension", options=KINDS, layout={"width": "auto"}
        )
        self.extended_name = widgets.Text(placeholder="ada", layout={"width": "14em"})
        self.extended_days = widgets.BoundedFloatText(
            description="days", value=1, min=0, max=MAX_DAYS, layout={"width": "12em"}
        )
        self.extended_until = widgets.Text(
            description="or until", placeholder=due.EXAMPLE, tooltip="a time, instead of days"
        )
        self.format = widgets.Dropdown(
            description="Format", options=FORMATS, layout={"width": "auto"}
        )
        self.steps = {step.label: button(step.label, self._press("steps", step)) for step in STEPS}
        self.collect = button(
            ARCHIVE, lambda: self.runner.press(self.messages["archive"], self._collect)
        )
        self.late = button(LATE, lambda: self.runner.press(self.messages["late"], self._late))
        self.extend = button(
            EXTEND, lambda: self.runner.press(self.messages["extend"], self._extend)
        )
        self.mark = button(MARK, lambda: self.runner.press(self.messages["marking"], self._mark))
        self.export = button(
            EXPORT, lambda: self.runner.press(self.messages["export"], self._export)
        )
        self.all_buttons = (
            self.wizard.buttons
            | self.steps
            | {ARCHIVE: self.collect, LATE: self.late, EXTEND: self.extend}
            | {MARK: self.mark, EXPORT: self.export}
        )
        self.marking = widgets.VBox()
        self.box = widgets.VBox(
            [
                self.wizard.box,
                row(self.assignment, self.state),
                row(*self.steps.values()),
                self.messages["steps"],
                row(self.archive, self.times, self.collect),
                self.messages["archive"],
                row(self.due, self.due_shown),
                row(self.percent, self.at_most, self.late),
                self.messages["late"],
                row(self.extended_kind, self.extended_name),
                row(self.extended_days, self.extended_until, self.extend),
                self.messages["extend"],
                row(self.format, self.export),
                self.messages["export"],
                row(self.mark),
                self.messages["marking"],
                self.marking,
            ]
        )
        self.due.observe(lambda _change: self._show_due(), "value")
        self.extended_until.observe(lambda _change: self._disable_days(), "value")
        self.assignment.observe(lambda _change: self._follow(), "value")
        self._fill()

    @property
    def study(self) -> Study:
        """The selected assignment."""
        return self.folder.assignment(self.assignment.value)

    def show(self) -> None:
        """Display the overview with the buttons below it."""
        Thread(target=import_module, args=("autograder.grading.records.late",), daemon=True).start()
        self._table = display(HTML(self._overview()), display_id=True)
        show_with_fallback(self.box, STOPPED)

    def _press(self, part: str, step: Step) -> Callable[[], None]:
        """Return a function that runs a step on the assignment that is selected at that time."""
        return lambda: self.runner.press(self.messages[part], lambda: self._run_step(step))

    def _run_step(self, step: Step) -> None:
        """Run the command of a step if its prerequisites are met."""
        study, message = self.study, self.messages["steps"]
        state = state_of(self.folder, study)
        require(state, step.needs)
        if step.command == "release" and state.released:
            raise UserError(RELEASED_ALREADY.format(title=study.title))

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

        again = step.command == "generate" and state.generated
        if question := GENERATED_ALREADY if again else step.question:
            message.ask(
                question.format(title=study.title), f"{step.label}{' again' if again else ''}", run
            )
        else:
            run()

    def _collect(self) -> None:
        """Collect the archive of a learning management system, with a table of times if one is named.

        Relative paths begin at the course folder, to which files can be uploaded in JupyterLab.
        """
        study = self.study
        require(state_of(self.folder, study), ("generated",))
        if not self.archive.value.strip():
            raise UserError("enter the path of the archive in the course folder")
        options = [f"--from={self._file(self.archive)}"]
        if self.times.value.strip():
            options.append(f"--times={self._file(self.times)}")
        self.runner.run(
            Command(
                ARCHIVE,
                self.messages["archive"],
                study.title,
                done=lambda: (
                    f"Submissions in total: {state_of(self.folder, study).submitted}. "
                    "Click Autograde to grade them."
                ),
            ),
            "collect",
            study.name,
            *options,
            course=self.folder.root,
        )

    def _file(self, field: widgets.Text) -> Path:
        """Return the path in a field. Raises `UserError` if it does not exist."""
        path = self.folder.root / Path(field.value.strip()).expanduser()
        if not path.exists():
            raise UserError(f"there is no {path}: upload the file to the course folder")
        return path

    def _late(self) -> None:
        """Set the due date and the late penalty if they have been changed, and update all
        penalties.
        """
        study = self.study
        require(state_of(self.folder, study), ("generated",))
        arguments = [*self._changed_due(study), *self._changed_rule()]
        self.runner.run(
            Command(
                LATE,
                self.messages["late"],
                study.title,
                lines=2,
                done=lambda: self._due_summary(study),
            ),
            "late-penalties",
            study.name,
            *arguments,
            course=self.folder.root,
        )

    def _extend(self) -> None:
        """Give the student, group or section in the fields more time; 0 days remove an extension."""
        study = self.study
        if not (name := self.extended_name.value.strip()):
            raise UserError(f"enter the name of a {self.extended_kind.value}")
        amount = self._extension(study)
        self.runner.run(
            Command(EXTEND, self.messages["extend"], study.title, lines=2),
            "extend",
            study.name,
            f"--{self.extended_kind.value}={name}",
            *amount,
            course=self.folder.root,
        )

    def _extension(self, study: Study) -> Sequence[str]:
        """Return the option for the time in the field "until", or for the days if it is empty."""
        if not (typed := self.extended_until.value.strip()):
            days = self.extended_days.value
            return ("--days", f"{days:g}") if days else ("--remove",)
        until, known = due.parse(typed, self.folder), due.due_of(self.folder, study.assignment)
        if known and until <= known:
            raise UserError(
                f"{study.title} is due {self._in_both(known)}: an extension must end later"
            )
        return "--until", due.in_utc(until)

    def _disable_days(self) -> None:
        """Disable the days while there is a time, because only one of them can be used."""
        self.extended_days.disabled = bool(self.extended_until.value.strip())

    def _due_summary(self, study: Study) -> str:
        """Describe the due date of an assignment after the penalties have been updated."""
        when = due.due_of(self.folder, study.assignment)
        return f"{'Due ' if when else ''}{self._in_both(when)}. Penalties are up to date."

    def _in_both(self, when: datetime | None) -> str:
        """Return a due date in local time and in UTC, or "no due date"."""
        return due.in_both(when, self.folder) if when else "no due date"

    def _changed_due(self, study: Study) -> Sequence[str]:
        """Return the option for the due date in the field, if that has been changed."""
        typed, known = self.due.value.strip(), due.due_of(self.folder, study.assignment)
        if typed == self._due_text():
            return ()
        if known != self._due:
            self._due = known
            raise UserError(CHANGED.format("due date", self._in_both(known)))
        if not typed:
            raise UserError(
                f"{study.title} is due {self._in_both(known)}: a due date can be "
                f"changed but not removed; enter another one, like {due.EXAMPLE}"
            )
        return "--due", due.in_utc(due.parse(typed, self.folder))

    def _changed_rule(self) -> Sequence[str]:
        """Return the options for the late penalty in the fields, if that has been changed."""
        wanted, known = (self.percent.value, self.at_most.value), rule(self.folder)
        if wanted == self._rule:
            return ()
        if known != self._rule:
            self._rule = known
            raise UserError(
                CHANGED.format("late penalty", f"{known[0]:g} % per day, at most {known[1]:g} %")
            )
        return changed_rule(wanted, known)

    def _export(self) -> None:
        if not any(self.folder.root.glob("release/*/")):
            raise UserError(NOTHING)
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
        """Show the written answers to the selected assignment."""
        from autograder.dashboard.marking.page import Marking  # slow to import

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
        widgets_to_close, self.marking.children = self.marking.children, []
        for widget in widgets_to_close:
            widget.close()

    def _busy(self, busy: bool) -> None:
        """Disable the buttons, because commands run one at a time; written answers can still be
        marked."""
        for name, each in self.all_buttons.items():
            each.disabled = busy and name != MARK

    def _ended(self) -> None:
        """Update the table and the fields after a command."""
        if self._table is not None:
            self._table.update(HTML(self._overview()))
        options = self._assignments()
        if tuple(options) != tuple(self.assignment.options):  # some were generated elsewhere
            chosen, self._keeps = self.assignment.value, True
            self.assignment.options = options  # this selects the first one
            self.assignment.value, self._keeps = chosen, False
        self._fill(keep=True)

    def _follow(self) -> None:
        """Show the newly selected assignment, and remove messages about the previous one."""
        if self._keeps:
            return
        self.extended_until.value = ""  # a time belongs to one assignment, unlike days
        for part, message in self.messages.items():
            if (
                part != "export"
                and not self.runner.runs_in(message)
                and (message.kind != "question")
            ):
                message.clear()
        try:
            self._fill()
        except Exception as error:  # otherwise, the error would appear only in the kernel's log
            self.messages["steps"].refuse(error)
        if self.marking.children:
            self._close_marking()
            try:
                self._mark()
            except Exception as error:
                self.messages["marking"].refuse(error, here=False)

    def _fill(self, *, keep: bool = False) -> None:
        """Fill the fields for the selected assignment; if `keep`, leave fields that are being
        edited unchanged.
        """
        study, known = self.study, rule(self.folder)
        self.state.value = escape(state_of(self.folder, study).summary())
        due_date = due.due_of(self.folder, study.assignment)
        if not keep or self.due.value.strip() == self._due_text():
            self._due = due_date
            self.due.value = self._due_text()
        if not keep or (self.percent.value, self.at_most.value) == self._rule:
            self._rule = known
            self.percent.value, self.at_most.value = known
        self._show_due()
        course = self.folder.root
        for step in STEPS:
            command = advice(step.command, study.name, course=course)
            self.steps[step.label].tooltip = command.strip("`")
        self.late.tooltip = advice("late-penalties", study.name, course=course).strip("`")

    def _due_text(self) -> str:
        """Return the text with which the field for the due date was filled."""
        return due.in_utc(self._due) if self._due else ""

    def _show_due(self) -> None:
        """Show the date in the field in both zones, before it is applied."""
        typed = self.due.value.strip()
        try:
            preview = self._in_both(due.parse(typed, self.folder) if typed else None)
        except UserError as error:
            preview = sentence(str(error))
        self.due_shown.value = escape(preview)

    def _opened(self, study: str) -> None:
        """Select the first assignment of a course."""
        self.assignment.value = study
        self.assignment.focus()

    def _overview(self) -> str:
        """Return the table as HTML, or the reason why there is no table."""
        try:
            return overview(self.folder.root)._repr_html_()
        except Exception as error:
            return f"<p><strong>Problem:</strong> {escape(sentence(format_error(error)))}</p>"

    def _assignments(self) -> Sequence[tuple[str, str]]:
        """Return the title and name of each study, and of other assignments that were generated
        here.
        """
        kit = {study.assignment: study for study in map(load_study, studies())}
        own = sorted(
            path.name for path in (self.folder.root / "release").glob("*/") if path.name not in kit
        )
        return [
            *((study.title, study.name) for study in kit.values()),
            *((name, name) for name in own),
        ]


_dashboards: dict[Path, Dashboard] = {}  # the latest dashboard of each course in this kernel


def dashboard(root: str | Path = ".") -> None:
    """Show the overview of the course folder at `root`, with its buttons.

    If this function is called again while a command is running, it shows the same buttons with the
    command's progress.
    """
    try:
        folder = CourseFolder.open(Path(root))
        before = _dashboards.get(folder.root)
        if before is None or not before.runner.is_busy:
            if before:
                before.box.close()
            _dashboards[folder.root] = Dashboard(folder)
        _dashboards[folder.root].show()
    except UserError as error:
        display(HTML(f"<p><strong>Problem:</strong> {escape(sentence(str(error)))}</p>"))
