"""Questions about searching within a budget: order, killers, table entries, iterative deepening."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from course.probes.positions import read_position
from course.probes.question import Part, Question, call, each, get, items
from tictactoe import Board, NodeCounter, State
from tictactoe.games.connect_four import centre_first

KINDS = ("exact", "lower", "upper")
OPTIONS = ("limit", "budget", "deepest")  # of an agent, as numbers
SEARCHED = ("move", "value", "nodes")
WINDOW_AT = 1  # the depth at which a state is searched inside a window of the case's own
PRIME, STEPS = 101, 17  # of the made-up estimates: 17 values that look like chance


# ---- Functions


def _promoted(module, lists: list[list]) -> Iterator[Part]:
    """`lists`: pairs of moves and of those that come first."""

    def asked():
        found = []
        for moves, first in lists:
            given = list(moves), list(first)
            found.append(items(get(module, "promoted")(*given)))
            if given != (moves, first):
                found[-1].append("the lists were changed")
        return [found]

    yield ("order",), asked


def _bound(module, arguments: list[list]) -> Iterator[Part]:
    """`arguments`: triples of value, alpha and beta."""
    yield (
        ("kind",),
        lambda: [[get(module, "bound_of")(*map(_number, three)) for three in arguments]],
    )


def _answers(module, entries: list[list]) -> Iterator[Part]:
    """`entries`: value, left and bound of an entry, then the arguments left, alpha and beta."""
    yield (
        ("answer",),
        lambda: [
            [
                bool(get(module, "answers")(_entry(module, *six[:3]), *map(_number, six[3:])))
                for six in entries
            ]
        ],
    )


def _entry(module, value: float, left: int, bound: str) -> Any:
    return get(module, "Entry")(value, 0, left, bound)


# ---- Searches


def _limited(module, agent: str, on: str, window: list | None = None, **options) -> Iterator[Part]:
    """`window`: alpha and beta of a search below the root."""
    yield from _searched(module, agent, on, options)
    if window is None:
        return

    def inside():
        searcher = _agent(module, agent, options)
        searcher.begin()
        with NodeCounter() as nodes:
            value, move = searcher.value(read_position(on), WINDOW_AT, *map(_number, window))
        return [[value, move, nodes.visited]]

    yield ("window",), inside


def _killers(module, agent: str, on: str, cuts: list[list], **options) -> Iterator[Part]:
    """`cuts`: depths and moves that are noted one after another."""
    yield from _searched(module, agent, on, options)

    def noted():
        searcher = _agent(module, agent, options)
        searcher.begin()
        for depth, move in cuts:
            searcher.cut(depth, move)
        state = read_position(on)
        return _by_depth(searcher), [
            items(searcher.moves(state, depth)) for depth in range(1 + max(cuts)[0])
        ]

    def kept():
        searcher = _agent(module, agent, options)
        searcher.search(read_position(on))
        return [_by_depth(searcher)]

    yield ("cut", "moves"), noted
    yield ("kept",), kept


def _table(module, agent: str, on: str, **options) -> Iterator[Part]:
    yield from _searched(module, agent, on, options)

    def again():
        """What the table makes of a second search, as deep, and of a third, one move deeper."""
        searcher, state, found = _agent(module, agent, options), read_position(on), []
        searcher.search(state)
        for _ in range(2):
            with NodeCounter() as nodes:
                value, move = searcher.value(state, 0, -inf, inf)
            found.append([value, move, nodes.visited])
            searcher.limit += 1
        return [found]

    def entries():
        searcher, state = _agent(module, agent, options), read_position(on)
        searcher.search(state)
        bounds = [entry.bound for entry in searcher.table.values()]
        near = [
            searcher.table.get(each) for each in (state, *map(state.after, state.legal_moves()))
        ]
        return (
            [bounds.count(kind) for kind in KINDS],
            [list(entry) if entry is not None else [] for entry in near],
        )

    yield ("again",), again
    yield ("kinds", "entries"), entries


def _iterated(module, agent: str, on: str, **options) -> Iterator[Part]:
    yield from _searched(module, agent, on, options)

    def log():
        searcher = _agent(module, agent, options)
        _search(searcher, read_position(on))
        return [[list(line) for line in items(searcher.log)]]

    yield ("log",), log


def _searched(module, agent: str, on: str, options: Mapping[str, Any]) -> Iterator[Part]:
    yield SEARCHED, lambda: tuple(_search(_agent(module, agent, options), read_position(on)))


def _search(searcher: Any, state: State) -> Any:
    """A search, by an agent that has searched another position before."""
    after = state.after(state.legal_moves()[0])
    if not after.is_terminal():
        searcher.search(after)
    return searcher.search(state)


def _agent(module, name: str, options: Mapping[str, Any]) -> Any:
    """An agent, with an order and estimates of our own if the case says so."""
    made_with = {key: value for key, value in options.items() if key in OPTIONS}
    if "order" in options:
        made_with["order"] = ORDERS[options["order"]]
    if "estimates" in options:
        made_with["evaluate"] = made_up
    return get(module, name)(**made_with)


def made_up(state: Board, player: str) -> float:
    """An estimate between -0.8 and 0.8 that has nothing to do with the game."""
    worth = sum(number * ord(letter) for number, letter in enumerate(state.text, 1)) % PRIME
    estimate = (worth % STEPS - STEPS // 2) / 10
    return estimate if player == "x" else -estimate


ORDERS: dict[str, Callable[[Any], Sequence[int]]] = {
    "centre": centre_first, "backwards": lambda state: state.legal_moves()[::-1],
}  # fmt: skip


def _by_depth(searcher: Any) -> list[list]:
    return [[depth, *moves] for depth, moves in sorted(searcher.killers.items())]


def _number(text: Any) -> float:
    return float(text) if text in ("inf", "-inf") else text


# ---- In words


def _made(case: Mapping[str, Any]) -> str:
    """The description of a question that makes an agent and searches."""
    options = [f"{key}={case[key]}" for key in OPTIONS if key in case]
    if "order" in case:
        options.append(
            "order=centre_first" if case["order"] == "centre" else "order=the moves backwards"
        )
    if "estimates" in case:
        options.append("evaluate=estimates of our own")
    said = f"{case['agent']}({', '.join(options)}).search({call('', {'on': case['on']})[1:-1]})"
    if "window" in case:
        said += f", and .value of it at depth {WINDOW_AT} in the window {tuple(case['window'])}"
    if "cuts" in case:
        said += f", and by .cut(depth, move) of {case['cuts']} in turn"
    return said


QUESTIONS = {
    "deep_promoted": Question(
        _promoted, ("order",), lambda case: f"promoted(moves, first) for {case['lists']}"),
    "deep_bound": Question(
        _bound, ("kind",), lambda case: f"bound_of(value, alpha, beta) for {case['arguments']}",
        labels={"kind": each("arguments", "bound_of")}),
    "deep_answers": Question(
        _answers, ("answer",), lambda case: "answers(Entry(value, 0, left, bound), left, alpha, "
        f"beta) for {case['entries']}", labels={"answer": each("entries")}),
    "deep_limited": Question(_limited, (*SEARCHED, "window"), _made, {
        "window": "value, move and nodes of the search inside that window"}),
    "deep_killers": Question(_killers, (*SEARCHED, "cut", "moves", "kept"), _made, {
        "cut": "after those calls: each depth with its killers",
        "moves": "after those calls: what `moves` lists at depth 0, 1 and so on",
        "kept": "after the search: each depth with its killers"}),
    "deep_table": Question(_table, (*SEARCHED, "again", "kinds", "entries"), _made, {
        "again": "value, move and nodes of another search with the same table, to the same limit "
                 "and then to the next",
        "kinds": "how many entries of the table are exact, lower and upper after the search",
        "entries": "value, move, left and bound of the position and of what follows on each move"}),
    "deep_iterated": Question(_iterated, (*SEARCHED, "log"), _made, {
        "log": "limit, move, value and nodes so far of each limit that was finished"}),
}  # fmt: skip
