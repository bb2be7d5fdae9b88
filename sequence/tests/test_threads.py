"""Tests with threads: concurrent games, ratings and boards have the same results as when run alone."""

import random
import threading

import pytest

from sequence import ISMCTS, Greedy, Random, State, play
from sequence.board.actions import LegalActions
from sequence.league.players.specs import make, spec
from sequence.league.records.ratings import ratings
from sequence.widget import play as play_board
from tictactoe.games.play import Match
from tictactoe.tests.support.threads import at_once


def game(seed):
    """A seeded game of a quick agent."""
    return play([Greedy(), Random()], seed).states


def searched(seed):
    """The first actions of a search that samples and caches."""
    state, agent = State.deal(seed=seed), ISMCTS(iterations=20, seed=seed)
    for _ in range(3):
        state = state.after(agent.choose(state.observation()))
    return state


def clicks(seed):
    """A board on which available elements are clicked."""
    board, chance = play_board(against=Greedy(), seed=seed), random.Random(seed)
    for _ in range(10):
        board.click(chance.choice(sorted(board._legal_clicks()) or ["new"]))
    return board.states, board.board.content


WORK = [game, searched, clicks]


@pytest.mark.parametrize("seed", range(2))
def test_all_at_once(seed):
    """Each computation has the same result as when run alone, whatever runs concurrently."""
    work = [(call, number) for call in WORK for number in (seed, seed + 1)]
    random.Random(seed).shuffle(work)
    alone = [call(number) for call, number in work]
    assert at_once([lambda c=call, n=number: c(n) for call, number in work]) == alone


class Interleaved(LegalActions):
    """Legal actions of which another thread looks up one whenever the latest look-up has been read."""

    theirs = None

    @property
    def _found(self):
        found, self.found = self.found, self.theirs or self.found
        return found

    @_found.setter
    def _found(self, found):
        self.found = found


def test_the_legal_actions_of_one_state():
    """A look-up finds the right action, whatever another thread looks up meanwhile."""
    state = State.deal(seed=1)
    legal = Interleaved(
        state.hand_piles[0], state.row_pile, state.empty_mask, 0, trades=True, forgo=True
    )
    legal.theirs = legal.locate(legal[7])
    for number in range(len(legal)):
        action = legal[number]
        assert legal.locate(action)[0] == action == state.legal_actions()[number]


def test_ratings_and_numpys_global_numbers():
    """Using the generator in another thread neither changes ratings nor loses numbers."""
    import numpy as np

    matches = {("a", "b"): Match(15, 1, 5), ("b", "c"): Match(9, 2, 8)}
    names, done, drawn = ["a", "b", "c"], threading.Event(), []
    alone = ratings(names, matches)

    def draw():
        np.random.seed(7)
        while not done.is_set() or len(drawn) < 100:
            drawn.append(np.random.random())

    def rate():
        found = [ratings(names, matches) for _ in range(3)]
        done.set()
        return found

    before = np.random.get_state()
    try:
        _, found = at_once([draw, rate])
    finally:
        np.random.set_state(before)
    assert found == [alone] * 3
    assert drawn == list(np.random.RandomState(7).random_sample(len(drawn)))


def test_an_agents_file_is_loaded_once(tmp_path):
    """Threads that simultaneously create agents from one file use the same class."""
    for number in range(5):
        path = tmp_path / f"an_agent_{number}.py"
        path.write_text(
            "import time\n\ntime.sleep(0.01)\n\n\nclass Mine:\n"
            "    def choose(self, seen):\n        return None\n",
            "utf-8",
        )
        agents = at_once([lambda path=path: make(spec(str(path)))] * 4)
        assert len({type(agent) for agent in agents}) == 1
