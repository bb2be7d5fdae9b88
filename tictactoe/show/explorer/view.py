"""A recorded search at one of its steps, as SVG: the tree so far and the node that it is at.

Small trees are drawn whole. In larger ones only the path to the current node is open, and what the
reader opened; a closed node says how many nodes are below it. Every node can be clicked.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from tictactoe.contract import Move
from tictactoe.games.pictures import BLUE, ORANGE
from tictactoe.show.drawn import DARK, Drawing, draw_state
from tictactoe.show.explorer.walk import Node, Walk
from tictactoe.show.explorer.words import BOLD, SIGNS, after, facts
from tictactoe.show.tree import MINUS, START

HERE_SIGN = ' data-here="true"'  # the page scrolls sideways to it
GREY, HERE, PLAIN = "#666", "#ffe08a", "white"  # text that matters less; the current node; others
LINE, LETTER = 18, 6.5  # pixels: the height of a line of text, a letter's width
GAP, WIDE_BOARD = 10, 700  # beside and below things; a board that is wider than high stands above
NAMES = 62  # width of the names of the levels
SLOT, ROOMY, WINDOW = 40, 76, 50  # least and greatest width of a node; one with room for a window
STUB, LEVEL = 0.58, 64  # width of a move not visited, in nodes; height of a level
NEAR = 24  # a move is written so near to its node, however long the line is
WIDEST, LEAST = 19 * SLOT, 420  # a wider tree is not drawn whole; room for the legend
LEAST_WORDS = 150  # room for the words beside a board
ROOM = 600  # a tree that is narrower has wider nodes
MANY = 13  # of more moves at one node only those near the current one are drawn


class Form(NamedTuple):
    """How the parts of a picture stand: the board of the current node, its words, and the tree.

    The `panel` is as wide as it says, the board as high. With `beside` the words stand at the
    board's right. On a telephone, `narrow`, the panel is below the tree.
    """

    panel: float
    board: float
    beside: bool = False
    narrow: bool = False
    scale: float = 1


ALONE = Form(222, 150)
PAIR = Form(352, 150, beside=True, scale=0.76)  # two searches fit a laptop's window
NARROW = Form(300, 110, beside=True, narrow=True)

Point = tuple[float, float]


@dataclass
class _Folded:
    """Moves of a node that are too many to be drawn: nodes, and moves not visited."""

    items: list[Node | Move]


class _TreeView:
    """Draws one walk at one step; `key` tells the clicks of several walks in one picture apart."""

    def __init__(
        self, walk: Walk, at: int, opened: Mapping[int, bool], key: str, form: Form
    ) -> None:
        self.walk, self.at, self.opened, self.key, self.form = walk, at, opened, key, form
        self.here, self.back = walk.steps[at]
        self.way = set(self.here.line)
        self.left = 0 if form.narrow else form.panel  # where the names of the levels begin
        room = form.panel - NAMES if form.narrow else ROOM
        self.slot = min(max(room / _slots(walk), SLOT), ROOMY)
        self.stub_slot = STUB * self.slot
        self.windows = walk.root.pruned and self.slot >= WINDOW
        self.small = 11 if form.scale == 1 else 12  # pixels: where all is smaller, it is not
        self.level = LEVEL + 15 * self.windows
        self.lines: list[str] = []  # SVG elements; the lines lie below the marks
        self.marks: list[str] = []

    def picture(self, title: str) -> Drawing:
        """The current position, what is known about its node, and the tree."""
        last = self.here.move if self.here.parent else None
        form = self.form
        widest = form.panel if form.narrow else WIDE_BOARD
        board = draw_state(self.here.state, None, last, form.board, widest, narrow=form.narrow)
        wide = board.width > 1.5 * board.height
        top = board.height + 2 * GAP if wide and not form.narrow else GAP
        right = self.place(self.walk.root, self.left + NAMES, top + 14)[1]
        self.name_levels(top + 14, right)
        tree = top + 14 + (self.walk.depth + 1) * self.level - LINE
        y = tree + GAP if form.narrow else GAP
        self.marks.append(f'<g transform="translate({GAP} {y:g})">{board.svg}</g>')
        x = board.width + 2 * GAP
        if form.beside and not wide and form.panel - x >= LEAST_WORDS:
            below = max(self.panel(title, x, y), y + board.height)
        else:
            below = self.panel(title, GAP, y + board.height + GAP)
        least = form.panel if form.narrow else self.left + NAMES + LEAST
        width = max(right, board.width if wide else 0, least) + 2 * GAP * (not form.narrow)
        return Drawing("".join(self.lines + self.marks), width, max(below, tree) + GAP)

    def seen(self, node: Node) -> bool:
        """Whether the search has come to the node yet."""
        return node.entered <= self.at

    def done(self, node: Node) -> bool:
        """Whether the node has its value already."""
        return node.left <= self.at

    def begun(self, folded: _Folded) -> bool:
        """Whether the search has come to any of the moves that are folded."""
        return any(isinstance(item, Node) and self.seen(item) for item in folded.items)

    def open(self, node: Node) -> bool:
        """Whether the node's moves are drawn."""
        return bool(node.children) and (node in self.way or self.opened[node.number])

    def place(self, node: Node, left: float, y: float) -> tuple[float, float]:
        """Draw a subtree from `left` on; returns its root's centre and its right end."""
        right, ends = left, []
        if self.open(node):
            for item in self.items(node):
                if isinstance(item, Node):
                    x, right = self.place(item, right, y + self.level)
                else:
                    x, right = right + self.stub_slot / 2, right + self.stub_slot
                ends.append((x, item))
        right = max(right, left + self.slot)
        x = (ends[0][0] + ends[-1][0]) / 2 if ends else (left + right) / 2
        start, end = y + 37 + 15 * self.windows, y + self.level - 12
        for to_x, item in ends:
            if isinstance(item, Node):
                if self.seen(item):
                    thick = self.done(node) and item is node.source
                    self.edge((x, start), (to_x, end), item.move, 3.5 if thick else 1.2)
            elif isinstance(item, _Folded):
                if self.done(node) or self.begun(item):
                    self.text(to_x, end + 12, f"…{len(item.items)}", GREY)
            elif self.done(node):
                self.stub((x, start), (to_x, end), item)
        if self.seen(node):
            self.node(node, x, y)
        return x, right

    def items(self, node: Node) -> list[Node | Move | _Folded]:
        """A node's successors, then the moves not visited, the far ones of too many folded."""
        items = [*node.children, *node.unvisited]
        if len(items) <= MANY:
            return items
        middle = next(
            (i for i, child in enumerate(node.children) if child in self.way),
            node.children.index(node.source) if node.source else 0,
        )
        first = min(max(middle - MANY // 2, 0), len(items) - MANY)
        before, after = items[:first], items[first + MANY :]
        return [
            *([_Folded(before)] if before else []),
            *items[first : first + MANY],
            *([_Folded(after)] if after else []),
        ]

    def edge(self, start: Point, end: Point, move: Move, width: float) -> None:
        (x, y), (to_x, to_y) = start, end
        self.lines.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{DARK}" stroke-width="{width}"/>'
        )
        back = min(0.28, NEAR / max(abs(to_x - x), 1))  # of the way, where the move is written
        self.move(to_x - (to_x - x) * back, to_y - (to_y - y) * back, move, DARK)

    def stub(self, start: Point, end: Point, move: Move) -> None:
        """A move that was not visited: grey, dashed, and with a double bar at its end."""
        (x, y), (to_x, to_y) = start, end
        self.lines.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{GREY}" '
            f'stroke-width="1.4" stroke-dasharray="5 4"/>'
        )
        self.marks.append(
            f'<path d="M{to_x - 6:g} {to_y + 1:g}h12m0 4.5h-12" stroke="{DARK}" '
            'stroke-width="1.8"/>'
        )
        self.move(to_x, to_y + 18, move, GREY)

    def move(self, x: float, y: float, move: Move, colour: str) -> None:
        name = f"{move!s:.8}"
        width = 7 * len(name) + 4
        self.marks.append(
            f'<rect x="{x - width / 2:g}" y="{y - 7:g}" width="{width}" height="14" '
            f'fill="{PLAIN}"/>'
        )
        self.text(x, y + 4, name, colour)

    def node(self, node: Node, x: float, y: float) -> None:
        """A triangle up (MAX) or down (MIN), a square (an end), a diamond (estimated)."""
        here, done = node is self.here, self.done(node)
        up = self.walk.is_max(node)
        colour, shape = BLUE if up else ORANGE, "M-11 9H11L0 -10Z" if up else "M-11 -9H11L0 10Z"
        if node.state.is_terminal():
            colour, shape = DARK, "M-9 -9H9V9H-9Z"
        elif not node.children:
            colour, shape = GREY, "M-11 0L0 -11L11 0L0 11Z"
        ring = f'<circle r="17" fill="{HERE}" stroke="{DARK}" stroke-width="3"/>' if here else ""
        value = node.value() if done else "?"
        known = f"value {value}" if done else "no value yet"
        self.marks.append(
            f'<g transform="translate({x:g} {y:g})" data-move="go {self.key}{node.number}" '
            f'data-label="{html.escape(f"node {node.number}, {after(node)}: {known}")}"'
            f"{HERE_SIGN if here else ''}>"
            f'<rect x="-17" y="-14" width="34" height="48" fill="{PLAIN}" fill-opacity="0"/>{ring}'
            f'<path d="{shape}" fill="{PLAIN}" stroke="{colour}" stroke-width="2.6"/>'
            f'<text y="30" font-weight="700">{html.escape(value)}</text></g>'
        )
        if self.windows:
            self.text(x, y + 44, node.window(), GREY, f' font-size="{self.small}"')
        if node.children and node not in self.way:
            self.fold(node, x, y)

    def fold(self, node: Node, x: float, y: float) -> None:
        """What opens or closes a subtree: a sign at the node's corner, or a number below it."""
        below = f"{node.size - 1:,}"
        if self.open(node):
            what, sign, x, y = "close", MINUS, x + 20, y + 1
        else:
            what, sign, y = "open", f"+{below}", y + 42 + 15 * self.windows
        width = 6 + 7 * len(sign)
        self.marks.append(
            f'<g transform="translate({x:g} {y:g})" data-move="fold {self.key}{node.number}" '
            f'data-label="{what} the {below} nodes below node {node.number}">'
            f'<rect x="{-width / 2}" y="-6.5" width="{width}" height="13" rx="3" fill="#f4f1ea" '
            f'stroke="{GREY}"/><text y="4" font-size="{self.small}">{sign}</text></g>'
        )

    def name_levels(self, y: float, right: float) -> None:
        """Depths and who moves there, and the line of the agent's depth limit."""
        for depth in range(self.walk.depth + 1):
            mover = self.walk.movers.get(depth)
            role = "MAX" if mover == self.walk.root.state.to_move else "MIN"
            name = "terminal" if mover is None else f"{SIGNS[role]} {role}"
            self.text(self.left, y + depth * self.level - 3, f"depth {depth}", GREY, START)
            self.text(self.left, y + depth * self.level + 13, name, DARK, START)
        if self.walk.limit is not None and self.walk.limit < self.walk.depth:
            below = y + (self.walk.limit + 1) * self.level - 17
            self.lines.append(
                f'<path d="M{self.left} {below:g}H{right:g}" stroke="{GREY}" '
                'stroke-dasharray="2 5" stroke-width="2"/>'
            )
            self.text(self.left, below - 5, f"limit {self.walk.limit}", GREY, START)

    def panel(self, title: str, x: float, top: float) -> float:
        """What is known about the current node, in lines of text; returns where they end."""
        y = top + 12
        for text, weight in [(title, BOLD), *facts(self.walk, self.here, self.at, self.back)]:
            for line in wrap(text, int((self.form.panel - x) / LETTER)):
                self.text(x, y, line, DARK, f'{START} font-size="13" font-weight="{weight}"')
                y += LINE
        return y

    def text(self, x: float, y: float, text: str, colour: str, style: str = "") -> None:
        self.marks.append(
            f'<text x="{x:g}" y="{y:g}" fill="{colour}"{style}>{html.escape(text)}</text>'
        )


def fits(walk: Walk, *, narrow: bool = False) -> bool:
    """Whether the tree can be drawn whole, on a telephone with `narrow`."""
    return _slots(walk) * SLOT <= (NARROW.panel - NAMES if narrow else WIDEST)


def _slots(walk: Walk) -> float:
    """The width of the whole tree, in nodes side by side."""
    return walk.root.ends + STUB * walk.root.cuts


def draw_walks(
    walks: list[Walk], at: list[int], opened: Sequence[Mapping[int, bool]], *, narrow: bool = False
) -> str:
    """The walks one below the other, each at its step, as SVG text; for a telephone with `narrow`.

    `opened` says for each walk, by a node's number, whether its moves are drawn even where they are
    not on the path to the current node. The clicks are "go aN" and "fold aN" for node N of the
    first walk, "bN" of the second.
    """
    form = NARROW if narrow else ALONE if len(walks) == 1 else PAIR
    parts: list[str] = []
    top, width = 0.0, 0.0
    for walk, step, folds, key in zip(walks, at, opened, "ab", strict=False):
        view = _TreeView(walk, step, folds, key, form)
        seen = view.here.number if not view.back else view.here.number + view.here.size - 1
        drawing = view.picture(f"{walk.name}: {seen:,} of {len(walk.nodes):,} nodes")
        if top:
            parts.append(f'<path d="M0 {top}H2000" stroke="{GREY}"/>')
        parts.append(f'<g transform="translate(0 {top:g})">{drawing.svg}</g>')
        top, width = top + drawing.height, max(width, drawing.width)
    legend = [
        "△ MAX, ▽ MIN, □ the game is over, ◇ not expanded: its value is an estimate",
        "yellow with a ring: where the search is; thick line: where the value comes from",
    ]
    if any(walk.root.cuts for walk in walks):
        legend.append("grey, dashed, with a double bar: not visited; ≤ or ≥: only a bound is known")
    left = 0 if narrow else form.panel
    if narrow:
        legend = [line for words in legend for line in wrap(words, int(form.panel / LETTER))]
    for i, line in enumerate(legend):
        parts.append(
            f'<text x="{left}" y="{top + 14 + 16 * i}" font-size="12" fill="{DARK}" '
            f'text-anchor="start">{line}</text>'
        )
    height = top + 14 + 16 * len(legend)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{form.scale * width:g}" '
        f'height="{form.scale * height:g}" viewBox="0 0 {width:g} {height:g}">'
        '<rect width="100%" height="100%" fill="white"/>'
        f'<g font-family="sans-serif" font-size="12" fill="{DARK}" text-anchor="middle">'
        + "".join(parts)
        + "</g></svg>"
    )
