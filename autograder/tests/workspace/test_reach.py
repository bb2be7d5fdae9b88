"""What a mutant changes is seen only by the checks that reach it."""

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import verdicts, workspace
from autograder.doctor.machine_mutants import machine_mutants
from autograder.tests.support.needs import need_isolation
from autograder.workspace.reach import Reach
from course.probes.syntax import parsed

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
    """What one check reaches, which asks for a heuristic."""
    study = verdicts.hidden_study("study3")
    check = replace(study.checks["heuristic"], cases=[{"on": "_" * 9}])
    return Reach(replace(study, checks={"heuristic": check}), text)


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
def test_a_change_is_looked_for_where_it_can_be(old, new, seen):
    """In the checks that come to its function, however seldom; all, where it is in no function."""
    assert (reach(MODULE).checks(MODULE.replace(old, new, 1)) == {"heuristic"}) == seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study3"])
def test_what_a_check_does_not_reach_it_does_not_see(name):
    """Machine-made mutants reply as the reference does where they are not reached."""
    need_isolation()
    study = verdicts.hidden_study(name)
    reference = workspace.answer_path(study).read_text("utf-8")
    right, reached, tried = workspace.ask_all(study, reference), Reach(study, reference), 0
    for mutant in machine_mutants(reference)[::9]:
        for check in study.checks.keys() - reached.checks(mutant.text):
            tried += 1
            (replies,) = workspace.ask_all(study, mutant.text, checks=[check]).values()
            assert replies.observations == right[check].observations
    assert tried


@pytest.mark.slow
def test_texts_are_parsed_by_many_threads_at_once():
    """No parse fails where Python runs halfway through another one, as the collector lets it."""
    text = Path(ast.__file__).read_text("utf-8")

    def collecting(*_) -> None:
        sum(range(300))  # long enough for another thread to take over

    interval = sys.getswitchinterval()
    gc.callbacks.append(collecting)
    try:
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(4) as pool:
            trees = list(pool.map(lambda _: parsed(text), range(300)))
    finally:
        sys.setswitchinterval(interval)
        gc.callbacks.remove(collecting)
    assert len(trees) == 300
