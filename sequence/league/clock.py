"""Clocks that load cannot move: what counts is computing time, whatever else the machine does.

A process that shares a core with others needs more time on the wall, and no more computing time
but for what others take from caches and memory. That, and slow machines, are what `factor` is for.
"""

import statistics
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform != "emscripten":  # a browser has no processes to look at
    import psutil

# In a browser, where there is one thread, that is the process's.
thread_time = getattr(time, "thread_time", time.process_time)
WATCH = 0.1  # seconds between two looks at a process
PATIENCE, LEAST = 10, 30.0  # who waits has ten times the limit and half a minute on the wall
REPEATS = 5
STEPS = 40_000
# Seconds for the work of `measured` on the slowest machine for which limits need not be scaled. A
# server of 2024 needs 0.002 idle, and 0.004 to 0.005 with all its cores busy.
USUAL = 0.006


def patience(seconds: float) -> float:
    """Seconds on the wall for who has `seconds` of computing time, and may wait in between."""
    return PATIENCE * seconds + LEAST


class Waiting:
    """A budget of seconds on the wall in which several processes, one after another, may wait.

    Waiting is time in which a process neither computes nor stands in line for a processor, so that
    the load of the machine uses up none of it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.spent = seconds, 0.0

    @property
    def is_over(self) -> bool:
        """Whether the budget is used up."""
        return self.spent > self.seconds

    @property
    def reason(self) -> str:
        """Why a process was stopped that waited when the budget was used up."""
        return (
            f"stopped: the submission had spent {self.seconds:g} s waiting, for example in "
            "sleep, and all its checks and notebooks together may not wait longer"
        )

    def look(
        self, meter: "Meter", before: tuple[float, float] | None
    ) -> tuple[float, float] | None:
        """Count the time since the look `before`, of which this returned the result, if the
        processes on the meter waited at both; the first look counts nothing."""
        if not meter.is_idle():
            return None
        now, computed = time.monotonic(), meter.seconds()
        if before:
            self.spent += max(0.0, now - before[0] - max(0.0, computed - before[1]))
        return now, computed


def measured() -> float:
    """How many times the usual computing time this machine needs just now; 1 if not more.

    Half of `REPEATS` measurements may be disturbed without changing the result.
    """
    times = []
    for _ in range(REPEATS):
        begun = thread_time()
        _work()
        times.append(thread_time() - begun)
    return max(1.0, round(statistics.median(times) / USUAL, 1))


@cache
def factor() -> float:
    """As `measured`, once for this process: by so much every limit is scaled."""
    return measured()


def told(slower: float) -> str:
    """A sentence that tells by how much limits are scaled."""
    return (
        f"this machine needs {slower:g} times the usual computing time, and so do all limits "
        "of time count"
    )


def _work() -> int:
    """A fixed amount of what searches in Python do: look up, count, call, sort."""
    counts: dict[int, int] = {}
    for number in range(STEPS):
        counts[number & 255] = counts.get(number & 255, 0) + number
    return sorted(counts.values(), key=lambda value: -value)[0]


class Meter:
    """The computing time of a process and of all that it started, read from outside."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.family: list[psutil.Process] = []  # all of them, when last looked for
        self._process: psutil.Process | None = None
        self._living = self._known = 0.0  # of the children that live; of all, when last known
        self._lines: dict[int, float] = {}  # how long each of them has stood in line
        if pid > 0:
            with suppress(psutil.Error):
                self._process = psutil.Process(pid)

    def look(self) -> None:
        """Look for children that live; those that have ended and were waited for always count."""
        if self._process is None:
            return
        children = []
        if _may_have_children(self.pid):
            with suppress(psutil.Error):
                children = self._process.children(recursive=True)
        self.family = [self._process, *children]
        living = 0.0
        for child in children:
            with suppress(psutil.Error):
                living += sum(child.cpu_times()[:4])
            self._stand(child.pid)
        self._living = living

    def seconds(self) -> float:
        """Computing time so far, as far as it is known: of a process that has ended, until then."""
        if self._process is None:
            return self._known
        with suppress(psutil.Error, OSError):
            own = self._process.cpu_times()
            exact = (
                time.clock_gettime(~self.pid << 3 | 2)
                if sys.platform == "linux"
                else own.user + own.system
            )  # the kernel's number for that process' clock
            self._known = exact + sum(own[2:4]) + self._living
        return self._known

    def queued(self) -> float:
        """Seconds in which the processes could have computed, but others did; 0 where unknown."""
        self._stand(self.pid)
        return sum(self._lines.values())

    def is_idle(self) -> bool:
        """Whether no thread of the processes computes or could; False where that is unknown."""
        try:
            states = [
                _state(task)
                for process in {self.pid, *(each.pid for each in self.family)}
                for task in Path(f"/proc/{process}/task").iterdir()
            ]
        except OSError:  # one has just ended, or this is not Linux
            return False
        return "R" not in states

    def _stand(self, pid: int) -> None:
        """Note how long a process has stood in line, which only Linux tells."""
        with suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{pid}/schedstat").read_text("ascii")
            self._lines[pid] = int(text.split()[1]) / 1e9


def _state(task: Path) -> str:
    """The letter of a thread's state: R if it computes, or stands in line for a processor."""
    return (task / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]


def _may_have_children(pid: int) -> bool:
    """Whether to look through all processes for a process's children.

    Most Linux kernels say at once that there are none.
    """
    try:
        return any((task / "children").read_bytes() for task in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return True


class Own(Meter):
    """The computing time of this thread."""

    def __init__(self) -> None:
        super().__init__(0)

    def seconds(self) -> float:
        """Computing time so far."""
        return thread_time()


class Clock:
    """A clock for `seconds` of computing time, times the factor of this machine, from now on.

    It is also over when the process has waited for too long (`patience`), unless `may_wait`: then
    another process decides when it continues. `within` is the limit in words, as in "stopped
    after 10 s of computing time". With `since`, what has been computed since the meter showed that
    is on the clock already.
    """

    def __init__(
        self, meter: Meter, seconds: float, may_wait: bool = False, since: float | None = None
    ) -> None:
        self.seconds, self.factor = seconds, factor()
        self.waited = False  # whether it is over for that reason
        self._meter, self._may_wait = meter, may_wait
        self._spent = meter.seconds() if since is None else since
        self._queued = meter.queued()
        self._begun = time.monotonic()

    @property
    def spent(self) -> float:
        """Computing time since the clock was started."""
        return max(0.0, self._meter.seconds() - self._spent)

    @property
    def is_over(self) -> bool:
        """Whether the time is up. Before it says so, it measures again how slow the machine is."""
        spent = self.spent
        if spent > self.seconds * self.factor:
            self.factor = max(self.factor, measured())
        if spent > self.seconds * self.factor:
            return True
        passed, most = time.monotonic() - self._begun, patience(self.seconds) * self.factor
        if not self._may_wait and passed > most:
            self.waited = passed - (self._meter.queued() - self._queued) > most
        return self.waited

    @property
    def within(self) -> str:
        """The time limit in words, the same on every machine: no text depends on the factor."""
        if self.waited:
            return f"{patience(self.seconds):g} s, nearly all of them spent waiting"
        return f"{self.seconds:g} s of computing time"
