"""Records a search as a list of steps, and aligns the steps of two searches.

`record(agent, state)` runs a search and returns its `Walk`. It works with any agent that has a
`@counted` value function, because it uses a `Trace`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isclose
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

from common.errors import describe
from tictactoe.contract import Move, State
from tictactoe.explorables.tree import bound_sign, cut_moves, signed
from tictactoe.nodes import Trace, Visit

TOLERANCE = 1e-9  # tolerance for comparing values
MAX_NODES = (
    30_000  # nodes of a recorded search, which take a second or two and some tens of megabytes
)


@dataclass(eq=False)
class Node:
    """A visited node and its place in the search.

    `number` is its place in the order of the search, from 1. `entered` and `left` are the steps at
    which its value function began and returned. In its subtree, `size` nodes were visited, `ends`
    of them leaves, and `cuts` moves were not visited; `unvisited` contains the moves of the
    node itself that were not visited.
    """

    visit: Visit
    parent: "Node | None"
    depth: int
    number: int
    entered: int
    left: int = -1
    size: int = 1
    ends: int = 0
    cuts: int = 0
    children: list["Node"] = field(default_factory=list)
    unvisited: list[Move] = field(default_factory=list)

    @property
    def state(self) -> State:
        """The position."""
        state: State = self.visit.state
        return state

    @property
    def move(self) -> Move:
        """The move that led to this node; None at the root."""
        return self.visit.move

    @property
    def line(self) -> list["Node"]:
        """The nodes from the root to this one, including both."""
        return [*(self.parent.line if self.parent else []), self]

    @property
    def pruned(self) -> bool:
        """Whether the search has a window, which explains why moves were not visited."""
        return "alpha" in self.visit.bounds and "beta" in self.visit.bounds

    @property
    def source(self) -> "Node | None":
        """The first successor that has the node's value."""
        return next(
            (child for child in self.children if child.visit.value == self.visit.value is not None),
            None,
        )

    def value(self) -> str:
        """The value that was returned, with ≤ or ≥ if it is only a bound."""
        try:
            return bound_sign(self.visit, self.cuts) + number(self.visit.value)
        except TypeError:  # alpha or beta is not a number
            return number(self.visit.value)

    def window(self) -> str:
        """Alpha and beta on entry, for example "(-1, +1)"; "" if the search has no window."""
        bounds = self.visit.bounds
        return f"({number(bounds['alpha'])}, {number(bounds['beta'])})" if self.pruned else ""


class Step(NamedTuple):
    """A step: a node is entered, or left with its value; a leaf is entered and left in one step."""

    node: Node
    is_leaving: bool


class Walk:
    """A recorded search: its `root`, its `nodes` in order, and its `steps`.

    `name` is the agent's name; `error_text` describes the error that stopped the search, if any.
    `limit` is the agent's depth limit, None if it has none. `depth` is the depth of the deepest
    node, and `movers` maps each depth to the player to move.
    """

    def __init__(
        self, root: Visit, name: str, error_text: str = "", limit: int | None = None
    ) -> None:
        self.name, self.error_text, self.limit = name, error_text, limit
        self.nodes: list[Node] = []
        self.steps: list[Step] = []
        self.root = self._enter(root, None)
        self.movers = {
            node.depth: node.state.to_move
            for node in reversed(self.nodes)
            if not node.state.is_terminal()
        }
        self.depth = max(node.depth for node in self.nodes)

    def _enter(self, visit: Visit, parent: Node | None) -> Node:
        depth = parent.depth + 1 if parent else 0
        node = Node(visit, parent, depth, len(self.nodes) + 1, len(self.steps))
        self.nodes.append(node)
        self.steps.append(Step(node, False))
        for child in visit.children:
            node.children.append(below := self._enter(child, node))
            node.size += below.size
            node.ends += below.ends
            node.cuts += below.cuts
        node.unvisited = cut_moves(visit)
        node.cuts += len(node.unvisited)
        if node.children:
            self.steps.append(Step(node, True))
        else:
            node.ends = 1
        node.left = len(self.steps) - 1
        return node

    def is_max(self, node: Node) -> bool:
        """Whether MAX, the player to move at the root, is to move at this node."""
        return bool(node.state.to_move == self.root.state.to_move)

    def best(self, node: Node, at: int) -> str:
        """The best value returned to a node up to step `at`, as text; "" if there is none."""
        values = [
            child.visit.value
            for child in node.children
            if child.left <= at and _is_number(child.visit.value)
        ]
        return number((max if self.is_max(node) else min)(values)) if values else ""


def record(search: Any, state: State, most: int = MAX_NODES) -> Walk:
    """Let an agent search from `state` and record it.

    `search` is an agent with a `search(state)` or a `choose(state)`, or a search that has been
    recorded as a `Trace` or a `Visit`. At most `most` nodes are recorded. If the limit is reached,
    or an error occurs during the search, the walk's `error_text` reports it.

    An error that the agent raises before its first node is passed on, as is every
    NotImplementedError. Raises ValueError if no counted function was called.
    """
    if isinstance(search, Visit):
        return Walk(search, "reference")
    if isinstance(search, Trace):
        return Walk(_one_root(search.roots, state), "trace")
    run, error_text = getattr(search, "search", None) or getattr(search, "choose", None), ""
    if run is None or isinstance(search, type):
        raise ValueError(
            "an agent needs a method search or choose, and you passed {search!r}: if that is a "
            "class, call it to make an agent"
        )
    with Trace(most) as trace:
        try:
            run(state)
        except NotImplementedError:
            raise
        except Exception as error:  # the explorer is a tool for examining the agent's errors
            if not trace.roots:
                raise
            error_text = describe(error)
    limit = getattr(search, "limit", None)
    return Walk(
        _one_root(trace.roots, state),
        type(search).__name__,
        error_text,
        limit if isinstance(limit, int) else None,
    )


def _one_root(roots: list[Visit], state: State) -> Visit:
    """The tree of a trace. If the value function was called once for each move, a root is added."""
    if not roots:
        raise ValueError(
            "nothing was recorded: is there a line @counted above the value function, "
            "and does the search call it?"
        )
    if len(roots) == 1:
        return roots[0]
    moves = {state.after(move): move for move in state.legal_moves()}
    return Visit(
        state, None, 0, {}, None, [replace(root, move=moves.get(root.state)) for root in roots]
    )


def number(value: Any) -> str:
    """A value or bound as text: "+1", "0", "?" for none."""
    if _is_number(value):
        return signed(value)
    return "?" if value is None else f"{value!s:.12}"


class Pair(NamedTuple):
    """A step of each of two searches, shown together.

    `difference` describes a difference between the two in words; it is "" if they agree.
    """

    first: int
    second: int
    difference: str = ""


def align(first: Walk, second: Walk) -> list[Pair]:
    """Align the steps of two searches of one position.

    They advance together as long as they visit the same nodes. While one is in a part of the tree
    that the other does not visit, the other waits.
    """
    return list(_align_subtrees(first, second, first.root, second.root))


def _align_subtrees(a: Walk, b: Walk, mine: Node, theirs: Node) -> Iterator[Pair]:
    yield Pair(
        mine.entered, theirs.entered, _value_difference(a, b, mine, theirs, both_leaves=True)
    )
    first, second = mine.entered, theirs.entered  # the steps at which a walk waits
    rest, others = list(mine.children), list(theirs.children)
    while rest or others:
        if rest and others and rest[0].move == others[0].move:
            pairs = list(_align_subtrees(a, b, rest.pop(0), others.pop(0)))
            yield from pairs
            first, second = pairs[-1][:2]
        elif _is_first_next(rest, others):
            difference = _move_difference(a, b, rest[0], others, theirs)
            node = rest.pop(0)
            for first in range(node.entered, node.left + 1):
                yield Pair(first, second, difference if first == node.entered else "")
        else:
            difference = _move_difference(b, a, others[0], rest, mine)
            node = others.pop(0)
            for second in range(node.entered, node.left + 1):
                yield Pair(first, second, difference if second == node.entered else "")
    if mine.children or theirs.children:
        yield Pair(mine.left, theirs.left, _value_difference(a, b, mine, theirs, both_leaves=False))


def _is_first_next(rest: list[Node], others: list[Node]) -> bool:
    """Whether, if the next moves differ, the first walk continues while the second waits."""
    return bool(rest) and (
        not others
        or rest[0].move not in {node.move for node in others}
        or others[0].move in {node.move for node in rest}
    )


def _move_difference(a: Walk, b: Walk, node: Node, others: list[Node], theirs: Node) -> str:
    """A description of the difference if `a` visits `node` and `b` continues with `others`."""
    if others:
        return f"{a.name} explores {node.move} next, {b.name} {others[0].move}"
    if theirs.children:
        return f"{a.name} continues with {node.move}, {b.name} skips it"
    return f"{a.name} expands this node, {b.name} does not"


def _value_difference(a: Walk, b: Walk, mine: Node, theirs: Node, both_leaves: bool) -> str:
    """A description of the difference between two values of a node, once both are known."""
    if both_leaves != (not mine.children and not theirs.children):
        return ""
    x, y = mine.visit.value, theirs.visit.value
    same = (
        isclose(x, y, rel_tol=0, abs_tol=TOLERANCE) if _is_number(x) and _is_number(y) else x == y
    )
    return "" if same else f"{a.name} returns {mine.value()} here, {b.name} {theirs.value()}"


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value can be used as a float, as fractions and numpy's numbers can."""
    return isinstance(value, Real)
