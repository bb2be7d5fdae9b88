"""What a command uses while it runs, and apart from that its sandboxes: computing, memory, files.

Looked at five times a second from outside: what a process does after the last look at it is missed.
"""

import subprocess
import sys
import time
from collections import defaultdict

import psutil

LOOK = 0.2  # seconds between two looks


class Use:
    """What these processes and all that they have started use; sandboxes are counted apart.

    Memory and open files are the peaks of all looks; pages that forks share count once, divided
    among them.
    """

    def __init__(self, *roots: psutil.Process) -> None:
        self._roots = roots
        self.memory = self.sandbox_memory = self.files = 0
        self._seconds: dict[psutil.Process, float] = {}  # of the trusted side's processes
        self._sandbox_seconds: dict[psutil.Process, float] = {}  # with all that ran in them

    @property
    def seconds(self) -> float:
        """The computing of the trusted side."""
        return sum(self._seconds.values())

    @property
    def sandbox_seconds(self) -> float:
        """The computing of sandboxes and whatever ran in them."""
        return sum(self._sandbox_seconds.values())

    def look(self) -> None:
        """Look at all of them once."""
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
            except psutil.Error:  # it has ended
                pass
            family += children[member.pid]
        self.memory, self.files = max(self.memory, memory), max(self.files, files)
        self.sandbox_memory = max(self.sandbox_memory, sandbox_memory)


def _all_seconds(process: psutil.Process) -> float:
    """The computing of a process, and of those that it has waited for."""
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


def watched_command(*arguments: str) -> tuple[float, Use]:
    """Run a command of the autograder; the seconds that it took, and what it used."""
    begun = time.monotonic()
    process = psutil.Popen(
        [sys.executable, "-P", "-m", "autograder", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    use = Use(process)
    while process.poll() is None:
        use.look()
        time.sleep(LOOK)
    return time.monotonic() - begun, use
