"""Time limits that do not depend on the load of the machine, because they count CPU time.

A process that shares a core takes more wall time, but its CPU time ("computing time" in messages)
grows only by what contention for caches and memory adds. `speed_factor` allows for that growth and
for slow machines.
"""

import statistics
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from common.messages import english

if sys.platform != "emscripten":  # a browser has no processes to measure
    import psutil

# In a browser, which has one thread, this is the time of the process.
thread_time = getattr(time, "thread_time", time.process_time)
POLL_SECONDS = 0.1  # seconds between two measurements of a process
CLUSTER_POLL_SECONDS = 5.0  # seconds between two requests to a cluster
# The limit of wall time is ten times the limit of computing time, plus half a minute.
WALL_CLOCK_FACTOR, MIN_WALL_SECONDS = 10, 30.0
REPEATS = 5
STEPS = 40_000
# Computing time of `_work` on the slowest machine whose limits need no scaling. When all its cores
# are busy, a server from 2024 takes 0.004 to 0.005 s.
REFERENCE_SECONDS = 0.006
IDLE_SECONDS = 0.002  # the same on that server when it is idle


def wall_clock_limit(seconds: float) -> float:
    """The wall-time limit of a process that may compute for `seconds` but may also have to wait."""
    return WALL_CLOCK_FACTOR * seconds + MIN_WALL_SECONDS


class WaitBudget:
    """A budget of waiting time that several processes share, one after another.

    A process waits when it neither computes nor queues for a processor, so load on the machine
    does not use up the budget.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.spent = seconds, 0.0

    @property
    def is_over(self) -> bool:
        """Whether the budget is used up."""
        return self.spent > self.seconds

    @property
    def reason(self) -> str:
        """The reason for stopping a process that was still waiting when the budget was used up."""
        return english(
            f"stopped: the submission had spent {self.seconds:g} s waiting, for example in "
            "sleep, which is the limit for all its checks and notebooks together"
        )

    def record(
        self, meter: "CpuMeter", before: tuple[float, float] | None
    ) -> tuple[float, float] | None:
        """Add the time since the measurement `before` if the processes were waiting then and are
        waiting now.

        Return the new measurement, which is the `before` of the next call; the first call passes
        None.
        """
        if not meter.is_idle():
            return None
        now, computed = time.monotonic(), meter.seconds()
        if before:
            self.spent += max(0.0, now - before[0] - max(0.0, computed - before[1]))
        return now, computed


def measure_speed_factor() -> float:
    """Measure by what factor this machine is currently slower than the reference; at least 1.

    The result is the median of five measurements, so up to two outliers do not change it.
    """
    return max(1.0, round(statistics.median(time_fixed_work()) / REFERENCE_SECONDS, 1))


def measure_slowdown() -> float:
    """Measure by what factor this machine is currently slower than the idle server.

    Divide a computing time by it to compare that time with a limit that was chosen for the idle
    server. Measure it at the same time, because it depends on the load.
    """
    return statistics.median(time_fixed_work()) / IDLE_SECONDS


def time_fixed_work() -> list[float]:
    """Return the computing time, in seconds, of some runs of the same work."""
    times = []
    for _ in range(REPEATS):
        start = thread_time()
        _work()
        times.append(thread_time() - start)
    return times


@cache
def speed_factor() -> float:
    """The factor by which all limits are scaled, measured once per process."""
    return measure_speed_factor()


def scaling_notice(factor: float) -> str:
    """A sentence that states how much the limits are scaled."""
    return (
        f"this machine needs {factor:g} times the usual computing time, so all time limits "
        "are scaled by this factor"
    )


def _work() -> int:
    """A fixed amount of work that is typical of a search in Python: look up, count, call, sort."""
    counts: dict[int, int] = {}
    for number in range(STEPS):
        counts[number & 255] = counts.get(number & 255, 0) + number
    return sorted(counts.values(), key=lambda value: -value)[0]


class CpuMeter:
    """The computing time of a process and its descendants, measured from outside."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.processes: list[psutil.Process] = []  # as of the last `refresh`
        self._process: psutil.Process | None = None
        self._children_seconds = self._total_seconds = 0.0  # of running children; last total
        self._queue_seconds: dict[int, float] = {}  # by process: time in the run queue
        if pid > 0:
            with suppress(psutil.Error):
                self._process = psutil.Process(pid)

    def refresh(self) -> None:
        """Update the list of running children; a child that has been waited for is always counted."""
        if self._process is None:
            return
        children = []
        if _may_have_children(self.pid):
            with suppress(psutil.Error):
                children = self._process.children(recursive=True)
        self.processes = [self._process, *children]
        living = 0.0
        for child in children:
            with suppress(psutil.Error):
                living += sum(child.cpu_times()[:4])
            self._read_queue_time(child.pid)
        self._children_seconds = living

    def seconds(self) -> float:
        """Computing time so far; the last known value if the process has ended."""
        if self._process is None:
            return self._total_seconds
        with suppress(psutil.Error, OSError):
            own = self._process.cpu_times()
            exact = (
                time.clock_gettime(~self.pid << 3 | 2)
                if sys.platform == "linux"
                else own.user + own.system
            )  # the kernel's identifier of that process's clock
            self._total_seconds = exact + sum(own[2:4]) + self._children_seconds
        return self._total_seconds

    def queued_seconds(self) -> float:
        """Seconds spent waiting for a processor that others were using; 0 if unknown."""
        self._read_queue_time(self.pid)
        return sum(self._queue_seconds.values())

    def is_idle(self) -> bool:
        """Whether none of the processes' threads is running or runnable; False if that is unknown."""
        try:
            states = [
                _state(task)
                for process in {self.pid, *(each.pid for each in self.processes)}
                for task in Path(f"/proc/{process}/task").iterdir()
            ]
        except OSError:  # a process has just ended, or this is not Linux
            return False
        return "R" not in states

    def _read_queue_time(self, pid: int) -> None:
        """Read how long a process has been in the run queue; only Linux reports this."""
        with suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{pid}/schedstat").read_text("ascii")
            self._queue_seconds[pid] = int(text.split()[1]) / 1e9


def _state(task: Path) -> str:
    """The letter that Linux uses for a thread's state: R if it is running or runnable."""
    return (task / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]


def _may_have_children(pid: int) -> bool:
    """Whether this process may have children, in which case all processes must be searched for
    them.

    Most Linux kernels can report at low cost that it has none.
    """
    try:
        return any((task / "children").read_bytes() for task in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return True


class ThreadCpuMeter(CpuMeter):
    """The computing time of this thread."""

    def __init__(self) -> None:
        super().__init__(0)

    def seconds(self) -> float:
        """Computing time so far."""
        return thread_time()


class Clock:
    """A clock that starts now and allows `seconds` of computing time, scaled by `speed_factor`.

    The clock also runs out when the process has waited too long (`wall_clock_limit`), unless
    `may_wait` is set, as it is for processes that another process pauses and resumes. `limit_text`
    describes the limit, as in "stopped after 10 s of computing time". With `since`, the clock
    starts at that reading of the meter instead of the current one.
    """

    def __init__(
        self, meter: CpuMeter, seconds: float, may_wait: bool = False, since: float | None = None
    ) -> None:
        self.seconds, self.factor = seconds, speed_factor()
        self.timed_out_waiting = False
        self.meter, self._may_wait = meter, may_wait
        self._start_cpu = meter.seconds() if since is None else since
        self._start_queued = meter.queued_seconds()
        self._start_wall = time.monotonic()

    @property
    def spent(self) -> float:
        """Computing time since the clock was started."""
        return max(0.0, self.meter.seconds() - self._start_cpu)

    @property
    def is_over(self) -> bool:
        """Whether the time is up. If it seems to be, the machine's speed is measured again first."""
        spent = self.spent
        if spent > self.seconds * self.factor:
            self.factor = max(self.factor, measure_speed_factor())
        if spent > self.seconds * self.factor:
            return True
        passed = time.monotonic() - self._start_wall
        limit = wall_clock_limit(self.seconds) * self.factor
        if not self._may_wait and passed > limit:
            queued = self.meter.queued_seconds() - self._start_queued
            self.timed_out_waiting = passed - queued > limit
        return self.timed_out_waiting

    @property
    def limit_text(self) -> str:
        """The time limit in words, without the machine's speed factor."""
        if self.timed_out_waiting:
            return english(
                f"{wall_clock_limit(self.seconds):g} s, nearly all of them spent waiting"
            )
        return english(f"{self.seconds:g} s of computing time")
