"""Actions, and the legal actions of a turn, which are counted and indexed without listing them.

The documented order of legal actions is card order, then cell order, then the draft card:

1. placements of cards other than jacks, by cell in bit order
   (`sequence.board.layout`), that is, by card in card order, the upper cell before the lower one;
2. placements with a two-eyed jack, jd before jc, each on every empty cell in bit order;
3. removals with a one-eyed jack, jh before js, each of every removable chip in bit order;
4. trades of dead cards in card order.

Each of these is listed once with every distinct card of the draft row, in card order. If trades may
be forgone, only the trades and `FORGO`, which comes last, are legal. `PASS` is legal if nothing
else is.
"""

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Any, NamedTuple, overload

from sequence.board.cards import BOARD_KINDS, CARDS, NO_CARD, NUMBER, ONE, ONE_EYED, TWO_EYED
from sequence.board.chips import bits, nth_bit
from sequence.board.layout import BIT, CELLS, NO_CELL, Coords
from tictactoe.contract import IllegalMove

PLACE, REMOVE, TRADE, PASSING = "place", "remove", "trade", "pass"
WILD = tuple(NUMBER[card] for card in TWO_EYED)
REMOVERS = tuple(NUMBER[card] for card in ONE_EYED)
JACKS = sum(ONE[number] for number in WILD + REMOVERS)
_JACKS = (
    *((PLACE, jack, ONE[jack], False) for jack in WILD),
    *((REMOVE, jack, ONE[jack], True) for jack in REMOVERS),
)
_KEYS = ("play_card", "draft_card", "type", "coords")  # keys of an action as a dictionary
_BY_CELL = -1  # in groups of placements, where the cell determines the card


class IllegalAction(IllegalMove):
    """An action that the rules forbid in the given state; the message names both."""


class Action(NamedTuple):
    """A player's action in one step: an immutable, ordered value.

    `kind` is "place", "remove", "trade" or "pass"; `play_card` is played from the hand and
    `draft_card` is taken from the row; they are "" if there is no such card. `coords` is the cell
    (row, col), or () if there is none. `FORGO` is a trade without cards.
    """

    kind: str
    play_card: str = NO_CARD
    draft_card: str = NO_CARD
    coords: Coords = NO_CELL

    def as_dict(self) -> dict[str, Any]:
        """The action as a dictionary of play_card, draft_card, type and coords; missing ones are
        None.

        >>> Action("place", "2s", "jd", (0, 1)).as_dict()
        {'play_card': '2s', 'draft_card': 'jd', 'type': 'place', 'coords': (0, 1)}
        """
        return {
            "play_card": self.play_card or None,
            "draft_card": self.draft_card or None,
            "type": self.kind,
            "coords": self.coords or None,
        }

    @classmethod
    def from_dict(cls, action: Mapping[str, Any]) -> "Action":
        """The action from a dictionary, the reverse of `as_dict`.

        Raises ValueError unless it has exactly those four keys and a known type, cards are texts,
        and a cell is two whole numbers.
        """
        if not isinstance(action, Mapping) or set(action) != {*_KEYS}:
            raise ValueError(f"an action has the keys {', '.join(_KEYS)}: {action!r}")
        play, draft, kind, cell = (action[key] for key in _KEYS)
        if kind not in (PLACE, REMOVE, TRADE, PASSING):
            raise ValueError(f"unknown type of action {kind!r}")
        for card in (play, draft):
            if card is not None and not isinstance(card, str):
                raise ValueError(f"a card of an action is a text like '2s' or None, not {card!r}")
        coords: Any
        try:
            coords = NO_CELL if cell is None else tuple(map(operator.index, cell))
        except TypeError:
            coords = None
        if coords is None or len(coords) not in (0, 2):
            raise ValueError(f"coords are a row and a column or None, not {cell!r}")
        return cls(kind, play or NO_CARD, draft or NO_CARD, coords)

    def __str__(self) -> str:
        if self == FORGO:
            return "forgo"
        words = [self.kind, self.play_card]
        if self.coords:
            words.append(f"at {self.coords[0]},{self.coords[1]}")
        if self.draft_card:
            words.append(f"take {self.draft_card}")
        return " ".join(word for word in words if word)


FORGO = Action(TRADE)
PASS = Action(PASSING)


class LegalActions(Sequence[Action]):
    """The legal actions of one turn, in the documented order, as a lazy sequence.

    `len`, indexing and `in` take about the same time for one action as for a thousand, so
    `random.choice` is fast. It must not be changed, because a state returns the same object to
    every caller; for speed, only underscores protect its fields.
    """

    __slots__ = ("_count", "_groups", "_last", "_latest", "_row", "_takes")

    _count: int
    _latest: tuple[Action, int, int, int]
    _groups: tuple[tuple[str, int, int, int], ...]
    _last: Action | None
    _row: int
    _takes: int

    def __init__(
        self, hand: int, row: int, empty: int, removable: int, trades: bool, forgo: bool
    ) -> None:
        """Find the legal actions from piles and bitboards.

        `hand` and `row` are piles (`row` is 0 if cards are drawn blind), `empty` the cells without
        a chip, `removable` the opponents' chips outside sequences. `trades` states whether dead
        cards may still be traded in this turn, and `forgo` whether trades come before everything
        else.
        """
        kinds = hand & BOARD_KINDS
        places = kinds * 3 & empty  # the bits of both cells of each card
        dead = kinds & ~(places | places >> 1) if trades else 0
        self._latest = _NOTHING  # the latest look-up; playing its action needs no further check
        self._row = row & _ALL
        self._takes = takes = self._row.bit_count() or 1
        if dead and forgo:
            self._groups = ((TRADE, _BY_CELL, dead, dead.bit_count()),)
            self._count = dead.bit_count() * takes + 1
            self._last = FORGO
            return
        count = places.bit_count()
        groups: tuple[tuple[str, int, int, int], ...] = ((PLACE, _BY_CELL, places, count),)
        if hand & JACKS:
            for kind, jack, held, removes in _JACKS:
                if hand & held:
                    mask = removable if removes else empty
                    groups += ((kind, jack, mask, mask.bit_count()),)
                    count += mask.bit_count()
        if dead:
            groups += ((TRADE, _BY_CELL, dead, dead.bit_count()),)
            count += dead.bit_count()
        self._groups = groups
        if count:
            self._count, self._last = count * takes, None
        else:
            self._count, self._last, self._takes = 1, PASS, 1

    @classmethod
    def none(cls) -> "LegalActions":
        """No legal actions, for when the game is over or another player is to move."""
        nothing = object.__new__(cls)
        nothing._latest, nothing._groups, nothing._last = _NOTHING, (), None
        nothing._count, nothing._row, nothing._takes = 0, 0, 1
        return nothing

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Action: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Action, ...]: ...

    def __getitem__(self, index: int | slice) -> Action | tuple[Action, ...]:
        if type(index) is slice:
            return tuple(self[i] for i in range(*index.indices(self._count)))
        if index < 0:
            index += self._count
        if not 0 <= index < self._count:
            raise IndexError(f"there is no legal action number {index}, only {self._count} actions")
        if self._last is not None and index == self._count - 1:
            return self._last
        return self._at(index)

    def _at(self, index: int) -> Action:
        if self._last is not None and index == self._count - 1:
            return self._last
        row, target = self._row, index // self._takes
        for group in self._groups:
            if target < group[3]:
                break
            target -= group[3]
        kind, card, mask, _ = group
        bit = nth_bit(mask, target)
        if card < 0:
            card = bit >> 1
        take, draft = -1, NO_CARD
        if row:
            for _ in range(index % self._takes):
                row &= row - 1
            take = (row & -row).bit_length() >> 1
            draft = CARDS[take]
        coords: Coords = CELLS[bit]
        if kind == TRADE:
            bit, coords = -1, NO_CELL
        action = _new(Action, (kind, CARDS[card], draft, coords))
        self._latest = action, card, take, bit
        return action

    def choose(self, rng: Random) -> Action:
        """A uniformly random legal action, with exact probabilities; faster than `rng.choice`.

        Raises IndexError if there is none because the game is over.
        """
        count = self._count
        if not count:
            raise IndexError("the game is over, so there is no legal action to choose")
        size = count.bit_length()
        index = rng.getrandbits(size)
        while index >= count:
            index = rng.getrandbits(size)
        return self._at(index)

    def __iter__(self) -> Iterator[Action]:
        drafts = [CARDS[bit >> 1] for bit in bits(self._row)] or [NO_CARD]
        for kind, card, mask, _ in self._groups:
            for bit in bits(mask):
                for draft in drafts:
                    yield _action(kind, card, bit, draft)
        if self._last is not None:
            yield self._last

    def __contains__(self, action: object) -> bool:
        return self.locate(action) is not None

    def locate(self, action: Any) -> tuple[Action, int, int, int] | None:
        """The engine's copy of a legal action, with its numbers; None if the action is not legal.

        The numbers are those of the played card, the taken card and the cell's bit, or -1 for a
        missing part.
        """
        latest = self._latest  # read once, because another thread may replace it
        if action is latest[0]:
            return latest
        try:
            kind, play, draft, coords = action
            card, take, bit = _NUMBER[play], _NUMBER[draft], _BIT[coords]
        except (TypeError, ValueError, KeyError):  # it does not have the form of an action
            return None
        if card < 0:
            last = self._last
            return (last, -1, -1, -1) if last is not None and action == last else None
        if not (self._row & ONE[take] if take >= 0 else not self._row):
            return None
        return self._locate_play(kind, card, take, bit)

    def _locate_play(
        self, kind: str, card: int, take: int, bit: int
    ) -> tuple[Action, int, int, int] | None:
        """Like `locate`, for an action that plays a card and takes an available one."""
        for name, jack, mask, _ in self._groups:
            if kind != name or 0 <= jack != card:
                continue
            if name == TRADE:
                legal = bit < 0 and mask & ONE[card]
            else:
                legal = bit >= 0 and mask >> bit & 1 and (jack == card or bit >> 1 == card)
            if legal:
                coords = CELLS[bit] if bit >= 0 else NO_CELL
                draft = CARDS[take] if take >= 0 else NO_CARD
                return _new(Action, (name, CARDS[card], draft, coords)), card, take, bit
        return None

    def __repr__(self) -> str:
        return f"<{self._count} legal actions>"


_ALL = sum(ONE)
_NUMBER = NUMBER | {NO_CARD: -1}
_BIT: dict[Coords, int] = dict(chain(BIT.items(), [(NO_CELL, -1)]))
_NOTHING: tuple[Any, int, int, int] = (object(), -1, -1, -1)  # equal to no action
_new = tuple.__new__  # skips the checks of Action's own constructor, which triple the time


def _action(kind: str, card: int, bit: int, draft: str) -> Action:
    coords: Coords = NO_CELL if kind == TRADE else CELLS[bit]
    return _new(Action, (kind, CARDS[bit >> 1 if card < 0 else card], draft, coords))
