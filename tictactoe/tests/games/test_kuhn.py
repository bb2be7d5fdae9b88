"""Tests of Kuhn's poker: deals, betting, utilities and information sets against tables."""

import pickle
from collections import defaultdict
from fractions import Fraction
from itertools import permutations

import pytest

from tictactoe.contract import CHANCE, IllegalMove, State
from tictactoe.games.kuhn import CARDS, Kuhn

# Every possible sequence of bets, and its utility for x with the higher card and with the lower
# card.
ENDS = {
    ("pass", "pass"): (1, -1),
    ("pass", "bet", "fold"): (-1, -1),
    ("pass", "bet", "call"): (2, -2),
    ("bet", "fold"): (1, 1),
    ("bet", "call"): (2, -2),
}
HANDS = list(permutations(CARDS, 2))


def positions(state):
    """The state and all states that can follow."""
    yield state
    for move in state.legal_moves():
        yield from positions(state.after(move))


def test_it_is_a_state_with_chance():
    """The state has the members that searches need, and the first two moves deal cards."""
    assert isinstance(Kuhn(), State)
    assert Kuhn().to_move == Kuhn().after(3).to_move == CHANCE
    assert Kuhn().legal_moves() == CARDS
    assert Kuhn().after(2).legal_moves() == (1, 3)
    assert Kuhn.from_moves([2, 1]).to_move == "x"


@pytest.mark.parametrize("cards", HANDS)
@pytest.mark.parametrize("betting", ENDS, ids=" ".join)
def test_every_end_is_worth_what_the_rules_say(cards, betting):
    """In both versions, the utilities are those of the rules, for both players, and sum to zero."""
    late_moves = [cards[0], *betting, *([] if betting[-1] == "fold" else [cards[1]])]
    for end in (Kuhn.from_moves([*cards, *betting]), Kuhn.from_moves(late_moves, late=True)):
        assert end.is_terminal()
        assert end.legal_moves() == ()
        assert end.utility("x") == -end.utility("o") == ENDS[betting][cards[0] < cards[1]]


@pytest.mark.parametrize(("late", "inner", "ends"), [(False, 28, 30), (True, 22, 24)])
def test_the_tree_has_so_many_positions(late, inner, ends):
    """There are 58 positions, or 46 if o's card is dealt late, and games end only as listed."""
    found = [state.is_terminal() for state in positions(Kuhn(late=late))]
    assert (found.count(False), found.count(True)) == (inner, ends)


def test_there_are_twelve_information_sets():
    """Each player has six information sets of two states, which differ in the opponent's card."""
    sets = defaultdict(list)
    for state in positions(Kuhn()):
        if state.to_move != CHANCE and not state.is_terminal():
            sets[state.information].append(state)
    assert sorted(sets) == sorted(
        f"{card}{betting}" for card in CARDS for betting in ("", " pass", " bet", " pass bet")
    )
    for information, states in sets.items():
        place = "xo".index(states[0].to_move)
        assert [str(state.cards[place]) for state in states] == 2 * [information[0]]
        assert len({state.cards[1 - place] for state in states}) == 2
        assert len({(state.to_move, state.betting) for state in states}) == 1


def test_nothing_is_hidden_where_the_card_is_dealt_late():
    """Each player's information is the complete state."""
    states = [
        state
        for state in positions(Kuhn(late=True))
        if state.to_move != CHANCE and not state.is_terminal()
    ]
    assert len({state.information for state in states}) == len(states) == 12


def test_cards_are_dealt_with_the_same_probability():
    """The probability of a card is a third, then a half; a card that has been dealt has none."""
    assert {Kuhn().probability(card) for card in CARDS} == {Fraction(1, 3)}
    assert [Kuhn.from_moves([2]).probability(card) for card in CARDS] == [
        Fraction(1, 2),
        0,
        Fraction(1, 2),
    ]


@pytest.mark.parametrize(
    ("moves", "move", "mover"),
    [
        ((), 4, "chance"),
        ((2,), 2, "chance"),
        ((2, 1), "call", "x"),
        ((2, 1), 3, "x"),
        ((2, 1, "bet"), "pass", "o"),
        ((2, 1, "bet", "fold"), "pass", "x"),
    ],
)
def test_a_move_against_the_rules_is_refused(moves, move, mover):
    """The message contains the move and the position."""
    state = Kuhn.from_moves(moves)
    with pytest.raises(IllegalMove, match=f"illegal move {move!r} for {mover}"):
        state.after(move)
    with pytest.raises(IllegalMove):
        Kuhn.from_moves([*moves, move])


def test_a_position_comes_back():
    """A position's repr, moves and pickle give an equal position, and positions can be keys."""
    for state in positions(Kuhn(late=True)):
        assert eval(repr(state)) == Kuhn.from_moves(state.moves, late=True) == state
        assert pickle.loads(pickle.dumps(state)) == state
        assert hash(state) == hash(Kuhn(state.moves, state.late))


def test_it_prints_what_has_happened():
    """A state prints the cards, the actions, and the player to move or the amount that x has won."""
    assert [
        str(Kuhn.from_moves(moves)) for moves in ([], [2], [2, 1, "pass"], [2, 3, "bet", "call"])
    ] == [
        "no card is dealt; no actions; chance to move",
        "x has 2; no actions; chance to move",
        "x has 2, o has 1; pass; o to move",
        "x has 2, o has 3; bet, call; -2 for x",
    ]
