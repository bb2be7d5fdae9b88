"""Cases of study 8 that are drawn from a seed are valid, and both answers agree on them."""

import random

import pytest

from autograder.doctor.fresh_study8 import DRAWERS
from autograder.workspace import SECOND, answer_path, load_answer
from course.probes import load_study
from course.probes.answer import _load
from course.probes.ask import reply
from course.probes.outcome import is_right

STUDY = load_study("study8")


def test_every_check_has_a_drawer():
    """And no drawer is left over."""
    assert DRAWERS.keys() == {check.ask for check in STUDY.checks.values()}


@pytest.mark.parametrize("check", STUDY.checks.values(), ids=STUDY.checks)
def test_both_answers_agree_on_a_drawn_case(check):
    """The same seed draws the same case; it can be asked, and has one right reply."""
    second = _load(answer_path(STUDY).with_name(SECOND))
    for seed in range(3):
        case = DRAWERS[check.ask](random.Random(seed))
        assert case == DRAWERS[check.ask](random.Random(seed))
        expected, got = (
            reply(module, check.ask, case) for module in (load_answer("study8"), second)
        )
        assert "errors" not in expected
        assert all(is_right(check.ask, expected, got, aspect) for aspect in check.points), case
