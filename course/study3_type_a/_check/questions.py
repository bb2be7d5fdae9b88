"""Questions about the functions of the Type A agent: lanes, heuristic, quiescence, priorities."""

from collections.abc import Iterator, Mapping
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import BadReply, Part, Question, each_position, get, items, positions_of

PLAYERS = "for x, for o"


def _lane_counts(module, on: str) -> Iterator[Part]:
    def both():
        counts = [get(module, "lane_counts")(read_position(on), player) for player in "xo"]
        for pair in counts:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise BadReply(
                    english(f"lane_counts must return a pair (two, one), it returned {pair!r:.60}")
                )
        return list(zip(*counts, strict=True))

    yield ("two", "one"), both


def _heuristic(module, on: str) -> Iterator[Part]:
    yield (
        ("value",),
        lambda: [[get(module, "heuristic")(read_position(on), player) for player in "xo"]],
    )


def _is_quiescent(module, on: list[str]) -> Iterator[Part]:
    yield ("answer",), lambda: [[get(module, "is_quiescent")(read_position(text)) for text in on]]


def _priority(module, on: str) -> Iterator[Part]:
    state = read_position(on)
    yield (
        ("priority",),
        lambda: [
            [get(module, "priority")(state, move, state.to_move) for move in state.legal_moves()]
        ],
    )
    yield ("order",), lambda: [items(get(module, "by_priority")(state))]


def _call_with(name: str, *arguments: str):
    """The description of a question that calls `name` on a position."""
    return lambda case: f"{name}({', '.join([*positions_of(case), *arguments])})"


def _call_each(name: str):
    def describe(case: Mapping[str, Any]) -> str:
        positions = positions_of(case)
        if len(positions) == 1:
            return f"{name}({positions[0]})"
        return f"{name}(state) for {', '.join(positions)}"

    return describe


def _legal_moves(case: Mapping[str, Any]) -> list[list[str]]:
    return [[f"move {move}" for move in read_position(case["on"]).legal_moves()]]


QUESTIONS = {
    "lane_counts": Question(_lane_counts, ("two", "one"), _call_with("lane_counts", "player"),
                            {"two": PLAYERS, "one": PLAYERS}),
    "heuristic": Question(_heuristic, ("value",), _call_with("heuristic", "player"),
                          {"value": PLAYERS}, labels={
        "value": lambda case: [PLAYERS.split(", ")]}),
    "is_quiescent": Question(_is_quiescent, ("answer",), _call_each("is_quiescent"),
                             {"answer": "one for each board"},
                             labels={"answer": each_position}),
    "priority": Question(_priority, ("priority", "order"), _call_with("priority", "move", "player"), {
        "priority": "one for each legal move, in board order",
        "order": "the moves in this order"}, labels={"priority": _legal_moves}),
}  # fmt: skip
