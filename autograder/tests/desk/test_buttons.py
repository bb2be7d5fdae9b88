"""The overview's buttons: each runs its command, shows how far it is, and can be stopped."""

import shutil
import subprocess
import sys
import time
from datetime import date

import psutil
import pytest
from IPython.core import displaypub
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.exchange import exchange
from autograder.commands.roster import add_roster, load_roster, read_roster
from autograder.course_folder import COURSE_ID, EXCHANGE, CourseFolder
from autograder.desk import buttons
from autograder.desk.buttons import Desk
from autograder.desk.jobs import Job
from autograder.errors import Refused
from autograder.telling.gradebook import open_gradebook, students_of
from autograder.tests.needs import need_isolation
from course.probes import load_study
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
    if shown.job:
        shown.job.stop()
        shown.job.wait(MINUTES)


def text(widget) -> str:
    """What a widget shows."""
    return widget.value


def started(monkeypatch) -> list[list[str]]:
    """The commands that would be started from now on."""
    given = []

    class Fake(Job):
        def __init__(self, arguments, changed):
            given.append(arguments)
            self.status, self.stopped, self.lines, self.progress = 0, False, [], {}
            changed(self)

        def stop(self):
            pass

        def wait(self, seconds=None):
            return 0

    monkeypatch.setattr(buttons, "Job", Fake)
    return given


def test_grading_by_a_button(desk):
    """The class is graded as by the command, with what it says and how far it was on the page."""
    need_isolation()
    seen = []
    desk.status.observe(lambda change: seen.append(change.new), "value")
    desk.made["Grade, feedback and report"].click()
    assert desk.made["Grade"].disabled
    assert desk.job.wait(MINUTES) == 0, desk.job.lines
    assert any(line.startswith("Grading study2: 1 of 1") for line in seen), seen
    assert any(line.startswith("Feedback study2: 1") for line in seen), seen
    assert seen[-1] == "done"
    assert f"{STUDY.assignment}: 1 graded" in text(desk.output)
    assert (desk.folder.root / "reports" / f"{STUDY.assignment}.html").is_file()
    assert not desk.made["Grade"].disabled
    assert "report of" in desk._overview()


def test_stop_is_ctrl_c(desk):
    """A command that is stopped says what Ctrl-C has it say, and how to go on."""
    need_isolation()
    desk.made["Grade"].click()
    end = time.monotonic() + MINUTES
    while not desk.job.progress:
        assert time.monotonic() < end
        time.sleep(0.05)
    desk.stop.click()
    assert desk.job.wait(MINUTES) == 130
    assert text(desk.status) == "stopped"
    assert "the same command continues from there" in text(desk.output)


def test_the_command_stops_with_the_kernel():
    """When the notebook's process is killed, nobody is left who could stop what it started."""
    kernel = subprocess.Popen([sys.executable, "-P", "-c", KERNEL], stdout=subprocess.PIPE,
                              text=True)
    try:
        command = psutil.Process(int(kernel.stdout.readline()))
        kernel.stdout.readline()  # until it is at work
    finally:
        kernel.kill()
        kernel.wait()
        kernel.stdout.close()
    command.wait(MINUTES)


def test_a_refusal_is_one_sentence(desk):
    """Whatever the command says stands on the page, and nothing else."""
    desk.assignment.value = "study3"
    desk.made["Grade"].click()
    assert desk.job.wait(MINUTES) == 2
    line, = desk.job.lines
    assert line.startswith("autograder: study3_type_a has not been released")
    assert text(desk.status) == "not done; it says why below"
    assert "has not been released" in text(desk.output)
    desk.made["Mark written answers"].click()
    assert "has not been released" in text(desk.output)


def test_a_new_release_asks_first(desk, monkeypatch):
    """What was never released is; what was, only after a yes."""
    given = started(monkeypatch)
    course = ["--course", str(desk.folder.root)]
    desk.made["Release"].click()
    assert given == []
    assert "Release it again?" in text(desk.question)
    _, yes, no = desk.ask.children
    no.click()
    yes.click()
    assert given == []
    desk.made["Release"].click()
    yes.click()
    assert given == [["release", "study2", *course]]
    desk.assignment.value = "study3"
    desk.made["Release"].click()
    assert given[1:] == [["release", "study3", *course]]


def test_each_button_runs_its_command(desk, monkeypatch):
    """The same as those that are typed."""
    given = started(monkeypatch)
    desk.format.value = "canvas"
    for name in ("Grade", "Write feedback", "Write report", "Grade, feedback and report", "Export"):
        desk.made[name].click()
    assert [arguments[:-2] for arguments in given] == [
        ["grade", "study2"], ["feedback", "study2"], ["report", "study2"], ["evening", "study2"],
        ["export", "--format", "canvas"]]


def test_late_penalties_by_a_button(desk, monkeypatch):
    """A date and a rule are passed on where they are new; else penalties are only worked out."""
    given = started(monkeypatch)
    button = desk.made["Work out late penalties"]
    button.click()
    desk.due.value, desk.percent.value = "2026-03-02 10:00 UTC", 10
    button.click()
    assert [arguments[:-2] for arguments in given] == [["late", "study2"], [
        "late", "study2", "--due", "2026-03-02 10:00 UTC", "--percent-a-day", "10",
        "--at-most", "100"]]


@pytest.mark.parametrize(("name", "command"), [
    ("Hand out", "hand-out"), ("Hand feedback back", "hand-back")])
def test_what_reaches_students_asks_first(desk, monkeypatch, name, command):
    """Nothing is put into the exchange without a yes, and one yes is for one step."""
    given = started(monkeypatch)
    desk.made[name].click()
    assert given == []
    assert "study2" in text(desk.question)
    desk.assignment.value = "study3"  # after the question
    desk.ask.children[1].click()
    desk.ask.children[1].click()
    assert [arguments[:-2] for arguments in given] == [[command, "study2"]]


def test_through_the_exchange(desk):
    """A study is handed out once; what nbgrader refuses is one sentence; nobody's work is
    collected, and feedback that was not written is not handed back."""
    folder = desk.folder
    assert exchange(folder, STUDY, "hand-out").startswith(f"{STUDY.assignment} is in the exchange")
    assert (folder.exchange() / COURSE_ID / "outbound" / STUDY.assignment / STUDY.module).is_file()
    with pytest.raises(Refused, match=r"^nbgrader did not hand out .* already exists.*"):
        exchange(folder, STUDY, "hand-out")
    assert exchange(folder, STUDY, "collect") == (
        f"collected {STUDY.assignment}; submissions in all: 1, from new students: 0")
    with pytest.raises(Refused, match=r"there is no feedback on .* yet"):
        exchange(folder, STUDY, "hand-back")
    (folder.root / EXCHANGE).rename(folder.root / "away")
    with pytest.raises(Refused, match="is missing"):
        exchange(folder, STUDY, "collect")


def test_the_roster_by_a_button(desk, monkeypatch):
    """What is pasted is kept in a file, which the command reads; an empty field is told of."""
    given = started(monkeypatch)
    desk.made["Put on the roster"].click()
    assert "paste the class into the field" in text(desk.output)
    desk.students.value = "\ufeffUsername;Surname;E-Mail\nada;Lovelace;a@example.org\nben;;\n"
    desk.made["Put on the roster"].click()
    path = desk.folder.root / "roster.csv"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]
    add_roster(desk.folder, load_roster(path))
    with open_gradebook(desk.folder) as gradebook:
        assert [tuple(student)[:4] for student in students_of(gradebook)] == [
            ("ada", None, "Lovelace", "a@example.org"), ("ben", None, None, None)]


def test_a_roster_of_ones_own_is_not_lost(desk, monkeypatch):
    """What is no roster is not kept, and another file of that name is replaced only after a yes."""
    given = started(monkeypatch)
    path = desk.folder.root / "roster.csv"
    path.write_text("id,seminar\nada,3\n", "utf-8")
    for pasted, said in (("name\nada\n", "needs a head"), ("id\nben\n", "")):
        desk.students.value = pasted
        desk.made["Put on the roster"].click()
        assert said in text(desk.output)
        assert path.read_text("utf-8") == "id,seminar\nada,3\n"
        assert not given
    assert "roster.csv" in desk.question.value
    desk.ask.children[1].click()
    assert path.read_text("utf-8") == "id\nben\n"
    assert [arguments[:2] for arguments in given] == [["roster", str(path)]]


def test_a_course_is_set_up_by_a_button(desk, monkeypatch):
    """By the fields as they stand, here or in a new folder beside; nothing that is missing or wrong
    makes a folder, and class and rule are left out where nobody gave them."""
    given, root = started(monkeypatch), desk.folder.root
    button = desk.made["Set the course up"]
    button.click()
    assert "choose the day" in text(desk.output)
    desk.first_day.value, desk.weeks.value = date(2027, 1, 11), 10
    button.click()
    plan = ["plan", "10", "--first-day", "2027-01-11"]
    assert given == [[*plan, "--course", str(root)]]
    for name, pasted in (("../away", ""), ("..", ""), ("next", "name\nada\n")):
        desk.place.value, desk.students.value = name, pasted
        button.click()
        assert not (root.parent / "next").exists()
    desk.students.value, desk.percent.value = "id\nada\n", 10
    button.click()
    beside = root.parent / "next"
    assert CourseFolder.open(beside)
    assert given[1:] == [[*plan, "--percent-a-day", "10", "--at-most", "100", "--roster",
                          str(beside / "roster.csv"), "--course", str(beside)]]


def test_a_new_course_begins_with_the_wizard(desk, tmp_path):
    """It is unfolded where nothing was released yet, and folded away later."""
    assert desk.wizard.selected_index is None
    assert Desk(CourseFolder.create(tmp_path / "new")).wizard.selected_index == 0


def test_a_roster_that_is_none_leaves_no_course(tmp_path):
    """The file is read before a folder is made."""
    path = tmp_path / "roster.csv"
    path.write_text("name\nada\n", "utf-8")
    done = CliRunner().invoke(app, ["roster", str(path), "--course", str(tmp_path / "course")])
    assert done.exit_code != 0
    assert "needs a head" in done.stderr
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(("table", "said"), [
    ("", "needs a head with a column id"), ("name\nada\n", "needs a head with a column id"),
    ("id\n../ada\n", "line 2 of the roster: '../ada' cannot be"),
    ("id,first_name\nada,A\n,B\n", "line 3 of the roster: '' cannot be"),
    ("id\nada\nada\n", "line 3 of the roster: ada is there twice"),
    ("\n\nid\nada\n\n\n..\n", "line 7 of the roster: '..' cannot be"),
    ("id,first\nada,\"Ada\nben,Ben\n", "from line 2 on the roster is no table"),
    ("id,first\nada,\"A\nda\"\n", "'A.nda' has a line break"),
    ("id\n" + 129 * "a", "line 2 of the roster: 'a+' cannot be"),
    ("id,username\n1,ada\n", "two columns for the same thing in its head 'id,username'")])
def test_a_roster_that_is_none_is_refused(table, said):
    """In a sentence that names the line."""
    with pytest.raises(Refused, match=said):
        read_roster(table)


@pytest.mark.parametrize("table", [
    b"\xef\xbb\xbfid,first\r\n\r\nada,Ada\r\n", b"id;first\nada;Ada\n;\n \n",
    b"id\tfirst\rada\tAda\r"])
def test_a_roster_may_be_written_by_any_program(tmp_path, table):
    """Marks of byte order, ends of lines, blank lines and lines of blank cells are no students."""
    path = tmp_path / "roster.csv"
    path.write_bytes(table)
    assert load_roster(path) == [{"id": "ada", "first_name": "Ada"}]


def test_a_roster_from_canvas():
    """Its column Student is a name, beside the ID; alone such a column is the id."""
    assert read_roster("Student,ID,Section\n\"Lovelace, Ada\",ada,1\n") == [{"id": "ada"}]
    assert read_roster("Student\nada\n") == [{"id": "ada"}]


def test_marking_is_shown_below(desk):
    """The page for written answers, of the assignment that is chosen."""
    desk.made["Mark written answers"].click()
    marking, = desk.below.children
    assert marking.shown["questions"][0]["notebook"] == "02_alpha_beta"


def test_what_a_command_says_is_no_html(desk, monkeypatch):
    """Problems quote what students wrote."""
    job = type("Done", (), {"status": 0, "stopped": False, "progress": {},
                            "lines": ["<script>attack()</script>"]})
    desk._changed(job)
    assert "<script" not in text(desk.output)
    job = type("Going", (), {"status": None, "lines": [], "progress": {
        "what": "Grading", "done": 1, "total": 4, "left": 120.0, "note": "<b>"}})
    desk._changed(job)
    assert text(desk.status) == "Grading: 1 of 4, 2 min left. &lt;b&gt;"
    assert (desk.bar.value, desk.bar.max) == (1, 4)


def test_the_desk_is_shown_in_a_notebook(desk, monkeypatch):
    """A table that any page shows, the buttons below it, and what is said when they are gone."""
    shown = []
    monkeypatch.setattr(displaypub.DisplayPublisher, "publish",
                        lambda self, data, **more: shown.append(data))
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    desk.show()
    table, box, words = shown
    assert STUDY.assignment in table.data
    assert box[WIDGET]["model_id"] == desk.box.model_id
    assert buttons.AGAIN in words["text/html"]
