"""Runs a benchmark or lists them: `python3 run.py bench [NAME]`."""

import sys

from autograder.benchmarks import main
from autograder.processes.interrupts import end_silently_when_interrupted

end_silently_when_interrupted()
sys.exit(main(sys.argv[1:]))
