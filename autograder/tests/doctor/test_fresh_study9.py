"""Cases of study 9 that are drawn from a seed are valid, and both answers agree on them."""

import random

import pytest

from autograder.doctor.fresh_study9 import DRAWERS
from autograder.workspace import SECOND, answer_path, load_answer
from course.probes import load_study
from course.probes.answer import _load
from course.probes.ask import reply
from course.probes.outcome import is_right
from course.probes.question import positions_of
from course.probes.questions import QUESTIONS

STUDY = load_study("study9")


def drawer_of(check):
    """The name of its drawer: two agents are asked the same question, and drawn differently."""
    return f"{check.ask} {check.settings.get('agent', '')}".strip()


def test_every_check_has_a_drawer():
    """And no drawer is left over."""
    assert DRAWERS.keys() == {drawer_of(check) for check in STUDY.checks.values()}


@pytest.mark.parametrize("check", STUDY.checks.values(), ids=STUDY.checks)
def test_both_answers_agree_on_a_drawn_case(check):
    """The same seed draws the same case; it can be asked, and has one right reply."""
    second = _load(answer_path(STUDY).with_name(SECOND))
    for seed in range(3):
        drawn = DRAWERS[drawer_of(check)](random.Random(seed))
        assert drawn == DRAWERS[drawer_of(check)](random.Random(seed))
        case = {**check.settings, **drawn}
        expected, got = (
            reply(module, check.ask, case) for module in (load_answer("study9"), second)
        )
        assert "errors" not in expected
        assert all(text in QUESTIONS[check.ask].describe(case) for text in positions_of(case))
        assert all(is_right(check.ask, expected, got, aspect) for aspect in check.points), case
