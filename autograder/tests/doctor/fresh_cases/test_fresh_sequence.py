"""Fresh cases of studies 6 and 7 are valid and cover all dimensions."""

from itertools import islice
from random import Random

import pytest

from autograder.studies import load_module
from autograder.studies.fresh_cases import fresh_cases
from autograder.studies.fresh_sequence import stratum
from autograder.workspace import load_answer
from course.checks import load_study
from course.checks.positions import read_position
from course.checks.question import texts_of
from course.checks.running.queries import reply
from sequence.board.actions import PASS, TRADE
from sequence.engine.observation import Observation

STUDIES = [load_study(study) for study in ("study6", "study7")]
CHECKS = [check for study in STUDIES for check in study.checks.values()]
DRAWN = 8  # number of cases per check
MANY = 60  # number of cases in which each dimension occurs
IN_GAMES = {"study7.catalogue"}  # only positions of games, because a sketch has no history
DRAWERS = {
    study.name: load_module(study.staff_folder / "fresh_cases.py").DRAWERS for study in STUDIES
}


def drawer_of(check):
    """The function that draws the cases of a check."""
    drawers = DRAWERS[check.study]
    return drawers.get(f"{check.ask} {check.settings.get('agent')}") or drawers[check.ask]


def kinds_of_position(seen: Observation) -> set[str]:
    """The names of the dimensions in which a position is special."""
    legal, own = seen.legal_actions(), seen.chip_masks[seen.side]
    kinds = {f"player {seen.player}", f"rules {seen.rules.name}"}
    kinds |= {"one action"} if len(legal) == 1 else set()
    kinds |= {"pass"} if list(legal) == [PASS] else set()
    kinds |= {"trade"} if any(action.kind == TRADE for action in legal) else set()
    kinds |= {"own sequence"} if own & seen.locked_mask else set()
    kinds |= {"their sequence"} if seen.locked_mask & ~own else set()
    kinds |= {"empty row"} if seen.rules.row and not seen.row_pile else set()
    return kinds


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_reference_answers_fresh_cases(check):
    """The reference replies to all cases, no case is repeated, and the same seed draws the same
    cases.
    """
    answer, drawer = load_answer(check.study), drawer_of(check)
    rng, again = Random(5), Random(5)
    cases = [drawer(rng) for _ in range(DRAWN)]
    assert cases == [drawer(again) for _ in range(DRAWN)]
    assert len(set(map(repr, cases))) == DRAWN
    for case in cases:
        assert "errors" not in reply(answer, check.ask, {**check.settings, **case})


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if "on" in check.cases[0]], ids=lambda check: check.id
)
def test_every_dimension_is_drawn(check):
    """The positions include both players and rule sets, a single action, a pass, trades, completed
    sequences of both sides and an empty draft row.
    """
    cases = list(islice(fresh_cases(check, check.cases, Random(2)), MANY))
    kinds = {
        kind
        for case in cases
        for text in texts_of(case)
        for kind in kinds_of_position(read_position(text))
    }
    wanted = {"player 0", "player 1", "rules draft", "own sequence", "their sequence"}
    if check.id not in IN_GAMES:
        wanted |= {"rules official", "one action", "pass", "trade", "empty row"}
    assert kinds >= wanted


def test_histories_have_trades_and_known_hands():
    """Some positions of the catalogue follow a trade, and in some, all cards are known."""
    check = STUDIES[1].checks["catalogue"]
    seen = [
        read_position(case["on"])
        for case in islice(fresh_cases(check, check.cases, Random(2)), 2 * DRAWN)
    ]
    assert any(action.kind == TRADE for one in seen for action in one.history)
    assert any(len(one.drafted(1 - one.player)) == one.rules.hand for one in seen)


def test_an_agent_plays_for_both_players():
    """Some cases use one agent for both players, and some use it in two games."""
    check = STUDIES[0].checks["evaluator"]
    cases = islice(fresh_cases(check, check.cases, Random(3)), MANY)
    pairs = [list(map(read_position, case["on"])) for case in cases if len(texts_of(case)) == 2]
    assert {first.player == second.player for first, second in pairs} == {True, False}
    assert any(first.history != second.history[: len(first.history)] for first, second in pairs)
    assert any(first.hand == second.hand for first, second in pairs)


def test_each_stratum_comes_once_before_any_is_repeated():
    """All values of a dimension are drawn, for each generator separately."""
    rng = Random(1)
    assert sorted(stratum(rng, "a", (1, 2, 3)) for _ in range(3)) == [1, 2, 3]
    assert sorted(stratum(rng, "a", (1, 2, 3)) for _ in range(6)) == [1, 1, 2, 2, 3, 3]
    first, second = Random(4), Random(4)
    drawn = [stratum(first, "a", (1, 2, 3)) for _ in range(5)]
    assert drawn == [stratum(second, "a", (1, 2, 3)) for _ in range(5)]
