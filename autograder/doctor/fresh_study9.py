"""Draws whole cases of study 9 from a seed: boards, small trees, and hands with few actions."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from course.probes import Case
from course.probes.positions import read_position
from sequence.board.cards import CARDS, DECK
from sequence.board.layout import PLAYABLE, cells_of
from tictactoe import Board
from tictactoe.solver import values

CELLS = tuple(cells_of(PLAYABLE))
CONSTANTS = (0.0, 0.25, 0.5, 1.0, 1.4)
OPEN = 4  # cells at least, where a tree is to grow
FEWEST_BELOW = 2  # children of a node in a made-up tree
MOST_ACTIONS = 14  # legal ones in a position of Sequence, so that a tree gets below its first level


# ---- Positions


@cache
def _boards(ended: bool) -> list[Board]:
    return sorted(
        (board for board in values() if board.is_terminal() == ended), key=lambda board: board.text
    )


def _board(rng: Random, least: int = OPEN) -> Board:
    while True:
        board = rng.choice(_boards(ended=False))
        if len(board.legal_moves()) >= least:
            return board


def _end(rng: Random) -> str:
    """Draws are rarer than wins, and show more."""
    ends = _boards(ended=True)
    return rng.choice(
        [end for end in ends if end.winner is None] if rng.random() < 0.4 else ends
    ).text


def _tree_text(rng: Random) -> str:
    def drawn(depth: int) -> Any:
        if depth == 0 or (depth < 3 and rng.random() < 0.25):
            return rng.choice((-1, 0, 1, 0.5))
        return tuple(drawn(depth - 1) for _ in range(rng.randint(2, 3)))

    return f"tree {drawn(3)}"


def _sketch(rng: Random) -> str:
    """A few chips, and a hand of one to three cards: there are few actions."""
    while True:
        cells = rng.sample(CELLS, 6)
        cards = [CARDS[number] for number in rng.sample(DECK, 4)]
        hand = rng.randint(1, 3)
        chips = [" ".join(f"{row},{col}" for row, col in some) for some in (cells[:3], cells[3:])]
        text = (
            f"sketch x {chips[0]} / o {chips[1]} / hand {' '.join(cards[:hand])} / row {cards[3]}"
        )
        legal = read_position(text).legal_actions()
        if 2 <= len(legal) <= MOST_ACTIONS and all(action.coords for action in legal):
            return text


def _seed(rng: Random) -> int:
    return rng.randrange(1000)


# ---- Functions and steps


def _reward(rng: Random) -> Case:
    return {"on": [_end(rng), _end(rng), f"tree {rng.choice((-1, -0.5, 0, 0.25, 0.5, 1))}"]}


def _number(rng: Random) -> float:
    return rng.randint(0, 16) / 16


def _ucb(rng: Random) -> Case:
    """The parent has been visited at least as often as the child."""
    found = []
    for _ in range(4):
        visits = rng.randint(1, 12)
        found.append([_number(rng), visits, visits + rng.randint(0, 30), rng.choice(CONSTANTS)])
    return {"arguments": found}


def _choices(rng: Random) -> Case:
    """Few different numbers, so that there are ties."""

    def table() -> list[list]:
        moves = sorted(rng.sample(range(9), rng.randint(2, 4)))
        visits, means = rng.sample(range(1, 12), 2), rng.sample((0.0, 0.25, 0.5, 0.75, 1.0), 2)
        return [[move, rng.choice(visits), rng.choice(means)] for move in moves]

    return {"tables": [table() for _ in range(3)]}


def _simulate(rng: Random) -> Case:
    on = rng.choice((_board(rng).text, _tree_text(rng), _sketch(rng)))
    return {"on": on, "seed": _seed(rng)}


def _backup(rng: Random) -> Case:
    board, path = _board(rng, 6), []
    state = board
    for _ in range(rng.randint(2, 4)):
        if state.is_terminal():
            break
        path.append(rng.choice(state.legal_moves()))
        state = state.after(path[-1])
    return {"on": board.text, "path": path, "others": [_end(rng) for _ in range(3)]}


def _select(rng: Random) -> Case:
    """Every move of the root has a child; so have those of the child with most visits, at times."""

    def children(state: Board, depth: int) -> list[list]:
        found = []
        for move in state.legal_moves():
            after = state.after(move)
            below = (
                []
                if depth == 0 or after.is_terminal() or rng.random() < 0.3
                else children(after, depth - 1)
            )
            if below and rng.random() < 0.15:
                below = below[1:]  # one move is untried yet
            visits = sum(child[1] for child in below) + rng.randint(1, 3)
            found.append([move, visits, visits * rng.randint(0, 4) / 4, below])
        return found

    board = rng.choice(
        [board for board in _boards(ended=False) if 2 <= len(board.legal_moves()) <= 4]
    )
    tree = children(board, 2)
    return {
        "on": board.text,
        "tree": [sum(child[1] for child in tree), tree],
        "c": rng.choice(CONSTANTS),
    }


def _expand(rng: Random) -> Case:
    board = _board(rng)
    moves = board.legal_moves()
    return {
        "on": board.text,
        "tried": sorted(rng.sample(moves, rng.randint(0, len(moves) - 2))),
        "seed": _seed(rng),
    }


# ---- Whole searches


def _made_up(rng: Random, most: int) -> Case:
    """What an agent may be given beside: few moves to look at, games that stop."""
    found: Case = {}
    if rng.random() < 0.4:
        found["few"] = rng.randint(FEWEST_BELOW, 3)
    if rng.random() < 0.4:
        found["stop"] = rng.randint(0, most)
    return found


def _flat(rng: Random) -> Case:
    on = rng.choice((_board(rng).text, _tree_text(rng)))
    return {"on": on, "playouts": rng.randint(1, 12), "seed": _seed(rng), **_made_up(rng, 2)}


def _uct(rng: Random) -> Case:
    on = _tree_text(rng) if rng.random() < 0.2 else _board(rng).text
    return {
        "on": on,
        "iterations": rng.randint(20, 120),
        "c": rng.choice(CONSTANTS),
        "seed": _seed(rng),
        **_made_up(rng, 2),
    }


def _ensemble(rng: Random) -> Case:
    return {
        "on": _sketch(rng),
        "worlds": rng.randint(2, 5),
        "iterations": rng.randint(5, 15),
        "c": rng.choice(CONSTANTS),
        "seed": _seed(rng),
        **_made_up(rng, 4),
    }


def _info_step(rng: Random) -> Case:
    return {
        "on": _sketch(rng),
        "worlds": rng.sample(range(1000), rng.randint(2, 3)),
        "c": rng.choice(CONSTANTS),
        "seed": _seed(rng),
    }


def _isuct(rng: Random) -> Case:
    """Mostly with few moves, so that a tree for many worlds gets deeper."""
    case = {
        "on": _sketch(rng),
        "iterations": rng.randint(15, 40),
        "c": rng.choice(CONSTANTS),
        "seed": _seed(rng),
        **_made_up(rng, 4),
    }
    return {**case, "few": 2, "stop": 3} if rng.random() < 0.5 else case


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "mcts_reward": _reward, "mcts_ucb": _ucb, "mcts_choices": _choices,
    "mcts_simulate": _simulate, "mcts_backup": _backup, "mcts_select": _select,
    "mcts_expand": _expand, "mcts_flat": _flat, "mcts_tree UCT": _uct,
    "mcts_tree ISUCT": _isuct, "mcts_ensemble": _ensemble, "mcts_info_step": _info_step,
}  # fmt: skip
