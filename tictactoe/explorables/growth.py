"""Shows a Monte Carlo search tree as it grows, iteration by iteration.

    from tictactoe.explorables.growth import growing_tree
    growing_tree(UCT(200, seed=1), Board("x___o___x"))

The search is run once and recorded after every iteration; the pictures are drawn from the record.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

from tictactoe.boards.rendering import describe_state, draw_state
from tictactoe.contract import State
from tictactoe.explorables.explorable import Explorable, View
from tictactoe.explorables.svg_canvas import DARK, GREY, label, svg_document, translated
from tictactoe.games.pictures import BLUE, ORANGE

Path = tuple[Hashable, ...]  # the moves that lead to a node

DEPTH = 2  # maximum depth of nodes by default
COMPACT_DEPTH = 1  # on a phone
SLOT, LEVEL, RADIUS = 28, 112, 12  # pixels: a leaf's width, the distance of depths, a node's radius
MIN_WIDTH, MIN_COMPACT_WIDTH = 640, 270  # minimum widths of pictures
BOARD = 92  # a board's height
TOP, BELOW_BOARDS = 32, 20 + BOARD + 20  # height of the root's centre, and below boards


class NodeSnapshot(NamedTuple):
    """A node after one iteration; `below` is the number of nodes under it."""

    mover: Any
    visits: int
    total: float
    below: int


class Iteration(NamedTuple):
    """An iteration: the nodes after it, by path, the path that it took, and its game's final state."""

    nodes: dict[Path, NodeSnapshot]
    path: Path
    end: State


class TreeSearch(Protocol):
    """A search that calls `backup` after every simulated game, as in study 9."""

    def search(self, position: Any) -> Any:
        """The root of a new tree."""

    # Adds a simulated game to a node and to those above it; `record_growth` wraps the method.
    backup: Callable[[Any, Any], None]


def record_growth(agent: TreeSearch, position: Any, depth: int = DEPTH) -> list[Iteration]:
    """Run the search and record the tree down to a depth after each iteration.

    Raises ValueError if the search has not called its `backup`.
    """
    notes: list[Iteration] = []
    backup = agent.backup

    def backup_and_record(node: Any, end: Any) -> None:
        backup(node, end)
        path = []
        while node.parent is not None:
            path.append(node.move)
            node = node.parent
        nodes: dict[Path, NodeSnapshot] = {}
        _record_nodes(node, (), depth, nodes)
        notes.append(Iteration(nodes, tuple(reversed(path)), end))

    agent.backup = backup_and_record
    try:
        agent.search(position)
    finally:
        del agent.backup
    if not notes:
        raise ValueError(
            "the search ended without calling self.backup, so there is no iteration to show"
        )
    return notes


def _record_nodes(node: Any, path: Path, depth: int, nodes: dict[Path, NodeSnapshot]) -> int:
    """Record a node and the nodes below it; returns their number."""
    below = sum(
        _record_nodes(child, (*path, move), depth, nodes) for move, child in node.children.items()
    )
    if len(path) <= depth:
        nodes[path] = NodeSnapshot(node.mover, node.visits, node.total, below)
    return below + 1


def growing_tree(agent: TreeSearch, position: State, depth: int = DEPTH) -> Explorable:
    """Show the tree of a search after each of its iterations, down to a depth.

    A node shows the number of its visits and, below it, the mean reward of the player whose move
    led to it. Step 0 shows the root alone; nodes of later iterations are pale and dotted.
    Initially, as many iterations are shown as there are moves. On a phone, only one depth is shown.
    The agent's `search` is called once.

    Raises ValueError if the search has not called its `backup`.
    """
    notes = record_growth(agent, position, depth)
    start = Iteration({(): NodeSnapshot(None, 0, 0.0, 0)}, (), position)
    frames = [start, *notes]
    forms = [(depth, *_node_positions(notes[-1].nodes, depth, MIN_WIDTH))]
    if depth > COMPACT_DEPTH:
        forms.append(
            (COMPACT_DEPTH, *_node_positions(notes[-1].nodes, COMPACT_DEPTH, MIN_COMPACT_WIDTH))
        )

    def draw(step: int, _settings: object) -> View:
        drawn, *compact = [
            _Drawing(frames, step, places, width, position, deep) for deep, places, width in forms
        ]
        return View(drawn.svg, drawn.alt, drawn.status, *(form.svg for form in compact))

    return Explorable(draw, len(notes), step=min(len(position.legal_moves()), len(notes)))


def _node_positions(
    nodes: dict[Path, NodeSnapshot], depth: int, min_width: float
) -> tuple[dict[Path, float], float]:
    """The horizontal position of each node of the finished tree, and the picture's width."""
    nodes = {path: node for path, node in nodes.items() if len(path) <= depth}
    leaves = [
        path
        for path in sorted(nodes, key=_path_sort_key)
        if not any(other[:-1] == path for other in nodes if other)
    ]
    slot = max(SLOT, min_width / len(leaves))
    places = {path: slot * (number + 0.5) for number, path in enumerate(leaves)}
    for path in sorted(nodes, key=len, reverse=True):
        if path not in places:
            across = [places[child] for child in nodes if child and child[:-1] == path]
            places[path] = (min(across) + max(across)) / 2
    return places, slot * len(leaves)


def _path_sort_key(path: Path) -> tuple[tuple[int, float, str], ...]:
    """A sort key that orders nodes from left to right: numbers by value, other moves by their text."""
    return tuple(
        (0, move, "") if isinstance(move, (int, float)) else (1, 0, str(move)) for move in path
    )


class _Drawing:
    """The tree after one iteration."""

    def __init__(
        self,
        frames: list[Iteration],
        step: int,
        places: dict[Path, float],
        width: float,
        position: State,
        depth: int,
    ) -> None:
        self.now, self.step, self.last = frames[step], step, len(frames) - 1
        self.before = frames[max(step - 1, 0)].nodes
        visible = {path: node for path, node in self.now.nodes.items() if len(path) <= depth}
        self.places, self.root, self.depth, self.width = places, position, depth, width
        self.top = TOP if width >= MIN_WIDTH else BELOW_BOARDS
        self.taken = {self.now.path[:length] for length in range(len(self.now.path) + 1)}
        children = {path: node.visits for path, node in self.now.nodes.items() if len(path) == 1}
        self.most = max(children.values(), default=0)
        self.favourites = [path for path, visits in children.items() if visits == self.most]
        to_come = [self.to_come(path) for path in places if path not in visible]
        lines = [self.edge(path) for path in visible if path]
        nodes = [self.node(path, node) for path, node in visible.items()]
        self.svg = svg_document(
            width, self.top + LEVEL * depth + 50, [*to_come, *self.boards(), *lines, *nodes]
        )
        self.status = self.sentence()
        self.alt = f"Search tree. {self.status} {self.table()}"

    def boards(self) -> list[str]:
        """The root's position, and the final position of this iteration's random game."""
        style = f'font-size="12" fill="{GREY}"'
        parts = [
            label(4, 14, f"{self.root.to_move} to move", style),
            translated(4, 20, draw_state(self.root, height=BOARD).svg),
        ]
        if self.step:
            end = draw_state(self.now.end, height=BOARD)
            left = self.width - end.width - 4
            parts += [label(left, 14, "the game's end", style), translated(left, 20, end.svg)]
        return parts

    def at(self, path: Path) -> tuple[float, float]:
        return self.places[path], self.top + LEVEL * len(path)

    def to_come(self, path: Path) -> str:
        """A placeholder for a later node, so that the picture has its final shape from the start."""
        (x, y), (to_x, to_y) = self.at(path[:-1]), self.at(path)
        return (
            f'<g fill="none" stroke="#bbb" stroke-dasharray="2 3">'
            f'<path d="M{x:g} {y + RADIUS:g}L{to_x:g} {to_y - RADIUS:g}"/>'
            f'<circle cx="{to_x:g}" cy="{to_y:g}" r="{RADIUS}"/></g>'
        )

    def edge(self, path: Path) -> str:
        """A line to a node, labelled with its move; it is thick on the path of this iteration."""
        (x, y), (to_x, to_y) = self.at(path[:-1]), self.at(path)
        is_taken = path in self.taken
        at_x, at_y = x + 0.66 * (to_x - x), y + 0.66 * (to_y - y)
        style = (
            f'stroke="{ORANGE}" stroke-width="5"'
            if is_taken
            else 'stroke="#999" stroke-width="1.2"'
        )
        return (
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" {style}/>'
            f'<rect x="{at_x - 8:g}" y="{at_y - 8:g}" width="16" height="15" fill="white"/>'
            + label(
                at_x,
                at_y + 4,
                path[-1],
                f'text-anchor="middle" font-size="12" '
                f'font-weight="{700 if is_taken else 400}" fill="{DARK}"',
            )
        )

    def node(self, path: Path, node: NodeSnapshot) -> str:
        """A node with its visits, its mean and the number of nodes below it; a new node is dashed."""
        x, y = self.at(path)
        is_new = path not in self.before and self.step
        is_here = ' data-here="true"' if path == self.now.path[: self.depth] else ""
        edge = (
            f'stroke="{ORANGE if path in self.taken and self.step else BLUE}" '
            f'stroke-width="{3.5 if path in self.taken else 1.5}"'
            + (' stroke-dasharray="4 2.5"' if is_new else "")
        )
        ground = "#e2e2e2" if path in self.favourites else "white"
        shape = (
            f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}" fill="{ground}" {edge}{is_here}/>'
            + label(
                x,
                y + 4,
                node.visits,
                f'text-anchor="middle" font-size="'
                f'{12 if node.visits < 100 else 10.8}" font-weight="700"',
            )
        )
        if path and node.visits:
            shape += (
                f'<rect x="{x - 12:g}" y="{y + RADIUS + 3:g}" width="24" height="12" fill="white"/>'
            )
            shape += label(
                x,
                y + RADIUS + 13,
                f"{node.total / node.visits:.2f}",
                'text-anchor="middle" font-size="11"',
            )
        if len(path) == self.depth and node.below:
            shape += label(
                x,
                y + RADIUS + 28,
                f"+{node.below}",
                f'text-anchor="middle" font-size="11" fill="{GREY}"',
            )
        return shape

    def sentence(self) -> str:
        """The iteration in words."""
        if not self.step:
            return (
                f"0 of {self.last}: the root alone. In a node: visits; below it: the mean "
                "reward of the player whose move led there."
            )
        path = " then ".join(map(str, self.now.path)) or "the root itself"
        *others, last = [str(path[0]) for path in sorted(self.favourites, key=_path_sort_key)] or [
            "none"
        ]
        most = (
            f"Moves {', '.join(others)} and {last} have the most visits so far, {self.most} each."
            if others
            else f"Move {last} has the most visits so far: {self.most}."
        )
        return (
            f"{self.step} of {self.last}: {path}; then a random game: "
            f"{_result_text(self.now.end)}. {most}"
        )

    def table(self) -> str:
        """Every drawn node in words."""
        order = sorted(self.now.nodes, key=_path_sort_key)
        return ". ".join(_node_text(path, self.now.nodes[path]) for path in order) + "."


def _node_text(path: Path, node: NodeSnapshot) -> str:
    mean = f", mean {node.total / node.visits:.2f}" if path and node.visits else ""
    deeper = f", nodes below: {node.below}" if node.below else ""
    return f"{' '.join(map(str, path)) or 'Root'}: {node.visits} visits{mean}{deeper}"


def _result_text(end: State) -> str:
    """The result of a finished game in words."""
    if not end.is_terminal():
        return f"stopped at {describe_state(end)}"
    worth = end.utility(end.to_move)
    if not worth:
        return "a draw"
    winner = getattr(end, "winner", None)
    return f"{winner} wins" if winner is not None else "decided"
