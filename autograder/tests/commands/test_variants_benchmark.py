"""The variants of ISMCTS: legal, repeatable, each with its idea; and the page of what they won."""

import math
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from statistics import median

import numpy as np
import pytest

from autograder.benchmarks import _variants, _workers, variants
from autograder.benchmarks._variants import VARIANTS, HandsRead, KeptTree, TwoDecisions
from sequence import ISMCTS, Greedy, Random, State, play
from sequence.agents.ismcts import Node
from sequence.agents.worth import SEQUENCE_WORTH, _plays, best_action, chances, ranked
from sequence.board.layout import BIT
from tictactoe.games.play import Match


def positions(count, most=60):
    """States of random games, none of them over."""
    chance = random.Random(7)
    while count:
        state = State.deal(seed=chance.getrandbits(32))
        for _ in range(chance.randrange(most)):
            after = state.after(state.legal_actions().choose(chance))
            if after.is_over:
                break
            state = after
        yield state
        count -= 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_plays_by_the_rules_and_repeats_itself(variant):
    """From any state the action is legal, and the same seed chooses it again."""
    for seed, state in enumerate(positions(8)):
        observation = state.observation()
        chosen = [variant(iterations=12, seed=seed).choose(observation) for _ in range(2)]
        assert chosen[0] == chosen[1]
        assert chosen[0] in state.legal_actions()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_does_something_else_than_the_given_one(variant):
    """Otherwise its row would say nothing of its idea: in some position it chooses otherwise."""
    agents = variant(iterations=40, seed=3), ISMCTS(iterations=40, seed=3)
    if variant is KeptTree:  # which differs from the second turn on
        games = [play([agent, Greedy()], 3).states[-1].history for agent in agents]
        assert games[0] != games[1]
    else:
        assert any(
            len({agent.choose(state.observation()) for agent in agents}) == 2
            for state in positions(30)
        )


def test_the_given_agent_is_what_it_was():
    """What a variant may change is a method now, and the given one plays as if it were none."""

    class Plain(ISMCTS):
        """Nothing is changed."""

    first, second = (
        play([agent(iterations=5), Greedy()], 11).states[-1].history for agent in (Plain, ISMCTS)
    )
    assert first == second


def test_a_play_has_the_visits_of_all_cards_that_may_be_taken_with_it():
    """Of two decisions the second one is below the first."""
    roots = []

    class Watched(TwoDecisions):
        def _best(self, root, actions):
            roots.append(root)
            return super()._best(root, actions)

    for state in positions(5):
        Watched(iterations=60, seed=1).choose(state.observation())
    assert roots
    for root in roots:
        assert root.visits == sum(node.visits for node in root.children.values()) == 60
        for play_, node in root.children.items():
            assert node.visits == sum(child.visits for child in node.children.values())
            assert all(action._replace(draft_card="") == play_ for action in node.children)


def test_the_turns_before_are_those_of_the_game():
    """Whatever the game, going back gives the chips and the hand that the player had then."""
    seen = 0
    for seed in range(12):
        states = play([Random(), Greedy()][:: -1 if seed % 2 else 1], seed).states
        now = states[min(len(states) - 2, 6 * seed)]
        for player in (0, 1):
            before = {len(state.history): state for state in states if state.to_move == player}
            turns = list(_variants._turns(now, now.observation(), player))
            real = [
                state
                for length, state in sorted(before.items(), reverse=True)
                if length < len(now.history) and states[length + 1].history[-1].coords
            ]
            for (then, action), state in zip(turns, real, strict=False):
                assert action == states[len(state.history) + 1].history[-1]
                assert then.hand_piles[player] == state.hand_piles[player]
                assert (then.chip_masks, then.empty_mask) == (state.chip_masks, state.empty_mask)
                seen += 1
    assert seen > 100


def test_hands_that_explain_the_plays_are_drawn_more_often():
    """A hand that left a sequence unmade in its last turns is next to impossible, not others."""
    agent, by_left = HandsRead(iterations=1, seed=1), {True: [], False: []}
    for seed in range(20):
        for state in play([Greedy(), Greedy()], seed).states[24:-1:7]:
            observation = state.observation()
            for _ in range(10):
                hand = ISMCTS._sample(agent, observation)
                turns = islice(_variants._turns(hand, observation, 1 - state.to_move), agent.TURNS)
                left = any(_left_a_sequence(before, action) for before, action in turns)
                by_left[left].append(agent._likelihood(hand, observation))
    assert by_left[True]
    assert max(by_left[True]) < 1e-9
    assert median(by_left[False]) > 1e-3


def _left_a_sequence(before, action):
    """Whether another play would have completed or stopped one, and the action does not."""
    worth = {(kind, bit): value for value, kind, _, bit in _plays(before)}
    best = max(worth.values(), default=0)
    return best - worth.get((action.kind, BIT[action.coords]), best) > SEQUENCE_WORTH // 4


@pytest.mark.slow
def test_the_scale_of_values_is_the_best_of_seven():
    """The log-loss of chances made of `my_agent`'s values is least there; that of the given
    `chances`, which see all cards, is less, and a coin has log 2."""
    found = []
    for seed in range(500):
        chance, state, seen = random.Random(seed), State.deal(seed=90_000 + seed), []
        while not state.is_over:
            if chance.random() < 0.1:
                seen.append(state)
            action = (
                best_action(state) if chance.random() > 0.1 else chance.choice(ranked(state, 8))
            )
            state = state.after(action)
        for position in seen:
            value = max(_variants._values(position.observation(), ranked(position, 8)))
            found.append(
                (
                    value,
                    chances(position)[position.to_move],
                    0.5 + 0.5 * state.utility(position.to_move),
                )
            )
    values, given, results = map(np.array, zip(*found, strict=True))

    def loss(chance):
        """The mean log-loss, with chances kept between 0.01 and 0.99."""
        chance = np.clip(chance, 0.01, 0.99)
        return -np.mean(results * np.log(chance) + (1 - results) * np.log(1 - chance))

    losses = {
        scale: loss(0.5 + 0.5 * np.tanh(values / scale)) for scale in (3, 6, 8, 12, 16, 24, 40)
    }
    assert min(losses, key=losses.get) == _variants.VALUE_SCALE
    assert loss(given) < losses[_variants.VALUE_SCALE] < math.log(2)


SLOW_RUN = """
import signal, sys, time
from pathlib import Path
from autograder.benchmarks import main, variants

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the test

def slow(name, deal):
    time.sleep(0.1 if deal == variants.FIRST_DEAL else 300)
    return [10, 0, 10, 0.1, 0.1]

if __name__ == "__main__":
    variants.KEPT = Path(sys.argv[1])
    variants.PAGE = variants.KEPT / "page.md"
    variants.played = slow
    sys.exit(main(["variants"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_ends_a_run_and_keeps_what_was_played(tmp_path):
    """It waits neither for games that have not been begun nor for those that have, and says so."""
    program = tmp_path / "slow_run.py"
    program.write_text(SLOW_RUN, "utf-8")
    run = subprocess.Popen(
        [sys.executable, program, tmp_path],
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    while not list(tmp_path.glob("*.jsonl")):
        assert run.poll() is None
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "bench: stopped" in said
    assert "Traceback" not in said
    assert list(tmp_path.glob("*.jsonl"))


def test_a_kept_tree_begins_below_what_was_played():
    """The next search's root is the node of the reply, and one nobody knows is a new one."""
    agent, states = KeptTree(iterations=5, seed=1), play([Greedy(), Greedy()], 2).states
    first, third = states[0].observation(), states[2].observation()
    below = Node(side=1)
    root = agent._root(first)
    root.children[third.history[0]] = node = Node(side=0)
    node.children[third.history[1]] = below
    assert agent._root(third) is below
    later = agent._root(states[4].observation())
    assert later is not below
    assert not later.visits
    agent.reset(2)
    assert agent._root(third) is not later


def test_games_are_kept_and_a_run_goes_on(monkeypatch, tmp_path):
    """What was played before is not played again; half of all deals come first, for everyone."""
    asked = []
    monkeypatch.setattr(variants, "KEPT", tmp_path)
    monkeypatch.setattr(variants, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(variants, "VARIANTS", VARIANTS[:2])
    monkeypatch.setattr(_workers, "ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1))
    monkeypatch.setattr(variants, "played", lambda *key: asked.append(key) or [15, 0, 5, 0.2, 0.1])
    variants.run(20)
    results = variants.run(40)
    names, first = [variant.__name__ for variant in VARIANTS[:2]], variants.FIRST_DEAL
    assert asked == [
        (name, first + deal)
        for deals in ((0,), (10,), (20, 30))
        for name in names
        for deal in deals
    ]
    assert [(result.name, result.value) for result in results[::3]] == [
        (name, 0.75) for name in names
    ]
    page = variants.PAGE.read_text("utf-8")
    assert f"| {VARIANTS[0].__doc__} | 0.75 (0.65 to 0.83) | 80 | 2.0 | **weaker** |" in page


@pytest.mark.parametrize(
    ("match", "said"),
    [
        (Match(55, 0, 45), "no difference shown"),
        (Match(240, 0, 160), "**weaker**"),
        (Match(160, 0, 240), "stronger"),
    ],
)
def test_verdicts_are_those_of_the_intervals(match, said):
    """Of the given agent, where the interval leaves one half out."""
    assert variants.verdict(match) == said


def test_the_page_is_made_of_the_games_that_are_kept():
    """What is committed is what the command would write, and has every idea."""
    page = variants.PAGE.read_text("utf-8")
    assert page == variants.page()
    assert all(f"| {variant.__doc__} |" in page for variant in VARIANTS)
    assert len(VARIANTS) == 11  # as its title says, and docs/teaching/league.md: one of them helps
    assert [
        name for name, so_far in variants.kept().items() if so_far.match().interval[0] > 0.5
    ] == ["PromisesFirst"]
