"""Verifies a study, the environment and a course folder before a release.

May import everything but the commands and the benchmarks.
"""

from autograder.doctor.environment import environment, exchange
from autograder.doctor.examine import Finding, examine, leaks, show_mutant

__all__ = ["Finding", "environment", "examine", "exchange", "leaks", "show_mutant"]
