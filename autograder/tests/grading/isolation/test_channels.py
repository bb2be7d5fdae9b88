"""Jobs of one grading run cannot send or reveal anything to one another by deterministic means.

Each channel has a program that sends a bit in one job and another that receives it in a second job.
Without the protections, the bit arrives. Remaining channels, such as timing, are described in
`docs/security.md`.
"""

import contextlib
import errno
import os
import pydoc_data.topics
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import launch
from autograder.sandbox.client import JobResult, Sandbox
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.needs import need_isolation
from course.checks import Check, load_study

# All tests use the same file and devices, so two processes would interfere.
pytestmark = pytest.mark.xdist_group("channels")
SECONDS = 120.0
ATTEMPTS = 5
START = """
import ctypes, errno, fcntl, os, signal, struct, time
import pydoc_data.topics
FILE = pydoc_data.topics.__file__  # which all jobs can read and no other process reads now
LOCKED = (errno.EAGAIN, errno.EACCES)
def taken(lock):
    try:
        lock()
    except OSError as error:
        if error.errno not in LOCKED:
            raise
        return 1
    return 0
"""
# Name -> program that sends BIT, program that prints it. Held channels need both jobs
# simultaneously.
HELD = {
    "a lock of a whole file": (
        "file = open(FILE)\nif BIT: fcntl.flock(file, fcntl.LOCK_EX)",
        "file = open(FILE)\nprint(taken(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)))",
    ),
    "a lock of a device": (
        "file = open('/dev/null', 'r+b', 0)\nif BIT: fcntl.lockf(file, fcntl.LOCK_EX)",
        "file = open('/dev/null', 'r+b', 0)\n"
        "print(taken(lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)))",
    ),
    "a lock of an open file": (
        "file = open('/dev/null', 'r+b', 0)\n"
        "if BIT: fcntl.fcntl(file, 37, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))",
        "file = open('/dev/null', 'r+b', 0)\nprint(taken(lambda: fcntl.fcntl("
        "file, 37, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))))",
    ),
    "a lock for reading, which is looked up": (
        "file = open(FILE)\nif BIT: fcntl.lockf(file, fcntl.LOCK_SH)",
        "file = open(FILE)\nseen = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("
        "'hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))\n"
        "print(int(struct.unpack('hhqqi', seen)[0] != fcntl.F_UNLCK))",
    ),
    "a notification of reads": (
        "if os.fork() == 0:\n"
        "    while BIT:\n        open(FILE).read(1)\n        time.sleep(0.01)\n    os._exit(0)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGIO})\n"
        "folder = os.open(os.path.dirname(FILE), os.O_RDONLY)\n"
        "fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)\n"
        "print(int(bool(signal.sigtimedwait({signal.SIGIO}, 10))))",
    ),
}
LEFT = {
    "pages of a file in memory": (
        "file = os.open(FILE, os.O_RDONLY)\n"
        "os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)\nif BIT: os.read(file, 100)",
        "file = os.open(FILE, os.O_RDONLY)\n"
        "print(1 - taken(lambda: os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)))",
    ),
    "the time of a device": (
        "if BIT: os.utime('/dev/null')",
        "print(int(os.stat('/dev/null').st_mtime_ns != BEFORE))",
    ),
}
# System calls through which jobs could see shared state: they fail as on a kernel that lacks them.
CALLS = {
    "sysinfo": "libc.sysinfo(ctypes.create_string_buffer(200))",
    "readahead": "libc.readahead(file, ctypes.c_long(0), 4096)",
    "mincore": "libc.mincore(ctypes.c_void_p(page), 4096, ctypes.create_string_buffer(1))",
    "pages dropped": "libc.madvise(ctypes.c_void_p(page), 4096, 21)",
    "pages compared": "libc.madvise(ctypes.c_void_p(page), 4096, 12)",
    "a lease": "libc.fcntl(file, 1025, 0)",
    "signals of a descriptor": "libc.fcntl(file, 10, 12)",
    "the size of a pipe": "libc.fcntl(os.pipe()[0], 1032, 0)",
}
REMOVED = "flock fcntl fadvise64 readahead mincore preadv2 madvise sysinfo"
WEAKER = {  # file: its protections, and their replacement in the weak sandbox
    "syscall_filter.py": [('CALLS = """\n', f'CALLS = """\n    {REMOVED}\n')],
    "isolate.py": [("        _seal_devices()\n", "")],
    "zygote.py": [
        (
            "        _report_end(control, pid)\n",
            "        _, status, usage = os.wait4(pid, 0)\n        control.send(End(status))\n",
        )
    ],
}


@contextlib.contextmanager
def two() -> Iterator[tuple[Sandbox, Sandbox]]:
    """Two sandboxes, like two workers of one grading run."""
    need_isolation()
    with Sandbox(SandboxLimits()) as first, Sandbox(SandboxLimits()) as second:
        yield first, second


@pytest.fixture(scope="module")
def strong():
    """Two sandboxes with all protections."""
    with two() as both:
        yield both


@pytest.fixture(scope="module")
def weak(tmp_path_factory):
    """Two sandboxes without the protections."""
    folder = tmp_path_factory.mktemp("weak")
    shutil.copytree(Path(launch.HERE) / "inside", folder / "inside")
    for name, edits in WEAKER.items():
        path = folder / "inside" / name
        text = path.read_text("utf-8")
        for old, new in edits:
            assert text.count(old) == 1
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:  # not for sandboxes started later
            patch.setattr(launch, "HERE", folder)
            both = stack.enter_context(two())
        yield both


def last_output(ran: JobResult) -> str:
    """What the last cell printed, or the error that ended it."""
    return "".join(
        output.get("text") or f"{output.ename}: {output.evalue}"
        for output in (ran.outputs[-1] or [])
    )


def received(sandboxes: tuple[Sandbox, Sandbox], name: str, bit: int) -> str:
    """The bit that a job receives when another one sends `bit`."""
    first, second = sandboxes
    before = f"BEFORE = {Path('/dev/null').stat().st_mtime_ns}\n"
    send, receive = (HELD | LEFT)[name]
    send = f"{START}BIT = {bit}\n{send}\n"
    if name in LEFT:
        first.run_cells({}, [send], SECONDS, SECONDS, SECONDS)
        return last_output(
            first.run_cells({}, [START + before + receive], SECONDS, SECONDS, SECONDS)
        )
    request = {"cells": [send, "import time; time.sleep(9999)"], "characters": 10_000}
    with first.job("cells", {}, request, 1 << 20) as sending:
        while sending.receive(sending.clock(SECONDS)).get("end") != 0:
            pass
        return last_output(second.run_cells({}, [START + receive], SECONDS, SECONDS, SECONDS))


@pytest.mark.parametrize("name", HELD | LEFT)
def test_a_bit_does_not_arrive(strong, name):
    """Whichever bit is sent, the receiver reads the same value or gets an error."""
    assert received(strong, name, 0) == received(strong, name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD | LEFT)
def test_without_the_protection_it_does(weak, name):
    """Without the protection the programs do send and receive."""
    if name == "pages of a file in memory":
        _need_nowait()
    for bit in (1, 0, 1):  # repeated if another process has just read the same file
        assert any(received(weak, name, bit) == f"{bit}\n" for _ in range(ATTEMPTS))


def _need_nowait() -> None:
    """Skip on file systems that cannot report whether a page is in memory."""
    file = os.open(pydoc_data.topics.__file__, os.O_RDONLY)
    try:
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
    except BlockingIOError:
        pass
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            pytest.skip("this file system has no reads without waiting")
        raise
    finally:
        os.close(file)


def _answer(sandbox: Sandbox, call: str) -> str:
    return last_output(
        sandbox.run_cells(
            {},
            [
                f"{START}import mmap\n"
                f"""
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(FILE, os.O_RDONLY)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 1, 2, file, ctypes.c_long(0))
found = {call}
print(found if found >= 0 else errno.errorcode[ctypes.get_errno()])"""
            ],
            SECONDS,
            SECONDS,
            SECONDS,
        )
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_shows_what_others_do_does_not_exist(strong, weak, name):
    """The kernel appears to lack the call, which exists without the filter."""
    assert _answer(strong[0], CALLS[name]) == "ENOSYS\n"
    assert _answer(weak[0], CALLS[name]) != "ENOSYS\n"


ENDS = """
import os, sys
if os.path.exists("spy"):
    found, frame = [], sys._getframe()
    while frame:
        found += [f"{name}={value!r}" for name, value in frame.f_locals.items()
                  if value == 7 << 8 or type(value).__name__ == "struct_rusage"]
        frame = frame.f_back
    raise ValueError(f"found: {found}")
os._exit(7)
"""


def test_a_job_does_not_see_how_the_last_one_ended(strong, weak):
    """The exit status and the resource usage could both carry a message, so neither is visible."""
    study = load_study("study1")
    check: Check = study.checks["minimax"]
    for (sandbox, _), finds in ((strong, False), (weak, True)):
        assert sandbox.run_check(
            {study.module: ENDS.encode()}, study.module, check, SECONDS
        ).stopped
        broken = sandbox.run_check(
            {study.module: ENDS.encode(), "spy": b""}, study.module, check, SECONDS
        ).broken
        assert broken.startswith("ValueError: found: ")
        assert ("status=1792" in broken and "rusage" in broken) == finds
        assert ("found: []" in broken) != finds


def test_what_programs_need_is_still_there(strong):
    """Copies of descriptors, flags, files, pipes and positioned reads work normally."""
    program = """
import os, shutil, subprocess, tempfile, threading, mmap
file = os.open(FILE, os.O_RDONLY)
assert os.preadv(file, [bytearray(4)], 0) == 4 and os.get_inheritable(os.dup(file)) is False
os.set_inheritable(file, True); os.set_blocking(os.pipe()[0], False)
assert fcntl.fcntl(file, fcntl.F_GETFL) == os.O_RDONLY | 0o100000
open(os.devnull, "w").write("x"); open("/dev/urandom", "rb").read(1)
shutil.copy(FILE, "copy.py"); assert open("copy.py").read() == open(FILE).read()
with open("copy.py", "r+b") as copy, mmap.mmap(copy.fileno(), 0) as mapped:
    mapped.madvise(mmap.MADV_RANDOM)
assert subprocess.run(["cat", "copy.py"], capture_output=True).stdout == open(FILE, "rb").read()
assert sum(1 for _ in tempfile.TemporaryFile("w+")) == 0
import numpy; numpy.zeros(10**7).sum()
print("ok")"""
    ran = strong[0].run_cells({}, [START + program], SECONDS, SECONDS, SECONDS)
    assert last_output(ran) == "ok\n"
