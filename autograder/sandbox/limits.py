"""The limits of one submission: time, memory, processes, files and output."""

from dataclasses import dataclass

MAX_BYTES = 5_000_000  # of one submitted file


@dataclass(frozen=True)
class SandboxLimits:
    """The resources that the processes of one job may use before they are stopped.

    `memory_mb` and `cpu_seconds` are totals over all processes of the job; `processes` includes
    threads; `files_mb` is the total size of the files that the job writes; `characters` limits the
    output of its cells.
    """

    cpu_seconds: int = 60
    memory_mb: int = 1024
    processes: int = 64
    files_mb: int = 64
    files: int = 2000
    descriptors: int = 256
    characters: int = 2_000_000
