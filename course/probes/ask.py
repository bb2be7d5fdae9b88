"""The questions that a check can ask: each calls the student's code and replies with plain data.

This runs in the student's process. A question is split into parts, so that what fails in one part
costs only the aspects of that part. Nothing here knows a right answer.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any

from course.probes.made_up import Row
from tictactoe import Board, State
from tictactoe.nodes import Trace, Visit

NOT_WRITTEN = "not written yet"  # how the error of an unfilled stub begins
MAX_ITEMS = 1000  # in a reply, its inner lists' included
MAX_LENGTH = 1000  # characters of a string; a whole number may have ten times as many bits
MAX_DEPTH = 10  # of lists in lists
MAX_TRACE, CHUNK = 5_000, 20  # nodes of a trace, and of one string of it
Part = tuple[tuple[str, ...], Callable[[], Any]]  # aspects, and what computes them


class BadReply(Exception):
    """The student's code returned something that is no answer to the question."""


def reply(module: ModuleType, ask: str, case: dict[str, Any]) -> dict[str, Any]:
    """Ask one case: `{aspect: plain value}`, and `"errors": {aspect: message}` for what failed."""
    observation: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for aspects, compute in (QUESTIONS | EXPLANATIONS)[ask](module, **case):
        try:
            values = zip(aspects, compute(), strict=True)
            for aspect, value in values:
                try:
                    observation[aspect] = plain(value)
                except BaseException as error:  # costs its own aspect, and not the others
                    errors[aspect] = describe_error(error)
        except BaseException as error:  # sys.exit() too costs only its own case
            errors |= dict.fromkeys(aspects, describe_error(error))
    return observation | ({"errors": errors} if errors else {})


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: numbers (numpy's too), strings, None and lists of them.

    Raises `BadReply` for anything else, and for what is too large to be an answer.
    """
    return _plain(value, [MAX_ITEMS], 0)


def _plain(value: Any, left: list[int], depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= MAX_LENGTH:
        return str(value)
    if isinstance(value, Integral) and int(value).bit_length() <= 10 * MAX_LENGTH:
        return int(value)
    if isinstance(value, (str, Integral)):
        raise BadReply(f"a value of type {type(value).__name__} is too long for an answer")
    if isinstance(value, Real):
        return float(value)
    if type(value).__name__ == "bool_" or type(value).__name__ == "bool":  # numpy's
        return bool(value)
    if isinstance(value, (list, tuple)) and len(value) <= left[0] and depth < MAX_DEPTH:
        left[0] -= len(value)
        return [_plain(item, left, depth + 1) for item in value]
    raise BadReply(f"a value of type {type(value).__name__} is no plain answer")


def read_state(text: str) -> State:
    """The position that a case names: a board, or "row xx___" of the made-up game."""
    return Row(text.removeprefix("row ")) if text.startswith("row ") else Board(text)


def _search(module, on: str, agent: str, order: str | None = None, **options) -> Iterator[Part]:
    options = agent_options({"order": order, **options})
    yield (("move", "value", "nodes"),
           lambda: _three(_get(module, agent)(**options).search(read_state(on)), agent))


def agent_options(options: dict[str, Any]) -> dict[str, Any]:
    """What an agent is made with: the order "board" is that of the legal moves, None its own."""
    rest = {name: value for name, value in options.items() if name != "order"}
    if options.get("order") == "board":
        rest["order"] = lambda state: state.legal_moves()
    return rest


def _table(module, on: str, agent: str) -> Iterator[Part]:
    searcher = None

    def first():
        nonlocal searcher
        searcher = _get(module, agent)()
        return _three(searcher.search(read_state(on)), agent)

    yield ("move", "value", "nodes"), first
    if searcher is not None:
        yield ("again",), lambda: [_three(searcher.search(read_state(on)), agent)[2]]
        yield ("reply",), lambda: [_reply(searcher, read_state(on), agent)]


def _reply(searcher, state: State, agent: str) -> list:
    """Value and nodes that a searcher which has searched `state` finds for the opponent, after the
    first move that does not end the game."""
    after = next(child for child in map(state.after, state.legal_moves())
                 if not child.is_terminal())
    return list(_three(searcher.search(after), agent)[1:])


def _mixed(module, on: str, agent: str, draws: int) -> Iterator[Part]:
    yield ("moves",), lambda: [_items(_get(module, agent)(seed=0).best_moves(read_state(on)))]

    def drawn():
        player = _get(module, agent)(seed=1)
        return [sorted({player.choose(read_state(on)) for _ in range(draws)})]

    yield ("drawn",), drawn


def _lane_counts(module, on: str) -> Iterator[Part]:
    def both():
        counts = [_get(module, "lane_counts")(read_state(on), player) for player in "xo"]
        for pair in counts:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise BadReply("lane_counts must return a pair (two, one), "
                               f"it returned {pair!r:.60}")
        return list(zip(*counts, strict=True))

    yield ("two", "one"), both


def _heuristic(module, on: str) -> Iterator[Part]:
    yield (("value",),
           lambda: [[_get(module, "heuristic")(read_state(on), player) for player in "xo"]])


def _is_quiescent(module, on: list[str]) -> Iterator[Part]:
    yield ("answer",), lambda: [[_get(module, "is_quiescent")(read_state(text)) for text in on]]


def _priority(module, on: str) -> Iterator[Part]:
    state = read_state(on)
    yield (("priority",), lambda: [[_get(module, "priority")(state, move, state.to_move)
                                    for move in state.legal_moves()]])
    yield ("order",), lambda: [_items(_get(module, "by_priority")(state))]


def _trace(module, on: str, agent: str, **options) -> Iterator[Part]:
    def nodes():
        state = read_state(on)
        with Trace(most=MAX_TRACE) as trace, suppress(RuntimeError):  # full: its start is enough
            _get(module, agent)(**agent_options(options)).search(state)
        return [[";".join(f"{visit.depth},{visit.move},{visit.value!r}" for visit in chunk)
                 for chunk in _chunks(islice(_preorder(trace.roots), MAX_TRACE))]]

    yield ("trace",), nodes


def _preorder(visits: Iterable[Visit]) -> Iterator[Visit]:
    for visit in visits:
        yield visit
        yield from _preorder(visit.children)


def _chunks(visits: Iterator[Visit]) -> Iterator[list[Visit]]:
    while chunk := list(islice(visits, CHUNK)):
        yield chunk


QUESTIONS: dict[str, Callable[..., Iterator[Part]]] = {
    "search": _search, "table": _table, "mixed": _mixed, "lane_counts": _lane_counts,
    "heuristic": _heuristic, "is_quiescent": _is_quiescent, "priority": _priority,
}  # fmt: skip


# Asked for explanations and never for marks; "trace" replies with more than a mark needs.
EXPLANATIONS: dict[str, Callable[..., Iterator[Part]]] = {"trace": _trace}


def _items(iterable: Any) -> list:
    """The items as a list; one too many of an endless iterable, so that it is refused."""
    return list(islice(iterable, MAX_ITEMS + 1))


def _get(module: ModuleType, name: str) -> Any:
    if not hasattr(module, name):
        raise BadReply(f"{Path(module.__file__).name} defines no {name}")
    return getattr(module, name)


def _three(result: Any, agent: str) -> tuple:
    if not isinstance(result, (tuple, list)) or len(result) != 3:
        raise BadReply(f"{agent}.search must return Search(move, value, nodes), "
                       f"it returned {result!r:.60}")
    return tuple(result)


def describe_error(error: BaseException) -> str:
    """The error in one line, with the last line of the student's own file that it passed."""
    if isinstance(error, BadReply):
        return str(error)
    if isinstance(error, NotImplementedError):
        return f"{NOT_WRITTEN}: {_text(error)}"
    here = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if here not in f.filename and not f.filename.startswith("<")]
    where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
    return f"{type(error).__name__}: {_text(error)}{where}"


def _text(error: BaseException) -> str:
    try:
        return f"{error!s:.300}"
    except BaseException:  # its own __str__ is broken
        return "(its message cannot be shown)"
