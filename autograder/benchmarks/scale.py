"""Scale: memory and time for each of 1,000 submissions, beside 100."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from autograder.benchmarks import Result
from autograder.benchmarks._classes import generated_class

FEW, MANY = 100, 1_000
LOOK = 0.2  # seconds between two looks at the memory
PEER = f"{FEW} submissions"


def run() -> list[Result]:
    """Peak memory of the trusted side, and seconds per submission, of both runs."""
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as temporary:
        few, many = (_measured(Path(temporary, str(n)), n) for n in (FEW, MANY))
    return [
        Result(f"peak memory at {FEW}", few[0] / 1e6, "MB"),
        Result(f"peak memory at {MANY}", many[0] / 1e6, "MB"),
        Result("peak memory, ratio", many[0] / few[0], "times", "<= 1.3", PEER),
        Result(f"time at {FEW}", few[1], "s/submission"),
        Result(f"time at {MANY}", many[1], "s/submission"),
        Result("time per submission, ratio", many[1] / few[1], "times", "<= 1.2", PEER),
    ]


def _measured(root: Path, students: int) -> tuple[int, float]:
    folder = generated_class(root, "study2", students)
    print(f"grading {students} submissions ...", file=sys.stderr)
    start = time.perf_counter()
    process = psutil.Popen(
        [sys.executable, "-m", "autograder", "grade", "study2", "--course", str(folder.root)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _trusted_memory(process))
        time.sleep(LOOK)
    graded = len(list(root.glob("results/*/*/submission.json")))
    assert graded == students, f"only {graded} of {students} were graded"
    return peak, (time.perf_counter() - start) / students


def _trusted_memory(process: psutil.Process) -> int:
    """Bytes that belong to the command and its workers alone; what is inside sandboxes is left out.

    Pages that forks share count once, divided among them.
    """
    total = 0
    family = [process]
    while family:
        member = family.pop()
        try:
            if member.name() == "bwrap":
                continue
            total += member.memory_full_info().pss
            family += member.children()
        except psutil.Error:
            continue
    return total
