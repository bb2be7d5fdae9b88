"""The questions that a check can ask: each calls the student's code and replies with plain data.

This runs in the student's process. A question is split into parts, so that what fails in one part
costs only the aspects of that part. Nothing here knows a right answer.
"""

import traceback
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any

from course.probes.made_up import Row
from tictactoe import Board, State

NOT_WRITTEN = "not written yet"  # how the error of an unfilled stub begins
MAX_ITEMS = 1000  # of a list in a reply
Part = tuple[tuple[str, ...], Callable[[], Any]]  # aspects, and what computes them


class BadReply(Exception):
    """The student's code returned something that is no answer to the question."""


def reply(module: ModuleType, ask: str, case: dict[str, Any]) -> dict[str, Any]:
    """Ask one case: `{aspect: plain value}`, and `"errors": {aspect: message}` for what failed."""
    observation: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for aspects, compute in QUESTIONS[ask](module, **case):
        try:
            values = compute()
            observation |= {a: plain(v) for a, v in zip(aspects, values, strict=True)}
        except Exception as error:
            errors |= dict.fromkeys(aspects, describe_error(error))
    return observation | ({"errors": errors} if errors else {})


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: numbers (numpy's too), strings, None and lists of them."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if type(value).__name__ == "bool_" or type(value).__name__ == "bool":  # numpy's
        return bool(value)
    if isinstance(value, (list, tuple)) and len(value) <= MAX_ITEMS:
        return [plain(item) for item in value]
    raise BadReply(f"a value of type {type(value).__name__} is no plain answer")


def read_state(text: str) -> State:
    """The position that a case names: a board, or "row xx___" of the made-up game."""
    return Row(text.removeprefix("row ")) if text.startswith("row ") else Board(text)


def _search(module, on: str, agent: str, order: str | None = None, **options) -> Iterator[Part]:
    if order == "board":
        options["order"] = lambda state: state.legal_moves()
    yield (("move", "value", "nodes"),
           lambda: _three(_get(module, agent)(**options).search(read_state(on)), agent))


def _table(module, on: str, agent: str) -> Iterator[Part]:
    searcher = None

    def first():
        nonlocal searcher
        searcher = _get(module, agent)()
        return _three(searcher.search(read_state(on)), agent)

    yield ("move", "value", "nodes"), first
    if searcher is not None:
        yield ("again",), lambda: [_three(searcher.search(read_state(on)), agent)[2]]


def _mixed(module, on: str, agent: str, draws: int) -> Iterator[Part]:
    yield ("moves",), lambda: [list(_get(module, agent)(seed=0).best_moves(read_state(on)))]

    def drawn():
        player = _get(module, agent)(seed=1)
        return [sorted({player.choose(read_state(on)) for _ in range(draws)})]

    yield ("drawn",), drawn


def _lane_counts(module, on: str) -> Iterator[Part]:
    def both():
        counts = [_get(module, "lane_counts")(read_state(on), player) for player in "xo"]
        if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in counts):
            raise BadReply("lane_counts must return a pair (two, one), "
                           f"it returned {counts[0]!r:.60}")
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
    yield ("order",), lambda: [list(_get(module, "by_priority")(state))]


QUESTIONS: dict[str, Callable[..., Iterator[Part]]] = {
    "search": _search, "table": _table, "mixed": _mixed, "lane_counts": _lane_counts,
    "heuristic": _heuristic, "is_quiescent": _is_quiescent, "priority": _priority,
}  # fmt: skip


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
        return f"{NOT_WRITTEN}: {error}"
    here = str(Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if here not in f.filename]
    where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
    return f"{type(error).__name__}: {error!s:.300}{where}"
