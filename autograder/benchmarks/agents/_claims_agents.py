"""Agents and measurements for `bench claims`: layers, an exploiter, and position statistics."""

import random
import re
from collections.abc import Callable, Iterable, Mapping
from statistics import mean
from typing import Any

from sequence import Greedy, Observation, play
from sequence.agents.beliefs import sample
from sequence.agents.evaluation import chances
from sequence.board.actions import PLACE, REMOVE, Action
from sequence.board.chips import bits, new_sequences
from sequence.board.layout import BIT, PLAYABLE
from sequence.engine.state import State
from tictactoe import Qubic, WinOrBlock
from tictactoe import Random as RandomPlayer
from tictactoe.games.play import play as play_cells
from tictactoe.games.tactics import winning_cells

FIRST_DEAL = 40_000  # differs from the seeds of other matches and of training
MAX_CANDIDATES = 6  # actions for which the exploiter predicts the reply
Layer = Callable[[Observation], list[Action]]
NEAR = 2  # maximum distance from the centre in rows and columns (16 cells)


class Layered:
    """Completes a sequence if possible, blocks one if necessary, and otherwise plays like `inner`.

    Among the actions of a layer, it plays the one that the evaluator scores highest. `first` is the
    layer that comes first: `takes` or `defends`.
    """

    def __init__(self, evaluator: Any, inner: Any, first: Layer | None = None) -> None:
        self._evaluator, self._inner = evaluator, inner
        self._layers = (defends, takes) if first is defends else (takes, defends)

    def choose(self, observation: Observation) -> Action:
        """Return an action of the first layer that has one."""
        for layer in self._layers:
            if actions := layer(observation):
                return max(actions, key=lambda action: self._score(observation, action))
        return self._inner.choose(observation)

    def _score(self, observation: Observation, action: Action) -> float:
        score = self._evaluator.play_score(observation, action.kind, action.coords)
        if action.draft_card:
            score += self._evaluator.draft_score(observation, action.draft_card)
        return score


def takes(observation: Observation) -> list[Action]:
    """Return the placements that complete a sequence."""
    own = observation.chip_masks[observation.side]
    return [
        action
        for action in observation.legal_actions()
        if action.kind == PLACE
        and action.coords
        and _completes(observation, own, BIT[action.coords])
    ]


def defends(observation: Observation) -> list[Action]:
    """Return the actions that reduce the number of cells on which opponents can complete a
    sequence.
    """
    theirs = PLAYABLE ^ (observation.empty_mask | observation.chip_masks[observation.side])
    danger = [bit for bit in bits(observation.empty_mask) if _completes(observation, theirs, bit)]
    actions = []
    for action in observation.legal_actions() if danger else ():
        bit = BIT[action.coords] if action.coords else -1
        if (action.kind == PLACE and bit in danger) or (
            action.kind == REMOVE
            and not all(_completes(observation, theirs & ~(1 << bit), cell) for cell in danger)
        ):
            actions.append(action)
    return actions


def _completes(position: Observation | State, chips: int, bit: int) -> bool:
    """Whether one more chip on the cell completes a sequence of these chips."""
    return bool(new_sequences(chips | 1 << bit, position.locked_mask, bit, position.rules.heart)[0])


class Exploiter:
    """An agent that knows its opponent's program and runs it to predict the reply.

    The hidden cards are sampled. Among the actions with the greatest gain, it plays the one with
    the best estimated chances after the reply of `opponent`.
    """

    def __init__(self, lookahead: Any, opponent: Any) -> None:
        self._gains, self._opponent = lookahead.LookAhead(None).values, opponent
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Seed the samples."""
        self._random = random.Random(seed)

    def choose(self, observation: Observation) -> Action:
        """Return the promising action that is best after the predicted reply."""
        state, gains = sample(observation, self._random), self._gains(observation)
        promising = sorted(gains, key=gains.get, reverse=True)[:MAX_CANDIDATES]
        return max(promising, key=lambda action: self._chances(state, action))

    def _chances(self, state: State, action: Action) -> float:
        side, after = state.rules.side(state.to_move), state.after(action)
        if not after.is_terminal() and after.to_move != state.to_move:
            after = after.after(self._opponent.choose(after.observation()))
        return chances(after)[side]


def centre_openings(agent: Any, games: int) -> dict[str, float]:
    """Measure how often the agent puts its first chip into the middle, and on how many different
    cells.
    """
    cells = []
    for deal in range(FIRST_DEAL, FIRST_DEAL + games):
        state = State.deal(seed=deal)
        while not (action := agent.choose(state.observation())).coords:
            state = state.after(action)
        cells.append(action.coords)
    middle = [cell for cell in cells if all(abs(place - 4.5) < NEAR for place in cell)]
    return {"openings_middle": len(middle) / len(cells), "openings_cells": len(set(cells))}


def threats_left(agents: Mapping[str, Any], games: int) -> dict[str, float]:
    """Return the share of the agents' turns after which the opponent could complete a sequence.

    All agents choose in the same turns of games between `Greedy` players. The count uses the
    opponent's actual cards.
    """
    threats: dict[str, list[bool]] = {name: [] for name in agents}
    for state in _turns([Greedy(), Greedy()], games):
        for name, agent in agents.items():
            after = state.after(agent.choose(state.observation()))
            if after.to_move != state.to_move and not after.is_terminal():
                threats[name].append(bool(takes(after.observation())))
    return {f"left_{name}": mean(left) for name, left in threats.items()}


def count_forks(agent: Any, games: int) -> dict[str, float]:
    """Count how often a turn allows a fork, and how often the agent plays one.

    A fork is a placement that completes no sequence, but allows the player to complete one in the
    next turn, whatever the opponent replies. The actual cards are used, except the player's next
    card.
    """
    turns = there = played = 0
    for state in _turns([agent, Greedy()], games):
        turns += 1
        fork_cells = [
            cell
            for cell in {action.coords for action in state.legal_actions() if action.kind == PLACE}
            if cell and _is_fork(state, cell)
        ]
        if fork_cells and not takes(state.observation()):
            there += 1
            played += agent.choose(state.observation()).coords in fork_cells
    return {"forks_turns": turns, "forks_there": there, "forks_played": played}


def _is_fork(state: State, cell: tuple[int, int]) -> bool:
    """Whether a chip on the cell creates two ways to a sequence that no single reply blocks."""
    action = next(
        action for action in state.legal_actions() if action.kind == PLACE and action.coords == cell
    )
    after, player = state.after(action), state.to_move
    if after.to_move == player or after.is_terminal():
        return False
    seen = after.observation(player)
    own = seen.chip_masks[seen.side]
    wins = {bit for bit in bits(seen.empty_mask) if _completes(seen, own, bit)}
    if len(wins) < 2:
        return False
    replies = {(reply.kind, reply.coords): reply for reply in after.legal_actions()}
    return all(_can_complete(after.after(reply), player) for reply in replies.values())


def _can_complete(state: State, player: int) -> bool:
    return not state.is_terminal() and state.to_move == player and bool(takes(state.observation()))


def live_threes(sarsa: Any, games: int) -> dict[str, float]:
    """Measure how often the side with a live three wins, by the position of its three chips."""
    results: dict[bool, list[float]] = {True: [], False: []}
    for game in _games([Greedy(), Greedy()], games):
        for state in game.states[:-1]:
            mine, _ = sarsa.views(state.observation())
            for middle in _central_threes(sarsa, mine):
                results[middle].append(0.5 + 0.5 * game.states[-1].utility(state.to_move))
    return {
        "threes_middle": mean(results[True]),
        "threes_edge": mean(results[False]),
        "threes_middle_seen": len(results[True]),
        "threes_edge_seen": len(results[False]),
    }


def _central_threes(sarsa: Any, board: str) -> Iterable[bool]:
    """Yield, for each live three on the board, whether all its chips are on the 36 cells in the
    middle.
    """
    numbers = "".join(map(chr, range(len(board))))  # a board with the number of each cell
    for text, cells in zip(sarsa.lines_of(board), sarsa.lines_of(numbers), strict=True):
        for match in re.finditer(sarsa.PATTERNS["LIVE_THREE"], text):
            chips = [
                ord(cells[place]) for place in range(*match.span()) if text[place] == sarsa.MINE
            ]
            yield all(2 <= place < 8 for chip in chips for place in divmod(chip, 10))


def rewards_and_results(sarsa: Any, games: int) -> dict[str, float]:
    """Return the share of decided games that were won by the side with more reward."""
    agreed = []
    for game in _games([sarsa.SarsaAgent(q_weight=0.0), sarsa.SarsaAgent(q_weight=0.0)], games):
        rewards = [0.0, 0.0]
        for state, action in zip(game.states, game.actions, strict=False):
            rewards[state.to_move] += sarsa.Scores(state.observation()).reward(action)
        if game.winner is not None and rewards[0] != rewards[1]:
            agreed.append((rewards[1] > rewards[0]) == game.winner)
    return {"rewards_agree": mean(agreed), "rewards_games": len(agreed)}


def _turns(agents: list, games: int) -> Iterable[State]:
    """Yield the states in which the first agent is to move and no card can be traded."""
    for game in _games(agents, games):
        yield from (
            state
            for state in game.states[:-1]
            if state.to_move == 0 and any(action.coords for action in state.legal_actions())
        )


def _games(agents: list, games: int) -> Iterable[Any]:
    return (play(agents, seed=deal) for deal in range(FIRST_DEAL, FIRST_DEAL + games))


class ByValues:
    """An agent that plays a random move among those to which a learner assigns the greatest value."""

    def __init__(self, values: Callable[[Any], Mapping[Any, float]]) -> None:
        self._values = values
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Seed the choice among equal moves."""
        self._random = random.Random(seed)

    def choose(self, state: Any) -> Any:
        """Return one of the best moves."""
        values = self._values(state)
        best = max(values.values())
        return self._random.choice([move for move, value in values.items() if value == best])


def block_rate(agent: Any, games: int) -> float:
    """Return the share of states on the cube in which the agent blocks an open lane with three
    chips.

    Only states in which the agent cannot win itself are counted.
    """
    blocks = []
    for number in range(games):
        players: dict[str, Any] = {"x": WinOrBlock(number), "o": RandomPlayer(number)}
        for state in play_cells(players, Qubic()).states[:-1]:
            threats = winning_cells(state, "x")
            if state.to_move == "o" and threats and not winning_cells(state, "o"):
                blocks.append(agent.choose(state) in threats)
    return mean(blocks)
