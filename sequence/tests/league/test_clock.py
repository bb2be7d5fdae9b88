"""Clocks count computing time: of a process, its children, or a thread; load moves none of them."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sequence import DRAFT, Random, State
from sequence.league import Late, TrustedPlayer, clock
from sequence.league.clock import Clock, Meter, Own, Waiting, measured, patience
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
ENOUGH = 120.0  # seconds, on a machine that is busy
OBSERVATION = State.deal(DRAFT, 1).observation()


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    """A machine of usual speed, in all its moods."""
    monkeypatch.setattr(clock, "factor", lambda: 1.0)
    monkeypatch.setattr(clock, "measured", lambda: 1.0)


@pytest.fixture
def started():
    """Start Python programs, which end with the test and all that they started."""
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
    """A clock that is over, on the meter, and the seconds on the wall until then."""
    begun, found = time.monotonic(), Clock(meter, seconds)
    while not found.is_over:
        assert time.monotonic() - begun < ENOUGH
        time.sleep(0.01)
        meter.look()
    return found, time.monotonic() - begun


@pytest.mark.parametrize("program", [ENDLESS, PARENT], ids=["itself", "its child"])
def test_computing_counts(started, program):
    """The time of a process counts, and that of what it started, whoever of them computes."""
    found, _ = over_after(Meter(started(program).pid), 0.5)
    assert not found.waited
    assert found.spent > 0.5
    assert found.within == "0.5 s of computing time"


def test_children_that_have_ended_count(started):
    """What a child computed until it ended is not forgotten."""
    meter = Meter(started(FORMER).pid)
    end = time.monotonic() + ENOUGH
    while meter.seconds() < 1:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert meter.family == []  # nobody has looked for children that live


@pytest.mark.slow
def test_waiting_counts_apart(started, monkeypatch):
    """Who only waits has used no computing time, and is late after a longer time on the wall."""
    monkeypatch.setattr(clock, "LEAST", 1.0)
    found, wall = over_after(Meter(started("import time; time.sleep(600)").pid), 0.2)
    assert found.waited and found.spent < 0.2
    assert wall > patience(0.2) == 3
    assert found.within == "3 s, nearly all of them spent waiting"


def test_who_may_wait_is_not_late(started, monkeypatch):
    """Waiting costs nothing if another program decides when the agent may continue."""
    monkeypatch.setattr(clock, "PATIENCE", 0)
    monkeypatch.setattr(clock, "LEAST", 0.0)
    meter = Meter(started("import time; time.sleep(600)").pid)
    waiting, end = Clock(meter, 1e-6), time.monotonic() + ENOUGH
    while not waiting.is_over:
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)  # until it has been started
    assert not Clock(meter, 1, may_wait=True).is_over


def test_the_queue_of_a_processor_is_not_waiting(started, monkeypatch):
    """What a process stands in line is not counted as its waiting."""
    monkeypatch.setattr(clock, "PATIENCE", 0)
    monkeypatch.setattr(clock, "LEAST", 0.5)
    meter = Meter(started("import time; time.sleep(600)").pid)
    queue = iter([0.0, 600.0])
    monkeypatch.setattr(meter, "queued", lambda: next(queue))
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
    """Whoever of the process started it, a look finds the same as a look through all processes."""
    parent = started(f"""import os, subprocess, sys, threading, time
def start():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
{start}
time.sleep(600)""")
    meter, end = Meter(parent.pid), time.monotonic() + ENOUGH
    wanted = 3 if "fork" in start else 2
    while len(meter.family) < wanted:
        assert time.monotonic() < end
        time.sleep(0.05)
        meter.look()
    assert {each.pid for each in meter.family} == {
        parent.pid,
        *(child.pid for child in parent.children(recursive=True)),
    }


def test_who_has_no_children_is_not_looked_for(started, monkeypatch):
    """Where the kernel says so; where it says nothing, all processes are looked through."""
    parent = started("import time; time.sleep(600)")
    meter, looked = Meter(parent.pid), []
    monkeypatch.setattr(meter._process, "children", lambda recursive: looked.append(1) or [])
    meter.look()
    told = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").exists()
    assert looked == ([] if told else [1])
    monkeypatch.setattr(clock, "Path", lambda path: Path("/nowhere"))
    meter.look()
    assert looked[-1:] == [1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_a_child_stands_in_line_too(started):
    """The line of a child is known when somebody has looked, and stays so when it has ended."""
    parent = started(PARENT)
    meter, end = Meter(parent.pid), time.monotonic() + ENOUGH
    while not (children := parent.children()):
        assert time.monotonic() < end
    own = meter.queued()
    with contextlib.ExitStack() as stack:
        for _ in range(2 * os.cpu_count()):
            stack.callback(started(ENDLESS).kill)
        time.sleep(1)
        meter.look()
    known = meter.queued()
    assert known > own
    children[0].kill()
    meter.look()
    assert meter.queued() >= known


def test_a_slow_machine_scales_limits_before_they_decide(started, monkeypatch):
    """A clock that is about to end measures the machine again; its text never shows the factor."""
    monkeypatch.setattr(clock, "measured", lambda: 3.0)
    found, _ = over_after(Meter(started(ENDLESS).pid), 0.3)
    assert found.spent > 0.9
    assert found.within == "0.3 s of computing time"


def test_the_factor_follows_the_work(monkeypatch):
    """A machine as fast as usual, or faster, scales nothing; one that is slower does."""
    assert measured() >= 1
    monkeypatch.setattr(clock, "_work", lambda: None)
    assert measured() == 1

    def slow():
        end = time.thread_time() + 2.5 * clock.USUAL
        while time.thread_time() < end:
            pass

    monkeypatch.setattr(clock, "_work", slow)
    assert measured() == pytest.approx(2.5, abs=0.3)


def test_a_process_that_is_gone_keeps_its_time():
    """What has ended and is forgotten by the system has computed what was last known."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS])
    meter = Meter(process.pid)
    end = time.monotonic() + ENOUGH
    while meter.seconds() < 0.1:
        assert time.monotonic() < end
    process.kill()
    process.wait()
    assert meter.seconds() >= 0.1
    assert Meter(-1).seconds() == 0  # and not ours


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
    """Only computing makes it late, and nothing one that is not timed."""

    def ask(agent, **options):
        player = TrustedPlayer(spec(agent), **options)
        player.begin(0, 60)
        assert player.ask(OBSERVATION, 0.1) in OBSERVATION.legal_actions()
        return player.spent

    with pytest.raises(Late):
        ask(Slow)
    assert ask(Sleepy) < 0.1
    assert ask(Slow, timed=False) > 0.29
    assert Own().seconds() > 0


BY_A_THREAD = (
    "import threading\n"
    "def spin():\n    while True: pass\n"
    "thread = threading.Thread(target=spin)\nthread.start()\nthread.join()"
)


def looked(meter, is_enough):
    """A budget after so many looks that it is enough."""
    waiting, before, end = Waiting(0.3), None, time.monotonic() + ENOUGH
    while not is_enough(waiting):
        assert time.monotonic() < end
        time.sleep(0.01)
        meter.look()
        before = waiting.look(meter, before)
    return waiting


@linux
def test_who_sleeps_uses_up_the_budget(started):
    """A process that neither computes nor could waits."""
    meter = Meter(started("import time; time.sleep(600)").pid)
    assert looked(meter, lambda waiting: waiting.is_over).spent < ENOUGH


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    "program", [ENDLESS, PARENT, BY_A_THREAD], ids=["itself", "its child", "its thread"]
)
def test_who_computes_or_stands_in_line_waits_for_nothing(started, program):
    """However busy the machine is: time in which others had the processor is no waiting."""
    meter = Meter(started(program).pid)
    looked(meter, lambda _: meter.seconds() > 0.5)  # it has been started
    end = meter.seconds() + 1
    assert looked(meter, lambda _: meter.seconds() > end).spent < 0.3
