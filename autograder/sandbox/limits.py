"""The limits of one submission: time, memory, processes, files and output."""

from dataclasses import dataclass

MAX_BYTES = 5_000_000  # of one file that is handed in


@dataclass(frozen=True)
class Limits:
    """What the processes of one job may use before they are stopped.

    `memory_mb` and `cpu_seconds`, of computing time, are of all its processes together;
    `processes` includes threads; `files_mb` is the size of all files that it writes, `characters`
    the output of its cells.
    """

    cpu_seconds: int = 60
    memory_mb: int = 1024
    processes: int = 64
    files_mb: int = 64
    files: int = 2000
    descriptors: int = 256
    characters: int = 2_000_000
