"""Published results to look at, or to compare your own with: node counts, searches and matches.

The data are next to this module. Node counts and searches are those of the reference agents: only
what follows from the rules on single positions is published, and no code. The matches were played
by our benchmarks. May import the probes and the games.
"""

import json
from ast import literal_eval
from pathlib import Path
from typing import Any, NamedTuple

from course.probes.positions import read_position
from course.probes.trees import BETWEEN, Node, node_texts, read_trees
from tictactoe.contract import Move, State
from tictactoe.nodes import Visit

FOLDER = Path(__file__).parent


def node_counts() -> dict[str, Any]:
    """How many nodes each search visits, the root included; a new dictionary at every call.

    `["minimax"]` and `["alpha_beta"]` map every board with at most two marks, as text, to its
    count. `["totals"]` maps "minimax", "alpha_beta", "type_a", "type_a_pruned" (Type A with
    alpha-beta in board order) and "type_a_plus" to nine numbers: the sum over all non-terminal
    boards with 0, 1, ... 8 marks.

    >>> node_counts()["minimax"]["_________"]
    549946
    """
    counts: dict[str, Any] = _read("node_counts")
    return counts


class DepthMatch(NamedTuple):
    """A match on Connect Four: which search played, its order of moves and its budget; and how deep
    it looked.

    `depth` is the last limit that it finished, its mean over the moves with up to 20 marks on the
    board. `score` is its share of the points, with a 95 % interval, against a search with 400 nodes
    a move, the centre first and neither table nor killers.
    """

    parts: str
    order: str
    budget: int
    depth: float
    games: int
    score: float
    low: float
    high: float


def depth_strength() -> list[DepthMatch]:
    """All matches of searches within a budget, played by `bench deepening`.

    Every opening was played from both sides, and a draw is half a point.
    """
    return [DepthMatch(**row) for row in _read("depth_strength")]


class MCTSMatch(NamedTuple):
    """A match: what played against `Greedy`, and its share of the points with a 95 % interval.

    `leaf` and `width` are the settings of `SequenceUCT`; None, where another agent played, and for
    `width` where it looks at all actions.
    """

    agent: str
    leaf: str | None
    width: int | None
    iterations: int | None
    games: int
    score: float
    low: float
    high: float

    @property
    def name(self) -> str:
        """What played, in words."""
        words = [self.agent]
        if self.leaf:
            words += [
                f"{self.leaf} leaf",
                "all actions" if self.width is None else f"the best {self.width}",
            ]
        if self.iterations:
            words.append(f"{self.iterations} iterations")
        return ", ".join(words)


def mcts_strength() -> list[MCTSMatch]:
    """All matches of Monte Carlo tree search against `Greedy`, played by `bench mcts`.

    Every deal was played from both seats, and a tie is half a point.
    """
    return [MCTSMatch(**row) for row in _read("mcts_strength")]


def reply_games() -> dict[str, list[float]]:
    """The points of each deal, by the cards that may reply: "possible" or "known".

    They are those of `LookAhead` against the same agent without a reply term, played by
    `bench lookahead`. A deal is played twice, once from each seat, so its points go from 0 to 2,
    where a tie is half a point.
    """
    games: dict[str, list[float]] = _read("reply_games")
    return games


class LearnedWeights(NamedTuple):
    """Weights learned from so many games of random play.

    The losses are log losses in nats, on the games that were learned from and on others. Against
    `Greedy`, every deal from both seats, the weights have the share `score` of the points, with a
    95 % interval.
    """

    features: str  # "lines" or "patterns"
    games: int
    loss_seen: float
    loss_held_out: float
    matches: int  # games against Greedy
    score: float
    low: float
    high: float


def weights_from_games() -> list[LearnedWeights]:
    """All weights that `bench weights` learned: how they fit, and how they play."""
    return [LearnedWeights(**row) for row in _read("weights_from_games")]


def reference_positions(agent: str) -> list[str]:
    """The positions for which a search of this agent is published, in words."""
    return [_words(case) for case in _read("reference_searches") if case["agent"] == agent]


def reference_search(agent: str, state: State, **options: Any) -> Visit:
    """The published search tree from `state` of the agent with this name and these options.

    For the tree explorer: `explore(AlphaBeta(), board, against=reference_search("AlphaBeta",
    board))` can jump to the first node at which your own search differs. Its nodes have moves and
    values, but no alpha and beta. Options that you leave out are the agent's own.

    Raises ValueError if it is not published; the message lists what is.
    """
    for case in _read("reference_searches"):
        if (
            case["agent"] == agent
            and read_position(case["on"]) == state
            and options.items() <= case["options"].items()
        ):
            (root,) = read_trees(case["search"])
            return _visit(root, state, None, 0)
    known = "; ".join(reference_positions(agent)) or "none"
    raise ValueError(f"no search of {agent} from\n{state}\nis published; there are: {known}")


def search_text(root: Visit) -> str:
    """A search tree as text: see `course.probes.trees`."""
    return BETWEEN.join(node_texts([root]))


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


def _read(name: str) -> Any:
    return json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))
