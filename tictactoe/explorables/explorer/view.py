"""A recorded search at one of its steps, as SVG: the tree so far and the current node.

Small trees are drawn in full. In larger ones, only the path to the current node and the nodes that
the reader has opened are expanded; a closed node shows how many nodes are below it. Every node can
be clicked.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from tictactoe.boards.rendering import DARK, Drawing, draw_state
from tictactoe.contract import Move
from tictactoe.explorables.explorer.walk import Node, Walk
from tictactoe.explorables.explorer.words import BOLD, SIGNS, after, facts
from tictactoe.explorables.tree import MINUS, START
from tictactoe.games.pictures import BLUE, ORANGE

HERE_SIGN = ' data-here="true"'  # the element to which the page scrolls sideways
GREY, HERE, PLAIN = "#666", "#ffe08a", "white"  # secondary text; the current node; other nodes
LINE, LETTER = 18, 6.5  # pixels: height of a line of text, width of a letter
GAP, WIDE_BOARD = 10, 700  # space around the parts; a wider board is drawn above the tree
NAMES = 62  # width of the levels' names
SLOT, MAX_SLOT, WINDOW = (
    40,
    76,
    50,
)  # smallest and largest width of a node; width of one with a window
STUB, LEVEL = 0.58, 64  # width of a move not visited, in nodes; height of a level in pixels
NEAR = 24  # largest distance of a move's text from its node, however long the line is
MAX_TREE_WIDTH, MIN_WIDTH = 19 * SLOT, 420  # of a tree drawn in full, and of the legend
MIN_TEXT_WIDTH = 150  # width of the text next to a board
TREE_WIDTH = 600  # the nodes of narrower trees are widened
MAX_MOVES = 13  # moves drawn at a node; if there are more, only those near the current one


class TreeLayout(NamedTuple):
    """The layout of a picture: the board of the current node, its text and the tree.

    `panel` is the panel's width and `board` the board's height. With `beside`, the text is to the
    right of the board. With `compact`, for phones, the panel is below the tree.
    """

    panel: float
    board: float
    beside: bool = False
    compact: bool = False
    scale: float = 1


ALONE = TreeLayout(222, 150)
PAIR = TreeLayout(352, 150, beside=True, scale=0.76)  # two searches fit a laptop's window
COMPACT = TreeLayout(300, 110, beside=True, compact=True)

Point = tuple[float, float]


@dataclass
class _Folded:
    """Moves of a node that are not drawn because there are too many."""

    items: list[Node | Move]


class _TreeView:
    """Draws one walk at one step; `key` distinguishes clicks on several walks in one picture."""

    def __init__(
        self, walk: Walk, at: int, opened: Mapping[int, bool], key: str, form: TreeLayout
    ) -> None:
        self.walk, self.at, self.opened, self.key, self.form = walk, at, opened, key, form
        self.here, self.back = walk.steps[at]
        self.way = set(self.here.line)
        self.left = 0 if form.compact else form.panel  # left end of the levels' names
        width = form.panel - NAMES if form.compact else TREE_WIDTH
        self.slot = min(max(width / _slots(walk), SLOT), MAX_SLOT)
        self.stub_slot = STUB * self.slot
        self.windows = walk.root.pruned and self.slot >= WINDOW
        self.small = 11 if form.scale == 1 else 12  # pixels; more if the picture is scaled down
        self.level = LEVEL + 15 * self.windows
        self.lines: list[str] = []  # SVG elements; lines are drawn below the marks
        self.marks: list[str] = []

    def picture(self, title: str) -> Drawing:
        """The current position, the known facts about its node, and the tree."""
        last = self.here.move if self.here.parent else None
        form = self.form
        widest = form.panel if form.compact else WIDE_BOARD
        board = draw_state(self.here.state, None, last, form.board, widest, compact=form.compact)
        wide = board.width > 1.5 * board.height
        top = board.height + 2 * GAP if wide and not form.compact else GAP
        right = self.place(self.walk.root, self.left + NAMES, top + 14)[1]
        self.name_levels(top + 14, right)
        tree = top + 14 + (self.walk.depth + 1) * self.level - LINE
        y = tree + GAP if form.compact else GAP
        self.marks.append(f'<g transform="translate({GAP} {y:g})">{board.svg}</g>')
        x = board.width + 2 * GAP
        if form.beside and not wide and form.panel - x >= MIN_TEXT_WIDTH:
            below = max(self.panel(title, x, y), y + board.height)
        else:
            below = self.panel(title, GAP, y + board.height + GAP)
        least = form.panel if form.compact else self.left + NAMES + MIN_WIDTH
        width = max(right, board.width if wide else 0, least) + 2 * GAP * (not form.compact)
        return Drawing("".join(self.lines + self.marks), width, max(below, tree) + GAP)

    def seen(self, node: Node) -> bool:
        """Whether the search has reached the node."""
        return node.entered <= self.at

    def done(self, node: Node) -> bool:
        """Whether the node already has its value."""
        return node.left <= self.at

    def begun(self, folded: _Folded) -> bool:
        """Whether the search has reached any of the folded moves."""
        return any(isinstance(item, Node) and self.seen(item) for item in folded.items)

    def open(self, node: Node) -> bool:
        """Whether the node's moves are drawn."""
        return bool(node.children) and (node in self.way or self.opened[node.number])

    def place(self, node: Node, left: float, y: float) -> tuple[float, float]:
        """Draw a subtree to the right of `left`; returns its root's centre and its right end."""
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
        """A node's successors, then the moves not visited, with distant ones folded if necessary."""
        items = [*node.children, *node.unvisited]
        if len(items) <= MAX_MOVES:
            return items
        middle = next(
            (i for i, child in enumerate(node.children) if child in self.way),
            node.children.index(node.source) if node.source else 0,
        )
        first = min(max(middle - MAX_MOVES // 2, 0), len(items) - MAX_MOVES)
        before, after = items[:first], items[first + MAX_MOVES :]
        return [
            *([_Folded(before)] if before else []),
            *items[first : first + MAX_MOVES],
            *([_Folded(after)] if after else []),
        ]

    def edge(self, start: Point, end: Point, move: Move, width: float) -> None:
        (x, y), (to_x, to_y) = start, end
        self.lines.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{DARK}" stroke-width="{width}"/>'
        )
        back = min(0.28, NEAR / max(abs(to_x - x), 1))  # share of the line
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
        """Draw a triangle up (MAX) or down (MIN), a square (terminal) or a diamond (estimated)."""
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
        """A button that opens or closes a subtree: a sign at the node, or a number below it."""
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
        """Draw the depths with the players to move, and the line of the agent's depth limit."""
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
        """Draw the text about the current node; returns the position of its end."""
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


def fits(walk: Walk, *, compact: bool = False) -> bool:
    """Whether the tree can be drawn in full; `compact` is for phones."""
    return _slots(walk) * SLOT <= (COMPACT.panel - NAMES if compact else MAX_TREE_WIDTH)


def _slots(walk: Walk) -> float:
    """The width of the whole tree, as a number of nodes side by side."""
    return walk.root.ends + STUB * walk.root.cuts


def draw_walks(
    walks: list[Walk], at: list[int], opened: Sequence[Mapping[int, bool]], *, compact: bool = False
) -> str:
    """The walks one below the other, each at its step, as SVG text; `compact` is for phones.

    `opened` contains a mapping for each walk: by node number, whether a node's moves are drawn even
    if the node is not on the path to the current node. Clicks send "go aN" and "fold aN" for node N
    of the first walk, and "bN" for the second.
    """
    form = COMPACT if compact else ALONE if len(walks) == 1 else PAIR
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
        "△ MAX, ▽ MIN, □ the game is over, ◇ not expanded, with an estimated value",
        "yellow with a ring: the current node; thick line: the source of the value",
    ]
    if any(walk.root.cuts for walk in walks):
        legend.append("grey, dashed, with a double bar: not visited; ≤ or ≥: only a bound is known")
    left = 0 if compact else form.panel
    if compact:
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
