"""Beliefs: which cards the others may hold, and full states that fit what a player has seen.

What is known for certain: the cards that a player was seen to draft and has not played since
(`Observation.drafted`). All others come from the cards that nobody has seen. Where dead cards come
first (`Rules.forgo`) one more thing is certain: who began a turn with anything but a trade or a
forgo held no dead card then, so that none of the cards held ever since is of a kind that was dead.

Every deal that fits these facts counts as equally likely. What else could be read from how the
others play (why they forgo a trade, pass, or leave a good card unplayed) is not used.
"""

from math import comb
from random import Random

from sequence.actions import PLACE, REMOVE, TRADE
from sequence.cards import BOARD_KINDS, CARDS, NUMBER, ONE, numbers, pile_of, unseen
from sequence.layout import BIT, PLAYABLE
from sequence.observation import Observation
from sequence.state import State, state_of

TRIES = 100_000  # rejected deals after which none is expected to fit; a few are usual


def unseen_cards(observation: Observation) -> tuple[str, ...]:
    """The cards of which the player only knows that they are undealt or in another hand.

    In card order, a card twice of which no copy was seen.
    """
    return tuple(CARDS[number] for number in numbers(_unseen(observation)))


def unknown_cards(observation: Observation, player: int) -> int:
    """How many of a player's cards the observing player does not know; 0 of their own."""
    if player == observation.player:
        return 0
    return observation.rules.hand - len(observation.drafted(player))


def excluded_cards(observation: Observation, player: int) -> frozenset[str]:
    """The cards of which a player's unknown cards can be none, by the rule of dead cards."""
    dead = _ever_dead(observation)[player]
    return frozenset(card for card in CARDS if dead & ONE[NUMBER[card]])


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

    Raises ValueError if no deal fits, which a game that kept to the rules cannot bring about.
    """
    pool = numbers(_unseen(observation))
    hands, rest = _deal(observation, pool, rng)
    rng.shuffle(rest)
    rules = observation.rules
    return state_of(
        rules=rules, chip_masks=observation.chip_masks, empty_mask=observation.empty_mask,
        locked_mask=observation.locked_mask, sequences=observation.sequences,
        hand_piles=hands, row_pile=observation.row_pile, deck=tuple(rest), dealt=0,
        to_move=observation.to_move, traded=observation.traded, passes=observation.passes,
        history=observation.history, reshuffled=observation.reshuffled,
        reshuffle_seed=None if rules.row else rng.getrandbits(64), is_over=observation.is_over)


def _unseen(observation: Observation) -> int:
    others = (pile_of(observation.drafted(player)) for player in range(observation.rules.players)
              if player != observation.player)
    return unseen(observation.hand_pile, observation.row_pile, pile_of(observation.discards),
                  *others)


def _ever_dead(observation: Observation) -> list[int]:
    """For each player the kinds that were dead whenever they began a turn with a play."""
    ever = [0] * observation.rules.players
    if not observation.rules.forgo:
        return ever
    empty, begins = PLAYABLE, True
    for player, action in observation.plays():
        if begins and action.kind in (PLACE, REMOVE):
            ever[player] |= BOARD_KINDS & ~(empty | empty >> 1)
        begins = action.kind != TRADE
        if action.coords:
            empty ^= 1 << BIT[action.coords]
    return ever


def _deal(observation: Observation, pool: tuple[int, ...], rng: Random):
    """The hands of all players, as piles, and the cards of the pool that are left.

    The others get their unknown cards in turn, each any of the allowed ones that are left. That
    alone would favour some deals, as how many are allowed depends on what was dealt before; so a
    deal is kept with the probability that makes up for it, and else begun again (rejection
    sampling).
    """
    others = [player for player in range(observation.rules.players) if player != observation.player]
    need = {player: unknown_cards(observation, player) for player in others}
    dead = _ever_dead(observation)
    allowed = {player: {place for place, card in enumerate(pool) if not dead[player] & ONE[card]}
               for player in others}
    most = {}  # the most cards that may be left for each
    for turn, player in enumerate(others):
        taken = sum(max(0, need[before] - len(allowed[before] - allowed[player]))
                    for before in others[:turn])
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
        if weight >= 1 or rng.random() < weight:
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
