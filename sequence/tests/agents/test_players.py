"""Tests of the built-in players: both follow the rules, and the greedy one is better."""

import random

import pytest

from sequence import DRAFT, OFFICIAL, Action, Greedy, Random, State, play
from sequence.tests.support.positions import board_of, state_from
from sequence.tests.support.slow_rules import CARD

HANDS = [["5s", "2d", "3d", "4d", "5d", "6d"], ["kc", "kc", "qc", "qc", "tc", "tc"]]


def test_random_is_seeded():
    """The same seed gives the same actions, even after a reset."""
    seen, player = State.deal(seed=1).observation(), Random(4)
    first = [player.choose(seen) for _ in range(20)]
    player.reset(4)
    assert [player.choose(seen) for _ in range(20)] == first
    assert len(set(first)) > 10


def test_greedy_completes_a_sequence():
    """If a five can be completed, it is."""
    board = board_of("*xxx.....* " + ".......... " * 8 + "*........*")
    chosen = Greedy().choose(state_from(board, HANDS, ["ac"] * 2 + ["ks"]).observation())
    assert chosen.coords == (0, 4)


def test_greedy_blocks_and_removes():
    """If the others have four in a line, Greedy removes one of the chips or blocks the line."""
    board = board_of("*........* .oooo..... " + ".......... " * 7 + "*........*")
    hands = [["jh", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    chosen = Greedy().choose(state_from(board, hands, ["ac", "ks"]).observation())
    assert chosen.kind == "remove"
    hands[0][0] = "ah"
    chosen = Greedy().choose(state_from(board, hands, ["ac", "ks"]).observation())
    assert chosen.coords == (1, 5)


def test_greedy_takes_the_better_card():
    """Of two draft cards, Greedy takes the one that can complete a sequence next time."""
    board = board_of("*........* .xxxx..... " + ".......... " * 7 + "*........*")
    hands = [["qs", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    chosen = Greedy().choose(state_from(board, hands, ["2d", "ah"]).observation())
    assert chosen.draft_card == "ah"


def test_greedy_trades_a_dead_card():
    """Greedy trades a dead card rather than forgoing the trade."""
    board = dict.fromkeys(CARD, "") | {(2, 2): "0", (5, 9): "1"}
    hands = [["2d", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    assert Greedy().choose(state_from(board, hands, ["as"]).observation()) == Action(
        "trade", "2d", "as"
    )


@pytest.mark.parametrize(
    "rules", [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(3)], ids=str
)
def test_greedy_beats_random(rules):
    """For each number of players, Greedy wins at least 24 of 30 games from alternating seats."""
    wins, chance = 0, random.Random(1)
    for seed in range(30):
        side = chance.randrange(rules.teams)
        agents = [Greedy() if rules.side(p) == side else Random() for p in range(rules.players)]
        wins += play(agents, seed, rules).winner == side
    assert wins >= 24
