"""Grading: submissions per second, compared with plain nbgrader.

The class hands in a classic assignment: four assert cells with numpy and one figure, no checks;
seven of ten solve it.
Plain nbgrader grades it by its own command, one process for each core, each with its share of the
students; ours by `autograder grade`. Times are of whole commands, start included; the rate while
grading is that between the first and the last submission that was done. Marks are compared cell by
cell. A second class is the same with 2 of 40 in an endless loop, which both stop after the same
time; in a third comparison each stops it when it does by default. Study 3 stands beside them.

An evening is what an instructor waits for: grades, feedback and, which nbgrader does not have, the
report. Ours is timed as the one command `evening` and, in a copy of the class, as three commands.
The second run follows after one submission has changed.
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
from autograder.benchmarks._classic import (
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
from autograder.release.assignments import release
from course.probes import load_study

STUDENTS = 40
LOOPS = 2
PLAIN_SECONDS = 30  # nbgrader's default
PEER = "nbgrader autograde, one process per core"
EVENINGS = {40: 8, 400: 12}  # students -> how many times as fast as nbgrader
EVENING_PEER = "nbgrader autograde and generate_feedback, one process per core"


def run() -> list[Result]:
    """Compare three classes and two evenings with plain nbgrader, and time study 3."""
    put_environment_on_path()
    with tempfile.TemporaryDirectory(prefix="bench-grading-") as folder:
        root = Path(folder)
        classic = _compare(root, "classic", ways(STUDENTS), 15)
        looping = _compare(root, "2 of 40 looping", ways(STUDENTS, LOOPS), 5)
        defaults = _compare(
            root, "2 of 40 looping, both by default", ways(STUDENTS, LOOPS), None, PLAIN_SECONDS
        )
        evenings = [
            result
            for students, target in EVENINGS.items()
            for result in evening(root, students, target)
        ]
        return classic + looping + defaults + evenings + _study3(root)


def evening(root: Path, students: int, target: float) -> list[Result]:
    """Compare whole commands, from the first mark to the last page, and run ours once more."""
    name = f"{students} students"
    print(f"{name}: grade, feedback and report, plain nbgrader first ...", file=sys.stderr)
    plain, course = two_courses(root / name, ways(students), LOOP_SECONDS)
    apart = shutil.copytree(course, root / name / "apart")
    autograde = _timed(lambda: nbgrader(plain, "autograde", "autograded"))
    pages = _timed(lambda: nbgrader(plain, "generate_feedback", "feedback"))
    at_once = _timed(lambda: ours(course, "evening"))
    same = marks(plain) == marks(course)
    first = _three_commands(apart)
    for folder in (course, apart):
        write_answer(folder, "s000", RIGHT[1])
    at_once_again = _timed(lambda: ours(course, "evening"))
    again = _three_commands(apart)
    return [
        Result(f"{name}: plain nbgrader, autograde", autograde, "s"),
        Result(f"{name}: plain nbgrader, generate_feedback", pages, "s"),
        Result(f"{name}: evening", at_once, "s"),
        Result(
            f"{name}: evening, the one command",
            (autograde + pages) / at_once,
            "times",
            f">= {target}",
            EVENING_PEER,
        ),
        Result(f"{name}: evening, marks identical", float(same), "1 if so", "== 1", EVENING_PEER),
        *(Result(f"{name}: {command}", seconds, "s") for command, seconds in first.items()),
        Result(
            f"{name}: grade + feedback + report, whole commands",
            (autograde + pages) / sum(first.values()),
            "times",
            None,
            EVENING_PEER,
        ),
        Result(f"{name}: evening, one submission changed", at_once_again, "s", "<= 3"),
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
    handed_in: list[str],
    target: float | None,
    plain_seconds: int = LOOP_SECONDS,
) -> list[Result]:
    print(f"{name}: {len(handed_in)} submissions, plain nbgrader first ...", file=sys.stderr)
    plain, course = two_courses(root / name, handed_in, plain_seconds)
    theirs = _timed(lambda: nbgrader(plain, "autograde", "autograded"))
    whole = _timed(lambda: ours(course, "grade"))
    rate = _rate(course, ASSIGNMENT)
    same = marks(plain) == marks(course)
    return [
        Result(f"{name}: plain nbgrader", len(handed_in) / theirs, "submissions/s"),
        Result(f"{name}: this kit, whole command", len(handed_in) / whole, "submissions/s"),
        Result(f"{name}: this kit, while grading", rate, "submissions/s"),
        Result(f"{name}: whole commands", theirs / whole, "times", None, PEER),
        Result(
            f"{name}: rate of grading",
            rate * theirs / len(handed_in),
            "times",
            None if target is None else f">= {target}",
            PEER,
        ),
        Result(
            f"{name}: marks identical",
            float(same),
            "1 if so",
            "== 1" if "loop" not in name else None,
            PEER,
        ),
    ]


def _study3(root: Path) -> list[Result]:
    study = load_study("type_a")
    folder = CourseFolder.create(root / "type_a")
    release(folder, study)
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
    """Submissions per second between the first entry in the ledger and the last one."""
    times = sorted(
        path.stat().st_mtime for path in course.glob(f"results/{assignment}/*/submission.json")
    )
    return (len(times) - 1) / (times[-1] - times[0])
