"""Questions about searching agents: what they find, what they remember, the tree they walk."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from course.probes.positions import read_position
from course.probes.question import BadReply, Part, Question, get, items, positions_of
from course.probes.trees import BETWEEN, node_texts
from tictactoe import State
from tictactoe.nodes import Trace

MAX_TRACE, CHUNK = 5_000, 20  # nodes of a trace, and of one string of it


def agent_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """An agent's options: the order "board" is that of the legal moves, None the agent's own."""
    rest = {name: value for name, value in options.items() if name != "order"}
    if options.get("order") == "board":
        rest["order"] = lambda state: state.legal_moves()
    return rest


def _search(module, on: str, agent: str, order: str | None = None, **options) -> Iterator[Part]:
    def answer():
        searcher = get(module, agent)(**agent_options({"order": order, **options}))
        other = get(module, agent)()  # what one agent is made for and does is nothing to another
        before = _near_the_end(read_position(on))
        for each in (searcher, other):  # nor is an earlier search to a later one
            each.search(before)
        return _three(searcher.search(read_position(on)), agent)

    yield ("move", "value", "nodes"), answer


def _near_the_end(state: State) -> State:
    """A state a few moves before the end of a game, which any search finishes at once."""
    while len(state.legal_moves()) > 2:
        after = state.after(state.legal_moves()[0])
        if after.is_terminal():
            break
        state = after
    return state


def _table(module, on: str, agent: str) -> Iterator[Part]:
    searcher = None

    def first():
        nonlocal searcher
        searcher = get(module, agent)()
        return _three(searcher.search(read_position(on)), agent)

    yield ("move", "value", "nodes"), first
    if searcher is not None:
        yield ("again",), lambda: [_three(searcher.search(read_position(on)), agent)[2]]
        yield ("reply",), lambda: [_reply(searcher, read_position(on), agent)]


def _reply(searcher, state: State, agent: str) -> list:
    """Value and nodes that a searcher which has searched `state` finds for the opponent, after the
    first move that does not end the game."""
    after = next(child for child in map(state.after, state.legal_moves())
                 if not child.is_terminal())
    return list(_three(searcher.search(after), agent)[1:])


def _mixed(module, on: str, agent: str, draws: int) -> Iterator[Part]:
    def moves():
        player = get(module, agent)(seed=0)
        player.best_moves(_near_the_end(read_position(on)))  # another state, asked before
        return [items(player.best_moves(read_position(on)))]

    yield ("moves",), moves

    def drawn():
        player = get(module, agent)(seed=1)
        return [sorted({player.choose(read_position(on)) for _ in range(draws)})]

    yield ("drawn",), drawn


def _trace(module, on: str, agent: str, **options) -> Iterator[Part]:
    def nodes():
        state, found = read_position(on), None
        with Trace(most=MAX_TRACE) as trace, suppress(RuntimeError):  # full: its start is enough
            found = get(module, agent)(**agent_options(options)).search(state)
        return [BETWEEN.join(chunk)
                for chunk in _chunks(islice(node_texts(trace.roots), MAX_TRACE))], found

    yield ("trace", "found"), nodes


def _chunks(nodes: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(nodes, CHUNK)):
        yield chunk


def _three(result: Any, agent: str) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        raise BadReply(f"{agent}.search must return Search(move, value, nodes), "
                       f"it returned {result!r:.60}")
    return tuple(result)


def _called(method: str):
    """The description of a question that makes an agent and calls its `method`."""
    def describe(case: Mapping[str, Any]) -> str:
        options = ", ".join(f"{key}={value}" if key != "order" else f"order={value} order"
                            for key, value in case.items() if key not in ("on", "agent", "draws"))
        return f"{case['agent']}({options}).{method}({', '.join(positions_of(case))})"

    return describe


QUESTIONS = {
    "search": Question(_search, ("move", "value", "nodes"), _called("search")),
    "table": Question(_table, ("move", "value", "nodes", "again", "reply"), _called("search"), {
        "again": "nodes of a second search of the same state",
        "reply": "value and nodes of a search for the opponent, one move on, by the same agent"}),
    "mixed": Question(_mixed, ("moves", "drawn"), _called("best_moves"), {
        "drawn": "all moves seen in many draws"}),
}  # fmt: skip
EXPLANATIONS = {"trace": Question(_trace, ("trace", "found"), _called("search"))}
