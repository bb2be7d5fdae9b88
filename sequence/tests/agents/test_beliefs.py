"""Tests of beliefs: they are true, samples fit the observation, and all deals are equally likely."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from sequence import DRAFT, FORGO, OFFICIAL, PASS, State
from sequence.agents import beliefs
from sequence.board.cards import CARDS, DECK, numbers, pile_of
from sequence.tests.support.positions import board_of, state_from
from sequence.tests.support.random_games import states_of

TABLES = [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(3)]


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_beliefs_are_true(rules):
    """In 10 random games for each number of players, the true hands always agree with the beliefs."""
    for seed in range(10):
        for state in states_of(rules, seed):
            for viewer in range(rules.players):
                seen = state.observation(viewer)
                unseen = Counter(beliefs.unseen_cards(seen))
                assert not Counter(state.draw_pile) - unseen
                for player in range(rules.players):
                    hand = Counter(state.hand(player))
                    assert set(hand) <= beliefs.possible_cards(seen, player)
                    if player != viewer:
                        unknown = hand - Counter(seen.drafted(player))
                        assert unknown.total() == beliefs.unknown_cards(seen, player)
                        assert not unknown - unseen
                        assert not set(unknown) & beliefs.excluded_cards(seen, player)


def could_have_been(sampled, states):
    """Whether each action of a game was legal with the hands that lead to the sampled ones."""
    hands = [Counter(sampled.hand(player)) for player in range(sampled.rules.players)]
    for state, action in reversed([*zip(states, sampled.history, strict=False)]):
        hand = hands[state.to_move]
        hand.subtract([action.draft_card])
        hand.update([action.play_card])
        del hand[""]
        seen = replace(state.observation(), hand_pile=pile_of(hand.elements()))
        if action not in seen.legal_actions():
            return False
    return True


def kept_hands(rules, seed):
    """The states of a game in which players keep their first cards and forgo trades if possible."""
    state, chance = State.deal(rules, seed), random.Random(seed)
    states = [state]
    while not state.is_terminal():
        legal = [*state.legal_actions()]
        drafted = state.observation().drafted(state.to_move)
        if legal[-1] == FORGO and chance.random() < 0.8:
            action = FORGO
        else:
            action = chance.choice([a for a in legal if a.play_card in drafted] or legal)
        state = state.after(action)
        states.append(state)
    return states


KEPT = [(DRAFT, 9), (DRAFT.for_players(4), 1)]


@pytest.mark.parametrize(("rules", "seed"), KEPT, ids=str)
def test_every_action_was_legal_in_a_sample(rules, seed):
    """In a sample, all earlier actions were legal, including forgone trades."""
    states, chance, forgone = kept_hands(rules, seed), random.Random(4), 0
    for number, state in enumerate(states):
        if number % 20 == 0 or state.history[-1] == FORGO:
            forgone += number % 20 > 0
            for _ in range(5):
                sampled = beliefs.sample(state.observation(0), chance)
                assert could_have_been(sampled, states)
    assert forgone > 5


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_samples_fit(rules):
    """A sampled state has all 104 cards, gives the same observation, and can be continued."""
    chance = random.Random(1)
    for state in states_of(rules, 9):
        for viewer in range(rules.players):
            seen = state.observation(viewer)
            sampled = beliefs.sample(seen, chance)
            assert sampled.observation(viewer) == seen
            cards = Counter(sampled.deck[sampled.dealt :])
            for pile in (*sampled.hand_piles, sampled.row_pile):
                cards.update(numbers(pile))
            discards = Counter(seen.discards)
            assert Counter(sampled.discards) == discards
            assert cards.total() + discards.total() == len(DECK)
            for player in range(rules.players):
                if player != viewer:
                    assert set(sampled.hand(player)) <= beliefs.possible_cards(seen, player)
                    assert not Counter(seen.drafted(player)) - Counter(sampled.hand(player))
            while not sampled.is_terminal():
                sampled = sampled.after(sampled.legal_actions().choose(chance))


def test_samples_are_seeded():
    """The same seed gives the same sample; another seed gives another sample."""
    seen = State.deal(seed=3).observation()
    first, twin, other = (beliefs.sample(seen, random.Random(seed)) for seed in (1, 1, 2))
    assert first == twin != other


def test_samples_are_uniform():
    """Over 8,000 seeded samples, the opponent holds each unseen card equally often.

    Of 93 unseen cards, 6 are held, so a single one is held in 516 samples, with a standard
    deviation of 22; the bounds are five standard deviations.
    """
    state, chance = State.deal(seed=3), random.Random(2)
    seen = state.observation()
    unseen = Counter(beliefs.unseen_cards(seen))
    counts, first = Counter(), Counter()
    for _ in range(8_000):
        sampled = beliefs.sample(seen, chance)
        counts.update(sampled.hand(1))
        first[sampled.draw_pile[0]] += 1
    assert unseen.total() == 93
    for card, copies in unseen.items():
        assert abs(counts[card] - copies * 8_000 * 6 / 93) < 5 * 22 * copies
        assert abs(first[card] - copies * 8_000 / 93) < 5 * 9.3 * copies


def few_unseen(monkeypatch, excluded, need, proved=((), (), (), ())):
    """An observation in a game of four players, with the given facts about each player's cards."""
    board = board_of("*........* " + ".......... " * 8 + "*........*")
    own = ["2d", "2d", "3d", "3d", "4d", "4d"]
    state = state_from(board, [own, [], [], []], rules=DRAFT.for_players(4), deck=[])
    seen = state.observation(0)
    monkeypatch.setattr(beliefs, "_excluded", lambda observation: excluded)
    monkeypatch.setattr(beliefs, "_held_kinds", lambda observation: proved)
    monkeypatch.setattr(beliefs, "unknown_cards", lambda observation, player: need[player])
    return seen


def test_deals_with_excluded_cards_are_uniform(monkeypatch):
    """If each player has different excluded cards, all consistent deals are still equally likely.

    Of seven cards, three players get two, two and one. The consistent deals are enumerated, and 300
    samples per deal are drawn; the bounds are five standard deviations.
    """
    pool = tuple(range(10, 17))
    dead = [0, 1 << 20 | 1 << 22 | 1 << 24, 1 << 20 | 1 << 26, 1 << 28 | 1 << 24]
    need = [0, 2, 2, 1]
    seen = few_unseen(monkeypatch, dead, need)

    def allowed(cards, player):
        return not any(dead[player] >> 2 * card & 1 for card in cards)

    deals = {
        (a, b, c)
        for a in combinations(pool, 2)
        for b in combinations(pool, 2)
        for c in combinations(pool, 1)
        if len({*a, *b, *c}) == 5 and allowed(a, 1) and allowed(b, 2) and allowed(c, 3)
    }
    chance, counts = random.Random(3), Counter()
    for _ in range(300 * len(deals)):
        hands, rest = beliefs._deal(seen, pool, chance)
        counts[tuple(numbers(hand) for hand in hands[1:])] += 1
        assert len(rest) == 2
    assert set(counts) == deals
    assert all(abs(count - 300) < 5 * 300**0.5 for count in counts.values())


def test_deals_with_proved_cards_are_uniform(monkeypatch):
    """If a player must hold one of certain cards, all consistent deals are equally likely.

    As above, but one hand must contain one of three cards, and another hand one of two others.
    """
    pool, need = tuple(range(10, 15)), [0, 2, 1, 0]
    proved = [[], [1 << 20 | 1 << 22 | 1 << 24, 1 << 26 | 1 << 20], [1 << 22 | 1 << 28], []]
    seen = few_unseen(monkeypatch, [0] * 4, need, proved)
    deals = {
        (a, b, ())
        for a in combinations(pool, 2)
        for b in combinations(pool, 1)
        if not {*a} & {*b} and {*a} & {10, 11, 12} and {*a} & {13, 10} and {*b} & {11, 14}
    }
    chance, counts = random.Random(3), Counter()
    for _ in range(300 * len(deals)):
        hands, _ = beliefs._deal(seen, pool, chance)
        counts[tuple(numbers(hand) for hand in hands[1:])] += 1
    assert set(counts) == deals
    assert all(abs(count - 300) < 5 * 300**0.5 for count in counts.values())


def test_a_proof_ends_with_the_card():
    """A forgone trade proves nothing if the dead card was drafted, or once it has been played."""
    found = Counter()
    for rules, seed in KEPT:
        sets = 0
        for state in kept_hands(rules, seed):
            before, sets = sets, len(beliefs._held_kinds(state.observation(0))[1])
            if state.history[-1:] == (FORGO,) and state.to_move == 1:
                found["proved" if sets == before + 1 else "drafted"] += 1
            elif sets != before:
                assert sets < before
                assert state.history[-1].play_card
                found["ended"] += 1
    assert {*found} == {"proved", "drafted", "ended"}


def test_who_passes_can_place_nothing():
    """A pass excludes all cards with an empty cell, and two-eyed jacks."""
    start = State.deal(seed=1)
    first = start.after(start.legal_actions()[0])
    passed = replace(first.observation(0), history=(*first.history, PASS))
    assert not beliefs.excluded_cards(first.observation(0), 1)
    assert beliefs.excluded_cards(passed, 1) == {*CARDS} - {"jh", "js"}
    assert not beliefs.excluded_cards(passed, 0)


def test_impossible_beliefs_are_errors(monkeypatch):
    """If no deal fits the observation, sampling raises an error instead of trying forever."""
    seen = few_unseen(monkeypatch, [0, (1 << 104) - 1, 0, 0], [0, 2, 0, 0])
    with pytest.raises(ValueError, match="no deal fits"):
        beliefs._deal(seen, tuple(range(10, 17)), random.Random(1))


def test_dead_cards_are_excluded():
    """A player who did not trade while a card was dead did not hold it at that time."""
    found = 0
    for seed in range(20):
        for state in states_of(DRAFT, seed):
            found += len(beliefs.excluded_cards(state.observation(0), 1))
            assert not beliefs.excluded_cards(State.deal(seed=seed).observation(0), 1)
    assert found > 100
