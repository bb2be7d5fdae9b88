"""Questions about the look-ahead agent for Sequence: squares, cards, replies, the top-k search."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from statistics import fmean
from typing import Any

from course.probes.positions import read_position
from course.probes.question import (
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

PLACE, REMOVE = "place", "remove"
QUIET_LINES = 60  # lines that an action may cost besides the first scan of all replies


def _heat(module, cells: list[list[int]]) -> Iterator[Part]:
    yield ("value",), lambda: [[get(module, "heat")(tuple(cell)) for cell in cells]]


def _line_text(module, on: str, cells: list[list[int]]) -> Iterator[Part]:
    def texts():
        chips = _chips(module, on)
        return [
            [
                [
                    get(module, "line_text")(chips, tuple(cell), direction)
                    for direction in DIRECTIONS
                ]
                for cell in cells
            ]
        ]

    yield ("text",), texts


def _links(module, texts: list[str]) -> Iterator[Part]:
    yield (
        ("made", "broken"),
        lambda: list(zip(*[get(module, "links")(text) for text in texts], strict=True)),
    )


def _line_links(module, on: str, cells: list[list[int]], far: Sequence[int]) -> Iterator[Part]:
    def found(chips):
        return [
            list(get(module, "line_links")(chips, tuple(cell), direction))
            for cell in cells
            for direction in DIRECTIONS
        ]

    def scans():
        """Scans on boards whose lines were all seen before: the same one, and with chips far away."""
        chips = _chips(module, on)
        found(chips)
        row, col = far
        more = 1 << BIT[row, col]
        with _counted(module, "links", "line_text") as calls:
            again = found(chips)  # what is fast and wrong is worth nothing
            found(chips._replace(own=chips.own | more))
            found(chips._replace(own=chips.own | more, locked=chips.locked | more))
        return [[len(calls), *again]]

    yield ("links",), lambda: [found(_chips(module, on))]
    yield ("scans",), scans


def _reward(module, on: str) -> Iterator[Part]:
    def of(kind: str):
        chips = _chips(module, on)
        plays = [action for action in _plays(on) if action.kind == kind]
        return [[get(module, "reward")(chips, action) for action in (*plays, FORGO)]]

    yield ("place",), lambda: of(PLACE)
    yield ("remove",), lambda: of(REMOVE)


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
    yield (("value",), lambda: [get(module, "best_reply")(_chips(module, on).turned(), cards)])


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
        """The values that one agent finds in all positions in turn."""
        asked, found = agent(), []
        for observation in _observations(on):
            values = asked.values(observation)
            if list(values) != list(observation.legal_actions()):
                raise BadReply(
                    "the keys of LookAhead.values must be the legal actions, in the "
                    "documented order"
                )
            found += values.values()
        return [found]

    def move():
        asked = agent()
        return [[str(asked.choose(observation)) for observation in _observations(on)]]

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
        """The values that one agent finds in all positions in turn, beside another agent. If there
        are several, the first is asked again in a new game with the same seed."""
        asked, _ = agent(seed), agent(seed + 1)
        first, *more = _observations(on)
        found = [asked.values(observation) for observation in (first, *more)]
        if more:
            asked.reset(seed)
            found.append(asked.values(first))
        return [[[[str(action), value] for action, value in values.items()] for values in found]]

    def move():
        asked = agent(seed)
        return [[str(asked.choose(observation)) for observation in _observations(on)]]

    yield ("values",), values
    yield ("move",), move


def made_up_replies(chips, cards):
    """Replies worth the row of an action and the number of cards: they show whether an agent uses
    what it is given."""
    return lambda action: float(action.coords[0] + len(cards))


def made_up_gains(state) -> dict:
    """Gains that are the same on every sample: any number for a square, one more for a jack taken."""
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
    """A search with the members of study 2's, for what a state is worth if both sides play at
    random: minimax is for students to write."""

    def search(self, state) -> Search:
        """The value for the player to move; neither moves nor nodes are looked for."""
        if state.is_terminal():
            return Search(None, state.utility(state.to_move), 1)
        worth = [
            (child, self.search(child).value) for child in map(state.after, state.legal_moves())
        ]
        return Search(
            None,
            fmean(value if child.to_move == state.to_move else -value for child, value in worth),
            1,
        )


def _observations(on: str | list[str]) -> list[Any]:
    """The positions that a case names, one or several."""
    return [read_position(text) for text in texts_of({"on": on})]


@contextmanager
def _counted(module, *names: str) -> Iterator[list[str]]:
    """Count the calls of these functions of the module, those within one another as one; yields
    the list that grows by each."""
    calls: list[str] = []
    deep = 0

    def counting(name, function):
        def counted(*arguments):
            nonlocal deep
            if not deep:
                calls.append(name)
            deep += 1
            try:
                return function(*arguments)
            finally:
                deep -= 1

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
    """The chips of a position as the module's own (given) class has them."""
    return get(module, "Chips").seen_by(read_position(on))


def _plays(on: str) -> Iterator[Any]:
    """The legal actions that change a chip, one for each kind and square."""
    seen = set()
    for action in read_position(on).legal_actions():
        if action.coords and (action.kind, action.coords) not in seen:
            seen.add((action.kind, action.coords))
            yield action


def _on_chips(name: str, *rest: str, turned: bool = False):
    """The description of a question that calls `name` on the chips of a position."""

    def describe(case: Mapping[str, Any]) -> str:
        chips = f"Chips.seen_by({', '.join(positions_of(case))}){'.turned()' if turned else ''}"
        return f"{name}({', '.join([chips, *(repr(case.get(key, key)) for key in rest)])})"

    return describe


def _listed(name: str, key: str):
    """The description of a question that calls `name` on each item of a list."""

    def describe(case: Mapping[str, Any]) -> str:
        items = (tuple(item) if isinstance(item, list) else item for item in case[key])
        return f"{name}(...) for {', '.join(map(repr, items))}"

    return describe


def _agent(name: str, *options: str, method: str = "values"):
    """The description of a question that makes an agent and calls its method in each position."""

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
    """The plays of these kinds in words: "place 4,2"."""
    return [
        f"{action.kind} {','.join(map(str, action.coords))}"
        for action in _plays(on)
        if action.kind in kinds
    ]


def _squares_and_forgo(kind: str) -> Labels:
    """Labels for a list with an item for each play of a kind, then one for a forgone trade."""
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
    return f"in direction {direction}"


def _option(value: Any) -> str:
    """An option of an agent as Python: whether there are replies, or the name of a function."""
    if isinstance(value, bool):
        return "plain_replies" if value else "None"
    return value if value in REPLIES or value in RATES else repr(value)


QUESTIONS = {
    "heat": Question(_heat, ("value",), _listed("heat", "cells"),
                     labels={"value": each("cells", "cell")}),
    "line_text": Question(_line_text, ("text",), _on_chips("line_text", "cells"), {
        "text": "for each cell its four lines, in the order of DIRECTIONS"}, labels={
        "text": lambda case: [*each("cells", "cell")(case), list(map(_along, DIRECTIONS))]}),
    "links": Question(_links, ("made", "broken"), _listed("links", "texts"),
                      labels=dict.fromkeys(("made", "broken"), each("texts"))),
    "line_links": Question(_line_links, ("links", "scans"), _on_chips("line_links", "cells"), {
        "scans": "lines scanned again, on the same board and with chips far away, and the links"},
        labels={
        "links": lambda case: [[f"cell {tuple(cell)} {_along(direction)}"
                                for cell in case["cells"] for direction in DIRECTIONS]]}),
    "sequence_reward": Question(_reward, ("place", "remove"), _on_chips("reward"), {
        "place": "one for each legal square, then a forgone trade",
        "remove": "one for each chip that may go, then a forgone trade"}, labels={
        kind: _squares_and_forgo(kind)
        for kind in (PLACE, REMOVE)}),
    "sequence_draft": Question(_draft_value, ("value",), _on_chips("draft_value", "cards"), {
        "value": "one for each card"}, labels={"value": each("cards", "card")}),
    "catalogue": Question(_catalogue, ("known", "possible"),
                          lambda case: call("catalogue", case)),
    "best_reply": Question(_best_reply, ("value",), _on_chips("best_reply", "cards", turned=True)),
    "quick_replies": Question(_quick_replies, ("value", "few"),
                              _on_chips("quick_replies", "cards"), {
        "value": "one for each legal square",
        "few": f"whether a play asks for at most {QUIET_LINES} lines; then the values"}, labels={
        "value": lambda case: [_squares(case["on"], PLACE, REMOVE)]}),
    "look_ahead": Question(_look_ahead, ("values", "move"),
                           _agent("LookAhead", "replies", "cards"), {
        "values": "one for each legal action", "move": "one for each position"}, labels={
        "values": _actions_on_boards}),
    "top_k": Question(_top_k, ("moves", "ends", "value"),
                      _agent("TopK", "deal", "k", "depth", "rate", method="legal_moves"), {
        "ends": "who moves along the last of the top moves, at its end the utility for both "
                "players and the legal moves",
        "value": "the mean utility if both sides play at random"}),
    "sampled_search": Question(_sampled_search, ("values", "move"),
                               _agent("SampledSearch", "seed", "k", "depth", "samples", "rate"), {
        "values": "the mean of each of the top actions, the best gain first; of several "
                  "positions the first is asked again after reset(seed)",
        "move": "one for each position"}),
}  # fmt: skip
