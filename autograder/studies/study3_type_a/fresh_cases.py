"""Draws cases of study 3 from a seed: boards and rows by the pairs on them, moves by what they do.

A pair is a lane with two marks of a player and nothing else.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from random import Random

from autograder.studies.fresh_cases import BOARDS
from autograder.studies.strata import Stratified
from autograder.workspace import load_answer
from course.checks import Case
from course.checks.toy_games import Row
from tictactoe import EMPTY, Board, opponent
from tictactoe.solver import values

AT_ONCE = 4  # positions in a case of `is_quiescent`
LONGEST = 8  # cells of a row
LARGE_ROW, LARGE_ROW_LENGTH = "row with a large tree", 9
WINS, BLOCKS = "a move that wins", "a move that blocks"
NEITHER, BOTH = "no such move", "moves that win and block"
ONE, LAST_WINS = "one legal move", "the last move wins"
TWO_THREATS = "two lanes to block"
MOVES = (WINS, BLOCKS, BOTH, TWO_THREATS, NEITHER)


def _pairs(state: Board | Row, player: str) -> int:
    lanes = ([state[cell] for cell in lane] for lane in state.lanes)
    return sum(lane.count(player) == 2 and lane.count(EMPTY) == len(lane) - 2 for lane in lanes)


def _kind_of_pairs(state: Board | Row) -> str:
    of_x, of_o = (_pairs(state, player) for player in "xo")
    if of_x and of_o:
        return "equally many pairs" if of_x == of_o else "different numbers of pairs"
    return "pairs of x" if of_x else "pairs of o" if of_o else "no pairs"


# ---- Positions, by their pairs


@cache
def _boards() -> Mapping[str, list[str]]:
    """All boards by stratum: who is to move or how the game ended, and who has pairs."""
    boards = defaultdict(list)
    for board in sorted(values(), key=lambda board: board.text):
        boards[f"{_state(board)}, {_kind_of_pairs(board)}"].append(board.text)
    return boards


def _state(board: Board) -> str:
    """Who is to move, or how the game has ended."""
    if not board.is_terminal():
        return f"{board.to_move} to move"
    return "draw" if board.utility("x") == 0 else f"won by {'x' if board.utility('x') > 0 else 'o'}"


def _row(rng: Random) -> str:
    return "row " + "".join(rng.choice("xo__") for _ in range(rng.randint(5, LONGEST)))


def _position(rng: Random, stratum: str) -> str:
    return _row(rng) if stratum == "row" else rng.choice(_boards()[stratum])


@cache
def _far_boards() -> Mapping[str, list[str]]:
    """Boards on which H(state)/10 is 1 or more for a player, by that player."""
    boards = defaultdict(list)
    for board in sorted(values(), key=lambda board: board.text):
        h = load_answer("study3").heuristic(board, "x")
        if abs(h) >= 1:
            boards[f"far from zero for {'x' if h > 0 else 'o'}"].append(board.text)
    return boards


def _far_or_near(rng: Random, stratum: str) -> Case:
    if stratum in _far_boards():
        return {"on": rng.choice(_far_boards()[stratum])}
    return _one_position(rng, stratum)


def _one_position(rng: Random, stratum: str) -> Case:
    return {"on": _position(rng, stratum)}


def _is_quiescent(rng: Random, stratum: str) -> Case:
    """Several positions: the first one from the stratum, the others from other strata."""
    others = rng.sample([other for other in POSITIONS if other != stratum], AT_ONCE - 1)
    return {"on": [_position(rng, each) for each in (stratum, *others)]}


# ---- Positions, by what the moves do


@cache
def _boards_by_moves() -> Mapping[str, list[str]]:
    boards = defaultdict(list)
    for board in sorted(values(), key=lambda board: board.text):
        if not board.is_terminal():
            boards[f"{board.to_move} to move, {_kind_of_moves(board)}"].append(board.text)
            if len(board.legal_moves()) == 1:
                boards[LAST_WINS if _pairs(board, board.to_move) else ONE].append(board.text)
    return boards


def _kind_of_moves(board: Board) -> str:
    wins, blocks = (_pairs(board, p) for p in (board.to_move, opponent(board.to_move)))
    if blocks > 1:
        return TWO_THREATS
    return BOTH if wins and blocks else WINS if wins else BLOCKS if blocks else NEITHER


def _priority(rng: Random, stratum: str) -> Case:
    while stratum == "row":
        row = _row(rng)
        if not Row(row.removeprefix("row ")).is_terminal():
            return {"on": row}
    return {"on": rng.choice(_boards_by_moves()[stratum])}


# ---- Positions to search


def _search_in_order(rng: Random, stratum: str) -> Case:
    return _search(rng, stratum) | ({"order": "board"} if rng.random() < 0.3 else {})


def _search(rng: Random, stratum: str) -> Case:
    """A board with a limit, or a row with a large tree. In a row, x is to move."""
    if stratum != LARGE_ROW:
        return {"on": BOARDS.draw(rng, stratum), "limit": rng.choice((1, 2, 2, 3))}
    cells = [EMPTY] * LARGE_ROW_LENGTH
    cells[rng.randrange(len(cells))] = rng.choice("xo")
    return {"on": f"row {''.join(cells)}", "limit": rng.choice((1, 2))}


POSITIONS = (*_boards(), "row")
SEARCHED = (*BOARDS.strata, LARGE_ROW)
DRAWERS = {
    "lane_counts": Stratified(POSITIONS, _one_position),
    "heuristic": Stratified((*POSITIONS, *_far_boards()), _far_or_near),
    "is_quiescent": Stratified(POSITIONS, _is_quiescent),
    "priority": Stratified(
        [f"{player} to move, {kind}" for player in "xo" for kind in MOVES]
        + [ONE, LAST_WINS, "row"],
        _priority,
    ),
    "search TypeA": Stratified(SEARCHED, _search),
    "search TypeAPlus": Stratified(SEARCHED, _search_in_order),
}
