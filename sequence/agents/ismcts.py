"""ISMCTS (information-set Monte Carlo tree search), the opponent that students try to beat.

This is single-observer ISMCTS (Cowling, Powley and Whitehouse 2012) with the selection rule of UCT
(Kocsis and Szepesvári 2006): there is one tree of actions, which all players see, and each
iteration descends it in another full state that is consistent with the observation. A thousand
actions may be legal, and there is time for only a few hundred iterations. Four techniques help:

- a node considers only its most promising actions, few at first and more with every visit
  (progressive unpruning, Chaslot et al. 2008);
- simulated games are not random, but played by a fast player that takes the best immediate value;
- they are cut off after a few actions and evaluated by the lines on the board and the cards in the
  hands (`sequence.agents.evaluation`);
- the actions at the root are tried in the same sampled states in the same order, so that none looks
  better than another by the luck of the cards (common random numbers).
"""

import math
import random
import time

from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action, chances, ranked
from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.engine.state import State

SECONDS = 0.2  # the default budget
MARGIN = 0.15  # the share of the budget that is kept in reserve
EXPLORATION = 0.15  # the constant of UCB1; small, because win rates differ by a few per cent
MAX_PLAYS = 8  # maximum number of plays that a node considers, each with every card to take
# How many actions a node considers, as multiples of the square root of its visits. Ranking the
# actions takes as long as a simulated game; it is done once at the root, but in every iteration at
# the nodes below.
ROOT_WIDENING, WIDENING = 1.0, 0.2
HORIZON = 4  # number of actions in a simulated game


class Node:
    """An action in the tree, with statistics from the view of the side that plays it."""

    __slots__ = ("available", "children", "reward", "side", "visits")

    def __init__(self, side: int | None = None) -> None:
        self.side = side  # None at the root
        self.children: dict[Action, Node] = {}
        self.visits = 0
        self.available = 1  # the number of iterations in which the action was available
        self.reward = 0.0  # the sum of the rewards of all visits, each from 0 to 1

    def bound(self) -> float:
        """UCB1, with the availability count of the child instead of its parent's visits."""
        return self.reward / self.visits + EXPLORATION * math.sqrt(
            math.log(self.available) / self.visits
        )


class ISMCTS:
    """Searches a tree over sampled states, with a budget of iterations or seconds per action.

    After `choose`, `iterations_done` is the number of iterations. With a budget of iterations, the
    same seed gives the same actions.
    """

    widening = WIDENING

    def __init__(
        self, iterations: int | None = None, seconds: float | None = None, seed: int | None = None
    ) -> None:
        """Set the budget, in iterations or in seconds (default: 0.2 seconds).

        Raises ValueError if both are given, or if the budget is not positive, or if `iterations` is
        not a whole number.
        """
        if iterations is not None and seconds is not None:
            raise ValueError("the budget is a number of iterations or of seconds, not both")
        if iterations is not None and (type(iterations) is not int or iterations < 1):
            raise ValueError(f"iterations must be a whole number from 1, not {iterations!r}")
        if seconds is not None and not (type(seconds) in (int, float) and 0 < seconds < math.inf):
            raise ValueError(f"seconds must be a finite number above 0, not {seconds!r}")
        self.iterations = iterations
        self.seconds = SECONDS if iterations is None and seconds is None else seconds
        self.iterations_done = 0
        self.reset(seed)

    def reset(self, seed: int | None) -> None:
        """Restart the sequence of random numbers; `play` calls this before every game."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """The action with the most visits; there is no search if only one is legal.

        Raises IndexError if there is no legal action, because the game is over or another player is
        to move.
        """
        start = time.perf_counter()
        end = math.inf if self.seconds is None else start + self.seconds * (1 - MARGIN)
        limit = math.inf if self.iterations is None else self.iterations
        self.iterations_done = 0
        legal = observation.legal_actions()
        if len(legal) < 2:
            return legal[0]
        samples = [self._sample(observation)]
        actions = self._promising(observation, samples[0])
        root = self._root(observation)
        before = time.perf_counter()
        longest = before - start  # an upper estimate for the first iteration
        while self.iterations_done < limit and before + 2 * longest < end:
            self._iterate(root, actions, samples, observation)
            self.iterations_done += 1
            now = time.perf_counter()
            before, longest = now, max(longest, now - before)
        return self._best(root, actions)

    # The steps of the search, which a subclass may override.

    def _sample(self, observation: Observation) -> State:
        """A full state that is consistent with the observation."""
        return sample(observation, self._random)

    def _promising(self, _observation: Observation, state: State) -> list[Action]:
        """The actions to consider, the best first; they are the same in all sampled states."""
        return ranked(state, MAX_PLAYS)

    def _root(self, _observation: Observation) -> Node:
        """The root of a new tree."""
        return Node()

    def _select(
        self, parent: Node, actions: list[Action], limit: int, side: int
    ) -> tuple[Action, list[Node]]:
        """One of the first `limit` actions, and the nodes on the path to it."""
        action, node = select(parent, actions[:limit], side)
        return action, [node]

    def _rewards(self, state: State) -> tuple[float, ...]:
        """Each side's reward, from 0 to 1, for a new node's state."""
        return simulate(state)

    def _best(self, root: Node, actions: list[Action]) -> Action:
        """The action to play when the time is up."""
        return max(
            root.children, key=lambda action: root.children[action].visits, default=actions[0]
        )

    def _iterate(
        self, root: Node, actions: list[Action], samples: list[State], observation: Observation
    ) -> None:
        """Select an action at the root, descend in a sampled state, expand, simulate and back up."""
        action, nodes = self._select(root, actions, width(root, ROOT_WIDENING), observation.side)
        while nodes[-1].visits >= len(samples):
            samples.append(self._sample(observation))
        state = samples[nodes[-1].visits].after(action)
        path = [root, *nodes]
        while path[-1].visits and not state.is_over:
            side, limit = state.rules.side(state.to_move), width(path[-1], self.widening)
            action, nodes = self._select(
                path[-1], ranked(state, 1 if limit == 1 else MAX_PLAYS), limit, side
            )
            state = state.after(action)
            path += nodes
        rewards = self._rewards(state)
        for node in path:
            node.visits += 1
            if node.side is not None:
                node.reward += rewards[node.side]


def width(node: Node, widening: float) -> int:
    """The number of actions that a node considers now."""
    return math.ceil(widening * math.sqrt(node.visits + 1))


def select(parent: Node, actions: list[Action], side: int) -> tuple[Action, Node]:
    """The node of the first action that has none, or else the node with the highest bound."""
    for action in actions:
        if action not in parent.children:
            parent.children[action] = Node(side)
            return action, parent.children[action]
    for action in actions:
        parent.children[action].available += 1
    best = max(actions, key=lambda action: parent.children[action].bound())
    return best, parent.children[best]


def simulate(state: State, horizon: int = HORIZON) -> tuple[float, ...]:
    """Each side's probability of winning after a few actions of the fast player."""
    for _ in range(horizon):
        if state.is_over:
            break
        state = state.after(best_action(state))
    return chances(state)
