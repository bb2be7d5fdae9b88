"""Record a search as a list of steps, and line up the steps of two searches.

`record(agent, state)` runs a search and returns its `Walk`. It works on any agent with a `@counted`
value function: a `Trace` does the recording.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isclose
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

from tictactoe.contract import Move, State
from tictactoe.errors import describe
from tictactoe.nodes import Trace, Visit
from tictactoe.show.tree import bound_sign, cut_moves, signed

SAME = 1e-9  # values that differ by no more are the same
MOST = 30_000  # nodes of a recorded search: a second or two, and some tens of megabytes


@dataclass(eq=False)
class Node:
    """A visited node and its place in the search.

    `number` is its place in the order of the search, from 1. `entered` and `left` are the steps at
    which its value function began and returned. In its subtree `size` nodes were visited, `ends` of
    them leaves, and `cuts` moves were not visited; `unvisited` are those moves of the node itself.
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
        """The move that led here, None at the root."""
        return self.visit.move

    @property
    def line(self) -> list["Node"]:
        """The nodes from the root to this one, both included."""
        return [*(self.parent.line if self.parent else []), self]

    @property
    def pruned(self) -> bool:
        """Whether the search has a window, so that moves not visited were cut off by it."""
        return "alpha" in self.visit.bounds and "beta" in self.visit.bounds

    @property
    def source(self) -> "Node | None":
        """The first successor that has the node's value."""
        return next(
            (child for child in self.children if child.visit.value == self.visit.value is not None),
            None,
        )

    def value(self) -> str:
        """The value that was returned, with a sign where it is only a bound."""
        try:
            return bound_sign(self.visit, self.cuts) + number(self.visit.value)
        except TypeError:  # alpha or beta is not a number
            return number(self.visit.value)

    def window(self) -> str:
        """Alpha and beta on entry as "(-1, +1)", "" if the search has none."""
        bounds = self.visit.bounds
        return f"({number(bounds['alpha'])}, {number(bounds['beta'])})" if self.pruned else ""


class Step(NamedTuple):
    """One step: a node is entered (and left at once, if it is a leaf), or left with its value."""

    node: Node
    back: bool


class Walk:
    """A recorded search: its `root`, its `nodes` in order, and its `steps`.

    `name` is the agent's name, `trouble` says what stopped the search, if anything did. `limit` is
    the agent's depth limit, None if it has none. `depth` is the depth of the deepest node, and
    `movers` says for each depth who is to move there.
    """

    def __init__(self, root: Visit, name: str, trouble: str = "", limit: int | None = None) -> None:
        self.name, self.trouble, self.limit = name, trouble, limit
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
        """The best value returned to a node up to step `at`, "" if none was."""
        values = [
            child.visit.value
            for child in node.children
            if child.left <= at and _is_number(child.visit.value)
        ]
        return number((max if self.is_max(node) else min)(values)) if values else ""


def record(search: Any, state: State, most: int = MOST) -> Walk:
    """Let an agent search from `state` and record it.

    `search` is an agent with a `search(state)` or a `choose(state)`, or a search that is already
    recorded, as a `Trace` or a `Visit`. At most `most` nodes are recorded: reaching that limit, or
    an error in the middle of the search, becomes the walk's `trouble`.

    An error that the agent raises before its first node is passed on, and NotImplementedError
    always; raises ValueError if no counted function was called.
    """
    if isinstance(search, Visit):
        return Walk(search, "reference")
    if isinstance(search, Trace):
        return Walk(_one_root(search.roots, state), "trace")
    run, trouble = getattr(search, "search", None) or getattr(search, "choose", None), ""
    if run is None or isinstance(search, type):
        raise ValueError(
            "an agent has a method search or choose, and you passed "
            f"{search!r}: if that is a class, call it to make an agent"
        )
    with Trace(most) as trace:
        try:
            run(state)
        except NotImplementedError:
            raise
        except Exception as error:  # the explorer is there to look at the agent's mistakes
            if not trace.roots:
                raise
            trouble = describe(error)
    limit = getattr(search, "limit", None)
    return Walk(
        _one_root(trace.roots, state),
        type(search).__name__,
        trouble,
        limit if isinstance(limit, int) else None,
    )


def _one_root(roots: list[Visit], state: State) -> Visit:
    """The tree of a trace; a value function that was called once for each move gets a root."""
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
    """A value or bound as it is written in trees: "+1", "0", "?" for none."""
    if _is_number(value):
        return signed(value)
    return "?" if value is None else f"{value!s:.12}"


class Pair(NamedTuple):
    """A step of each of two searches, shown together.

    `difference` says in words what the two do differently here, "" where they agree.
    """

    first: int
    second: int
    difference: str = ""


def together(first: Walk, second: Walk) -> list[Pair]:
    """Line up the steps of two searches of one position.

    They move on together as long as they visit the same nodes. While one of them is in a part of
    the tree that the other does not visit, the other waits.
    """
    return list(_pairs(first, second, first.root, second.root))


def _pairs(a: Walk, b: Walk, mine: Node, theirs: Node) -> Iterator[Pair]:
    yield Pair(mine.entered, theirs.entered, _unlike(a, b, mine, theirs, both_leaves=True))
    here, there = theirs.entered, mine.entered  # where the one waits that has nothing to do
    rest, others = list(mine.children), list(theirs.children)
    while rest or others:
        if rest and others and rest[0].move == others[0].move:
            pairs = list(_pairs(a, b, rest.pop(0), others.pop(0)))
            yield from pairs
            there, here = pairs[-1][:2]
        elif rest and (
            not others
            or rest[0].move not in {node.move for node in others}
            or others[0].move in {node.move for node in rest}
        ):
            words = _differs(a, b, rest[0], others, theirs)
            node = rest.pop(0)
            for there in range(node.entered, node.left + 1):
                yield Pair(there, here, words if there == node.entered else "")
        else:
            words = _differs(b, a, others[0], rest, mine)
            node = others.pop(0)
            for here in range(node.entered, node.left + 1):
                yield Pair(there, here, words if here == node.entered else "")
    if mine.children or theirs.children:
        yield Pair(mine.left, theirs.left, _unlike(a, b, mine, theirs, both_leaves=False))


def _differs(a: Walk, b: Walk, node: Node, others: list[Node], theirs: Node) -> str:
    """What it means that `a` visits `node` now, and `b` goes on with the others."""
    if others:
        return f"{a.name} explores {node.move} next, {b.name} {others[0].move}"
    if theirs.children:
        return f"{a.name} goes on with {node.move}, {b.name} leaves it out"
    return f"{a.name} expands this node, {b.name} does not"


def _unlike(a: Walk, b: Walk, mine: Node, theirs: Node, both_leaves: bool) -> str:
    """Two values of one node that are not the same, in words, once both searches know them."""
    if both_leaves != (not mine.children and not theirs.children):
        return ""
    x, y = mine.visit.value, theirs.visit.value
    same = isclose(x, y, rel_tol=0, abs_tol=SAME) if _is_number(x) and _is_number(y) else x == y
    return "" if same else f"{a.name} returns {mine.value()} here, {b.name} {theirs.value()}"


def _is_number(value: object) -> TypeGuard[float]:
    """Whether it can be used as a float: fractions and numpy's numbers can."""
    return isinstance(value, Real)
