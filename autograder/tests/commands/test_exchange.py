"""The exchange for a class: one student's unusual folder does not block the other students."""

import contextlib
import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.utils import notebook_hash
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.exchange import BY_EXCHANGE, exchange
from autograder.course_folder import CourseFolder
from autograder.course_folder.people import People, Person, write_people
from autograder.course_folder.table import COURSE_ID
from autograder.database import db_url
from autograder.errors import UserError
from autograder.grading.intake.submission_files import list_submission
from autograder.tests.support.courses.exchange import ignore_exchange_warnings
from course.checks import load_study

pytestmark = ignore_exchange_warnings
STUDY = load_study("study2")


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A course with a release and no submissions."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(STUDY.assignment).mkdir(parents=True)
    return folder


def page_of(folder: CourseFolder, student: str, *files: str) -> Path:
    """Write a student's feedback page, and the named files next to it; return the page."""
    place = folder.root / "feedback" / student / STUDY.assignment
    place.mkdir(parents=True)
    for name in files:
        (place / name).write_text(f"2026-03-02 10:00:00 UTC {student}", "utf-8")
    page = place / "02_alpha_beta.html"
    page.write_text(student, "utf-8")
    return page


def handed_back(folder: CourseFolder) -> list[str]:
    """The students whose feedback is in the exchange."""
    return sorted(
        path.read_text("utf-8")
        for path in (folder.exchange() / COURSE_ID / "feedback").glob("*.html")
    )


def test_who_did_not_submit_through_the_exchange_is_named(folder):
    """The other pages are released, whatever the order of the students."""
    page_of(folder, "ann")
    page_of(folder, "bob", *BY_EXCHANGE)
    page_of(folder, "cy", BY_EXCHANGE[0])
    page_of(folder, "dan", *BY_EXCHANGE)
    with pytest.raises(UserError, match=r"students: 2; nothing arrived for ann, cy: .* through"):
        exchange(folder, STUDY, "release-feedback")
    assert handed_back(folder) == ["bob", "dan"]


def test_feedback_is_released_to_a_section(folder):
    """Pages of other sections stay where they are."""
    people = {"ann": Person("A"), "bob": Person("B"), "cy": Person("C")}
    write_people(folder.root, People(people, roster=True))
    page_of(folder, "ann", *BY_EXCHANGE)
    page_of(folder, "bob", *BY_EXCHANGE)
    command = ["release-feedback", STUDY.name, "-c", str(folder.root), "--section"]
    done = CliRunner().invoke(app, [*command, "B"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.strip().endswith("students: 1")
    assert handed_back(folder) == ["bob"]
    done = CliRunner().invoke(app, [*command, "C"])
    assert done.exit_code == 2
    assert "there is no feedback on study2_alpha_beta yet in this section: run" in done.stderr
    done = CliRunner().invoke(app, [*command, "D"])
    assert "there is no section 'D' on the roster" in done.stderr


def place_of(folder: CourseFolder, page: Path, name: str) -> Path:
    """Where a student looks in the exchange for the feedback on a notebook with this name."""
    secret = (page.parent / "submission_secret.txt").read_text("utf-8")
    return (
        folder.exchange()
        / COURSE_ID
        / "feedback"
        / (notebook_hash(secret=secret, notebook_id=name) + ".html")
    )


def test_only_what_arrived_counts(folder):
    """Success is judged by the files: here nbgrader moves a page into a folder that is in the way."""
    page = page_of(folder, "ann", *BY_EXCHANGE)
    place_of(folder, page, page.stem).mkdir(parents=True)
    page_of(folder, "bob", *BY_EXCHANGE)
    with pytest.raises(
        UserError, match=r"students: 1; nothing arrived for ann: nbgrader did not r"
    ):
        exchange(folder, STUDY, "release-feedback")
    assert "bob" in [
        path.read_text("utf-8")
        for path in (folder.exchange() / COURSE_ID / "feedback").glob("*.html")
        if path.is_file()
    ]


def submitted(folder: CourseFolder, student: str, *names: str) -> None:
    """The files of a submission, as collected."""
    place = folder.submission(STUDY.assignment, student)
    place.mkdir(parents=True)
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("{}", "utf-8")


@pytest.mark.parametrize("names", [(STUDY.module,), ("deep/02_alpha_beta.ipynb",), ()])
def test_who_submitted_no_notebook_is_named(folder, names):
    """nbgrader finds pages by the submitted notebooks, so it would find none."""
    page_of(folder, "ann", *BY_EXCHANGE)
    submitted(folder, "ann", *names)
    page_of(folder, "bob", *BY_EXCHANGE)
    submitted(folder, "bob", "02_alpha_beta.ipynb")
    with pytest.raises(
        UserError, match=r"students: 1; nothing .* for ann: .*no notebook was submitted"
    ):
        exchange(folder, STUDY, "release-feedback")
    assert handed_back(folder) == ["bob"]


def test_a_renamed_notebook_without_its_page_is_named(folder):
    """A page written before the notebook was submitted is not found under its name."""
    page = page_of(folder, "ann", *BY_EXCHANGE)
    submitted(folder, "ann", "mine.ipynb")
    (folder.release(STUDY.assignment) / "02_alpha_beta.ipynb").write_text("{}", "utf-8")
    with pytest.raises(
        UserError, match=r"students: 0; nothing arrived for ann: .* no page of mine"
    ):
        exchange(folder, STUDY, "release-feedback")
    shutil.copy(page, page.with_name("mine.html"))
    assert exchange(folder, STUDY, "release-feedback").endswith("students: 1")
    assert place_of(folder, page, "mine").read_text("utf-8") == "ann"


def test_feedback_that_can_be_handed_back_to_nobody_is_refused(folder):
    """A class that submitted on paper does not get a success message."""
    page_of(folder, "ann")
    with pytest.raises(UserError, match="students: 0; nothing arrived for ann"):
        exchange(folder, STUDY, "release-feedback")


def test_what_stopped_nbgrader_is_the_reason(folder, monkeypatch):
    """The reason is the error, not the last line of the log, which may omit a full disk."""
    stopped = {
        "success": False,
        "log": "[INFO] Destination: there",
        "error": "Traceback\nOSError: [Errno 28] No space left on device",
    }
    monkeypatch.setattr(NbGraderAPI, "release_assignment", lambda *arguments: stopped)
    with pytest.raises(UserError, match=r"did not release .*: OSError: \[Errno 28\] No space left"):
        exchange(folder, STUDY, "release")


# ---- Collecting


def submit(folder: CourseFolder, name: str, text: str = "mine") -> Path:
    """Put a submission into the exchange by hand, as a student can, under a name like nbgrader's;
    return its folder.
    """
    inbound = folder.exchange() / COURSE_ID / "inbound"
    inbound.mkdir(parents=True, exist_ok=True)
    place = inbound / name
    place.mkdir()
    (place / STUDY.module).write_text(text, "utf-8")
    (place / "timestamp.txt").write_text(name.split("+")[2], "utf-8")
    return place


def named(student: str, hour: int = 10) -> str:
    """A submission name in nbgrader's format."""
    return f"{student}+{STUDY.assignment}+2026-03-02 {hour}:00:00 UTC+random"


@pytest.fixture
def course(folder) -> CourseFolder:
    """A course with an exchange and a gradebook."""
    with Gradebook(folder.config().CourseDirectory.db_url) as gradebook:
        gradebook.add_assignment(STUDY.assignment)
    return folder


def test_unknown_students_are_reported_and_not_counted(course):
    """The output has the reason why the submission is skipped; the gradebook gets no such student."""
    write_people(course.root, People({"ann": Person()}, roster=True))
    submit(course, named("ann"))
    submit(course, named("zed"))
    done = CliRunner().invoke(app, ["collect", STUDY.name, "-c", str(course.root)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"collected {STUDY.assignment}; submissions in total: 1, from new students: 1",
        "the folder submitted/zed was skipped: zed is not on the roster; import the roster with this "
        "student, or remove the folder",
    ]
    with Gradebook(db_url(course)) as gradebook:
        assert "zed" not in [student.id for student in gradebook.students]


def test_collecting_follows_no_link(course, tmp_path):
    """The collecting user can read the answers, so a link to one stays a link and does not count."""
    secret = tmp_path / "answer.py"
    secret.write_text("the answer", "utf-8")
    (tmp_path / "answers").mkdir()
    shutil.copy(secret, tmp_path / "answers")
    place = submit(course, named("ann"))
    (place / STUDY.module).unlink()
    (place / STUDY.module).symlink_to(secret)
    (place / "folder").symlink_to(tmp_path / "answers")
    (place / "deep").mkdir()
    (place / "deep" / "link.py").symlink_to(secret)
    (place / "deep" / "own.py").write_text("mine", "utf-8")
    os.mkfifo(place / "fifo")
    submit(course, named("bob"))
    assert "from new students: 2" in exchange(course, STUDY, "collect")
    ann = course.submission(STUDY.assignment, "ann")
    real = {
        path.relative_to(ann).as_posix(): path.read_text("utf-8")
        for path in ann.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    assert real == {"timestamp.txt": "2026-03-02 10:00:00 UTC", "deep/own.py": "mine"}
    told = [*list_submission(ann, STUDY, course.release(STUDY.assignment)).problems()]
    assert sum("is a link and was ignored" in line for line in told) == 3
    assert (course.submission(STUDY.assignment, "bob") / STUDY.module).read_text() == "mine"


def make(place: Path, kind: str, name: str, secret: Path) -> None:
    """Create something that a student can create."""
    path = place / name
    if kind == "deep":
        at = os.open(place, os.O_RDONLY)
        for _ in range(1200):  # deeper than any path can reach
            os.mkdir(name, dir_fd=at)
            inner = os.open(name, os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = inner
        os.close(at)
        return
    {
        "link": lambda: path.symlink_to(secret),
        "folder link": lambda: path.symlink_to(secret.parent),
        "loop": lambda: path.symlink_to(path),
        "hard link": lambda: os.link(secret, path),
        "fifo": lambda: os.mkfifo(path),
        "file": lambda: path.write_text("mine"),
        "inside": lambda: (path.mkdir(), (path / "x.py").symlink_to(secret)),
        "none may read": lambda: (path.write_text("mine"), path.chmod(0)),
    }[kind]()


KINDS = st.sampled_from(
    ["link", "folder link", "loop", "hard link", "fifo", "file", "inside", "none may read", "deep"]
)
NAMES = st.one_of(
    st.sampled_from([STUDY.module, "a\nb", "\x1b[2J", "was not collected\n", "\udcff"]),
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
    ).filter(lambda name: name not in (".", "..")),
)


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(NAMES, KINDS, max_size=5))
def test_nothing_that_a_student_makes_brings_an_answer_or_stops_others(course, tmp_path, made):
    """No file or name in an exchange folder discloses an answer or stops the command."""
    for folder in (
        course.exchange() / COURSE_ID / "inbound",
        course.root / "submitted",
    ):
        subprocess.run(["rm", "-rf", folder], check=True)
    secret = tmp_path / "staff" / "answer.py"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("the answer", "utf-8")
    place = submit(course, named("ann"))
    (place / STUDY.module).unlink()
    for name, kind in made.items():
        with contextlib.suppress(OSError):  # a name with too many bytes
            make(place, kind, name, secret)
    submit(course, named("bob"))
    said = exchange(course, STUDY, "collect")
    assert all(line.isprintable() for line in said.splitlines())
    assert (course.submission(STUDY.assignment, "bob") / STUDY.module).read_text() == "mine"
    collected = course.submission(STUDY.assignment, "ann")
    for root, _, files, at in os.fwalk(collected) if collected.is_dir() else ():
        for name in files:
            if stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                assert Path(root, name).read_bytes() != b"the answer"
    subprocess.run(["rm", "-rf", place], check=True)


def test_a_link_that_comes_while_files_are_copied_is_not_followed(course, tmp_path, monkeypatch):
    """A student may replace a file by a link between the check and the copy."""
    secret = tmp_path / "answer.py"
    secret.write_text("the answer", "utf-8")
    place = submit(course, named("ann"))
    look = os.stat

    def looked(path, *arguments, **options):
        found = look(path, *arguments, **options)
        if path == STUDY.module and not (place / STUDY.module).is_symlink():
            (place / STUDY.module).unlink()
            (place / STUDY.module).symlink_to(secret)
        return found

    monkeypatch.setattr(os, "stat", looked)
    said = exchange(course, STUDY, "collect")
    assert (place / STUDY.module).is_symlink()
    assert f"{STUDY.module} was not collected" in said
    assert not (course.submission(STUDY.assignment, "ann") / STUDY.module).exists()


def test_nobody_hands_in_for_a_classmate(course, monkeypatch):
    """The student's newest own submission counts, even if others made newer ones in that name."""
    me = pwd.getpwuid(os.geteuid()).pw_name
    submit(course, named(me, 9), "older")
    submit(course, named(me, 10))
    submit(course, named("ann", 11), "forged")
    monkeypatch.setattr(os, "geteuid", lambda: -1)  # as if another user collected
    said = exchange(course, STUDY, "collect")
    assert "from new students: 1" in said
    assert f"ann+{STUDY.assignment}+2026-03-02 11:00:00 UTC+random was not collected" in said
    assert (course.submission(STUDY.assignment, me) / STUDY.module).read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    [
        f"x+{STUDY.assignment}+yesterday+random",
        f"x+{STUDY.assignment}+",
        f"\x1b[2J+{STUDY.assignment}+soon+random",
    ],
)
def test_an_odd_name_stops_nobody(course, name):
    """Every student can create odd names; no part of them reaches a terminal."""
    submit(course, named("ann"))
    submit(course, name)
    (course.exchange() / COURSE_ID / "inbound" / named("file")).touch()
    said = exchange(course, STUDY, "collect")
    assert "from new students: 1" in said and said.count("was not collected") == 2
    assert said.isprintable() or set(filter(lambda c: not c.isprintable(), said)) == {"\n"}
    assert [path.name for path in (course.root / "submitted").iterdir()] == ["ann"]
