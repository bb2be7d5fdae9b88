"""Draws fresh cases of the questions on Qubic, whose parts fit together.

A case is based on a game from the empty cube to its end, won or drawn, and on a moment in it. These
determine the position, the legal moves and filled cells, the states that follow and the rest of the
game as a script.
"""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from autograder.workspace import load_answer
from course.checks import Case
from tictactoe import Qubic, opponent
from tictactoe.games.bitboard_state import mask_of
from tictactoe.games.qubic import CELLS, LANES, LANES_THROUGH

WIN, DRAW, LOSS, FILLED = 1, 0.5, -1, -5  # the rewards of the study's stub
DRAWN = 1 / 4  # share of drawn games; random games are almost never drawn
LARGE, ALMOST = 50, 1e-7  # a factor, and the difference of values that are almost equal
ZERO = 1 / 8  # share of the known Q values that are 0
LONGEST = 8  # scripted moves of a lane learner; with more, rounding errors grow too large
LONGEST_EPISODE = 16


def _step(rng: random.Random) -> Case:
    """A move of the game, or an attempt to take a filled cell."""
    state, rest = _moment(rng)
    filled = _filled(state)
    move = rng.choice(filled) if filled and rng.random() < 1 / 4 else rest[0]
    return {"on": _named(state), "move": move}


def _epsilon_greedy(rng: random.Random) -> Case:
    """Up to eight moves; several of them may share the largest value, whatever its sign and size.
    Some values are almost equal.
    """
    moves = sorted(rng.sample(range(CELLS), rng.randint(1, 8)))
    size = rng.choice((1, 1, LARGE))
    levels = [round(rng.uniform(-6, 2) * size, 3) for _ in range(rng.randint(1, 4))]
    if rng.random() < 1 / 3:
        levels = [round(level + step * ALMOST, 9) for level in levels for step in (-1, 0, 1)]
    return {
        "values": [[move, rng.choice(levels)] for move in moves],
        "epsilon": rng.choice([0, 0.1, 0.2, 0.5, 0.8, 1]),
    }


def _bellman(rng: random.Random) -> Case:
    """A state, a move, the state at the player's next turn or at the end, and the reward."""
    state, rest = _moment(rng)
    filled = _filled(state)
    reward: float
    if filled and rng.random() < 1 / 10:
        move, reward, following = rng.choice(filled), FILLED, state
    else:
        move, following = rest[0], state.after(rest[0])
        if not following.is_terminal():
            following = following.after(rest[1])
        reward = _reward(following, state.to_move)
    known = [
        [which, cell, _q_value(rng, -2, 1.5)]
        for which, place in enumerate((state, following))
        if not which or place != state
        for cell in _some(place.legal_moves(), rng)
    ]
    return {
        "on": [_named(state), _named(following)],
        "move": move,
        "reward": reward,
        "known": known,
        **_options(rng, alpha=(0.1, 0.5), gamma=(0.5, 1)),
    }


def _episode(rng: random.Random) -> Case:
    """The rest of a game, with some attempts to take cells that are already filled."""
    state, rest = _moment(rng, LONGEST_EPISODE)
    moves, place, known = [], state, []
    for move in rest:
        filled = _filled(place)
        while filled and rng.random() < 1 / 8:
            moves.append(rng.choice(filled))
        known += [
            [len(moves), cell, _q_value(rng, -1, 1)]
            for cell in _some(place.legal_moves(), rng)
            if rng.random() < 1 / 4
        ]
        moves.append(move)
        place = place.after(move)
    sides = {"both_sides": True} if rng.random() < 1 / 4 else {}
    return {
        "on": _named(state),
        "moves": moves,
        "known": known,
        **({"times": rng.randint(1, 3)} if rng.random() < 3 / 4 else {}),
        **sides,
        **_options(rng, alpha=(0.1, 0.5), gamma=(0.5, 1)),
    }


def _lane_kinds(rng: random.Random) -> Case:
    return {"on": _anywhere(rng), "cell": rng.randrange(CELLS)}


def _lane_values(rng: random.Random) -> Case:
    return {"on": _anywhere(rng), "weights": _weights(rng)}


def _lane_update(rng: random.Random) -> Case:
    state, rest = _moment(rng)
    return {
        "on": _named(state),
        "move": rest[0],
        "weights": _weights(rng),
        **_options(rng, alpha=(0.05, 0.1), gamma=(0.5, 1)),
    }


def _self_play(rng: random.Random) -> Case:
    state, rest = _moment(rng, LONGEST)
    return {
        "on": _named(state),
        "moves": rest,
        "weights": _weights(rng),
        **_options(rng, alpha=(0.005, 0.02), gamma=(0.5, 1)),
    }


def _symmetry(rng: random.Random) -> Case:
    """A list of positions. Each is an image of an earlier one, or such an image with two cells or
    the two players exchanged, or an unrelated position.
    """
    states = [_moment(rng)[0]]
    while len(states) < 5:
        texts = list(_image(rng.choice(states), rng).text)
        change = rng.random()
        if change < 1 / 4:
            first, second = rng.sample(range(CELLS), 2)
            texts[first], texts[second] = texts[second], texts[first]
        elif change < 1 / 2:
            texts = [opponent(mark) if mark in "xo" else mark for mark in texts]
        try:
            states.append(Qubic("".join(texts)) if rng.random() < 7 / 8 else _moment(rng)[0])
        except ValueError:  # no game reaches this position
            continue
    groups = [sorted(rng.sample(range(CELLS), rng.randint(1, 4))) for _ in range(4)]
    return {"on": list(map(_named, states)), "groups": groups}


DRAWERS: Mapping[str, Callable[[random.Random], Case]] = {
    "step": _step, "epsilon_greedy": _epsilon_greedy, "bellman": _bellman, "episode": _episode,
    "lane_kinds": _lane_kinds, "lane_values": _lane_values, "lane_update": _lane_update,
    "self_play": _self_play, "symmetry": _symmetry,
}  # fmt: skip


# Games and moments in them


def _moment(rng: random.Random, most: int = CELLS) -> tuple[Qubic, list[int]]:
    """A state of an unfinished game, and the moves from there to its end, at most `most` of them."""
    game = _drawn_game(rng) if rng.random() < DRAWN else _won_game(rng)
    left = rng.randint(1, min(most, rng.choice([4, CELLS]), len(game)))  # often near the end
    return Qubic.from_moves(game[:-left]), game[-left:]


def _won_game(rng: random.Random) -> list[int]:
    """The moves of a random game that one of the players wins."""
    while True:
        state, game = Qubic(), []
        for move in rng.sample(range(CELLS), CELLS):
            state = state.after(move)
            game.append(move)
            if state.winner:
                return game


def _drawn_game(rng: random.Random) -> list[int]:
    """The moves of a random drawn game: the cells of x and of o in turn.

    While a player has all cells of a lane, one of these is exchanged with the cell that leaves the
    fewest such lanes.
    """
    cells = rng.sample(range(CELLS), CELLS)
    mine = set(cells[::2])
    while full := [lane for lane in LANES if len(mine.intersection(lane)) in (0, len(lane))]:
        given = rng.choice(rng.choice(full))
        others = [cell for cell in range(CELLS) if (cell in mine) != (given in mine)]
        taken = min(
            rng.sample(others, 4), key=lambda cell: _full_lanes(mine ^ {given, cell}, (given, cell))
        )
        mine ^= {given, taken}
    xs, os = (
        rng.sample(sorted(mine), len(mine)),
        rng.sample([cell for cell in range(CELLS) if cell not in mine], CELLS - len(mine)),
    )
    return [move for pair in zip(xs, os, strict=True) for move in pair]


def _full_lanes(mine: set[int], through: tuple[int, ...]) -> int:
    """The number of lanes through these cells that belong entirely to one player."""
    return sum(
        len(mine.intersection(LANES[number])) in (0, len(LANES[number]))
        for cell in through
        for number in LANES_THROUGH[cell]
    )


# Parts of cases


def _anywhere(rng: random.Random) -> str:
    """A position of a game, which is occasionally the last one."""
    state, rest = _moment(rng)
    return _named(_end(state, rest) if rng.random() < 1 / 6 else state)


def _end(state: Qubic, moves: list[int]) -> Qubic:
    for move in moves:
        state = state.after(move)
    return state


def _named(state: Qubic) -> str:
    return f"qubic {state.text}"


def _filled(state: Qubic) -> list[int]:
    return [cell for cell in range(CELLS) if state[cell] in "xo"]


def _some(moves: tuple[int, ...], rng: random.Random) -> list[int]:
    """None of the moves, a few, or all if there are few."""
    return rng.sample(moves, min(len(moves), rng.choice([0, 2, 6])))


def _q_value(rng: random.Random, least: float, most: float) -> float:
    return 0 if rng.random() < ZERO else round(rng.uniform(least, most), 2)


def _reward(following: Qubic, player: str) -> float:
    if not following.is_terminal():
        return 0
    return {1: WIN, 0: DRAW, -1: LOSS}[following.utility(player)]


def _weights(rng: random.Random) -> list[float]:
    """Weights for one to four own marks, and then for one to three of the opponent's."""
    most = (0.05, 0.2, 0.5, 3, 0.05, 0.2, 1.5)
    return [round(rng.uniform(-bound, bound), 3) for bound in most]


def _options(rng: random.Random, **ends: tuple[float, float]) -> dict[str, Any]:
    """A mapping of settings, each with a value within its bounds, or omitted."""
    return {
        name: round(rng.uniform(*bounds), 3)
        for name, bounds in ends.items()
        if rng.random() < 1 / 2
    }


def _image(state: Qubic, rng: random.Random) -> Qubic:
    way = rng.choice(_ways())
    return Qubic.from_masks(
        *(mask_of(way[cell] for cell in range(CELLS) if state[cell] == player) for player in "xo")
    )


@cache
def _ways() -> list[tuple[int, ...]]:
    return load_answer("study5").symmetries()
