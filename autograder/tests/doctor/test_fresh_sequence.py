"""Fresh cases of studies 6 and 7 are questions that can be asked: the reference answers each."""

from random import Random

import pytest

from autograder.doctor.fresh_sequence import DRAWERS, weighted_action
from autograder.workspace import load_answer
from course.probes import load_study
from course.probes.ask import reply

CHECKS = [check for study in ("study6", "study7") for check in load_study(study).checks.values()]
DRAWN = 8  # cases of each check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_answers_fresh_cases(check):
    """No case is refused, none comes twice, and the same seed draws the same cases."""
    answer = load_answer(check.study)
    for drawer in (DRAWERS[check.ask], *([weighted_action] if check.name == "evaluator" else [])):
        rng, again = Random(5), Random(5)
        cases = [drawer(rng) for _ in range(DRAWN)]
        assert cases == [drawer(again) for _ in range(DRAWN)]
        assert len(set(map(repr, cases))) == DRAWN
        for case in cases:
            assert "errors" not in reply(answer, check.ask, {**check.settings, **case})
