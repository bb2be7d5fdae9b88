"""Questions about the look-ahead agent for Sequence: squares, cards, replies, the top-k search."""

from collections.abc import Iterator, Mapping
from math import inf
from random import Random
from typing import Any

from course.probes.positions import read_position
from course.probes.question import Part, Question, call, each, get, positions_of
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
        return [[[get(module, "line_text")(chips, tuple(cell), direction)
                  for direction in DIRECTIONS] for cell in cells]]

    yield ("text",), texts


def _links(module, texts: list[str]) -> Iterator[Part]:
    yield (("made", "broken"),
           lambda: list(zip(*[get(module, "links")(text) for text in texts], strict=True)))


def _line_links(module, on: str, cells: list[list[int]], far: list[int]) -> Iterator[Part]:
    def found(chips):
        return [list(get(module, "line_links")(chips, tuple(cell), direction))
                for cell in cells for direction in DIRECTIONS]

    def scans():
        chips = _chips(module, on)
        found(chips)
        calls, written = [], get(module, "line_text")

        def counted(*arguments):
            calls.append(arguments)
            return written(*arguments)

        module.line_text = counted
        try:
            found(chips)
            found(chips._replace(own=chips.own | 1 << BIT[tuple(far)]))
        finally:
            module.line_text = written
        return [len(calls)]

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
    yield (("value",),
           lambda: [[get(module, "draft_value")(_chips(module, on), card) for card in cards]])


def _catalogue(module, on: str) -> Iterator[Part]:
    def both():
        known, possible = get(module, "catalogue")(read_position(on))
        return [sorted(known), sorted(possible)]

    yield ("known", "possible"), both


def _best_reply(module, on: str, cards: list[str]) -> Iterator[Part]:
    yield (("value",),
           lambda: [get(module, "best_reply")(_chips(module, on).turned(), cards)])


def _quick_replies(module, on: str, cards: list[str]) -> Iterator[Part]:
    def values():
        best = get(module, "quick_replies")(_chips(module, on), cards)
        return [[best(action) for action in _plays(on)]]

    def few():
        calls, asked = [], get(module, "line_links")

        def counted(*arguments):
            calls.append(arguments)
            return asked(*arguments)

        module.line_links = counted
        try:
            best = get(module, "quick_replies")(_chips(module, on), cards)
            plays = list(_plays(on))
            before = len(calls)
            for action in plays:
                best(action)
        finally:
            module.line_links = asked
        return [len(calls) - before <= QUIET_LINES * len(plays)]

    yield ("value",), values
    yield ("few",), few


def _look_ahead(module, on: str, replies: bool, cards: str = "possible") -> Iterator[Part]:
    def agent():
        finder = get(module, "plain_replies") if replies else None
        return get(module, "LookAhead")(replies=finder, cards=cards)

    def values():
        found = agent().values(read_position(on))
        return [[found[action] for action in read_position(on).legal_actions()]]

    yield ("values",), values
    yield ("move",), lambda: [str(agent().choose(read_position(on)))]


def _top_k(module, on: str, deal: int, k: int, depth: int) -> Iterator[Part]:
    def game():
        return get(module, "TopK")(sample(read_position(on), Random(deal)), k, depth)

    def ends():
        top, seen = game(), []
        while not top.is_terminal():
            seen.append(top.to_move)
            top = top.after(top.legal_moves()[-1])
        return [[*seen, *(top.utility(player) for player in (0, 1))]]

    yield ("moves",), lambda: [[str(move) for move in game().legal_moves()]]
    yield ("ends",), ends
    yield ("value",), lambda: [Minimax().search(game()).value]


def _sampled_search(module, on: str, seed: int, k: int, depth: int,
                    samples: int) -> Iterator[Part]:
    def values():
        agent = get(module, "SampledSearch")(Minimax(), k, depth, samples, seed)
        found = agent.values(read_position(on))
        return [sorted([str(action), value] for action, value in found.items())]

    def move():
        agent = get(module, "SampledSearch")(Minimax(), k, depth, samples, seed)
        return [str(agent.choose(read_position(on)))]

    yield ("values",), values
    yield ("move",), move


class Minimax:
    """The minimax search that these questions use, with the members of study 2's."""

    def search(self, state) -> Search:
        """The value for the player to move and the first move that has it; nodes are not counted.
        """
        best, move = -inf, None
        if state.is_terminal():
            return Search(None, state.utility(state.to_move), 1)
        for choice in state.legal_moves():
            child = state.after(choice)
            value = self.search(child).value
            value = value if child.to_move == state.to_move else -value
            if value > best:
                best, move = value, choice
        return Search(move, best, 1)


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


def _agent(name: str, method: str, *options: str):
    """The description of a question that makes an agent and calls its method."""
    def describe(case: Mapping[str, Any]) -> str:
        made = ", ".join(f"{option}={case[option]!r}" for option in options if option in case)
        return f"{name}({made}).{method}({', '.join(positions_of(case))})"

    return describe


def _squares(on: str, *kinds: str) -> list[str]:
    """The plays of these kinds in words: "place 4,2"."""
    return [f"{action.kind} {','.join(map(str, action.coords))}" for action in _plays(on)
            if action.kind in kinds]


def _along(direction: tuple[int, int]) -> str:
    return f"in direction {direction}"


QUESTIONS = {
    "heat": Question(_heat, ("value",), _listed("heat", "cells"),
                     labels={"value": each("cells", "cell")}),
    "line_text": Question(_line_text, ("text",), _on_chips("line_text", "cells"), {
        "text": "for each cell its four lines, in the order of DIRECTIONS"}, labels={
        "text": lambda case: [*each("cells", "cell")(case), list(map(_along, DIRECTIONS))]}),
    "links": Question(_links, ("made", "broken"), _listed("links", "texts"),
                      labels=dict.fromkeys(("made", "broken"), each("texts"))),
    "line_links": Question(_line_links, ("links", "scans"), _on_chips("line_links", "cells"), {
        "scans": "lines scanned again, on the same board and with a chip far away"}, labels={
        "links": lambda case: [[f"cell {tuple(cell)} {_along(direction)}"
                                for cell in case["cells"] for direction in DIRECTIONS]]}),
    "sequence_reward": Question(_reward, ("place", "remove"), _on_chips("reward"), {
        "place": "one for each legal square, then a forgone trade",
        "remove": "one for each chip that may go, then a forgone trade"}, labels={
        kind: lambda case, kind=kind: [[*_squares(case["on"], kind), "a forgone trade"]]
        for kind in (PLACE, REMOVE)}),
    "sequence_draft": Question(_draft_value, ("value",), _on_chips("draft_value", "cards"), {
        "value": "one for each card"}, labels={"value": each("cards", "card")}),
    "catalogue": Question(_catalogue, ("known", "possible"),
                          lambda case: call("catalogue", case)),
    "best_reply": Question(_best_reply, ("value",), _on_chips("best_reply", "cards", turned=True)),
    "quick_replies": Question(_quick_replies, ("value", "few"),
                              _on_chips("quick_replies", "cards"), {
        "value": "one for each legal square",
        "few": f"whether a play costs at most {QUIET_LINES} lines"}, labels={
        "value": lambda case: [_squares(case["on"], PLACE, REMOVE)]}),
    "look_ahead": Question(_look_ahead, ("values", "move"),
                           _agent("LookAhead", "values", "replies", "cards"), {
        "values": "one for each legal action"}, labels={
        "values": lambda case: [list(map(str, read_position(case["on"]).legal_actions()))]}),
    "top_k": Question(_top_k, ("moves", "ends", "value"),
                      _agent("TopK", "legal_moves", "deal", "k", "depth"), {
        "ends": "who moves along the last of the top moves, then the utility at its end for both",
        "value": "what minimax finds"}),
    "sampled_search": Question(_sampled_search, ("values", "move"),
                               _agent("SampledSearch", "values", "seed", "k", "depth", "samples"), {
        "values": "the mean of each of the top actions"}),
}  # fmt: skip
