"""The node counter. What counts as a node, a depth and a tie is defined here, once.

Node counts mean nothing until their rules are written down. These are the rules of this course;
every published number follows them.

1.  **Board.** Nine cells, row by row, written "x_o_x_o__"; x moves first. A move is a cell's index,
    0 to 8, and `legal_moves()` lists the open cells in ascending order.
2.  **Node.** One entry into the search's value function. The root counts 1. States that are made
    only to *rank* moves (for the priority function or the heuristic) are not nodes. Three numbers
    are kept apart: *visited* (nodes), *evaluated* (heuristic evaluations) and *generated*
    (successor states made, for ranking too). Marks are given for *visited*.
3.  **Depth.** The root is at depth 0; every single move, by either player, adds 1.
4.  **Order of tests in a node.** First the terminal test; then the cut-off test, `depth >= limit`
    *and* quiescent; then expand. Beyond the limit *all* legal moves are searched.
5.  **Quiescent.** Neither player has two marks in a lane whose third cell is empty, whoever is to
    move.
6.  **Whose view.** The player to move at the root is MAX. Utility is +1, 0 or -1 from MAX's view
    at every depth. The heuristic H is computed in whole numbers and divided by 10 once, at the
    end: adding tenths instead rounds differently and sometimes changes a count or a move.
7.  **Alpha-beta.** The root's window is (-infinity, +infinity), and the root narrows alpha from
    child to child like any MAX node. A MAX node returns when `value >= beta`, a MIN node when
    `value <= alpha`. No early exit at +1 or -1, no transposition table, no symmetry.
8.  **Ties.** The first best move in visiting order wins: the best move so far is replaced on strict
    improvement only.
9.  **Move ordering.** In every expanded node, the root included: `heapify` the list of
    `(priority, move)`, then `heappop`. The priority is from the view of the player to move.
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
>>> Walk().search(Board("xoxoxo___"))  # the root and three moves, two of which win; 2 + 2 after 7
8

Counters and traces belong to the context (`contextvars`) in which they were opened, a thread or an
asyncio task, and see nothing of what other contexts visit. Tasks and `asyncio.to_thread` calls that
begin there run in copies of that context: they are counted too, until the counter is closed. Then
its number is final. (A generator runs in the context of whoever asks for its next item.)
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
    """A number of nodes."""

    def __init__(self, nodes: int = 0) -> None:
        self.nodes = nodes


_NOBODY = _Tally()  # counts what nobody asked for: quicker than asking at every node
# What is open in a context: the last counter's tally, the others', and the traces, each with the
# visit that is going on.
_Open: TypeAlias = tuple[_Tally, _Tallies, _Traces]
_context: ContextVar[_Open] = ContextVar("open", default=(_NOBODY, (), ()))


class NodeCounter:
    """Counts the nodes visited while it is open: `with NodeCounter() as nodes: ...`.

    Close it in the context in which it was opened: elsewhere that raises RuntimeError.
    """

    def __init__(self) -> None:
        self._tally = _Tally()

    @property
    def visited(self) -> int:
        """How many nodes were visited so far."""
        return self._tally.nodes

    def __enter__(self) -> Self:
        tallies, traces = _open()
        _set_open((self._tally, *tallies), traces)
        return self

    def __exit__(self, *exception: object) -> None:
        # Copies of this context may go on counting, in the old tally.
        tally, self._tally = self._tally, _Tally(self.visited)
        tallies, traces = _open()
        _set_open(_less(tallies, lambda other: other is tally), traces)


@dataclass
class Visit:
    """One node as a `Trace` recorded it.

    `bounds` holds the value function's arguments other than the state, by parameter name
    (`depth`, `alpha`, `beta` ... if it has them); `value` is what it returned, None if it raised an
    error. Of a tuple that is the first item, or the second if the first leaf returns `(None, ...)`:
    then the moves come first. `move` led here from the parent's state; None if no legal move does.
    """

    state: Any
    move: Any
    depth: int
    bounds: dict[str, Any]
    value: float | None = None
    children: list["Visit"] = field(default_factory=list)


class Trace:
    """Records the search tree that counted value functions walk while it is open.

    The agent needs only `@counted`. A node takes a few hundred bytes of memory, so trace small
    positions. `roots` holds a tree per outermost call; the nodes below one are those visited before
    it returned. After `most` nodes the trace raises `RuntimeError`. Like a `NodeCounter` it is
    closed in the context in which it was opened.
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self.roots: list[Visit] = []
        self.visited = 0
        self._most = most
        self._is_open = False
        self._place: int | None = None  # of the value in a tuple

    def __enter__(self) -> Self:
        self._is_open = True
        tallies, traces = _open()
        _set_open(tallies, (*traces, (self, None)))
        return self

    def __exit__(self, *exception: object) -> None:
        self._is_open = False
        tallies, traces = _open()
        _set_open(tallies, _less(traces, lambda other: other[0] is self))

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
        """The value in what a value function returned. The first to return is a leaf, which has
        no move."""
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
    """The tallies of this context, the last one first, and its traces."""
    tally, others, traces = _context.get()
    return () if tally is _NOBODY else (tally, *others), traces


def _set_open(tallies: _Tallies, traces: _Traces) -> Token[_Open]:
    last, *others = tallies or [_NOBODY]
    return _context.set((last, tuple(others), traces))


def _less(entries: tuple[_Entry, ...], is_closed: Callable[[_Entry], bool]) -> tuple[_Entry, ...]:
    """The entries without the one that is closed."""
    left = tuple(entry for entry in entries if not is_closed(entry))
    if len(left) == len(entries):
        raise RuntimeError(
            "a counter or a trace is closed in the thread or task that opened it, "
            "and this is another one"
        )
    return left


def _move_between(parent: Any, child: Any) -> Any:
    """The legal move that leads from `parent` to `child`, or None."""
    return next((m for m in parent.legal_moves() if parent.after(m) == child), None)
