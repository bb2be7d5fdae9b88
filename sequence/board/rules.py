"""The two rule sets as data: the variant with a face-up draft row and the published game."""

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rules:
    """A rule set: everything that the engine needs to know about the rules of one game.

    The `players` take turns and form `teams` sides: player p belongs to side p % teams, so in a
    game of four, players 0 and 2 play against 1 and 3. `hand` is the number of cards in a hand, and
    `row` the number of face-up draft cards. A side with `sequences` completed sequences ends the
    game.

    With a `row`, an action names the card that it takes, the row is refilled, and the game ends
    when the row is empty. Without a row, cards are drawn blind, and when the undealt cards run out,
    the discards are shuffled. With `forgo`, a player who holds a dead card at the start of a turn
    may only trade dead cards or forgo trading; without it, trades are legal alongside the other
    actions. With `heart`, the four cells in the middle count as two sequences.

    `hands` and `wins` are the rule set's tables: pairs of (players, cards in hand) and (teams,
    sequences to win), from which `for_players` makes the rules for other numbers of players.
    """

    name: str
    players: int
    teams: int
    hand: int
    row: int
    sequences: int
    forgo: bool
    heart: bool
    hands: tuple[tuple[int, int], ...]
    wins: tuple[tuple[int, int], ...]

    def side(self, player: int) -> int:
        """The side to which a player belongs."""
        return player % self.teams

    def members(self, side: int) -> tuple[int, ...]:
        """The players of a side, in the order of their turns."""
        return tuple(range(side, self.players, self.teams))

    def seat(self, player: int) -> int:
        """Return the number of a player unchanged; raises ValueError if there is no such player."""
        if player not in range(self.players):
            raise ValueError(f"{self} have no player {player!r}: players are counted from 0")
        return player

    def for_players(self, players: int, teams: int | None = None) -> "Rules":
        """The same rule set for another number of players, by default in the fewest possible equal
        teams.

        >>> OFFICIAL.for_players(9).teams, OFFICIAL.for_players(12, teams=3).sequences
        (3, 1)

        Raises ValueError for a number of players or teams that the rule set does not allow.
        """
        hands, wins = dict(self.hands), dict(self.wins)
        if players not in hands:
            raise ValueError(f"{self.name} is played by {_list(hands)} players, not {players!r}")
        possible = [number for number in wins if players % number == 0]
        if teams is None:
            teams = min(possible)
        if teams not in possible:
            raise ValueError(
                f"{players} players of {self.name} play in {_list(possible)} teams, not {teams!r}"
            )
        return replace(
            self, players=players, teams=teams, hand=hands[players], sequences=wins[teams]
        )

    @property
    def is_named(self) -> bool:
        """Whether these are the rules of the named rule set for this number of players and teams."""
        try:
            return self == RULE_SETS[self.name].for_players(self.players, self.teams)
        except (KeyError, ValueError):
            return False

    def __str__(self) -> str:
        return f"{self.name}, {self.players} players in {self.teams} teams"


def winner_of(sequences: tuple[int, ...]) -> int | None:
    """The side with the most sequences; None if several sides share that number."""
    best = max(sequences)
    return None if sequences.count(best) > 1 else sequences.index(best)


def _list(numbers: Iterable[int]) -> str:
    return " or ".join(str(number) for number in sorted(numbers))


DRAFT = Rules(
    name="draft",
    players=2,
    teams=2,
    hand=6,
    row=5,
    sequences=2,
    forgo=True,
    heart=True,
    hands=((2, 6), (4, 6)),
    wins=((2, 2),),
)
OFFICIAL = Rules(
    name="official",
    players=2,
    teams=2,
    hand=7,
    row=0,
    sequences=2,
    forgo=False,
    heart=False,
    hands=((2, 7), (3, 6), (4, 6), (6, 5), (8, 4), (9, 4), (10, 3), (12, 3)),
    wins=((2, 2), (3, 1)),
)
RULE_SETS = {rules.name: rules for rules in (DRAFT, OFFICIAL)}
