"""Draws search trees: the nodes that a search visited, and the moves that it cut off.

`draw_tree(trace)` draws the search that a `Trace` recorded; `build_tree` builds a tree without a
search. Nodes are boards, or triangles, circles (chance) and squares for games other than
tic-tac-toe.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import chain, pairwise
from math import inf
from typing import Any

from tictactoe.contract import CHANCE, Move, Player, State
from tictactoe.games.board import Board
from tictactoe.games.pictures import BLUE, CELL, ORANGE, Picture, board_marks
from tictactoe.nodes import Trace, Visit

DARK, GREY = "#222", "#666"  # both readable on white
FADED, BOLD, START = f' fill="{GREY}"', ' font-weight="700"', ' text-anchor="start"'
TEXT = f'<g font-family="sans-serif" font-size="12" fill="{DARK}" text-anchor="middle">'
BOARD = 51  # side of a node's board, in pixels
SLOT, STUB = 74, 40  # width of a leaf and of a cut move
LEVEL, LINE = 152, 14  # distance between two depths, and between two lines of text
LEFT, TOP = 104, 12  # space for the names of the levels, and above the root
MINUS = "\N{MINUS SIGN}"
BAR, LABEL, WORD = (
    0.5,
    0.84,
    0.68,
)  # positions along an edge: of its double bar, its move and a word
ARC_DEPTH = 42  # how far a dotted line hangs down


def build_tree(state: State, node: object, move: Move = None, depth: int = 0) -> Visit:
    """Build a tree by hand, in which a node is a value or `(value, {move: node})`.

    A tuple may also contain alpha and beta. A legal move that is missing counts as cut off; a value
    of None is drawn as "?".

    >>> draw_tree(build_tree(Board("xoox__ox_"), (1, {4: (1, {5: 1, 8: 1}), 5: 0})))
    Search tree. Nodes visited: 5. Moves cut: 1. MAX is x. Root: +1; moves: 4 (+1), 5 (0), 8 (cut).
    """
    value, branches, *window = node if isinstance(node, tuple) else (node, {})
    children = [build_tree(state.after(m), child, m, depth + 1) for m, child in branches.items()]
    bounds = dict(zip(("alpha", "beta"), window, strict=False))
    return Visit(state, move, depth, bounds, value, children)


def count_nodes(visit: Visit) -> int:
    """The number of nodes visited in this subtree, including its root."""
    return 1 + sum(map(count_nodes, visit.children))


def cut_moves(visit: Visit) -> list[Move]:
    """The legal moves of this node that were not visited, although others were.

    A node without a visited successor was not expanded (it is terminal, or at the depth limit), so
    nothing is cut there. A search with a transposition table skips moves for another reason, so do
    not draw its tree.
    """
    visited = {child.move for child in visit.children}
    return [m for m in visit.state.legal_moves() if m not in visited] if visited else []


def count_cuts(visit: Visit) -> int:
    """The number of moves cut off in this subtree."""
    return len(cut_moves(visit)) + sum(map(count_cuts, visit.children))


def draw_tree(
    tree: Trace | Visit,
    depth: float = inf,
    max_leaves: int = 19,
    information: Callable[[State], Hashable] | None = None,
) -> Picture:
    """Draw a search tree; `tree` is a trace (its latest search) or one visited node.

    Nodes deeper than `depth` are not drawn, and neither are a node's successors if more than
    `max_leaves` would then be side by side, except those of the root; "... n more" gives the number
    of missing nodes. `information(state)` returns what the player to move knows. Nodes of a level
    with equal information other than None form an information set and are joined by a dotted line.

    Raises ValueError for a trace that recorded nothing.
    """
    if isinstance(tree, Trace) and not tree.roots:
        raise ValueError("the trace is empty: search while it is open, with a @counted value")
    root = tree.roots[-1] if isinstance(tree, Trace) else tree
    return _Drawing(root, depth, max_leaves, information).picture


class _Drawing:
    def __init__(
        self,
        root: Visit,
        depth: float,
        max_leaves: int,
        information: Callable[[State], Hashable] | None,
    ) -> None:
        self.root, self.player, self.information, leaves = root, _first_player(root), information, 1
        self.opened: set[int] = set()
        self.drawn: list[Visit] = []
        self.sets: defaultdict[Any, list[tuple[float, float]]] = defaultdict(list)
        queue = deque([root])
        while queue:  # from the root downwards; a node's successors are drawn if they still fit
            self.drawn.append(visit := queue.popleft())
            more = len(visit.children) + len(cut_moves(visit)) - 1
            fits = visit.depth - root.depth < depth and leaves + more <= max_leaves
            if visit.children and (fits or visit is root):
                self.opened.add(id(visit))
                leaves += more
                queue.extend(visit.children)
        self.lines: list[str] = []  # SVG elements; lines are drawn below the marks
        self.marks: list[str] = []
        width = max(self.place(root, LEFT)[1] + 8, 480)
        self.join_sets()
        height = self.name_levels_and_signs()
        self.picture = Picture(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}"><rect width="100%" height="100%" fill="white"/>'
            + TEXT
            + "".join(self.lines + self.marks)
            + "</g></svg>",
            self.alt(),
        )

    def place(self, visit: Visit, left: float) -> tuple[float, float]:
        """Draw a subtree to the right of `left`; returns its root's centre and its right end."""
        top = TOP + (visit.depth - self.root.depth) * LEVEL
        start = BOARD + LINE * (2.4 if "beta" in visit.bounds else 1.4)  # below the node's text
        ends: list[tuple[float, Move, Visit | None]] = []
        right = left
        if id(visit) in self.opened:
            for child in visit.children:
                x, right = self.place(child, right)
                ends.append((x, child.move, child))
            for move in cut_moves(visit):
                ends.append((right + STUB / 2, move, None))
                right += STUB
        right = max(right, left + SLOT)
        x = (ends[0][0] + ends[-1][0]) / 2 if ends else (left + right) / 2
        source = next((c for c in visit.children if c.value == visit.value is not None), None)
        source = None if visit.state.to_move == CHANCE else source  # a mean depends on all
        for to_x, move, below in ends:
            width = 0 if below is None else 3.5 if below is source else 1.2
            self.edge((x, top + start), (to_x - x, LEVEL - start), move, width)
        self.node(visit, x, top)
        return x, right

    def edge(
        self, start: tuple[float, float], way: tuple[float, float], move: Move, width: float
    ) -> None:
        """Draw a line to a successor or, if the width is 0, the dashed stub of a cut move."""
        (x, y), (across, down) = start, way
        style = (
            f'stroke="{DARK}" stroke-width="{width}"'
            if width
            else f'stroke="{GREY}" stroke-width="1.5" stroke-dasharray="5 4"'
        )
        self.lines.append(f'<path d="M{x} {y}l{across} {down}" {style}/>')
        if not width:
            self.marks.append(
                f'<path d="M{x + across * BAR - 6} {y + down * BAR - 2}h12m0 5h-12" '
                f'stroke="{DARK}" stroke-width="2"/>'
            )
            self.text(x + across, y + down + 12, "cut", FADED)
        place, wide = LABEL if len(str(move)) < 3 else WORD, 7 * len(str(move)) + 7
        x, y = x + across * place, y + down * place
        self.marks.append(
            f'<rect x="{x - wide / 2:g}" y="{y - 8}" width="{wide}" height="15" fill="white"/>'
        )
        self.text(x, y + 4, str(move), "" if width else FADED)

    def node(self, visit: Visit, x: float, y: float) -> None:
        """Draw a board, or a square (terminal), circle (chance) or triangle (up: MAX, down: MIN)."""
        state, scale = visit.state, BOARD / (3 * CELL)
        up = state.to_move == self.player
        style = f'fill="white" stroke-width="3" stroke="{BLUE if up else ORANGE}"'
        if isinstance(state, Board):
            width = 6 if state.is_terminal() else 2
            shape = (
                f'<g transform="translate({x - BOARD / 2} {y}) scale({scale})">'
                f'<rect width="{3 * CELL}" height="{3 * CELL}" fill="white" stroke="{DARK}" '
                f'stroke-width="{width}"/>{board_marks(state, False)}</g>'
            )
        elif state.is_terminal():
            shape = f'<path d="M{x - 22} {y + 2}h44v44h-44Z" {style}/>'
        elif state.to_move == CHANCE:
            shape = (
                f'<circle cx="{x}" cy="{y + 24}" r="22" fill="white" stroke="{GREY}" '
                'stroke-width="3"/>'
            )
        else:
            shape = f'<path d="M{x - 24} {y + 46 * up}h48L{x} {y + 46 * (not up)}Z" {style}/>'
        self.marks.append(shape)
        information_set = (
            None if self.information is None or state.is_terminal() else self.information(state)
        )
        if information_set is not None:
            self.sets[visit.depth, information_set].append((x, y + BOARD - 6))
        lines = [_value(visit)]
        if "beta" in visit.bounds:
            lines.append(f"({signed(visit.bounds['alpha'])}, {signed(visit.bounds['beta'])})")
        if visit.children and id(visit) not in self.opened:
            lines.append(f"… {count_nodes(visit) - 1:,} more")
        for i, line in enumerate(lines):
            self.text(x, y + BOARD + LINE * (i + 1), line, "" if i else BOLD)

    def join_sets(self) -> None:
        """Draw a dotted line between the nodes of each information set, below the nodes in between."""
        for places in self.sets.values():
            for (left, y), (right, _) in pairwise(places):
                across = right - left - BOARD
                self.lines.append(
                    f'<path d="M{left + BOARD / 2} {y}q{across / 2} {2 * ARC_DEPTH} {across} 0" '
                    f'fill="none" stroke="{DARK}" stroke-width="2.5" stroke-linecap="round" '
                    'stroke-dasharray="0 6"/>'
                )

    def name_levels_and_signs(self) -> float:
        """Write the player to move at each depth, and the legend; returns the picture's height."""
        levels = 1 + max(visit.depth for visit in self.drawn) - self.root.depth
        for level in range(levels):
            movers = dict.fromkeys(
                v.state.to_move
                for v in self.drawn
                if v.depth - self.root.depth == level and not v.state.is_terminal()
            )
            lines = [(f"depth {level}", ""), *chain.from_iterable(map(self.role, movers))]
            for i, (line, style) in enumerate(lines if movers else [*lines, ("terminal", BOLD)]):
                self.text(8, TOP + level * LEVEL + 16 + 16 * i, line, START + style)
        legend = ["bold: the value for MAX; on a line: the move; thick: the source of the value"]
        if "beta" in self.root.bounds:
            legend.append("(alpha, beta): the window on entry; ≤ or ≥: only a bound is known")
        if self.information_set_text():
            legend.append("dotted: one information set, states that the player cannot distinguish")
        if count_cuts(self.root):
            legend.append("dashed, with a double bar: cut off, not visited")
        height = TOP + levels * LEVEL - 30
        for i, line in enumerate(legend):
            self.text(8, height + 16 * i, line, START)
        return height + 16 * len(legend)

    def role(self, mover: Player) -> list[tuple[str, str]]:
        """The label of a level, which names the player to move: lines of text, and their style."""
        if mover == CHANCE:
            return [("● chance", BOLD)]
        return [("▲ MAX" if mover == self.player else "▼ MIN", BOLD), (f"{mover} to move", "")]

    def alt(self) -> str:
        root, nodes = self.root, count_nodes(self.root)
        hidden = f" ({nodes - len(self.drawn):,} not drawn)" if nodes > len(self.drawn) else ""
        moves = [f"{child.move} ({_value(child)})" for child in root.children]
        moves += [f"{move} (cut)" for move in cut_moves(root)]
        return (
            f"Search tree. Nodes visited: {nodes:,}{hidden}. Moves cut: {count_cuts(root):,}. "
            f"MAX is {self.player}. Root: {_value(root)}"
            + (f"; moves: {', '.join(moves)}." if moves else ".")
            + self.information_set_text()
        )

    def information_set_text(self) -> str:
        """A sentence about the information sets that have several nodes; empty if there are none."""
        several = sum(len(places) > 1 for places in self.sets.values())
        return f" Information sets of several nodes: {several}." if several else ""

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.marks.append(f'<text x="{x}" y="{y}"{style}>{text}</text>')


def _first_player(root: Visit) -> Player:
    """The first player to move, ignoring chance."""
    while root.state.to_move == CHANCE and root.children:
        root = root.children[0]
    return root.state.to_move


def _value(visit: Visit) -> str:
    """The value with its meaning: "x wins +1", "draw 0", "≤ -1" if only a bound is known."""
    if visit.value is None:
        return "?"
    number = signed(visit.value)
    if visit.state.is_terminal() and isinstance(visit.state, Board):
        return f"{visit.state.winner} wins {number}" if visit.state.winner else f"draw {number}"
    return bound_sign(visit, count_cuts(visit)) + number


def bound_sign(visit: Visit, cuts: int) -> str:
    """ "≤ " or "≥ " if the value is only a bound because it is outside the window after cuts."""
    if cuts and visit.value <= visit.bounds.get("alpha", -inf):
        return "≤ "
    if cuts and visit.value >= visit.bounds.get("beta", inf):
        return "≥ "
    return ""


def signed(value: float | Fraction) -> str:
    """A value as text: "+1", "0", "+1/3", or infinity with its sign."""
    text = f"{'+' * (value > 0)}{value}" if isinstance(value, Fraction) else f"{value:+g}"
    return text.replace("inf", "∞").replace("-", MINUS) if value else "0"
