"""Measures the CPU time, memory and open files of a command. Its sandboxes are counted separately.

Processes are sampled five times per second, so activity after the last sample is not measured.
"""

import subprocess
import sys
import time
from collections import defaultdict

import psutil

SAMPLE_SECONDS = 0.2


class Use:
    """The resources used by processes and their descendants, with sandboxes counted separately.

    Memory and open files are the peaks over all samples. Pages that forks share are counted once,
    divided among the forks.
    """

    def __init__(self, *roots: psutil.Process) -> None:
        self._roots = roots
        self.memory = self.sandbox_memory = self.files = 0
        self._seconds: dict[psutil.Process, float] = {}  # CPU time of the trusted side
        self._sandbox_seconds: dict[psutil.Process, float] = {}  # of all sandboxed processes

    @property
    def seconds(self) -> float:
        """The CPU time of the trusted side."""
        return sum(self._seconds.values())

    @property
    def sandbox_seconds(self) -> float:
        """The CPU time of sandboxes and their processes."""
        return sum(self._sandbox_seconds.values())

    def sample(self) -> None:
        """Sample all processes once."""
        children = defaultdict(list)
        for process in psutil.process_iter(["ppid"]):
            children[process.info["ppid"]].append(process)

        def tree(root: psutil.Process) -> list[psutil.Process]:
            return [root, *(member for child in children[root.pid] for member in tree(child))]

        memory = sandbox_memory = files = 0
        family = [*self._roots]
        while family:
            member = family.pop()
            try:
                if member.name() == "bwrap":
                    inside = tree(member)
                    self._sandbox_seconds[member] = sum(map(_all_seconds, inside))
                    sandbox_memory += sum(map(_memory, inside))
                    continue
                times = member.cpu_times()
                self._seconds[member] = times.user + times.system
                memory += _memory(member)
                files += member.num_fds()
            except psutil.Error:  # the process has ended
                pass
            family += children[member.pid]
        self.memory, self.files = max(self.memory, memory), max(self.files, files)
        self.sandbox_memory = max(self.sandbox_memory, sandbox_memory)


def _all_seconds(process: psutil.Process) -> float:
    """Return the CPU time of a process and of its ended children."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def _memory(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def measured_command(*arguments: str) -> tuple[float, Use]:
    """Run a command of the autograder; return its duration in seconds and the resources used."""
    begun = time.monotonic()
    process = psutil.Popen(
        [sys.executable, "-P", "-m", "autograder", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    use = Use(process)
    while process.poll() is None:
        use.sample()
        time.sleep(SAMPLE_SECONDS)
    return time.monotonic() - begun, use
