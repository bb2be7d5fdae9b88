"""Only the checks that reach the changed function are affected by a mutant."""

from dataclasses import replace

import pytest

from autograder import workspace
from autograder.doctor.mutant_generator import generate_mutants
from autograder.studies import hidden_cases
from autograder.tests.support.needs import need_isolation
from autograder.workspace.affected_checks import AffectedChecks

MODULE = """
LIMIT = 3

def heuristic(state, player):
    lanes = counted(state)
    return lanes

def counted(state):
    if LIMIT > 3:
        return rare(state)
    return 0

def rare(state):
    return seldom

def other(state):
    return other
"""


def reach(text):
    """The affected checks for a module, with one check, which calls a heuristic."""
    study = hidden_cases.hidden_study("study3")
    check = replace(study.checks["heuristic"], cases=[{"on": "_" * 9}])
    return AffectedChecks(replace(study, checks={"heuristic": check}), text)


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("return lanes", "return list(lanes)", True),
        ("return other", "return 3", False),
        ("def other(state)", "def other(state, more=2)", True),
        ("def heuristic(state, player)", "def heuristic(state, player, more=2)", True),
        ("LIMIT = 3", "LIMIT = 4", True),
        ("return seldom", "return 4", True),
        ("def other", "def another", True),
    ],
)
def test_a_change_affects_the_checks_that_reach_it(old, new, seen):
    """Even if the function is rarely called; a change outside all functions affects all checks."""
    assert (reach(MODULE).checks(MODULE.replace(old, new, 1)) == {"heuristic"}) == seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study3"])
def test_other_checks_are_not_affected(name):
    """Generated mutants have the replies of the reference in checks that they do not affect."""
    need_isolation()
    study = hidden_cases.hidden_study(name)
    reference = workspace.answer_path(study).read_text("utf-8")
    right, reached, tried = (
        workspace.run_checks(study, reference),
        AffectedChecks(study, reference),
        0,
    )
    for mutant in generate_mutants(reference)[::9]:
        for check in study.checks.keys() - reached.checks(mutant.text):
            tried += 1
            (replies,) = workspace.run_checks(study, mutant.text, checks=[check]).values()
            assert replies.observations == right[check].observations
    assert tried
