"""A disk that fills, a gradebook that is locked or read-only: told, and nothing is lost.

The database refuses by itself, at a moment drawn at random, and what was not refused must stand.
"""

import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import event
from sqlalchemy.engine import Engine
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.commands.progress import tell_grades
from autograder.course_folder import CourseFolder
from autograder.errors import is_for_all, of_the_machine
from autograder.grading import submission as grading
from autograder.grading.batch import grade
from autograder.grading.ledger import FaultForAll, Graded, note_fault, standing
from autograder.release.assignments import release
from autograder.telling.export import read_marks
from autograder.telling.feedback import write_feedback
from autograder.telling.report import look_at
from autograder.tests.support.classes import (
    CHECK,
    MODULES,
    STUDY,
    config,
    gradebook,
    hand_in,
    ledger,
    score,
)
from autograder.tests.support.needs import need_isolation

pytestmark = pytest.mark.xdist_group("faults")
STUDENTS = ("ann", "bob")
STATEMENTS = 40  # of those that the database is sent for a submission


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> CourseFolder:
    """A course with two submissions; its gradebook is not waited for."""
    need_isolation()
    folder = CourseFolder.create(tmp_path_factory.mktemp("faults") / "course")
    release(folder, STUDY)
    for student in STUDENTS:
        hand_in(folder, student, MODULES["reference"])
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        # Small pages, with those of the students full: one more student needs another page.
        database.executescript("PRAGMA page_size = 512; VACUUM; PRAGMA max_page_count = 1")
        with suppress(sqlite3.OperationalError):
            for number in range(1000):
                database.execute("INSERT INTO student (id) VALUES (?)", (f"{number:03}",))
                database.commit()
    config(
        folder,
        'c.CourseDirectory.db_url = c.CourseDirectory.db_url.partition("?")[0] + "?timeout=0"\n',
    )
    return folder


@pytest.fixture
def course(released, tmp_path) -> CourseFolder:
    """A copy of it."""
    return CourseFolder.open(shutil.copytree(released.root, tmp_path / "course"))


def grade_both(folder: CourseFolder, students=STUDENTS) -> dict[str, Graded]:
    """Grade in this process, and note faults as `grade` does."""
    found = {}
    with grading.grader(folder, STUDY, False) as grade_one:
        for student in students:
            found[student] = grade_one(student)
            note_fault(folder.results(STUDY.assignment, student), found[student])
    return found


def lock(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Another program begins to write; whether it can."""
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True


def write_protect(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Nothing can be written from here on."""
    connection.execute("PRAGMA query_only = ON")
    return True


def fill(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """The file cannot grow by a page."""
    connection.execute("PRAGMA max_page_count = 1")
    return True


REFUSALS = {"locked": lock, "read-only": write_protect, "full": fill}


@contextmanager
def refused(folder: CourseFolder, refuse: Callable, moment: int) -> Iterator[None]:
    """From statement number `moment` on, the gradebook refuses."""
    count, done = 0, False
    with closing(
        sqlite3.connect(folder.root / "gradebook.db", timeout=0, isolation_level=None)
    ) as other:

        def before(connection, *_) -> None:
            nonlocal count, done
            count += 1
            if count >= moment and not done:
                done = refuse(connection.connection.driver_connection, other)

        event.listen(Engine, "before_cursor_execute", before)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", before)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REFUSALS)
def test_a_gradebook_that_refuses_at_any_moment_loses_nothing(
    released, no_canaries, tmp_path, kind
):
    """What is told as graded is in the gradebook, the others are faults; then the same goes on."""
    draw, faults = random.Random(kind), 0
    for number in range(20):
        folder = CourseFolder.open(shutil.copytree(released.root, tmp_path / str(number)))
        with refused(folder, REFUSALS[kind], draw.randrange(STATEMENTS)):
            try:
                first = grade_both(folder, ["ann"])
            except Exception as error:  # refused at the opening
                assert of_the_machine(error)
                first = {}
        for student, result in first.items():
            if result.status == "graded":
                assert score(folder, student) == CHECK.max_points
            else:
                faults += 1
                assert result.status == "fault"
                assert "the gradebook of " in result.problems[-1]
                assert standing(folder, STUDY.assignment, student)["status"] == "fault"
        done = "ann" in first and first["ann"].status == "graded"
        assert grade_both(folder, ["ann"])["ann"].status == ("unchanged" if done else "graded")
        assert score(folder, "ann") == CHECK.max_points
    assert faults > 0


@pytest.mark.parametrize(
    ("error", "others"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EROFS, "read-only"), True),
        (OSError(errno.EACCES, "forbidden"), True),
        (OSError(errno.ENOENT, "none"), False),
        (OSError(errno.EISDIR, "a folder"), False),
        (ValueError("odd"), False),
    ],
)
def test_which_faults_are_for_all(tmp_path, monkeypatch, error, others):
    """Where a shared folder cannot be written, and where a disk is full; not one odd file."""
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    assert is_for_all(error, [tmp_path]) == others
    wrapped = RuntimeError("while grading")
    wrapped.__cause__ = error
    assert is_for_all(wrapped, [tmp_path]) == others
    if error.args[0] in (errno.EROFS, errno.EACCES):
        assert not is_for_all(error, [tmp_path / "another"])  # it is one submission's folder


@pytest.mark.parametrize(
    ("statement", "others"),
    [
        ("INSERT INTO t VALUES (1)", True),
        ("SELECT * FROM nothing", False),
        ("INSERT INTO t VALUES (1, 2)", False),
    ],
)
def test_a_database_that_refuses_is_for_all_and_a_question_that_is_odd_is_not(
    tmp_path, statement, others
):
    """A lock holds everybody; what one submission makes us ask does not."""
    with closing(sqlite3.connect(tmp_path / "book.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE t (a)")
        database.execute("BEGIN IMMEDIATE")
        engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'book.db'}?timeout=0")
        with (
            engine.connect() as other,
            pytest.raises(sqlalchemy.exc.OperationalError) as error,
        ):
            other.execute(sqlalchemy.text(statement))
        engine.dispose()
    assert is_for_all(error.value) == others


@pytest.mark.slow
def test_a_lock_that_stays_costs_one_submission_its_time(course):
    """The rest is left, in one sentence, and the same command grades it when the lock is gone."""
    for student in ("cy", "dan"):
        hand_in(course, student, MODULES["reference"])
    with closing(
        sqlite3.connect(course.root / "gradebook.db", timeout=0, isolation_level=None)
    ) as other:

        def lock_it(result: Graded) -> None:
            if result.student == "ann":
                other.execute("BEGIN IMMEDIATE")

        graded = {result.student: result for result in grade(course, STUDY, jobs=1, done=lock_it)}
        assert [graded[name].status for name in ("ann", "bob", "cy", "dan")] == [
            "graded",
            "fault",
            "left",
            "left",
        ]
        assert "database is locked" in graded["bob"].problems[-1]
        assert not course.results(STUDY.assignment, "cy").exists()
        result = CliRunner().invoke(app, ["export", "--course", str(course.root)])
        assert "cy (not graded)" in result.stderr
    again = {result.student: result.status for result in grade(course, STUDY, jobs=1)}
    assert again == {"ann": "unchanged", "bob": "graded", "cy": "graded", "dan": "graded"}


def test_what_is_left_is_told_in_one_sentence(course, capsys):
    """However many are left."""
    tell_grades(
        course,
        STUDY,
        [
            FaultForAll("s0", "fault", ("the disk of / is full",)),
            *(Graded(f"s{number}", "left") for number in range(1, 40)),
        ],
    )
    said = capsys.readouterr()
    assert "39 submissions are left for the same command later" in said.err
    assert len(said.err.strip().splitlines()) == 2
    assert "1 fault, 39 left" in said.out


# ---- The gradebook is the truth


def put_older_back(folder: CourseFolder, older: Path) -> None:
    """The gradebook of a backup."""
    shutil.copyfile(older, folder.root / "gradebook.db")


def remove(folder: CourseFolder, older: Path) -> None:
    """A student taken off the roster, with all marks, and put there again."""
    with gradebook(folder) as book:
        book.remove_student("ann")
        book.add_student("ann", first_name="Ann")


def overwrite(folder: CourseFolder, older: Path) -> None:
    """Another number where ours was."""
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        database.execute(
            "UPDATE grade SET auto_score = 1 WHERE auto_score = ?", (CHECK.max_points,)
        )
        database.commit()


@pytest.mark.parametrize("change", [put_older_back, remove, overwrite])
def test_marks_that_are_not_in_the_gradebook_are_given_again(course, no_canaries, change):
    """The ledger alone makes nobody "unchanged"; until then the export says what is wrong."""
    older = shutil.copyfile(course.root / "gradebook.db", course.root / "older.db")
    assert {r.status for r in grade_both(course).values()} == {"graded"}
    change(course, older)
    (column,) = read_marks(course).columns
    assert "ann" in {**column.unmarked, **column.doubtful}
    assert "again" in {**column.unmarked, **column.doubtful}["ann"]
    assert grade_both(course)["ann"].status == "graded"
    assert {r.status for r in grade_both(course).values()} == {"unchanged"}
    assert [score(course, student) for student in STUDENTS] == [CHECK.max_points] * 2
    (column,) = read_marks(course).columns
    assert not column.unmarked and not column.doubtful


def test_a_persons_points_are_not_taken_for_a_change(course, no_canaries):
    """Points and extra credit that somebody gives in formgrader start no grading."""
    grade_both(course)
    with gradebook(course) as book:
        grade = book.find_submission(STUDY.assignment, "ann").notebooks[0].grades[0]
        grade.manual_score, grade.extra_credit = 3, 2
        book.db.commit()
    assert {r.status for r in grade_both(course).values()} == {"unchanged"}


def test_a_regrade_that_fails_leaves_the_marks_that_are_booked(course, no_canaries, monkeypatch):
    """Marked once and not again is told, and counts as what it was, not as nothing."""
    grade_both(course)
    hand_in(course, "ann", MODULES["stub"])

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(grading, "_autograde", fail)
        assert grade_both(course)["ann"].status == "fault"
    assert not ledger(course, "ann").exists()
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == CHECK.max_points
    assert "the last time" in column.doubtful["ann"]
    assert grade_both(course)["ann"].status == "graded"
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == 0
    assert not column.doubtful


# ---- Sentences


COMMANDS = {
    "grade": ["grade", "study2", "--jobs", "1"],
    "report": ["report", "study2"],
    "export": ["export"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_gradebook_that_is_none_is_told(course, command):
    """A file that is no database ends the command with a sentence that names it."""
    (course.root / "gradebook.db").write_text("something else " * 100, "utf-8")
    result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
    assert result.exit_code == 2
    assert "the gradebook" in result.stderr
    assert "file is not a database" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "command", [COMMANDS["report"], COMMANDS["export"]], ids=["report", "export"]
)
def test_a_folder_that_cannot_be_made_is_told(course, no_canaries, command):
    """A file in the way of a folder is named."""
    (course.root / "reports").write_text("in the way", "utf-8")
    result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
    assert result.exit_code == 2
    assert str(course.root / "reports") in result.stderr


NUMBERS = sorted(set(errno.errorcode) - {errno.EPIPE, errno.ESHUTDOWN})


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: errno.errorcode[number])
def test_every_error_of_the_system_is_one_sentence(monkeypatch, course, number):
    """Whatever the system refuses, a command names the file or the disk, and ends."""

    def fail(*arguments):
        raise OSError(number, os.strerror(number), "/some/file")

    monkeypatch.setattr(CourseFolder, "open", fail)
    result = CliRunner().invoke(app, ["export", "--course", str(course.root)])
    assert result.exit_code == 2
    assert "/some/file" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="mounts a file system of Linux")
@pytest.mark.parametrize("room", [0, 50_000, 100_000])
def test_a_full_disk_is_told_and_left_behind(released, no_canaries, tmp_path, room):
    """With little room or none, each submission is graded or a fault; with room it goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    ).returncode:
        pytest.skip("only root can mount a disk to fill it")
    try:
        folder = CourseFolder.open(shutil.copytree(released.root, disk / "course"))
        with (disk / "filler").open("wb", buffering=0) as filler:
            filler.write(bytes(shutil.disk_usage(disk).free - room))
        result = CliRunner().invoke(app, ["grade", "study2", "--course", str(folder.root)])
        assert result.exit_code in ((0, 1, 2) if room else (1, 2))
        assert "Traceback" not in result.stderr
        if result.exit_code:
            assert f"the disk of {folder.root}" in result.stderr
        else:
            assert [score(folder, student) for student in STUDENTS] == [CHECK.max_points] * 2
        for command in (COMMANDS["report"], COMMANDS["export"]):
            done = CliRunner().invoke(app, [*command, "--course", str(folder.root)])
            assert done.exit_code in (0, 2)
            assert done.exception is None or isinstance(done.exception, SystemExit)
        (disk / "filler").unlink()
        assert {r.status for r in grade_both(folder).values()} <= {"graded", "unchanged"}
        assert [score(folder, student) for student in STUDENTS] == [CHECK.max_points] * 2
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize(
    ("free", "said"),
    [(50_000, "the disk of {} is full; "), (50_000_000, "the gradebook of {} cannot be used: ")],
)
def test_a_database_on_a_full_disk_is_a_full_disk(tmp_path, monkeypatch, free, said):
    """Whatever SQLite calls it: one worker that cannot write leaves its lock to the next."""
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    for why in ("database is locked", "disk I/O error", "database or disk is full"):
        told = of_the_machine(sqlite3.OperationalError(why), tmp_path)
        assert told.startswith(said.format(tmp_path))


@pytest.mark.parametrize(
    ("error", "free", "said"),
    [
        ((errno.ENOSPC, "full", "from", None, "to"), 50_000, "the disk of to is full; "),
        ((errno.ENOSPC, "full"), 50_000, "the disk of /"),
        ((errno.ENOSPC, "full"), 50_000_000, "a disk is full; "),
    ],
)
def test_no_disk_is_named_that_has_room(monkeypatch, error, free, said):
    """An error of a copy names the copy; one of a write names nothing, and we do not guess."""
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    assert of_the_machine(OSError(*error)).startswith(said)


def test_a_roster_on_a_full_disk_is_one_sentence(released, tmp_path, monkeypatch):
    """nbgrader tells of the database's refusal by an error of its own."""
    from nbgrader.api import Gradebook, InvalidEntry

    def refuse(*arguments, **fields):
        try:
            raise sqlalchemy.exc.OperationalError("INSERT", {}, None) from sqlite3.OperationalError(
                "database or disk is full"
            )
        except sqlalchemy.exc.OperationalError as error:
            raise InvalidEntry(*error.args)  # noqa: B904 - as nbgrader does

    monkeypatch.setattr(Gradebook, "update_or_create_student", refuse)
    table = tmp_path / "class.csv"
    table.write_text("id\nzoe\n", "utf-8")
    done = CliRunner().invoke(app, ["roster", str(table), "--course", str(released.root)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "database or disk is full; when that is mended" in done.stderr


# ---- What is not there


def remove_gradebook(folder: CourseFolder) -> None:
    """Somebody deletes the file."""
    (folder.root / "gradebook.db").unlink()


def empty_gradebook(folder: CourseFolder) -> None:
    """As some program leaves it that only looked."""
    (folder.root / "gradebook.db").write_bytes(b"")


def forget_assignment(folder: CourseFolder) -> None:
    """A gradebook from before the release is put back."""
    with gradebook(folder) as book:
        book.remove_assignment(STUDY.assignment)


@pytest.mark.slow
@pytest.mark.parametrize("lose", [remove_gradebook, empty_gradebook, forget_assignment])
def test_a_gradebook_that_is_gone_is_told_by_every_command(course, no_canaries, lose):
    """In one sentence, and none of them makes a new one; after a release, marks are given again."""
    grade_both(course)
    lose(course)
    size = [path.stat().st_size for path in course.root.glob("gradebook.db")]
    for command in (*COMMANDS.values(), ["feedback", "study2"]):
        result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
        assert result.exit_code == 2
        assert "although submissions were graded: put a copy of it back, or" in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert [path.stat().st_size for path in course.root.glob("gradebook.db")] == size
    (course.root / "gradebook.db").unlink(missing_ok=True)
    release(course, STUDY)
    assert {result.status for result in grade_both(course).values()} == {"graded"}
    assert [score(course, student) for student in STUDENTS] == [CHECK.max_points] * 2


@pytest.mark.slow
def test_marks_stand_when_nothing_follows(course, no_canaries):
    """Whoever hands in an empty folder after graded work keeps its marks, and is told so."""
    grade_both(course)
    handed_in = course.submission(STUDY.assignment, "ann")
    shutil.rmtree(handed_in)
    handed_in.mkdir()
    for status in ("nothing to grade", "unchanged"):
        assert grade_both(course)["ann"].status == status
        (column,) = read_marks(course).columns
        assert column.marks["ann"].score == score(course, "ann") == CHECK.max_points
        assert "so the marks of the submission before it stand" in column.doubtful["ann"]
        row = next(row for row in look_at(course, STUDY).rows if row.student == "ann")
        assert row.score == CHECK.max_points
        assert any("the submission before it" in reason for reason in row.reasons)
    pages = {page.student: page for page in write_feedback(course, STUDY)}
    assert pages["ann"].problem is None
    (page,) = pages["ann"].folder.glob("*.html")
    assert "so the marks of the submission before it stand." in page.read_text("utf-8")
    hand_in(course, "ann", MODULES["stub"])
    assert grade_both(course)["ann"].status == "graded"
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == 0
    assert not column.doubtful
    write_feedback(course, STUDY)
    assert "before it stand" not in page.read_text("utf-8")
