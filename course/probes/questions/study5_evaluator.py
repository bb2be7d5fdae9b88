"""Questions about the evaluator for Sequence: costs, scores, parts and moves on given boards.

Cells are written "4,2", lines by their first and last cell "2,1-6,1", actions "place 4,2".
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from course.probes.positions import read_position
from course.probes.question import BadReply, Part, Question, each, get, items, positions_of
from sequence.board.layout import LINE_MASKS, LINES

IN_ORDER = "one for each, in this order"


def _cell(text: str) -> tuple[int, int]:
    row, col = map(int, text.split(","))
    return row, col


def _line(text: str) -> int:
    """The bitboard of a line of five, given by its ends; raises ValueError for any other two cells.
    """
    start, end = map(_cell, text.split("-"))
    found = [mask for line, mask in zip(LINES, LINE_MASKS, strict=True)
             if {line[0], line[-1]} == {start, end}]
    if not found:
        raise ValueError(f"{text} are not the ends of a line of five")
    return found[0]


def _action(text: str) -> tuple[str, tuple[int, int]]:
    kind, cell = text.split()
    return kind, _cell(cell)


def _chips(module: ModuleType, on: str) -> Any:
    return get(module, "Chips").of(read_position(on))


def _places(module, on: str, cards: Sequence[str]) -> Iterator[Part]:
    def cells():
        observation = read_position(on)
        return [[items(get(module, "places")(observation, card)) for card in cards]]

    yield ("cells",), cells


def _line_cost(module, on: str, lines: Sequence[str]) -> Iterator[Part]:
    yield (("cost",), lambda: [[get(module, "line_cost")(_line(line), _chips(module, on))
                                for line in lines]])


def _cell_score(module, on: str, cells: Sequence[str]) -> Iterator[Part]:
    yield (("score",), lambda: [[get(module, "cell_score")(_cell(cell), _chips(module, on))
                                 for cell in cells]])


def _board(module, on: str, cells: Sequence[str], actions: Sequence[str]) -> Iterator[Part]:
    yield ("board",), lambda: [get(module, "board_score")(_chips(module, on))]
    yield (("line",), lambda: [[get(module, "line_score")(_chips(module, on), cell)
                                for cell in (None, *map(_cell, cells))]])
    yield (("gain",), lambda: [[get(module, "board_gain")(_chips(module, on), *_action(text))
                                for text in actions]])


def _play(module, on: str, actions: Sequence[str],
          weights: Mapping[str, float] | None = None) -> Iterator[Part]:
    def parts():
        observation = read_position(on)
        found = [get(module, "parts")(observation, *_action(text)) for text in actions]
        for three in found:
            if not isinstance(three, (tuple, list)) or len(three) != 3:
                raise BadReply("parts must return (sequence, line, board), "
                               f"it returned {three!r:.60}")
        return list(zip(*found, strict=True))

    yield ("sequence", "line", "board"), parts
    yield (("score",), lambda: [[
        get(module, "play_score")(read_position(on), *_action(text),
                                  get(module, "Weights")(**weights or {}))
        for text in actions]])


def _draft(module, on: str, cards: Sequence[str]) -> Iterator[Part]:
    yield (("score",), lambda: [[get(module, "draft_score")(read_position(on), card)
                                 for card in cards]])


def _plays(module, on: str, agent: str) -> Iterator[Part]:
    yield ("action",), lambda: [get(module, agent)().choose(read_position(on))]


def _blocking(module, on: str, actions: Sequence[str]) -> Iterator[Part]:
    yield (("threat",), lambda: [[get(module, "threat")(_chips(module, on), _action(text)[1])
                                  for text in actions]])
    yield (("score",), lambda: [[
        get(module, "play_score")(read_position(on), *_action(text), get(module, "BLOCKING"))
        for text in actions]])


def _simple(module, on: str, actions: Sequence[str]) -> Iterator[Part]:
    yield (("lines",), lambda: [[get(module, "line_count")(_chips(module, on), _action(text)[1])
                                 for text in actions]])
    yield (("score",), lambda: [[get(module, "simple_score")(read_position(on), *_action(text))
                                 for text in actions]])


def _for_each(name: str, argument: str, asked: str):
    """The description of a question that calls the function `name` for each item of the case's
    list `asked`."""
    def describe(case: Mapping[str, Any]) -> str:
        position, = positions_of(case)
        return f"{name}({argument.format(position)}) for {', '.join(case[asked])}"

    return describe


def _described_board(case: Mapping[str, Any]) -> str:
    position, = positions_of(case)
    return (f"board_score(Chips.of({position})), line_score for the board and "
            f"{', '.join(case['cells'])}, board_gain for {', '.join(case['actions'])}")


def _described_play(case: Mapping[str, Any]) -> str:
    position, = positions_of(case)
    weights = ", ".join(f"{key}={value}" for key, value in case.get("weights", {}).items())
    return (f"play_score({position}, kind, cell, Weights({weights})) and parts for "
            f"{', '.join(case['actions'])}")


QUESTIONS = {
    "places": Question(_places, ("cells",), _for_each("places", "{}, card", "cards"),
                       {"cells": IN_ORDER}, labels={"cells": each("cards", "card")}),
    "line_cost": Question(_line_cost, ("cost",),
                          _for_each("line_cost", "line, Chips.of({})", "lines"),
                          {"cost": IN_ORDER}, labels={"cost": each("lines", "line")}),
    "cell_score": Question(_cell_score, ("score",),
                           _for_each("cell_score", "cell, Chips.of({})", "cells"),
                           {"score": IN_ORDER}, labels={"score": each("cells", "cell")}),
    "evaluate_board": Question(_board, ("board", "line", "gain"), _described_board, {
        "line": "of the whole board, then through each cell", "gain": "one for each action"},
        labels={"gain": each("actions"), "line": lambda case: [
            ["the whole board", *(f"cell {cell}" for cell in case["cells"])]]}),
    "evaluator_play": Question(_play, ("sequence", "line", "board", "score"), _described_play,
                               {"score": IN_ORDER}, labels=dict.fromkeys(
        ("sequence", "line", "board", "score"), each("actions"))),
    "evaluator_draft": Question(_draft, ("score",), _for_each("draft_score", "{}, card", "cards"),
                                {"score": IN_ORDER}, labels={"score": each("cards", "card")}),
    "evaluator_action": Question(_plays, ("action",), lambda case: (
        f"{case['agent']}().choose({positions_of(case)[0]})"), {
        "action": "kind, card played, card taken, cell"}),
    "blocking": Question(_blocking, ("threat", "score"),
                         _for_each("play_score", "{}, kind, cell, BLOCKING", "actions"),
                         {"score": IN_ORDER},
                         labels=dict.fromkeys(("threat", "score"), each("actions"))),
    "simple_score": Question(_simple, ("lines", "score"),
                             _for_each("simple_score", "{}, kind, cell", "actions"),
                             {"lines": "line_count of each cell", "score": IN_ORDER},
                             labels=dict.fromkeys(("lines", "score"), each("actions"))),
}  # fmt: skip
