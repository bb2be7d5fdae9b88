"""Published results to compare with yours: node counts, searches and matches.

The data are next to this module. Node counts and searches are those of the reference agents; for
these, only results in single positions are published, not code. The matches were played by the
benchmarks.

May import `course.checks` and the games.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from common.syntax import read_literal
from course.checks.positions import read_position
from course.checks.trees import SEPARATOR, Node, node_texts, read_trees
from tictactoe.contract import Move, State
from tictactoe.nodes import Visit

FOLDER = Path(__file__).parent


def node_counts() -> dict[str, Any]:
    """The number of nodes that each search visits, including the root, as a new dictionary.

    `["minimax"]` and `["alpha_beta"]` map every board with at most two marks, as text, to its
    count. `["totals"]` maps "minimax", "alpha_beta", "type_a", "type_a_pruned" (Type A with
    alpha-beta in board order) and "type_a_plus" to nine numbers: the sums over all non-terminal
    boards with 0, 1, ... 8 marks.

    >>> node_counts()["minimax"]["_________"]
    549946
    """
    counts: dict[str, Any] = _read("node_counts")
    return counts


class DepthMatch(NamedTuple):
    """A match in Connect Four: the search, its move order and budget, its depth and its score.

    `depth` is the last depth limit that the search completed, averaged over the moves with up to 20
    marks on the board. `score` is its share of the points, with a 95 % interval, against a search
    with 400 nodes per move that tries the centre first and uses neither a table nor killer moves.
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
    """All matches between searches with a budget, as played by `bench deepening`.

    Every opening was played from both sides, and a draw counts as half a point.
    """
    return [DepthMatch(**row) for row in _read("depth_strength")]


class MCTSMatch(NamedTuple):
    """A match of an agent against `Greedy`, and the agent's share of the points with a 95 %
    interval.

    `leaf` and `width` are the settings of `SequenceUCT`. They are None for other agents; `width` is
    also None if all actions are considered.
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
        """The agent and its settings, in words."""
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

    Every deal was played from both seats, and a tie counts as half a point.
    """
    return [MCTSMatch(**row) for row in _read("mcts_strength")]


def reply_games() -> dict[str, list[float]]:
    """The points of `LookAhead` in each deal, keyed by the cards considered in replies: "possible"
    or "known".

    The opponent is the same agent without a reply term; `bench lookahead` played the games. Each
    deal is played twice, once from each seat, so its points are between 0 and 2; a tie counts as
    half a point.
    """
    games: dict[str, list[float]] = _read("reply_games")
    return games


class TunedLookAhead(NamedTuple):
    """How self-play changed the numbers of `LookAhead` with known cards, and how strong they are.

    `numbers` contains each number before and after `training_games` games. `points` contains, for
    three matches on other deals, the points in each deal of the first agent in the match's name.
    """

    training_games: int
    numbers: dict[str, tuple[float, float]]
    points: dict[str, list[float]]


def tuned_lookahead() -> TunedLookAhead:
    """The numbers tuned by `research/tuning.py`, and the matches that it played.

    A deal is played twice, once from each seat, so its points are between 0 and 2; a tie counts as
    half a point.
    """
    table = _read("tuned_lookahead")
    numbers = {name: (before, after) for name, (before, after) in table["numbers"].items()}
    return TunedLookAhead(table["training_games"], numbers, table["points"])


class LearnedWeights(NamedTuple):
    """Weights learned from a number of random games.

    The losses are log losses in nats, on the training games and on held-out games. Against
    `Greedy`, with every deal played from both seats, the weights win the share `score` of the
    points, with a 95 % interval.
    """

    features: str  # "lines" or "patterns"
    games: int
    loss_seen: float
    loss_held_out: float
    matches: int  # number of games against Greedy
    score: float
    low: float
    high: float


def weights_from_games() -> list[LearnedWeights]:
    """All weights that `bench weights` learned, with their losses and scores."""
    return [LearnedWeights(**row) for row in _read("weights_from_games")]


class RicherState(NamedTuple):
    """A learner of study 8 with additional information about cards, and its share of the points.

    `added` is the information that its state contains in addition. Every deal was played from both
    seats, and a tie counts as half a point; the interval is a 95 % interval. For a table, `entries` is
    its mean size, and `once` the share of the entries that were updated only once.
    """

    name: str  # "table_hand_plain"
    learner: str  # "table" or "weights"
    added: str
    against: str
    games: int
    score: float
    low: float
    high: float
    entries: int | None
    once: float | None


def richer_states() -> list[RicherState]:
    """All matches that `research/richer_state.py` played."""
    return [RicherState(**row) for row in _read("richer_state")]


def reference_positions(agent: str) -> list[str]:
    """The positions with a published search of this agent, in words."""
    return [_words(case) for case in _read("reference_searches") if case["agent"] == agent]


def reference_search(agent: str, state: State, **options: Any) -> Visit:
    """The published search tree from `state` of the agent with this name and these options.

    With it, the tree explorer can jump to the first node at which your own search differs:
    `explore(AlphaBeta(), board, against=reference_search("AlphaBeta", board))`. Its nodes have
    moves and values, but no alpha and beta. Omitted options have the agent's default values.

    Raises ValueError if there is none; the message lists the published searches.
    """
    for case in _read("reference_searches"):
        if (
            case["agent"] == agent
            and read_position(case["on"]) == state
            and options.items() <= case["options"].items()
        ):
            (root,) = read_trees(case["search"])
            return _visit(root, state, None, 0)
    published = "; ".join(reference_positions(agent)) or "none"
    raise ValueError(f"no search of {agent} from\n{state}\nis published; there are: {published}")


def search_text(root: Visit) -> str:
    """A search tree as text: see `course.checks.trees`."""
    return SEPARATOR.join(node_texts([root]))


def _visit(node: Node, state: State, move: Move, depth: int) -> Visit:
    visit = Visit(state, move, depth, {}, read_literal(node.value))
    by_name = {str(move): move for move in state.legal_moves()}
    for child in node.children:
        move = by_name[child.move]
        visit.children.append(_visit(child, state.after(move), move, depth + 1))
    return visit


def _words(case: dict[str, Any]) -> str:
    options = ", ".join(f"{name} {value}" for name, value in case["options"].items())
    return f"{case['on']} ({options})" if options else case["on"]


def _read(name: str) -> Any:
    return json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))
