"""Proofs that come before a release: of a study, of the environment, of a course folder.

May import everything but the commands and the benchmarks.
"""

from autograder.doctor.proof import Finding, examine, leaks, show_mutant
from autograder.doctor.surroundings import environment, exchange

__all__ = ["Finding", "environment", "examine", "exchange", "leaks", "show_mutant"]
