"""Questions about searching agents: what they find, what they remember, the tree they walk."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from course.probes.chances import same_chances
from course.probes.positions import read_position
from course.probes.question import BadReply, Part, Question, get, items, positions_of
from course.probes.trees import BETWEEN, node_texts
from tictactoe import State, opponent
from tictactoe.nodes import Trace

MAX_TRACE, CHUNK = 5_000, 20  # nodes of a trace, and of one string of it
FEW = 5  # moves that are left: a second search there costs little
SOME_DRAWS = 50  # enough to tell one random sequence of moves from another
NO_OPTIONS = ("on", "agent", "draws", "beside", "arguments")  # what a case says of the question


def agent_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """An agent's options: the order "board" is that of the legal moves, None the agent's own."""
    rest = {name: value for name, value in options.items() if name != "order"}
    if options.get("order") == "board":
        rest["order"] = lambda state: state.legal_moves()
    return rest


def options_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """What the agent of a case is made with, in the case's own words."""
    return {name: value for name, value in case.items() if name not in NO_OPTIONS}


def _search(
    module,
    on: str,
    agent: str,
    order: str | None = None,
    arguments: Sequence[Any] | None = None,
    beside: Mapping[str, Any] | None = None,
    **options,
) -> Iterator[Part]:
    """`arguments`: what `value` is given at the root, after state and player; numbers, or "inf".
    `beside`: the options of another agent, which searches the position before."""
    made_with = agent_options({"order": order, **options})

    def answer():
        searcher = get(module, agent)(**made_with)
        other = get(module, agent)(**(beside or {}))  # made later: neither is to know of the other
        before = _near_the_end(read_position(on))
        for each in (searcher, other):  # nor is an earlier search to matter to a later one
            each.search(before)
        if beside is not None:
            other.search(read_position(on))
        return _three(searcher.search(read_position(on)), agent)

    yield ("move", "value", "nodes"), answer
    if arguments is not None:
        rest = [float(a) if isinstance(a, str) else a for a in arguments]
        yield (
            ("at_min",),
            lambda: [_at_min(get(module, agent)(**made_with), read_position(on), rest)],
        )


def _at_min(searcher, state: State, arguments: Sequence[float]) -> list:
    """Value and move for the player who is not to move, with few moves left and with none."""
    state = _near_the_end(state, FEW)
    player = opponent(state.to_move)
    return [
        *_two(searcher.value(state, player, *arguments)),
        *_two(searcher.value(_end_after(state), player, *arguments)),
    ]


def _end_after(state: State) -> State:
    """A finished state that can be reached."""
    while not state.is_terminal():
        state = state.after(state.legal_moves()[0])
    return state


def _near_the_end(state: State, left: int = 2) -> State:
    """The state itself, or one a few moves before the end of a game, which any search finishes
    at once."""
    while len(state.legal_moves()) > left:
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
        yield ("entries",), lambda: [_entries(searcher, read_position(on))]


def _entries(searcher, state: State) -> list:
    """The table's entry for a state that was searched, then what is looked up for the opponent,
    there and at an end of the game."""
    player, other = state.to_move, opponent(state.to_move)
    return [
        *_two(searcher.table[state, player]),
        *_two(searcher.look_up(state, other)),
        *_two(searcher.look_up(_end_after(state), other)),
    ]


def _reply(searcher, state: State, agent: str) -> list:
    """Value and nodes that a searcher which has searched `state` finds for the opponent, after the
    first move that does not end the game."""
    after = next(
        child for child in map(state.after, state.legal_moves()) if not child.is_terminal()
    )
    return list(_three(searcher.search(after), agent)[1:])


def _mixed(module, on: str, agent: str, draws: int) -> Iterator[Part]:
    def moves():
        player = get(module, agent)(seed=0)
        player.best_moves(_near_the_end(read_position(on)))  # another state, asked before
        return [items(player.best_moves(read_position(on)))]

    yield ("moves",), moves

    def drawn():
        player, state = get(module, agent)(seed=1), read_position(on)
        player.choose(_near_the_end(state))  # another state, asked before
        moves = [player.choose(state) for _ in range(draws)]
        player.best_moves(state)  # an agent that knows none is no answer
        return sorted(set(moves)), [moves.count(move) for move in state.legal_moves()]

    yield ("drawn", "chances"), drawn
    yield ("repeated",), lambda: [_repeated(get(module, agent), read_position(on))]


def _repeated(agent, state: State) -> list[bool]:
    """Whether the same moves are drawn by an agent with the same seed and with another, and with
    the same seed while that other draws as well; and whether the shared generator is untouched."""
    shared = random.getstate()
    first, again, other = (
        [player.choose(state) for _ in range(SOME_DRAWS)]
        for player in (agent(seed=2), agent(seed=2), agent(seed=3))
    )
    one, beside = agent(seed=2), agent(seed=3)
    between = [(one.choose(state), beside.choose(state))[0] for _ in range(SOME_DRAWS)]
    one.best_moves(state)  # as above
    return [first == again, first == other, first == between, random.getstate() == shared]


def _trace(module, on: str, agent: str, **options) -> Iterator[Part]:
    def nodes():
        state, found = read_position(on), None
        with Trace(most=MAX_TRACE) as trace, suppress(RuntimeError):  # full: its start is enough
            found = get(module, agent)(**agent_options(options)).search(state)
        return [
            BETWEEN.join(chunk) for chunk in _chunks(islice(node_texts(trace.roots), MAX_TRACE))
        ], found

    yield ("trace", "found"), nodes


def _chunks(nodes: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(nodes, CHUNK)):
        yield chunk


def _three(result: Any, agent: str) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        raise BadReply(
            f"{agent}.search must return Search(move, value, nodes), it returned {result!r:.60}"
        )
    return tuple(result)


def _two(entry: Any) -> tuple:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise BadReply(f"a value and its move must be a pair (value, move), but are {entry!r:.60}")
    return tuple(entry)


def _called(method: str):
    """The description of a question that makes an agent and calls its `method`."""

    def describe(case: Mapping[str, Any]) -> str:
        said = f"{_made(case['agent'], options_of(case))}.{method}({', '.join(positions_of(case))})"
        if (beside := case.get("beside")) is None:
            return said
        return f"{said} after {_made(case['agent'], beside)}.{method} of the same"

    return describe


def _made(agent: str, options: Mapping[str, Any]) -> str:
    said = ", ".join(
        f"{key}={value} order" if key == "order" else f"{key}={value}"
        for key, value in options.items()
    )
    return f"{agent}({said})"


QUESTIONS = {
    "search": Question(_search, ("move", "value", "nodes", "at_min"), _called("search"), {
        "at_min": f"value and move by the method `value` for the player who is not to move, after "
                  f"the first moves until {FEW} are left, then the same in a finished game"}),
    "table": Question(
        _table, ("move", "value", "nodes", "again", "reply", "entries"), _called("search"), {
            "again": "nodes of a second search of the same state",
            "reply": "value and nodes of a search for the opponent, one move on, by the same agent",
            "entries": "value and move in the table for the player to move, then looked up for the "
                       "opponent, then looked up in a finished game"}),
    "mixed": Question(
        _mixed, ("moves", "drawn", "chances", "repeated"), _called("best_moves"), {
            "drawn": "all moves that `choose` played in many draws, after a draw elsewhere",
            "chances": "how often it played each legal move; luck alone is no difference",
            "repeated": "whether it plays the same moves with the same seed, with another seed, "
                        "and with the same seed while another agent plays; whether Python's own "
                        "generator is left alone"},
        judged={"chances": same_chances}),
}  # fmt: skip
EXPLANATIONS = {"trace": Question(_trace, ("trace", "found"), _called("search"))}
