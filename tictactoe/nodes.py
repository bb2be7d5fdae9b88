"""The node counter, with the course's definitions of nodes, depths and ties.

Node counts mean nothing without precise rules. These are the rules of this course, which every
published number follows.

1.  **Board.** Nine cells, row by row, written "x_o_x_o__"; x moves first. A move is a cell's index,
    0 to 8, and `legal_moves()` lists the open cells in ascending order.
2.  **Node.** One entry into the search's value function. The root counts as 1. States that are made
  only to *rank* moves (for the priority function or the heuristic) are not nodes. There are three
  numbers: *visited* (nodes), *evaluated* (heuristic evaluations) and *generated* (successor states
  made, including those for ranking). Marks are given for *visited*.
3.  **Depth.** The root is at depth 0; every move, by either player, adds 1.
4.  **Order of tests in a node.** First the terminal test, then the cut-off test, `depth >= limit`
  *and* quiescent, then expansion. Beyond the limit, *all* legal moves are searched.
5.  **Quiescent.** Neither player has two marks in a lane whose third cell is empty, whoever is to
    move.
6.  **Whose view.** The player to move at the root is MAX. Utility is +1, 0 or -1 from MAX's view at
    every depth. The heuristic H is computed in whole numbers and divided by 10 once, at the end;
    adding tenths rounds differently and sometimes changes a count or a move.
7.  **Alpha-beta.** The root's window is (-infinity, +infinity), and the root narrows alpha from
    child to child like any MAX node. A MAX node returns when `value >= beta`, a MIN node when
    `value <= alpha`. There is no early exit at +1 or -1, no transposition table and no use of
    symmetry.
8.  **Ties.** The first of the best moves in visiting order is chosen: the best move so far is
  replaced only if another is strictly better.
9.  **Move ordering.** Every expanded node, including the root, calls `heapify` on the list of
  `(priority, move)`, then `heappop`. Priorities are from the view of the player to move.
10. **Children are generated lazily**: a child that is not visited is not generated.

Put `@counted` on the value function and open a `NodeCounter` around the search:

>>> class Walk:
...     def search(self, state):
...         with NodeCounter() as nodes:
...             self.value(state)
...         return nodes.visited
...
...     @counted
...     def value(self, state):
...         for move in state.legal_moves():
...             self.value(state.after(move))
>>> from tictactoe.games.board import Board
>>> Walk().search(Board("xoxoxo___"))  # the root and three moves, two of them wins; 2 + 2 after 7
8

Counters and traces belong to the context (`contextvars`) in which they were opened, that is, a
thread or an asyncio task, and ignore nodes that other contexts visit. Tasks and `asyncio.to_thread`
calls that start there run in copies of that context, so they are counted as well until the counter
is closed. After that, its number is final. (A generator runs in the context of the code that
requests its next item.)
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Entry = TypeVar("_Entry")
_Tallies: TypeAlias = "tuple[_Tally, ...]"
_Traces: TypeAlias = "tuple[tuple[Trace, Visit | None], ...]"


class _Tally:
    """A mutable number of nodes."""

    def __init__(self, nodes: int = 0) -> None:
        self.nodes = nodes


_UNUSED_TALLY = _Tally()  # counts if no counter is open; this is quicker than a test at every node
# The open objects of a context: the last counter's tally, the others', and the traces, each with
# the visit in progress.
_Open: TypeAlias = tuple[_Tally, _Tallies, _Traces]
_context: ContextVar[_Open] = ContextVar("open", default=(_UNUSED_TALLY, (), ()))


class NodeCounter:
    """Counts the nodes visited while it is open: `with NodeCounter() as nodes: ...`.

    It must be closed in the context in which it was opened; elsewhere this raises RuntimeError.
    """

    def __init__(self) -> None:
        self._tally = _Tally()

    @property
    def visited(self) -> int:
        """The number of nodes visited so far."""
        return self._tally.nodes

    def __enter__(self) -> Self:
        tallies, traces = _open()
        _set_open((self._tally, *tallies), traces)
        return self

    def __exit__(self, *exception: object) -> None:
        # Copies of this context may continue to count in the old tally.
        tally, self._tally = self._tally, _Tally(self.visited)
        tallies, traces = _open()
        _set_open(_without(tallies, lambda other: other is tally), traces)


@dataclass
class Visit:
    """One node as a `Trace` recorded it.

    `bounds` contains the value function's arguments other than the state, by parameter name (such
    as `depth`, `alpha` and `beta`). `value` is the value that it returned, or None if it raised an
    error. If it returns tuples, the value is the first item, or the second if the first leaf
    returns `(None, ...)`, which means that moves come first. `move` is the move that led here from
    the parent's state, or None if no legal move leads here.
    """

    state: Any
    move: Any
    depth: int
    bounds: dict[str, Any]
    value: float | None = None
    children: list["Visit"] = field(default_factory=list)


class Trace:
    """Records the search tree that counted value functions visit while it is open.

    The agent only needs `@counted`. A node takes a few hundred bytes of memory, so trace small
    positions. `roots` contains one tree per outermost call, with the nodes visited before it
    returned. After `most` nodes, the trace raises `RuntimeError`. Like a `NodeCounter`, it must be
    closed in the context in which it was opened.
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self.roots: list[Visit] = []
        self.visited = 0
        self._most = most
        self._is_open = False
        self._place: int | None = None  # index of the value in a tuple

    def __enter__(self) -> Self:
        self._is_open = True
        tallies, traces = _open()
        _set_open(tallies, (*traces, (self, None)))
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_open = False
        tallies, traces = _open()
        _set_open(tallies, _without(traces, lambda other: other[0] is self))

    def _record(self, parent: Visit | None, state: Any, bounds: dict[str, Any]) -> Visit:
        if self.visited == self._most:
            raise RuntimeError(f"the trace is full: more than {self._most:,} nodes were visited")
        self.visited += 1
        move, depth, siblings = None, 0, self.roots
        if parent:
            move, depth = _move_between(parent.state, state), parent.depth + 1
            siblings = parent.children
        siblings.append(visit := Visit(state, move, depth, bounds))
        return visit

    def _value_in(self, result: Any) -> Any:
        """The value in a value function's result. The first call to return is a leaf's."""
        if not isinstance(result, tuple) or not result:
            return result
        if self._place is None:
            self._place = int(result[0] is None and len(result) > 1)
        return result[min(self._place, len(result) - 1)]


def counted(value_function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Count every entry into the decorated value function (a method or a plain function)."""

    @functools.wraps(value_function)
    def visit(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        tally, others, traces = _context.get()
        tally.nodes += 1
        if others:
            for other in others:
                other.nodes += 1
        if traces:
            return _traced(value_function, args, kwargs)
        return value_function(*args, **kwargs)

    return visit


def _traced(
    value_function: Callable[..., _R], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> _R:
    arguments = inspect.signature(value_function).bind(*args, **kwargs).arguments
    state = next(
        (a for name, a in arguments.items() if name != "self" and hasattr(a, "legal_moves")), None
    )
    if state is None:
        raise TypeError(f"{value_function.__qualname__} was called without a state to record")
    bounds = {
        name: value for name, value in arguments.items() if name != "self" and value is not state
    }
    tallies, traces = _open()
    inside = tuple(
        (trace, trace._record(parent, state, bounds)) for trace, parent in traces if trace._is_open
    )
    token = _set_open(tallies, inside)
    try:
        result = value_function(*args, **kwargs)
    finally:
        _context.reset(token)
    for trace, visit in inside:
        visit.value = trace._value_in(result)
    return result


def _open() -> tuple[_Tallies, _Traces]:
    """The open tallies of this context, the last one first, and its open traces."""
    tally, others, traces = _context.get()
    return () if tally is _UNUSED_TALLY else (tally, *others), traces


def _set_open(tallies: _Tallies, traces: _Traces) -> Token[_Open]:
    last, *others = tallies or [_UNUSED_TALLY]
    return _context.set((last, tuple(others), traces))


def _without(
    entries: tuple[_Entry, ...], is_closed: Callable[[_Entry], bool]
) -> tuple[_Entry, ...]:
    """The entries without the closed one."""
    left = tuple(entry for entry in entries if not is_closed(entry))
    if len(left) == len(entries):
        raise RuntimeError(
            "a counter or a trace must be closed in the thread or task that opened it, and this is "
            "another one"
        )
    return left


def _move_between(parent: Any, child: Any) -> Any:
    """The legal move that leads from `parent` to `child`, or None."""
    return next((m for m in parent.legal_moves() if parent.after(m) == child), None)
