"""The dimensions of positions of games on boards, and of trees of numbers."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from course.checks.toy_games import NumberTree, Row
from tictactoe import EMPTY, Board, opponent
from tictactoe.solver import value as solved_value

FEW_OPEN_CELLS = 9  # with at most this many, a position is searched to the end
LARGE = 1_000  # distinct states of a tree; a table that is limited to this number overflows
PAIR = 2  # marks of one player in a lane without marks of the other
OUTCOMES = ("lost", "drawn", "won")
SIZES = ("small", "large")
VALUES: Mapping[str, tuple[str, ...]] = {
    "to move": ("x", "o"),
    "value": tuple(f"{outcome} for {player}" for player in "xo" for outcome in OUTCOMES),
    "end": ("not finished", "won by x", "won by o", "draw"),
    "legal moves": ("one", "several"),
    "tree": SIZES,
    "turns": ("alternate", "two in a row"),
    "pairs": (
        "none",
        "own only",
        "opponent's only",
        "both, equally many",
        "both, more own ones",
        "both, more of the opponent's",
    ),
}  # fmt: skip


def _to_move(state: Any) -> Iterator[str]:
    if not state.is_terminal():
        yield state.to_move


def _value(state: Any) -> Iterator[str]:
    """The value for the player to move under best play, if it can be computed quickly."""
    if not state.is_terminal() and _is_searchable(state):
        number = exact_value(state)
        yield f"{OUTCOMES[(number > 0) - (number < 0) + 1]} for {state.to_move}"


def _is_searchable(state: Any) -> bool:
    if isinstance(state, (Board, NumberTree)):
        return True
    cells = {cell for lane in state.lanes for cell in lane}
    return sum(state[cell] == EMPTY for cell in cells) <= FEW_OPEN_CELLS


@lru_cache(maxsize=100_000)
def exact_value(state: Any) -> float:
    """Return the value of a state for the player to move under best play.

    >>> exact_value(NumberTree(((5, 9, 6), (3, 8, 7)))), exact_value(Board("xx_oo____"))
    (5, 1)
    """
    if isinstance(state, Board):
        return solved_value(state, state.to_move)
    if state.is_terminal():
        return state.utility(state.to_move)
    children = (state.after(move) for move in state.legal_moves())
    return max(
        exact_value(child) if child.to_move == state.to_move else -exact_value(child)
        for child in children
    )


def _end(state: Any) -> Iterator[str]:
    if not state.is_terminal():
        yield "not finished"
        return
    utility = state.utility("x")
    yield "won by x" if utility > 0 else "won by o" if utility < 0 else "draw"


def _legal_moves(state: Any) -> Iterator[str]:
    if not state.is_terminal():
        yield "one" if len(state.legal_moves()) == 1 else "several"


def _tree(state: Any) -> Iterator[str]:
    yield SIZES[_state_count(state) > LARGE]


@lru_cache(maxsize=100_000)
def _state_count(state: Any) -> int:
    """Return the number of distinct states of a tree, or a number above `LARGE`."""
    states, new = {state}, [state]
    while new and len(states) <= LARGE:
        current = new.pop()
        children = [current.after(move) for move in current.legal_moves()]
        unvisited = [child for child in dict.fromkeys(children) if child not in states]
        states.update(unvisited)
        new += unvisited
    return len(states)


def _turns(state: Any) -> Iterator[str]:
    yield "two in a row" if _has_two_turns_in_a_row(state) else "alternate"


@cache
def _has_two_turns_in_a_row(state: Any) -> bool:
    children = [state.after(move) for move in state.legal_moves()]
    return any(
        (not child.is_terminal() and child.to_move == state.to_move)
        or _has_two_turns_in_a_row(child)
        for child in children
    )


def _pairs(state: Any) -> Iterator[str]:
    """Which player has lanes with exactly two marks and nothing else."""
    own, other = (
        sum(_is_pair(state, lane, player) for lane in state.lanes)
        for player in (state.to_move, opponent(state.to_move))
    )
    if own and other:
        yield (
            "both, equally many"
            if own == other
            else "both, more own ones"
            if own > other
            else "both, more of the opponent's"
        )
    else:
        yield "own only" if own else "opponent's only" if other else "none"


def _is_pair(state: Any, lane: tuple[int, ...], player: str) -> bool:
    marks = [state[cell] for cell in lane]
    return marks.count(player) == PAIR and marks.count("_") == len(marks) - PAIR


Dimension = Callable[[Any], Iterator[str]]
ANY_GAME: Mapping[str, Dimension] = {
    "to move": _to_move, "value": _value, "end": _end, "legal moves": _legal_moves, "tree": _tree,
}  # fmt: skip
TREES: Mapping[str, Dimension] = {**ANY_GAME, "turns": _turns}
LANE_GAMES: Mapping[str, Dimension] = {**ANY_GAME, "pairs": _pairs}


def dimensions_of(state: Any) -> Mapping[str, Dimension]:
    """Return the functions that compute the values of a position in each dimension."""
    if isinstance(state, NumberTree):
        return TREES
    if isinstance(state, Row):
        return {
            name: LANE_GAMES[name] for name in ("to move", "end", "legal moves", "tree", "pairs")
        }
    return LANE_GAMES
