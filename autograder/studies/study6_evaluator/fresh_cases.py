"""Draws new cases of study 6: a position of Sequence, and cells, lines, cards, actions and weights."""

from collections.abc import Callable
from random import Random

from autograder.studies.fresh_sequence import (
    position,
    some_actions,
    some_cards,
    some_cells,
    some_lines,
    turns,
    with_weights,
)
from course.checks import Case


def _places(rng: Random) -> Case:
    on = position(rng)
    return {"on": on, "cards": some_cards(rng, on)}


def _line_cost(rng: Random) -> Case:
    on = position(rng)
    return {"on": on, "lines": some_lines(rng, on)}


def _cell_score(rng: Random) -> Case:
    on = position(rng)
    return {"on": on, "cells": some_cells(rng, on, corner=False)}


def _with_actions(rng: Random) -> Case:
    on = position(rng)
    return {"on": on, "actions": some_actions(rng, on)}


def _with_actions_and_cells(rng: Random) -> Case:
    case = _with_actions(rng)
    return {**case, "cells": some_cells(rng, case["on"])}


def _blocking(rng: Random) -> Case:
    case = _with_actions(rng)
    return with_weights(rng, {**case, "cells": some_cells(rng, case["on"], corner=False)})


def weighted_action(rng: Random) -> Case:
    """Return a case of "evaluator_action" for an agent that has weights."""
    return with_weights(rng, {"on": turns(rng)})


def _of_four(rng: Random, case: Case) -> Case:
    """Return the case, sometimes as a game of four, in which each side has two players."""
    on = case["on"]
    if not on.startswith("sketch") or rng.random() < 0.7:
        return case
    player = int("player 1" in on) + 2
    parts = on.removeprefix("sketch ").split(" / ")
    kept = [part for part in parts if not part.startswith(("player", "hand"))]
    return {**case, "on": "sketch " + " / ".join([*kept, f"player {player}", "players 4"])}


def _plays(rng: Random) -> Case:
    return with_weights(rng, _of_four(rng, _with_actions(rng)))


def _drafts(rng: Random) -> Case:
    """Return a case with weights for which no value of a placement is far below 0."""
    while True:
        case = with_weights(rng, _of_four(rng, _places(rng)))
        weights = case.get("weights", {})
        if weights.get("line", 1) > 0 and weights.get("blocking", 0) >= 0:
            return case


def _turns(rng: Random) -> Case:
    return {"on": turns(rng)}


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "places": _places, "line_cost": _line_cost, "cell_score": _cell_score,
    "evaluate_board": _with_actions_and_cells, "evaluator_play": _plays,
    "evaluator_draft": _drafts, "evaluator_action": _turns,
    "evaluator_action Evaluator": weighted_action, "blocking": _blocking,
    "simple_score": _with_actions_and_cells,
}  # fmt: skip
