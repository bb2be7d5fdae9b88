"""Runs the checks of a study on the reference, the stub, mutants or any other source text of a
module.

A workspace is a folder with one such module. Checks run in the same way for every module, so the
results for the reference, the stub and the mutants are the results that a student's file with the
same text would get. May import `sandbox` and `studies`.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from autograder.sandbox.client import CannotIsolate, Sandbox
from autograder.sandbox.cluster import Cluster, ClusterSandbox, worker_requirements
from autograder.sandbox.limits import SandboxLimits
from autograder.sandbox.worker import SandboxHandle
from autograder.studies import hidden_cases, load_module
from autograder.studies.mutants import load_mutants
from autograder.workspace.strip import stub
from course.checks import Check, Study, load_study
from course.checks.marking.outcome import Outcome, mark_against_file
from course.checks.replies import SECONDS, Replies
from course.checks.running.process import query_module
from course.checks.study_paths import tables

INDEPENDENT_SOLUTION = "independent_solution.py"  # next to the answer


def answer_path(study: Study) -> Path:
    """Return the path of a study's reference answer."""
    return study.staff_folder / study.module


def correct_answers(study: Study) -> list[Path]:
    """Return the paths of the reference answer and, if there is one, the independent solution."""
    path = answer_path(study)
    second = path.with_name(INDEPENDENT_SOLUTION)
    return [path, second] if second.is_file() else [path]


def answers_folder(study: Study) -> Path:
    """Return the folder that contains the staff's folders of all studies. Some answers are
    opponents in matches.
    """
    return study.staff_folder.parent


def load_answer(study: str) -> ModuleType:
    """Import the reference answer of a study ("study3") as a module."""
    return load_module(answer_path(load_study(study)))


@cache
def load_mutant(study: str, name: str) -> ModuleType:
    """Import a mutant of a study's answer as a module."""
    loaded = load_study(study)
    mutant = next(m for m in load_mutants(study) if m.name == name)
    module = ModuleType(f"mutant_{name}")
    exec(mutant.apply(answer_path(loaded).read_text("utf-8")), vars(module))
    return module


def module_texts(study: Study) -> dict[str, str]:
    """Return the texts of the modules that verify a check: "reference", "stub", "second" and each
    mutant by name.

    "second", if it exists, is the independent solution, written from the stub and the notebooks
    without knowledge of the answer.
    """
    path = answer_path(study)
    answer = path.read_text("utf-8")
    texts = {"reference": answer, "stub": stub(answer, study.module)}
    second = path.with_name(INDEPENDENT_SOLUTION)
    if second.is_file():
        texts["second"] = second.read_text("utf-8")
    return texts | {m.name: m.apply(answer) for m in load_mutants(study.name)}


@contextmanager
def workspace(study: Study, text: str) -> Iterator[Path]:
    """Make a temporary folder with a module that has this text; yield the module's path."""
    with tempfile.TemporaryDirectory(prefix="workspace-") as folder:
        module = Path(folder) / study.module
        module.write_text(text, "utf-8")
        yield module


def run_checks(
    study: Study,
    text: str,
    seconds: float | None = None,
    checks: Collection[str] | None = None,
    max_seconds: float | None = None,
) -> Mapping[str, Replies]:
    """Return the replies of a module with this text to the study's checks (all, or those in
    `checks`).

    The time limit of a check is `seconds` or its own limit, whichever is longer, unless
    `max_seconds` is given.
    """
    return {
        name: run_check(
            study, text, check, max_seconds or max(seconds or SECONDS, check.seconds or 0)
        )
        for name, check in study.checks.items()
        if checks is None or name in checks
    }


def run_check(study: Study, text: str, check: Check, seconds: float) -> Replies:
    """Return the replies of a module with this text to one check. The check belongs to the study or
    is made for a single call.

    The check runs in a sandbox, which is many times as fast as a new process. If no sandbox is
    available, it runs in a process, because the staff's own code need not be isolated.
    """
    with _sandbox() as sandbox:
        if sandbox is not None:
            return sandbox.run_check(
                {study.module: text.encode()}, study.module, check, seconds, answers_folder(study)
            )
    with workspace(study, text) as module:
        return query_module(module, check, seconds, answers_folder(study))


@contextmanager
def use_cluster(cluster: Cluster) -> Iterator[None]:
    """Run checks on the workers of a cluster within the block.

    The staff's own modules are sent to the workers. Raises `ClusterUnavailable`.
    """
    _clusters.append((cluster, cluster.slots(worker_requirements(SandboxLimits()))))
    try:
        yield
    finally:
        _clusters.pop()


def max_parallel() -> int:
    """Return how many checks can run at the same time, each started by a separate thread."""
    return _clusters[-1][1] if _clusters else os.cpu_count() or 1


_clusters: list[tuple[Cluster, int]] = []  # clusters in use, each with the number of parallel tasks
Pool = tuple[int, tuple[Path, ...]]  # a process, and the tables of the studies in its sandboxes
_idle: defaultdict[Pool, list[SandboxHandle]] = defaultdict(list)  # unused sandboxes


@contextmanager
def _sandbox() -> Iterator[Sandbox | ClusterSandbox | None]:
    """Yield a sandbox that no other thread uses; None if sandboxes are not available.

    The sandbox can be reused later by any thread, unless the block raises an error.
    """
    if _clusters:
        yield ClusterSandbox(_clusters[-1][0], SandboxLimits())
    elif _can_isolate():
        idle = _idle[os.getpid(), tuple(tables().values())]  # a course may add studies
        handle = (
            idle.pop()
            if idle
            else _starter(os.getpid()).submit(SandboxHandle, SandboxLimits()).result()
        )
        yield handle.sandbox
        idle.append(handle)
    else:
        yield None


@cache
def _starter(_process: int) -> ThreadPoolExecutor:
    """Return the thread that starts the sandboxes of a process, because each sandbox ends with the
    thread that started it.
    """
    return ThreadPoolExecutor(1)


@cache
def _can_isolate() -> bool:
    try:
        Sandbox(SandboxLimits()).close()
    except CannotIsolate:
        return False
    return True


def outcomes_of(study: Study, text: str, checks: Collection[str] | None = None) -> list[Outcome]:
    """Return the outcomes of the hidden checks of a study for a module with this text."""
    hidden = hidden_cases.hidden_study(study.name)
    replies = run_checks(hidden, text, checks=checks)
    return [
        mark_against_file(hidden.checks[name], reply, hidden_cases.expected_file(hidden))
        for name, reply in replies.items()
    ]
