"""Observations: everything that one player may see of a state, and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass

from sequence.board.actions import TRADE, Action, LegalActions
from sequence.board.cards import NO_CARD, names
from sequence.board.layout import PLAYABLE
from sequence.board.rules import Rules, winner_of
from sequence.pictures.text import cards_text, chip_at, position_text, turn_text
from sequence.pictures.view import as_html


@dataclass(frozen=True, slots=True, repr=False)
class Observation:
    """The game as `player` sees it: chips, draft row, discards, all players' actions and the score.

    Of the cards not on the table, it contains only the player's own hand and the number of undealt
    cards (`deck_size`). The other hands, the order of the undealt cards and the full state are
    neither in it nor reachable from it. It is immutable, so it can be stored; equal observations
    represent the same knowledge.

    The fields have the same names and shapes as in `sequence.engine.state.State`.
    """

    rules: Rules
    player: int
    to_move: int
    traded: bool
    passes: int
    is_over: bool
    sequences: tuple[int, ...]
    hand_pile: int
    row_pile: int
    chip_masks: tuple[int, ...]
    locked_mask: int
    history: tuple[Action, ...]
    reshuffled: int
    deck_size: int

    @property
    def side(self) -> int:
        """The side to which the player belongs."""
        return self.rules.side(self.player)

    @property
    def empty_mask(self) -> int:
        """The cells without a chip, excluding corners, as a bitboard."""
        empty = PLAYABLE
        for mask in self.chip_masks:
            empty &= ~mask
        return empty

    def legal_actions(self) -> LegalActions:
        """The legal actions of the state, in the documented order and found lazily.

        There are none when the game is over or another player is to move.
        """
        if self.is_over or self.player != self.to_move:
            return LegalActions.none()
        empty, own = self.empty_mask, self.chip_masks[self.side]
        return LegalActions(
            self.hand_pile,
            self.row_pile,
            empty,
            PLAYABLE ^ (empty | own | self.locked_mask),
            not self.traded,
            self.rules.forgo,
        )

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.is_over

    @property
    def winner(self) -> int | None:
        """The side with the most sequences; None for a tie and before the end."""
        return winner_of(self.sequences) if self.is_over else None

    @property
    def hand(self) -> tuple[str, ...]:
        """The player's own cards, in card order."""
        return names(self.hand_pile)

    @property
    def draft_row(self) -> tuple[str, ...]:
        """The face-up draft cards in card order; none if cards are drawn blind."""
        return names(self.row_pile)

    @property
    def discards(self) -> tuple[str, ...]:
        """The discarded cards in order, without the cards that were shuffled back into the deck."""
        return tuple(
            action.play_card for action in self.history[self.reshuffled :] if action.play_card
        )

    def plays(self) -> Iterator[tuple[int, Action]]:
        """Every action so far with its player, including the cards played and drafted."""
        player = 0
        for action in self.history:
            yield player, action
            if action.kind != TRADE:
                player = (player + 1) % self.rules.players

    def drafted(self, player: int) -> tuple[str, ...]:
        """The cards that a player openly drafted and has not played since, in the order of
        drafting.

        If a player holds two copies of a card and drafted one of them, the drafted copy is assumed
        to be played first, so the other players can be certain of every card in the result.

        Raises ValueError for a player who is not in the game.
        """
        held: list[str] = []
        player = self.rules.seat(player)
        for mover, action in self.plays():
            if mover == player:
                if action.play_card in held:
                    held.remove(action.play_card)
                if action.draft_card != NO_CARD:
                    held.append(action.draft_card)
        return tuple(held)

    def __getitem__(self, cell: tuple[int, int]) -> str:
        """The chip on a cell, as in the board's text; raises KeyError if the cell does not exist."""
        return chip_at(cell, self.chip_masks, self.locked_mask)

    def __str__(self) -> str:
        return position_text(self, {self.player: self.hand}, self.deck_size, turn_text(self))

    def __repr__(self) -> str:
        return (
            f"<Observation by player {self.player} of {self.rules} after {len(self.history)} "
            f"actions: hand {cards_text(self.hand)}, draft row {cards_text(self.draft_row)}>"
        )

    def _repr_html_(self) -> str:
        return as_html(self)
