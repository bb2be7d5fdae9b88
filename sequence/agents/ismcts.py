"""ISMCTS: information-set Monte Carlo tree search, the sparring partner that has to be beaten.

Single-observer ISMCTS (Cowling, Powley and Whitehouse 2012), with the rule of UCT for what to try
next (Kocsis and Szepesvári 2006): one tree of actions, which all players see; every iteration
descends it in another full state that the player could be in. A thousand actions may be legal, and
there is time for only a few hundred iterations. Four things help:

- a node looks at its most promising actions only, few at first and more with every visit
  (progressive unpruning, Chaslot et al. 2008);
- simulated games are played by a quick player that takes what looks best at once, not at random;
- they are cut off after a few actions and judged by the lines on the board and the cards in the
  hands (`sequence.agents.worth`);
- the actions at the root meet the same sampled states in the same order, so that none looks better
  than another by the luck of the cards (common random numbers).
"""

import math
import random
import time

from sequence.agents.beliefs import sample
from sequence.agents.worth import best_action, chances, ranked
from sequence.board.actions import Action
from sequence.engine.observation import Observation
from sequence.engine.state import State

SECONDS = 0.2  # the budget unless another is given
MARGIN = 0.15  # the share of the seconds that is kept in reserve for the unforeseen
EXPLORATION = 0.15  # the constant of UCB1; small, as chances of actions differ by a few per cent
PLAYS = 8  # the most plays that a node looks at, each with every card to take
# How many actions a node looks at, as multiples of the square root of its visits: ranking them
# takes as long as a simulated game, at the root it is done once, deeper in every iteration.
ROOT_WIDENING, WIDENING = 1.0, 0.2
HORIZON = 4  # actions of a simulated game


class Node:
    """An action in the tree, with its statistics from the view of the side that plays it."""

    __slots__ = ("available", "children", "reward", "side", "visits")

    def __init__(self, side: int | None = None) -> None:
        self.side = side  # None at the root
        self.children: dict[Action, Node] = {}
        self.visits = 0
        self.available = 1  # how often it could have been visited
        self.reward = 0.0  # the sum over all visits, each from 0 to 1

    def bound(self) -> float:
        """UCB1, with the times a child was available in the place of its parent's visits."""
        return self.reward / self.visits + EXPLORATION * math.sqrt(
            math.log(self.available) / self.visits
        )


class ISMCTS:
    """Searches a tree over sampled states, for a number of iterations or of seconds per action.

    After `choose`, `iterations_done` says how many iterations it took. With a budget in iterations
    the same seed plays the same actions.
    """

    widening = WIDENING

    def __init__(
        self, iterations: int | None = None, seconds: float | None = None, seed: int | None = None
    ) -> None:
        """Set the budget, in iterations or in seconds; 0.2 seconds if none is given.

        Raises ValueError if both are given, and unless the budget is a positive number (a whole
        number of iterations).
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
        """The action that was visited most; without a search if only one is legal.

        Raises IndexError if there is no legal action: the game is over or another is to move.
        """
        start = time.perf_counter()
        end = math.inf if self.seconds is None else start + self.seconds * (1 - MARGIN)
        most = math.inf if self.iterations is None else self.iterations
        self.iterations_done = 0
        legal = observation.legal_actions()
        if len(legal) < 2:
            return legal[0]
        samples = [self._sample(observation)]
        actions = self._promising(observation, samples[0])
        root = self._root(observation)
        before = time.perf_counter()
        longest = before - start  # the first iteration will hardly take longer than all this
        while self.iterations_done < most and before + 2 * longest < end:
            self._iterate(root, actions, samples, observation)
            self.iterations_done += 1
            now = time.perf_counter()
            before, longest = now, max(longest, now - before)
        return self._best(root, actions)

    # The steps of the search, which a subclass may change.

    def _sample(self, observation: Observation) -> State:
        """A full state that the player could be in."""
        return sample(observation, self._random)

    def _promising(self, _observation: Observation, state: State) -> list[Action]:
        """The actions to look at, the best first; the same in all sampled states."""
        return ranked(state, PLAYS)

    def _root(self, _observation: Observation) -> Node:
        """The node to begin with."""
        return Node()

    def _select(
        self, parent: Node, actions: list[Action], most: int, side: int
    ) -> tuple[Action, list[Node]]:
        """One of the first `most` actions, and the nodes on the way to it."""
        action, node = select(parent, actions[:most], side)
        return action, [node]

    def _rewards(self, state: State) -> tuple[float, ...]:
        """What a new node's state is worth to each side, 0 to 1."""
        return simulated(state)

    def _best(self, root: Node, actions: list[Action]) -> Action:
        """The action to play, when the time is over."""
        return max(
            root.children, key=lambda action: root.children[action].visits, default=actions[0]
        )

    def _iterate(
        self, root: Node, actions: list[Action], samples: list[State], observation: Observation
    ) -> None:
        """Select an action at the root and go down a sampled state; expand, simulate, back up."""
        action, nodes = self._select(root, actions, width(root, ROOT_WIDENING), observation.side)
        while nodes[-1].visits >= len(samples):
            samples.append(self._sample(observation))
        state = samples[nodes[-1].visits].after(action)
        path = [root, *nodes]
        while path[-1].visits and not state.is_over:
            side, most = state.rules.side(state.to_move), width(path[-1], self.widening)
            action, nodes = self._select(
                path[-1], ranked(state, 1 if most == 1 else PLAYS), most, side
            )
            state = state.after(action)
            path += nodes
        rewards = self._rewards(state)
        for node in path:
            node.visits += 1
            if node.side is not None:
                node.reward += rewards[node.side]


def width(node: Node, widening: float) -> int:
    """How many actions a node looks at now."""
    return math.ceil(widening * math.sqrt(node.visits + 1))


def select(parent: Node, actions: list[Action], side: int) -> tuple[Action, Node]:
    """The first action without a node, which gets one, or that with the highest bound."""
    for action in actions:
        if action not in parent.children:
            parent.children[action] = Node(side)
            return action, parent.children[action]
    for action in actions:
        parent.children[action].available += 1
    best = max(actions, key=lambda action: parent.children[action].bound())
    return best, parent.children[best]


def simulated(state: State, horizon: int = HORIZON) -> tuple[float, ...]:
    """Each side's chance to win after a few actions of the quick player."""
    for _ in range(horizon):
        if state.is_over:
            break
        state = state.after(best_action(state))
    return chances(state)
