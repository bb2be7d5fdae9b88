"""Verifies a study, the environment and a course folder before a release.

May import everything but the commands and the benchmarks.
"""

from autograder.doctor.proof import Finding, broken_promises, examine, leaks, show_mutant
from autograder.doctor.surroundings import environment, exchange

__all__ = ["Finding", "broken_promises", "environment", "examine", "exchange", "leaks",
           "show_mutant"]
