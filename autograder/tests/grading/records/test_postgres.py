"""The gradebook in PostgreSQL: the same marks and pages as in SQLite, and no data loss.

The tests use a real server, which is stopped or disconnects its clients while they work.
"""

import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event
from sqlalchemy.engine import Engine
from typer.testing import CliRunner

from autograder import database, doctor, workspace
from autograder.benchmarks.support.browser.harness import TOKEN, serve
from autograder.benchmarks.support.postgres import PASSWORD, USER, Server
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.database import (
    GradebookUnreachable,
    db_url,
    is_transient,
    sqlite_path,
    wait_for_gradebook,
)
from autograder.errors import UserError
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.grading.run import retry
from autograder.grading.run import submission as grading
from autograder.grading.run.batch import grade
from autograder.grading.run.retry import RetryLater
from autograder.grading.run.workers import TaskFailed
from autograder.release.assignments import assignment_files
from autograder.reporting.export import read_marks
from autograder.reporting.pages.feedback import write_feedback
from autograder.reporting.report import write_report
from autograder.tests.support.courses.classes import (
    MODULES,
    STUDY,
    config,
    graded_by,
    make_course,
    submit,
)
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.postgres import files_with_password
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("postgres")
WITH_EXTRA_CREDIT = load_study("study3")
STUDENTS = ("Bob", "ada", "zoë")  # databases sort these differently


def make_class(root: Path, url: str | None) -> CourseFolder:
    """A course folder with three submitted modules: correct, untouched and wrong."""
    folder = make_course(root, WITH_EXTRA_CREDIT, url=url)
    texts = workspace.module_texts(WITH_EXTRA_CREDIT)
    mutant = min(texts.keys() - {"reference", "stub"})
    for student, module in zip(STUDENTS, ("reference", "stub", mutant), strict=True):
        submit(folder, student, texts[module], study=WITH_EXTRA_CREDIT)
    return folder


# ---- Waiting


@pytest.fixture
def nobody_listens(tmp_path, postgres, monkeypatch) -> CourseFolder:
    """A course whose gradebook server is not running, with a time limit of half a second."""
    monkeypatch.setattr(database, "RETRY_PAUSES", (0.05, 0.1))
    url = re.sub(r":\d+/", ":1/", postgres.new_url())
    folder = make_course(tmp_path / "course", url=url)
    config(folder, "c.GradingStep.gradebook_seconds = 0.5\n")
    return folder


def test_who_waits_for_a_gradebook_says_so_and_stops_in_the_end(nobody_listens, caplog):
    """One message gives the reason and the time; the final one explains how to continue, without
    the password.
    """
    with pytest.raises(GradebookUnreachable) as stopped:
        wait_for_gradebook(nobody_listens)
    (said,) = (record.getMessage() for record in caplog.records)
    assert re.search(r"does not respond \(.*refused\); trying again until \d\d:\d\d:\d\d$", said)
    assert re.search(
        r"has not answered for 0.5 seconds \(.*\); .*the same command", str(stopped.value)
    )
    assert PASSWORD not in said + str(stopped.value)


def test_a_gradebook_that_answers_in_time_is_worked_with(nobody_listens, monkeypatch, caplog):
    """The interrupted work is repeated, and the end of the wait is reported like its start."""
    connect, calls = Engine.connect, []

    def answers_at_last(engine: Engine):
        calls.append(engine)
        return connect(engine) if len(calls) < 3 else SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(Engine, "connect", answers_at_last)
    caplog.set_level(logging.WARNING)
    assert database.with_retry(nobody_listens, lambda: "done") == "done"
    assert [record.getMessage().split(" (")[0].rsplit(" ", 2)[-1] for record in caplog.records] == [
        "respond",
        "again",
    ]


@pytest.mark.parametrize(
    "command",
    [
        ["export"],
        ["grade", "study2"],
        ["report", "study2"],
        ["feedback", "study2"],
        ["generate", "study2"],
    ],
    ids=" ".join,
)
def test_every_command_stops_with_one_sentence(nobody_listens, command):
    """No command shows a traceback, and all end with the status for invalid input."""
    place = nobody_listens.release(STUDY.assignment)
    place.mkdir(parents=True)
    for path in assignment_files(STUDY):
        shutil.copy(path, place)
    submit(nobody_listens, "ada", "")
    if command[0] == "feedback":
        results = nobody_listens.results(STUDY.assignment, "ada")
        results.mkdir(parents=True)
        (results / "nbgrader.txt").touch()  # graded by nbgrader's own command
    done = CliRunner().invoke(app, [*command, "-c", str(nobody_listens.root)])
    assert done.exit_code == 2
    assert "has not answered for 0.5 seconds" in done.output
    assert PASSWORD not in done.output + str(files_with_password(nobody_listens))


def test_permanent_errors_are_reported_without_waiting(tmp_path, postgres, caplog):
    """Examples are a wrong password, a missing or forbidden database and a missing driver; no
    message contains a secret.
    """
    url = postgres.new_url()
    postgres.sql(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql(f"REVOKE CONNECT ON DATABASE {url.rpartition('/')[2]} FROM PUBLIC")
    for wrong, reason in (
        (url.replace(PASSWORD, f"{PASSWORD}-2"), "authentication failed"),
        (f"{url}-2", "does not exist"),
        (url.replace(f"{USER}:", "guest:"), "permission denied"),
        (f"{url}?sslmode=require", "does not support SSL"),
        (url.replace("psycopg", "psycopg2"), "run.py setup postgres"),
        (f"nonsense {PASSWORD}", "not the address of a database"),
    ):
        folder = make_course(tmp_path / reason[:4], url=wrong)
        with pytest.raises(UserError, match=reason) as refused:
            wait_for_gradebook(folder)
        assert not isinstance(refused.value, GradebookUnreachable)
        (problem,) = doctor.gradebook(folder)
        assert reason in problem
        assert PASSWORD not in str(refused.value) + problem + caplog.text


def test_who_is_one_too_many_waits(tmp_path, postgres):
    """Connections free up over time; the final message is the server's."""
    url = postgres.new_url()
    postgres.sql(f"CREATE ROLE crowd LOGIN PASSWORD '{PASSWORD}' CONNECTION LIMIT 0")
    folder = make_course(tmp_path / "course", url=url.replace(f"{USER}:", "crowd:"))
    config(folder, "c.GradingStep.gradebook_seconds = 0.1\n")
    with pytest.raises(GradebookUnreachable, match="too many connections"):
        wait_for_gradebook(folder)


def test_an_empty_database_is_no_gradebook(tmp_path, postgres):
    """The message is the same as for a missing file."""
    for url in (None, postgres.new_url()):
        folder = make_course(tmp_path / str(bool(url)), url=url)
        done = CliRunner().invoke(app, ["export", "-c", str(folder.root)])
        assert done.exit_code == 2
        assert "there is no gradebook in" in done.output


def test_tasks_that_come_back_are_not_done_for_ever(monkeypatch, tmp_path):
    """A task that fails whenever the server responds is abandoned; the others run once."""
    monkeypatch.setattr(retry, "wait_for_gradebook", lambda folder: None)
    monkeypatch.setattr(retry, "retry_delay", lambda attempt: 0)
    begun = []

    def pretend(work, arguments, tasks, jobs, seconds):
        for task in tasks:
            begun.append(task)
            bad = task == "bad" or (task == "slow" and begun.count("slow") < 3)
            yield task, RetryLater("gone") if bad else "done"

    monkeypatch.setattr(retry, "run_tasks", pretend)
    tasks = ["bad", "good", "slow"]
    found = list(retry.run_with_retry(CourseFolder(tmp_path), None, (), tasks, jobs=2))
    assert found == [("good", "done"), ("slow", "done"), ("bad", TaskFailed("gone"))]
    assert begun.count("good") == 1
    assert begun.count("bad") == database.MAX_ATTEMPTS


# ---- The same as SQLite


@pytest.fixture(scope="module")
def both(postgres, tmp_path_factory) -> dict[str, CourseFolder]:
    """A class graded with each database; PostgreSQL is stopped for a while during the run."""
    need_isolation()
    place = tmp_path_factory.mktemp("both")
    said = []
    log = logging.Handler()
    log.emit = lambda record: said.append(record.getMessage())
    logging.getLogger(database.__name__).addHandler(log)
    folders = {}
    for name, url in (("sqlite", None), ("postgres", postgres.new_url())):
        folder = folders[name] = make_class(place / name, url)
        back = threading.Timer(2, postgres.start)

        def one_is_done(result, url=url, back=back) -> None:
            if url and not back.ident:
                postgres.stop()
                back.start()

        graded = grade(folder, WITH_EXTRA_CREDIT, jobs=2, done=one_is_done)
        if url:
            back.join()
        assert [g.status for g in graded] == ["graded"] * 3, graded
        pages = write_feedback(folder, WITH_EXTRA_CREDIT)
        assert not any(page.problem for page in pages)
        write_report(folder, WITH_EXTRA_CREDIT)
    logging.getLogger(database.__name__).removeHandler(log)
    assert "does not respond" in said[0]
    assert "is available again" in said[-1]
    assert PASSWORD not in "".join(said)
    return folders


@pytest.mark.slow
def test_a_class_is_graded_alike_although_the_server_was_stopped(both):
    """This covers marks, pages, outcomes, report and exports, with extra credit and unusual names."""
    lite, server = (graded_by(folder, WITH_EXTRA_CREDIT) for folder in both.values())
    assert len(server["pages"]) == 9
    assert len(server["report"]) == len(STUDENTS)
    for what, found in lite.items():
        assert server[what] == found
    for folder in both.values():
        assert {g.status for g in grade(folder, WITH_EXTRA_CREDIT)} == {"unchanged"}
        assert all(page.unchanged for page in write_feedback(folder, WITH_EXTRA_CREDIT))
    assert sqlite_path(db_url(both["postgres"])) is None
    assert not (both["postgres"].root / "gradebook.db").exists()
    assert not files_with_password(both["postgres"])


@pytest.mark.slow
def test_formgrader_works_on_it_and_points_by_hand_stay(tmp_path, postgres):
    """nbgrader's own pages work, points entered there survive a regrade, and the pages work again
    after the server was stopped.
    """
    need_isolation()
    assignment = WITH_EXTRA_CREDIT.assignment
    course = make_class(tmp_path / "course", postgres.new_url())
    grade(course, WITH_EXTRA_CREDIT, jobs=2)
    with serve(course.root, tmp_path / "lab") as lab:

        def ask(path: str, data: dict | None = None):
            request = Request(
                f"{lab.url}/formgrader/{path}",
                json.dumps(data).encode() if data else None,
                {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
                method="PUT" if data else None,
            )
            with urlopen(request, timeout=60) as answer:
                return answer.read().decode()

        assert [
            a["num_submissions"]
            for a in json.loads(ask("api/assignments"))
            if a["name"] == assignment
        ] == [3]
        assert {s["id"] for s in json.loads(ask("api/students"))} == set(STUDENTS)
        for page in (
            "manage_assignments",
            "manage_students",
            "gradebook",
            f"manage_submissions/{assignment}",
            f"gradebook/{assignment}",
        ):
            assert "formgrader" in ask(page)
        with Gradebook(db_url(course)) as book:
            submission = book.find_submission(assignment, "ada")
            written = next(
                grade
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.cell.cell_type == "markdown"
            )
            shown, grade_id, cell = written.notebook.id, written.id, written.cell.name
        assert cell in ask(f"submissions/{shown}")
        json.loads(ask(f"api/grade/{grade_id}", {"manual_score": 1.5, "extra_credit": None}))
        before = read_marks(course).columns[0].marks["ada"]
        assert before.manual == 1.5
        grade(course, WITH_EXTRA_CREDIT, ["ada"], force=True)
        assert read_marks(course).columns[0].marks["ada"].manual == 1.5
        postgres.stop()
        postgres.start()
        try:
            ask("api/students")
        except HTTPError:  # nbgrader's first query reveals the lost connection
            assert len(json.loads(ask("api/students"))) == 3
        text = lab.log.read_text("utf-8")
    assert PASSWORD not in text


# ---- Interruption at any moment, and concurrent use


@contextmanager
def sent_away(server: Server, url: str, moment: int) -> Iterator[list[int]]:
    """Statement number `moment` loses its connection; yields how many statements were sent."""
    count = [0]

    def before(*_) -> None:
        count[0] += 1
        if count[0] == moment:
            server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE datname = '{url.rpartition('/')[2]}'"
            )

    event.listen(Engine, "before_cursor_execute", before)
    try:
        yield count
    finally:
        event.remove(Engine, "before_cursor_execute", before)


@pytest.mark.slow
def test_a_connection_that_is_lost_at_any_moment_costs_nothing(postgres, tmp_path, monkeypatch):
    """The submission is graded later without an error, with the marks of an undisturbed run."""
    need_isolation()
    monkeypatch.setattr(grading, "run_self_test", lambda *arguments: None)
    url = postgres.new_url()
    folder = make_course(tmp_path / "course", STUDY, url=url)
    submit(folder, "ada", MODULES["reference"])
    later, draw = 0, random.Random(1)
    with grading.grader(folder, STUDY, True) as grade_one:
        with sent_away(postgres, url, 0) as sent:  # never: count the statements
            assert grade_one("ada").status == "graded"
        marks = read_automatic_marks(url, STUDY.assignment)
        for moment in (*draw.sample(range(1, *sent), 7), *sent):
            with sent_away(postgres, url, moment) as sent:
                result = grade_one("ada")
            if isinstance(result, RetryLater):
                later += 1
                assert PASSWORD not in result.reason
                result = grade_one("ada")
            assert result.status == "graded", (moment, sent, result)
            assert read_automatic_marks(url, STUDY.assignment) == marks
    assert later > 3


@pytest.mark.slow
def test_two_graders_and_a_person_at_once_lose_nothing(postgres, tmp_path):
    """Two commands grade the same new students while nbgrader's own gradebook adds them."""
    need_isolation()
    url, other = postgres.new_url(), load_study("study1")
    folder = make_course(tmp_path / "course", STUDY, other, url=url)
    names = [f"s{number}" for number in range(6)]
    for student in names:
        submit(folder, student, MODULES["reference"])
        submit(folder, student, workspace.module_texts(other)["reference"], study=other)
    shutil.rmtree(folder.root / "results")
    environment = os.environ | {"PYTHONPATH": str(Path(grading.__file__).parents[2])}
    running = [
        subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder", "grade", study.name, "-c", folder.root],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for study in (STUDY, other)
    ]
    with Gradebook(url, "adversarial_search") as book:
        book.app_log = None
        while any(process.poll() is None for process in running):
            for student in names:
                book.update_or_create_student(student, last_name=f"of {student}")
    for process in running:
        said = process.communicate()[0]
        assert process.returncode == 0, said
    for study in (STUDY, other):
        marks = read_automatic_marks(url, study.assignment)
        assert sorted(marks) == names
        assert all(marks[student] == marks["s0"] for student in names)
    with Gradebook(url) as book:
        assert [(s.id, s.last_name) for s in book.students] == [(n, f"of {n}") for n in names]


def test_temporary_and_permanent_errors_are_distinguished(postgres):
    """Restarts, lost connections and concurrent writers are temporary; any other error is internal."""
    import psycopg

    for passing in (
        psycopg.errors.AdminShutdown,
        psycopg.errors.TooManyConnections,
        psycopg.errors.CannotConnectNow,
        psycopg.errors.UniqueViolation,
        psycopg.errors.DeadlockDetected,
        psycopg.OperationalError,
    ):
        assert is_transient(passing("said"))
    for staying in (
        psycopg.errors.DiskFull,
        psycopg.errors.UndefinedTable,
        psycopg.errors.InsufficientPrivilege,
        OSError,
    ):
        assert not is_transient(staying("said"))
    try:
        try:
            raise psycopg.errors.AdminShutdown("said")
        except psycopg.Error:
            raise ValueError("what nbgrader makes of it")  # noqa: B904
    except ValueError as error:
        assert is_transient(error)
