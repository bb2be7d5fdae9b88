"""The exchange for a class: one student's odd folder is no reason to stop the others."""

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

from autograder.commands.exchange import BY_EXCHANGE, exchange
from autograder.course_folder import COURSE_ID, CourseFolder
from autograder.errors import Refused
from autograder.grading.handed_in import look_at
from autograder.tests.support.exchange import ignore_exchange_warnings
from course.probes import load_study

pytestmark = ignore_exchange_warnings
STUDY = load_study("study2")


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A course with a release, and nothing in it."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(STUDY.assignment).mkdir(parents=True)
    return folder


def page_of(folder: CourseFolder, student: str, *files: str) -> Path:
    """Write a student's page of feedback, beside it what is named; returns the page."""
    place = folder.root / "feedback" / student / STUDY.assignment
    place.mkdir(parents=True)
    for name in files:
        (place / name).write_text(f"2026-03-02 10:00:00 UTC {student}", "utf-8")
    page = place / "02_alpha_beta.html"
    page.write_text(student, "utf-8")
    return page


def handed_back(folder: CourseFolder) -> list[str]:
    """Whose pages are in the exchange."""
    return sorted(
        path.read_text("utf-8")
        for path in (folder.exchange() / COURSE_ID / "feedback").glob("*.html")
    )


def test_who_did_not_submit_through_the_exchange_is_named(folder):
    """The others' pages are released, whoever comes first."""
    page_of(folder, "ann")
    page_of(folder, "bob", *BY_EXCHANGE)
    page_of(folder, "cy", BY_EXCHANGE[0])
    page_of(folder, "dan", *BY_EXCHANGE)
    with pytest.raises(Refused, match=r"students: 2; nothing arrived for ann, cy: .* through"):
        exchange(folder, STUDY, "hand-back")
    assert handed_back(folder) == ["bob", "dan"]


def place_of(folder: CourseFolder, page: Path, name: str) -> Path:
    """Where a student looks in the exchange for the page of a notebook of this name."""
    secret = (page.parent / "submission_secret.txt").read_text("utf-8")
    return (
        folder.exchange()
        / COURSE_ID
        / "feedback"
        / (notebook_hash(secret=secret, notebook_id=name) + ".html")
    )


def test_only_what_arrived_counts(folder):
    """Whatever nbgrader reports: here it moves a page into a folder that is in the way."""
    page = page_of(folder, "ann", *BY_EXCHANGE)
    place_of(folder, page, page.stem).mkdir(parents=True)
    page_of(folder, "bob", *BY_EXCHANGE)
    with pytest.raises(Refused, match=r"students: 1; nothing arrived for ann: nbgrader did not r"):
        exchange(folder, STUDY, "hand-back")
    assert "bob" in [
        path.read_text("utf-8")
        for path in (folder.exchange() / COURSE_ID / "feedback").glob("*.html")
        if path.is_file()
    ]


def submitted(folder: CourseFolder, student: str, *names: str) -> None:
    """Files of a submission, as they were collected."""
    place = folder.submission(STUDY.assignment, student)
    place.mkdir(parents=True)
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("{}", "utf-8")


@pytest.mark.parametrize("names", [(STUDY.module,), ("deep/02_alpha_beta.ipynb",), ()])
def test_who_submitted_no_notebook_is_named(folder, names):
    """nbgrader looks for pages by the notebooks that were submitted, so none would be found."""
    page_of(folder, "ann", *BY_EXCHANGE)
    submitted(folder, "ann", *names)
    page_of(folder, "bob", *BY_EXCHANGE)
    submitted(folder, "bob", "02_alpha_beta.ipynb")
    with pytest.raises(Refused, match=r"students: 1; nothing arrived for ann: .*there was none"):
        exchange(folder, STUDY, "hand-back")
    assert handed_back(folder) == ["bob"]


def test_a_renamed_notebook_without_its_page_is_named(folder):
    """Pages that were written before the notebook was handed in are not found by its name."""
    page = page_of(folder, "ann", *BY_EXCHANGE)
    submitted(folder, "ann", "mine.ipynb")
    (folder.release(STUDY.assignment) / "02_alpha_beta.ipynb").write_text("{}", "utf-8")
    with pytest.raises(Refused, match=r"students: 0; nothing arrived for ann: .* no page of mine"):
        exchange(folder, STUDY, "hand-back")
    shutil.copy(page, page.with_name("mine.html"))
    assert exchange(folder, STUDY, "hand-back").endswith("students: 1")
    assert place_of(folder, page, "mine").read_text("utf-8") == "ann"


def test_feedback_that_can_be_handed_back_to_nobody_is_refused(folder):
    """A class that handed in on paper is not told that all is well."""
    page_of(folder, "ann")
    with pytest.raises(Refused, match="students: 0; nothing arrived for ann"):
        exchange(folder, STUDY, "hand-back")


def test_what_stopped_nbgrader_is_the_reason(folder, monkeypatch):
    """Not the last line of what it was doing: of a full disk its log says nothing."""
    stopped = {
        "success": False,
        "log": "[INFO] Destination: there",
        "error": "Traceback\nOSError: [Errno 28] No space left on device",
    }
    monkeypatch.setattr(NbGraderAPI, "release_assignment", lambda *arguments: stopped)
    with pytest.raises(Refused, match=r"did not hand out .*: OSError: \[Errno 28\] No space left"):
        exchange(folder, STUDY, "hand-out")


# ---- Collecting


def hand_in(folder: CourseFolder, name: str, text: str = "mine") -> Path:
    """Put a submission into the exchange by hand, as a student can, under a name like nbgrader's;
    returns its folder."""
    inbound = folder.exchange() / COURSE_ID / "inbound"
    inbound.mkdir(parents=True, exist_ok=True)
    place = inbound / name
    place.mkdir()
    (place / STUDY.module).write_text(text, "utf-8")
    (place / "timestamp.txt").write_text(name.split("+")[2], "utf-8")
    return place


def named(student: str, hour: int = 10) -> str:
    """A name of a submission as nbgrader gives it."""
    return f"{student}+{STUDY.assignment}+2026-03-02 {hour}:00:00 UTC+random"


@pytest.fixture
def released(folder) -> CourseFolder:
    """Such a course, with a gradebook."""
    with Gradebook(folder.config().CourseDirectory.db_url) as gradebook:
        gradebook.add_assignment(STUDY.assignment)
    return folder


def test_collecting_follows_no_link(released, tmp_path):
    """Whoever collects can read the answers: a link to one stays a link, which does not count."""
    secret = tmp_path / "answer.py"
    secret.write_text("the answer", "utf-8")
    (tmp_path / "answers").mkdir()
    shutil.copy(secret, tmp_path / "answers")
    place = hand_in(released, named("ann"))
    (place / STUDY.module).unlink()
    (place / STUDY.module).symlink_to(secret)
    (place / "folder").symlink_to(tmp_path / "answers")
    (place / "deep").mkdir()
    (place / "deep" / "link.py").symlink_to(secret)
    (place / "deep" / "own.py").write_text("mine", "utf-8")
    os.mkfifo(place / "fifo")
    hand_in(released, named("bob"))
    assert "from new students: 2" in exchange(released, STUDY, "collect")
    ann = released.submission(STUDY.assignment, "ann")
    real = {
        path.relative_to(ann).as_posix(): path.read_text("utf-8")
        for path in ann.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    assert real == {"timestamp.txt": "2026-03-02 10:00:00 UTC", "deep/own.py": "mine"}
    told = [*look_at(ann, STUDY, released.release(STUDY.assignment)).problems()]
    assert sum("is a link and was ignored" in line for line in told) == 3
    assert (released.submission(STUDY.assignment, "bob") / STUDY.module).read_text() == "mine"


def make(place: Path, kind: str, name: str, secret: Path) -> None:
    """Make something that a student can make."""
    path = place / name
    if kind == "deep":
        at = os.open(place, os.O_RDONLY)
        for _ in range(1200):  # deeper than any path can name
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
def test_nothing_that_a_student_makes_brings_an_answer_or_stops_others(released, tmp_path, made):
    """Whatever lies in a folder of the exchange, under whatever names."""
    for folder in (released.exchange() / COURSE_ID / "inbound", released.root / "submitted"):
        subprocess.run(["rm", "-rf", folder], check=True)
    secret = tmp_path / "staff" / "answer.py"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("the answer", "utf-8")
    place = hand_in(released, named("ann"))
    (place / STUDY.module).unlink()
    for name, kind in made.items():
        with contextlib.suppress(OSError):  # a name that is too long in bytes
            make(place, kind, name, secret)
    hand_in(released, named("bob"))
    said = exchange(released, STUDY, "collect")
    assert all(line.isprintable() for line in said.splitlines())
    assert (released.submission(STUDY.assignment, "bob") / STUDY.module).read_text() == "mine"
    collected = released.submission(STUDY.assignment, "ann")
    for root, _, files, at in os.fwalk(collected) if collected.is_dir() else ():
        for name in files:
            if stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                assert Path(root, name).read_bytes() != b"the answer"
    subprocess.run(["rm", "-rf", place], check=True)


def test_a_link_that_comes_while_files_are_copied_is_not_followed(released, tmp_path, monkeypatch):
    """Between the look and the copy the student may put a link in the file's place."""
    secret = tmp_path / "answer.py"
    secret.write_text("the answer", "utf-8")
    place = hand_in(released, named("ann"))
    look = os.stat

    def looked(path, *arguments, **options):
        found = look(path, *arguments, **options)
        if path == STUDY.module and not (place / STUDY.module).is_symlink():
            (place / STUDY.module).unlink()
            (place / STUDY.module).symlink_to(secret)
        return found

    monkeypatch.setattr(os, "stat", looked)
    said = exchange(released, STUDY, "collect")
    assert (place / STUDY.module).is_symlink()
    assert f"{STUDY.module} was not collected" in said
    assert not (released.submission(STUDY.assignment, "ann") / STUDY.module).exists()


def test_nobody_hands_in_for_a_classmate(released, monkeypatch):
    """The newest of a student's own counts, however new what others made in that name is."""
    me = pwd.getpwuid(os.geteuid()).pw_name
    hand_in(released, named(me, 9), "older")
    hand_in(released, named(me, 10))
    hand_in(released, named("ann", 11), "forged")
    monkeypatch.setattr(os, "geteuid", lambda: -1)  # as if somebody else collected
    said = exchange(released, STUDY, "collect")
    assert "from new students: 1" in said
    assert f"ann+{STUDY.assignment}+2026-03-02 11:00:00 UTC+random was not collected" in said
    assert (released.submission(STUDY.assignment, me) / STUDY.module).read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    [
        f"x+{STUDY.assignment}+yesterday+random",
        f"x+{STUDY.assignment}+",
        f"\x1b[2J+{STUDY.assignment}+soon+random",
    ],
)
def test_an_odd_name_stops_nobody(released, name):
    """Every student can make one, and nothing in it reaches a terminal."""
    hand_in(released, named("ann"))
    hand_in(released, name)
    (released.exchange() / COURSE_ID / "inbound" / named("file")).touch()
    said = exchange(released, STUDY, "collect")
    assert "from new students: 1" in said and said.count("was not collected") == 2
    assert said.isprintable() or set(filter(lambda c: not c.isprintable(), said)) == {"\n"}
    assert [path.name for path in (released.root / "submitted").iterdir()] == ["ann"]
