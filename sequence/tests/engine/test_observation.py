"""Tests of observations: they contain what a player may see, and nothing else is reachable."""

import dataclasses
import gc
import pickle
import random
import types

import pytest

from sequence import DRAFT, OFFICIAL, Action, Observation, State
from sequence.agents import beliefs
from sequence.board.cards import names
from sequence.engine.state_builder import StateBuilder
from sequence.tests.support.random_games import states_of

TABLES = [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(3)]


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_legal_actions_are_the_states(rules):
    """The player to move has the same legal actions as the state; the others have none."""
    for state in states_of(rules, 3):
        assert list(state.observation().legal_actions()) == list(state.legal_actions())
        for player in range(rules.players):
            if player != state.to_move:
                assert list(state.observation(player).legal_actions()) == []


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_what_is_seen(rules):
    """An observation contains the visible cards, chips, scores, actions and the deck's size."""
    for state in states_of(rules, 4):
        for player in range(rules.players):
            seen = state.observation(player)
            assert seen.hand == state.hand(player)
            assert seen.draft_row == state.draft_row
            assert tuple(sorted(seen.discards)) == tuple(sorted(state.discards))
            assert seen.deck_size == len(state.draw_pile)
            assert (seen.sequences, seen.history) == (state.sequences, state.history)
            assert seen.is_terminal() == state.is_terminal()
            assert seen.empty_mask == state.empty_mask
            assert all(seen[r, c] == state[r, c] for r in range(10) for c in range(10))


def reachable(start):
    """Everything that is reachable from an object, except code and classes."""
    skipped = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)
    found, waiting = {id(start): start}, [start]
    while waiting:
        thing = waiting.pop()
        more = gc.get_referents(thing)
        for name in dir(thing):
            if name.startswith("__"):
                continue
            more.append(getattr(thing, name))
        for other in [
            getattr(one, "__self__", one) for one in more
        ]:  # the object to which a method is bound
            if id(other) not in found and not isinstance(other, skipped):
                found[id(other)] = other
                if not isinstance(other, int | float | complex | str | bytes):
                    waiting.append(other)
    return list(found.values())


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_hidden_things_cannot_be_reached(rules):
    """Following attributes and references from an observation finds nothing hidden."""
    states = list(states_of(rules, 5, every=20))[1:-1]
    assert states
    for state in states:
        player = state.to_move
        things = reachable(state.observation())
        hidden = {pile for other, pile in enumerate(state.hand_piles) if other != player}
        numbers = {thing for thing in things if isinstance(thing, int)}
        assert state.hand_piles[player] in numbers, "the walk finds what is there"
        assert not hidden & numbers
        assert state.reshuffle_seed is None or state.reshuffle_seed not in numbers
        assert not any(isinstance(thing, StateBuilder) for thing in things)
        lists = [tuple(thing) for thing in things if isinstance(thing, tuple | list)]
        hands = {names(pile) for pile in hidden}
        assert not any(cards in hands for cards in lists)
        rest = state.deck[state.dealt :]
        assert not any(
            len(cards) >= len(rest) > 3
            and (cards[-len(rest) :] == rest or cards[-len(rest) :] == state.draw_pile)
            for cards in lists
        )


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_hidden_things_make_no_difference(rules):
    """States that differ only in hidden information give identical observations, byte for byte."""
    chance = random.Random(6)
    for state in states_of(rules, 6):
        seen = state.observation()
        other = beliefs.sample(seen, chance)
        again = other.observation(state.to_move)
        assert again == seen
        assert hash(again) == hash(seen)
        assert pickle.dumps(pickle.loads(pickle.dumps(again))) == pickle.dumps(
            pickle.loads(pickle.dumps(seen))
        )
        assert str(again) == str(seen)
        assert repr(again) == repr(seen)
        assert list(again.legal_actions()) == list(seen.legal_actions())


def test_observations_are_immutable():
    """No field of an observation can be set, and none can be added."""
    seen = State.deal(seed=1).observation()
    for name in (field.name for field in dataclasses.fields(Observation)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(seen, name, None)
    with pytest.raises((AttributeError, TypeError)):
        seen.state = None


def test_plays_and_drafted_cards():
    """The plays name their players, and the drafted cards are those still held."""
    state = State.deal(seed=1)
    for action in (
        Action("place", "4d", "6d", (2, 4)),
        Action("place", "9c", "9c", (4, 0)),
        Action("place", "6d", "7d", (2, 6)),
    ):
        state = state.after(action)
    seen = state.observation(1)
    assert [player for player, _ in seen.plays()] == [0, 1, 0]
    assert seen.drafted(0) == ("7d",)
    assert seen.drafted(1) == ("9c",)
    assert seen.discards == ("4d", "9c", "6d")


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_plays_name_the_right_player(rules):
    """Trades and forgone trades do not end a turn; all other actions do."""
    state, chance = State.deal(rules, 8), random.Random(8)
    movers = []
    while not state.is_terminal():
        movers.append(state.to_move)
        state = state.after(state.legal_actions().choose(chance))
    assert [player for player, _ in state.observation(0).plays()] == movers


@pytest.mark.parametrize("player", [-1, 2, "0"])
def test_players_who_are_not_there(player):
    """A player who does not exist is an error, even if the number is negative."""
    state = State.deal(seed=1)
    for ask in (state.observation, state.hand, state.observation().drafted):
        with pytest.raises(ValueError, match="have no player"):
            ask(player)
