"""The overview with its buttons, `desk()` in a cell: each runs a command, and shows how far it is.

A command runs in a process of its own, so that the page stays alive; one at a time, as in a
terminal. What replaces something, or reaches students, asks first.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import ipywidgets as widgets
from IPython.display import HTML, display

from autograder.commands.plan import PLANS, due_dates
from autograder.commands.roster import read_roster
from autograder.course_folder import CourseFolder, rule_of
from autograder.desk.jobs import Job
from autograder.desk.overview import overview
from autograder.errors import Refused, in_words
from course.probes import load_study, studies
from tictactoe.show.still import show_with_words

MOST = 100  # percent
FORMATS = ("gradebook", "canvas", "moodle")
RELEASED = ("{0} was released here before. A new release replaces it, and the next grading grades "
            "everybody again. Release it again?")
HAND_OUT = "Students can fetch {0} as soon as it is in the exchange. Put it there?"
HAND_BACK = "Students can fetch their feedback on {0} as soon as it is there. Hand it back?"
ROSTER = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org"
OUTPUT = ("<pre role='log' aria-label='what the command says' tabindex='0' style='max-height:16em;"
          "overflow:auto;white-space:pre-wrap;line-height:1.4;margin:4px 0'>{}</pre>")
SET_UP = ("By a plan of docs/teaching: its studies are released, each with a due date. The "
          "class, and what late work loses, can be given here or later; all of it can be "
          "changed. A folder that you name is made beside this one.")
AGAIN = "The buttons are gone with their kernel. Run this cell to bring them back."
NAMES = {0: "done", 1: "done, but something needs a look"}


class Desk:
    """A course's overview in a notebook, with buttons; `show` displays it."""

    def __init__(self, folder: CourseFolder) -> None:
        self.folder = folder
        self.job: Job | None = None
        self._confirmed: Callable[[], object] | None = None
        self._table = None  # where the overview is shown
        self.assignment = widgets.Dropdown(
            description="Assignment", options=self._assignments(), layout={"width": "auto"})
        self.format = widgets.Dropdown(description="Format", options=FORMATS,
                                       layout={"width": "auto"})
        rule = rule_of(folder)
        self.due = widgets.Text(description="Due date", placeholder="2026-03-02 10:00 UTC")
        self.percent = widgets.BoundedFloatText(
            description="Late: % a day", min=0, max=MOST, value=rule.get("percent_a_day", 0),
            layout={"width": "12em"}, style={"description_width": "initial"})
        self.at_most = widgets.BoundedFloatText(
            description="at most %", min=0, max=MOST, value=rule.get("at_most", MOST),
            layout={"width": "10em"}, style={"description_width": "initial"})
        self.students = widgets.Textarea(
            description="Students", placeholder=ROSTER, rows=3, layout={"width": "34em"})
        self.place = widgets.Text(description="Folder", placeholder="this one",
                                  layout={"width": "16em"})
        self.weeks = widgets.Dropdown(description="Plan", options=[
            (f"{weeks} weeks, {len(plan)} studies", weeks) for weeks, plan in PLANS.items()],
            layout={"width": "auto"})
        self.first_day = widgets.DatePicker(description="First day", layout={"width": "16em"})
        self.buttons = {
            "Release": self._release,
            "Hand out": lambda: self._ask_for("hand-out", HAND_OUT),
            "Collect": self._command("collect"),
            "Grade": self._command("grade"),
            "Write feedback": self._command("feedback"),
            "Write report": self._command("report"),
            "Grade, feedback and report": self._command("evening"),
            "Hand feedback back": lambda: self._ask_for("hand-back", HAND_BACK),
            "Mark written answers": self._mark,
            "Set the course up": self._plan,
            "Put on the roster": self._roster,
            "Work out late penalties": self._late,
            "Export": lambda: self.run("export", "--format", self.format.value),
        }
        made = {name: _button(name, self._guarded(work)) for name, work in self.buttons.items()}
        self.bar = widgets.FloatProgress(min=0, max=1, layout={"width": "14em"})
        self.status = widgets.HTML()
        self.stop = _button("Stop", lambda: self.job and self.job.stop())
        self.question = widgets.HTML()
        self.ask = _row(self.question, _button("Yes", self._yes), _button("No", self._no))
        self.running = _row(self.bar, self.status, self.stop)
        self.output = widgets.HTML()
        self.below = widgets.VBox()
        self.made = made
        new = not any(folder.root.glob("release/*/"))
        self.wizard = widgets.Accordion(
            [widgets.VBox([
                _row(widgets.HTML(SET_UP)), _row(self.weeks, self.first_day, self.place),
                _row(self.students, made["Put on the roster"]),
                _row(self.percent, self.at_most), _row(made["Set the course up"])])],
            titles=["Set up a course"], selected_index=0 if new else None)
        self.box = widgets.VBox([
            self.wizard,
            _row(self.assignment, *(made[name] for name in list(self.buttons)[:-4])),
            _row(self.due, self.percent, self.at_most, made["Work out late penalties"]),
            _row(self.format, made["Export"]),
            self.ask, self.running, self.output, self.below])
        _show(self.ask, False)
        _show(self.running, False)

    def show(self) -> None:
        """Display the overview, and the buttons below it."""
        self._table = display(HTML(self._overview()), display_id=True)
        show_with_words(self.box, AGAIN)

    def run(self, *arguments: str, folder: CourseFolder | None = None) -> None:
        """Start a command on this course, or on that of another folder; one at a time."""
        if self.job and self.job.status is None:
            raise Refused("another command is running: wait for its end, or stop it")
        self.bar.value, self.bar.max = 0, 1
        self.output.value = ""
        self.status.value = escape(f"{arguments[0]}: starting ...")
        self._enable(False)
        self.job = Job([*arguments, "--course", str((folder or self.folder).root)],
                       self._changed)

    def _command(self, name: str) -> Callable[[], None]:
        """Starts a command on the assignment that is chosen then."""
        return lambda: self.run(name, self.assignment.value)

    def _ask_for(self, name: str, question: str) -> None:
        """Ask before a command is started on the assignment that is chosen now."""
        assignment = self.assignment.value
        self.confirm(question.format(assignment), lambda: self.run(name, assignment))

    def _changed(self, job: Job) -> None:
        """Show what a command says, and at its end what has come of it."""
        self.output.value = OUTPUT.format(escape("\n".join(job.lines))) if job.lines else ""
        if job.status is None:
            self._progress(job)
            return
        ended = NAMES.get(job.status, "not done; it says why below")
        self.status.value = "stopped" if job.stopped and job.status else ended
        self._enable(True)
        if self._table is not None:
            self._table.update(HTML(self._overview()))

    def _progress(self, job: Job) -> None:
        told = job.progress
        if not told:
            return
        total, done = told["total"], told["done"]
        self.bar.max, self.bar.value = total or 1, done if total else 0
        left = f", {_time(told['left'])} left" if told["left"] else ""
        of = f" of {total:g}" if total else ""
        self.status.value = escape(f"{told['what']}: {done:g}{of}{left}. {told['note']}")

    def _enable(self, idle: bool) -> None:
        for button in self.made.values():
            button.disabled = not idle
        self.made["Mark written answers"].disabled = False
        self.stop.disabled = idle
        _show(self.running, True)

    def _guarded(self, work: Callable[[], object]) -> Callable[[], None]:
        """Work whose failure is a sentence on the page."""
        def guarded() -> None:
            self._no()
            try:
                work()
            except Exception as error:  # else it would only be in the kernel's log
                said = str(error) if isinstance(error, Refused) else in_words(error)
                self.output.value = OUTPUT.format(escape(said))

        return guarded

    def _release(self) -> None:
        name = self.assignment.value
        if self.folder.release(load_study(name).assignment).is_dir():
            self.confirm(RELEASED.format(name), lambda: self.run("release", name))
        else:
            self.run("release", name)

    def _roster(self) -> None:
        """Keep what was pasted, and put it on the roster."""
        if not self.students.value.strip():
            raise Refused("paste the class into the field first: a line of names of columns, then "
                          "a line for each student")
        self._with_class(self.folder, lambda path: self.run("roster", str(path)))

    def _with_class(self, folder: CourseFolder, work: Callable[[Path], object]) -> None:
        """Keep what was pasted as the folder's `roster.csv`, and go on with that."""
        pasted, path = self.students.value, folder.root / "roster.csv"
        read_roster(pasted)

        def put() -> None:
            path.write_text(pasted, "utf-8")
            work(path)

        if path.exists() and path.read_text("utf-8", "replace") != pasted:
            self.confirm(f"There is another {path.name} in the course folder. Replace it?", put)
        else:
            put()

    def _plan(self) -> None:
        """Set this course up, or one beside it, as the fields of the wizard say."""
        if self.first_day.value is None:
            raise Refused("choose the day on which the first week begins")
        due_dates(self.weeks.value, self.first_day.value)  # all is read before a folder is made
        name = self.place.value.strip()
        if name in (".", "..") or set("/\\") & set(name):
            raise Refused(f"{name!r} is no name for a folder beside this one")
        if self.students.value.strip():
            read_roster(self.students.value)
        folder = CourseFolder.create(self.folder.root.parent / name) if name else self.folder
        arguments = ["plan", str(self.weeks.value), "--first-day", f"{self.first_day.value}",
                     *self._rule(folder)]
        if self.students.value.strip():
            self._with_class(folder, lambda path: self.run(
                *arguments, "--roster", str(path), folder=folder))
        else:
            self.run(*arguments, folder=folder)

    def _rule(self, folder: CourseFolder) -> Sequence[str]:
        """What the fields say that late work loses, if a course has another rule."""
        asked, known = (self.percent.value, self.at_most.value), rule_of(folder)
        if asked == (known.get("percent_a_day", 0), known.get("at_most", MOST)):
            return ()
        return "--percent-a-day", f"{asked[0]:g}", "--at-most", f"{asked[1]:g}"

    def _late(self) -> None:
        """The rule and the date as they stand in the fields; no date leaves the one that is set."""
        due = self.due.value.strip()
        self.run("late", self.assignment.value, *(["--due", due] if due else []),
                 *self._rule(self.folder))

    def _mark(self) -> None:
        from autograder.desk.marking import Marking  # slow to import

        study = self.folder.assignment(self.assignment.value)
        self.folder.require_release(study)
        before, self.below.children = self.below.children, [Marking(self.folder, study)]
        for marking in before:
            marking.close()

    def confirm(self, question: str, work: Callable[[], object]) -> None:
        """Ask before something is done that replaces what is there, or reaches students."""
        self.question.value, self._confirmed = escape(question), self._guarded(work)
        _show(self.ask, True)

    def _yes(self) -> None:
        work = self._confirmed
        self._no()
        if work:
            work()

    def _no(self) -> None:
        self._confirmed = None
        _show(self.ask, False)

    def _overview(self) -> str:
        return overview(self.folder.root)._repr_html_()

    def _assignments(self) -> Sequence[tuple[str, str]]:
        """The kit's studies, and what else was released here: what is shown, and its name."""
        kit = {study.assignment: study for study in map(load_study, studies())}
        own = sorted(path.name for path in (self.folder.root / "release").glob("*/")
                     if path.name not in kit)
        return [*((study.title, study.name) for study in kit.values()),
                *((name, name) for name in own)]


def desk(root: str | Path = ".") -> None:
    """Show the overview of the course folder at `root`, with its buttons."""
    Desk(CourseFolder.open(Path(root))).show()


def _button(name: str, work: Callable[[], object]) -> widgets.Button:
    button = widgets.Button(description=name, layout={"width": "auto"})
    button.on_click(lambda _button: work())
    return button


def _row(*children: widgets.Widget) -> widgets.Box:
    return widgets.Box(children, layout={"flex_flow": "row wrap", "align_items": "center"})


def _show(row: widgets.Box, shown: bool) -> None:
    row.layout.display = "flex" if shown else "none"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
