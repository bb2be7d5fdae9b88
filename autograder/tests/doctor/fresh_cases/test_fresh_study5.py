"""Fresh cases of study 5 are valid, and both solutions agree on them."""

import random

import pytest

from autograder import workspace
from autograder.studies import load_module
from course.checks import load_study
from course.checks.marking.comparison import is_right
from course.checks.positions import read_position
from course.checks.question import texts_of
from course.checks.running.queries import reply

STUDY = load_study("study5")
DRAWERS = load_module(STUDY.staff_folder / "fresh_cases.py").DRAWERS
CASES = 12  # for each question


def second_answer():
    """The imported independent solution."""
    return load_module(workspace.answer_path(STUDY).with_name(workspace.INDEPENDENT_SOLUTION))


FIRST, SECOND = workspace.load_answer("study5"), second_answer()


def drawn(ask: str) -> list:
    """Fresh cases of a question."""
    rng = random.Random(f"{ask} 1")
    return [DRAWERS[ask](rng) for _ in range(CASES)]


def test_every_question_has_fresh_cases():
    """Every check of the study has fresh cases."""
    assert set(DRAWERS) == {check.ask for check in STUDY.checks.values()}


@pytest.mark.parametrize("check", STUDY.checks.values(), ids=lambda check: check.name)
def test_both_answers_agree_on_fresh_cases(check):
    """No case is refused, and every aspect has one correct value."""
    for case in drawn(check.ask):
        ours, theirs = (reply(module, check.ask, case) for module in (FIRST, SECOND))
        assert "errors" not in ours, case
        assert all(is_right(check.ask, ours, theirs, aspect) for aspect in check.points), case


def test_fresh_cases_meet_what_is_rare():
    """The cases include wins, draws, attempts on occupied cells, final states and symmetric
    positions.
    """
    rng = random.Random(2)
    steps = [
        FIRST.step(read_position(case["on"]), case["move"])[1]
        for case in (DRAWERS["step"](rng) for _ in range(200))
    ]
    assert {-5, 0, 0.5, 1} <= set(steps)
    assert any(read_position(DRAWERS["lane_values"](rng)["on"]).is_terminal() for _ in range(50))
    ways = FIRST.symmetries()
    states = map(read_position, texts_of(DRAWERS["symmetry"](rng)))
    assert 1 < len({FIRST.canonical(state, ways) for state in states}) < 5
