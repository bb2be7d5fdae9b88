"""How much one submission may use; every number can be set in the course's nbgrader_config.py."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one process group of a submission may use before it is stopped.

    `memory_mb` is of all its processes together, `cpu_seconds` too; `processes` counts threads;
    `files_mb` is the size of all files that it writes, `characters` what its cells put out.
    """

    cpu_seconds: int = 60
    memory_mb: int = 1024
    processes: int = 64
    files_mb: int = 64
    files: int = 2000
    descriptors: int = 256
    characters: int = 2_000_000
