"""Tests of clocks, which count the computing time of processes or threads, independent of load."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from common import clock
from common.clock import (
    Clock,
    CpuMeter,
    ThreadCpuMeter,
    WaitBudget,
    measure_speed_factor,
    wall_clock_limit,
)
from sequence import DRAFT, Random, State
from sequence.league import InProcessPlayer, TimeLimitExceeded
from sequence.league.players.specs import spec

ENDLESS = "while True: pass"
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {ENDLESS!r}])"
FORMER = (
    "import subprocess, sys, time\n"
    "subprocess.run([sys.executable, '-c', 'import time\\n"
    "while time.process_time() < 1: pass'])\n"
    "time.sleep(600)"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows states of threads")
ENOUGH = 120.0  # seconds, on a busy machine
OBSERVATION = State.deal(DRAFT, 1).observation()


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    """A machine that always has the reference speed."""
    monkeypatch.setattr(clock, "speed_factor", lambda: 1.0)
    monkeypatch.setattr(clock, "measure_speed_factor", lambda: 1.0)


@pytest.fixture
def started():
    """Start Python programs, which are killed after the test with all their children."""
    running = []

    def start(program):
        running.append(psutil.Popen([sys.executable, "-c", program]))
        return running[-1]

    yield start
    for process in running:
        family = [*process.children(recursive=True), process]
        for member in family:
            member.kill()
        process.wait()


def over_after(meter, seconds):
    """A clock on the meter after it has run out, and the wall time until then."""
    begun, found = time.monotonic(), Clock(meter, seconds)
    while not found.is_over:
        assert time.monotonic() - begun < ENOUGH
        time.sleep(0.01)
        meter.refresh()
    return found, time.monotonic() - begun


@pytest.mark.parametrize("program", [ENDLESS, PARENT], ids=["itself", "its child"])
def test_computing_counts(started, program):
    """The time of a process and of its children counts, whichever of them computes."""
    found, _ = over_after(CpuMeter(started(program).pid), 0.5)
    assert not found.timed_out_waiting
    assert found.spent > 0.5
    assert found.limit_text == "0.5 s of computing time"


def test_children_that_have_ended_count(started):
    """The computing time of a child still counts after it has ended."""
    meter = CpuMeter(started(FORMER).pid)
    end = time.monotonic() + ENOUGH
    while meter.seconds() < 1:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert meter.processes == []  # running children have not been searched for


@pytest.mark.slow
def test_waiting_counts_apart(started, monkeypatch):
    """A process that only waits uses no computing time, and is late after a longer wall time."""
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 1.0)
    found, wall = over_after(CpuMeter(started("import time; time.sleep(600)").pid), 0.2)
    assert found.timed_out_waiting and found.spent < 0.2
    assert wall > wall_clock_limit(0.2) == 3
    assert found.limit_text == "3 s, nearly all of them spent waiting"


def test_who_may_wait_is_not_late(started, monkeypatch):
    """Waiting is free if another program decides when the agent may continue."""
    monkeypatch.setattr(clock, "WALL_CLOCK_FACTOR", 0)
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 0.0)
    meter = CpuMeter(started("import time; time.sleep(600)").pid)
    waiting, end = Clock(meter, 1e-6), time.monotonic() + ENOUGH
    while not waiting.is_over:
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)  # until the process has been started
    assert not Clock(meter, 1, may_wait=True).is_over


def test_the_queue_of_a_processor_is_not_waiting(started, monkeypatch):
    """Time that a process spends in the run queue does not count as waiting."""
    monkeypatch.setattr(clock, "WALL_CLOCK_FACTOR", 0)
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 0.5)
    meter = CpuMeter(started("import time; time.sleep(600)").pid)
    queue = iter([0.0, 600.0])
    monkeypatch.setattr(meter, "queued_seconds", lambda: next(queue))
    found = Clock(meter, 60)
    time.sleep(1)
    assert not found.is_over


@pytest.mark.parametrize(
    "start",
    [
        "start()",
        "t = threading.Thread(target=start); t.start(); t.join()",
        "threading.Thread(target=lambda: (start(), time.sleep(600))).start()",
        "os.fork() or (start(), time.sleep(600))",
    ],
    ids=["itself", "a thread that has ended", "a thread that lives", "a child of it"],
)
def test_the_family_is_all_that_was_started(started, start):
    """Children are found whichever thread or child started them, as by a search of all processes."""
    parent = started(f"""import os, subprocess, sys, threading, time
def start():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
{start}
time.sleep(600)""")
    meter, end = CpuMeter(parent.pid), time.monotonic() + ENOUGH
    wanted = 3 if "fork" in start else 2
    while len(meter.processes) < wanted:
        assert time.monotonic() < end
        time.sleep(0.05)
        meter.refresh()
    assert {each.pid for each in meter.processes} == {
        parent.pid,
        *(child.pid for child in parent.children(recursive=True)),
    }


def test_who_has_no_children_is_not_looked_for(started, monkeypatch):
    """Processes are searched for children unless the kernel reports that there are none."""
    parent = started("import time; time.sleep(600)")
    meter, looked = CpuMeter(parent.pid), []
    monkeypatch.setattr(meter._process, "children", lambda recursive: looked.append(1) or [])
    meter.refresh()
    told = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").exists()
    assert looked == ([] if told else [1])
    monkeypatch.setattr(clock, "Path", lambda path: Path("/nowhere"))
    meter.refresh()
    assert looked[-1:] == [1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_child_stands_in_line_too(started):
    """A child's queue time is known after a measurement, and is kept after the child has ended."""
    parent = started(PARENT)
    meter, end = CpuMeter(parent.pid), time.monotonic() + ENOUGH
    while not (children := parent.children()):
        assert time.monotonic() < end
    own = meter.queued_seconds()
    with contextlib.ExitStack() as stack:
        for _ in range(2 * os.cpu_count()):
            stack.callback(started(ENDLESS).kill)
        time.sleep(1)
        meter.refresh()
    known = meter.queued_seconds()
    assert known > own
    children[0].kill()
    meter.refresh()
    assert meter.queued_seconds() >= known


def test_a_slow_machine_scales_limits_before_they_decide(started, monkeypatch):
    """A clock that is about to end measures the machine again; the factor is never displayed."""
    monkeypatch.setattr(clock, "measure_speed_factor", lambda: 3.0)
    found, _ = over_after(CpuMeter(started(ENDLESS).pid), 0.3)
    assert found.spent > 0.9
    assert found.limit_text == "0.3 s of computing time"


def test_the_factor_follows_the_work(monkeypatch):
    """Limits are scaled only on machines that are slower than the reference."""
    assert measure_speed_factor() >= 1
    monkeypatch.setattr(clock, "_work", lambda: None)
    assert measure_speed_factor() == 1

    def slow():
        end = time.thread_time() + 2.5 * clock.REFERENCE_SECONDS
        while time.thread_time() < end:
            pass

    monkeypatch.setattr(clock, "_work", slow)
    assert measure_speed_factor() == pytest.approx(2.5, abs=0.3)


def test_a_process_that_is_gone_keeps_its_time():
    """A process that has ended and been reaped keeps its last known time."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS])
    meter = CpuMeter(process.pid)
    end = time.monotonic() + ENOUGH
    while meter.seconds() < 0.1:
        assert time.monotonic() < end
    process.kill()
    process.wait()
    assert meter.seconds() >= 0.1
    assert CpuMeter(-1).seconds() == 0  # no such process


class Slow(Random):
    """Computes for a while before each action."""

    def choose(self, observation):
        """A random action."""
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass
        return super().choose(observation)


class Sleepy(Random):
    """Sleeps for a while before each action."""

    def choose(self, observation):
        """A random action."""
        time.sleep(0.3)
        return super().choose(observation)


def test_an_agent_in_this_process_has_the_clock_of_its_thread():
    """Only computing makes an agent late, and an agent that is not timed is never late."""

    def ask(agent, **options):
        player = InProcessPlayer(spec(agent), **options)
        player.begin(0, 60)
        assert player.ask(OBSERVATION, 0.1) in OBSERVATION.legal_actions()
        return player.spent

    with pytest.raises(TimeLimitExceeded):
        ask(Slow)
    assert ask(Sleepy) < 0.1
    assert ask(Slow, timed=False) > 0.29
    assert ThreadCpuMeter().seconds() > 0


BY_A_THREAD = (
    "import threading\n"
    "def spin():\n    while True: pass\n"
    "thread = threading.Thread(target=spin)\nthread.start()\nthread.join()"
)


def looked(meter, is_enough):
    """A waiting budget after enough measurements of the meter."""
    waiting, before, end = WaitBudget(0.3), None, time.monotonic() + ENOUGH
    while not is_enough(waiting):
        assert time.monotonic() < end
        time.sleep(0.01)
        meter.refresh()
        before = waiting.record(meter, before)
    return waiting


@linux
def test_who_sleeps_uses_up_the_budget(started):
    """A process that neither computes nor is ready to compute is waiting."""
    meter = CpuMeter(started("import time; time.sleep(600)").pid)
    assert looked(meter, lambda waiting: waiting.is_over).spent < ENOUGH


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    "program", [ENDLESS, PARENT, BY_A_THREAD], ids=["itself", "its child", "its thread"]
)
def test_who_computes_or_stands_in_line_waits_for_nothing(started, program):
    """Time in which others used the processor is not waiting, however busy the machine is."""
    meter = CpuMeter(started(program).pid)
    looked(meter, lambda _: meter.seconds() > 0.5)  # until it has been started
    end = meter.seconds() + 1
    assert looked(meter, lambda _: meter.seconds() > end).spent < 0.3
