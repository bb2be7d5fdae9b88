"""Scale: memory and time per submission, at 1,000 and at 100."""

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
    """Measure peak memory of the trusted side and seconds per submission, for both sizes."""
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as temporary:
        few, many = (_measured(Path(temporary, str(n)), n) for n in (FEW, MANY))
    return [
        Result(f"peak memory at {FEW}", few[0] / 1e6, "MB"),
        Result(f"peak memory at {MANY}", many[0] / 1e6, "MB"),
        Result("peak memory, ratio", many[0] / few[0], "times", "<= 1.3", PEER),
        Result("open files, ratio", many[2] / few[2], "times", "<= 1.3", PEER),
        Result(f"time at {FEW}", few[1], "s/submission"),
        Result(f"time at {MANY}", many[1], "s/submission"),
        Result("time per submission, ratio", many[1] / few[1], "times", "<= 1.2", PEER),
    ]


def _measured(root: Path, students: int) -> tuple[int, float, int]:
    """Peak memory, seconds per submission while grading, and most open files of one run."""
    folder = generated_class(root, "alpha_beta", students)
    print(f"grading {students} submissions ...", file=sys.stderr)
    process = psutil.Popen(
        [sys.executable, "-m", "autograder", "grade", "alpha_beta", "--course", str(folder.root)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = most = 0
    while process.poll() is None:
        memory, files = trusted_side(process)
        peak, most = max(peak, memory), max(most, files)
        time.sleep(LOOK)
    times = sorted(path.stat().st_mtime for path in root.glob("results/*/*/submission.json"))
    assert len(times) == students, f"only {len(times)} of {students} were graded"
    return peak, (times[-1] - times[0]) / (students - 1), most


def trusted_side(process: psutil.Process) -> tuple[int, int]:
    """Bytes and open files of the command and its workers; what is inside sandboxes is left out.

    Pages that forks share count once, divided among them.
    """
    total = files = 0
    family = [process]
    while family:
        member = family.pop()
        try:
            if member.name() == "bwrap":
                continue
            total += member.memory_full_info().pss
            files += member.num_fds()
            family += member.children()
        except psutil.Error:
            continue
    return total, files
