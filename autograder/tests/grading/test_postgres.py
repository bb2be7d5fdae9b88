"""The gradebook in PostgreSQL: the same marks and pages as in SQLite, and nothing lost on the way.

A real server, which is stopped, or sends its clients away, while they work.
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
from autograder.benchmarks._browser.harness import TOKEN, serve
from autograder.benchmarks._postgres import PASSWORD, USER, Server
from autograder.commands.cli import app
from autograder.course_folder import CourseFolder
from autograder.database import NoAnswer, db_url, file_of, passes, reach
from autograder.errors import Refused
from autograder.grading import patient
from autograder.grading import submission as grading
from autograder.grading.batch import grade
from autograder.grading.booked import booked
from autograder.grading.patient import Later
from autograder.grading.workers import Failed
from autograder.release.assignments import released_files
from autograder.telling.export import read_marks
from autograder.telling.feedback import write_feedback
from autograder.telling.report import write_report
from autograder.tests.support.classes import MODULES, STUDY, config, graded_by, hand_in, make_course
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.postgres import told_password
from course.probes import load_study

pytestmark = pytest.mark.xdist_group("postgres")
WITH_EXTRA_CREDIT = load_study("study3")
STUDENTS = ("Bob", "ada", "zoë")  # databases differ in how they sort these


def make_class(root: Path, url: str | None) -> CourseFolder:
    """A course folder with three modules handed in: right, untouched and wrong."""
    folder = make_course(root, WITH_EXTRA_CREDIT, url=url)
    texts = workspace.module_texts(WITH_EXTRA_CREDIT)
    mutant = min(texts.keys() - {"reference", "stub"})
    for student, module in zip(STUDENTS, ("reference", "stub", mutant), strict=True):
        hand_in(folder, student, texts[module], study=WITH_EXTRA_CREDIT)
    return folder


# ---- Waiting


@pytest.fixture
def nobody_listens(tmp_path, postgres, monkeypatch) -> CourseFolder:
    """A course whose gradebook's server is not there, with half a second of patience."""
    monkeypatch.setattr(database, "PAUSES", (0.05, 0.1))
    url = re.sub(r":\d+/", ":1/", postgres.new_url())
    folder = make_course(tmp_path / "course", url=url)
    config(folder, "c.GradingStep.gradebook_seconds = 0.5\n")
    return folder


def test_who_waits_for_a_gradebook_says_so_and_stops_in_the_end(nobody_listens, caplog):
    """Once, with the reason and the time; then a refusal that tells how to go on, no password."""
    with pytest.raises(NoAnswer) as stopped:
        reach(nobody_listens)
    (said,) = (record.getMessage() for record in caplog.records)
    assert re.search(r"does not answer \(.*refused\); trying again until \d\d:\d\d:\d\d$", said)
    assert re.search(
        r"has not answered for 0.5 seconds \(.*\); .*the same command", str(stopped.value)
    )
    assert PASSWORD not in said + str(stopped.value)


def test_a_gradebook_that_answers_in_time_is_worked_with(nobody_listens, monkeypatch, caplog):
    """What was begun is done again, and whoever was told of the wait is told of its end."""
    connect, calls = Engine.connect, []

    def answers_at_last(engine: Engine):
        calls.append(engine)
        return connect(engine) if len(calls) < 3 else SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(Engine, "connect", answers_at_last)
    caplog.set_level(logging.WARNING)
    assert database.patiently(nobody_listens, lambda: "done") == "done"
    assert [record.getMessage().split(" (")[0].rsplit(" ", 2)[-1] for record in caplog.records] == [
        "answer",
        "again",
    ]


@pytest.mark.parametrize(
    "command",
    [
        ["export"],
        ["grade", "study2"],
        ["report", "study2"],
        ["feedback", "study2"],
        ["release", "study2"],
    ],
    ids=" ".join,
)
def test_every_command_stops_with_one_sentence(nobody_listens, command):
    """None shows a traceback, all end with the status of bad input."""
    place = nobody_listens.release(STUDY.assignment)
    place.mkdir(parents=True)
    for path in released_files(STUDY):
        shutil.copy(path, place)
    hand_in(nobody_listens, "ada", "")
    if command[0] == "feedback":
        results = nobody_listens.results(STUDY.assignment, "ada")
        results.mkdir(parents=True)
        (results / "nbgrader.txt").touch()  # graded by nbgrader's own command
    done = CliRunner().invoke(app, [*command, "-c", str(nobody_listens.root)])
    assert done.exit_code == 2
    assert "has not answered for 0.5 seconds" in done.output
    assert PASSWORD not in done.output + str(told_password(nobody_listens))


def test_what_waiting_does_not_mend_is_refused_at_once(tmp_path, postgres, caplog):
    """A wrong password, a database that is not there or not permitted, a driver that is not there:
    no word of a secret."""
    url = postgres.new_url()
    postgres.sql(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
    postgres.sql(f"REVOKE CONNECT ON DATABASE {url.rpartition('/')[2]} FROM PUBLIC")
    for wrong, reason in (
        (url.replace(PASSWORD, f"{PASSWORD}-2"), "authentication failed"),
        (f"{url}-2", "does not exist"),
        (url.replace(f"{USER}:", "guest:"), "permission denied"),
        (f"{url}?sslmode=require", "does not support SSL"),
        (url.replace("psycopg", "psycopg2"), "python3 run.py setup postgres"),
        (f"nonsense {PASSWORD}", "no address of a database"),
    ):
        folder = make_course(tmp_path / reason[:4], url=wrong)
        with pytest.raises(Refused, match=reason) as refused:
            reach(folder)
        assert not isinstance(refused.value, NoAnswer)
        (problem,) = doctor.gradebook(folder)
        assert reason in problem
        assert PASSWORD not in str(refused.value) + problem + caplog.text


def test_who_is_one_too_many_waits(tmp_path, postgres):
    """Others' connections end; the last words are those of the server."""
    url = postgres.new_url()
    postgres.sql(f"CREATE ROLE crowd LOGIN PASSWORD '{PASSWORD}' CONNECTION LIMIT 0")
    folder = make_course(tmp_path / "course", url=url.replace(f"{USER}:", "crowd:"))
    config(folder, "c.GradingStep.gradebook_seconds = 0.1\n")
    with pytest.raises(NoAnswer, match="too many connections"):
        reach(folder)


def test_an_empty_database_is_no_gradebook(tmp_path, postgres):
    """The same sentence as where the file is missing."""
    for url in (None, postgres.new_url()):
        folder = make_course(tmp_path / str(bool(url)), url=url)
        done = CliRunner().invoke(app, ["export", "-c", str(folder.root)])
        assert done.exit_code == 2
        assert "there is no gradebook in" in done.output


def test_tasks_that_come_back_are_not_done_for_ever(monkeypatch, tmp_path):
    """A task that fails whenever the server answers is given up; the others are done once."""
    monkeypatch.setattr(patient, "reach", lambda folder: None)
    monkeypatch.setattr(patient, "pause_after", lambda attempt: 0)
    begun = []

    def pretend(work, arguments, tasks, jobs, seconds):
        for task in tasks:
            begun.append(task)
            bad = task == "bad" or (task == "slow" and begun.count("slow") < 3)
            yield task, Later("gone") if bad else "done"

    monkeypatch.setattr(patient, "run_tasks", pretend)
    tasks = ["bad", "good", "slow"]
    found = list(patient.run_patiently(CourseFolder(tmp_path), None, (), tasks, jobs=2))
    assert found == [("good", "done"), ("slow", "done"), ("bad", Failed("gone"))]
    assert begun.count("good") == 1
    assert begun.count("bad") == database.ATTEMPTS


# ---- The same as SQLite


@pytest.fixture(scope="module")
def both(postgres, tmp_path_factory) -> dict[str, CourseFolder]:
    """A class graded with each database; PostgreSQL is stopped for a while on the way."""
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
    assert "does not answer" in said[0]
    assert "answers again" in said[-1]
    assert PASSWORD not in "".join(said)
    return folders


@pytest.mark.slow
def test_a_class_is_graded_alike_although_the_server_was_stopped(both):
    """Marks, pages, outcomes, report and exports, with extra credit and names of all sorts."""
    lite, server = (graded_by(folder, WITH_EXTRA_CREDIT) for folder in both.values())
    assert len(server["pages"]) == 9
    assert len(server["report"]) == len(STUDENTS)
    for what, found in lite.items():
        assert server[what] == found
    for folder in both.values():
        assert {g.status for g in grade(folder, WITH_EXTRA_CREDIT)} == {"unchanged"}
        assert all(page.unchanged for page in write_feedback(folder, WITH_EXTRA_CREDIT))
    assert file_of(db_url(both["postgres"])) is None
    assert not (both["postgres"].root / "gradebook.db").exists()
    assert not told_password(both["postgres"])


@pytest.mark.slow
def test_formgrader_works_on_it_and_points_by_hand_stay(tmp_path, postgres):
    """nbgrader's own pages are shown, a person's points are entered there and outlive a regrade;
    after the server was stopped they are shown again."""
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
        except HTTPError:  # nbgrader notices by the first question that its connection is gone
            assert len(json.loads(ask("api/students"))) == 3
        text = lab.log.read_text("utf-8")
    assert PASSWORD not in text


# ---- At any moment, and at once


@contextmanager
def sent_away(server: Server, url: str, moment: int) -> Iterator[list[int]]:
    """Statement number `moment` finds that its connection was ended; yields how many were sent."""
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
    """The submission is done later, never a fault, and its marks are those of an undisturbed run."""
    need_isolation()
    monkeypatch.setattr(grading, "prove_by_canaries", lambda *arguments: None)
    url = postgres.new_url()
    folder = make_course(tmp_path / "course", STUDY, url=url)
    hand_in(folder, "ada", MODULES["reference"])
    later, draw = 0, random.Random(1)
    with grading.grader(folder, STUDY, True) as grade_one:
        with sent_away(postgres, url, 0) as sent:  # never: how many are sent?
            assert grade_one("ada").status == "graded"
        marks = booked(url, STUDY.assignment)
        for moment in (*draw.sample(range(1, *sent), 7), *sent):
            with sent_away(postgres, url, moment) as sent:
                result = grade_one("ada")
            if isinstance(result, Later):
                later += 1
                assert PASSWORD not in result.reason
                result = grade_one("ada")
            assert result.status == "graded", (moment, sent, result)
            assert booked(url, STUDY.assignment) == marks
    assert later > 3


@pytest.mark.slow
def test_two_graders_and_a_person_at_once_lose_nothing(postgres, tmp_path):
    """Two commands for the same students, who are new, while nbgrader's own gradebook adds them."""
    need_isolation()
    url, other = postgres.new_url(), load_study("study1")
    folder = make_course(tmp_path / "course", STUDY, other, url=url)
    names = [f"s{number}" for number in range(6)]
    for student in names:
        hand_in(folder, student, MODULES["reference"])
        hand_in(folder, student, workspace.module_texts(other)["reference"], study=other)
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
        marks = booked(url, study.assignment)
        assert sorted(marks) == names
        assert all(marks[student] == marks["s0"] for student in names)
    with Gradebook(url) as book:
        assert [(s.id, s.last_name) for s in book.students] == [(n, f"of {n}") for n in names]


def test_what_passes_is_told_from_what_stays(postgres):
    """Restarts, lost connections and two writers pass; anything else is the machine's fault."""
    import psycopg

    for passing in (
        psycopg.errors.AdminShutdown,
        psycopg.errors.TooManyConnections,
        psycopg.errors.CannotConnectNow,
        psycopg.errors.UniqueViolation,
        psycopg.errors.DeadlockDetected,
        psycopg.OperationalError,
    ):
        assert passes(passing("said"))
    for staying in (
        psycopg.errors.DiskFull,
        psycopg.errors.UndefinedTable,
        psycopg.errors.InsufficientPrivilege,
        OSError,
    ):
        assert not passes(staying("said"))
    try:
        try:
            raise psycopg.errors.AdminShutdown("said")
        except psycopg.Error:
            raise ValueError("what nbgrader makes of it")  # noqa: B904
    except ValueError as error:
        assert passes(error)
