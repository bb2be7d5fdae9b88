"""A mutable state under construction, and the changes that actions make to it."""

import random

from sequence.board.actions import Action, LegalActions
from sequence.board.cards import BOTH, NUMBER, ONE, numbers, shuffle, unseen
from sequence.board.chips import new_sequences
from sequence.board.rules import Rules


class StateBuilder:
    """All fields of a state, mutable until `sequence.engine.state` makes it a `State`.

    Fields that end in `_mask` or `_masks` are bitboards (`sequence.board.layout`), those in `_pile`
    or `_piles` are piles of cards (`sequence.board.cards`).
    """

    __slots__ = (
        "_legal",
        "chip_masks",
        "dealt",
        "deck",
        "empty_mask",
        "hand_piles",
        "history",
        "is_over",
        "locked_mask",
        "passes",
        "reshuffle_seed",
        "reshuffled",
        "row_pile",
        "rules",
        "sequences",
        "to_move",
        "traded",
    )

    rules: Rules
    chip_masks: tuple[int, ...]  # the bitboard of each side's chips
    empty_mask: int  # the cells without a chip, excluding corners
    locked_mask: int  # the chips of completed sequences, of all sides
    sequences: tuple[int, ...]  # the number of completed sequences, by side
    hand_piles: tuple[int, ...]  # the pile of each player
    row_pile: int  # the face-up draft cards
    deck: tuple[int, ...]  # card numbers; the first `dealt` cards are dealt
    dealt: int
    to_move: int  # the player whose turn it is
    traded: bool  # whether that player has traded or forgone a dead card in this turn
    passes: int  # consecutive turns that ended with a pass
    history: tuple[Action, ...]  # all actions so far
    reshuffled: int  # the number of actions before the last shuffle of the discards
    reshuffle_seed: int | None  # seed of the next shuffle of the discards
    is_over: bool
    _legal: LegalActions | None  # found on first use


def next_state(state: StateBuilder, action: Action) -> StateBuilder:
    """A mutable copy of the state, with another action in its history.

    The caller must still set the player to move and whether the game is over.
    """
    new = _new(StateBuilder)
    new.rules, new.history, new._legal = state.rules, state.history, None
    new.history += (action,)  # faster than unpacking
    new.chip_masks, new.empty_mask = state.chip_masks, state.empty_mask
    new.locked_mask, new.sequences = state.locked_mask, state.sequences
    new.hand_piles, new.row_pile = state.hand_piles, state.row_pile
    new.deck, new.dealt = state.deck, state.dealt
    new.reshuffled, new.reshuffle_seed = state.reshuffled, state.reshuffle_seed
    return new


def put_on_top(new: StateBuilder, draw: str, draws: bool) -> None:
    """Make the card `draw` the next one to be drawn.

    Raises ValueError if it is not undealt, or if nothing will be drawn (`draws` is false).
    """
    rest = list(new.deck[new.dealt :])
    number = NUMBER.get(draw)
    if not draws or number not in rest:
        reason = "it is not among the undealt cards" if draws else "the action draws no card"
        raise ValueError(f"{draw!r} cannot be drawn: {reason}")
    rest.remove(number)
    new.deck, new.dealt = (number, *rest), 0


def exchange(new: StateBuilder, player: int, card: int, take: int) -> None:
    """Discard a card, then take one from the row and refill it, or draw blind if there is no row."""
    # For speed, `with_card` and `without_card` are inlined here.
    hands, dealt = new.hand_piles, new.dealt
    hand = hands[player]
    hand ^= hand & BOTH[card] or ONE[card]
    drawn = -1
    if dealt < len(new.deck):
        drawn = new.deck[dealt]
        new.dealt = dealt + 1
    if take >= 0:
        row = new.row_pile
        row ^= row & BOTH[take] or ONE[take]
        if drawn >= 0:
            row |= BOTH[drawn] if row & ONE[drawn] else ONE[drawn]
        new.row_pile = row
    else:
        take = drawn
    hand |= BOTH[take] if hand & ONE[take] else ONE[take]
    new.hand_piles = _replaced(hands, player, hand)
    if not new.rules.row and new.dealt == len(new.deck):
        _reshuffle(new)


def _reshuffle(new: StateBuilder) -> None:
    """Shuffle the discards (all cards that are in no hand) once the last card has been drawn."""
    rng = random.Random(new.reshuffle_seed)
    deck = list(numbers(unseen(*new.hand_piles)))
    shuffle(deck, rng)
    new.deck, new.dealt, new.reshuffled = tuple(deck), 0, len(new.history)
    new.reshuffle_seed = rng.getrandbits(64)


def _replaced(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    """The tuple with one value replaced; there is a shortcut for two sides, as in most games."""
    if len(values) == 2:
        return (values[0], value) if index else (value, values[1])
    return (*values[:index], value, *values[index + 1 :])


def place(new: StateBuilder, side: int, bit: int) -> None:
    """Put a chip of a side on the empty cell with that bit, and mark and count its sequences."""
    chip = 1 << bit
    chips = new.chip_masks
    own = chips[side] | chip
    new.chip_masks = _replaced(chips, side, own)
    new.empty_mask ^= chip
    locked = new.locked_mask
    count, marks = new_sequences(own, locked, bit, new.rules.heart)
    if count:
        new.locked_mask = locked | marks
        scores = new.sequences
        new.sequences = _replaced(scores, side, scores[side] + count)


def remove(new: StateBuilder, bit: int) -> None:
    """Remove the chip on the cell with that bit, whichever side it belongs to."""
    chip = 1 << bit
    new.chip_masks = tuple(mask & ~chip for mask in new.chip_masks)
    new.empty_mask |= chip


_new = object.__new__
