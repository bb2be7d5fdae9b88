"""What a player can tell of the opponent's hand as the cards of a game are seen, action by action.

    from sequence.widget.hidden_hand import hidden_hand
    hidden_hand(play([Greedy(), Greedy()], seed=1).states)
"""

from collections.abc import Mapping, Sequence
from math import comb

from sequence.agents import beliefs
from sequence.board.cards import CARDS, RANKS, SUITS
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.pictures.pieces import AS_TEXT, STEP, TALL, card_back, card_face, chip, ink
from sequence.pictures.words import action_words, card_name, card_words
from tictactoe.show.explorable import Explorable, Settings, View
from tictactoe.show.sheet import DARK, GREY, label, moved, share, sheet, tinted

WIDE, HIGH = 56, 50  # a card's place in the table
TOP = 124  # where the table begins
LOOK = "the true hand"


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
    likely = max(open_kinds, key=by_card.get, default="")
    said = (f"{at}: {'; '.join(last) or 'the deal'}. Known for certain: {len(known)} of "
            f"{len(known) + unknown} cards; {len(open_kinds)} more kinds are possible"
            + (f", the likeliest {card_name(likely)} with {by_card[likely]:.0%}" if likely else "")
            + ".")
    told = ". ".join(f"{card_words(card)}: {by_card[card]:.0%}, {unseen.count(card)} unseen"
                     for card in CARDS)
    secret = f" The true hand: {' '.join(map(card_name, hand))}." if hand else ""
    parts = [*_hand(known, unknown, other, seen), *_table(by_card, unseen)]
    if hand:
        parts += [_ring(card) for card in dict.fromkeys(hand)]
    width = 26 + WIDE * len(RANKS)
    return View(sheet(width, TOP + HIGH * len(SUITS) + 8, parts), f"{said}{secret} {told}.",
                said + secret)


def _hand(known: Sequence[str], unknown: int, other: int, seen: Observation) -> list[str]:
    """The opponent's cards, face up where they are known."""
    cards = "".join(card_face(card, place * STEP) for place, card in enumerate(known))
    backs = "".join(card_back((len(known) + place) * STEP) for place in range(unknown))
    return [chip(seen.rules.side(other), (14, 14), 8),
            label(28, 19, f"player {other}: {len(known)} cards known, {unknown} unknown",
                  'font-weight="700"'),
            moved(6, 34, cards + backs),
            label(6, 34 + TALL + 26, "How likely is it that they hold the card? "
                  "Dots: copies that nobody has shown.", f'fill="{GREY}"')]


def _corner(card: str) -> tuple[float, float]:
    """Where the card's place in the table begins: a row for each suit."""
    return 13 + WIDE * RANKS.index(card[0]), TOP + HIGH * SUITS.index(card[1])


def _table(by_card: Mapping[str, float], unseen: Sequence[str]) -> list[str]:
    most = max((chance for chance in by_card.values() if chance < 1), default=0)
    return [_place(card, by_card[card], most, unseen.count(card)) for card in CARDS]


def _place(card: str, chance: float, most: float, copies: int) -> str:
    """A kind of card with its chance: tinted, framed if it is certain, grey if it is impossible."""
    x, y = _corner(card)
    dots = "".join(f'<circle cx="{x + 38 + 11 * place}" cy="{y + 11}" r="3.5" stroke="{DARK}" '
                   f'fill="{DARK if place < copies else "white"}"/>' for place in range(2))
    text = f"{chance:.0%}"
    number = (tinted((x, y, WIDE, HIGH), chance, share(chance, most), chance == 1, text) if chance
              else label(x + WIDE / 2, y + HIGH - 3, text, 'font-size="11" text-anchor="middle"'))
    return (f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" stroke="#999" '
            f'fill="{"white" if chance else "#e2e2e2"}"/>'
            + label(x + 5, y + 20, card_name(card) + AS_TEXT,
                    f'font-size="16" font-weight="700" fill="{ink(card)}"')
            + dots + number)


def _ring(card: str) -> str:
    """What the referee sees: the card is in the hand."""
    x, y = _corner(card)
    return (f'<rect x="{x + 4}" y="{y + 4}" width="{WIDE - 8}" height="{HIGH - 24}" rx="6" '
            'fill="none" stroke="#B00020" stroke-width="2.5" stroke-dasharray="5 3"/>')
