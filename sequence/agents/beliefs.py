"""Beliefs: the cards that other players may hold, and states that agree with an observation.

Cards that a player openly drafted and has not played since are known (`Observation.drafted`). All
others are among the cards that were never seen. If dead cards must be dealt with first
(`Rules.forgo`), a player's actions imply more about the cards held at that time:

- A player who began a turn without trading or forgoing a trade held no dead card at that time.
- A player who forwent a trade held a dead card at that time. Unless that card was drafted, one of
  the unknown cards is of a kind that was dead, until such a card is played.
- A player who passed could place no card, so no unknown card is of a kind with an empty cell, nor a
  two-eyed jack if any cell was empty. What a pass implies about one-eyed jacks is not used.

If cards are drawn blind, a pass implies nothing. All deals that agree with these facts are equally
likely; the reasons for forgoing a trade or for not playing a good card are not considered.
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
)
from sequence.board.layout import BIT, PLAYABLE
from sequence.engine.observation import Observation
from sequence.engine.state import State, state_of

WILD_KINDS = pile_of(TWO_EYED)
MAX_ATTEMPTS = 100_000  # rejected deals before giving up; usually a few are enough


def unseen_cards(observation: Observation) -> tuple[str, ...]:
    """The cards that, as far as the player knows, are undealt or in another hand.

    The cards are in card order, and a card is listed twice if neither copy was seen.
    """
    return tuple(CARDS[number] for number in numbers(_unseen(observation)))


def unknown_cards(observation: Observation, player: int) -> int:
    """The number of a player's cards that the observer does not know; 0 for the observer."""
    if player == observation.player:
        return 0
    return observation.rules.hand - len(observation.drafted(player))


def excluded_cards(observation: Observation, player: int) -> frozenset[str]:
    """The cards that a player's unknown cards cannot be, according to the actions so far."""
    excluded = _excluded(observation)[player]
    return frozenset(card for card in CARDS if excluded & ONE[NUMBER[card]])


def possible_cards(observation: Observation, player: int) -> frozenset[str]:
    """The cards that a player may hold, as far as the observer knows."""
    if player == observation.player:
        return frozenset(observation.hand)
    known = frozenset(observation.drafted(player))
    if not unknown_cards(observation, player):
        return known
    return known | frozenset(unseen_cards(observation)) - excluded_cards(observation, player)


def sample(observation: Observation, rng: Random) -> State:
    """A random full state in which the player's observation would be the same.

    The others' unknown cards and the order of the undealt cards are drawn with `rng`. All deals
    that agree with the facts above have the same probability, and the same state of `rng` gives the
    same sample.

    Raises ValueError if no deal fits, which cannot happen if the game follows the rules.
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


def _empty_cells_before(observation: Observation) -> Iterator[tuple[int, Action, int]]:
    """Each action so far, with its player and the cells that were empty before it."""
    empty = PLAYABLE
    for player, action in observation.plays():
        yield player, action, empty
        if action.coords:
            empty ^= 1 << BIT[action.coords]


def _excluded(observation: Observation) -> list[int]:
    """For each player, the kinds of cards that the player's plays and passes exclude."""
    excluded = [0] * observation.rules.players
    if not observation.rules.forgo:
        return excluded
    begins = True
    for player, action, empty in _empty_cells_before(observation):
        if begins and action.kind != TRADE:
            excluded[player] |= _dead(empty)
        if action.kind == PASSING:
            excluded[player] |= BOARD_KINDS & ~_dead(empty) | (WILD_KINDS if empty else 0)
        begins = action.kind != TRADE
    return excluded


def _held_kinds(observation: Observation) -> list[list[int]]:
    """For each player, sets of kinds; the unknown cards include at least one of each set."""
    held_kinds: list[list[int]] = [[] for _ in range(observation.rules.players)]
    if FORGO not in observation.history:
        return held_kinds
    known = [0] * observation.rules.players  # piles of drafted cards, as in `Observation.drafted`
    for player, action, empty in _empty_cells_before(observation):
        if action == FORGO and not known[player] & _dead(empty):
            held_kinds[player].append(_dead(empty))
        if action.play_card:
            card = NUMBER[action.play_card]
            if known[player] & ONE[card]:
                known[player] = without_card(known[player], card)
            else:
                held_kinds[player] = [
                    kinds for kinds in held_kinds[player] if not kinds & ONE[card]
                ]
        if action.draft_card:
            known[player] = with_card(known[player], NUMBER[action.draft_card])
    return held_kinds


def _dead(empty: int) -> int:
    """The kinds without an empty cell."""
    return BOARD_KINDS & ~(empty | empty >> 1)


def _deal(
    observation: Observation, pool: tuple[int, ...], rng: Random
) -> tuple[tuple[int, ...], list[int]]:
    """The hands of all players, as piles, and the remaining cards of the pool.

    Each unknown card of the other players in turn is drawn from the allowed cards that are left.
    This favours some deals, because the number of allowed cards depends on earlier cards. A deal is
    therefore accepted only with a probability that corrects this (rejection sampling). It is also
    rejected if it lacks a card that a player must hold according to a forgone trade.
    """
    others = [player for player in range(observation.rules.players) if player != observation.player]
    need = {player: unknown_cards(observation, player) for player in others}
    held_kinds = _held_kinds(observation)
    allowed = _allowed_places(_excluded(observation), pool, others)
    max_choice = _max_choice(need, allowed)
    if any(max_choice[player] < need[player] for player in others):
        raise ValueError(f"no deal fits {observation!r}")
    for _ in range(MAX_ATTEMPTS):
        left = set(range(len(pool)))
        dealt, weight = _draw_hands(need, allowed, max_choice, left, rng)
        if (weight >= 1 or rng.random() < weight) and _has_held_kinds(dealt, pool, held_kinds):
            break
    else:
        raise ValueError(f"no deal was found that fits {observation!r}")
    hands = tuple(
        observation.hand_pile
        if player == observation.player
        else pile_of([*observation.drafted(player), *(pool[place] for place in dealt[player])])
        for player in range(observation.rules.players)
    )
    return hands, [pool[place] for place in sorted(left)]


def _has_held_kinds(
    dealt: dict[int, list[int]], pool: tuple[int, ...], held_kinds: list[list[int]]
) -> bool:
    """Whether each player holds a card from every set of kinds from which the player must hold one."""
    return all(
        any(kinds & ONE[pool[place]] for place in places)
        for player, places in dealt.items()
        for kinds in held_kinds[player]
    )


def _allowed_places(
    excluded: list[int], pool: tuple[int, ...], players: list[int]
) -> dict[int, set[int]]:
    """For each player, the places in the pool whose cards are not excluded."""
    return {
        player: {place for place, card in enumerate(pool) if not excluded[player] & ONE[card]}
        for player in players
    }


def _max_choice(need: dict[int, int], allowed: dict[int, set[int]]) -> dict[int, int]:
    """For each player, the largest number of allowed cards that any deal can leave."""
    players, max_choice = list(need), {}
    for turn, player in enumerate(players):
        taken = sum(
            max(0, need[before] - len(allowed[before] - allowed[player]))
            for before in players[:turn]
        )
        max_choice[player] = len(allowed[player]) - taken
    return max_choice


def _draw_hands(
    need: dict[int, int],
    allowed: dict[int, set[int]],
    max_choice: dict[int, int],
    left: set[int],
    rng: Random,
) -> tuple[dict[int, list[int]], float]:
    """Deal the players' unknown cards from the places in `left`, and remove these places from it.

    Return the places by player, and the probability of accepting the deal (0 if it is incomplete).
    """
    dealt: dict[int, list[int]] = {}
    weight = 1.0
    for player, count in need.items():
        choice = sorted(allowed[player] & left)
        if len(choice) < count:
            return dealt, 0.0
        dealt[player] = rng.sample(choice, count)
        left.difference_update(dealt[player])
        if len(choice) < max_choice[player]:
            weight *= comb(len(choice), count) / comb(max_choice[player], count)
    return dealt, weight
