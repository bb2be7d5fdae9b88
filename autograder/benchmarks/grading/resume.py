"""Resuming: runs that are killed and resumed give the same marks.

Every second kill affects only the command itself; the others also kill its workers and sandboxes.
One in ten happens before the first mark. `--size` is the number of kills. An interrupted run
continues with the stored results.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.classes import booked, generated_class
from autograder.benchmarks.support.journal import Journal
from autograder.course_folder import CourseFolder

KILLS = 100
STUDENTS = 24
SEED = 1
ROOT = Path(__file__).parents[2]


def run(size: int = KILLS) -> list[Result]:
    """Count how often the gradebook was the same after a kill and a second run."""
    journal, kills = _journal(), []
    with tempfile.TemporaryDirectory(prefix="bench-resume-") as temporary:
        fresh = generated_class(Path(temporary, "fresh"), "alpha_beta", STUDENTS).root
        calm = CourseFolder(shutil.copytree(fresh, Path(temporary, "calm")))
        start = time.time()
        _start(calm).wait()
        marked = _first_mark(calm) - start  # seconds until the first mark, and from there on
        rest = time.time() - start - marked
        wanted = booked(calm)
        for number in range(size):
            chance = random.Random(f"{SEED} {number}")
            after = (
                chance.uniform(0.1 * marked, marked)
                if number % 10 == 0
                else marked + chance.uniform(-0.2, 1) * rest
            )
            kill = partial(_killed, fresh, Path(temporary, "killed"), after, number % 2, wanted)
            kills.append(journal.measured((number,), kill))
            print(
                f"kill {number + 1} of {size}, with {kills[-1][0]} of {STUDENTS} graded: "
                f"{sum(same for _, same in kills)} the same so far",
                file=sys.stderr,
            )
    journal.close()
    return [
        Result(
            "gradebooks identical after a kill",
            sum(same for _, same in kills),
            f"of {size}",
            f"== {size}",
            "an undisturbed run",
        ),
        Result(
            "kills after the first mark and before the last",
            sum(0 < graded < STUDENTS for graded, _ in kills),
            f"of {size}",
        ),
    ]


def _killed(fresh: Path, root: Path, after: float, everything: int, wanted) -> tuple[int, bool]:
    """Return how many submissions were graded when the run was killed, and whether the next run
    leads to the same gradebook.
    """
    folder = CourseFolder(shutil.copytree(fresh, root))
    process = _start(folder)
    time.sleep(after)
    if process.poll() is None:
        if everything:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    graded = len(list(folder.root.glob("results/*/*/submission.json")))
    _start(folder).wait()
    same = booked(folder) == wanted
    shutil.rmtree(root)
    return graded, same


def _journal() -> Journal:
    """Return the kills of an interrupted run with the same code."""
    return Journal(
        "resume",
        [
            ROOT / "grading",
            ROOT / "sandbox",
            ROOT / "course_folder/__init__.py",
            ROOT / "database.py",
            ROOT / "workspace",
        ],
    )


def _first_mark(folder: CourseFolder) -> float:
    return min(path.stat().st_mtime for path in folder.root.glob("results/*/*/submission.json"))


def _start(folder: CourseFolder) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", "alpha_beta", "--course", str(folder.root)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
