"""What a player can tell of the opponent's hand as the cards of a game are seen, action by action.

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
from sequence.pictures.pieces import AS_TEXT, STEP, card_back, card_face, chip, ink
from sequence.pictures.words import action_words, card_name, card_words
from tictactoe.show.explorable import Explorable, Settings, View
from tictactoe.show.sheet import DARK, GREY, Box, label, moved, share, sheet, tinted

WIDE, HIGH = 56, 50  # a card's place in the table
NARROW_WIDE, NARROW_HIGH = 68, 38  # and on a telephone, with a row for each rank
TOP, LINE = 108, 17  # where the table and the lines above it begin, from one line to the next
LOOK = "the true hand"
MEANING = ("How likely is it that they hold the card?", "Dots: copies that nobody has shown.")


def chances(observation: Observation, player: int) -> dict[str, float]:
    """For each kind of card, how likely it is that an opponent holds at least one, for two players.

    Every deal of the unknown cards counts as equally likely; cards that the player cannot have are
    left out. What a forgone trade says of the hand is not considered.

    Raises ValueError for more than two players: there the others' hands depend on one another.
    """
    if observation.rules.players != 2:
        raise ValueError("these chances are for two players")
    excluded = beliefs.excluded_cards(observation, player)
    unknown = beliefs.unknown_cards(observation, player)
    pool = [card for card in beliefs.unseen_cards(observation) if card not in excluded]
    hands = comb(len(pool), unknown)
    found = {card: 1 - comb(len(pool) - pool.count(card), unknown) / hands for card in CARDS}
    return found | dict.fromkeys(observation.drafted(player), 1.0)


def hidden_hand(states: Sequence[State], player: int = 0) -> Explorable:
    """Step through the states of a game for two, as `player` sees them.

    The table shows for each kind of card how likely the opponent is to hold one, and how many of
    its two copies nobody has shown yet, as dots. A knob opens the true hand.

    Raises ValueError if there are no states, or more than two players.
    """
    if not states:
        raise ValueError("a game to step through has at least one state")

    def draw(step: int, settings: Settings) -> View:
        seen = states[step].observation(player)
        hand = states[step].hand(1 - player) if settings[LOOK] == "open" else None
        return _drawn(seen, 1 - player, f"{step} of {len(states) - 1}", hand)

    return Explorable(draw, len(states) - 1, {LOOK: ("hidden", "open")})


def _drawn(seen: Observation, other: int, at: str, hand: Sequence[str] | None) -> View:
    by_card, unseen = chances(seen, other), beliefs.unseen_cards(seen)
    known, unknown = seen.drafted(other), beliefs.unknown_cards(seen, other)
    last = [f"player {mover}: {action_words(action)}" for mover, action in list(seen.plays())[-1:]]
    open_kinds = [card for card in CARDS if 0 < by_card[card] < 1]
    likely = max(open_kinds, key=by_card.__getitem__, default="")
    said = (
        f"{at}: {'; '.join(last) or 'the deal'}. Known for certain: {len(known)} of "
        f"{len(known) + unknown} cards; {len(open_kinds)} more kinds are possible"
        + (f", the likeliest {card_name(likely)} with {by_card[likely]:.0%}" if likely else "")
        + "."
    )
    told = ". ".join(
        f"{card_words(card)}: {by_card[card]:.0%}, {unseen.count(card)} unseen" for card in CARDS
    )
    secret = f" The true hand: {' '.join(map(card_name, hand))}." if hand else ""
    svg, narrow = (
        _sheet(form, _hand(known, unknown, other, seen), by_card, unseen, hand or ())
        for form in (_WIDE, _NARROW)
    )
    return View(svg, f"{said}{secret} {told}.", said + secret, narrow)


class _Form(NamedTuple):
    """How the table is laid out: the size of a card's place, and whether a suit is a row."""

    wide: int
    high: int
    suits_down: bool

    def at(self, card: str) -> tuple[float, float]:
        """The column and the row of a card."""
        rank, suit = RANKS.index(card[0]), SUITS.index(card[1])
        return (rank, suit) if self.suits_down else (suit, rank)

    @property
    def meaning(self) -> tuple[str, ...]:
        """What the numbers and dots mean, as lines."""
        return (" ".join(MEANING),) if self.suits_down else MEANING

    @property
    def top(self) -> int:
        """Where the table begins."""
        return TOP + LINE * len(self.meaning)

    def box(self, card: str) -> tuple[float, float, float, float]:
        """A card's place."""
        column, row = self.at(card)
        return 13 + self.wide * column, self.top + self.high * row, self.wide, self.high


_WIDE, _NARROW = _Form(WIDE, HIGH, True), _Form(NARROW_WIDE, NARROW_HIGH, False)


def _sheet(
    form: _Form,
    parts: Sequence[str],
    by_card: Mapping[str, float],
    unseen: Sequence[str],
    hand: Sequence[str],
) -> str:
    """The opponent's cards, and the table below them."""
    across, down = (len(RANKS), len(SUITS)) if form.suits_down else (len(SUITS), len(RANKS))
    lines = [
        label(6, TOP + LINE * number - 2, text, f'fill="{GREY}"')
        for number, text in enumerate(form.meaning)
    ]
    most = max((chance for chance in by_card.values() if chance < 1), default=0)
    table = [
        _place(card, form.box(card), by_card[card], most, unseen.count(card)) for card in CARDS
    ]
    return sheet(
        26 + form.wide * across,
        form.top + form.high * down + 8,
        [*parts, *lines, *table, *(_ring(form.box(card)) for card in dict.fromkeys(hand))],
    )


def _hand(known: Sequence[str], unknown: int, other: int, seen: Observation) -> list[str]:
    """The opponent's cards, face up where they are known."""
    cards = "".join(card_face(card, place * STEP) for place, card in enumerate(known))
    backs = "".join(card_back((len(known) + place) * STEP) for place in range(unknown))
    return [
        chip(seen.rules.side(other), (14, 14), 8),
        label(
            28,
            19,
            f"player {other}: {len(known)} cards known, {unknown} unknown",
            'font-weight="700"',
        ),
        moved(6, 34, cards + backs),
    ]


def _place(card: str, box: Box, chance: float, most: float, copies: int) -> str:
    """A kind of card with its chance: tinted, framed if it is certain, grey if it is impossible."""
    x, y, wide, high = box
    dots = "".join(
        f'<circle cx="{x + wide - 18 + 11 * place}" cy="{y + 11}" r="3.5" '
        f'stroke="{DARK}" fill="{DARK if place < copies else "white"}"/>'
        for place in range(2)
    )
    text = f"{chance:.0%}"
    number = (
        tinted(box, chance, share(chance, most), chance == 1, text)
        if chance
        else label(x + wide / 2, y + high - 3, text, 'font-size="11" text-anchor="middle"')
    )
    return (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" stroke="#999" '
        f'fill="{"white" if chance else "#e2e2e2"}"/>'
        + label(
            x + 5,
            y + 20,
            card_name(card) + AS_TEXT,
            f'font-size="16" font-weight="700" fill="{ink(card)}"',
        )
        + dots
        + number
    )


def _ring(box: Box) -> str:
    """What the referee sees: the card is in the hand."""
    x, y, wide, high = box
    return (
        f'<rect x="{x + 3}" y="{y + 3}" width="{wide - 6}" height="{high - 18}" rx="6" '
        'fill="none" stroke="#B00020" stroke-width="2.5" stroke-dasharray="5 3"/>'
    )
