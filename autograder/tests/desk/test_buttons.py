"""The overview's buttons: each runs its command, shows how far it is, and can be stopped."""

import shutil
import signal
import subprocess
import sys
import time
from datetime import date, datetime
from html import escape
from types import SimpleNamespace

import psutil
import pytest
from IPython.core import displaypub
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.exchange import exchange
from autograder.commands.roster import add_roster, load_roster, read_roster
from autograder.course_folder import COURSE_ID, EXCHANGE, CourseFolder
from autograder.database import db_url
from autograder.desk import buttons, runner, wizard
from autograder.desk.buttons import Desk
from autograder.desk.child import INTERNAL_ERROR
from autograder.desk.jobs import Job
from autograder.desk.message import Message
from autograder.desk.new_course import Lab
from autograder.errors import Refused
from autograder.grading.late import set_rule
from autograder.release.assignments import release
from autograder.telling.gradebook import open_gradebook, students_of
from autograder.tests.support.needs import need_isolation
from course.probes import Study, load_study
from tictactoe.show.still import WIDGET

pytestmark = pytest.mark.xdist_group("desk")
STUDY = load_study("study2")
MINUTES = 300  # for what has to end by itself
KERNEL = """
from autograder.desk.jobs import Job
import time
job = Job(["doctor", "study3"], lambda job: print("works", flush=True))
print(job._process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def desk(with_study2, tmp_path) -> Desk:
    """The desk of a course with a study and a submission."""
    folder = CourseFolder.open(shutil.copytree(with_study2.root, tmp_path / "course"))
    shutil.copytree(folder.release(STUDY.assignment), folder.submission(STUDY.assignment, "ada"))
    shown = Desk(folder)
    shown.assignment.value = "study2"
    yield shown
    if shown.runner.job:
        shown.runner.job.stop()
        shown.runner.job.wait(MINUTES)


def set_due(folder: CourseFolder, study: Study, when: str) -> None:
    """Set a due date outside the overview; `when` is in UTC."""
    with Gradebook(db_url(folder)) as book:
        book.update_or_create_assignment(study.assignment, duedate=datetime.fromisoformat(when))


def started(monkeypatch, status=0, lines=(), stopped=False) -> list[list[str]]:
    """The commands that would be started from now on; each ends at once, like this."""
    given = []

    class Fake(Job):
        def __init__(self, arguments, changed):
            given.append(arguments)
            self.status, self.stopped, self.lines, self.progress = status, stopped, lines, {}
            changed(self)

        def stop(self):
            pass

        def wait(self, seconds=None):
            return 0

    monkeypatch.setattr(runner, "Job", Fake)
    return given


def test_grading_by_a_button(desk):
    """The class is graded as by the command; its progress is shown, and then its result."""
    need_isolation()
    seen, message = [], desk.messages["steps"]
    message.observe(lambda change: seen.append(change.new), "shown")
    desk.made["Autograde, feedback and report"].click()
    assert desk.made["Autograde"].disabled
    assert desk.runner.job.wait(MINUTES) == 0, desk.runner.job.lines
    notes = [shown.get("note", "") for shown in seen]
    assert any(note.startswith("Grading study2: 1 of 1") for note in notes), notes
    assert any(note.startswith("Feedback study2: 1") for note in notes), notes
    assert message.text.startswith(
        f"Autograde, feedback and report ({STUDY.title}): Autograded: 1 of 1 submissions."
    )
    assert message.shown["done"] == message.shown["total"]
    assert not message.shown["open"]
    assert f"{STUDY.assignment}: 1 graded" in message.shown["log"]
    assert (desk.folder.root / "reports" / f"{STUDY.assignment}.html").is_file()
    assert not desk.made["Autograde"].disabled
    assert "report of" in desk._overview()
    assert "1 autograded, 1 with feedback" in desk.state.value


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_stop_is_ctrl_c(desk, request, handler):
    """A command that is stopped is reported as stopped, with what to do next; also where Ctrl-C is
    ignored, as in a JupyterLab that a script runs in the background."""
    need_isolation()
    before = signal.signal(signal.SIGINT, handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    desk.made["Autograde"].click()
    end = time.monotonic() + MINUTES
    while not desk.runner.job.progress:
        assert time.monotonic() < end
        time.sleep(0.05)
    desk.messages["steps"].click("stop")
    assert desk.runner.job.wait(MINUTES) == 130
    assert desk.messages["steps"].text == (
        f"Autograde ({STUDY.title}): Stopped. Finished work is kept; click the button again to "
        "continue."
    )
    assert "the same command continues from there" in desk.messages["steps"].shown["log"]


@pytest.mark.slow
def test_the_command_stops_with_the_kernel():
    """When the notebook's process is killed, nobody is left who could stop what it started."""
    kernel = subprocess.Popen(
        [sys.executable, "-P", "-c", KERNEL], stdout=subprocess.PIPE, text=True
    )
    try:
        command = psutil.Process(int(kernel.stdout.readline()))
        kernel.stdout.readline()  # until it is at work
    finally:
        kernel.kill()
        kernel.wait()
        kernel.stdout.close()
    command.wait(MINUTES)


@pytest.mark.slow
def test_a_refusal_is_one_sentence(desk, with_study2):
    """What the command refuses is shown without its name and without other output."""
    (desk.folder.root / EXCHANGE).rename(desk.folder.root / "away")
    desk.made["Release"].click()
    desk.messages["steps"].click("yes")
    assert desk.runner.job.wait(MINUTES) == 2
    assert desk.messages["steps"].kind == "failed"
    assert desk.messages["steps"].text.startswith(
        f"Release ({STUDY.title}): Not done. The exchange folder"
    )


STEPS_FIRST = [
    ("study3", "Release", "generated yet. Click Generate"),
    ("study3", "Collect", "generated yet. Click Generate"),
    ("study3", "Autograde", "generated yet. Click Generate"),
    ("study3", "Generate feedback", "generated yet. Click Generate"),
    ("study3", "Generate report", "generated yet. Click Generate"),
    ("study3", "Autograde, feedback and report", "generated yet. Click Generate"),
    ("study3", "Release feedback", "generated yet. Click Generate"),
    ("study3", buttons.MARK, "generated yet. Click Generate"),
    ("study3", buttons.LATE, "generated yet. Click Generate"),
    ("study2", "Collect", "released to students yet. Click Release"),
    ("study2", "Generate feedback", "autograded yet. Click Autograde"),
    ("study2", "Generate report", "autograded yet. Click Autograde"),
    ("study2", "Release feedback", "autograded yet. Click Autograde"),
    ("study2", buttons.MARK, "autograded yet. Click Autograde"),
]


@pytest.mark.parametrize(("study", "button", "said"), STEPS_FIRST)
def test_a_button_that_is_clicked_too_early_names_the_next_step(
    desk, monkeypatch, study, button, said
):
    """In one sentence, in the message next to it; no command is started."""
    given = started(monkeypatch)
    desk.assignment.value = study
    desk.made[button].click()
    shown = [message for message in desk.runner.messages if message.text]
    assert [message.kind for message in shown] == ["refused"]
    assert said in shown[0].text
    assert load_study(study).title in shown[0].text
    assert "\n" not in shown[0].text
    assert given == []
    nearest = None  # the first message below the button
    for row in desk.box.children:
        if desk.made[button] in getattr(row, "children", ()):
            nearest = False
        elif nearest is False and isinstance(row, Message):
            nearest = row
    assert nearest is shown[0]


def test_a_new_course_has_nothing_to_work_with(tmp_path, monkeypatch):
    """Without any assignment, too, every button answers in a sentence."""
    given = started(monkeypatch)
    shown = Desk(CourseFolder.create(tmp_path / "course"))
    for name, button in shown.made.items():
        if name != "Generate":
            button.click()
            assert [message.kind for message in shown.runner.messages if message.text] == [
                "refused"
            ], name
    assert given == []
    assert "There are no assignments yet" in shown._overview()
    assert shown.wizard.box.selected_index == 0


def test_no_submissions_yet(desk):
    """Grading without a submission is refused with what to wait for."""
    shutil.rmtree(desk.folder.root / "submitted")
    desk.made["Autograde"].click()
    assert "There are no submissions" in desk.messages["steps"].text


def test_a_new_release_asks_first(desk, monkeypatch):
    """What was never generated is; what was, only after a yes."""
    given, message = started(monkeypatch), desk.messages["steps"]
    course = ["--course", str(desk.folder.root)]
    desk.made["Generate"].click()
    assert given == []
    assert "Generate it again?" in message.text
    message.click("no")
    message.click("yes")
    assert given == []
    desk.made["Generate"].click()
    message.click("yes")
    assert given == [["release", "study2", *course]]
    desk.assignment.value = "study3"
    desk.made["Generate"].click()
    assert given[1:] == [["release", "study3", *course]]


def test_each_button_runs_its_command(desk, monkeypatch):
    """The same as those that are typed, and as the tooltips show."""
    given = started(monkeypatch)
    (desk.folder.root / "autograded" / "ada" / STUDY.assignment).mkdir(parents=True)
    desk.format.value = "canvas"
    names = {
        "Autograde": "grade",
        "Generate feedback": "feedback",
        "Generate report": "report",
        "Autograde, feedback and report": "evening",
    }
    for name, command in names.items():
        desk.made[name].click()
        assert f" {command} study2 --course " in desk.made[name].tooltip
    desk.made["Export"].click()
    assert [arguments[:-2] for arguments in given] == [
        *([command, "study2"] for command in names.values()),
        ["export", "--format", "canvas"],
    ]


def test_late_penalties_by_a_button(desk, monkeypatch):
    """A date and a rule are passed on where they are new; else penalties are only updated."""
    given = started(monkeypatch)
    button = desk.made[buttons.LATE]
    button.click()
    desk.due.value, desk.percent.value = "2026-03-02 10:00 UTC", 10
    button.click()
    assert [arguments[:-2] for arguments in given] == [
        ["late", "study2"],
        [
            "late",
            "study2",
            "--due",
            "2026-03-02 10:00 UTC",
            "--percent-a-day",
            "10",
            "--at-most",
            "100",
        ],
    ]


def test_fields_follow_the_assignment(desk, monkeypatch):
    """Each assignment has its own due date; what was typed for one is never applied to another."""
    given = started(monkeypatch)
    set_due(desk.folder, STUDY, "2026-03-02 10:00")
    desk.assignment.value = "study4"
    assert (desk.due.value, desk.due_shown.value) == ("", "no due date")
    desk.due.value = "2026-05-04 10:00 UTC"
    assert "2026-05-04 10:00 UTC" in desk.due_shown.value
    desk.assignment.value = "study2"
    assert desk.due.value == "2026-03-02 10:00 UTC"
    assert "1 submitted" in desk.state.value
    desk.made[buttons.LATE].click()
    assert [arguments[:-2] for arguments in given] == [["late", "study2"]]
    assert "2026-03-02 10:00 UTC" in desk.messages["late"].text
    desk.assignment.value = "study4"
    assert desk.due.value == ""
    assert not desk.messages["late"].text
    assert " study4 " in desk.made["Collect"].tooltip
    assert desk.state.value == "not generated yet"


def test_a_date_that_was_changed_elsewhere_is_not_overwritten(desk, monkeypatch):
    """By another overview or the command: the click is refused once, with the new value."""
    given, message = started(monkeypatch), desk.messages["late"]
    desk.due.value = "2026-03-02 10:00 UTC"
    set_due(desk.folder, STUDY, "2026-04-01 10:00")
    set_rule(desk.folder, 20, 60)
    desk.made[buttons.LATE].click()
    assert "changed elsewhere" in message.text
    assert "2026-04-01 10:00 UTC" in message.text
    desk.percent.value = 5
    desk.made[buttons.LATE].click()
    assert "20 % per day, at most 60 %" in message.text
    assert given == []
    desk.made[buttons.LATE].click()
    assert given[0][2:-2] == [
        "--due",
        "2026-03-02 10:00 UTC",
        "--percent-a-day",
        "5",
        "--at-most",
        "100",
    ]


@pytest.mark.parametrize("typed", ["tomorrow", "2026-13-45", "<b>"])
def test_a_due_date_in_a_wrong_form(desk, monkeypatch, typed):
    """An example is shown while it is typed, and again instead of applying it."""
    given = started(monkeypatch)
    desk.due.value = typed
    desk.made[buttons.LATE].click()
    assert desk.messages["late"].kind == "refused"
    assert "2026-03-02 10:00" in desk.messages["late"].text  # an example
    assert "2026-03-02 10:00" in desk.due_shown.value
    assert "<b>" not in desk.due_shown.value
    assert given == []


def test_a_due_date_is_not_removed(desk, monkeypatch):
    """An empty field is not mistaken for "unchanged"."""
    given = started(monkeypatch)
    set_due(desk.folder, STUDY, "2026-03-02 10:00")
    desk.assignment.value = "study3"
    desk.assignment.value = "study2"
    desk.due.value = ""
    desk.made[buttons.LATE].click()
    assert "can be changed but not removed" in desk.messages["late"].text
    assert given == []


@pytest.mark.parametrize(
    ("name", "command"), [("Release", "hand-out"), ("Release feedback", "hand-back")]
)
def test_what_reaches_students_asks_first(desk, monkeypatch, name, command):
    """Nothing is put into the exchange without a yes, and one yes is for one step."""
    given, message = started(monkeypatch), desk.messages["steps"]
    for stage in ("autograded", "feedback"):
        (desk.folder.root / stage / "ada" / STUDY.assignment).mkdir(parents=True)
    desk.made[name].click()
    assert given == []
    assert STUDY.title in message.text
    desk.assignment.value = "study3"  # after the question
    message.click("yes")
    message.click("yes")
    assert [arguments[:-2] for arguments in given] == [[command, "study2"]]
    assert STUDY.title in message.text


def test_a_command_keeps_its_assignment(desk, monkeypatch):
    """What is chosen or clicked while it runs changes neither the command nor its message."""
    made = []
    monkeypatch.setattr(
        runner,
        "Job",
        lambda arguments, changed: (
            made.append((arguments, changed))
            or SimpleNamespace(stop=lambda: None, wait=lambda _seconds: 0)
        ),
    )
    steps, export = desk.messages["steps"], desk.messages["export"]
    desk.made["Autograde"].click()
    desk.made["Autograde"].click()  # a double click
    desk.assignment.value = "study3"
    assert steps.text == f"Autograde ({STUDY.title}): running ..."
    desk.made["Export"].click()
    assert f"Autograde ({STUDY.title}) is running" in export.text
    again = Desk(desk.folder)
    again.assignment.value = "study2"
    again.made["Autograde"].click()
    assert "Another overview of this course" in again.messages["steps"].text
    ((arguments, changed),) = made
    assert arguments[:2] == ["grade", "study2"]
    changed(SimpleNamespace(status=0, stopped=False, lines=["study2: 1 graded"], progress={}))
    assert steps.text.startswith(f"Autograde ({STUDY.title}): ")
    again.made["Export"].click()
    assert len(made) == 2
    assert desk.assignment.value == "study3"


TRACEBACK = [
    "begun",
    "Traceback (most recent call last):",
    '  File "x.py", line 1, in <module>',
    "    1 / 0",
    "    ~~^~~",
    "ZeroDivisionError: division by zero",
]


@pytest.mark.parametrize(
    ("status", "lines", "said"),
    [
        (2, ["autograder: there is no such thing"], "Not done. There is no such thing."),
        (1, TRACEBACK, "It stopped unexpectedly (ZeroDivisionError: division by zero)"),
        (3, [], "It stopped unexpectedly (exit status 3)"),
        (-9, ["grading"], "It stopped unexpectedly (ended by the system with SIGKILL"),
    ],
)
def test_a_command_that_fails(desk, monkeypatch, status, lines, said):
    """One sentence says why; a traceback is never shown."""
    started(monkeypatch, 70 if status == 1 else status, lines)
    desk.made["Autograde"].click()
    message = desk.messages["steps"]
    assert message.kind == "failed"
    assert said in message.text
    assert "Traceback" not in message.shown["log"]
    assert "  File" not in message.shown["log"]
    assert "done" not in message.shown
    assert not desk.made["Autograde"].disabled


def test_an_internal_error_is_one_sentence(tmp_path, monkeypatch):
    """With a file that holds the traceback."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['autograder.commands.cli'] = None\n", "utf-8"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    job = Job(["report", "study2", "--course", str(tmp_path)], lambda job: None)
    assert job.wait(MINUTES) == INTERNAL_ERROR
    (line,) = job.lines
    assert line.startswith("autograder: internal error (ModuleNotFoundError: ")
    (written,) = tmp_path.glob("autograder-error-*.txt")
    assert str(written) in line
    assert "Traceback" in written.read_text("utf-8")


def test_an_assignment_that_was_generated_elsewhere(desk, monkeypatch):
    """It is in the list after the next command, and the choice stays."""
    started(monkeypatch)
    name = "an assignment of a very long name " * 3
    (desk.folder.root / "release" / name.strip()).mkdir()
    desk.due.value = "2026-03"  # still being typed
    desk.made["Export"].click()
    assert (name.strip(), name.strip()) in desk.assignment.options
    assert desk.assignment.value == "study2"
    assert desk.due.value == "2026-03"
    desk.assignment.value = name.strip()
    desk.made["Generate"].click()
    assert "is your own assignment" in desk.messages["steps"].text


def test_through_the_exchange(desk):
    """A study is handed out once; what nbgrader refuses is one sentence; nobody's work is
    collected, and feedback that was not written is not handed back."""
    folder = desk.folder
    with pytest.raises(Refused, match=r"has not been released to students yet, .* hand-out study2"):
        exchange(folder, STUDY, "collect")
    assert exchange(folder, STUDY, "hand-out").startswith(f"{STUDY.assignment} is in the exchange")
    assert (folder.exchange() / COURSE_ID / "outbound" / STUDY.assignment / STUDY.module).is_file()
    with pytest.raises(Refused, match=r"^nbgrader did not hand out .* already exists.*"):
        exchange(folder, STUDY, "hand-out")
    assert exchange(folder, STUDY, "collect") == (
        f"collected {STUDY.assignment}; submissions in all: 1, from new students: 0"
    )
    with pytest.raises(Refused, match=r"there is no feedback on .* yet"):
        exchange(folder, STUDY, "hand-back")
    (folder.root / EXCHANGE).rename(folder.root / "away")
    with pytest.raises(Refused, match="is missing"):
        exchange(folder, STUDY, "collect")


def test_the_roster_by_a_button(desk, monkeypatch):
    """What is pasted is kept in a file, which the command reads; an empty field is told of."""
    given = started(monkeypatch)
    desk.made["Add to the roster"].click()
    assert "Paste the roster into the field" in desk.wizard.message.text
    desk.wizard.students.value = (
        "\ufeffUsername;Surname;E-Mail\nada;Lovelace;a@example.org\nben;;\n"
    )
    desk.made["Add to the roster"].click()
    path = desk.folder.root / "roster.csv"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]
    add_roster(desk.folder, load_roster(path))
    with open_gradebook(desk.folder) as gradebook:
        assert [tuple(student)[:4] for student in students_of(gradebook)] == [
            ("ada", None, "Lovelace", "a@example.org"),
            ("ben", None, None, None),
        ]


def test_a_roster_of_ones_own_is_not_lost(desk, monkeypatch):
    """What is no roster is not kept, and another file of that name is replaced only after a yes."""
    given = started(monkeypatch)
    path = desk.folder.root / "roster.csv"
    path.write_text("id,seminar\nada,3\n", "utf-8")
    for pasted, said in (("name\nada\n", "needs a head"), ("id\nben\n", "")):
        desk.wizard.students.value = pasted
        desk.made["Add to the roster"].click()
        assert said in desk.wizard.message.text
        assert path.read_text("utf-8") == "id,seminar\nada,3\n"
        assert not given
    assert "roster.csv" in desk.wizard.message.text
    desk.wizard.message.click("yes")
    assert path.read_text("utf-8") == "id\nben\n"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]


def test_a_course_is_set_up_by_a_button(desk, monkeypatch):
    """By the fields as they stand, here or in a new folder beside; nothing that is missing or wrong
    makes a folder, and class and rule are left out where nobody gave them."""
    given, root, message = started(monkeypatch), desk.folder.root, desk.wizard.message
    monkeypatch.setattr(wizard, "start_lab", lambda course: Lab(1234, f"lab?{course.name}", None))
    button = desk.made["Set up the course"]
    button.click()
    assert "Choose the day" in desk.wizard.message.text
    desk.wizard.first_day.value, desk.wizard.weeks.value = date(2027, 1, 11), 10
    button.click()
    plan = ["plan", "10", "--first-day", "2027-01-11"]
    assert given == [[*plan, "--course", str(root)]]
    assert "course is ready, with 6 assignments" in message.text
    message.click("open")
    assert desk.wizard.box.selected_index is None
    assert desk.assignment.value == "study1"
    for name, pasted in (("../away", ""), ("..", ""), ("next", "name\nada\n")):
        desk.wizard.place.value, desk.wizard.students.value = name, pasted
        button.click()
        assert not (root.parent / "next").exists()
    desk.wizard.students.value, desk.wizard.percent.value = "id\nada\n", 10
    button.click()
    beside = root.parent / "next"
    assert CourseFolder.open(beside)
    assert given[1:] == [
        [
            *plan,
            "--percent-a-day",
            "10",
            "--at-most",
            "100",
            "--roster",
            str(beside / "roster.csv"),
            "--course",
            str(beside),
        ]
    ]

    assert message.shown["link"] == (wizard.OPEN, 1234, "lab?next")


def test_a_new_course_begins_with_the_wizard(desk, tmp_path):
    """It is unfolded where nothing was released yet, and folded away later."""
    assert desk.wizard.box.selected_index is None
    assert Desk(CourseFolder.create(tmp_path / "new")).wizard.box.selected_index == 0


def test_a_roster_that_is_none_leaves_no_course(tmp_path):
    """The file is read before a folder is made."""
    path = tmp_path / "roster.csv"
    path.write_text("name\nada\n", "utf-8")
    done = CliRunner().invoke(app, ["roster", str(path), "--course", str(tmp_path / "course")])
    assert done.exit_code != 0
    assert "needs a head" in done.stderr
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "needs a head with a column id"),
        ("name\nada\n", "needs a head with a column id"),
        ("id\n../ada\n", "line 2 of the roster: '../ada' cannot be"),
        ("id,first_name\nada,A\n,B\n", "line 3 of the roster: '' cannot be"),
        ("id\nada\nada\n", "line 3 of the roster: ada is there twice"),
        ("\n\nid\nada\n\n\n..\n", "line 7 of the roster: '..' cannot be"),
        ('id,first\nada,"Ada\nben,Ben\n', "from line 2 on the roster is no table"),
        ('id,first\nada,"A\nda"\n', "'A.nda' has a line break"),
        ("id\n" + 129 * "a", "line 2 of the roster: 'a+' cannot be"),
        ("id,username\n1,ada\n", "two columns for the same thing in its head 'id,username'"),
    ],
)
def test_a_roster_that_is_none_is_refused(table, said):
    """In a sentence that names the line."""
    with pytest.raises(Refused, match=said):
        read_roster(table)


@pytest.mark.parametrize(
    "table",
    [
        b"\xef\xbb\xbfid,first\r\n\r\nada,Ada\r\n",
        b"id;first\nada;Ada\n;\n \n",
        b"id\tfirst\rada\tAda\r",
    ],
)
def test_a_roster_may_be_written_by_any_program(tmp_path, table):
    """Marks of byte order, ends of lines, blank lines and lines of blank cells are no students."""
    path = tmp_path / "roster.csv"
    path.write_bytes(table)
    assert load_roster(path) == [{"id": "ada", "first_name": "Ada"}]


def test_a_roster_from_canvas():
    """Its column Student is a name next to the ID; alone such a column is the id."""
    (student,) = read_roster('Student,ID,Section\n"Lovelace, Ada",ada,1\n')
    assert (student["id"], student["first_name"], student["last_name"]) == (
        "ada",
        "Ada",
        "Lovelace",
    )
    assert read_roster("Student\nada\n") == [{"id": "ada"}]


def test_marking_follows_the_assignment(with_study2, tmp_path):
    """The answers to the chosen assignment are shown; to another, theirs or why there are none."""
    folder = CourseFolder.open(shutil.copytree(with_study2.root, tmp_path / "course"))
    release(folder, load_study("study3"))
    for name in ("study2", "study3"):
        for stage in ("submitted", "autograded"):
            (folder.root / stage / "ada" / load_study(name).assignment).mkdir(parents=True)
    desk = Desk(folder)
    for name in ("study2", "study3", "study2"):
        desk.assignment.value = name
        if not desk.marking.children:
            desk.made[buttons.MARK].click()
        head, marking = desk.marking.children
        assert escape(load_study(name).title) in head.children[0].value
        assert marking.study.name == name
    desk.assignment.value = "study4"
    assert not desk.marking.children
    assert "has not been generated" in desk.messages["marking"].text
    desk.assignment.value = "study2"  # nothing is reopened that was closed
    assert not desk.marking.children
    assert not desk.messages["marking"].text


def test_what_a_command_says_is_no_html(desk):
    """The page sets it as text; the progress is in words, too."""
    assert "innerHTML" not in Message._esm._path.read_text("utf-8")
    assert runner._progress(
        {"what": "Grading", "done": 1, "total": 4, "left": 120.0, "note": "<b>"}
    ) == {"done": 1, "total": 4, "note": "Grading: 1 of 4, 2 min left. <b>"}
    assert runner._progress({}) == {}


def test_the_desk_is_shown_in_a_notebook(desk, monkeypatch):
    """A table that any page shows, the buttons below it, and what is said when they are gone."""
    shown = []
    monkeypatch.setattr(
        displaypub.DisplayPublisher, "publish", lambda self, data, **more: shown.append(data)
    )
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    desk.show()
    table, box, words = shown
    assert STUDY.assignment in table.data
    assert box[WIDGET]["model_id"] == desk.box.model_id
    assert buttons.STOPPED in words["text/html"]


def test_no_course_is_a_sentence(tmp_path, monkeypatch):
    """And an overview that is shown again while a command runs is the same one."""
    shown = []
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    buttons.desk(tmp_path)
    assert "is not a course folder" in shown[0].data
