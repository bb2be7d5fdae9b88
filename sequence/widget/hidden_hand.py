"""A player's knowledge of the opponent's hand during a game, action by action.

from sequence.widget.hidden_hand import hidden_hand
hidden_hand(play([Greedy(), Greedy()], seed=1).states)
"""

from collections.abc import Mapping, Sequence
from math import comb
from typing import NamedTuple

from sequence.agents import beliefs
from sequence.board.cards import CARDS, RANKS, SUITS
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.pictures.pieces import AS_TEXT, CARD_STEP, card_back, card_face, chip, ink
from sequence.pictures.words import action_text, card_name, spoken_card
from tictactoe.explorables.explorable import Explorable, Settings, View
from tictactoe.explorables.svg_canvas import (
    DARK,
    GREY,
    Box,
    label,
    normalised,
    svg_document,
    tinted_number,
    translated,
)

CELL_WIDTH, CELL_HEIGHT = 56, 50  # a card's place in the table
COMPACT_CELL_WIDTH, COMPACT_CELL_HEIGHT = 68, 38  # the same on a phone, with a row for each rank
TOP, LINE = 108, 17  # height of the lines above the table; distance between lines
TRUE_HAND = "the true hand"
MEANING = ("How likely is it that they hold the card?", "Dots: copies that have not been seen.")


def card_probabilities(observation: Observation, player: int) -> dict[str, float]:
    """For each kind of card, the probability that the opponent holds at least one (two players
    only).

    All deals of the unknown cards count as equally likely; cards that the opponent cannot have are
    omitted. Implications of a forgone trade are not considered.

    Raises ValueError for more than two players, because the others' hands then depend on each
    other.
    """
    if observation.rules.players != 2:
        raise ValueError("these chances are for two players")
    excluded = beliefs.excluded_cards(observation, player)
    unknown = beliefs.unknown_cards(observation, player)
    pool = [card for card in beliefs.unseen_cards(observation) if card not in excluded]
    hands = comb(len(pool), unknown)
    probabilities = {
        card: 1 - comb(len(pool) - pool.count(card), unknown) / hands for card in CARDS
    }
    return probabilities | dict.fromkeys(observation.drafted(player), 1.0)


def hidden_hand(states: Sequence[State], player: int = 0) -> Explorable:
    """Step through the states of a game with two players, as `player` sees them.

    For each kind of card, the table shows the probability that the opponent holds one and, as dots,
    the copies that have not been seen. An option shows the true hand.

    Raises ValueError if there are no states, or more than two players.
    """
    if not states:
        raise ValueError("a game to step through has at least one state")

    def draw(step: int, settings: Settings) -> View:
        seen = states[step].observation(player)
        hand = states[step].hand(1 - player) if settings[TRUE_HAND] == "open" else None
        return _view(seen, 1 - player, f"{step} of {len(states) - 1}", hand)

    return Explorable(draw, len(states) - 1, {TRUE_HAND: ("hidden", "open")})


def _view(seen: Observation, other: int, at: str, hand: Sequence[str] | None) -> View:
    by_card, unseen = card_probabilities(seen, other), beliefs.unseen_cards(seen)
    known, unknown = seen.drafted(other), beliefs.unknown_cards(seen, other)
    last = [f"player {mover}: {action_text(action)}" for mover, action in list(seen.plays())[-1:]]
    open_kinds = [card for card in CARDS if 0 < by_card[card] < 1]
    likely = max(open_kinds, key=by_card.__getitem__, default="")
    status = (
        f"{at}: {'; '.join(last) or 'the deal'}. Known for certain: {len(known)} of "
        f"{len(known) + unknown} cards; {len(open_kinds)} more kinds are possible"
        + (f", the likeliest {card_name(likely)} with {by_card[likely]:.0%}" if likely else "")
        + "."
    )
    details = ". ".join(
        f"{spoken_card(card)}: {by_card[card]:.0%}, {unseen.count(card)} unseen" for card in CARDS
    )
    secret = f" The true hand: {' '.join(map(card_name, hand))}." if hand else ""
    svg, compact = (
        _table(layout, _hand(known, unknown, other, seen), by_card, unseen, hand or ())
        for layout in (_WIDE, _COMPACT)
    )
    return View(svg, f"{status}{secret} {details}.", status + secret, compact)


class _Layout(NamedTuple):
    """The layout of the table: the size of a card's place, and whether suits are rows."""

    width: int
    height: int
    suits_as_rows: bool

    def at(self, card: str) -> tuple[float, float]:
        """The column and the row of a card."""
        rank, suit = RANKS.index(card[0]), SUITS.index(card[1])
        return (rank, suit) if self.suits_as_rows else (suit, rank)

    @property
    def meaning(self) -> tuple[str, ...]:
        """The lines that explain the numbers and dots."""
        return (" ".join(MEANING),) if self.suits_as_rows else MEANING

    @property
    def top(self) -> int:
        """The upper edge of the table."""
        return TOP + LINE * len(self.meaning)

    def box(self, card: str) -> tuple[float, float, float, float]:
        """A card's place."""
        column, row = self.at(card)
        return 13 + self.width * column, self.top + self.height * row, self.width, self.height


_WIDE, _COMPACT = (
    _Layout(CELL_WIDTH, CELL_HEIGHT, True),
    _Layout(COMPACT_CELL_WIDTH, COMPACT_CELL_HEIGHT, False),
)


def _table(
    layout: _Layout,
    parts: Sequence[str],
    by_card: Mapping[str, float],
    unseen: Sequence[str],
    hand: Sequence[str],
) -> str:
    """The opponent's cards, and the table below them."""
    across, down = (len(RANKS), len(SUITS)) if layout.suits_as_rows else (len(SUITS), len(RANKS))
    lines = [
        label(6, TOP + LINE * number - 2, text, f'fill="{GREY}"')
        for number, text in enumerate(layout.meaning)
    ]
    most = max((probability for probability in by_card.values() if probability < 1), default=0)
    table = [
        _place(card, layout.box(card), by_card[card], most, unseen.count(card)) for card in CARDS
    ]
    return svg_document(
        26 + layout.width * across,
        layout.top + layout.height * down + 8,
        [*parts, *lines, *table, *(_held_mark(layout.box(card)) for card in dict.fromkeys(hand))],
    )


def _hand(known: Sequence[str], unknown: int, other: int, seen: Observation) -> list[str]:
    """The opponent's cards, face up if they are known."""
    cards = "".join(card_face(card, place * CARD_STEP) for place, card in enumerate(known))
    backs = "".join(card_back((len(known) + place) * CARD_STEP) for place in range(unknown))
    return [
        chip(seen.rules.side(other), (14, 14), 8),
        label(
            28,
            19,
            f"player {other}: {len(known)} cards known, {unknown} unknown",
            'font-weight="700"',
        ),
        translated(6, 34, cards + backs),
    ]


def _place(card: str, box: Box, probability: float, most: float, copies: int) -> str:
    """A kind of card with its probability: tinted, grey if impossible, and framed if certain."""
    x, y, width, height = box
    dots = "".join(
        f'<circle cx="{x + width - 18 + 11 * place}" cy="{y + 11}" r="3.5" '
        f'stroke="{DARK}" fill="{DARK if place < copies else "white"}"/>'
        for place in range(2)
    )
    text = f"{probability:.0%}"
    number = (
        tinted_number(box, probability, normalised(probability, most), probability == 1, text)
        if probability
        else label(x + width / 2, y + height - 3, text, 'font-size="11" text-anchor="middle"')
    )
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" stroke="#999" '
        f'fill="{"white" if probability else "#e2e2e2"}"/>'
        + label(
            x + 5,
            y + 20,
            card_name(card) + AS_TEXT,
            f'font-size="16" font-weight="700" fill="{ink(card)}"',
        )
        + dots
        + number
    )


def _held_mark(box: Box) -> str:
    """The mark on a card that is in the true hand."""
    x, y, width, height = box
    return (
        f'<rect x="{x + 3}" y="{y + 3}" width="{width - 6}" height="{height - 18}" rx="6" '
        'fill="none" stroke="#B00020" stroke-width="2.5" stroke-dasharray="5 3"/>'
    )
