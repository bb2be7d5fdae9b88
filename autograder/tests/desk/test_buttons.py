"""The overview's buttons: each runs its command, shows how far it is, and can be stopped."""

import shutil
import subprocess
import sys
import time

import psutil
import pytest
from IPython.core import displaypub

from autograder.course_folder import CourseFolder
from autograder.desk import buttons
from autograder.desk.buttons import Desk
from autograder.desk.jobs import Job
from autograder.release.assignments import release
from autograder.tests.needs import need_isolation
from course.probes import load_study

pytestmark = pytest.mark.xdist_group("buttons")
STUDY = load_study("study2")
MINUTES = 300  # for what has to end by itself
KERNEL = """
from autograder.desk.jobs import Job
import time
job = Job(["doctor", "study3"], lambda job: print("works", flush=True))
print(job._process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> CourseFolder:
    """A course folder with a study and a submission; nobody changes it."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("released") / "course")
    release(folder, STUDY)
    shutil.copytree(folder.release(STUDY.assignment), folder.submission(STUDY.assignment, "ada"))
    return folder


@pytest.fixture
def desk(released, tmp_path) -> Desk:
    """The desk of such a course, of one's own."""
    folder = CourseFolder.open(shutil.copytree(released.root, tmp_path / "course"))
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
    """A table that any page shows, and the buttons below it."""
    shown = []
    monkeypatch.setattr(displaypub.DisplayPublisher, "publish",
                        lambda self, data, **more: shown.append(data))
    monkeypatch.setattr(buttons, "display", lambda what, **more: shown.append(what))
    desk.show()
    table, box = shown
    assert STUDY.assignment in table.data
    assert box is desk.box
