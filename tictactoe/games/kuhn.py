"""Kuhn's poker: three cards, two players, one bet (Kuhn 1950). Chance deals, and cards are hidden.

Small enough to be solved exactly: 6 deals, 58 positions, 12 information sets. There is a version
with chance and nothing hidden, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tictactoe.contract import CHANCE, IllegalMove

CARDS = (1, 2, 3)
ANTE, BET = 1, 1  # what each player has put in before the deal, and what a bet adds
PLAYERS = "xo"
# What may be said next, by what has been said; after anything else the betting is over.
NEXT: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("pass", "bet"),
    ("pass",): ("pass", "bet"),
    ("bet",): ("fold", "call"),
    ("pass", "bet"): ("fold", "call"),
}


@dataclass(frozen=True)
class Kuhn:
    """A position: everything that was dealt and said so far, in order.

    x gets a card, then o, and the third stays in the box. x passes or bets, o answers, and x
    answers if o has bet after a pass. Who folds loses the ante of 1. Otherwise the higher card wins
    1, or 2 if a bet was called. `to_move` is "x", "o", or `CHANCE` where a card is dealt; all cards
    that can be dealt have the same probability.

    With `late` x's card is face up, and o's is dealt only when the cards are compared: nobody has
    seen it before. Then there are chance nodes, and nothing is hidden.

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
        """x's card and o's, as far as they are dealt."""
        return tuple(move for move in self.moves if isinstance(move, int))

    @property
    def said(self) -> tuple[str, ...]:
        """What the players have said."""
        return tuple(move for move in self.moves if isinstance(move, str))

    @property
    def to_move(self) -> str:
        """Whose turn it is; in a terminal state it means nothing."""
        cards, said = len(self.cards), self.said
        compares = said not in NEXT and said[-1] != "fold"
        if cards < (2 if compares or not self.late else 1):
            return CHANCE
        return PLAYERS[len(said) % 2]

    def legal_moves(self) -> tuple[int | str, ...]:
        """The cards that are left, in ascending order, or what may be said; none at the end."""
        if self.to_move == CHANCE:
            return tuple(card for card in CARDS if card not in self.cards)
        return NEXT.get(self.said, ())

    def after(self, move: int | str) -> "Kuhn":
        """The position after a card was dealt or a word was said; raises `IllegalMove`."""
        if move not in self.legal_moves():
            raise IllegalMove(
                f"illegal move {move!r} for {self.to_move}: it is none of "
                f"{self.legal_moves()}, in {self}"
            )
        return Kuhn((*self.moves, move), self.late)

    def is_terminal(self) -> bool:
        """Whether somebody has folded, or the cards are compared."""
        return not self.legal_moves()

    def utility(self, player: str) -> int:
        """What the player has won at the end: 1 or 2, less than 0 if it is lost."""
        mine = 1 if player == "x" else -1
        if self.said[-1] == "fold":
            folded = PLAYERS[(len(self.said) - 1) % 2]
            return mine * (-ANTE if folded == "x" else ANTE)
        stake = ANTE + BET * (self.said[-1] == "call")
        first, second = self.cards
        return mine * (stake if first > second else -stake)

    def probability(self, move: int | str) -> Fraction:
        """Of a card, where chance is to move."""
        moves = self.legal_moves()
        return Fraction(move in moves, len(moves))

    @property
    def information(self) -> str:
        """What the player to move has seen: the own card, and what was said.

        States with the same information are one information set. Cards that lie face up are seen by
        everybody.
        """
        seen = self.cards if self.late else self.cards[PLAYERS.index(self.to_move) :][:1]
        return " ".join(map(str, (*seen, *self.said)))

    def __str__(self) -> str:
        hands = ", ".join(
            f"{player} has {card}" for player, card in zip(PLAYERS, self.cards, strict=False)
        )
        turn = f"{self.utility('x'):+d} for x" if self.is_terminal() else f"{self.to_move} to move"
        return f"{hands or 'no card is dealt'}; {', '.join(self.said) or 'nothing said'}; {turn}"
