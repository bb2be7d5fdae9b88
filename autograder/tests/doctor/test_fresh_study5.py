"""Fresh cases of study 5 are questions that have answers, on which the two answers agree."""

import random
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from autograder import workspace
from autograder.doctor.fresh_study5 import DRAWERS
from course.probes import load_study
from course.probes.ask import reply
from course.probes.outcome import is_right
from course.probes.positions import read_position
from course.probes.question import texts_of

STUDY = load_study("study5")
CASES = 12  # of each question


def second_answer():
    """The second answer, imported."""
    path = workspace.answer_path(STUDY).with_name(workspace.SECOND)
    spec = spec_from_file_location("second_answer", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIRST, SECOND = workspace.load_answer("study5"), second_answer()


def drawn(ask: str) -> list:
    """Fresh cases of a question."""
    rng = random.Random(f"{ask} 1")
    return [DRAWERS[ask](rng) for _ in range(CASES)]


def test_every_question_has_fresh_cases():
    """No check of the study is left without."""
    assert set(DRAWERS) == {check.ask for check in STUDY.checks.values()}


@pytest.mark.parametrize("check", STUDY.checks.values(), ids=lambda check: check.name)
def test_both_answers_agree_on_fresh_cases(check):
    """Nothing is refused, and every aspect has one right value."""
    for case in drawn(check.ask):
        ours, theirs = (reply(module, check.ask, case) for module in (FIRST, SECOND))
        assert "errors" not in ours, case
        assert all(is_right(check.ask, ours, theirs, aspect) for aspect in check.points), case


def test_fresh_cases_meet_what_is_rare():
    """Wins, draws and attempts on filled cells, ends of games, and images among other positions."""
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
