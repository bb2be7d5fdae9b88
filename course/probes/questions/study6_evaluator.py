"""Questions about the evaluator for Sequence: costs, scores, parts and moves on given boards.

Cells are written "4,2", lines by their first and last cell "2,1-6,1", actions "place 4,2".
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from course.probes.positions import read_position
from course.probes.question import (
    BadReply,
    Part,
    Question,
    board_by_board,
    each,
    each_position,
    get,
    items,
    positions_of,
    texts_of,
)
from sequence.board.layout import LINE_MASKS, LINES, cells_of

IN_ORDER = "one for each, in this order; board by board"


def _cell(text: str) -> tuple[int, int]:
    row, col = map(int, text.split(","))
    return row, col


def _line(text: str) -> int:
    """The bitboard of a line of five, given by its ends; raises ValueError for any other two cells."""
    start, end = map(_cell, text.split("-"))
    found = [
        mask
        for line, mask in zip(LINES, LINE_MASKS, strict=True)
        if {line[0], line[-1]} == {start, end}
    ]
    if not found:
        raise ValueError(f"{text} are not the ends of a line of five")
    return found[0]


def _action(text: str) -> tuple[str, tuple[int, int]]:
    kind, cell = text.split()
    return kind, _cell(cell)


def _observations(on: str | Sequence[str]) -> list[Any]:
    """The positions that a case names, one or several."""
    return [read_position(text) for text in texts_of({"on": on})]


def _chips(module: ModuleType, on: str | Sequence[str]) -> list[Any]:
    return [get(module, "Chips").of(observation) for observation in _observations(on)]


def _weights(module: ModuleType, weights: Mapping[str, float] | None) -> Any:
    return get(module, "Weights")(**weights or {})


def _places(module, on, cards: Sequence[str]) -> Iterator[Part]:
    yield (
        ("cells",),
        lambda: [
            [
                items(get(module, "places")(observation, card))
                for observation in _observations(on)
                for card in cards
            ]
        ],
    )


def _line_cost(module, on, lines: Sequence[str]) -> Iterator[Part]:
    yield (
        ("cost",),
        lambda: [
            [
                get(module, "line_cost")(_line(line), chips)
                for chips in _chips(module, on)
                for line in lines
            ]
        ],
    )


def _cell_score(module, on, cells: Sequence[str]) -> Iterator[Part]:
    yield (
        ("score",),
        lambda: [
            [
                get(module, "cell_score")(_cell(cell), chips)
                for chips in _chips(module, on)
                for cell in cells
            ]
        ],
    )


def _board(module, on, cells: Sequence[str], actions: Sequence[str]) -> Iterator[Part]:
    def gain():
        gains = [
            get(module, "board_gain")(chips, *_action(text))
            for chips in _chips(module, on)
            for text in actions
        ]
        return gains, [_cells_by_cost(module, on), gains]

    yield (
        ("board",),
        lambda: [[get(module, "board_score")(chips) for chips in _chips(module, on)]],
    )
    yield (
        ("line",),
        lambda: [
            [
                get(module, "line_score")(chips, cell)
                for chips in _chips(module, on)
                for cell in (None, *map(_cell, cells))
            ]
        ],
    )
    yield ("gain", "by_cost"), gain


def _cells_by_cost(module, on) -> list[str] | None:
    """The cells of each cost as texts, board by board; None where the function was left out, which
    is allowed."""
    try:
        found = [get(module, "cells_by_cost")(chips) for chips in _chips(module, on)]
    except (BadReply, NotImplementedError):
        return None
    return [
        " ".join(f"{row},{col}" for row, col in cells_of(masks[cost]))
        for masks in found
        for cost in range(get(module, "NEVER") + 1)
    ]


def _left_out_or_equal(expected: Any, got: Any) -> bool:
    """Whether the cells are right, or left out by somebody whose gains are right."""
    return (
        isinstance(got, list)
        and len(got) == len(expected)
        and (got[0] == expected[0] or (got[0] is None and got[1] == expected[1]))
    )


def _play(
    module, on, actions: Sequence[str], weights: Mapping[str, float] | None = None
) -> Iterator[Part]:
    def parts():
        found = [
            get(module, "parts")(observation, *_action(text))
            for observation in _observations(on)
            for text in actions
        ]
        for three in found:
            if not isinstance(three, (tuple, list)) or len(three) != 3:
                raise BadReply(
                    f"parts must return (sequence, line, board), it returned {three!r:.60}"
                )
        return list(zip(*found, strict=True))

    yield ("sequence", "line", "board"), parts
    yield (
        ("score",),
        lambda: [
            [
                get(module, "play_score")(observation, *_action(text), _weights(module, weights))
                for observation in _observations(on)
                for text in actions
            ]
        ],
    )


def _draft(
    module, on, cards: Sequence[str], weights: Mapping[str, float] | None = None
) -> Iterator[Part]:
    yield (
        ("score",),
        lambda: [
            [
                get(module, "draft_score")(observation, card, _weights(module, weights))
                for observation in _observations(on)
                for card in cards
            ]
        ],
    )


def _plays(module, on, agent: str, weights: Mapping[str, float] | None = None) -> Iterator[Part]:
    def actions():
        """What one agent plays in all positions in turn; one with other weights plays beside it."""
        made = get(module, agent)
        player = made() if weights is None else made(_weights(module, weights))
        others = [] if weights is None else [made()]
        found = []
        for observation in _observations(on):
            for other in others:
                other.choose(observation)
            found.append(player.choose(observation))
        return [found]

    yield ("action",), actions


def _blocking(
    module,
    on,
    actions: Sequence[str],
    cells: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
) -> Iterator[Part]:
    yield (
        ("threat",),
        lambda: [
            [
                get(module, "threat")(chips, cell)
                for chips in _chips(module, on)
                for cell in (*(_action(text)[1] for text in actions), *map(_cell, cells))
            ]
        ],
    )
    yield (
        ("score",),
        lambda: [
            [
                get(module, "play_score")(
                    observation, *_action(text), get(module, "BLOCKING")._replace(**weights or {})
                )
                for observation in _observations(on)
                for text in actions
            ]
        ],
    )


def _simple(module, on, actions: Sequence[str]) -> Iterator[Part]:
    yield (
        ("lines",),
        lambda: [
            [
                get(module, "line_count")(chips, _action(text)[1])
                for chips in _chips(module, on)
                for text in actions
            ]
        ],
    )
    yield (
        ("score",),
        lambda: [
            [
                get(module, "simple_score")(observation, *_action(text))
                for observation in _observations(on)
                for text in actions
            ]
        ],
    )


def _written(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{key}={value}" for key, value in weights.items())


def _for_each(name: str, argument: str, asked: str):
    """The description of a question that calls the function `name` for each item of the case's
    list `asked`, on one board after another."""

    def describe(case: Mapping[str, Any]) -> str:
        weights = f", Weights({_written(case['weights'])})" if "weights" in case else ""
        called = " and ".join(
            f"{name}({argument.format(position)}{weights})" for position in positions_of(case)
        )
        return f"{called} for {', '.join(case[asked])}"

    return describe


def _described_board(case: Mapping[str, Any]) -> str:
    return (
        f"{' and '.join(f'board_score(Chips.of({text}))' for text in positions_of(case))}, "
        f"line_score for the board and {', '.join(case['cells'])}, board_gain for "
        f"{', '.join(case['actions'])}, cells_by_cost"
    )


def _described_play(case: Mapping[str, Any]) -> str:
    weights = _written(case.get("weights", {}))
    called = " and ".join(
        f"play_score({position}, kind, cell, Weights({weights}))" for position in positions_of(case)
    )
    return f"{called} and parts for {', '.join(case['actions'])}"


def _described_blocking(case: Mapping[str, Any]) -> str:
    weights = f"BLOCKING._replace({_written(case['weights'])})" if "weights" in case else "BLOCKING"
    called = " and ".join(
        f"play_score({position}, kind, cell, {weights})" for position in positions_of(case)
    )
    return f"{called} and threat for {', '.join((*case['actions'], *case.get('cells', ())))}"


def _described_agent(case: Mapping[str, Any]) -> str:
    """One agent in all positions of the case; another one plays beside an agent with weights."""
    made, beside = f"{case['agent']}()", ""
    if "weights" in case:
        made, beside = (
            f"{case['agent']}(Weights({_written(case['weights'])}))",
            f", each time after another {made}",
        )
    first, *more = positions_of(case)
    if not more and not beside:
        return f"{made}.choose({first})"
    called = ", then ".join(f"agent.choose({position})" for position in (first, *more))
    return f"agent = {made}; {called}{beside}"


QUESTIONS = {
    "places": Question(_places, ("cells",), _for_each("places", "{}, card", "cards"),
                       {"cells": IN_ORDER},
                       labels={"cells": board_by_board(each("cards", "card"))}),
    "line_cost": Question(_line_cost, ("cost",),
                          _for_each("line_cost", "line, Chips.of({})", "lines"),
                          {"cost": IN_ORDER},
                          labels={"cost": board_by_board(each("lines", "line"))}),
    "cell_score": Question(_cell_score, ("score",),
                           _for_each("cell_score", "cell, Chips.of({})", "cells"),
                           {"score": IN_ORDER},
                           labels={"score": board_by_board(each("cells", "cell"))}),
    "evaluate_board": Question(_board, ("board", "line", "gain", "by_cost"), _described_board, {
        "line": "of the whole board, then through each cell", "gain": "one for each action",
        "by_cost": "the cells of each cost from 0 (null where cells_by_cost is left out), then the "
                   "gains"},
        judged={"by_cost": _left_out_or_equal},
        labels={"gain": board_by_board(each("actions")), "line": board_by_board(lambda case: [
            ["the whole board", *(f"cell {cell}" for cell in case["cells"])]])}),
    "evaluator_play": Question(_play, ("sequence", "line", "board", "score"), _described_play,
                               {"score": IN_ORDER}, labels=dict.fromkeys(
        ("sequence", "line", "board", "score"), board_by_board(each("actions")))),
    "evaluator_draft": Question(_draft, ("score",), _for_each("draft_score", "{}, card", "cards"),
                                {"score": IN_ORDER},
                                labels={"score": board_by_board(each("cards", "card"))}),
    "evaluator_action": Question(_plays, ("action",), _described_agent, {
        "action": "for each position: kind, card played, card taken, cell"},
        labels={"action": each_position}),
    "blocking": Question(_blocking, ("threat", "score"), _described_blocking, {
        "threat": "of each cell, in this order", "score": "one for each action"},
        labels={"score": board_by_board(each("actions")), "threat": board_by_board(
            lambda case: [[*case["actions"], *(f"cell {c}" for c in case.get("cells", ()))]])}),
    "simple_score": Question(_simple, ("lines", "score"),
                             _for_each("simple_score", "{}, kind, cell", "actions"),
                             {"lines": "line_count of each cell", "score": IN_ORDER},
                             labels=dict.fromkeys(("lines", "score"),
                                                  board_by_board(each("actions")))),
}  # fmt: skip
