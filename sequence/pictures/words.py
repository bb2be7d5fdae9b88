"""Sequence in words: cards and actions in print and speech, and positions for screen readers.

`sequence.pictures.text` shows positions as text for terminals.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from sequence.board.actions import FORGO, Action
from sequence.board.cards import ONE_EYED, TWO_EYED
from sequence.board.layout import cells_of
from sequence.board.rules import Rules
from sequence.pictures.text import Position, cards_text, turn_text

SUITS = {"d": "♦", "c": "♣", "h": "♥", "s": "♠"}
SUIT_WORDS = {"d": "diamonds", "c": "clubs", "h": "hearts", "s": "spades"}
RANKS = {"t": "10", "j": "J", "q": "Q", "k": "K", "a": "A"}
RANK_WORDS = {"t": "10", "j": "jack", "q": "queen", "k": "king", "a": "ace"}
SHAPES = ("circle", "square", "triangle")  # the shapes of the chips, by side
MAX_RECENT = 3  # number of latest actions listed


class ObservationLike(Position, Protocol):
    """The fields that a picture shows; `Observation` describes them."""

    @property
    def rules(self) -> Rules: ...
    @property
    def player(self) -> int: ...
    @property
    def side(self) -> int: ...
    @property
    def history(self) -> tuple[Action, ...]: ...
    @property
    def hand(self) -> tuple[str, ...]: ...
    @property
    def discards(self) -> tuple[str, ...]: ...
    @property
    def deck_size(self) -> int: ...

    def plays(self) -> Iterator[tuple[int, Action]]:
        """Every action so far with its player."""

    def drafted(self, player: int) -> tuple[str, ...]:
        """The cards that a player is known to hold."""


class StateLike(Protocol):
    """A full state; a picture shows what the player to move observes."""

    def observation(self) -> ObservationLike:
        """The observation of the player to move."""


def card_name(card: str) -> str:
    """The printed name of a card.

    >>> card_name("th")
    '10♥'
    """
    return RANKS.get(card[0], card[0]) + SUITS[card[1]]


def spoken_card(card: str) -> str:
    """The spoken name of a card.

    >>> spoken_card("th"), spoken_card("js")
    ('10 of hearts', 'jack of spades, removes a chip')
    """
    use = ", wild" if card in TWO_EYED else ", removes a chip" if card in ONE_EYED else ""
    return f"{RANK_WORDS.get(card[0], card[0])} of {SUIT_WORDS[card[1]]}{use}"


def card_label(card: str) -> str:
    """The printed name of a card followed by the spoken one, so that voice control accepts both.

    >>> card_label("kd"), card_label("js")
    ('K♦, king of diamonds', 'J♠ remove, jack of spades')
    """
    use = " wild" if card in TWO_EYED else " remove" if card in ONE_EYED else ""
    return f"{card_name(card)}{use}, {spoken_card(card).partition(',')[0]}"


def action_text(action: Action) -> str:
    """An action in words, with the printed names of its cards.

    >>> action_text(Action("place", "th", "js", (2, 4)))
    'place 10♥ at 2,4, take J♠'
    """
    if not action.play_card:
        return "forgo the trade" if action == FORGO else action.kind
    at = f" at {action.coords[0]},{action.coords[1]}" if action.coords else ""
    take = f", take {card_name(action.draft_card)}" if action.draft_card else ""
    return f"{action.kind} {card_name(action.play_card)}{at}{take}"


def describe_position(
    position: ObservationLike | StateLike, hands: Mapping[int, Sequence[str]] | None = None
) -> str:
    """The alternative text of the picture in `sequence.pictures.view`: everything that it shows."""
    seen = as_observation(position)
    rules, open_by = seen.rules, open_hands(seen, hands)
    score = ", ".join(
        f"side {side} ({SHAPES[side]}s) {count}" for side, count in enumerate(seen.sequences)
    )
    last = "; ".join(f"player {player}: {action}" for player, action in recent_plays(seen))
    sentences = [
        f"Sequence, {rules}",
        turn_sentence(seen),
        f"Sequences: {score}; {rules.sequences} to win",
        *([f"Last actions: {last}"] if last else ()),
        *(f"Hand of player {player}: {cards_text(cards)}" for player, cards in open_by.items()),
        *(
            _hidden_hand_text(player, *held_cards(seen, open_by, player))
            for player in range(rules.players)
            if player not in open_by
        ),
    ]
    if rules.row:
        sentences.append(f"Draft row: {cards_text(seen.draft_row)}")
    sentences.append(f"Undealt: {seen.deck_size}, discards: {len(seen.discards)}")
    for side, mask in enumerate(seen.chip_masks):
        locked = mask & seen.locked_mask
        sentences.append(
            f"Chips of side {side}: {_cells_text(mask)}"
            + (f"; in sequences: {_cells_text(locked)}" if locked else "")
        )
    return ". ".join(sentences) + "."


def turn_sentence(position: Position) -> str:
    """A sentence that states whose turn it is or how the game has ended."""
    turn = turn_text(position)
    return turn[0].upper() + turn[1:]


def as_observation(position: ObservationLike | StateLike) -> ObservationLike:
    """An observation unchanged; for a state, the observation of the player to move."""
    return position.observation() if hasattr(position, "observation") else position


def open_hands(
    seen: ObservationLike, hands: Mapping[int, Sequence[str]] | None
) -> Mapping[int, Sequence[str]]:
    """The face-up hands by player, by default only the observer's."""
    return {seen.player: seen.hand} if hands is None else hands


def held_cards(
    seen: ObservationLike, hands: Mapping[int, Sequence[str]], player: int
) -> tuple[Sequence[str], int]:
    """The face-up cards of a player, and the number of face-down cards.

    In a hand that is not in `hands`, only cards that were openly drafted are face up.
    """
    if player in hands:
        return hands[player], 0
    known = seen.drafted(player)
    return known, seen.rules.hand - len(known)


def recent_plays(seen: ObservationLike) -> list[tuple[int, Action]]:
    """The latest actions in order, each with its player."""
    return list(seen.plays())[-MAX_RECENT:]


def _hidden_hand_text(player: int, known: Sequence[str], hidden: int) -> str:
    cards = [cards_text(known)] if known else []
    if hidden:
        cards.append(f"{hidden} hidden {'card' if hidden == 1 else 'cards'}")
    return f"Player {player} holds {' and '.join(cards)}"


def _cells_text(mask: int) -> str:
    return " ".join(f"{row},{col}" for row, col in cells_of(mask)) or "none"
