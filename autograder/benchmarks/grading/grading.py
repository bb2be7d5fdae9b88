"""Grading: submissions per second, compared with plain nbgrader.

The assignment is a classic one: four assert cells with numpy and one figure, without checks. Seven
of ten submissions are correct. Plain nbgrader runs its own command, with one process for each core
and the students divided among them; this kit runs `autograder grade`. Whole commands are timed; the
rate while grading is measured from the first to the last graded submission. Marks are compared cell
by cell. In a second class, 2 of 40 submissions have an endless loop, which both programs stop after
the same time; in a third comparison, both use their default limits. Study 3 is also timed.

A whole run produces everything that an instructor waits for: grades, feedback and, in this kit
only, the report. This kit is timed as the single command `grade-all` and, in a copy of the class,
as three commands. A second run follows after one submission has changed.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from autograder import workspace
from autograder.benchmarks import Result
from autograder.benchmarks.support.classic import (
    ASSIGNMENT,
    LOOP_SECONDS,
    RIGHT,
    marks,
    nbgrader,
    ours,
    two_courses,
    ways,
    write_answer,
)
from autograder.course_folder import CourseFolder, put_environment_on_path
from autograder.release.assignments import generate_assignment
from course.checks import load_study

STUDENTS = 40
LOOPS = 2
PLAIN_SECONDS = 30  # nbgrader's default
PEER = "nbgrader autograde, one process per core"
RUN_TARGETS = {40: 8, 400: 12}  # students -> target speed relative to nbgrader
RUN_PEER = "nbgrader autograde and generate_feedback, one process per core"


def run() -> list[Result]:
    """Compare three classes and two whole runs with plain nbgrader, and time study 3."""
    put_environment_on_path()
    with tempfile.TemporaryDirectory(prefix="bench-grading-") as folder:
        root = Path(folder)
        classic = _compare(root, "classic", ways(STUDENTS), 15)
        looping = _compare(root, "2 of 40 looping", ways(STUDENTS, LOOPS), 5)
        defaults = _compare(
            root, "2 of 40 looping, both by default", ways(STUDENTS, LOOPS), None, PLAIN_SECONDS
        )
        whole_runs = [
            result
            for students, target in RUN_TARGETS.items()
            for result in whole_run(root, students, target)
        ]
        return classic + looping + defaults + whole_runs + _study3(root)


def whole_run(root: Path, students: int, target: float) -> list[Result]:
    """Compare whole runs, from the first mark to the last page, and repeat ours."""
    name = f"{students} students"
    print(f"{name}: grade, feedback and report, plain nbgrader first ...", file=sys.stderr)
    plain, course = two_courses(root / name, ways(students), LOOP_SECONDS)
    separate = shutil.copytree(course, root / name / "separate")
    autograde = _timed(lambda: nbgrader(plain, "autograde", "autograded"))
    pages = _timed(lambda: nbgrader(plain, "generate_feedback", "feedback"))
    first_seconds = _timed(lambda: ours(course, "grade-all"))
    same = marks(plain) == marks(course)
    first = _three_commands(separate)
    for folder in (course, separate):
        write_answer(folder, "s000", RIGHT[1])
    second_seconds = _timed(lambda: ours(course, "grade-all"))
    again = _three_commands(separate)
    return [
        Result(f"{name}: plain nbgrader, autograde", autograde, "s"),
        Result(f"{name}: plain nbgrader, generate_feedback", pages, "s"),
        Result(f"{name}: whole run", first_seconds, "s"),
        Result(
            f"{name}: whole run, one command",
            (autograde + pages) / first_seconds,
            "times",
            f">= {target}",
            RUN_PEER,
        ),
        Result(f"{name}: whole run, marks identical", float(same), "(1: yes)", "== 1", RUN_PEER),
        *(Result(f"{name}: {command}", seconds, "s") for command, seconds in first.items()),
        Result(
            f"{name}: grade + feedback + report, whole commands",
            (autograde + pages) / sum(first.values()),
            "times",
            None,
            RUN_PEER,
        ),
        Result(f"{name}: whole run, one submission changed", second_seconds, "s", "<= 3"),
        *(
            Result(f"{name}: {command}, one submission changed", seconds, "s")
            for command, seconds in again.items()
        ),
        Result(f"{name}: three commands, one submission changed", sum(again.values()), "s"),
    ]


def _three_commands(course: Path) -> dict[str, float]:
    return {
        command: _timed(partial(ours, course, command))
        for command in ("grade", "feedback", "report")
    }


def _compare(
    root: Path,
    name: str,
    answers: list[str],
    target: float | None,
    plain_seconds: int = LOOP_SECONDS,
) -> list[Result]:
    print(f"{name}: {len(answers)} submissions, plain nbgrader first ...", file=sys.stderr)
    plain, course = two_courses(root / name, answers, plain_seconds)
    theirs = _timed(lambda: nbgrader(plain, "autograde", "autograded"))
    whole = _timed(lambda: ours(course, "grade"))
    rate = _rate(course, ASSIGNMENT)
    same = marks(plain) == marks(course)
    return [
        Result(f"{name}: plain nbgrader", len(answers) / theirs, "submissions/s"),
        Result(f"{name}: this kit, whole command", len(answers) / whole, "submissions/s"),
        Result(f"{name}: this kit, while grading", rate, "submissions/s"),
        Result(f"{name}: whole commands", theirs / whole, "times", None, PEER),
        Result(
            f"{name}: rate of grading",
            rate * theirs / len(answers),
            "times",
            None if target is None else f">= {target}",
            PEER,
        ),
        Result(
            f"{name}: marks identical",
            float(same),
            "(1: yes)",
            "== 1" if "loop" not in name else None,
            PEER,
        ),
    ]


def _study3(root: Path) -> list[Result]:
    study = load_study("type_a")
    folder = CourseFolder.create(root / "type_a")
    generate_assignment(folder, study)
    texts = workspace.module_texts(study)
    for number, text in enumerate(islice(cycle(list(texts.values())[:20]), STUDENTS)):
        target = folder.submission(study.assignment, f"s{number:03}")
        shutil.copytree(folder.release(study.assignment), target)
        (target / study.module).write_text(text, "utf-8")
    whole = _timed(lambda: ours(folder.root, "grade", "type_a"))
    return [
        Result("study 3: whole command", STUDENTS / whole, "submissions/s"),
        Result("study 3: while grading", _rate(folder.root, study.assignment), "submissions/s"),
    ]


def _timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rate(course: Path, assignment: str) -> float:
    """Return the submissions per second between the first entry in the ledger and the last one."""
    times = sorted(
        path.stat().st_mtime for path in course.glob(f"results/{assignment}/*/submission.json")
    )
    return (len(times) - 1) / (times[-1] - times[0])
