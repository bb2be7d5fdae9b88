"""Beliefs: which cards the others may hold, and full states that fit what a player has seen.

What is known for certain: the cards that a player was seen to draft and has not played since
(`Observation.drafted`). All others come from the cards that nobody has seen. Where dead cards come
first (`Rules.forgo`), a player's actions say more for certain about the cards held ever since:

- A player who began a turn without trading or forgoing a trade held no dead card then.
- A player who forwent a trade held a dead card then: unless it was drafted, one of the unknown
  cards is of a kind that was dead, as long as no such card was played.
- A player who passed could place nothing: no unknown card is of a kind with an empty cell, or a
  two-eyed jack while any cell was empty. That one-eyed jacks had nothing to remove is not used.

Where cards are drawn blind, a pass tells nothing. Every deal that fits these facts counts as
equally likely; why the others forgo a trade, or leave a good card unplayed, is not considered.
"""

from collections.abc import Iterator
from math import comb
from random import Random

from sequence.board.actions import FORGO, PASSING, TRADE, Action
from sequence.board.cards import (
    BOARD_KINDS,
    CARDS,
    NUMBER,
    ONE,
    TWO_EYED,
    numbers,
    pile_of,
    shuffle,
    unseen,
    with_card,
    without_card,
)  # fmt: skip
from sequence.board.layout import BIT, PLAYABLE
from sequence.engine.observation import Observation
from sequence.engine.state import State, state_of

WILD_KINDS = pile_of(TWO_EYED)
TRIES = 100_000  # rejected deals after which none is expected to fit; a few are usual


def unseen_cards(observation: Observation) -> tuple[str, ...]:
    """The cards of which the player only knows that they are undealt or in another hand.

    In card order; a card of which no copy was seen is listed twice.
    """
    return tuple(CARDS[number] for number in numbers(_unseen(observation)))


def unknown_cards(observation: Observation, player: int) -> int:
    """How many of a player's cards the observing player does not know; 0 of their own."""
    if player == observation.player:
        return 0
    return observation.rules.hand - len(observation.drafted(player))


def excluded_cards(observation: Observation, player: int) -> frozenset[str]:
    """The cards that none of a player's unknown cards can be, given what was played."""
    excluded = _excluded(observation)[player]
    return frozenset(card for card in CARDS if excluded & ONE[NUMBER[card]])


def may_hold(observation: Observation, player: int) -> frozenset[str]:
    """The cards that a player may have in hand, as far as the observing player can tell."""
    if player == observation.player:
        return frozenset(observation.hand)
    known = frozenset(observation.drafted(player))
    if not unknown_cards(observation, player):
        return known
    return known | frozenset(unseen_cards(observation)) - excluded_cards(observation, player)


def sample(observation: Observation, rng: Random) -> State:
    """A full state that the player could be in: its observation equals the given one.

    The others' unknown cards and the order of the undealt ones are drawn from `rng`, every deal
    that fits the facts above with the same probability; the same `rng` state gives the same sample.

    Raises ValueError if no deal fits, which cannot happen in a game played by the rules.
    """
    pool = numbers(_unseen(observation))
    hands, rest = _deal(observation, pool, rng)
    shuffle(rest, rng)
    rules = observation.rules
    return state_of(
        rules=rules,
        chip_masks=observation.chip_masks,
        empty_mask=observation.empty_mask,
        locked_mask=observation.locked_mask,
        sequences=observation.sequences,
        hand_piles=hands,
        row_pile=observation.row_pile,
        deck=tuple(rest),
        dealt=0,
        to_move=observation.to_move,
        traded=observation.traded,
        passes=observation.passes,
        history=observation.history,
        reshuffled=observation.reshuffled,
        reshuffle_seed=None if rules.row else rng.getrandbits(64),
        is_over=observation.is_over,
    )


def _unseen(observation: Observation) -> int:
    others = (
        pile_of(observation.drafted(player))
        for player in range(observation.rules.players)
        if player != observation.player
    )
    return unseen(
        observation.hand_pile, observation.row_pile, pile_of(observation.discards), *others
    )


def _boards(observation: Observation) -> Iterator[tuple[int, Action, int]]:
    """Every action so far with its player and the cells that were empty before it."""
    empty = PLAYABLE
    for player, action in observation.plays():
        yield player, action, empty
        if action.coords:
            empty ^= 1 << BIT[action.coords]


def _excluded(observation: Observation) -> list[int]:
    """For each player the kinds of which none was in their hand when they played or passed."""
    excluded = [0] * observation.rules.players
    if not observation.rules.forgo:
        return excluded
    begins = True
    for player, action, empty in _boards(observation):
        if begins and action.kind != TRADE:
            excluded[player] |= _dead(empty)
        if action.kind == PASSING:
            excluded[player] |= BOARD_KINDS & ~_dead(empty) | (WILD_KINDS if empty else 0)
        begins = action.kind != TRADE
    return excluded


def _proved(observation: Observation) -> list[list[int]]:
    """For each player some sets of kinds: of each set there is one among their unknown cards."""
    proved: list[list[int]] = [[] for _ in range(observation.rules.players)]
    if FORGO not in observation.history:
        return proved
    known = [0] * observation.rules.players  # piles of drafted cards, as `Observation.drafted`
    for player, action, empty in _boards(observation):
        if action == FORGO and not known[player] & _dead(empty):
            proved[player].append(_dead(empty))
        if action.play_card:
            card = NUMBER[action.play_card]
            if known[player] & ONE[card]:
                known[player] = without_card(known[player], card)
            else:
                proved[player] = [kinds for kinds in proved[player] if not kinds & ONE[card]]
        if action.draft_card:
            known[player] = with_card(known[player], NUMBER[action.draft_card])
    return proved


def _dead(empty: int) -> int:
    """The kinds without an empty cell."""
    return BOARD_KINDS & ~(empty | empty >> 1)


def _deal(
    observation: Observation, pool: tuple[int, ...], rng: Random
) -> tuple[tuple[int, ...], list[int]]:
    """The hands of all players, as piles, and the cards of the pool that are left.

    The others get their unknown cards in turn, each any of the allowed ones that are left. That
    alone would favour some deals, as how many are allowed depends on what was dealt before; so a
    deal is kept with the probability that makes up for it, and else begun again (rejection
    sampling). So is one begun again without a card that a forgone trade has proved.
    """
    others = [player for player in range(observation.rules.players) if player != observation.player]
    need = {player: unknown_cards(observation, player) for player in others}
    excluded, proved = _excluded(observation), _proved(observation)
    allowed = {
        player: {place for place, card in enumerate(pool) if not excluded[player] & ONE[card]}
        for player in others
    }
    most = {}  # the most cards that may be left for each
    for turn, player in enumerate(others):
        taken = sum(
            max(0, need[before] - len(allowed[before] - allowed[player]))
            for before in others[:turn]
        )
        most[player] = len(allowed[player]) - taken
        if most[player] < need[player]:
            raise ValueError(f"no deal fits {observation!r}")
    for _ in range(TRIES):
        left, weight, dealt = set(range(len(pool))), 1.0, {}
        for player in others:
            choice = sorted(allowed[player] & left)
            if len(choice) < need[player]:
                weight = 0.0
                break
            dealt[player] = rng.sample(choice, need[player])
            left.difference_update(dealt[player])
            weight *= comb(len(choice), need[player]) / comb(most[player], need[player])
        if (weight >= 1 or rng.random() < weight) and all(
            any(kinds & ONE[pool[place]] for place in dealt[player])
            for player in others
            for kinds in proved[player]
        ):
            break
    else:
        raise ValueError(f"no deal was found that fits {observation!r}")
    hands = []
    for player in range(observation.rules.players):
        hand = observation.hand_pile
        if player != observation.player:
            hand = pile_of([*observation.drafted(player), *(pool[i] for i in dealt[player])])
        hands.append(hand)
    return tuple(hands), [pool[place] for place in sorted(left)]
