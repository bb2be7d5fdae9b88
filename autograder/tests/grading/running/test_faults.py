"""A full disk and a locked or read-only gradebook are reported, and nothing is lost.

The database fails at a random moment, and everything written before must be kept.
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
from autograder.commands.progress import print_grades
from autograder.course_folder import CourseFolder
from autograder.errors import is_fatal, system_error_message
from autograder.grading.records.ledger import FatalError, Graded, current_entry, record_fault
from autograder.grading.run import submission as grading
from autograder.grading.run.batch import grade
from autograder.release.assignments import generate_assignment
from autograder.reporting.export import read_marks
from autograder.reporting.pages.feedback import write_feedback
from autograder.reporting.report import read_class
from autograder.tests.support.courses.classes import (
    CHECK,
    MODULES,
    STUDY,
    config,
    gradebook,
    ledger,
    make_course,
    score,
    submit,
)
from autograder.tests.support.needs import need_isolation

pytestmark = pytest.mark.xdist_group("faults")
STUDENTS = ("ann", "bob")
STATEMENTS = 40  # statements that the database receives for a submission


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course with two submissions; a locked gradebook causes no wait."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("faults") / "course", STUDY)
    for student in STUDENTS:
        submit(folder, student, MODULES["reference"])
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        # The pages are small and full of students, so that one more student needs another page.
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
def course(course_template, tmp_path) -> CourseFolder:
    """A copy of it."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


def grade_both(folder: CourseFolder, students=STUDENTS) -> dict[str, Graded]:
    """Grade in this process, and record faults as `grade` does."""
    found = {}
    with grading.grader(folder, STUDY, False) as grade_one:
        for student in students:
            found[student] = grade_one(student)
            record_fault(folder.results(STUDY.assignment, student), found[student])
    return found


def lock(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Let another program begin to write; return whether it can."""
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True


def write_protect(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Make everything read-only from here on."""
    connection.execute("PRAGMA query_only = ON")
    return True


def fill(connection: sqlite3.Connection, other: sqlite3.Connection) -> bool:
    """Prevent the file from growing by a page."""
    connection.execute("PRAGMA max_page_count = 1")
    return True


REFUSALS = {"locked": lock, "read-only": write_protect, "full": fill}


@contextmanager
def refused(folder: CourseFolder, refuse: Callable, moment: int) -> Iterator[None]:
    """The gradebook fails from statement number `moment` on."""
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
    course_template, no_self_test, tmp_path, kind
):
    """Submissions reported as graded are in the gradebook, and the others are faults; a later run
    continues.
    """
    draw, faults = random.Random(kind), 0
    for number in range(20):
        folder = CourseFolder.open(shutil.copytree(course_template.root, tmp_path / str(number)))
        with refused(folder, REFUSALS[kind], draw.randrange(STATEMENTS)):
            try:
                first = grade_both(folder, ["ann"])
            except Exception as error:  # failed when opening it
                assert system_error_message(error)
                first = {}
        for student, result in first.items():
            if result.status == "graded":
                assert score(folder, student) == CHECK.max_points
            else:
                faults += 1
                assert result.status == "fault"
                assert "the gradebook of " in result.problems[-1]
                assert current_entry(folder, STUDY.assignment, student)["status"] == "fault"
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
    """A read-only shared folder or a full disk affects all students; a single odd file does not."""
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    assert is_fatal(error, [tmp_path]) == others
    wrapped = RuntimeError("while grading")
    wrapped.__cause__ = error
    assert is_fatal(wrapped, [tmp_path]) == others
    if error.args[0] in (errno.EROFS, errno.EACCES):
        assert not is_fatal(error, [tmp_path / "another"])  # it is one submission's folder


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
    """A lock affects all students; an invalid statement for one submission does not."""
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
    assert is_fatal(error.value) == others


@pytest.mark.slow
def test_a_lock_that_stays_costs_one_submission_its_time(course):
    """The rest is skipped with one message, and the same command grades it after the lock is
    released.
    """
    for student in ("cy", "dan"):
        submit(course, student, MODULES["reference"])
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


def test_skipped_submissions_are_reported_in_one_sentence(course, capsys):
    """The message has one sentence for any number of submissions."""
    print_grades(
        course,
        STUDY,
        [
            FatalError("s0", "fault", ("the disk of / is full",)),
            *(Graded(f"s{number}", "left") for number in range(1, 40)),
        ],
    )
    said = capsys.readouterr()
    assert "39 submissions remain: run the same command again later" in said.err
    assert len(said.err.strip().splitlines()) == 2
    assert "1 fault, 39 left" in said.out


# ---- The gradebook decides


def put_older_back(folder: CourseFolder, older: Path) -> None:
    """Restore the gradebook from a backup."""
    shutil.copyfile(older, folder.root / "gradebook.db")


def remove(folder: CourseFolder, older: Path) -> None:
    """Remove a student with all marks from the roster, and add the student again."""
    with gradebook(folder) as book:
        book.remove_student("ann")
        book.add_student("ann", first_name="Ann")


def overwrite(folder: CourseFolder, older: Path) -> None:
    """Overwrite our number."""
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        database.execute(
            "UPDATE grade SET auto_score = 1 WHERE auto_score = ?", (CHECK.max_points,)
        )
        database.commit()


@pytest.mark.parametrize("change", [put_older_back, remove, overwrite])
def test_marks_that_are_not_in_the_gradebook_are_given_again(course, no_self_test, change):
    """A ledger entry alone does not make a student "unchanged"; until then the export reports the
    problem.
    """
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


def test_a_persons_points_are_not_taken_for_a_change(course, no_self_test):
    """Points and extra credit entered in formgrader start no regrade."""
    grade_both(course)
    with gradebook(course) as book:
        grade = book.find_submission(STUDY.assignment, "ann").notebooks[0].grades[0]
        grade.manual_score, grade.extra_credit = 3, 2
        book.db.commit()
    assert {r.status for r in grade_both(course).values()} == {"unchanged"}


def test_a_regrade_that_fails_leaves_the_marks_that_are_booked(course, no_self_test, monkeypatch):
    """A student with marks whose regrade fails is reported and keeps the marks."""
    grade_both(course)
    submit(course, "ann", MODULES["stub"])

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(grading, "_autograde", fail)
        assert grade_both(course)["ann"].status == "fault"
    assert not ledger(course, "ann").exists()
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == CHECK.max_points
    assert "previous grading run" in column.doubtful["ann"]
    assert grade_both(course)["ann"].status == "graded"
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == 0
    assert not column.doubtful


# ---- Messages


COMMANDS = {
    "grade": ["grade", "study2", "--jobs", "1"],
    "report": ["report", "study2"],
    "export": ["export"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_an_invalid_gradebook_is_reported(course, command):
    """A file that is not a database ends the command with a message that names it."""
    (course.root / "gradebook.db").write_text("something else " * 100, "utf-8")
    result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
    assert result.exit_code == 2
    assert "the gradebook" in result.stderr
    assert "file is not a database" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "command", [COMMANDS["report"], COMMANDS["export"]], ids=["report", "export"]
)
def test_a_folder_that_cannot_be_made_is_reported(course, no_self_test, command):
    """A file with the name of a required folder is reported."""
    (course.root / "reports").write_text("in the way", "utf-8")
    result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
    assert result.exit_code == 2
    assert str(course.root / "reports") in result.stderr


NUMBERS = sorted(set(errno.errorcode) - {errno.EPIPE, errno.ESHUTDOWN})


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: errno.errorcode[number])
def test_every_error_of_the_system_is_one_sentence(monkeypatch, course, number):
    """For any system error, a command names the file or the disk, and ends."""

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
def test_a_full_disk_is_reported_and_the_run_can_continue(
    course_template, no_self_test, tmp_path, room
):
    """With little or no space, each submission is graded or a fault; with enough space the run
    continues.
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)],
        check=False,
        capture_output=True,
    ).returncode:
        pytest.skip("only root can mount a disk to fill it")
    try:
        folder = CourseFolder.open(shutil.copytree(course_template.root, disk / "course"))
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
    """Whatever SQLite's error: a worker that cannot write passes its lock to the next one."""
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    for why in ("database is locked", "disk I/O error", "database or disk is full"):
        told = system_error_message(sqlite3.OperationalError(why), tmp_path)
        assert told.startswith(said.format(tmp_path))


@pytest.mark.parametrize(
    ("error", "free", "said"),
    [
        ((errno.ENOSPC, "full", "from", None, "to"), 50_000, "the disk of to is full; "),
        ((errno.ENOSPC, "full"), 50_000, "the disk of /"),
        ((errno.ENOSPC, "full"), 50_000_000, "a disk is full; "),
    ],
)
def test_no_disk_with_free_space_is_named(monkeypatch, error, free, said):
    """An error while copying names the copy; one while writing names no file, and we do not guess."""
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    assert system_error_message(OSError(*error)).startswith(said)


def test_a_roster_on_a_full_disk_is_one_sentence(course_template, tmp_path, monkeypatch):
    """nbgrader reports the database's failure by its own kind of error."""
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
    done = CliRunner().invoke(app, ["roster", str(table), "--course", str(course_template.root)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "database or disk is full; after this is fixed" in done.stderr


# ---- Missing files and records


def remove_gradebook(folder: CourseFolder) -> None:
    """Delete the file."""
    (folder.root / "gradebook.db").unlink()


def empty_gradebook(folder: CourseFolder) -> None:
    """Create an empty file, as a program that only reads can leave it."""
    (folder.root / "gradebook.db").write_bytes(b"")


def forget_assignment(folder: CourseFolder) -> None:
    """Restore a gradebook from before the release."""
    with gradebook(folder) as book:
        book.remove_assignment(STUDY.assignment)


@pytest.mark.slow
@pytest.mark.parametrize("lose", [remove_gradebook, empty_gradebook, forget_assignment])
def test_every_command_reports_a_missing_gradebook(course, no_self_test, lose):
    """No command creates a new one; after a release, marks are given again."""
    grade_both(course)
    lose(course)
    size = [path.stat().st_size for path in course.root.glob("gradebook.db")]
    for command in (*COMMANDS.values(), ["feedback", "study2"]):
        result = CliRunner().invoke(app, [*command, "--course", str(course.root)])
        assert result.exit_code == 2
        assert "although submissions were graded: restore a backup, or" in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert [path.stat().st_size for path in course.root.glob("gradebook.db")] == size
    (course.root / "gradebook.db").unlink(missing_ok=True)
    generate_assignment(course, STUDY)
    assert {result.status for result in grade_both(course).values()} == {"graded"}
    assert [score(course, student) for student in STUDENTS] == [CHECK.max_points] * 2


@pytest.mark.slow
def test_marks_stand_when_nothing_follows(course, no_self_test):
    """A student who submits an empty folder after graded work keeps the marks and gets a message."""
    grade_both(course)
    submitted = course.submission(STUDY.assignment, "ann")
    shutil.rmtree(submitted)
    submitted.mkdir()
    for status in ("nothing to grade", "unchanged"):
        assert grade_both(course)["ann"].status == status
        (column,) = read_marks(course).columns
        assert column.marks["ann"].score == score(course, "ann") == CHECK.max_points
        assert "so the marks of the previous submission are kept" in column.doubtful["ann"]
        row = next(row for row in read_class(course, STUDY).rows if row.student == "ann")
        assert row.score == CHECK.max_points
        assert any("marks of the previous submission are kept" in reason for reason in row.reasons)
    pages = {page.student: page for page in write_feedback(course, STUDY)}
    assert pages["ann"].problem is None
    (page,) = pages["ann"].folder.glob("*.html")
    assert "so the marks of the previous submission are kept." in page.read_text("utf-8")
    submit(course, "ann", MODULES["stub"])
    assert grade_both(course)["ann"].status == "graded"
    (column,) = read_marks(course).columns
    assert column.marks["ann"].score == 0
    assert not column.doubtful
    write_feedback(course, STUDY)
    assert "previous submission are kept" not in page.read_text("utf-8")
