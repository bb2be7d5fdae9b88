"""The given players: both keep to the rules, and the greedy one is the better of the two."""

import random

import pytest

from sequence import DRAFT, OFFICIAL, Action, Greedy, Random, State, play
from sequence.tests.support.positions import board_of, state_from
from sequence.tests.support.slow_rules import CARD

HANDS = [["5s", "2d", "3d", "4d", "5d", "6d"], ["kc", "kc", "qc", "qc", "tc", "tc"]]


def test_random_is_seeded():
    """The same seed plays the same actions, also after a reset."""
    seen, player = State.deal(seed=1).observation(), Random(4)
    first = [player.choose(seen) for _ in range(20)]
    player.reset(4)
    assert [player.choose(seen) for _ in range(20)] == first
    assert len(set(first)) > 10


def test_greedy_completes_a_sequence():
    """A five that can be completed is completed."""
    board = board_of("*xxx.....* " + ".......... " * 8 + "*........*")
    chosen = Greedy().choose(state_from(board, HANDS, ["ac"] * 2 + ["ks"]).observation())
    assert chosen.coords == (0, 4)


def test_greedy_blocks_and_removes():
    """Where the others have four in a line, it takes one of them away or stands in the way."""
    board = board_of("*........* .oooo..... " + ".......... " * 7 + "*........*")
    hands = [["jh", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    chosen = Greedy().choose(state_from(board, hands, ["ac", "ks"]).observation())
    assert chosen.kind == "remove"
    hands[0][0] = "ah"
    chosen = Greedy().choose(state_from(board, hands, ["ac", "ks"]).observation())
    assert chosen.coords == (1, 5)


def test_greedy_takes_the_better_card():
    """Of two draft cards it takes the one that would complete a sequence next time."""
    board = board_of("*........* .xxxx..... " + ".......... " * 7 + "*........*")
    hands = [["qs", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    chosen = Greedy().choose(state_from(board, hands, ["2d", "ah"]).observation())
    assert chosen.draft_card == "ah"


def test_greedy_trades_a_dead_card():
    """It trades a dead card rather than forgo."""
    board = dict.fromkeys(CARD, "") | {(2, 2): "0", (5, 9): "1"}
    hands = [["2d", "9s", "9s", "8s", "8s", "7s"], HANDS[1]]
    assert Greedy().choose(state_from(board, hands, ["as"]).observation()) == Action(
        "trade", "2d", "as"
    )


@pytest.mark.parametrize(
    "rules", [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(3)], ids=str
)
def test_greedy_beats_random(rules):
    """Greedy on one side wins at least 24 of 30 seeded games in each table, from changing seats."""
    wins, chance = 0, random.Random(1)
    for seed in range(30):
        side = chance.randrange(rules.teams)
        agents = [Greedy() if rules.side(p) == side else Random() for p in range(rules.players)]
        wins += play(agents, seed, rules).winner == side
    assert wins >= 24
