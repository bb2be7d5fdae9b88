"""Stopping: the time from a signal until all processes have ended.

Classes of studies 1, 3 and 10 are graded with one and with two jobs, next to eight busy processes.
Each run receives a signal at a random moment, and then another run completes the gradebook;
`--size` is the number of runs.
"""

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from autograder.benchmarks import Result
from autograder.benchmarks.grading.load import SPINNING, spinning
from autograder.benchmarks.support.classes import booked, generated_class
from autograder.benchmarks.support.signals import Command, adopting
from autograder.course_folder import CourseFolder

SIGNALS = 24
SIGNAL_KINDS = {signal.SIGINT: 2, signal.SIGTERM: 2, signal.SIGHUP: 2, signal.SIGKILL: 5}  # seconds
STUDIES = {"minimax": 4, "type_a": 4, "league": 2}  # -> students
SEED = 1
TIMEOUT = 600  # seconds
PEER = f"{SPINNING} spinning processes"


def run(size: int = SIGNALS) -> list[Result]:
    """Send the signals, measure, and compare the gradebooks."""
    rng = random.Random(SEED)
    slowest: defaultdict[signal.Signals, float] = defaultdict(float)
    same, written = [], 0
    with tempfile.TemporaryDirectory(prefix="bench-stopping-") as temporary, adopting():
        for study, students in STUDIES.items():
            fresh = generated_class(Path(temporary, study), study, students).root
            calm = CourseFolder(shutil.copytree(fresh, Path(temporary, f"{study}-calm")))
            begun = time.monotonic()
            subprocess.run(_grade(calm, study, 2), check=False, **QUIET)
            seconds = time.monotonic() - begun
            for jobs in (1, 2):
                folder = CourseFolder(shutil.copytree(fresh, Path(temporary, f"{study}-{jobs}")))
                for number in range(size // 6):
                    kind = rng.choice([*SIGNAL_KINDS])
                    with spinning(SPINNING):
                        command = Command(_grade(folder, study, jobs), **QUIET)
                        time.sleep(rng.uniform(0, 2 * seconds))
                        ending = command.end(kind, TIMEOUT, TIMEOUT)
                    slowest[kind] = max(slowest[kind], ending.seconds)
                    files = _files(folder.root)
                    time.sleep(0.5)
                    written += _files(folder.root) != files
                    print(
                        f"{study}, {jobs} jobs, {kind.name} {number + 1} of {size // 6}: "
                        f"{ending.seconds:.2f} s",
                        file=sys.stderr,
                    )
                subprocess.run(_grade(folder, study, jobs), check=False, **QUIET)
                same.append(booked(folder) == booked(calm))
    return [
        *(
            Result(
                f"{kind.name}: slowest end of all processes",
                slowest[kind],
                "s",
                f"<= {SIGNAL_KINDS[kind]}",
                PEER,
            )
            for kind in slowest
        ),
        Result("runs that wrote files after their end", written, f"of {size}", "== 0"),
        Result(
            "gradebooks identical after signals and another run",
            sum(same),
            f"of {len(same)}",
            f"== {len(same)}",
            "an undisturbed run",
        ),
    ]


QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _grade(folder: CourseFolder, study: str, jobs: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        study,
        "--course",
        str(folder.root),
        "--jobs",
        str(jobs),
    ]


def _files(root: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in root.rglob("*")}
