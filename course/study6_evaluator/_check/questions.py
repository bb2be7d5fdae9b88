"""Questions about the evaluator for Sequence: costs, scores, parts and actions on given boards.

A cell is written as "4,2", a line by its first and last cells as "2,1-6,1", and an action as "place
4,2".
"""

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import (
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
    masks = [
        mask
        for line, mask in zip(LINES, LINE_MASKS, strict=True)
        if {line[0], line[-1]} == {start, end}
    ]
    if not masks:
        raise ValueError(f"{text} are not the ends of a line of five")
    return masks[0]


def _action(text: str) -> tuple[str, tuple[int, int]]:
    kind, cell = text.split()
    return kind, _cell(cell)


def _observations(on: str | Sequence[str]) -> list[Any]:
    """The one or more positions that a case names."""
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
    """The cells of each cost as texts, board by board; None if the optional function is missing."""
    try:
        results = [get(module, "cells_by_cost")(chips) for chips in _chips(module, on)]
    except (BadReply, NotImplementedError):
        return None
    return [
        " ".join(f"{row},{col}" for row, col in cells_of(masks[cost])) if cost < len(masks) else ""
        for masks in results
        for cost in range(get(module, "NEVER") + 1)
    ]


def _missing_or_equal(expected: Any, got: Any) -> bool:
    """Whether the cells are correct, or missing while the gains are correct."""
    return (
        isinstance(got, list)
        and len(got) == len(expected)
        and (got[0] == expected[0] or (got[0] is None and got[1] == expected[1]))
    )


def _play(
    module, on, actions: Sequence[str], weights: Mapping[str, float] | None = None
) -> Iterator[Part]:
    def parts():
        results = [
            get(module, "parts")(observation, *_action(text))
            for observation in _observations(on)
            for text in actions
        ]
        for three in results:
            if not isinstance(three, (tuple, list)) or len(three) != 3:
                raise BadReply(
                    english(f"parts must return (sequence, line, board), it returned {three!r:.60}")
                )
        return list(zip(*results, strict=True))

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
        """One agent's action in each position. In a single position, an agent with its own weights
        chooses after another agent that was created after it.
        """
        agent_class = get(module, agent)
        observations = _observations(on)
        player = agent_class() if weights is None else agent_class(_weights(module, weights))
        if weights is not None and len(observations) == 1:
            agent_class().choose(observations[0])
        return [[player.choose(observation) for observation in observations]]

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


def _simple(module, on, actions: Sequence[str], cells: Sequence[str] = ()) -> Iterator[Part]:
    yield (
        ("lines",),
        lambda: [
            [
                get(module, "line_count")(chips, cell)
                for chips in _chips(module, on)
                for cell in (*(_action(text)[1] for text in actions), *map(_cell, cells))
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


def _arguments(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{key}={value}" for key, value in weights.items())


def _call_for_items(name: str, argument: str, key: str):
    """The description of a question that calls the function `name` for each item of the case's
    list `key`, on one board after another."""

    def describe(case: Mapping[str, Any]) -> str:
        weights = f", Weights({_arguments(case['weights'])})" if "weights" in case else ""
        called = " and ".join(
            f"{name}({argument.format(position)}{weights})" for position in positions_of(case)
        )
        return f"{called} for {', '.join(case[key])}"

    return describe


def _described_board(case: Mapping[str, Any]) -> str:
    return (
        f"{' and '.join(f'board_score(Chips.of({text}))' for text in positions_of(case))}, "
        f"line_score for the board and {', '.join(case['cells'])}, board_gain for "
        f"{', '.join(case['actions'])}, cells_by_cost"
    )


def _described_play(case: Mapping[str, Any]) -> str:
    weights = _arguments(case.get("weights", {}))
    called = " and ".join(
        f"play_score({position}, kind, cell, Weights({weights}))" for position in positions_of(case)
    )
    return f"{called} and parts for {', '.join(case['actions'])}"


def _described_blocking(case: Mapping[str, Any]) -> str:
    weights = (
        f"BLOCKING._replace({_arguments(case['weights'])})" if "weights" in case else "BLOCKING"
    )
    called = " and ".join(
        f"play_score({position}, kind, cell, {weights})" for position in positions_of(case)
    )
    return f"{called} and threat for {', '.join((*case['actions'], *case.get('cells', ())))}"


def _described_simple(case: Mapping[str, Any]) -> str:
    called = " and ".join(
        f"simple_score({position}, kind, cell)" for position in positions_of(case)
    )
    return f"{called} and line_count for {', '.join((*case['actions'], *case.get('cells', ())))}"


def _described_agent(case: Mapping[str, Any]) -> str:
    """One agent in all positions of the case, in Python notation; see `_plays`."""
    made = f"{case['agent']}({{}})".format(
        f"Weights({_arguments(case['weights'])})" if "weights" in case else ""
    )
    positions = list(positions_of(case))
    if len(positions) == 1 and "weights" in case:
        other = f"{case['agent']}().choose({positions[0]})"
        return f"agent = {made}; {other}, then agent.choose({positions[0]})"
    if len(positions) == 1:
        return f"{made}.choose({positions[0]})"
    return f"agent = {made}; {', then '.join(f'agent.choose({text})' for text in positions)}"


def _actions_and_cells(case: Mapping[str, Any]) -> list[list[str]]:
    return [[*case["actions"], *(f"cell {cell}" for cell in case.get("cells", ()))]]


QUESTIONS = {
    "places": Question(_places, ("cells",), _call_for_items("places", "{}, card", "cards"),
                       {"cells": IN_ORDER},
                       labels={"cells": board_by_board(each("cards", "card"))}),
    "line_cost": Question(_line_cost, ("cost",),
                          _call_for_items("line_cost", "line, Chips.of({})", "lines"),
                          {"cost": IN_ORDER},
                          labels={"cost": board_by_board(each("lines", "line"))}),
    "cell_score": Question(_cell_score, ("score",),
                           _call_for_items("cell_score", "cell, Chips.of({})", "cells"),
                           {"score": IN_ORDER},
                           labels={"score": board_by_board(each("cells", "cell"))}),
    "evaluate_board": Question(_board, ("board", "line", "gain", "by_cost"), _described_board, {
        "line": "of the whole board, then through each cell", "gain": "one for each action",
        "by_cost": "the cells of each cost from 0 (null if cells_by_cost is missing), then the "
                   "gains"},
        comparators={"by_cost": _missing_or_equal},
        labels={"gain": board_by_board(each("actions")), "line": board_by_board(lambda case: [
            [english("the whole board"), *(f"cell {cell}" for cell in case["cells"])]])}),
    "evaluator_play": Question(_play, ("sequence", "line", "board", "score"), _described_play,
                               {"score": IN_ORDER}, labels=dict.fromkeys(
        ("sequence", "line", "board", "score"), board_by_board(each("actions")))),
    "evaluator_draft": Question(_draft, ("score",),
                                _call_for_items("draft_score", "{}, card", "cards"),
                                {"score": IN_ORDER},
                                labels={"score": board_by_board(each("cards", "card"))}),
    "evaluator_action": Question(_plays, ("action",), _described_agent, {
        "action": "for each position: kind, card played, card taken, cell"},
        labels={"action": each_position}),
    "blocking": Question(_blocking, ("threat", "score"), _described_blocking, {
        "threat": "of each cell, in this order", "score": "one for each action"},
        labels={"score": board_by_board(each("actions")), "threat": board_by_board(
            _actions_and_cells)}),
    "simple_score": Question(_simple, ("lines", "score"), _described_simple, {
        "lines": "line_count of each cell", "score": "one for each action"},
        labels={"score": board_by_board(each("actions")), "lines": board_by_board(
            _actions_and_cells)}),
}  # fmt: skip
