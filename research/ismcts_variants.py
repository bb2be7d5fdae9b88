"""Defines variants of ISMCTS for `research/variants.py`, each with one change.

Each class overrides the parts of `ISMCTS` that the change affects; the class's docstring is its
description on the page. Variants that evaluate the prospects of lines use the reference answer of
the league's study.
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np

from autograder.workspace import load_answer
from sequence import ISMCTS, Action, State
from sequence.agents import evaluation
from sequence.agents.evaluation import best_action, chances, ranked
from sequence.agents.ismcts import HORIZON, MAX_PLAYS, WIDENING, Node, select, simulate, width
from sequence.board.actions import PLACE, TRADE
from sequence.board.cards import NO_CARD, NUMBER, with_card, without_card
from sequence.board.layout import BIT
from sequence.engine.observation import Observation
from sequence.engine.state import state_of

# The scale that converts the reference agent's values into chances to win. Of seven scales, it has
# the lowest log-loss in positions of 500 games of the quick player, which a test verifies.
VALUE_SCALE = 16.0


class TwoDecisions(ISMCTS):
    """the play and the card to take are two decisions, each with its own node"""

    def _select(
        self, parent: Node, actions: list[Action], most: int, side: int
    ) -> tuple[Action, list[Node]]:
        plays: dict[Action, list[Action]] = {}
        for action in actions:
            plays.setdefault(action._replace(draft_card=NO_CARD), []).append(action)
        play, node = select(parent, list(plays)[:most], side)
        action, leaf = select(node, plays[play][: width(node, 1.0)], side)
        return action, [node, leaf]

    def _best(self, root: Node, actions: list[Action]) -> Action:
        if not root.children:
            return actions[0]
        return super()._best(max(root.children.values(), key=lambda node: node.visits), actions)


class MoreReplies(ISMCTS):
    """five times as many replies are considered in each sampled state"""

    widening = 5 * WIDENING


class NoHorizon(ISMCTS):
    """a new node is evaluated immediately, without any simulated actions"""

    def _rewards(self, state: State) -> tuple[float, ...]:
        return simulate(state, horizon=0)


class LongHorizon(ISMCTS):
    """simulated games last 16 actions instead of 4"""

    def _rewards(self, state: State) -> tuple[float, ...]:
        return simulate(state, horizon=4 * HORIZON)


class WholeGames(ISMCTS):
    """simulated games are played to the end"""

    def _rewards(self, state: State) -> tuple[float, ...]:
        while not state.is_over:
            state = state.after(best_action(state))
        return chances(state)


class PromisesAtTheLeaf(ISMCTS):
    """a new node is evaluated by the best value that `my_agent` computes there"""

    ACTIONS = 8  # maximum number of actions that are evaluated

    def _rewards(self, state: State) -> tuple[float, ...]:
        if state.is_over:
            return chances(state)
        value = max(_values(state.observation(), ranked(state, MAX_PLAYS)[: self.ACTIONS]))
        chance = 0.5 + 0.5 * math.tanh(value / VALUE_SCALE)
        return (1 - chance, chance) if state.to_move else (chance, 1 - chance)


class PromisesFirst(ISMCTS):
    """actions are tried in the order of the values of `my_agent`"""

    ACTIONS = 32  # the maximum number in the original order

    def _promising(self, observation: Observation, state: State) -> list[Action]:
        legal = list(observation.legal_actions())
        values = _values(observation, legal)
        order = np.argsort(-values, kind="stable")[: self.ACTIONS]
        self._value = {legal[place]: float(values[place]) for place in order}
        return list(self._value)


class PromisesAsVisits(PromisesFirst):
    """as above, and the values also count as ten visits in the final choice"""

    VISITS = 10
    SCALE = 3.0  # a difference in value that counts as almost half a game

    def _best(self, root: Node, actions: list[Action]) -> Action:
        highest = max(node.reward / node.visits for node in root.children.values())
        first = self._value[actions[0]]

        def mean(action: Action) -> float:
            """Return the mean of the rewards, with `VISITS` additional rewards equal to the
            action's prospects.
            """
            node = root.children[action]
            promised = highest + math.tanh((self._value[action] - first) / self.SCALE) / 2
            return (node.reward + self.VISITS * promised) / (node.visits + self.VISITS)

        return max(root.children, key=mean)


class HandsRead(ISMCTS):
    """one of four sampled hands is drawn, weighted by how well it explains the opponent's actions"""

    CANDIDATES = 4
    TURNS = 3  # the opponent's last turns
    REGRET = 200.0  # the regret that makes a play 1/e as likely

    def _sample(self, observation: Observation) -> State:
        states = [super(HandsRead, self)._sample(observation) for _ in range(self.CANDIDATES)]
        weights = [self._likelihood(state, observation) for state in states]
        return self._random.choices(states, weights)[0]

    def _likelihood(self, state: State, observation: Observation) -> float:
        """Return how well a hand explains the cards that the opponent took and the plays that it
        did not choose.
        """
        opponent = 1 - observation.player
        chance, regret = chances(state)[opponent], 0.0
        for turn, (before, action) in enumerate(_turns(state, observation, opponent)):
            found = {(kind, bit): value for value, kind, _, bit in evaluation._plays(before)}
            best = max(found.values(), default=0)
            bit = BIT[action.coords] if action.coords else -1
            regret += best - found.get((action.kind, bit), best)
            if turn + 1 == self.TURNS:
                break
        return chance / (1 - chance) * math.exp(-regret / self.REGRET) + 1e-12


class KeptTree(ISMCTS):
    """the subtree below the actions played since is kept for the next turn"""

    def reset(self, seed: int | None) -> None:
        super().reset(seed)
        self._kept: tuple[Node, int] | None = None

    def _root(self, observation: Observation) -> Node:
        node, known = self._kept or (Node(), len(observation.history))
        for action in observation.history[known:]:
            node = node.children.get(action, Node())
        self._kept = node, len(observation.history)
        return node


class AllMovesAsFirst(ISMCTS):
    """a simulated game counts for every cell in which the player placed a chip"""

    # Number of visits at which an action's own mean and that of its cell have the same weight.
    EQUAL = 30

    def _root(self, observation: Observation) -> Node:
        self._seen = observation
        self._cells: dict[tuple, list[float]] = {}  # games and rewards, by kind and cell
        self._top = Node()
        return self._top

    def _rewards(self, state: State) -> tuple[float, ...]:
        for _ in range(HORIZON):
            if state.is_over:
                break
            state = state.after(best_action(state))
        rewards, side = chances(state), self._seen.side
        played = list(state.observation().plays())[len(self._seen.history) :]
        for cell in {
            (action.kind, action.coords) for player, action in played if player == self._seen.player
        }:
            found = self._cells.setdefault(cell, [0, 0.0])
            found[0] += 1
            found[1] += rewards[side]
        return rewards

    def _select(
        self, parent: Node, actions: list[Action], most: int, side: int
    ) -> tuple[Action, list[Node]]:
        actions = actions[:most]
        if parent is not self._top or any(action not in parent.children for action in actions):
            return super()._select(parent, actions, most, side)
        for action in actions:
            parent.children[action].available += 1

        def bound(action: Action) -> float:
            """Return UCB1, mixed with the mean of the cell; the weight of that mean decreases with
            the number of visits.
            """
            node = parent.children[action]
            games, rewards = self._cells[action.kind, action.coords]
            share = math.sqrt(self.EQUAL / (3 * node.visits + self.EQUAL))
            return node.bound() + share * (rewards / games - node.reward / node.visits)

        best = max(actions, key=bound)
        return best, [parent.children[best]]


VARIANTS: Sequence[type[ISMCTS]] = (
    TwoDecisions,
    MoreReplies,
    NoHorizon,
    LongHorizon,
    WholeGames,
    PromisesAtTheLeaf,
    PromisesFirst,
    PromisesAsVisits,
    HandsRead,
    KeptTree,
    AllMovesAsFirst,
)


def _values(observation: Observation, actions: list[Action]) -> np.ndarray:
    return _reference().values(observation, actions)


_reference = cache(partial(load_answer, "league"))


def _turns(state: State, observation: Observation, player: int) -> Iterator[tuple[State, Action]]:
    """Yield the player's plays, the last one first, each with the known part of the state at that
    time.

    The draft row and the deck are the current ones, which does not affect the legal plays. The
    iteration ends at a chip of a sequence, because it is unknown which chips were already locked.
    """
    chips, hand = list(state.chip_masks), state.hand_piles[player]
    for mover, action in reversed(list(observation.plays())):
        if action.coords:
            chip = 1 << BIT[action.coords]
            if state.locked_mask & chip:
                return
            chips[mover if action.kind == PLACE else 1 - mover] ^= chip
        if mover != player or not action.play_card:
            continue
        if action.draft_card:
            hand = without_card(hand, NUMBER[action.draft_card])
        hand = with_card(hand, NUMBER[action.play_card])
        if action.kind == TRADE:
            continue
        hands = (hand, state.hand_piles[1]) if player == 0 else (state.hand_piles[0], hand)
        yield _changed(state, hand_piles=hands, chip_masks=tuple(chips), to_move=player), action


def _changed(state: State, chip_masks: tuple[int, ...], **fields) -> State:
    """Return the state with these fields changed."""
    known = {
        name: getattr(state, name)
        for name in vars(state.__class__.__mro__[1])["__slots__"]
        if name != "_legal"
    }
    taken = chip_masks[0] | chip_masks[1]
    empty = (state.empty_mask | state.chip_masks[0] | state.chip_masks[1]) & ~taken
    return state_of(**{**known, "chip_masks": chip_masks, "empty_mask": empty, **fields})
