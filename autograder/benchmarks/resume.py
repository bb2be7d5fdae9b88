"""Resuming: whether a killed and resumed run books the same as an undisturbed one.

Every second kill hits only the command itself, the others its workers and sandboxes too; one in ten
comes before the first mark.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks._classes import booked, generated_class
from autograder.course_folder import CourseFolder

KILLS = 100
STUDENTS = 24
SEED = 1


def run() -> list[Result]:
    """Count how often the gradebook was the same after a kill and a second run."""
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="bench-resume-") as temporary:
        fresh = generated_class(Path(temporary, "fresh"), "alpha_beta", STUDENTS).root
        calm = CourseFolder(shutil.copytree(fresh, Path(temporary, "calm")))
        start = time.time()
        _start(calm).wait()
        marked = _first_mark(calm) - start  # seconds until the first mark, and from there on
        rest = time.time() - start - marked
        wanted = booked(calm)
        same = during = 0
        for kill in range(KILLS):
            folder = CourseFolder(shutil.copytree(fresh, Path(temporary, "killed")))
            process = _start(folder)
            time.sleep(chance.uniform(0.1 * marked, marked) if kill % 10 == 0
                       else marked + chance.uniform(-0.2, 1) * rest)
            if process.poll() is None:
                if kill % 2:
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()
            entries = len(list(folder.root.glob("results/*/*/submission.json")))
            during += 0 < entries < STUDENTS
            _start(folder).wait()
            same += booked(folder) == wanted
            print(f"kill {kill + 1} of {KILLS}, with {entries} of {STUDENTS} graded: "
                  f"{same} the same so far", file=sys.stderr)
            shutil.rmtree(folder.root)
    return [Result("gradebooks identical after a kill", same, f"of {KILLS}", f"== {KILLS}",
                   "an undisturbed run"),
            Result("kills after the first mark and before the last", during, f"of {KILLS}")]


def _first_mark(folder: CourseFolder) -> float:
    return min(path.stat().st_mtime for path in folder.root.glob("results/*/*/submission.json"))


def _start(folder: CourseFolder) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", "alpha_beta", "--course", str(folder.root)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
