"""A job's memory contains no data of another job, only its own queries.

The attack submits a module that inspects every reachable object, the raw memory around all objects
(including freed memory) and its open files. It knows its targets by digests only, so that it does
not find itself.

Because such a program could search in the wrong places, the whole mapped memory of a process is
also searched from outside, with its open and writable files: for every check of every study, for
replies and for cells. Code inside cannot read more than that.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.benchmarks.support.browser.harness import wait_until
from autograder.sandbox import launch
from autograder.sandbox.client import Job, Sandbox, _pid
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.tests.support.needs import need, need_isolation
from course.checks import Case, Check, load_study, studies
from course.checks.question import texts_of
from course.checks.questions import MATCHES

QUICK = ("study6", "study8")  # whose positions come from games that have to be played
SECONDS = 60.0
SHORTEST = 5  # minimum length of a searched text: "1" is everywhere
DUMP = r'''
import ctypes, gc, hashlib, os, re

WANTED = set("{wanted}".split())
PAGE = 4096


def digest(text):
    return hashlib.sha256(text).hexdigest()[:12]


def objects():
    seen, waiting = set(), [gc.get_objects()]
    for frozen in (gc.unfreeze, gc.get_objects):
        waiting.append(frozen())
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += gc.get_referents(one)


def pieces(data):
    for run in re.findall(rb"[ -~]{{5,500}}", data):
        yield run
        yield from run.split(b'"')
        yield from run.split(b" ", 1)[1:]


def raw(places):
    """The memory in and near the pages of these addresses. Writing an unmapped page into a pipe
    is an error, not a crash."""
    read, write = os.pipe()
    libc = ctypes.CDLL(None, use_errno=True)
    pages = sorted({{place // PAGE + near for place in places for near in range(-4, 5)}})
    for page in pages:
        count = libc.write(write, ctypes.c_void_p(page * PAGE), PAGE)
        if count > 0:
            yield os.read(read, count)


def files():
    for number in range(64):
        try:
            if os.fstat(number).st_size > 0:
                yield os.pread(number, 1 << 20, 0)
        except OSError:
            pass


def found():
    texts, places = set(), set()
    for one in objects():
        places.add(id(one))
        if isinstance(one, str):
            texts.add(one.encode("utf-8", "replace"))
        elif isinstance(one, (bytes, bytearray)):
            texts.update(pieces(bytes(one)))
    for data in [*raw(places), *files()]:
        texts.update(pieces(data))
    return sorted(WANTED & set(map(digest, texts))), len(texts), len(places)


HITS, TEXTS, PLACES = found()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def f(*a, **k):
        raise ValueError(f"{{TEXTS}} texts, {{PLACES}} objects, hits: {{' '.join(HITS)}}")

    class Anything(type):
        def __getattr__(cls, name):
            return f

    return Anything(name, (), {{"__init__": f}}) if name[0].isupper() else f
'''


def needles(cases: Iterable[Case]) -> set[str]:
    """Texts that identify cases: positions, as stored and as read."""
    texts = {text for case in cases for text in texts_of(case)}
    return {
        text for text in texts | {text.partition(" ")[2] for text in texts} if len(text) >= SHORTEST
    }


def checks_of(study: str) -> Iterator[Check]:
    """The checks whose hidden cases contain positions."""
    for check in hidden_cases.hidden_study(study).checks.values():
        if check.ask not in MATCHES and needles(check.cases):
            yield check


def digest(text: str) -> str:
    """The digest that the module computes."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def hits(sandbox: Sandbox, study: str, check: Check, wanted: set[str]) -> set[str]:
    """Which of these texts a process with a single case finds, except its own."""
    module = load_study(study).module
    own = needles(check.cases[:1])
    named = {digest(text): text for text in wanted - own}
    text = DUMP.format(wanted=" ".join(named))
    replies = sandbox.run_check(
        {module: text.encode()}, module, replace(check, cases=check.cases[:1]), SECONDS
    )
    said = repr(replies)
    shown = re.search(r"(\d+) texts, (\d+) objects, hits:([ 0-9a-f]*)", said)
    assert shown, said
    assert int(shown[1]) > 10_000 and int(shown[2]) > 10_000  # it did search
    return {named[each] for each in shown[3].split()}


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(
            name,
            marks=[] if name in QUICK else [pytest.mark.slow, pytest.mark.content(name)],
        )
        for name in studies()
    ],
)
def test_a_process_finds_no_case_but_its_own(sandbox, study):
    """The same parent has just served other jobs, which received all cases."""
    checks = list(checks_of(study))
    wanted = {text for check in checks for text in needles(check.cases)}
    module = load_study(study).module
    for check in checks:
        sandbox.run_check({module: b"x = 1\n"}, module, check, SECONDS)
    for check in checks[:1] if study in QUICK else checks:
        assert hits(sandbox, study, check, wanted) == set()


DISTINCT = 12  # length of a value that identifies a case
WAITS = "open('begun', 'w').close()\nimport time\nwhile True: time.sleep(999)\n"
READABLE = re.compile(rb"[ -~]{5,}")  # Python stores such a text with one byte per letter
BEGUN = "tmp/submission/begun"
PUBLIC = [load_study(name).table for name in studies()]


def values(case: Case) -> set[str]:
    """Texts that identify a case: its positions, and other values in JSON."""
    found = needles([case])
    for value in case.values():
        text = value if isinstance(value, str) else json.dumps(value)
        found |= {text} if len(text) >= DISTINCT else set()
    return found


def hidden_values(study: str) -> set[str]:
    """The values of all hidden cases of a study, except public ones."""
    public = "".join(path.read_text("utf-8") for path in PUBLIC)
    found = {
        text
        for check in hidden_cases.hidden_study(study).checks.values()
        if check.ask not in MATCHES
        for case in check.cases
        for text in values(case)
    }
    return {text for text in found if text not in public}


def mapped(pid: int) -> Iterator[bytes]:
    """All memory that a process can read, except unmodified file mappings."""
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text("ascii").splitlines():
            span, rights, _, _, inode, *name = line.split()
            if "r" in rights and ("w" in rights or inode == "0") and name != ["[vvar]"]:
                start, end = (int(place, 16) for place in span.split("-"))
                memory.seek(start)
                with contextlib.suppress(OSError):  # a kernel page
                    while start < end and (data := memory.read(end - start)):
                        start += len(data)
                        yield data


def files_of(pid: int) -> Iterator[bytes]:
    """The contents of the files that a process can write or has open."""
    for folder in ("tmp", "dev/shm"):
        yield from (
            path.read_bytes()
            for path in Path(f"/proc/{pid}/root", folder).rglob("*")
            if path.is_file()
        )
    for link in Path(f"/proc/{pid}/fd").iterdir():
        kind = link.stat().st_mode
        assert (
            stat.S_ISSOCK(kind)
            or link.readlink().is_relative_to("/tmp")
            or link.readlink() == Path("/dev/null")
        )


def found_in(job: Job, wanted: set[str]) -> set[str]:
    """Which of the texts are in the job's process after its code has started."""
    pid = _pid(job.pidfd)
    wait_until(lambda: Path(f"/proc/{pid}/root", BEGUN).exists(), "its code did not begin")
    pieces = [*mapped(pid), *files_of(pid)]
    assert sum(map(len, pieces)) > 5_000_000  # it did search
    readable = b"\n".join(run for piece in pieces for run in READABLE.findall(piece))
    return {text for text in wanted if text.encode("ascii") in readable}


def one_case(check: Check) -> dict:
    """The request for the first case alone."""
    return {"ask": check.ask, "cases": [{**check.settings, **check.cases[0]}]}


@pytest.mark.parametrize(
    "heavy", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["light", "heavy"]
)
@pytest.mark.parametrize(
    "study",
    [
        pytest.param(
            name,
            marks=[] if name == "study1" else [pytest.mark.slow, pytest.mark.content(name)],
        )
        for name in studies()
    ],
)
def test_in_all_memory_there_is_no_case_but_its_own(sandbox, study, heavy):
    """For every check: the same parent has served jobs with all cases, and notebooks have run."""
    need(os.geteuid() == 0, "only root reads the memory of other processes")
    checks = [
        check
        for check in hidden_cases.hidden_study(study).checks.values()
        if check.ask not in MATCHES
    ]
    module, wanted = load_study(study).module, hidden_values(study)
    mark = "# numpy\n" * heavy
    for check in checks:
        sandbox.run_check({module: f"{mark}x = 1\n".encode()}, module, check, SECONDS)
    for check in checks:
        request = one_case(check) | {"module": module}
        with sandbox.job("questions", {module: f"{mark}{WAITS}".encode()}, request, 1 << 20) as job:
            found = found_in(job, wanted)
        own = values(check.cases[0])
        assert found <= {text for text in wanted if any(text in mine for mine in own)}
        assert found or not needles(check.cases[:1]) & wanted  # its own position is found
    with sandbox.job("cells", {}, {"cells": [WAITS], "characters": 1000}, 1 << 20) as job:
        assert found_in(job, wanted) == set()


@pytest.mark.slow
def test_what_the_parent_knew_would_be_found(monkeypatch, tmp_path):
    """Positions read before the fork are found, as if one job had left them for the next."""
    need_isolation()
    check = next(check for check in checks_of("study6") if len(needles(check.cases)) > 6)
    wanted = needles(check.cases)
    shutil.copytree(Path(launch.HERE) / "inside", tmp_path / "inside")
    path = tmp_path / "inside" / "questions.py"
    text = path.read_text("utf-8")
    old = "    import tictactoe  # noqa: F401\n"
    assert text.count(old) == 1
    read = sorted(text for case in check.cases for text in texts_of(case))
    new = (
        f"{old}    from course.checks.positions import read_position\n"
        f"    for text in {read!r}:\n        read_position(text)\n"
    )
    path.write_text(text.replace(old, new), "utf-8")
    monkeypatch.setattr(launch, "HERE", tmp_path)
    with Sandbox(SandboxLimits()) as weak:
        assert hits(weak, "study6", check, wanted)
        module = load_study("study6").module
        request = one_case(check) | {"module": module}
        if os.geteuid() == 0:
            with weak.job("questions", {module: WAITS.encode()}, request, 1 << 20) as job:
                assert found_in(job, wanted - needles(check.cases[:1]))
