"""Kuhn's poker: three cards, two players, one bet (Kuhn 1950). Chance deals, and cards are hidden.

The game is small enough to be solved exactly: 6 deals, 58 positions, 12 information sets. There is
also a version with chance but without hidden cards.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tictactoe.contract import CHANCE, IllegalMove

CARDS = (1, 2, 3)
ANTE, BET = 1, 1  # the stake of each player before the deal, and the amount of a bet
PLAYERS = "xo"
# The possible next actions after each sequence of actions; otherwise the betting is over.
NEXT: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("pass", "bet"),
    ("pass",): ("pass", "bet"),
    ("bet",): ("fold", "call"),
    ("pass", "bet"): ("fold", "call"),
}


@dataclass(frozen=True)
class Kuhn:
    """A position: all cards and actions so far, in order.

    x is dealt a card, then o, and the third card is not used. x passes or bets, o responds, and x
    responds if o has bet after a pass. A player who folds loses the ante of 1. Otherwise the higher
    card wins 1, or 2 if a bet was called. `to_move` is "x", "o", or `CHANCE` if a card is dealt
    next; all remaining cards have the same probability.

    With `late`, x's card is face up, and o's is dealt only when the cards are compared, so neither
    player sees it earlier. This version has chance nodes, but nothing is hidden.

    >>> state = Kuhn.from_moves([2, 1, "pass"])
    >>> print(state)
    x has 2, o has 1; pass; o to move
    >>> state.legal_moves(), state.information
    (('pass', 'bet'), '1 pass')
    >>> state.after("bet").after("call").utility("x")
    2
    >>> Kuhn.from_moves([2, "pass", "pass"], late=True).legal_moves()
    (1, 3)
    """

    moves: tuple[int | str, ...] = ()
    late: bool = False

    @classmethod
    def from_moves(cls, moves: Iterable[int | str], late: bool = False) -> "Kuhn":
        """The position after these moves, cards and words; raises `IllegalMove`."""
        state = cls(late=late)
        for move in moves:
            state = state.after(move)
        return state

    @property
    def cards(self) -> tuple[int, ...]:
        """x's card and o's, as far as they have been dealt."""
        return tuple(move for move in self.moves if isinstance(move, int))

    @property
    def betting(self) -> tuple[str, ...]:
        """The actions of the players: "pass", "bet", "fold" and "call"."""
        return tuple(move for move in self.moves if isinstance(move, str))

    @property
    def to_move(self) -> str:
        """The player whose turn it is; meaningless in a terminal state."""
        cards, betting = len(self.cards), self.betting
        compares = betting not in NEXT and betting[-1] != "fold"
        if cards < (2 if compares or not self.late else 1):
            return CHANCE
        return PLAYERS[len(betting) % 2]

    def legal_moves(self) -> tuple[int | str, ...]:
        """The remaining cards, in ascending order, or the possible actions; none at the end."""
        if self.to_move == CHANCE:
            return tuple(card for card in CARDS if card not in self.cards)
        return NEXT.get(self.betting, ())

    def after(self, move: int | str) -> "Kuhn":
        """The position after a card or an action; raises `IllegalMove`."""
        if move not in self.legal_moves():
            raise IllegalMove(
                f"illegal move {move!r} for {self.to_move}: it is not one of {self.legal_moves()}, "
                f"in {self}"
            )
        return Kuhn((*self.moves, move), self.late)

    def is_terminal(self) -> bool:
        """Whether a player has folded or the cards are compared."""
        return not self.legal_moves()

    def utility(self, player: str) -> int:
        """The amount that the player has won at the end: 1 or 2, negative for a loss."""
        mine = 1 if player == "x" else -1
        if self.betting[-1] == "fold":
            folded = PLAYERS[(len(self.betting) - 1) % 2]
            return mine * (-ANTE if folded == "x" else ANTE)
        stake = ANTE + BET * (self.betting[-1] == "call")
        first, second = self.cards
        return mine * (stake if first > second else -stake)

    def probability(self, move: int | str) -> Fraction:
        """The probability of a card, if chance is to move."""
        moves = self.legal_moves()
        return Fraction(move in moves, len(moves))

    @property
    def information(self) -> str:
        """What the player to move knows: the player's own card and all actions.

        States with the same information form one information set. Both players see face-up cards.
        """
        seen = self.cards if self.late else self.cards[PLAYERS.index(self.to_move) :][:1]
        return " ".join(map(str, (*seen, *self.betting)))

    def __str__(self) -> str:
        hands = ", ".join(
            f"{player} has {card}" for player, card in zip(PLAYERS, self.cards, strict=False)
        )
        turn = f"{self.utility('x'):+d} for x" if self.is_terminal() else f"{self.to_move} to move"
        return f"{hands or 'no card is dealt'}; {', '.join(self.betting) or 'no actions'}; {turn}"
