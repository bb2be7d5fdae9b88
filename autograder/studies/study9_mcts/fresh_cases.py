"""Draws complete cases of study 9 from a seed: boards, small trees, and hands with few actions."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from autograder.studies.fresh_sequence import cell_text, stratum
from course.checks import Case
from course.checks.positions import read_position
from course.checks.toy_games import NumberTree
from sequence.board.actions import TRADE
from sequence.board.cards import BOARD_CARDS, CARDS, COPIES, TWO_EYED
from sequence.board.layout import PLAYABLE, card_at, cells_of, cells_with
from tictactoe import Board
from tictactoe.solver import values

CELLS = tuple(cells_of(PLAYABLE))
CONSTANTS = (0.0, 0.25, 0.5, 1.0, 1.4)
OPEN = 4  # minimum number of open cells if a tree is to grow
SHORTEST = 2  # minimum number of moves of a path
FEWEST_BELOW = 2  # minimum number of children of a node in an artificial tree
CLOSE = 1e-7  # difference of means that almost tie
MOST_ACTIONS = 14  # legal actions in a position of Sequence, so that a tree gets deep enough


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


def _board_with(rng: Random, number: int) -> Board:
    """A board with this number of open cells."""
    return rng.choice(
        [board for board in _boards(ended=False) if len(board.legal_moves()) == number]
    )


def _end(rng: Random) -> str:
    """A final state; draws are rarer than wins, but reveal more mistakes."""
    ends = _boards(ended=True)
    return rng.choice(
        [end for end in ends if end.winner is None] if rng.random() < 0.4 else ends
    ).text


def _tree_text(rng: Random) -> str:
    numbers = rng.choice(((-1, 0, 1, 0.5), (-1, 0), (0, 1), (-1, -0.5), (1, 0.5)))

    def drawn(depth: int) -> Any:
        if depth == 0 or (depth < 3 and rng.random() < 0.25):
            return rng.choice(numbers)
        return tuple(drawn(depth - 1) for _ in range(rng.randint(2, 3)))

    return f"tree {NumberTree(drawn(3), rng.choice('xo')).text}"


HANDS = (
    "any", "player 1", "official rules", "trade", "trade of player 1", "one action", "pass",
    "sequences", "sequences, player 1", "last sequence",
)  # fmt: skip
ROW_OF_SEQUENCE, ROW_OF_LAST = 2, 5


def _sketch(rng: Random) -> str:
    """Return a position with a few chips and a hand of one to three cards, so that there are few
    actions. A player who trades a card moves twice in a row.
    """
    kind = stratum(rng, "hand", HANDS)
    numbers = range(1, 2) if kind in ("one action", "pass") else range(2, MOST_ACTIONS + 1)
    while True:
        text = _sketch_of(rng, kind)
        legal = read_position(text).legal_actions()
        has_trade = any(action.kind == TRADE for action in legal)
        if len(legal) in numbers and has_trade == ("trade" in kind):
            return text


def _sketch_of(rng: Random, kind: str) -> str:
    """Return a position that may be of this kind. The rows of sequences have no other chips."""
    cells = [cell for cell in CELLS if cell[0] not in (ROW_OF_SEQUENCE, ROW_OF_LAST)]
    cells = rng.sample(cells, 6)
    chips = {"x": cells[:3], "o": cells[3:]}
    hand, row_size = [], 1
    if "trade" in kind or kind in ("pass", "one action"):
        hand = [rng.choice(BOARD_CARDS)]
        filled = cells_with(hand[0])[kind == "one action" :]
        chips["x"] += [cell for cell in filled if cell not in cells]
    if "trade" in kind:
        row_size = rng.randint(1, 2)
        hand += rng.sample(TWO_EYED, rng.randint(0, 1))  # elsewhere, it allows too many actions
    if "sequence" in kind:
        chips["X"] = [(ROW_OF_SEQUENCE, col) for col in range(2, 7)]
    if kind == "last sequence":
        *four, last = rng.sample([(ROW_OF_LAST, col) for col in range(2, 7)], 5)
        chips["x"] += four
        hand = [card_at(last)]
    pack = rng.sample(CARDS * COPIES, len(CARDS) * COPIES)
    for card in hand:
        pack.remove(card)
    if kind not in ("pass", "one action"):
        hand += pack[3 : 3 + rng.randint(1, 3 - len(hand))]
    parts = [f"{side} {' '.join(map(cell_text, some))}" for side, some in chips.items()]
    parts += ["score 1 0"] if "sequence" in kind else []
    parts.append(f"hand {' '.join(hand)}")
    parts.append("rules official" if "official" in kind else f"row {' '.join(pack[:row_size])}")
    parts += ["player 1"] if "player 1" in kind else []
    parts += ["traded"] if kind == "pass" else []
    return "sketch " + " / ".join(parts)


def _seed(rng: Random) -> int:
    return rng.randrange(1000)


# ---- Functions and steps


def _reward(rng: Random) -> Case:
    return {"on": [_end(rng), _end(rng), f"tree {rng.choice((-1, -0.5, 0, 0.25, 0.5, 1))}"]}


def _number(rng: Random) -> float:
    return rng.randint(0, 16) / 16


def _ucb(rng: Random) -> Case:
    """The arguments of `ucb`; the parent has at least as many visits as the child."""
    found = []
    for _ in range(4):
        visits = rng.randint(1, 12)
        found.append([_number(rng), visits, visits + rng.randint(0, 30), rng.choice(CONSTANTS)])
    return {"arguments": found}


def _choices(rng: Random) -> Case:
    """Rows with few different numbers, so that there are ties, and means that almost tie."""

    def table() -> list[list]:
        kind = stratum(rng, "table", ("tie", "tie", "close", "one row"))
        if kind == "one row":
            return [[rng.randrange(9), rng.randint(1, 9), 0.5]]
        if kind == "close":
            moves = sorted(rng.sample(range(9), 3))
            means = [0.5 + CLOSE * rng.randrange(3) for _ in moves]
            return [[move, 4, mean] for move, mean in zip(moves, means, strict=True)]
        moves = sorted(rng.sample(range(9), rng.randint(2, 4)))
        visits, means = rng.sample(range(1, 12), 2), rng.sample((0.0, 0.25, 0.5, 0.75, 1.0), 2)
        return [[move, rng.choice(visits), rng.choice(means)] for move in moves]

    return {"tables": [table() for _ in range(3)]}


def _simulate(rng: Random) -> Case:
    on = rng.choice((_board(rng).text, _tree_text(rng), _sketch(rng)))
    return {"on": on, "seed": _seed(rng)}


def _backup(rng: Random) -> Case:
    board, path = _played(rng)
    while len(path) < SHORTEST:
        board, path = _played(rng)
    case: Case = {"on": board.text, "path": path, "others": [_end(rng) for _ in range(3)]}
    if stratum(rng, "movers", ("in turn", "twice in a row")) == "in turn":
        return case
    movers = [rng.choice("xo") for _ in path]
    movers[-2:] = movers[-1:] * 2
    return {**case, "movers": movers}


def _played(rng: Random) -> tuple[Board, list[int]]:
    """A board and a few moves from there; fewer if the game ends."""
    board, path = _board(rng, OPEN + 1), list[int]()
    state = board
    for _ in range(rng.randint(SHORTEST, 4)):
        if state.is_terminal():
            break
        path.append(rng.choice(state.legal_moves()))
        state = state.after(path[-1])
    return board, path


def _select(rng: Random) -> Case:
    """Every move of the root has a child, as does sometimes every move of its most visited child."""

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
                below = below[1:]  # one move is still untried
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
    board = _board_with(rng, stratum(rng, "open cells", (1, 2, OPEN, OPEN + 1)))
    moves = board.legal_moves()
    return {
        "on": board.text,
        "tried": sorted(rng.sample(moves, rng.randint(0, max(0, len(moves) - 2)))),
        "seed": _seed(rng),
    }


# ---- Whole searches


def _made_up(rng: Random, most: int) -> Case:
    """Optional settings of an agent: few moves to consider, and games that stop early."""
    found: dict[str, Any] = {}
    if rng.random() < 0.4:
        found["few"] = rng.randint(FEWEST_BELOW, 3)
    if rng.random() < 0.4:
        found["stop"] = rng.randint(0, most)
    return found


def _flat(rng: Random) -> Case:
    kind = stratum(rng, "flat", ("board", "tree", "one move", "sketch"))
    case = {"on": _open_position(rng, kind), "playouts": rng.randint(1, 12), "seed": _seed(rng)}
    return {**case, "stop": 3} if kind == "sketch" else {**case, **_made_up(rng, 2)}


def _open_position(rng: Random, kind: str) -> str:
    """Return a position for an agent that searches full states."""
    if kind == "one move":
        return _board_with(rng, 1).text
    return {"tree": _tree_text, "sketch": _sketch}.get(kind, lambda rng: _board(rng).text)(rng)


def _uct(rng: Random) -> Case:
    kind = stratum(rng, "uct", ("board", "board", "board", "tree", "one move", "sketch"))
    case = {
        "on": _open_position(rng, kind),
        "iterations": _iterations(rng, 120),
        "c": rng.choice(CONSTANTS),
        "seed": _seed(rng),
    }
    return {**case, "few": 3, "stop": 3} if kind == "sketch" else {**case, **_made_up(rng, 2)}


def _iterations(rng: Random, most: int) -> int:
    """Return a number of iterations, which is sometimes less than that of the moves."""
    few = stratum(rng, "iterations", (1, 3, None, None, None, None))
    return few or rng.randint(most // 5, most)


def _ensemble(rng: Random) -> Case:
    return {
        "on": _sketch(rng),
        "worlds": rng.randint(2, 5),
        "iterations": _iterations(rng, 15),
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
    """Most cases have few moves, so that a tree for many worlds becomes deeper."""
    case = {
        "on": _sketch(rng),
        "iterations": _iterations(rng, 40),
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
