"""Questions about searches within a budget: order, killers, table entries, iterative deepening."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import Part, Question, call, each, get, items
from course.checks.questions.tracing import Recorder, Recording, SearchStep, record
from tictactoe import Board, NodeCounter, State
from tictactoe.games.connect_four import centre_first

KINDS = ("exact", "lower", "upper")
OPTIONS = ("limit", "budget", "deepest")  # options of an agent that are numbers
SEARCHED = ("move", "value", "nodes")
WINDOW_AT = 1  # the depth at which a state is searched inside a case's window
PRIME, STEPS = 101, 17  # parameters of the artificial estimates: 17 values that look random


# ---- Functions


def _promoted(module, lists: list[list]) -> Iterator[Part]:
    """`lists` contains pairs of a list of moves and the moves to put first."""

    def orders():
        results = []
        for moves, first in lists:
            arguments = list(moves), list(first)
            results.append(items(get(module, "promoted")(*arguments)))
            if arguments != (moves, first):
                results[-1].append("the lists were changed")
        return [results]

    yield ("order",), orders


def _bound(module, arguments: list[list]) -> Iterator[Part]:
    """`arguments` contains triples of value, alpha and beta."""
    yield (
        ("kind",),
        lambda: [[get(module, "bound_of")(*map(_number, three)) for three in arguments]],
    )


def _answers(module, entries: list[list]) -> Iterator[Part]:
    """`entries` contains value, left and bound of each entry, then the arguments left, alpha, beta.
    """
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
    """`window` contains alpha and beta of a search below the root."""
    yield from _search_part(module, agent, on, options)
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
    """`cuts` contains depths and moves of cutoffs, which are recorded one after another."""
    yield from _search_part(module, agent, on, options)

    def recorded_killers():
        searcher = _agent(module, agent, options)
        searcher.begin()
        for depth, move in cuts:
            searcher.cut(depth, move)
        state = read_position(on)
        return _by_depth(searcher), [
            items(searcher.moves(state, depth)) for depth in range(1 + max(cuts)[0])
        ]

    def killers_after_search():
        searcher = _agent(module, agent, options)
        searcher.search(read_position(on))
        return [_by_depth(searcher)]

    yield ("cut", "moves"), recorded_killers
    yield ("kept",), killers_after_search


def _table(module, agent: str, on: str, **options) -> Iterator[Part]:
    yield from _search_part(module, agent, on, options)

    def again():
        """The results of a second search to the same depth, and of a third search one move deeper.
        """
        searcher, state, results = _agent(module, agent, options), read_position(on), []
        searcher.search(state)
        for _ in range(2):
            with NodeCounter() as nodes:
                value, move = searcher.value(state, 0, -inf, inf)
            results.append([value, move, nodes.visited])
            searcher.limit += 1
        return [results]

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
    yield from _search_part(module, agent, on, options)

    def log():
        searcher = _agent(module, agent, options)
        _search(searcher, read_position(on))
        return [[list(line) for line in items(searcher.log)]]

    yield ("log",), log


def _search_part(module, agent: str, on: str, options: Mapping[str, Any]) -> Iterator[Part]:
    yield SEARCHED, lambda: tuple(_search(_agent(module, agent, options), read_position(on)))


def _search(searcher: Any, state: State) -> Any:
    """Search with an agent that has already searched another position."""
    after = state.after(state.legal_moves()[0])
    if not after.is_terminal():
        searcher.search(after)
    return searcher.search(state)


def _agent(module, name: str, options: Mapping[str, Any]) -> Any:
    """Create an agent, with a move order and an evaluation from this module if the case names them."""
    arguments = {key: value for key, value in options.items() if key in OPTIONS}
    if "order" in options:
        arguments["order"] = ORDERS[options["order"]]
    if "estimates" in options:
        arguments["evaluate"] = artificial_value
    return get(module, name)(**arguments)


def artificial_value(state: Board, player: str) -> float:
    """An estimate between -0.8 and 0.8 that is unrelated to the game."""
    number_sum = sum(number * ord(letter) for number, letter in enumerate(state.text, 1)) % PRIME
    estimate = (number_sum % STEPS - STEPS // 2) / 10
    return estimate if player == "x" else -estimate


ORDERS: dict[str, Callable[[Any], Sequence[int]]] = {
    "centre": centre_first, "backwards": lambda state: state.legal_moves()[::-1],
}  # fmt: skip


def _by_depth(searcher: Any) -> list[list]:
    return [[depth, *moves] for depth, moves in sorted(searcher.killers.items())]


def _number(text: Any) -> float:
    return float(text) if text in ("inf", "-inf") else text


# ---- Recordings


def _recorder(
    further: Callable[[Any, Any], Iterator[SearchStep]] | None = None, *, deepening: bool = False
) -> Recorder:
    """A recorder of an agent's search and of `further(agent, state)` searches by the same agent."""

    def recorded(
        module,
        agent: str,
        on: str,
        window: list | None = None,
        cuts: list[list] | None = None,
        **options,
    ) -> Recording:
        searcher, state = _agent(module, agent, options), read_position(on)

        def steps() -> Iterator[SearchStep]:
            limit = None if deepening else searcher.limit
            yield SearchStep("", lambda: searcher.search(state), limit)
            if further:
                yield from further(searcher, state)
            if window is not None:
                yield _inside_window(_agent(module, agent, options), state, window)

        return record(searcher, steps())

    return recorded


def _again(searcher: Any, state: State) -> Iterator[SearchStep]:
    """The two further searches of `_table`."""
    for place in (
        english("in another search with the same table"),
        english("in a search to the next limit"),
    ):
        yield SearchStep(place, lambda: searcher.value(state, 0, -inf, inf), searcher.limit)
        searcher.limit += 1


def _inside_window(searcher: Any, state: State, window: list) -> SearchStep:
    searcher.begin()
    alpha, beta = map(_number, window)
    return SearchStep(
        english(f"in the search by `value` at depth {WINDOW_AT}"),
        lambda: searcher.value(state, WINDOW_AT, alpha, beta),
        searcher.limit,
    )


# ---- Descriptions


def _described_search(case: Mapping[str, Any]) -> str:
    """The description of a question that creates an agent and searches."""
    options = [f"{key}={case[key]}" for key in OPTIONS if key in case]
    if "order" in case:
        options.append(
            "order=centre_first" if case["order"] == "centre" else "order=the moves backwards"
        )
    if "estimates" in case:
        options.append("evaluate=estimates of our own")
    description = f"{case['agent']}({', '.join(options)}).search({call('', {'on': case['on']})[1:-1]})"
    if "window" in case:
        description += f", and its .value at depth {WINDOW_AT} in the window {tuple(case['window'])}"
    if "cuts" in case:
        description += f", and by .cut(depth, move) of {case['cuts']} in turn"
    return description


QUESTIONS = {
    "deep_promoted": Question(
        _promoted, ("order",), lambda case: f"promoted(moves, first) for {case['lists']}"),
    "deep_bound": Question(
        _bound, ("kind",), lambda case: f"bound_of(value, alpha, beta) for {case['arguments']}",
        labels={"kind": each("arguments", "bound_of")}),
    "deep_answers": Question(
        _answers, ("answer",), lambda case: "answers(Entry(value, 0, left, bound), left, alpha, "
        f"beta) for {case['entries']}", labels={"answer": each("entries")}),
    "deep_limited": Question(_limited, (*SEARCHED, "window"), _described_search, {
        "window": "value, move and nodes of the search inside that window"}),
    "deep_killers": Question(_killers, (*SEARCHED, "cut", "moves", "kept"), _described_search, {
        "cut": "after those calls: each depth with its killers",
        "moves": "after those calls: the result of `moves` at depth 0, 1 and so on",
        "kept": "after the search: each depth with its killers"}),
    "deep_table": Question(_table, (*SEARCHED, "again", "kinds", "entries"), _described_search, {
        "again": "value, move and nodes of another search with the same table, to the same limit "
                 "and then to the next",
        "kinds": "how many entries of the table are exact, lower and upper after the search",
        "entries": "value, move, left and bound of the position and of each successor"}),
    "deep_iterated": Question(_iterated, (*SEARCHED, "log"), _described_search, {
        "log": "limit, move, value and nodes so far of each limit that was completed"}),
}  # fmt: skip
RECORDERS = {
    "deep_limited": _recorder(),
    "deep_killers": _recorder(),
    "deep_table": _recorder(_again),
    "deep_iterated": _recorder(deepening=True),
}
