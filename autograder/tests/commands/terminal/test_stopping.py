"""Signals end a command in order if possible, and by force otherwise."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from autograder.benchmarks.support.signals import Command, adopting
from autograder.commands.stopping import STOPS, Stopped, exit_status, stoppable
from common.command_lines import KIT

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans")
LOCKED = """
import contextlib, sqlite3, subprocess, sys
from autograder.commands import stopping

stopping.GRACE = float(sys.argv[2])
one, other = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[1], timeout=3600)
one.execute("CREATE TABLE marks (mark)")
one.execute("BEGIN EXCLUSIVE")
with stopping.stoppable():
    subprocess.Popen(["sleep", "3600"])
    print("waiting", flush=True)
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            other.execute("SELECT * FROM marks")
"""
STARTS = """
import subprocess, sys, time
from autograder.commands.stopping import exit_status, leave_promptly, stoppable

with leave_promptly():
    try:
        with stoppable():
            subprocess.Popen(["sleep", "3600"])
            print("waiting", flush=True)
            time.sleep(3600)
    except KeyboardInterrupt as stop:
        sys.exit(exit_status(stop))
"""

for_each_stop = pytest.mark.parametrize(
    "number",
    [
        pytest.param(
            number,
            marks=pytest.mark.skipif(
                signal.getsignal(number) is signal.SIG_IGN,
                reason="this run ignores the signal, as it ignores SIGHUP under nohup",
            ),
        )
        for number in STOPS
    ],
)


@posix
@for_each_stop
def test_a_signal_is_an_exception_and_an_exit_status(number):
    """Other signals trigger the same clean-up as Ctrl-C, and the exit status shows which it was."""
    before = [signal.getsignal(each) for each in STOPS]
    with pytest.raises(KeyboardInterrupt) as stop, stoppable():
        signal.raise_signal(number)
    assert exit_status(stop.value) == 128 + number
    assert isinstance(stop.value, Stopped) == (number != signal.SIGINT)
    assert [signal.getsignal(each) for each in STOPS] == before


@posix
def test_a_signal_that_is_ignored_stays_ignored():
    """A command under `nohup` survives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_can_run_a_command():
    """Signal handlers belong to the main thread; in other threads nothing changes or fails."""
    before = [signal.getsignal(each) for each in STOPS]
    seen = []

    def command() -> None:
        with stoppable():
            seen.extend(signal.getsignal(each) for each in STOPS)

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()
    assert seen == before


@linux
@for_each_stop
def test_what_a_command_has_started_ends_with_it(number):
    """A program started by a command does not outlive it."""
    with adopting():
        command = Command([sys.executable, "-c", STARTS], stdout=subprocess.PIPE, text=True)
        assert command.process.stdout.readline() == "waiting\n"
        ending = command.end(number, cpu_limit=60, timeout=600)
    assert not ending.left
    assert command.process.returncode == 128 + number


@pytest.mark.slow
@linux
@pytest.mark.parametrize("grace, ends", [(1, True), (3600, False)])
def test_a_command_that_does_not_end_is_ended(tmp_path, grace, ends):
    """A gradebook lock does not delay the end, although it would without the limit."""
    with adopting():
        command = Command(
            [sys.executable, "-c", LOCKED, str(tmp_path / "gradebook.db"), str(grace)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert command.process.stdout.readline() == "waiting\n"
        ending = command.end(signal.SIGTERM, cpu_limit=60, timeout=600 if ends else 5)
    assert bool(ending.left) != ends, ending
    if ends:
        assert command.process.returncode == 128 + signal.SIGTERM


INTERRUPT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
BECOME = """import os, sys, run
run.become([sys.executable, "-P", "-m", *sys.argv[2:]], None,
           os.environ | {"PYTHONPATH": os.pathsep.join(sys.argv[1:2] + sys.path[1:])}, True)"""


@posix
@pytest.mark.parametrize(
    ("module", "begun"),
    [
        ("autograder", "sitecustomize"),
        ("autograder", "typer"),
        ("autograder.benchmarks", "sitecustomize"),
        ("sequence.league", "sitecustomize"),
    ],
)
def test_ctrl_c_while_a_command_starts(tmp_path, module, begun):
    """Ctrl-C during start-up or imports prints at most one line and gives exit status 130."""
    (tmp_path / f"{begun}.py").write_text(INTERRUPT, "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            BECOME,
            tmp_path,
            module,
            *(["Random", "Greedy"] if module == "sequence.league" else []),
        ],
        cwd=KIT,
        env=os.environ | {"PYTHONPATH": str(KIT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert len(done.stderr.splitlines()) <= 1
    assert "Traceback" not in done.stderr
