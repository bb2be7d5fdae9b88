"""A recorded search as text: facts about a node, a sentence about a step, and a table."""

import html
from itertools import pairwise

from tictactoe.explorables.explorer.walk import Node, Step, Walk, number

SIGNS = {"MAX": "▲", "MIN": "▼"}
PLAIN, BOLD = 400, 700  # font weights
MAX_LISTED = 12  # maximum number of moves to list
MAX_ROWS = 200  # nodes in a table


def after(node: Node) -> str:
    """The path to a node: "after 4, 5", or "the root"."""
    moves = [str(step.move) for step in node.line[1:]]
    return f"after {', '.join(moves)}" if moves else "the root"


def join_limited(words: list[str]) -> str:
    """The words separated by commas, without the last ones if there are too many."""
    return ", ".join(words[:MAX_LISTED]) + (
        f" and {len(words) - MAX_LISTED} more" * (len(words) > MAX_LISTED)
    )


def facts(walk: Walk, node: Node, at: int, is_leaving: bool) -> list[tuple[str, int]]:
    """The facts known about a node at a step: lines of text, each with a font weight."""
    visit = node.visit
    lines = [(f"Node {node.number:,}, depth {node.depth}, {after(node)}", PLAIN)]
    if node.state.is_terminal():
        lines.append(("The game is over", PLAIN))
    else:
        lines.append((f"{role(walk, node)}: {node.state.to_move} to move", PLAIN))
    if node.pruned:
        lines += [
            (
                f"alpha {number(visit.bounds['alpha'])}, beta {number(visit.bounds['beta'])} "
                "on entry",
                PLAIN,
            )
        ]
    if is_leaving or not node.children:
        lines.append((f"Value {node.value()}", BOLD))
    else:
        lines.append(("Value not known yet", BOLD))
    tried = [f"{child.move} ({child.value()})" for child in node.children if child.left <= at]
    if tried:
        lines.append((f"Tried: {join_limited(tried)}", PLAIN))
    if is_leaving and node.unvisited:
        lines.append(
            (
                f"{'Cut' if node.pruned else 'Not visited'}: "
                f"{join_limited(list(map(str, node.unvisited)))}",
                PLAIN,
            )
        )
    if node.parent:
        lines.append(("The path here (best so far):", BOLD))
    for above, step in pairwise(node.line):
        best = walk.best(above, at)
        so_far = f" ({best})" if best else ""
        lines.append(
            (f"{SIGNS[role(walk, above)]} depth {above.depth}: move {step.move}{so_far}", PLAIN)
        )
    return lines


def role(walk: Walk, node: Node) -> str:
    """The player to move at the node: MAX or MIN."""
    return "MAX" if walk.is_max(node) else "MIN"


def sentence(walk: Walk, step: Step) -> str:
    """What happens at a step, in one sentence."""
    node, is_leaving = step
    text = f"Node {node.number:,} of {len(walk.nodes):,}, depth {node.depth}, {after(node)}: "
    if node.state.is_terminal() and not node.children:
        return f"{text}the game is over, {node.value()}."
    if not node.children:
        return f"{text}not expanded, estimated at {node.value()}."
    mover = f"{role(walk, node)}, {node.state.to_move} to move"
    if is_leaving:
        source = f" (from move {node.source.move})" if node.source else ""
        return (
            f"Back at {text[0].lower()}{text[1:]}{mover}, returns {node.value()}{source}."
            + _cut_reason(walk, node)
        )
    window = f", window {node.window()}" if node.pruned else ""
    beyond = (
        ", searched on at the limit or beyond it"
        if (walk.limit is not None and node.depth >= walk.limit)
        else ""
    )
    return f"{text}{mover}{window}{beyond}."


def _cut_reason(walk: Walk, node: Node) -> str:
    """The moves that were not visited, and the reason if the window shows one."""
    if not node.unvisited:
        return ""
    moves = join_limited(list(map(str, node.unvisited)))
    if not node.pruned:
        return f" Not visited: {moves}."
    value, name = node.visit.value, "beta" if walk.is_max(node) else "alpha"
    bound, words = node.visit.bounds[name], "at least" if name == "beta" else "at most"
    try:
        reached = value >= bound if name == "beta" else value <= bound
    except TypeError:  # the search failed here, or the values are not numbers
        return f" Not visited: {moves}."
    verb = "is" if reached else "is not"
    return f" Cut: {moves}; {number(value)} {verb} {words} {name} {number(bound)}."


def summary(walk: Walk) -> str:
    """A search in words: its nodes, its cuts, its result."""
    root = walk.root
    moves = [f"{child.move} ({child.value()})" for child in root.children]
    moves += [f"{move} (not visited)" for move in root.unvisited]
    return (
        f"Search tree of {walk.name}. Nodes visited: {root.size:,}. Moves not visited: "
        f"{root.cuts:,}. MAX is {root.state.to_move}. Root: {root.value()}"
        + (f"; moves: {join_limited(moves)}." if moves else ".")
    )


def table(walk: Walk) -> str:
    """The search as an expandable HTML table, with a row for each of its first nodes."""
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in _row(walk, node))}</tr>"
        for node in walk.nodes[:MAX_ROWS]
    )
    more = len(walk.nodes) - MAX_ROWS
    end = f"<p>… and {more:,} more nodes.</p>" if more > 0 else ""
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("node", "depth", "path", "to move", "window", "value", "not visited")
    )
    return (
        f"<details><summary>{html.escape(walk.name)}, node by node</summary><table><thead><tr>"
        f"{heads}</tr></thead><tbody>{rows}</tbody></table>{end}</details>"
    )


def _row(walk: Walk, node: Node) -> tuple[object, ...]:
    who = "terminal" if node.state.is_terminal() else role(walk, node)
    return (
        node.number,
        node.depth,
        after(node),
        who,
        node.window(),
        node.value(),
        join_limited(list(map(str, node.unvisited))),
    )
