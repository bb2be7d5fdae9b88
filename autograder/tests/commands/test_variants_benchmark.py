"""The variants of ISMCTS: legal, repeatable, each with its idea; and the page of what they won."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.benchmarks import _variants, variants
from autograder.benchmarks._variants import VARIANTS, HandsRead, KeptTree, TwoDecisions
from sequence import ISMCTS, Greedy, Random, State, play
from sequence.agents.ismcts import Node
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
        assert any(len({agent.choose(state.observation()) for agent in agents}) == 2
                   for state in positions(30))


def test_the_given_agent_is_what_it_was():
    """What a variant may change is a method now, and the given one plays as if it were none."""
    class Plain(ISMCTS):
        """Nothing is changed."""

    first, second = (play([agent(iterations=5), Greedy()], 11).states[-1].history
                     for agent in (Plain, ISMCTS))
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
        states = play([Random(), Greedy()][::-1 if seed % 2 else 1], seed).states
        now = states[min(len(states) - 2, 6 * seed)]
        for player in (0, 1):
            before = {len(state.history): state for state in states if state.to_move == player}
            turns = list(_variants._turns(now, now.observation(), player))
            real = [state for length, state in sorted(before.items(), reverse=True)
                    if length < len(now.history)
                    and states[length + 1].history[-1].coords]
            for (then, action), state in zip(turns, real, strict=False):
                assert action == states[len(state.history) + 1].history[-1]
                assert then.hand_piles[player] == state.hand_piles[player]
                assert (then.chip_masks, then.empty_mask) == (state.chip_masks, state.empty_mask)
                seen += 1
    assert seen > 100


def test_hands_that_explain_the_plays_are_drawn_more_often():
    """A hand that left a sequence unmade at its turns is less likely than one that could not."""
    state = next(state for state in play([Greedy(), Greedy()], 5).states[20:-1]
                 if len(state.history) > 20)
    observation, agent = state.observation(), HandsRead(iterations=1, seed=1)
    weights = {agent._likelihood(agent.__class__.__mro__[1]._sample(agent, observation),
                                 observation) for _ in range(50)}
    assert len(weights) > 10
    assert min(weights) > 0


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
    monkeypatch.setattr(variants, "ProcessPoolExecutor", lambda _: ThreadPoolExecutor(1))
    monkeypatch.setattr(variants, "played", lambda *key: asked.append(key) or [15, 0, 5, 0.2, 0.1])
    variants.run(20)
    results = variants.run(40)
    names, first = [variant.__name__ for variant in VARIANTS[:2]], variants.FIRST_DEAL
    assert asked == [(name, first + deal) for deals in ((0,), (10,), (20, 30)) for name in names
                     for deal in deals]
    assert [(result.name, result.value) for result in results[::3]] == [(name, 0.75)
                                                                       for name in names]
    page = variants.PAGE.read_text("utf-8")
    assert f"| {VARIANTS[0].__doc__} | 0.75 (0.65 to 0.83) | 80 | 2.0 | **weaker** |" in page


@pytest.mark.parametrize(("match", "said"), [
    (Match(55, 0, 45), "no difference shown"), (Match(240, 0, 160), "**weaker**"),
    (Match(160, 0, 240), "stronger")])
def test_verdicts_are_those_of_the_intervals(match, said):
    """Of the given agent, where the interval leaves one half out."""
    assert variants.verdict(match) == said


def test_the_page_is_made_of_the_games_that_are_kept():
    """What is committed is what the command would write, and has every idea."""
    page = variants.PAGE.read_text("utf-8")
    assert page == variants.page()
    assert all(f"| {variant.__doc__} |" in page for variant in VARIANTS)
