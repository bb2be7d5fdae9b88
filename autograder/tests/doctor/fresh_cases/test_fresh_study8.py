"""Cases of study 8 drawn from a seed are valid, and both solutions agree on them."""

import random

import pytest

from autograder.studies import load_module
from autograder.workspace import INDEPENDENT_SOLUTION, answer_path, load_answer
from course.checks import load_study
from course.checks.marking.comparison import is_right
from course.checks.running.queries import reply
from course.checks.running.query_runner import _load

STUDY = load_study("study8")
DRAWERS = load_module(STUDY.staff_folder / "fresh_cases.py").DRAWERS


def test_every_check_has_a_drawer():
    """Every check has a generator, and no generator is unused."""
    assert DRAWERS.keys() == {check.ask for check in STUDY.checks.values()}


@pytest.mark.parametrize("check", STUDY.checks.values(), ids=STUDY.checks)
def test_both_answers_agree_on_a_drawn_case(check):
    """The same seed draws the same case, which is valid and has one correct reply."""
    second = _load(answer_path(STUDY).with_name(INDEPENDENT_SOLUTION))
    for seed in range(3):
        case = DRAWERS[check.ask](random.Random(seed))
        assert case == DRAWERS[check.ask](random.Random(seed))
        expected, got = (
            reply(module, check.ask, case) for module in (load_answer("study8"), second)
        )
        assert "errors" not in expected
        assert all(is_right(check.ask, expected, got, aspect) for aspect in check.points), case
