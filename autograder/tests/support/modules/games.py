"""Small games for tests, in addition to tic-tac-toe."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Twigs:
    """A game without a picture: two moves, `a` and `b`, at each of `most` turns, then a draw."""

    path: str = ""
    most: int = 2

    @property
    def to_move(self):
        return "xo"[len(self.path) % 2]

    def legal_moves(self):
        return () if self.is_terminal() else ("a", "b")

    def after(self, move):
        return Twigs(self.path + move, self.most)

    def is_terminal(self):
        return len(self.path) == self.most

    def utility(self, player):
        return 0
