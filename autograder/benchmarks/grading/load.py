"""Load: a class graded on an idle machine and on a busy one.

The class of study 3 has a module of every kind (the reference, the stub, mutants), and the class of
study 10 has two agents. Both classes also have a module with an endless loop. Notebooks are also
run. The marks must be the same in both runs, and so must all stops with their reasons.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.benchmarks import Result
from autograder.benchmarks.support.classes import KINDS, booked, generated_class
from autograder.course_folder import CONFIG_FILE, CourseFolder
from common.clock import measure_speed_factor
from course.checks import Study, load_study

SPINNING = 8
STUDENTS = {"type_a": KINDS, "league": 2}  # without the endless module
ENDLESS = "while True:\n    pass\n"
ALWAYS = 'c.GradingStep.run_cells = "always"\n'
PEER = f"{SPINNING} spinning processes"


def run() -> list[Result]:
    """Grade each class twice, and compare."""
    return [result for name, students in STUDENTS.items() for result in compare(name, students)]


def compare(name: str, students: int) -> list[Result]:
    """Grade a class of a study, with an endless submission, on an idle and on a busy machine."""
    study = load_study(name)
    with tempfile.TemporaryDirectory(prefix="bench-load-") as temporary:
        folder = generated_class(Path(temporary), name, students + 1)
        with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
            file.write(ALWAYS)
        endless = f"s{students:05}"
        (folder.submission(study.assignment, endless) / study.module).write_text(ENDLESS, "utf-8")
        seconds, slower, marks, stops = [], [], [], []
        for load in (0, SPINNING):
            print(
                f"{study.assignment}: {students + 1} submissions with {load} spinning "
                "processes ...",
                file=sys.stderr,
            )
            with spinning(load):
                slower.append(measure_speed_factor())
                seconds.append(_grade(folder, name))
            marks.append(booked(folder))
            stops.append(stopped(folder, study))
    idle, loaded = map(set, stops)
    slow = {where for where in idle if where[0] != endless}
    return [
        Result(f"{name}: marks identical", float(marks[0] == marks[1]), "(1: yes)", "== 1", PEER),
        Result(
            f"{name}: stops identical, with their reasons",
            float(stops[0] == stops[1]),
            "(1: yes)",
            "== 1",
            PEER,
        ),
        Result(f"{name}: stopped under load alone", len(loaded - idle), "parts", "== 0", PEER),
        Result(f"{name}: stopped idle as well, as too slow", len(slow), "parts"),
        Result(f"{name}: stopped whose code never ends", len(stops[1]), "parts", ">= 1", PEER),
        Result(f"{name}: idle, whole command", seconds[0], "s"),
        Result(f"{name}: under load, whole command", seconds[1], "s", None, PEER),
        Result(f"{name}: limits scaled, idle", slower[0], "times"),
        Result(f"{name}: limits scaled, under load", slower[1], "times", None, PEER),
    ]


@contextlib.contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Run this many busy processes during the block."""
    spinners = [subprocess.Popen([sys.executable, "-c", ENDLESS]) for _ in range(processes)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def stopped(folder: CourseFolder, study: Study) -> dict[tuple[str, ...], Any]:
    """Return the reasons of all stops, by student and notebook or check.

    The factor by which a limit was scaled is not included.
    """
    stops: dict[tuple[str, ...], Any] = {}
    for path in folder.root.glob(f"results/{study.assignment}/*/*.json"):
        results, student = json.loads(path.read_text("utf-8")), path.parent.name
        if results.get("stopped"):
            stops[student, path.stem] = results["stopped"]
        for outcome in results.get("outcomes", ()):
            if outcome["stopped"]:
                stops[student, outcome["check"]] = outcome["problem"] or ""
    return stops


def _grade(folder: CourseFolder, name: str) -> float:
    """Grade all students again; return the duration in seconds."""
    begun = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "autograder",
            "grade",
            name,
            "--force",
            "--course",
            str(folder.root),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):  # 1: some submissions need review
        raise RuntimeError(f"grading failed: {done.stderr[-2000:]}")
    return time.perf_counter() - begun
