"""Cluster: a class on two Dask workers with PostgreSQL and failures.

Grading on the cluster is compared with grading on this machine into SQLite, with the same number of
workers. One worker of the cluster is killed every minute (more often in a short run), and the
scheduler is killed once. `--size` is the number of submissions, which include correct modules,
mutants, stubs, and endless and broken modules. The results of this machine are stored in
build/benchmarks/cluster.jsonl, so that an interrupted run continues with the cluster.
"""

import math
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from pprint import pformat

from autograder.benchmarks import Result
from autograder.benchmarks.support.classes import generated_class
from autograder.benchmarks.support.cluster import LocalCluster, local_cluster, need
from autograder.benchmarks.support.journal import journal_of_grading
from autograder.benchmarks.support.watch import measured_command
from autograder.course_folder import CourseFolder
from autograder.reporting.export import read_marks

STUDY = "alpha_beta"
WORKERS = 2
# Seconds after which another worker is killed; a quarter of the run if that is shorter.
EVERY = 60.0
MIN_SECONDS = 5.0  # enough for any submission; a task that always loses its worker fails
DEATHS = math.inf  # the maximum number of deaths of workers
ODD = {37: "while True:\n    pass\n", 61: "def AlphaBeta(:\n", 83: None}  # one of so many


def run(size: int = 1_000) -> list[Result]:
    """Grade the same class twice; compare marks, time and memory."""
    need("cluster", "distributed", "psycopg")
    from autograder.benchmarks.support.postgres import (
        server as postgres,  # only on Unix
    )

    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as temporary, postgres() as server:
        root, journal = Path(temporary), journal_of_grading(Path(__file__), STUDY)
        ours, seconds, memory = journal.measured(
            ("here", size), lambda: _graded(_class(root / "here", size))
        )
        there = _class(root / "there", size, server.new_url())
        (root / "cluster").mkdir()
        with local_cluster(root / "cluster", WORKERS) as cluster:
            deaths = _Deaths(cluster, min(EVERY, max(MIN_SECONDS, seconds / 4)))
            with deaths:
                same, theirs, their_memory = _graded(
                    there, "--scheduler", cluster.address, "--jobs", str(WORKERS)
                )
    journal.close()
    long = ">= 1" if theirs > 4 * EVERY else None  # a shorter run may end before that
    peer = "this machine's engine, SQLite"
    return [
        Result(
            "students with different marks",
            _differing(size, ours, same),
            f"of {size}",
            "== 0",
            peer,
        ),
        Result("deaths of workers", deaths.workers, "times", long),
        Result("deaths of the scheduler", deaths.schedulers, "times", long),
        Result("time per submission", theirs / size, "s"),
        Result("time per submission, ratio", theirs / seconds, "times", "<= 1.2", peer),
        Result("peak memory of the trusted side", their_memory / 1e6, "MB"),
        Result("peak memory, ratio", their_memory / memory, "times", "<= 1.3", peer),
    ]


def _class(root: Path, size: int, db_url: str | None = None) -> CourseFolder:
    """Generate a class; `db_url`, if given, is the address of its gradebook."""
    folder = generated_class(root, STUDY, size, db_url)
    study = folder.assignment(STUDY)
    for number, student in enumerate(sorted(folder.submitted(study.assignment)), 1):
        for every, text in ODD.items():
            module = folder.submission(study.assignment, student) / study.module
            if number % every:
                continue
            if text is None:
                module.unlink()
            else:
                module.write_text(text, "utf-8")
    return folder


def _graded(folder: CourseFolder, *options: str) -> tuple[dict[str, str], float, int]:
    """Return all marks, the duration of a whole `grade` in seconds, and its peak memory in bytes."""
    print(f"grading {folder.root.name} ...", file=sys.stderr)
    seconds, use = measured_command("grade", STUDY, "--course", str(folder.root), *options)
    marks = read_marks(folder).columns[0].marks
    return {student: pformat(marks[student]) for student in marks}, seconds, use.memory


def _differing(size: int, ours: Mapping[str, str], theirs: Mapping[str, str]) -> int:
    """Return how many students have different marks, or have marks on only one of the two sides."""
    return size - sum(ours[student] == theirs[student] for student in ours.keys() & theirs.keys())


class _Deaths:
    """Kills workers within the block and, after the second one, the scheduler."""

    def __init__(self, cluster: LocalCluster, every: float) -> None:
        self._cluster, self._every = cluster, every
        self.workers = self.schedulers = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_) -> None:
        self._over.set()
        self._thread.join()

    def _kill(self) -> None:
        while self.workers < DEATHS and not self._over.wait(self._every):
            if self.workers == 2 and not self.schedulers:
                self._cluster.restart_scheduler(away=5)
                self.schedulers += 1
            else:
                self._cluster.kill_worker(self.workers % WORKERS)
                self.workers += 1
            print(
                f"{self.workers} workers and {self.schedulers} schedulers killed", file=sys.stderr
            )
