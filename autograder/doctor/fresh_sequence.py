"""Draws fresh cases of the questions of studies 6 and 7: positions of Sequence and what fits them.

Cells, lines and actions are drawn for the position of the case, weights, cards and numbers freely.
"""

from collections.abc import Callable, Sequence
from random import Random

from course.probes import Case
from course.probes.positions import read_position
from sequence import LINES, example
from sequence.board.cards import CARDS, DECK
from sequence.board.layout import CORNERS, PLAYABLE, cells_of, cells_with, mask_of
from sequence.engine.observation import Observation

GAMES = 300  # seeded games to draw from; to play one takes a moment
MOST_ACTIONS = 45  # of a seeded game: few are longer
WIDEST = 300  # legal actions, so that a reply with all their values is not too long
SKETCHES = 0.5  # of the positions are drawn by hand
CELLS = tuple(cells_of(PLAYABLE))
Drawer = Callable[[Random], Case]


# ---- Positions


def _example(rng: Random) -> str:
    while True:
        text = f"{rng.randrange(GAMES)}/{rng.randrange(MOST_ACTIONS)}"
        try:
            example(text)
        except ValueError:  # that game was shorter
            continue
        return f"example {text}"


def _sketch(rng: Random) -> str:
    """A board with up to one completed sequence a side, a full hand, a full row, and at times a
    dead card in the hand."""
    chips: dict[str, list] = {"x": [], "o": [], "X": [], "O": []}
    free = set(CELLS)

    def put(side: str, cells: Sequence) -> None:
        chips[side] += cells
        free.difference_update(cells)

    score = [0, 0]
    for number, side in enumerate("XO"):
        line = [cell for cell in rng.choice(LINES) if not mask_of([cell]) & CORNERS]
        if rng.random() < 0.4 and free.issuperset(line):
            put(side, line)
            score[number] = 1
    cards = [CARDS[number] for number in rng.sample(DECK, 11)]
    dead = cells_with(cards[0])
    if dead and rng.random() < 0.3 and free.issuperset(dead):
        put(rng.choice("xo"), list(dead))
    for side in "xo":
        put(side, rng.sample(sorted(free), rng.randrange(14)))
    parts = [f"{side} {' '.join(map(_cell, cells))}" for side, cells in chips.items() if cells]
    parts += [f"score {score[0]} {score[1]}"] if any(score) else []
    parts += [f"hand {' '.join(cards[:6])}", f"row {' '.join(cards[6:])}"]
    return "sketch " + " / ".join(parts)


def _position(rng: Random) -> str:
    """Any position in which there are not too many actions."""
    while True:
        text = _sketch(rng) if rng.random() < SKETCHES else _example(rng)
        if len(read_position(text).legal_actions()) <= WIDEST:
            return text


def _turns(rng: Random) -> str | list[str]:
    """One position, or two for the same agent."""
    return _position(rng) if rng.random() < 0.5 else [_position(rng), _position(rng)]


# ---- What is asked of a position


def _cell(cell: tuple[int, int]) -> str:
    return f"{cell[0]},{cell[1]}"


def _cells(rng: Random, most: int = 5) -> list[str]:
    return list(map(_cell, rng.sample(CELLS, most)))


def _cards(rng: Random) -> list[str]:
    return rng.sample(CARDS, rng.randint(1, 5)) + rng.sample(("jd", "jc", "jh", "js"), 1)


def _actions(rng: Random, on: str) -> list[str]:
    """Placements on empty cells and removals of chips that may go, in the notation of cases."""
    seen: Observation = read_position(on)
    own = seen.chip_masks[seen.side]
    removable = PLAYABLE & ~(seen.empty_mask | own | seen.locked_mask)
    able = [f"place {_cell(cell)}" for cell in cells_of(seen.empty_mask)] + 3 * [
        f"remove {_cell(cell)}" for cell in cells_of(removable)
    ]  # removals are few
    return list(dict.fromkeys(rng.choices(able, k=4)))


def _weights(rng: Random) -> dict[str, int]:
    """Some of the weights; exponents are whole, since the board part can be negative."""
    able = {
        "sequence": rng.choice((0, 10, 50)),
        "sequence_exponent": rng.randint(1, 3),
        "line": rng.randint(0, 4),
        "line_exponent": rng.randint(1, 3),
        "board": rng.randint(0, 5),
        "board_exponent": rng.randint(1, 2),
        "blocking": rng.randint(0, 3),
    }
    return {name: able[name] for name in rng.sample(sorted(able), rng.randint(1, 4))}


def _with_weights(rng: Random, case: Case) -> Case:
    return {**case, "weights": _weights(rng)} if rng.random() < 0.5 else case


# ---- Study 6


def _line_cost(rng: Random) -> Case:
    lines = rng.sample(LINES, 6)
    return {
        "on": _position(rng),
        "lines": [f"{_cell(line[0])}-{_cell(line[-1])}" for line in lines],
    }


def _evaluate_board(rng: Random) -> Case:
    on = _position(rng)
    return {"on": on, "cells": _cells(rng, 3), "actions": _actions(rng, on)}


def _with_actions(rng: Random) -> Case:
    on = _position(rng)
    return {"on": on, "actions": _actions(rng, on)}


def _blocking(rng: Random) -> Case:
    return _with_weights(rng, {**_with_actions(rng), "cells": _cells(rng, 2)})


def weighted_action(rng: Random) -> Case:
    """A case of "evaluator_action" for an agent that has weights."""
    return _with_weights(rng, {"on": _turns(rng)})


# ---- Study 7


def _pairs(rng: Random, number: int) -> list[list[int]]:
    return [list(cell) for cell in rng.sample(CELLS, number)]


def _text(rng: Random) -> str:
    """A line as `line_text` writes it: up to four cells to either side, a corner only at an end."""
    sides = [[rng.choice("xxooXO___") for _ in range(rng.randint(1, 4))] for _ in range(2)]
    if rng.random() < 0.3:
        sides[rng.randrange(2)][-1] = "*"
    return "".join(reversed(sides[0])) + "#" + "".join(sides[1])


def _line_links(rng: Random) -> Case:
    """The cell that is far has no chip and shares no line of any of the cells."""
    on = _position(rng)
    empty = list(cells_of(read_position(on).empty_mask))
    while True:
        cells, far = _pairs(rng, 2), rng.choice(empty)
        steps = [(abs(far[0] - row), abs(far[1] - col)) for row, col in cells]
        if all(down and right and down != right for down, right in steps):
            return {"on": on, "cells": cells, "far": list(far)}


def _look_ahead(rng: Random) -> Case:
    position = _position(rng)
    on: str | list[str] = position
    if len(read_position(position).legal_actions()) <= WIDEST // 2 and rng.random() < 0.3:
        on = [position, position]
    return {
        "on": on,
        "replies": rng.choice((True, False, "made_up_replies")),
        "cards": rng.choice(("possible", "known")),
    }


def _rated(rng: Random, case: Case) -> Case:
    """Mostly with the quick gains: a search with real ones takes long."""
    return {**case, "rate": "made_up_gains"} if rng.random() < 0.7 else case


def _top_k(rng: Random) -> Case:
    return _rated(
        rng,
        {
            "on": _position(rng),
            "deal": rng.randrange(1000),
            "k": rng.randint(1, 4),
            "depth": rng.randint(0, 3),
        },
    )


def _sampled_search(rng: Random) -> Case:
    return _rated(
        rng,
        {
            "on": _turns(rng),
            "seed": rng.randrange(1000),
            "k": rng.randint(1, 3),
            "depth": rng.randint(1, 2),
            "samples": rng.randint(1, 3),
        },
    )


DRAWERS: dict[str, Drawer] = {
    "places": lambda rng: {"on": _position(rng), "cards": _cards(rng)},
    "line_cost": _line_cost,
    "cell_score": lambda rng: {"on": _position(rng), "cells": _cells(rng)},
    "evaluate_board": _evaluate_board,
    "evaluator_play": lambda rng: _with_weights(rng, _with_actions(rng)),
    "evaluator_draft": lambda rng: _with_weights(rng, {"on": _position(rng),
                                                       "cards": _cards(rng)}),
    "evaluator_action": lambda rng: {"on": _turns(rng)},
    "evaluator_action Evaluator": weighted_action,
    "blocking": _blocking,
    "simple_score": _with_actions,
    "heat": lambda rng: {"cells": _pairs(rng, 5)},
    "line_text": lambda rng: {"on": _position(rng), "cells": _pairs(rng, 2)},
    "links": lambda rng: {"texts": [_text(rng) for _ in range(4)]},
    "line_links": _line_links,
    "sequence_reward": lambda rng: {"on": _position(rng)},
    "sequence_draft": lambda rng: {"on": _position(rng), "cards": [*_cards(rng), ""]},
    "catalogue": lambda rng: {"on": _example(rng)},
    "best_reply": lambda rng: {"on": _position(rng), "cards": _cards(rng)},
    "quick_replies": lambda rng: {"on": _position(rng), "cards": _cards(rng)},
    "look_ahead": _look_ahead,
    "top_k": _top_k,
    "sampled_search": _sampled_search,
}  # fmt: skip
