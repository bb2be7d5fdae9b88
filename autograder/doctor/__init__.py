"""Verifies a study, the environment and a course folder before a release.

May import everything but the commands and the benchmarks.
"""

from autograder.doctor.proof import Finding, broken_promises, examine, leaks, show_mutant
from autograder.doctor.surroundings import (
    answers_read_by_others,
    environment,
    exchange,
    gradebook,
    read_by_others,
)

__all__ = [
    "Finding",
    "answers_read_by_others",
    "broken_promises",
    "environment",
    "examine",
    "exchange",
    "gradebook",
    "leaks",
    "read_by_others",
    "show_mutant",
]
