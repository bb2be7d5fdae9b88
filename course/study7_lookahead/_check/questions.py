"""Questions about the look-ahead agent for Sequence: squares, cards, replies and top-k search."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from random import Random
from statistics import fmean
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import (
    BadReply,
    Labels,
    Part,
    Question,
    call,
    each,
    get,
    positions_of,
    texts_of,
)
from sequence import FORGO
from sequence.agents.beliefs import sample
from sequence.board.layout import BIT, DIRECTIONS
from tictactoe import Search
from tictactoe.games.kuhn import Kuhn

PLACE, REMOVE = "place", "remove"
QUIET_LINES = 60  # maximum number of lines scanned per action, after the first scan of all replies


def _strategy_value(
    module, states: list[str], strategy: Mapping[str, str], late: bool = False
) -> Iterator[Part]:
    def values():
        chances = {information: Fraction(chance) for information, chance in strategy.items()}
        results = [
            get(module, "strategy_value")(Kuhn.from_moves(_kuhn_moves(text), late), chances)
            for text in states
        ]
        if not all(isinstance(value, int | float | Fraction) for value in results):
            raise BadReply(english("strategy_value must return a number"))
        return [[float(value) for value in results]]

    yield ("value",), values


def _kuhn_moves(text: str) -> list[int | str]:
    """The moves that lead to a state of `Kuhn`: "2 1 pass" means two cards and a pass."""
    return [int(move) if move.isdigit() else move for move in text.split()]


def _line_links(module, on: str, cells: list[list[int]], far: Sequence[int]) -> Iterator[Part]:
    def links(chips):
        return [
            list(get(module, "line_links")(chips, tuple(cell), direction))
            for cell in cells
            for direction in DIRECTIONS
        ]

    def scans():
        """The number of calls that scan lines that are already known, even after chips elsewhere have
        changed.
        """
        chips = _chips(module, on)
        links(chips)
        row, col = far
        more = 1 << BIT[row, col]
        with _counted(module, "links", "line_text") as calls:
            again = links(chips)  # fast but wrong results earn nothing
            links(chips._replace(own=chips.own | more))
            links(chips._replace(own=chips.own | more, locked=chips.locked | more))
        return [[len(calls), *again]]

    yield ("links",), lambda: [links(_chips(module, on))]
    yield ("scans",), scans


def _reward(module, on: str) -> Iterator[Part]:
    def rewards(kind: str):
        chips = _chips(module, on)
        plays = [action for action in _plays(on) if action.kind == kind]
        return [[get(module, "reward")(chips, action) for action in (*plays, FORGO)]]

    yield ("place",), lambda: rewards(PLACE)
    yield ("remove",), lambda: rewards(REMOVE)


def _draft_value(module, on: str, cards: list[str]) -> Iterator[Part]:
    yield (
        ("value",),
        lambda: [[get(module, "draft_value")(_chips(module, on), card) for card in cards]],
    )


def _catalogue(module, on: str) -> Iterator[Part]:
    def both():
        known, possible = get(module, "catalogue")(read_position(on))
        return [list(known), list(possible)]

    yield ("known", "possible"), both


def _best_reply(module, on: str, cards: list[str]) -> Iterator[Part]:
    yield (("value",), lambda: [get(module, "best_reply")(_flipped(_chips(module, on)), cards)])


def _quick_replies(module, on: str, cards: list[str]) -> Iterator[Part]:
    def values():
        best = get(module, "quick_replies")(_chips(module, on), cards)
        return [[best(action) for action in _plays(on)]]

    def few():
        with _counted(module, "line_links", "scan", "links", "line_text") as calls:
            best = get(module, "quick_replies")(_chips(module, on), cards)
            plays = list(_plays(on))
            before = len(calls)
            values = [best(action) for action in plays]  # as above
        return [[len(calls) - before <= QUIET_LINES * len(plays), *values]]

    yield ("value",), values
    yield ("few",), few


def _look_ahead(module, on, replies: bool | str, cards: str = "possible") -> Iterator[Part]:
    def agent():
        finder = (
            REPLIES[replies]
            if isinstance(replies, str)
            else get(module, "plain_replies")
            if replies
            else None
        )
        return get(module, "LookAhead")(replies=finder, cards=cards)

    def values():
        """One agent's values in each position in turn."""
        player, results = agent(), []
        for observation in _observations(on):
            values = player.values(observation)
            legal = list(observation.legal_actions())
            if set(values) != set(legal):
                raise BadReply(
                    english("the keys of LookAhead.values must be exactly the legal actions")
                )
            if list(values) != legal:
                raise BadReply(
                    english("the keys of LookAhead.values must be in the documented order")
                )
            results += values.values()
        return [results]

    def move():
        player = agent()
        return [[str(player.choose(observation)) for observation in _observations(on)]]

    yield ("values",), values
    yield ("move",), move


def _top_k(
    module, on: str, deal: int, k: int, depth: int, rate: str | None = None
) -> Iterator[Part]:
    def game():
        return get(module, "TopK")(sample(read_position(on), Random(deal)), k, depth, **_rate(rate))

    def ends():
        top, seen = game(), []
        while not top.is_terminal():
            seen.append(top.to_move)
            top = top.after(top.legal_moves()[-1])
        return [[*seen, *(top.utility(player) for player in (0, 1)), list(top.legal_moves())]]

    yield ("moves",), lambda: [[str(move) for move in game().legal_moves()]]
    yield ("ends",), ends
    yield ("value",), lambda: [RandomPlay().search(game()).value]


def _sampled_search(module, on, seed: int, rate: str | None = None, **options) -> Iterator[Part]:
    def agent(seed):
        return get(module, "SampledSearch")(RandomPlay(), seed=seed, **options, **_rate(rate))

    def values():
        """One agent's values in each position in turn, while another agent exists. If there are
        several positions, the first one is repeated in a new game with the same seed.
        """
        player, _ = agent(seed), agent(seed + 1)
        first, *more = _observations(on)
        results = [player.values(observation) for observation in (first, *more)]
        if more:
            player.reset(seed)
            results.append(player.values(first))
        return [[[[str(action), value] for action, value in values.items()] for values in results]]

    def move():
        player = agent(seed)
        return [[str(player.choose(observation)) for observation in _observations(on)]]

    yield ("values",), values
    yield ("move",), move


def made_up_replies(chips, cards):
    """Replies whose value is the action's row plus the number of cards, to reveal unused arguments."""
    return lambda action: float(action.coords[0] + len(cards))


def made_up_gains(state) -> dict:
    """Gains that are equal in every sample: a number for each square, plus one for taking a jack."""
    return {
        action: float((17 * action.coords[0] + 5 * action.coords[1]) % 31 if action.coords else 0)
        + action.draft_card.startswith("j")
        for action in state.observation().legal_actions()
    }


REPLIES = {"made_up_replies": made_up_replies}
RATES = {"made_up_gains": made_up_gains}


def _rate(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"rate": RATES[name]}


class RandomPlay:
    """A search with the interface of study 2 that evaluates random play by both sides, because
    students write minimax themselves."""

    def search(self, state) -> Search:
        """The value for the player to move, without a move or a node count."""
        if state.is_terminal():
            return Search(None, state.utility(state.to_move), 1)
        values = [
            (child, self.search(child).value) for child in map(state.after, state.legal_moves())
        ]
        return Search(
            None,
            fmean(value if child.to_move == state.to_move else -value for child, value in values),
            1,
        )


def _observations(on: str | list[str]) -> list[Any]:
    """The one or more positions that a case names."""
    return [read_position(text) for text in texts_of({"on": on})]


@contextmanager
def _counted(module, *names: str) -> Iterator[list[str]]:
    """Yield a list that records the calls of these functions of the module, except nested ones.
    """
    calls: list[str] = []
    depth = 0

    def counting(name, function):
        function = getattr(function, "replaceable", function)  # if errors are carried forward

        def counted(*arguments):
            nonlocal depth
            if not depth:
                calls.append(name)
            depth += 1
            try:
                return function(*arguments)
            finally:
                depth -= 1

        return counted

    functions = {name: get(module, name) for name in names}
    for name, function in functions.items():
        setattr(module, name, counting(name, function))
    try:
        yield calls
    finally:
        for name, function in functions.items():
            setattr(module, name, function)


def _chips(module, on: str):
    """The chips of a position as an object of the module's class `Chips`, which students are given."""
    return get(module, "Chips").seen_by(read_position(on))


def _flipped(chips):
    """The same chips from the other side's view."""
    former = getattr(chips, "turned", None)  # the method's name in earlier stubs
    return former() if former else chips.flipped()


def _plays(on: str) -> Iterator[Any]:
    """The legal actions that change a chip, one for each kind and square."""
    seen = set()
    for action in read_position(on).legal_actions():
        if action.coords and (action.kind, action.coords) not in seen:
            seen.add((action.kind, action.coords))
            yield action


def _on_chips(name: str, *rest: str, flipped: bool = False):
    """The description of a question that calls `name` on the chips of a position."""

    def describe(case: Mapping[str, Any]) -> str:
        chips = f"Chips.seen_by({', '.join(positions_of(case))}){'.flipped()' if flipped else ''}"
        return f"{name}({', '.join([chips, *(repr(case.get(key, key)) for key in rest)])})"

    return describe


def _on_kuhn(case: Mapping[str, Any]) -> str:
    """The description of a question about states of `Kuhn`, each of which is given by its moves."""
    strategy = ", ".join(f"{key!r}: {chance}" for key, chance in case["strategy"].items())
    return f"strategy_value(state, {{{strategy}}}) for {', '.join(_kuhn_states(case)[0])}"


def _kuhn_states(case: Mapping[str, Any]) -> list[list[str]]:
    late = ", late=True" if case.get("late") else ""
    return [[f"Kuhn.from_moves({_kuhn_moves(text)}{late})" for text in case["states"]]]


def _agent(name: str, *options: str, method: str = "values"):
    """The description of a question that creates an agent and calls its method in each position."""

    def describe(case: Mapping[str, Any]) -> str:
        made = ", ".join(
            f"{option}={_option(case[option])}" for option in options if option in case
        )
        first, *more = positions_of(case)
        if not more:
            return f"{name}({made}).{method}({first})"
        called = ", then ".join(f"agent.{method}({position})" for position in (first, *more))
        return f"agent = {name}({made}); {called}"

    return describe


def _squares(on: str, *kinds: str) -> list[str]:
    """The plays of these kinds as texts such as "place 4,2"."""
    return [
        f"{action.kind} {','.join(map(str, action.coords))}"
        for action in _plays(on)
        if action.kind in kinds
    ]


def _squares_and_forgo(kind: str) -> Labels:
    """Labels for a list with one item for each play of a kind, then one for a forgone trade."""
    return lambda case: [[*_squares(case["on"], kind), "a forgone trade"]]


def _actions_on_boards(case: Mapping[str, Any]) -> list[list[str]]:
    boards = _observations(case["on"])
    several = len(boards) > 1
    return [
        [
            f"{action} on board {number}" if several else str(action)
            for number, board in enumerate(boards, 1)
            for action in board.legal_actions()
        ]
    ]


def _along(direction: tuple[int, int]) -> str:
    return english(f" in direction {direction}")


def _option(value: Any) -> str:
    """An agent's option in Python notation."""
    if isinstance(value, bool):
        return "plain_replies" if value else "None"
    return value if value in REPLIES or value in RATES else repr(value)


QUESTIONS = {
    "strategy_value": Question(_strategy_value, ("value",), _on_kuhn, {
        "value": "one for each state"}, labels={"value": _kuhn_states}),
    "line_links": Question(_line_links, ("links", "scans"), _on_chips("line_links", "cells"), {
        "scans": "calls of `links` or `line_text` that scan a line again, on the same board and "
                 "with distant chips, and the links"},
        labels={
        "links": lambda case: [[f"cell {tuple(cell)}{_along(direction)}"
                                for cell in case["cells"] for direction in DIRECTIONS]]}),
    "sequence_reward": Question(_reward, ("place", "remove"), _on_chips("reward"), {
        "place": "one for each legal square, then a forgone trade",
        "remove": "one for each removable chip, then a forgone trade"}, labels={
        kind: _squares_and_forgo(kind)
        for kind in (PLACE, REMOVE)}),
    "sequence_draft": Question(_draft_value, ("value",), _on_chips("draft_value", "cards"), {
        "value": "one for each card"}, labels={"value": each("cards", "card")}),
    "catalogue": Question(_catalogue, ("known", "possible"),
                          lambda case: call("catalogue", case)),
    "best_reply": Question(_best_reply, ("value",), _on_chips("best_reply", "cards", flipped=True)),
    "quick_replies": Question(_quick_replies, ("value", "few"),
                              _on_chips("quick_replies", "cards"), {
        "value": "one for each legal square",
        "few": f"whether a play scans at most {QUIET_LINES} lines; then the values"}, labels={
        "value": lambda case: [_squares(case["on"], PLACE, REMOVE)]}),
    "look_ahead": Question(_look_ahead, ("values", "move"),
                           _agent("LookAhead", "replies", "cards"), {
        "values": "one for each legal action", "move": "one for each position"}, labels={
        "values": _actions_on_boards}),
    "top_k": Question(_top_k, ("moves", "ends", "value"),
                      _agent("TopK", "deal", "k", "depth", "rate", method="legal_moves"), {
        "ends": "the players to move if the last of the top moves is always played, then the utility "
                "for both players and the legal moves at the end",
        "value": "the mean utility if both sides play at random"}),
    "sampled_search": Question(_sampled_search, ("values", "move"),
                               _agent("SampledSearch", "seed", "k", "depth", "samples", "rate"), {
        "values": "the mean of each of the top actions, the best gain first; if there are "
                  "several positions, the first is repeated after reset(seed)",
        "move": "one for each position"}),
}  # fmt: skip
