"""Scale: the cost of a class by its size, its modules and its workers.

CPU time, memory, network traffic and the sizes of the gradebook and of files are measured for 100,
1,000 and `--size` submissions. The class of 100 is also graded by one worker, with modules ten
times as long, and by a cluster on this machine. With 1,000 submissions or more, docs/scale.md is
updated. An interrupted run continues from build/benchmarks/scale.jsonl.
"""

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psutil

from autograder.benchmarks import Result
from autograder.benchmarks.grading._scale_page import PAGE, section, with_section
from autograder.benchmarks.support.classes import generated_class
from autograder.benchmarks.support.cluster import local_cluster, need
from autograder.benchmarks.support.journal import journal_of_grading
from autograder.benchmarks.support.relay import relay
from autograder.benchmarks.support.watch import Use, measured_command
from autograder.course_folder import CourseFolder

STUDY = "alpha_beta"
FEW, MANY, MOST = 100, 1_000, 10_000
WORKERS = 2
LONG = 10  # factor for the length of a module
STAGES = ("submitted", "autograded", "results")


class Case(NamedTuple):
    """A class and its workers."""

    students: int
    workers: int = WORKERS
    length: int = 1
    cluster: bool = False
    feedback: bool = False  # whether feedback is written as well


def run(size: int = MANY) -> list[Result]:
    """Grade the classes up to this size, and compare the largest class with the smallest."""
    if size < 2:
        raise LookupError("the benchmark 'scale' needs a class of two or more")
    need("scale", "distributed")
    journal = journal_of_grading(Path(__file__), STUDY)
    measurements = {
        title: journal.measured((title, *case), partial(measured, case))
        for title, case in cases(size).items()
    }
    if size >= MANY:
        PAGE.write_text(with_section(PAGE.read_text("utf-8"), section(measurements)), "utf-8")
        print(f"page: {PAGE}", file=sys.stderr)
    else:
        print(section(measurements), file=sys.stderr)
    journal.close()
    return results(measurements, size)


def cases(size: int) -> dict[str, Case]:
    """Return the classes, by their titles in the table."""
    few = min(FEW, max(2, size // 2))
    sizes = [n for n in (few, MANY, MOST) if n < size] + [size]
    return {
        **{f"{n:,} submissions": Case(n, feedback=n == sizes[0]) for n in sizes},
        f"{few}, one worker": Case(few, workers=1),
        f"{few}, modules {LONG} times as long": Case(few, length=LONG),
        f"{few}, a cluster": Case(few, cluster=True),
    }


def measured(case: Case) -> dict[str, float]:
    """Return the cost of a class per submission, except for memory and open files, which are peak
    values.
    """
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as temporary, ExitStack() as opened:
        root, n = Path(temporary), case.students
        folder = generated_class(root / "course", STUDY, n, length=case.length)
        before, options, processes, between = _gradebook(folder), [], [], None
        if case.cluster:
            cluster = opened.enter_context(local_cluster(root, case.workers))
            between = opened.enter_context(relay(cluster.address))
            options = ["--scheduler", between.address]
            processes = [psutil.Process(process.pid) for process in cluster.processes]
        dask, started = Use(*processes), Use(*processes)
        started.sample()
        print(f"grading {case} ...", file=sys.stderr)
        _, use = measured_command(
            "grade", STUDY, "--course", str(folder.root), "--jobs", str(case.workers), *options
        )
        dask.sample()
        times = [path.stat().st_mtime for path in folder.root.glob("results/*/*/submission.json")]
        if len(times) != n:
            raise RuntimeError(f"only {len(times)} of {n} submissions were graded")
        inside = use.sandbox_seconds + dask.sandbox_seconds - started.sandbox_seconds
        measurements = {
            "trusted": use.seconds / n,
            "sandboxes": inside / n,
            "time": (max(times) - min(times)) / (n - 1),
            "memory": use.memory / 1e6,
            "files open": use.files,
            "gradebook": (_gradebook(folder) - before) / 1e3 / n,
            "files": sum(_on_disk(folder.root / stage) for stage in STAGES) / 1e3 / n,
        }
        if between is not None:
            measurements |= {
                "dask": (dask.seconds - started.seconds) / n,
                "sent": between.sent / 1e3 / n,
                "received": between.received / 1e3 / n,
            }
        else:
            measurements["sandbox memory"] = use.sandbox_memory / 1e6
        if case.feedback:
            _, use = measured_command(
                "feedback", STUDY, "--course", str(folder.root), "--jobs", str(case.workers)
            )
            measurements |= {
                "feedback": use.seconds / n,
                "pages": _on_disk(folder.root / "feedback") / 1e3 / n,
            }
        return measurements


def results(measurements: dict[str, dict[str, float]], size: int) -> list[Result]:
    """Return the figures of the first and the largest class, and their ratios."""
    few, many = next(iter(measurements)), f"{size:,} submissions"
    first, last = measurements[few], measurements[many]
    return [
        Result(f"peak memory, {few}", first["memory"], "MB"),
        Result(f"peak memory, {many}", last["memory"], "MB"),
        Result("peak memory, ratio", last["memory"] / first["memory"], "times", "<= 1.3", few),
        Result(
            "open files, ratio", last["files open"] / first["files open"], "times", "<= 1.3", few
        ),
        Result(f"time, {few}", first["time"], "s/submission"),
        Result(f"time, {many}", last["time"], "s/submission"),
        Result("time per submission, ratio", last["time"] / first["time"], "times", "<= 1.2", few),
    ]


def _gradebook(folder: CourseFolder) -> int:
    return sum(path.stat().st_size for path in folder.root.glob("gradebook.db*"))


def _on_disk(root: Path) -> int:
    """Return the disk space of a folder in bytes; small files occupy a whole block."""
    return sum(path.lstat().st_blocks * 512 for path in (root, *root.rglob("*")))
