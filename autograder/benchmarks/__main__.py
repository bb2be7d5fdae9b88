"""Runs a benchmark or lists them: `python3 run.py bench [NAME]`."""

import sys

from autograder.benchmarks import main

sys.exit(main(sys.argv[1:]))
