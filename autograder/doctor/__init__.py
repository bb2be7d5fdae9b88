"""Verifies a study, the environment and a course folder before a release.

May import everything except the commands and the benchmarks.
"""

from autograder.doctor.environment_checks import (
    answers_read_by_others,
    environment,
    exchange,
    gradebook,
    read_by_others,
)
from autograder.doctor.proof import Finding, examine, leaks, show_mutant
from autograder.doctor.stub_coverage import stub_coverage
from autograder.doctor.variant_proof import examine_variant

__all__ = [
    "Finding",
    "answers_read_by_others",
    "environment",
    "examine",
    "examine_variant",
    "exchange",
    "gradebook",
    "leaks",
    "read_by_others",
    "show_mutant",
    "stub_coverage",
]
