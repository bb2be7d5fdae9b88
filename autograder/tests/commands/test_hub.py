"""A class on a real JupyterHub, set up with `deploy/`, through the servers' own interfaces."""

import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from autograder import workspace
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import COURSE_ID
from autograder.grading.records.gradebook_reader import read_automatic_marks
from autograder.tests.support.hub import class_on_a_hub
from autograder.tests.support.needs import need_isolation
from course.checks import load_study

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hub")]
STUDY = load_study("study1")
WORK = {"course_id": COURSE_ID, "assignment_id": STUDY.assignment}
CHECKS = f"""
import os
os.chdir({STUDY.assignment!r})
from course.check import check
for name in {list(STUDY.checks)!r}:
    check("study1." + name)
"""
LOOP = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {
            "cell_type": "code",
            "id": "loop",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": "while True:\n    pass",
        }
    ],
}
GRADE = """
import os, subprocess, sys
done = subprocess.run([sys.executable, "-P", "-m", "autograder", "grade", "study1", "-c", ".",
                       "--force", "--jobs", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                      env={**os.environ, "FORCE_COLOR": "0", "TTY_COMPATIBLE": "0"}, text=True)
print(done.returncode, done.stdout)
"""
REPLACE = """
import json, os, pathlib
exchange, course = pathlib.Path(%r), %r
found = {}
for name, change in {
    "rename the course": lambda: (exchange / course).rename(exchange / "away"),
    "remove the course": lambda: (exchange / course).rmdir(),
    "open the course": lambda: (exchange / course).chmod(0o777),
    "rename inbound": lambda: (exchange / course / "inbound").rename(exchange / "inbound"),
    "open inbound": lambda: (exchange / course / "inbound").chmod(0o777),
    "rename outbound": lambda: (exchange / course / "outbound").rename(exchange / "outbound"),
    "make feedback": lambda: (exchange / course / "feedback").mkdir(),
    "hand out": lambda: (exchange / course / "outbound" / "study0").mkdir(),
    "make sticky no more": lambda: exchange.chmod(0o777),
}.items():
    try:
        found[name] = str(change())
    except OSError as error:
        found[name] = type(error).__name__
print(json.dumps(found))
"""
TRY = """
import json, os, urllib.error, urllib.request
found = {}
for path in %r:
    try:
        read = os.listdir if os.path.isdir(path) else lambda path: open(path, "rb").read().decode()
        found[path] = read(path)
    except OSError as error:
        found[path] = type(error).__name__
try:
    import autograder
    found["import"] = autograder.__file__
except ImportError as error:
    found["import"] = type(error).__name__
try:
    token = os.environ["JUPYTERHUB_API_TOKEN"]
    found["server"] = urllib.request.urlopen(urllib.request.Request(
        %r, headers={"Authorization": "token " + token})).status
except urllib.error.HTTPError as error:
    found["server"] = error.code
print(json.dumps(found))
"""


@dataclass
class HubRun:
    """What the users of a class observed."""

    checked: str
    validated: str  # Validate's response for a notebook with an endless loop
    tried: dict[str, str]
    replaced: list[dict[str, str]]  # before the first release, and with submissions in it
    graded: list[str]
    marks: dict[str, dict]
    pages: dict[str, str]  # by student
    names: tuple[str, str]


@pytest.fixture(scope="module")
def hub_run() -> Iterator[HubRun]:
    """Two students fetch, one solves and checks, both submit; one inspects the system and tries to
    replace the exchange. Two graders release, collect, grade simultaneously and give feedback,
    which the students fetch. Both graders run each step, the second one over the first one's
    results.
    """
    need_isolation()
    drawn = secrets.token_hex(3)
    ann, ben, gia, gus = (f"{name}{drawn}" for name in ("ann", "ben", "gia", "gus"))
    with class_on_a_hub(STUDY, (ann, ben), (gia, gus)) as hub:

        def formgrader(user: str, action: str) -> None:
            place = f"/user/{user}/formgrader/api/assignment/{STUDY.assignment}"
            done = hub.ask(f"{place}/{action}", {})
            assert done["success"], done

        def assignments(user: str, action: str) -> None:
            done = hub.ask(f"/user/{user}/assignments/{action}", WORK)
            assert done["success"], done

        replace = REPLACE % (str(hub.place / "exchange"), COURSE_ID)
        replaced = [json.loads(hub.run(ben, replace))]
        formgrader(gia, "release")
        for action in ("unrelease", "release"):
            formgrader(gus, action)
        for student in (ann, ben):
            assignments(student, "fetch")
        solved = workspace.module_texts(STUDY)["reference"]
        hub.ask(
            f"/user/{ann}/api/contents/{STUDY.assignment}/{STUDY.module}",
            {"type": "file", "format": "text", "content": solved},
            "PUT",
        )
        checked = hub.run(ann, CHECKS)
        hub.ask(
            f"/user/{ann}/api/contents/loop.ipynb", {"type": "notebook", "content": LOOP}, "PUT"
        )
        validated = json.dumps(hub.ask(f"/user/{ann}/assignments/validate?path=loop.ipynb", {}))
        for student in (ann, ben):
            assignments(student, "submit")
        formgrader(gus, "collect")
        assignments(ann, "submit")
        formgrader(gia, "collect")  # replaces what gus collected
        replaced.append(json.loads(hub.run(ben, replace)))
        places = [
            str(path)
            for path in (
                hub.home(ann),
                hub.home(ann) / STUDY.assignment / STUDY.module,
                hub.place / "course",
                hub.place / "course/gradebook.db",
                hub.place / "staff",
                hub.place / "staff/autograder/studies",
                hub.place / "hub_config.py",
                hub.place / "hub",
                hub.database,
                hub.place / "exchange" / COURSE_ID / "inbound",
            )
        ]
        tried = json.loads(hub.run(ben, TRY % (places, f"{hub.url}/user/{ann}/api/contents")))
        with ThreadPoolExecutor() as at_once:
            graded = list(at_once.map(lambda user: hub.run(user, GRADE), (gia, gus)))
        formgrader(gus, "generate_feedback")
        for grader in (gia, gus):
            formgrader(grader, "release_feedback")
        pages = {}
        for student in (ann, ben):
            assignments(student, "fetch_feedback")
            (page,) = (hub.home(student) / STUDY.assignment / "feedback").glob("*/*.html")
            path = page.relative_to(hub.home(student)).as_posix().replace(" ", "%20")
            pages[student] = hub.ask(f"/user/{student}/api/contents/{path}?type=file")["content"]
        course = CourseFolder.open(hub.place / "course")
        marks = read_automatic_marks(course.config().CourseDirectory.db_url, STUDY.assignment)
        yield HubRun(checked, validated, tried, replaced, graded, marks, pages, (ann, ben))


def test_a_student_works_checks_and_reads_feedback(hub_run):
    """The kit's checks run on the student's server; the feedback is the student's own."""
    ann, ben = hub_run.names
    assert hub_run.checked.count("all correct") == len(STUDY.checks), hub_run.checked
    assert "all correct" in hub_run.pages[ann]
    assert "all correct" not in hub_run.pages[ben]


def test_validate_ends_on_the_hub(hub_run):
    """With the settings of the guide, an endless loop is stopped and reported."""
    assert "Validate stopped it after" in hub_run.validated


def test_a_student_reads_nothing_that_is_not_theirs(hub_run):
    """Homes, the course, the gradebook, answers, submissions, the hub's files and other servers are
    all inaccessible.
    """
    tried = hub_run.tried
    assert tried.pop("import") == "ModuleNotFoundError"
    assert tried.pop("server") == 403
    assert set(tried.values()) == {"PermissionError"}, tried


def test_a_student_cannot_take_the_place_of_the_exchange(hub_run):
    """The attempt fails before the first release and later; otherwise classmates' work would go to
    the student.
    """
    before, later = hub_run.replaced
    assert before.pop("rename inbound") == before.pop("open inbound") == "FileNotFoundError"
    assert before.pop("rename outbound") == before.pop("hand out") == "FileNotFoundError"
    assert set(before.values()) == {"PermissionError"}, before
    assert set(later.values()) == {"PermissionError"}, later


def test_two_graders_mark_at_once(hub_run):
    """Both commands grade the whole class, and the gradebook has the correct marks."""
    assert all(said.startswith("0 ") and "2 graded" in said for said in hub_run.graded), (
        hub_run.graded
    )
    ann, ben = hub_run.names
    assert set(hub_run.marks) == {ann, ben}
    checks = [check.grade_id for check in STUDY.checks.values()]
    earned = {
        student: sum(
            points or 0 for name, (points, _) in cells.items() if name.partition("/")[2] in checks
        )
        for student, cells in hub_run.marks.items()
    }
    assert earned == {ann: sum(check.max_points for check in STUDY.checks.values()), ben: 0}
