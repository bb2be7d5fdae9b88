"""The dimensions of the arguments of questions: options, numbers, cells, cards and tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from course.checks import Case
from course.checks.positions import read_position
from course.checks.question import texts_of
from sequence.board.cards import NO_CARD, ONE_EYED, is_jack
from sequence.board.layout import cells_with
from sequence.engine.observation import Observation
from tictactoe.games.kuhn import Kuhn

# Arguments that only select one of many equal cases, and those whose contents are what counts.
UNCLASSIFIED = frozenset((
    "on", "seed", "deal", "draws", "favoured", "lines", "far", "path", "others", "tree",
    "tried", "strategy", "states", "entries", "lists", "cuts", "infos", "texts", "updates",
    "tables", "arguments", "groups", "cells", "cell", "actions", "cards", "move", "moves",
    "window", "values", "weights", "known", "counts", "won", "against", "agent", "rates",
    "deals",
))  # fmt: skip
DEFAULT = "default"
WINDOW = ("below alpha", "equal to alpha", "between", "equal to beta", "above beta")
SIGNED = ("bonus", "reward", "taken")  # only the sign of these numbers is a dimension
NUMBERS = ("negative", "0", "between 0 and 1", "1", "above 1")
Values = Iterator[tuple[str, str]]  # pairs of a dimension and a value


def option_values(case: Case, keys: Iterable[str]) -> Values:
    """Yield the class of each option; an option that a case does not set has its default."""
    for key in keys:
        if key not in case:
            yield f"option {key}", DEFAULT
        elif key in SIGNED:
            yield f"option {key}", "negative" if case[key] < 0 else "not negative"
        else:
            yield f"option {key}", class_of(case[key])


def is_option(key: str) -> bool:
    """Whether the value of an argument is a separate dimension."""
    return key not in UNCLASSIFIED


def class_of(value: Any) -> str:
    """Return the class of an argument: a word itself, the range of a number, whether a list is
    empty, or that it is a position.

    >>> class_of(0.25), class_of(3), class_of([]), class_of("centre"), class_of(True)
    ('between 0 and 1', 'above 1', 'empty', 'centre', 'True')
    """
    if isinstance(value, str):
        return "a position" if _is_position(value) else value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return NUMBERS[(value >= 0) + (value > 0) + (value >= 1) + (value > 1)]
    return "not empty" if value else "empty"


@cache
def _is_position(text: str) -> bool:
    try:
        read_position(text)
    except (ValueError, TypeError, KeyError):
        return False
    return True


# ---- Cells, cards and actions of a position


def _cells(case: Case) -> Values:
    """Return the contents of the cells in question."""
    cells = [_cell(cell) for cell in case.get("cells", ())]
    if "cell" in case:
        cells.append(_cell(case["cell"]))
    for position in map(read_position, texts_of(case)):
        for cell in cells:
            yield "cell", _chip(position, cell)


def _cell(cell: Any) -> Any:
    """Return a cell as positions name it, from "4,2", a pair, or a number."""
    if isinstance(cell, int):
        return cell
    row, column = map(int, cell.split(",")) if isinstance(cell, str) else cell
    return row, column


def _chip(position: Any, cell: Any) -> str:
    own = position.to_move
    if isinstance(position, Observation):
        own = "xo"[position.side]
    mark = position[cell]
    if mark not in ("x", "o", "X", "O"):
        return "empty"
    return "own" if mark.lower() == own else "opponent's"


CHIPS = {"cell": ("empty", "own", "opponent's")}


def _cards(case: Case) -> Values:
    """The kinds of the cards in question."""
    position: Observation = read_position(texts_of(case)[0])
    for card in case["cards"]:
        if card == NO_CARD:
            yield "card", "none"
        elif is_jack(card):
            yield "card", "one-eyed jack" if card in ONE_EYED else "two-eyed jack"
        else:
            chips = [position[cell] in ("x", "o", "X", "O") for cell in cells_with(card)]
            yield "card", ("both cells open", "one cell open", "dead")[sum(chips)]


CARDS = {
    "card": ("one-eyed jack", "two-eyed jack", "both cells open", "one cell open", "dead"),
}


def _actions(case: Case) -> Values:
    for action in case["actions"]:
        yield "action", action.partition(" ")[0]


ACTIONS = {"action": ("place", "remove")}


def _move(case: Case) -> Values:
    """The result of a move, on the first position of the case."""
    state = read_position(texts_of(case)[0])
    if case["move"] not in state.legal_moves():
        yield "move", "illegal"
        return
    after = state.after(case["move"])
    utility = after.utility(state.to_move) if after.is_terminal() else None
    yield "move", {None: "the game continues", 0: "draws"}.get(utility, "wins")


MOVES = {"move": ("the game continues", "wins", "draws")}
ATTEMPTS = {"move": (*MOVES["move"], "illegal")}


def _game(case: Case) -> Values:
    """The result of a scripted game, and whether it contains illegal attempts."""
    state, illegal = read_position(texts_of(case)[0]), False
    for move in case["moves"]:
        if state.is_terminal() or move not in state.legal_moves():
            illegal = True
        else:
            state = state.after(move)
    yield "attempts", "some illegal" if illegal else "all legal"
    utility = state.utility("x") if state.is_terminal() else None
    yield (
        "game",
        (
            "not finished"
            if utility is None
            else "draw"
            if utility == 0
            else f"won by {'x' if utility > 0 else 'o'}"
        ),
    )


GAMES = {"game": ("won by x", "won by o", "draw")}
EPISODES = {**GAMES, "attempts": ("all legal", "some illegal")}


# ---- Numbers and tables


def _in_window(value: float, alpha: Any, beta: Any) -> str:
    low, high = float(alpha), float(beta)
    if value <= low:
        return WINDOW[value == low]
    return WINDOW[2 + (value >= high) + (value > high)]


def _bound(case: Case) -> Values:
    for value, alpha, beta in case["arguments"]:
        yield "value", _in_window(value, alpha, beta)
        yield "alpha", "-inf" if alpha == "-inf" else "finite"
        yield "beta", "inf" if beta == "inf" else "finite"


def _entries(case: Case) -> Values:
    for value, left, kind, stored, alpha, beta in case["entries"]:
        depth = "deep enough" if stored >= left else "too shallow"
        yield "depth", "equal" if stored == left else "deeper" if stored > left else "less deep"
        yield f"{kind} value, {depth}", _in_window(value, alpha, beta)


def _promoted(case: Case) -> Values:
    for moves, preferred in case["lists"]:
        yield "promoted moves", ("none", "one", "several")[min(len(preferred), 2)]
        yield "an illegal one", "yes" if {*preferred} - {*moves} else "no"
        yield "a repeated one", "yes" if len({*preferred}) < len(preferred) else "no"


def _window(case: Case) -> Values:
    alpha, beta = case["window"]
    yield "alpha", "-inf" if alpha == "-inf" else class_of(alpha)
    yield "beta", "inf" if beta == "inf" else class_of(beta)


def _tie(numbers: Sequence[float]) -> str:
    best = list(numbers).count(max(numbers))
    return "one move" if len(numbers) == 1 else "one best move" if best == 1 else "several best"


TIES = ("one move", "one best move", "several best")


def _epsilon_greedy(case: Case) -> Values:
    values = [value for _, value in case["values"]]
    yield "best moves", _tie(values)
    yield "largest value", "negative" if max(values) < 0 else "not negative"


def _choices(case: Case) -> Values:
    for table in case["tables"]:
        yield "largest mean", _tie([mean for _, _, mean in table])
        yield "most visits", _tie([visits for _, visits, _ in table])


def _ucb(case: Case) -> Values:
    for mean, visits, _, constant in case["arguments"]:
        yield "mean", class_of(mean)
        yield "visits", class_of(visits)
        yield "constant", class_of(constant)


def _targets(case: Case) -> Values:
    values, taken = case["values"], case["taken"]
    yield "candidates", "one" if len(values) == 1 else "several"
    yield "action taken", "the best" if taken == max(values) else "another"
    yield "largest value", "negative" if max(values) < 0 else "not negative"


def _table(case: Case) -> Values:
    keys = [str((state, action)) for state, action, _ in case["updates"]]
    yield "keys", "repeated" if len({*keys}) < len(keys) else "different"
    for _, action, reward in case["updates"]:
        yield "features", "trade" if action[-1] == 1 else "some" if any(action) else "all zero"
        yield "reward", "negative" if reward < 0 else "not negative"


def _rays(case: Case) -> Values:
    for text in case["texts"]:
        yield "first cell", {"m": "own", "_": "open", "#": "edge"}.get(text[0], "other")
        yield "own chips", "some" if "m" in text else "none"


def _pattern(case: Case) -> Values:
    for chips, gaps, _, _, *ends in case["infos"]:
        yield "chips", str(chips)
        yield "gaps", str(gaps)
        yield "open ends", str(sum(map(bool, ends)))


def _weights(case: Case) -> Values:
    for won in case["won"]:
        yield "game", "won" if won else "lost"
    for weight in case["weights"]:
        yield "weight", class_of(weight)


def _states(case: Case) -> Values:
    for text in case["states"]:
        moves = [int(word) if word.isdecimal() else word for word in text.split()]
        state = Kuhn.from_moves(moves, late=case.get("late", False))
        yield "to move", "finished" if state.is_terminal() else state.to_move or "chance"


def _given_weights(case: Case) -> Values:
    yield "weights", "given" if "weights" in case else DEFAULT


YES_NO = ("yes", "no")
_KINDS = ("exact", "lower", "upper")
Read = tuple[Callable[[Case], Values], Mapping[str, tuple[str, ...]]]
_WEIGHTS: Read = (_given_weights, {"weights": (DEFAULT, "given")})
# The functions that read the arguments of a question, each with its dimensions and their values.
BY_QUESTION: Mapping[str, Sequence[Read]] = {
    "deep_limited": [(_window, {})],
    "deep_bound": [(_bound, {"value": WINDOW, "alpha": ("finite", "-inf"),
                             "beta": ("finite", "inf")})],
    "deep_answers": [(_entries, {"depth": ("less deep", "equal", "deeper"),
                                 **{f"{kind} value, {depth}": WINDOW for kind in _KINDS
                                    for depth in ("deep enough", "too shallow")}})],
    "deep_promoted": [(_promoted, {"promoted moves": ("none", "one", "several"),
                                   "an illegal one": YES_NO, "a repeated one": YES_NO})],
    "step": [(_move, ATTEMPTS)],
    "bellman": [(_move, ATTEMPTS)],
    "lane_update": [(_move, MOVES)],
    "episode": [(_game, EPISODES)],
    "self_play": [(_game, GAMES)],
    "lane_kinds": [(_cells, CHIPS)],
    "epsilon_greedy": [(_epsilon_greedy, {"best moves": TIES,
                                          "largest value": ("negative", "not negative")})],
    "places": [(_cards, CARDS)],
    "cell_score": [(_cells, CHIPS)],
    "evaluate_board": [(_cells, CHIPS), (_actions, ACTIONS)],
    "evaluator_play": [(_actions, ACTIONS), _WEIGHTS],
    "evaluator_draft": [(_cards, CARDS), _WEIGHTS],
    "evaluator_action Evaluator": [_WEIGHTS],
    "blocking": [(_cells, CHIPS), (_actions, ACTIONS), _WEIGHTS],
    "simple_score": [(_actions, ACTIONS)],
    "line_links": [(_cells, CHIPS)],
    "sequence_draft": [(_cards, {"card": (*CARDS["card"], "none")})],
    "best_reply": [(_cards, CARDS)],
    "quick_replies": [(_cards, CARDS)],
    "strategy_value": [(_states, {"to move": ("chance", "x", "o", "finished")})],
    "sarsa_direction": [(_cells, {"cell": ("empty", "own")})],
    "sarsa_lines": [(_cells, CHIPS)],
    "sarsa_rays": [(_rays, {"first cell": ("own", "open", "edge", "other"),
                            "own chips": ("some", "none")})],
    "sarsa_pattern": [(_pattern, {"chips": tuple("123456"), "gaps": tuple("012"),
                                  "open ends": tuple("012")})],
    "sarsa_targets": [(_targets, {"candidates": ("one", "several"),
                                  "action taken": ("the best", "another"),
                                  "largest value": ("negative", "not negative")})],
    "sarsa_table": [(_table, {"keys": ("repeated", "different"),
                              "features": ("all zero", "trade", "some"),
                              "reward": ("negative", "not negative")})],
    "sarsa_weights": [(_weights, {"game": ("won", "lost")})],
    "mcts_choices": [(_choices, {"largest mean": TIES[1:], "most visits": TIES[1:]})],
    "mcts_ucb": [(_ucb, {"mean": NUMBERS[1:4], "visits": NUMBERS[3:],
                         "constant": NUMBERS[1:]})],
}  # fmt: skip
