"""Draws new cases of study 7: positions of Sequence with cards that reply, and states of three-card
poker with a strategy.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from random import Random

from autograder.studies.fresh_sequence import (
    MAX_ACTIONS,
    cells_by_kind,
    game_stage,
    position,
    some_cards,
    stratum,
    turns,
)
from course.checks import Case
from course.checks.positions import read_position
from sequence.board.cards import ONE_EYED, TWO_EYED
from tictactoe.contract import CHANCE
from tictactoe.games.kuhn import Kuhn

SIXTHS = 6  # probabilities are multiples of 1/6
STATES = ("the end", "chance to move", "x to move", "o to move")
FAST_SHARE = 0.7  # of the searches; the real gains are slow


# ---- Three-card poker


def _strategy_value(rng: Random) -> Case:
    """Draw a state of each kind, and a strategy for the information sets that can be reached."""
    late, certain = (stratum(rng, name, (False, True)) for name in ("late", "certain"))
    states = [_kuhn_state(rng, kind, late) for kind in STATES]
    chances = {
        f"{card}{history}": Fraction(
            rng.choice((0, SIXTHS)) if certain else rng.randrange(SIXTHS + 1), SIXTHS
        )
        for card in "123"
        for history in ("", " pass", " bet", " pass bet")
    }
    reached = {name for state in states for name in _reached(state, chances)}
    return {
        "states": [" ".join(map(str, state.moves)) for state in states],
        "strategy": {name: str(chance) for name, chance in chances.items() if name in reached},
        **({"late": True} if late else {}),
    }


def _kuhn_state(rng: Random, kind: str, late: bool) -> Kuhn:
    while True:
        state = Kuhn(late=late)
        for _ in range(rng.randrange(6)):
            if not state.is_terminal():
                state = state.after(rng.choice(state.legal_moves()))
        if state.is_terminal():
            found = "the end"
        else:
            found = f"{'chance' if state.to_move == CHANCE else state.to_move} to move"
        if found == kind:
            return state


def _reached(state: Kuhn, chances: Mapping[str, Fraction]) -> Iterator[str]:
    """Yield the information sets that players who follow the strategy can reach from a state."""
    if state.is_terminal():
        return
    moves = list(state.legal_moves())
    if state.to_move != CHANCE:
        yield state.information
        second = chances[state.information]
        moves = [move for move, chance in zip(moves, (1 - second, second), strict=True) if chance]
    for move in moves:
        yield from _reached(state.after(move), chances)


# ---- Positions of Sequence


def _line_links(rng: Random) -> Case:
    """Draw a case in which the cell `far` has no chip and shares no line with any of the cells.

    The cells are of two kinds, such as an empty one and one with a chip of a completed sequence.
    """
    on = position(rng)
    kinds = [cells for cells in cells_by_kind(on) if cells]
    while True:
        chosen = [rng.choice(cells) for cells in rng.sample(kinds, min(2, len(kinds)))]
        far = rng.choice(kinds[0])
        steps = [(abs(far[0] - row), abs(far[1] - col)) for row, col in chosen]
        if all(down and right and down != right for down, right in steps):
            return {"on": on, "cells": [list(cell) for cell in chosen], "far": list(far)}


def _replying_cards(rng: Random) -> Case:
    """Draw a position and cards of the other side: none, jacks of one kind, or several cards."""
    on = position(rng)
    kind = stratum(rng, "replying cards", ("none", "one-eyed", "two-eyed", "no jack", "all"))
    jacks = {*ONE_EYED, *TWO_EYED}
    cards = {
        "none": [],
        "one-eyed": [rng.choice(ONE_EYED)],
        "two-eyed": [rng.choice(TWO_EYED)],
        "no jack": [card for card in some_cards(rng, on) if card not in jacks],
    }
    return {"on": on, "cards": cards.get(kind, some_cards(rng, on))}


def _look_ahead(rng: Random) -> Case:
    while True:
        on = turns(rng)
        texts = [on] if isinstance(on, str) else on
        if sum(len(read_position(text).legal_actions()) for text in texts) <= MAX_ACTIONS:
            break
    replies, cards = stratum(
        rng,
        "replies",
        [
            (replies, cards)
            for replies in (True, True, False, "made_up_replies")
            for cards in ("possible", "known")
        ],
    )
    return {"on": on, "replies": replies, "cards": cards}


def _rated(rng: Random, case: Case) -> Case:
    return {**case, "rate": "made_up_gains"} if rng.random() < FAST_SHARE else case


def _top_k(rng: Random) -> Case:
    case = {
        "on": position(rng),
        "deal": rng.randrange(1000),
        "k": rng.randint(1, 4),
        "depth": stratum(rng, "depth", (0, 1, 2, 2, 3, 3)),
    }
    return _rated(rng, case)


def _sampled_search(rng: Random) -> Case:
    case = {
        "on": turns(rng),
        "seed": rng.randrange(1000),
        "k": rng.randint(1, 3),
        "depth": rng.randint(1, 2),
        "samples": rng.randint(1, 3),
    }
    return _rated(rng, case)


def _draft_value(rng: Random) -> Case:
    on = position(rng)
    return {"on": on, "cards": [*some_cards(rng, on), ""]}


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "strategy_value": _strategy_value, "line_links": _line_links,
    "sequence_reward": lambda rng: {"on": position(rng)}, "sequence_draft": _draft_value,
    "catalogue": lambda rng: {"on": game_stage(rng)}, "best_reply": _replying_cards,
    "quick_replies": _replying_cards, "look_ahead": _look_ahead, "top_k": _top_k,
    "sampled_search": _sampled_search,
}  # fmt: skip
