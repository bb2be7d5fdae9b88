"""Wrong modules by people who had only the students' kit."""

from autograder.mutants import load_outsiders
from course.probes import load_study, studies

WRONG = [(name, module) for name in studies() for module in load_outsiders(load_study(name))]
