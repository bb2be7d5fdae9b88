"""Asks the reference, stubs, mutants and any other module text the questions of a study's checks.

A workspace is a folder with one such module. All are asked in the same way, so that a check can be
trusted: what it says about the reference, the stub and the mutants is what it would say about a
student's file with the same text. May import `sandbox`, `mutants` and `verdicts`.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from autograder import verdicts
from autograder.mutants import load_mutants
from autograder.sandbox.client import CannotIsolate, Sandbox
from autograder.sandbox.cluster import Cluster, ClusterSandbox, terms
from autograder.sandbox.limits import Limits
from autograder.sandbox.worker import Open
from autograder.workspace.strip import stub
from course.probes import Check, Study, load_study
from course.probes.outcome import Outcome, mark_by_file
from course.probes.process import ask_module
from course.probes.replies import SECONDS, Replies

SECOND = "second_answer.py"  # beside the answer


def answer_path(study: Study) -> Path:
    """The path of a study's reference answer."""
    return answers_folder(study) / study.assignment / study.module


def answers_folder(study: Study) -> Path:
    """The folder of the staff's answers in the home of a study; it holds some opponents too."""
    return study.home / "autograder" / "answers"


def load_answer(study: str) -> ModuleType:
    """The reference answer of a study ("study3"), imported as a module."""
    path = answer_path(load_study(study))
    spec = spec_from_file_location(f"reference_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def load_mutant(study: str, name: str) -> ModuleType:
    """A mutant of a study's answer, imported as a module."""
    loaded = load_study(study)
    mutant = next(m for m in load_mutants(study) if m.name == name)
    module = ModuleType(f"mutant_{name}")
    exec(mutant.apply(answer_path(loaded).read_text("utf-8")), vars(module))
    return module


def module_texts(study: Study) -> dict[str, str]:
    """The modules that a check is proved on: "reference", "stub", "second" and each mutant by name.

    The second answer, where there is one, was written from the stub and the notebooks alone, by
    somebody who had not seen the first.
    """
    path = answer_path(study)
    answer = path.read_text("utf-8")
    texts = {"reference": answer, "stub": stub(answer, study.module)}
    second = path.with_name(SECOND)
    if second.is_file():
        texts["second"] = second.read_text("utf-8")
    return texts | {m.name: m.apply(answer) for m in load_mutants(study.name)}


@contextmanager
def workspace(study: Study, text: str) -> Iterator[Path]:
    """Make a temporary folder with the module of this text; yields the module's path."""
    with tempfile.TemporaryDirectory(prefix="workspace-") as folder:
        module = Path(folder) / study.module
        module.write_text(text, "utf-8")
        yield module


def ask_all(
    study: Study,
    text: str,
    seconds: float | None = None,
    checks: Collection[str] | None = None,
    most: float | None = None,
) -> Mapping[str, Replies]:
    """The replies of a module with this text to the study's checks (all, or those named)."""
    return {
        name: ask(study, text, check, most or max(seconds or SECONDS, check.seconds or 0))
        for name, check in study.checks.items()
        if checks is None or name in checks
    }


def ask(study: Study, text: str, check: Check, seconds: float) -> Replies:
    """The replies of a module with this text to one check, of the study or made for the moment.

    In a sandbox, which is many times as fast as a new process; where there is none, in one. The
    code is the staff's own, and need not be kept in.
    """
    with _sandbox() as sandbox:
        if sandbox is not None:
            return sandbox.ask(
                {study.module: text.encode()}, study.module, check, seconds, answers_folder(study)
            )
    with workspace(study, text) as module:
        return ask_module(module, check, seconds, answers_folder(study))


@contextmanager
def asking_on(cluster: Cluster) -> Iterator[None]:
    """Ask on the workers of a cluster within the block; what is sent there are the staff's own
    modules. Raises `ClusterGone`."""
    _elsewhere.append((cluster, cluster.slots(terms(Limits()))))
    try:
        yield
    finally:
        _elsewhere.pop()


def at_once() -> int:
    """How many modules can be asked at once, each from a thread of its own."""
    return _elsewhere[-1][1] if _elsewhere else os.cpu_count() or 1


_elsewhere: list[tuple[Cluster, int]] = []  # a cluster, and how much it does at once


_idle: defaultdict[int, list[Open]] = defaultdict(list)  # sandboxes of each process, by its number


@contextmanager
def _sandbox() -> Iterator[Sandbox | ClusterSandbox | None]:
    """A sandbox that nobody else uses meanwhile; None where there can be none.

    It is used again, by whichever thread, unless something failed in it.
    """
    if _elsewhere:
        yield ClusterSandbox(_elsewhere[-1][0], Limits())
    elif _can_isolate():
        idle = _idle[os.getpid()]
        opened = idle.pop() if idle else _starter(os.getpid()).submit(Open, Limits()).result()
        yield opened.sandbox
        idle.append(opened)
    else:
        yield None


@cache
def _starter(_process: int) -> ThreadPoolExecutor:
    """The thread that starts all sandboxes of a process: each would end with whoever starts it."""
    return ThreadPoolExecutor(1)


@cache
def _can_isolate() -> bool:
    try:
        Sandbox(Limits()).close()
    except CannotIsolate:
        return False
    return True


def outcomes_of(study: Study, text: str, checks: Collection[str] | None = None) -> list[Outcome]:
    """The outcomes of the hidden checks of a study for a module with this text."""
    hidden = verdicts.hidden_study(study.name)
    replies = ask_all(hidden, text, checks=checks)
    return [
        mark_by_file(hidden.checks[name], reply, verdicts.expected_file(hidden))
        for name, reply in replies.items()
    ]
