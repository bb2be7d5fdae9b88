"""Questions about search agents: their results, their tables and their search trees."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import BadReply, Part, Question, get, items, positions_of
from course.checks.questions.distribution_test import same_distribution
from course.checks.questions.tracing import Recording, SearchStep, record
from tictactoe import State, opponent

FEW_MOVES = 5  # maximum number of remaining moves at which a second search is cheap
SOME_DRAWS = 50  # draws, enough to distinguish two random sequences of moves
NO_OPTIONS = (
    "on",
    "agent",
    "draws",
    "beside",
    "arguments",
)  # the keys of a case that are not options of the agent


def agent_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """An agent's options; the order "board" is the order of the legal moves, None the default."""
    rest = {name: value for name, value in options.items() if name != "order"}
    if options.get("order") == "board":
        rest["order"] = lambda state: state.legal_moves()
    return rest


def options_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a case's agent, in the notation of the tables."""
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
    """`arguments` are further arguments of `value` at the root: numbers, or "inf".
    `beside` are the options of another agent, which searches the position first."""
    agent_arguments = agent_options({"order": order, **options})

    def answer():
        searcher = get(module, agent)(**agent_arguments)
        other = get(module, agent)(**(beside or {}))  # created later, to detect shared state
        before = _near_the_end(read_position(on))
        for each in (searcher, other):  # an earlier search must not affect a later one
            each.search(before)
        if beside is not None:
            other.search(read_position(on))
        return _checked_search(searcher.search(read_position(on)), agent)

    yield ("move", "value", "nodes"), answer
    if arguments is not None:
        rest = [float(a) if isinstance(a, str) else a for a in arguments]
        yield (
            ("at_min",),
            lambda: [
                _at_min(lambda: get(module, agent)(**agent_arguments), read_position(on), rest)
            ],
        )


def _at_min(make: Callable[[], Any], state: State, arguments: Sequence[float]) -> list:
    """Value and move for the player who is not to move: near the end of the game, by an agent that
    has already searched there for the player to move; and at the end, by a new agent."""
    state = _near_the_end(state, FEW_MOVES)
    player, searcher = opponent(state.to_move), make()
    searcher.search(state)
    return [
        *_checked_pair(searcher.value(state, player, *arguments)),
        *_checked_pair(make().value(_end_after(state), player, *arguments)),
    ]


def _end_after(state: State) -> State:
    """A terminal state that can be reached."""
    while not state.is_terminal():
        state = state.after(state.legal_moves()[0])
    return state


def _near_the_end(state: State, left: int = 2) -> State:
    """A state that is quick to search: this one, or one a few moves before the end of a game."""
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
        return _checked_search(searcher.search(read_position(on)), agent)

    yield ("move", "value", "nodes"), first
    if searcher is not None:
        yield ("again",), lambda: [_checked_search(searcher.search(read_position(on)), agent)[2]]
        yield ("reply",), lambda: [_reply(searcher, read_position(on), agent)]
        yield (
            ("entries",),
            lambda: [_entries(get(module, agent), searcher, read_position(on))],
        )


def _entries(agent, searcher, state: State) -> list:
    """The table's entry for a searched state, then the results of lookups for the opponent in this
    state and in a terminal one, then what the tables of new agents contain."""
    player, other = state.to_move, opponent(state.to_move)
    entries = [
        *_checked_pair(searcher.table[state, player]),
        *_checked_pair(searcher.look_up(state, other)),
        *_checked_pair(searcher.look_up(_end_after(state), other)),
    ]
    state = _near_the_end(state, FEW_MOVES)
    searched, valued = agent(), agent()
    searched.search(state)
    valued.value(state, state.to_move)
    root = searched.table.get((state, state.to_move), ("no entry", None))
    return [*entries, *_checked_pair(root), _below(searched, state), _below(valued, state)]


def _below(searcher, state: State) -> int:
    """The number of entries in the table, except those of `state` itself."""
    keys = (key if isinstance(key, tuple) else (key,) for key in searcher.table)
    return sum(state not in key for key in keys)


def _reply(searcher, state: State, agent: str) -> list:
    """Value and nodes of a search for the opponent after the first move that does not end the game,
    by an agent that has already searched `state`; empty if every move ends the game."""
    _checked_search(searcher.search(state), agent)  # so that an agent without a search fails
    for after in map(state.after, state.legal_moves()):
        if not after.is_terminal():
            return list(_checked_search(searcher.search(after), agent)[1:])
    return []


def _mixed(module, on: str, agent: str, draws: int) -> Iterator[Part]:
    def moves():
        player = get(module, agent)(seed=0)
        player.best_moves(_near_the_end(read_position(on)))  # another state first
        return [items(player.best_moves(read_position(on)))]

    yield ("moves",), moves

    def drawn():
        player, state = get(module, agent)(seed=1), read_position(on)
        player.choose(_near_the_end(state))  # another state first
        moves = [player.choose(state) for _ in range(draws)]
        player.best_moves(state)  # its best moves must also be stored
        return sorted(set(moves)), [moves.count(move) for move in state.legal_moves()]

    yield ("drawn", "chances"), drawn
    yield ("repeated",), lambda: [_repeated(get(module, agent), read_position(on))]
    yield ("entries",), lambda: [_after_best_moves(get(module, agent), read_position(on))]


def _after_best_moves(agent, state: State) -> list:
    """The number of entries below the state in a new agent's table, after `best_moves` and then
    after a look-up of the state."""
    player = agent(seed=0)
    player.best_moves(state)
    entries = _below(player, state)
    player.look_up(state, state.to_move)
    return [entries, _below(player, state)]


def _repeated(agent, state: State) -> list[bool]:
    """Whether the same moves are drawn with the same seed, with another seed, and with the same
    seed while another agent draws as well; and whether the generator of `random` is unchanged.
    """
    shared = random.getstate()
    first, again, other = (
        [player.choose(state) for _ in range(SOME_DRAWS)]
        for player in (agent(seed=2), agent(seed=2), agent(seed=3))
    )
    third, rival = agent(seed=2), agent(seed=3)
    interleaved = [(third.choose(state), rival.choose(state))[0] for _ in range(SOME_DRAWS)]
    third.best_moves(state)  # as above
    return [first == again, first == other, first == interleaved, random.getstate() == shared]


def _recorded(
    module,
    on: str,
    agent: str,
    draws: int = 0,
    beside: Mapping[str, Any] | None = None,
    arguments: Sequence[Any] | None = None,
    **options,
) -> Recording:
    """The tree of a search by a new agent that has searched nothing else."""
    searcher, state = get(module, agent)(**agent_options(options)), read_position(on)
    return record(
        searcher,
        [SearchStep("", lambda: searcher.search(state), getattr(searcher, "limit", None))],
    )


def _checked_search(result: Any, agent: str) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        raise BadReply(
            english(
                f"{agent}.search must return Search(move, value, nodes), it returned {result!r:.60}"
            )
        )
    return tuple(result)


def _checked_pair(entry: Any) -> tuple:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise BadReply(
            english(f"a value and its move must be a pair (value, move), not {entry!r:.60}")
        )
    return tuple(entry)


def _method_call(method: str):
    """The description of a question that creates an agent and calls its `method`."""

    def describe(case: Mapping[str, Any]) -> str:
        agent = _constructor(case["agent"], options_of(case))
        call = f"{agent}.{method}({', '.join(positions_of(case))})"
        if (beside := case.get("beside")) is None:
            return call
        return f"{call} after {_constructor(case['agent'], beside)}.{method} of the same"

    return describe


def _constructor(agent: str, options: Mapping[str, Any]) -> str:
    arguments = ", ".join(
        f"{key}={value} order" if key == "order" else f"{key}={value}"
        for key, value in options.items()
    )
    return f"{agent}({arguments})"


QUESTIONS = {
    "search": Question(_search, ("move", "value", "nodes", "at_min"), _method_call("search"), {
        "at_min": "value and move by the method `value` for the player who is not to move, first with "
                  f"{FEW_MOVES} moves left, after a search for the player to move, then in a finished "
                  "game, by a new agent"}),
    "table": Question(
        _table, ("move", "value", "nodes", "again", "reply", "entries"), _method_call("search"), {
            "again": "nodes of a second search of the same state",
            "reply": "value and nodes of a search for the opponent, one move later, by the same agent",
            "entries": "value and move in the table for the player to move, then looked up for the "
                       "opponent, then looked up in a finished game; then, of a new agent after a "
                       f"search with {FEW_MOVES} moves left: value and move in the table, and the "
                       "number of entries below this state; the number of these after `value` only"}),
    "mixed": Question(
        _mixed, ("moves", "drawn", "chances", "repeated", "entries"), _method_call("best_moves"), {
            "drawn": "all moves that `choose` played in many draws, after a draw by other code",
            "chances": "how often it played each legal move; random differences are ignored",
            "repeated": "whether it plays the same moves with the same seed, with another seed, and "
                        "with the same seed while another agent plays; whether Python's own "
                        "generator is unchanged",
            "entries": "the number of entries in the table below the state, after `best_moves` and "
                       "then after `look_up`"},
        comparators={"chances": same_distribution}),
}  # fmt: skip
RECORDERS = {"search": _recorded, "table": _recorded}
