"""The overview's buttons: each runs its command, shows its progress and can be stopped."""

import shutil
import signal
import subprocess
import sys
import time
import zipfile
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
from autograder.course_folder import EXCHANGE, CourseFolder
from autograder.course_folder.table import COURSE_ID
from autograder.dashboard import buttons, wizard
from autograder.dashboard.background import runner
from autograder.dashboard.background.child import INTERNAL_ERROR
from autograder.dashboard.background.jobs import Job
from autograder.dashboard.background.message import Message
from autograder.dashboard.buttons import Dashboard
from autograder.dashboard.new_course import Lab
from autograder.database import db_url
from autograder.errors import UserError
from autograder.grading.records.late import set_penalty_rule
from autograder.release.assignments import generate_assignment
from autograder.reporting.gradebook import open_gradebook, students_of
from autograder.tests.support.needs import need_isolation
from course.checks import Study, load_study
from tictactoe.boards.static_snapshot import WIDGET

pytestmark = pytest.mark.xdist_group("dashboard")
STUDY = load_study("study2")
MINUTES = 300  # for operations that must end on their own
KERNEL = """
from autograder.dashboard.background.jobs import Job
import time
job = Job(["doctor", "study3"], lambda job: print("works", flush=True))
print(job._process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def dashboard(with_study2, tmp_path) -> Dashboard:
    """The dashboard of a course with a study and a submission."""
    folder = CourseFolder.open(shutil.copytree(with_study2.root, tmp_path / "course"))
    shutil.copytree(folder.release(STUDY.assignment), folder.submission(STUDY.assignment, "ada"))
    shown = Dashboard(folder)
    shown.assignment.value = "study2"
    yield shown
    if shown.runner.job:
        shown.runner.job.stop()
        shown.runner.job.wait(MINUTES)


def set_due_date(folder: CourseFolder, study: Study, when: str) -> None:
    """Set a due date outside the overview; `when` is in UTC."""
    with Gradebook(db_url(folder)) as book:
        book.update_or_create_assignment(study.assignment, duedate=datetime.fromisoformat(when))


def started(monkeypatch, status=0, lines=(), stopped=False) -> list[list[str]]:
    """The commands that would be started from now on; each ends immediately with this result."""
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


def test_grading_by_a_button(dashboard):
    """The button grades the class as the command does, and shows its progress and result."""
    need_isolation()
    seen, message = [], dashboard.messages["steps"]
    message.observe(lambda change: seen.append(change.new), "view")
    dashboard.all_buttons["Autograde, feedback and report"].click()
    assert dashboard.all_buttons["Autograde"].disabled
    assert dashboard.runner.job.wait(MINUTES) == 0, dashboard.runner.job.lines
    notes = [shown.get("note", "") for shown in seen]
    assert any(note.startswith("Grading study2: 1 of 1") for note in notes), notes
    assert any(note.startswith("Feedback study2: 1") for note in notes), notes
    assert message.text.startswith(
        f"Autograde, feedback and report ({STUDY.title}): Autograded: 1 of 1 submissions."
    )
    assert message.view["done"] == message.view["total"]
    assert not message.view["open"]
    assert f"{STUDY.assignment}: 1 graded" in message.view["log"]
    assert (dashboard.folder.root / "reports" / f"{STUDY.assignment}.html").is_file()
    assert not dashboard.all_buttons["Autograde"].disabled
    assert "report of" in dashboard._overview()
    assert "1 autograded, 1 with feedback" in dashboard.state.value


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_stop_is_ctrl_c(dashboard, request, handler):
    """A stopped command is reported with the next step, even if Ctrl-C is ignored, as in a
    JupyterLab started by a script in the background.
    """
    need_isolation()
    before = signal.signal(signal.SIGINT, handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    dashboard.all_buttons["Autograde"].click()
    end = time.monotonic() + MINUTES
    while not dashboard.runner.job.progress:
        assert time.monotonic() < end
        time.sleep(0.05)
    dashboard.messages["steps"].click("stop")
    assert dashboard.runner.job.wait(MINUTES) == 130
    assert dashboard.messages["steps"].text == (
        f"Autograde ({STUDY.title}): Stopped. Finished work is kept; click the button again to "
        "continue."
    )
    assert "the same command continues from there" in dashboard.messages["steps"].view["log"]


@pytest.mark.parametrize("kind", ["student", "group", "section"])
def test_an_extension(dashboard, monkeypatch, kind):
    """The button runs the command; without days, it removes the extension."""
    commands = started(monkeypatch, lines=("done",))
    dashboard.extended_kind.value = kind
    dashboard.extended_name.value, dashboard.extended_days.value = "ada", 2
    dashboard.all_buttons["Extend"].click()
    dashboard.extended_days.value = 0
    dashboard.all_buttons["Extend"].click()
    assert [command[:5] for command in commands] == [
        ["extend", "study2", f"--{kind}=ada", "--days", "2"],
        ["extend", "study2", f"--{kind}=ada", "--remove", "--course"],
    ]
    dashboard.extended_name.value = " "
    dashboard.all_buttons["Extend"].click()
    assert f"nter the name of a {kind}" in dashboard.messages["extend"].text


def test_an_extension_until_a_time(dashboard, monkeypatch):
    """The time replaces the days, must be after the due date, and is for one assignment only."""
    commands, message = started(monkeypatch, lines=("done",)), dashboard.messages["extend"]
    set_due_date(dashboard.folder, STUDY, "2026-03-02 10:00")
    dashboard.extended_name.value = "ada"
    for typed, problem in (
        ("2026-03-02 10:00 UTC", "an extension must end later"),
        ("tomorrow", "'tomorrow'"),
    ):
        dashboard.extended_until.value = typed
        dashboard.all_buttons["Extend"].click()
        assert problem in message.text
    assert not commands
    dashboard.extended_until.value = " 2026-03-05 23:59 +0100 "
    assert dashboard.extended_days.disabled
    dashboard.all_buttons["Extend"].click()
    assert [command[:5] for command in commands] == [
        ["extend", "study2", "--student=ada", "--until", "2026-03-05 22:59 UTC"]
    ]
    dashboard.assignment.value = "study4"
    assert (dashboard.extended_until.value, dashboard.extended_days.disabled) == ("", False)


def test_an_archive(dashboard, monkeypatch):
    """The button collects the files in the fields; missing files are reported, and nothing runs."""
    commands, root = started(monkeypatch, lines=("collected",)), dashboard.folder.root
    button, message = dashboard.all_buttons[buttons.ARCHIVE], dashboard.messages["archive"]
    button.click()
    assert "nter the path of the archive" in message.text
    dashboard.archive.value = " submissions.zip"
    button.click()
    assert f"here is no {root / 'submissions.zip'}" in message.text
    (root / "submissions.zip").touch()
    dashboard.times.value = str(root.parent / "times.csv")
    button.click()
    assert f"here is no {root.parent / 'times.csv'}" in message.text
    assert commands == []
    (root.parent / "times.csv").touch()
    button.click()
    assert "Submissions in total: 1." in message.text
    dashboard.times.value = ""
    button.click()
    archive = f"--from={root / 'submissions.zip'}"
    assert [command[:-2] for command in commands] == [
        ["collect", "study2", archive, f"--times={root.parent / 'times.csv'}"],
        ["collect", "study2", archive],
    ]


def test_an_archive_is_collected(dashboard):
    """The command reads the file and reports what it did not collect."""
    add_roster(dashboard.folder, [{"id": "bob", "lms_user_id": "4711"}])
    with zipfile.ZipFile(dashboard.folder.root / "submissions.zip", "w") as archive:
        archive.writestr(f"bob_4711_90_{STUDY.module}", "")
        archive.writestr(f"eve_4712_91_{STUDY.module}", "")
    dashboard.archive.value = "submissions.zip"
    dashboard.all_buttons[buttons.ARCHIVE].click()
    assert dashboard.runner.job.wait(MINUTES) == 1, dashboard.runner.job.lines
    message = dashboard.messages["archive"]
    assert message.kind == "done"
    assert "not collected: " in message.view["log"]
    assert "bob" in dashboard.folder.submitted(STUDY.assignment)


@pytest.mark.slow
def test_the_command_stops_with_the_kernel():
    """The command ends when the notebook's process is killed, because no button could stop it then."""
    kernel = subprocess.Popen(
        [sys.executable, "-P", "-c", KERNEL], stdout=subprocess.PIPE, text=True
    )
    try:
        command = psutil.Process(int(kernel.stdout.readline()))
        kernel.stdout.readline()  # until it is running
    finally:
        kernel.kill()
        kernel.wait()
        kernel.stdout.close()
    command.wait(MINUTES)


@pytest.mark.slow
def test_a_refusal_is_one_sentence(dashboard, with_study2):
    """The command's refusal is shown without its name and other output."""
    (dashboard.folder.root / EXCHANGE).rename(dashboard.folder.root / "away")
    dashboard.all_buttons["Release"].click()
    dashboard.messages["steps"].click("yes")
    assert dashboard.runner.job.wait(MINUTES) == 2
    assert dashboard.messages["steps"].kind == "failed"
    assert dashboard.messages["steps"].text.startswith(
        f"Release ({STUDY.title}): Not done. The exchange folder"
    )


STEPS_FIRST = [
    ("study3", "Release", "generated yet. Click Generate"),
    ("study3", "Collect", "generated yet. Click Generate"),
    ("study3", buttons.ARCHIVE, "generated yet. Click Generate"),
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
    dashboard, monkeypatch, study, button, said
):
    """The message next to the button names the next step; no command is started."""
    given = started(monkeypatch)
    dashboard.assignment.value = study
    dashboard.all_buttons[button].click()
    shown = [message for message in dashboard.runner.messages if message.text]
    assert [message.kind for message in shown] == ["refused"]
    assert said in shown[0].text
    assert load_study(study).title in shown[0].text
    assert "\n" not in shown[0].text
    assert given == []
    nearest = None  # the first message below the button
    for row in dashboard.box.children:
        if dashboard.all_buttons[button] in getattr(row, "children", ()):
            nearest = False
        elif nearest is False and isinstance(row, Message):
            nearest = row
    assert nearest is shown[0]


def test_a_new_course_has_nothing_to_work_with(tmp_path, monkeypatch):
    """Without any assignment, every button responds with an explanation."""
    given = started(monkeypatch)
    shown = Dashboard(CourseFolder.create(tmp_path / "course"))
    for name, button in shown.all_buttons.items():
        if name != "Generate":
            button.click()
            assert [message.kind for message in shown.runner.messages if message.text] == [
                "refused"
            ], name
    assert given == []
    assert "There are no assignments yet" in shown._overview()
    assert shown.wizard.box.selected_index == 0


def test_no_submissions_yet(dashboard):
    """Grading without a submission is refused, with the reason."""
    shutil.rmtree(dashboard.folder.root / "submitted")
    dashboard.all_buttons["Autograde"].click()
    assert "There are no submissions" in dashboard.messages["steps"].text


def test_a_new_release_asks_first(dashboard, monkeypatch):
    """A first generation runs immediately; a repeated one requires confirmation."""
    given, message = started(monkeypatch), dashboard.messages["steps"]
    course = ["--course", str(dashboard.folder.root)]
    dashboard.all_buttons["Generate"].click()
    assert given == []
    assert "Generate it again?" in message.text
    message.click("no")
    message.click("yes")
    assert given == []
    dashboard.all_buttons["Generate"].click()
    message.click("yes")
    assert given == [["generate", "study2", *course]]
    dashboard.assignment.value = "study3"
    dashboard.all_buttons["Generate"].click()
    assert given[1:] == [["generate", "study3", *course]]


def test_each_button_runs_its_command(dashboard, monkeypatch):
    """The commands are the ones that users type and that the tooltips show."""
    given = started(monkeypatch)
    (dashboard.folder.root / "autograded" / "ada" / STUDY.assignment).mkdir(parents=True)
    dashboard.format.value = "canvas"
    names = {
        "Autograde": "grade",
        "Generate feedback": "feedback",
        "Generate report": "report",
        "Autograde, feedback and report": "grade-all",
    }
    for name, command in names.items():
        dashboard.all_buttons[name].click()
        assert f" {command} study2 --course " in dashboard.all_buttons[name].tooltip
    dashboard.all_buttons["Export"].click()
    assert [arguments[:-2] for arguments in given] == [
        *([command, "study2"] for command in names.values()),
        ["export", "--format", "canvas"],
    ]


def test_late_penalties_by_a_button(dashboard, monkeypatch):
    """A new date or rule is passed on; otherwise penalties are only updated."""
    given = started(monkeypatch)
    button = dashboard.all_buttons[buttons.LATE]
    button.click()
    dashboard.due.value, dashboard.percent.value = "2026-03-02 10:00 UTC", 10
    button.click()
    assert [arguments[:-2] for arguments in given] == [
        ["late-penalties", "study2"],
        [
            "late-penalties",
            "study2",
            "--due",
            "2026-03-02 10:00 UTC",
            "--percent-a-day",
            "10",
            "--at-most",
            "100",
        ],
    ]


def test_fields_follow_the_assignment(dashboard, monkeypatch):
    """Each assignment has its own due date; text typed for one is never applied to another."""
    given = started(monkeypatch)
    set_due_date(dashboard.folder, STUDY, "2026-03-02 10:00")
    dashboard.assignment.value = "study4"
    assert (dashboard.due.value, dashboard.due_shown.value) == ("", "no due date")
    dashboard.due.value = "2026-05-04 10:00 UTC"
    assert "2026-05-04 10:00 UTC" in dashboard.due_shown.value
    dashboard.assignment.value = "study2"
    assert dashboard.due.value == "2026-03-02 10:00 UTC"
    assert "1 submitted" in dashboard.state.value
    dashboard.all_buttons[buttons.LATE].click()
    assert [arguments[:-2] for arguments in given] == [["late-penalties", "study2"]]
    assert "2026-03-02 10:00 UTC" in dashboard.messages["late"].text
    dashboard.assignment.value = "study4"
    assert dashboard.due.value == ""
    assert not dashboard.messages["late"].text
    assert " study4 " in dashboard.all_buttons["Collect"].tooltip
    assert dashboard.state.value == "not generated yet"


def test_a_date_that_was_changed_elsewhere_is_not_overwritten(dashboard, monkeypatch):
    """After a change by another overview or the command, the click is refused once, with the new
    value.
    """
    given, message = started(monkeypatch), dashboard.messages["late"]
    dashboard.due.value = "2026-03-02 10:00 UTC"
    set_due_date(dashboard.folder, STUDY, "2026-04-01 10:00")
    set_penalty_rule(dashboard.folder, 20, 60)
    dashboard.all_buttons[buttons.LATE].click()
    assert "changed elsewhere" in message.text
    assert "2026-04-01 10:00 UTC" in message.text
    dashboard.percent.value = 5
    dashboard.all_buttons[buttons.LATE].click()
    assert "20 % per day, at most 60 %" in message.text
    assert given == []
    dashboard.all_buttons[buttons.LATE].click()
    assert given[0][2:-2] == [
        "--due",
        "2026-03-02 10:00 UTC",
        "--percent-a-day",
        "5",
        "--at-most",
        "100",
    ]


@pytest.mark.parametrize("typed", ["tomorrow", "2026-13-45", "<b>"])
def test_a_due_date_in_a_wrong_form(dashboard, monkeypatch, typed):
    """An example is shown during typing, and again if the invalid date is applied."""
    given = started(monkeypatch)
    dashboard.due.value = typed
    dashboard.all_buttons[buttons.LATE].click()
    assert dashboard.messages["late"].kind == "refused"
    assert "2026-03-02 10:00" in dashboard.messages["late"].text  # an example
    assert "2026-03-02 10:00" in dashboard.due_shown.value
    assert "<b>" not in dashboard.due_shown.value
    assert given == []


def test_a_due_date_is_not_removed(dashboard, monkeypatch):
    """An empty field does not mean "unchanged"."""
    given = started(monkeypatch)
    set_due_date(dashboard.folder, STUDY, "2026-03-02 10:00")
    dashboard.assignment.value = "study3"
    dashboard.assignment.value = "study2"
    dashboard.due.value = ""
    dashboard.all_buttons[buttons.LATE].click()
    assert "can be changed but not removed" in dashboard.messages["late"].text
    assert given == []


@pytest.mark.parametrize(
    ("name", "command"), [("Release", "release"), ("Release feedback", "release-feedback")]
)
def test_what_reaches_students_asks_first(dashboard, monkeypatch, name, command):
    """Every step that changes the exchange requires its own confirmation."""
    given, message = started(monkeypatch), dashboard.messages["steps"]
    for stage in ("autograded", "feedback"):
        (dashboard.folder.root / stage / "ada" / STUDY.assignment).mkdir(parents=True)
    dashboard.all_buttons[name].click()
    assert given == []
    assert STUDY.title in message.text
    dashboard.assignment.value = "study3"  # after the question
    message.click("yes")
    message.click("yes")
    assert [arguments[:-2] for arguments in given] == [[command, "study2"]]
    assert STUDY.title in message.text


def test_a_command_keeps_its_assignment(dashboard, monkeypatch):
    """Selections and clicks during the command do not change the command or its message."""
    made = []
    monkeypatch.setattr(
        runner,
        "Job",
        lambda arguments, changed: (
            made.append((arguments, changed))
            or SimpleNamespace(stop=lambda: None, wait=lambda _seconds: 0)
        ),
    )
    steps, export = dashboard.messages["steps"], dashboard.messages["export"]
    dashboard.all_buttons["Autograde"].click()
    dashboard.all_buttons["Autograde"].click()  # a double click
    dashboard.assignment.value = "study3"
    assert steps.text == f"Autograde ({STUDY.title}): running ..."
    dashboard.all_buttons["Export"].click()
    assert f"Autograde ({STUDY.title}) is running" in export.text
    again = Dashboard(dashboard.folder)
    again.assignment.value = "study2"
    again.all_buttons["Autograde"].click()
    assert "Another overview of this course" in again.messages["steps"].text
    ((arguments, changed),) = made
    assert arguments[:2] == ["grade", "study2"]
    changed(SimpleNamespace(status=0, stopped=False, lines=["study2: 1 graded"], progress={}))
    assert steps.text.startswith(f"Autograde ({STUDY.title}): ")
    again.all_buttons["Export"].click()
    assert len(made) == 2
    assert dashboard.assignment.value == "study3"


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
def test_a_command_that_fails(dashboard, monkeypatch, status, lines, said):
    """The reason is shown, never a traceback."""
    started(monkeypatch, 70 if status == 1 else status, lines)
    dashboard.all_buttons["Autograde"].click()
    message = dashboard.messages["steps"]
    assert message.kind == "failed"
    assert said in message.text
    assert "Traceback" not in message.view["log"]
    assert "  File" not in message.view["log"]
    assert "done" not in message.view
    assert not dashboard.all_buttons["Autograde"].disabled


def test_an_internal_error_is_one_sentence(tmp_path, monkeypatch):
    """The message names a file that contains the traceback."""
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


def test_an_assignment_that_was_generated_elsewhere(dashboard, monkeypatch):
    """The assignment is listed after the next command, and the selection is kept."""
    started(monkeypatch)
    name = "an assignment of a very long name " * 3
    (dashboard.folder.root / "release" / name.strip()).mkdir()
    dashboard.due.value = "2026-03"  # still being typed
    dashboard.all_buttons["Export"].click()
    assert (name.strip(), name.strip()) in dashboard.assignment.options
    assert dashboard.assignment.value == "study2"
    assert dashboard.due.value == "2026-03"
    dashboard.assignment.value = name.strip()
    dashboard.all_buttons["Generate"].click()
    assert "is your own assignment" in dashboard.messages["steps"].text


def test_through_the_exchange(dashboard):
    """A study is released once, and nbgrader's refusal is shown in one sentence. Without
    submissions there is nothing to collect, and without written feedback nothing to release.
    """
    folder = dashboard.folder
    with pytest.raises(
        UserError, match=r"has not been released to students yet, .* release study2"
    ):
        exchange(folder, STUDY, "collect")
    assert exchange(folder, STUDY, "release").startswith(f"{STUDY.assignment} is in the exchange")
    assert (folder.exchange() / COURSE_ID / "outbound" / STUDY.assignment / STUDY.module).is_file()
    with pytest.raises(UserError, match=r"^nbgrader did not release .* already exists.*"):
        exchange(folder, STUDY, "release")
    assert exchange(folder, STUDY, "collect") == (
        f"collected {STUDY.assignment}; submissions in total: 1, from new students: 0"
    )
    with pytest.raises(UserError, match=r"there is no feedback on .* yet"):
        exchange(folder, STUDY, "release-feedback")
    (folder.root / EXCHANGE).rename(folder.root / "away")
    with pytest.raises(UserError, match="is missing"):
        exchange(folder, STUDY, "collect")


def test_the_roster_by_a_button(dashboard, monkeypatch):
    """Pasted text is saved to a file, which the command reads; an empty field is reported."""
    given = started(monkeypatch)
    dashboard.all_buttons["Add to the roster"].click()
    assert "Paste the roster into the field" in dashboard.wizard.message.text
    dashboard.wizard.students.value = (
        "\ufeffUsername;Surname;E-Mail\nada;Lovelace;a@example.org\nben;;\n"
    )
    dashboard.all_buttons["Add to the roster"].click()
    path = dashboard.folder.root / "roster.csv"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]
    add_roster(dashboard.folder, load_roster(path))
    with open_gradebook(dashboard.folder) as gradebook:
        assert [tuple(student)[:4] for student in students_of(gradebook)] == [
            ("ada", None, "Lovelace", "a@example.org"),
            ("ben", None, None, None),
        ]


def test_a_roster_of_ones_own_is_not_lost(dashboard, monkeypatch):
    """Invalid text is not saved, and an existing file of that name is replaced only after
    confirmation.
    """
    given = started(monkeypatch)
    path = dashboard.folder.root / "roster.csv"
    path.write_text("id,seminar\nada,3\n", "utf-8")
    for pasted, said in (("name\nada\n", "needs a head"), ("id\nben\n", "")):
        dashboard.wizard.students.value = pasted
        dashboard.all_buttons["Add to the roster"].click()
        assert said in dashboard.wizard.message.text
        assert path.read_text("utf-8") == "id,seminar\nada,3\n"
        assert not given
    assert "roster.csv" in dashboard.wizard.message.text
    dashboard.wizard.message.click("yes")
    assert path.read_text("utf-8") == "id\nben\n"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]


def test_a_course_is_set_up_by_a_button(dashboard, monkeypatch):
    """The fields describe a course here or in a new sibling folder. Missing or wrong values create
    no folder; the class and the late rule are optional.
    """
    given, root, message = started(monkeypatch), dashboard.folder.root, dashboard.wizard.message
    monkeypatch.setattr(wizard, "start_lab", lambda course: Lab(1234, f"lab?{course.name}", None))
    button = dashboard.all_buttons["Set up the course"]
    button.click()
    assert "Choose the day" in dashboard.wizard.message.text
    dashboard.wizard.first_day.value, dashboard.wizard.weeks.value = date(2027, 1, 11), 10
    button.click()
    plan = ["plan", "10", "--first-day", "2027-01-11"]
    assert given == [[*plan, "--course", str(root)]]
    assert "course is ready, with 6 assignments" in message.text
    message.click("open")
    assert dashboard.wizard.box.selected_index is None
    assert dashboard.assignment.value == "study1"
    for name, pasted in (("../away", ""), ("..", ""), ("next", "name\nada\n")):
        dashboard.wizard.place.value, dashboard.wizard.students.value = name, pasted
        button.click()
        assert not (root.parent / "next").exists()
    dashboard.wizard.students.value, dashboard.wizard.percent.value = "id\nada\n", 10
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

    assert message.view["link"] == (wizard.OPEN, 1234, "lab?next")


def test_a_new_course_begins_with_the_wizard(dashboard, tmp_path):
    """The wizard is unfolded before the first release, and folded afterwards."""
    assert dashboard.wizard.box.selected_index is None
    assert Dashboard(CourseFolder.create(tmp_path / "new")).wizard.box.selected_index == 0


def test_a_roster_that_is_none_leaves_no_course(tmp_path):
    """The roster is read before a folder is created."""
    path = tmp_path / "roster.csv"
    path.write_text("name\nada\n", "utf-8")
    done = CliRunner().invoke(app, ["roster", str(path), "--course", str(tmp_path / "course")])
    assert done.exit_code != 0
    assert "needs a head" in done.stderr
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "needs a header with a column id"),
        ("name\nada\n", "needs a header with a column id"),
        ("id\n../ada\n", "line 2 of the roster: '../ada' cannot be"),
        ("id,first_name\nada,A\n,B\n", "line 3 of the roster: '' cannot be"),
        ("id\nada\nada\n", "line 3 of the roster: ada is listed twice"),
        ("\n\nid\nada\n\n\n..\n", "line 7 of the roster: '..' cannot be"),
        ('id,first\nada,"Ada\nben,Ben\n', "from line 2 on, the roster is not a valid table"),
        ('id,first\nada,"A\nda"\n', "'A.nda' has a line break"),
        ("id\n" + 129 * "a", "line 2 of the roster: 'a+' cannot be"),
        ("id,username\n1,ada\n", "two columns for the same thing in its header 'id,username'"),
    ],
)
def test_a_roster_that_is_none_is_refused(table, said):
    """The message names the line."""
    with pytest.raises(UserError, match=said):
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
    """Byte order marks, line ends, blank lines and rows of blank cells are not read as students."""
    path = tmp_path / "roster.csv"
    path.write_bytes(table)
    assert load_roster(path) == [{"id": "ada", "first_name": "Ada"}]


def test_a_roster_from_canvas():
    """The column Student is the name if there is an ID column, and otherwise the id."""
    (student,) = read_roster('Student,ID,Section\n"Lovelace, Ada",ada,1\n')
    assert (student["id"], student["first_name"], student["last_name"]) == (
        "ada",
        "Ada",
        "Lovelace",
    )
    assert read_roster("Student\nada\n") == [{"id": "ada"}]


def test_marking_follows_the_assignment(with_study2, tmp_path):
    """The answers to the selected assignment are shown, or the reason why there are none."""
    folder = CourseFolder.open(shutil.copytree(with_study2.root, tmp_path / "course"))
    generate_assignment(folder, load_study("study3"))
    for name in ("study2", "study3"):
        for stage in ("submitted", "autograded"):
            (folder.root / stage / "ada" / load_study(name).assignment).mkdir(parents=True)
    dashboard = Dashboard(folder)
    for name in ("study2", "study3", "study2"):
        dashboard.assignment.value = name
        if not dashboard.marking.children:
            dashboard.all_buttons[buttons.MARK].click()
        head, marking = dashboard.marking.children
        assert escape(load_study(name).title) in head.children[0].value
        assert marking.study.name == name
    dashboard.assignment.value = "study4"
    assert not dashboard.marking.children
    assert "has not been generated" in dashboard.messages["marking"].text
    dashboard.assignment.value = "study2"  # nothing that was closed is reopened
    assert not dashboard.marking.children
    assert not dashboard.messages["marking"].text


def test_what_a_command_says_is_no_html(dashboard):
    """The page inserts the output as text, and the progress is also given in words."""
    assert "innerHTML" not in Message._esm._path.read_text("utf-8")
    assert runner._progress(
        {"what": "Grading", "done": 1, "total": 4, "left": 120.0, "note": "<b>"}
    ) == {"done": 1, "total": 4, "note": "Grading: 1 of 4, 2 min left. <b>"}
    assert runner._progress({}) == {}


def test_the_overview_is_shown_in_a_notebook(dashboard, monkeypatch):
    """The overview is a table that any page can show, with buttons below it and a notice if they
    are gone.
    """
    shown = []
    monkeypatch.setattr(
        displaypub.DisplayPublisher, "publish", lambda self, data, **more: shown.append(data)
    )
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    dashboard.show()
    table, box, words = shown
    assert STUDY.assignment in table.data
    assert box[WIDGET]["model_id"] == dashboard.box.model_id
    assert buttons.STOPPED in words["text/html"]


def test_no_course_is_a_sentence(tmp_path, monkeypatch):
    """Without a course a message is shown; redisplayed during a command, the overview is the same
    one.
    """
    shown = []
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    buttons.dashboard(tmp_path)
    assert "is not a course folder" in shown[0].data
