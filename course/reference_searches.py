"""Published searches: the nodes that a correct search visits on small public positions, in order.

For the tree explorer: `explore(AlphaBeta(), board, against=reference_search("AlphaBeta", board))`
can jump to the first node at which your own search differs. As with the node counts, only what
follows from the rules on single positions is published, and no code.
"""

import json
from ast import literal_eval
from functools import cache
from pathlib import Path
from typing import Any

from course.probes.positions import read_position
from course.probes.trees import BETWEEN, Node, node_texts, read_trees
from tictactoe.contract import Move, State
from tictactoe.nodes import Visit


def reference_positions(agent: str) -> list[str]:
    """The positions for which a search of this agent is published, in words."""
    return [_words(case) for case in _cases() if case["agent"] == agent]


def reference_search(agent: str, state: State, **options: Any) -> Visit:
    """The published search tree from `state` of the agent with this name and these options.

    Its nodes have moves and values, but no alpha and beta. Options that you leave out are the
    agent's own.

    Raises ValueError if it is not published; the message lists what is.
    """
    for case in _cases():
        if (
            case["agent"] == agent
            and read_position(case["on"]) == state
            and options.items() <= case["options"].items()
        ):
            return _tree(state, case["search"])
    known = "; ".join(reference_positions(agent)) or "none"
    raise ValueError(f"no search of {agent} from\n{state}\nis published; there are: {known}")


def as_text(root: Visit) -> str:
    """A tree as text: see `course.probes.trees`."""
    return BETWEEN.join(node_texts([root]))


def _tree(state: State, text: str) -> Visit:
    (root,) = read_trees(text)
    return _visit(root, state, None, 0)


def _visit(node: Node, state: State, move: Move, depth: int) -> Visit:
    visit = Visit(state, move, depth, {}, literal_eval(node.value))
    by_name = {str(move): move for move in state.legal_moves()}
    for child in node.children:
        taken = by_name[child.move]
        visit.children.append(_visit(child, state.after(taken), taken, depth + 1))
    return visit


def _words(case: dict[str, Any]) -> str:
    options = ", ".join(f"{name} {value}" for name, value in case["options"].items())
    return f"{case['on']} ({options})" if options else case["on"]


@cache
def _cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return cases
