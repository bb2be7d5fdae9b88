"""Draws positions of Sequence, and details that match them, for new cases of studies 6 and 7.

Cells, lines, cards and actions are drawn to match the position of the case. Cases are stratified
(see `stratum`), so that a few cases of a check already differ in every dimension: who is to move,
the rules, the number of legal actions, the stage of the game, completed sequences, dead cards, and
what is on the cells in question.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar
from weakref import WeakKeyDictionary

from course.checks import Case
from course.checks.positions import read_position
from sequence import LINES, example
from sequence.board.actions import TRADE
from sequence.board.cards import BOARD_CARDS, CARDS, COPIES, ONE_EYED, TWO_EYED
from sequence.board.chips import new_sequences
from sequence.board.layout import (
    BIT,
    CORNERS,
    HEART_CELLS,
    PLAYABLE,
    card_at,
    cells_of,
    cells_with,
    mask_of,
)
from sequence.engine.observation import Observation

GAMES = 300  # seeded games to draw from; playing one takes a moment
MIDDLE = range(4, 45)  # actions of a seeded game before a position from its middle
LATE = 30  # actions of a seeded game before its last position, at least
MAX_ACTIONS = 300  # legal ones, so that a reply with all their values is not too long
TINY = 2.0**-24  # a weight that makes all differences smaller than a millionth
CELLS = tuple(cells_of(PLAYABLE))
CORNER_CELLS = tuple(cells_of(CORNERS))

T = TypeVar("T")

_decks: WeakKeyDictionary[Random, dict[str, list]] = WeakKeyDictionary()


def stratum(rng: Random, dimension: str, values: Sequence[T]) -> T:
    """Return one of the values. For the same generator and dimension, each value is returned once,
    in random order, before any value is repeated.
    """
    deck = _decks.setdefault(rng, {}).setdefault(dimension, [])
    if not deck:
        deck += rng.sample(values, len(values))
    return deck.pop()


# ---- Positions

STAGES = ("first", "middle", "middle of player 1", "late", "last")  # of a seeded game
HISTORIES = (*STAGES, "a trade", "after a trade", "a known hand")
SKETCHES = (
    "chips",
    "chips of player 1",
    "official rules",
    "official rules, player 1",
    "sequences of both",
    "one chip short",
    "one chip short, the others",
    "heart",
    "heart, official rules",
    "dead cards",
    "traded",
    "pass",
    "one action",
    "short row",
    "empty row",
)


def _game_position(rng: Random, stage: str) -> str:
    """Return a position of a seeded game: one of its first, a middle one, or its last."""
    while True:
        game = rng.randrange(GAMES)
        if stage == "first":
            return f"example {game}/{rng.randrange(MIDDLE.start)}"
        action = LATE if stage in ("late", "last") else rng.choice(MIDDLE)
        if stage == "middle of player 1":
            action |= 1
        try:
            example(f"{game}/{action}")
            while stage == "last" or (stage == "late" and rng.random() < 0.8):
                example(f"{game}/{action + 1}")
                action += 1
        except ValueError:  # the game is over
            if stage not in ("late", "last") or action == LATE:
                continue
        return f"example {game}/{action}"


def game_stage(rng: Random) -> str:
    """Return a position of a game: of any stage, with a card to trade, after a trade, or one in
    which the player knows all of the opponent's cards.
    """
    kind = stratum(rng, "history", HISTORIES)
    if kind in STAGES:
        return _game_position(rng, kind)
    while True:
        text = _game_position(rng, "late")
        seen: Observation = read_position(text)
        if kind == "a trade":
            fits = next(iter(seen.legal_actions())).kind == TRADE
        elif kind == "after a trade":
            fits = any(action.kind == TRADE for action in seen.history)
        else:
            fits = len(seen.drafted(1 - seen.player)) == seen.rules.hand
        if fits:
            return text


class _Sketch:
    """A board that is composed step by step, and the cards of the player to move."""

    def __init__(self, rng: Random, kind: str) -> None:
        self._rng, self._kind = rng, kind
        self._player = int("player 1" in kind or rng.random() < 0.3)
        self._official = "official" in kind or (kind != "empty row" and rng.random() < 0.1)
        self._chips: dict[str, list] = {side: [] for side in "xoXO"}
        self._free, self._score, self._hand = set(CELLS), [0, 0], list[str]()

    def text(self) -> str:
        """Return the text of a position of this kind. It has a full hand and a full row, except in
        kinds with few actions.
        """
        for number, side in enumerate("XO"):
            if self._kind == "sequences of both" or self._rng.random() < 0.3:
                self._put(side, self._open_line())
                self._score[number] = 1
        self._add_kind()
        sides = "xo"[self._player] if self._kind == "pass" else "xo"
        for side in sides:
            self._put(side, self._rng.sample(sorted(self._free), self._rng.randrange(14)))
        return self._written(*self._cards())

    def _add_kind(self) -> None:
        if self._kind.startswith(("one chip short", "heart")):
            self._add_unfinished_line()
        elif self._kind in ("dead cards", "traded", "pass"):
            self._add_dead_cards()
        elif self._kind == "one action":
            card = self._rng.choice(self._cards_with_two_free_cells())
            self._put(self._rng.choice("xo"), self._rng.sample(cells_with(card), 1))
            self._free.difference_update(cells_with(card))
            self._hand.append(card)
        if self._kind == "pass":
            self._hand += self._rng.sample(ONE_EYED, self._rng.randint(0, 1))

    def _add_unfinished_line(self) -> None:
        """Add a line or the heart, except one chip, and its card."""
        line = list(HEART_CELLS) if self._kind.startswith("heart") else self._open_line()
        if self._free.issuperset(line):
            last = self._rng.choice(line)
            side = "xo"[self._player ^ self._kind.endswith("the others")]
            self._put(side, [cell for cell in line if cell != last])
            self._free.discard(last)
            self._hand.append(card_at(last))

    def _add_dead_cards(self) -> None:
        sides = "xo"[self._player] if self._kind == "pass" else "xo"
        cards = self._cards_with_two_free_cells()
        for card in self._rng.sample(cards, self._rng.randint(1, 2)):
            for cell in cells_with(card):
                self._put(self._rng.choice(sides), [cell])
            self._hand.append(card)

    def _cards(self) -> tuple[list[str], list[str]]:
        """Return the hand and the draft row."""
        hand_size, row_size = (7, 0) if self._official else (6, 5)
        if self._kind in ("pass", "one action"):
            hand_size = 0
        most_row = {"one action": 1, "short row": self._rng.randint(1, 2), "empty row": 0}
        row_size = min(row_size, most_row.get(self._kind, row_size))
        pack = self._rng.sample(CARDS * COPIES, len(CARDS) * COPIES)
        for card in self._hand:
            pack.remove(card)
        more = max(0, hand_size - len(self._hand))
        return self._hand + pack[:more], pack[more : more + row_size]

    def _written(self, hand: list[str], row: list[str]) -> str:
        parts = [
            f"{side} {' '.join(map(cell_text, cells))}"
            for side, cells in self._chips.items()
            if cells
        ]
        parts += [f"score {self._score[0]} {self._score[1]}"] if any(self._score) else []
        parts += [f"hand {' '.join(hand)}", f"row {' '.join(row)}" if row else ""]
        parts += ["player 1" if self._player else "", "rules official" if self._official else ""]
        parts += ["traded" if self._kind in ("traded", "pass") else ""]
        return "sketch " + " / ".join(filter(None, parts))

    def _put(self, side: str, cells: Sequence) -> None:
        self._chips[side] += cells
        self._free.difference_update(cells)

    def _open_line(self) -> list:
        """Return the cells of a line without chips, without its corners."""
        while True:
            line = [cell for cell in self._rng.choice(LINES) if not mask_of([cell]) & CORNERS]
            if self._free.issuperset(line):
                return line

    def _cards_with_two_free_cells(self) -> list[str]:
        return [card for card in BOARD_CARDS if self._free.issuperset(cells_with(card))]


def sketch_of(rng: Random, kind: str) -> str:
    """Return a composed position of one of the `SKETCHES`."""
    return _Sketch(rng, kind).text()


def position(rng: Random) -> str:
    """Return a position that does not have too many legal actions."""
    while True:
        kind = stratum(rng, "position", (*SKETCHES, *STAGES * 2))
        text = _game_position(rng, kind) if kind in STAGES else sketch_of(rng, kind)
        if _has_few_actions(read_position(text)):
            return text


def turns(rng: Random) -> str | list[str]:
    """Return the positions in which one agent plays: one; two turns of a player in a game; the
    positions of both players; or positions of different games, also with equal cards.
    """
    kind = stratum(rng, "turns", ("one", "one", "one", "next", "both", "other", "same cards"))
    if kind in ("next", "both"):
        return _turns_of_a_game(rng, 2 if kind == "next" else 1)
    first = position(rng)
    if kind == "one":
        return first
    if kind == "other":
        return [first, position(rng)]
    while not first.startswith("sketch"):
        first = position(rng)
    return [first, _other_board(rng, first)]


def _turns_of_a_game(rng: Random, later: int) -> list[str]:
    """Return two positions of a game: one, and another so many actions later."""
    while True:
        first = _game_position(rng, "middle")
        game, _, action = first.partition("/")
        texts = [first, f"{game}/{int(action) + later}"]
        try:
            seen = list(map(read_position, texts))
        except ValueError:  # the game is over
            continue
        is_same_player = seen[0].player == seen[1].player
        if is_same_player == (later == 2) and all(map(_has_few_actions, seen)):
            return texts


def _other_board(rng: Random, text: str) -> str:
    """Return another board with the hand, the row and the rules of a sketch."""
    kept = [part for part in text.split(" / ") if part.startswith(("hand", "row", "rules"))]
    while True:
        parts = sketch_of(rng, "chips").split(" / ")
        parts = [part for part in parts if not part.startswith(("hand", "row", "rules"))]
        other = " / ".join([*parts, *kept])
        if _has_few_actions(read_position(other)):
            return other


def _has_few_actions(seen: Observation) -> bool:
    return len(seen.legal_actions()) <= MAX_ACTIONS


# ---- Details of a position


def cell_text(cell: tuple[int, int]) -> str:
    return f"{cell[0]},{cell[1]}"


def cells_by_kind(on: str) -> list[list]:
    """Return the cells of each kind: empty, own chips, the others' chips, and those of completed
    sequences.
    """
    seen: Observation = read_position(on)
    own, empty, locked = seen.chip_masks[seen.side], seen.empty_mask, seen.locked_mask
    others = PLAYABLE & ~(own | empty)
    masks = (empty, own & ~locked, others & ~locked, own & locked, others & locked)
    return [list(cells_of(mask)) for mask in masks]


def some_cells(rng: Random, on: str, corner: bool = True) -> list[str]:
    """Return a cell of each kind, a cell more, and sometimes a corner."""
    chosen = [rng.choice(cells) for cells in cells_by_kind(on) if cells] + [rng.choice(CELLS)]
    if corner and rng.random() < 0.5:
        chosen.append(rng.choice(CORNER_CELLS))
    return list(map(cell_text, dict.fromkeys(chosen)))


def some_cards(rng: Random, on: str) -> list[str]:
    """Return jacks of both kinds, a card for each number of empty cells, and some more."""
    seen: Observation = read_position(on)
    empty = set(cells_of(seen.empty_mask))
    chosen = [rng.choice(TWO_EYED), rng.choice(ONE_EYED), *rng.sample(CARDS, rng.randint(1, 2))]
    for number in range(3):
        cards = [
            card
            for card in CARDS
            if cells_with(card) and len(empty.intersection(cells_with(card))) == number
        ]
        chosen += rng.sample(cards, min(1, len(cards)))
    return rng.sample(list(dict.fromkeys(chosen)), len(dict.fromkeys(chosen)))


def some_actions(rng: Random, on: str) -> list[str]:
    """Return placements on empty cells and removals of chips that may be removed, in the notation
    of cases. Some of the placements complete or block a sequence, if this is possible.
    """
    seen: Observation = read_position(on)
    own, locked = seen.chip_masks[seen.side], seen.locked_mask
    empty = list(cells_of(seen.empty_mask))
    completing = [
        cell
        for cell in empty
        if any(
            new_sequences(chips | 1 << BIT[cell], locked, BIT[cell], heart=True)[0]
            for chips in seen.chip_masks
        )
    ]
    removable = list(cells_of(PLAYABLE & ~(seen.empty_mask | own | locked)))
    places = rng.sample(completing, min(2, len(completing))) + rng.sample(empty, 2)
    removals = rng.sample(removable, min(2, len(removable)))
    return [f"place {cell_text(cell)}" for cell in dict.fromkeys(places)] + [
        f"remove {cell_text(cell)}" for cell in removals
    ]


def some_lines(rng: Random, on: str) -> list[str]:
    """Return lines with completed own sequences, with those of the others, with both, with corners
    and without any of these.
    """
    seen: Observation = read_position(on)
    own, locked = seen.chip_masks[seen.side], seen.locked_mask
    kinds: dict[tuple, list] = {}
    for line in LINES:
        mask = mask_of(line)
        shared = min(2, (mask & own & locked).bit_count())
        theirs = min(2, (mask & locked & ~own).bit_count())
        kinds.setdefault((shared, theirs, bool(mask & CORNERS)), []).append(line)
    chosen = [rng.choice(lines) for lines in kinds.values()] + rng.sample(LINES, 2)
    return [f"{cell_text(line[0])}-{cell_text(line[-1])}" for line in dict.fromkeys(chosen)]


def some_weights(rng: Random) -> dict[str, float]:
    """Return some of the weights; exponents are integers, because the part for the board can be
    negative.
    """
    kind = stratum(
        rng, "weights", ("some", "some", "some", "tiny", "board", "exponents of 0", "negative")
    )
    if kind == "tiny":  # and so are all differences
        return {"sequence": 0, "line": 0, "board": TINY}
    if kind == "negative":
        return {"sequence": 0, "line": -1, "board": rng.choice((0, -1))}
    if kind == "board":  # so that many values are negative
        return {"sequence": 0, "line": 0, "board": rng.randint(1, 3)}
    if kind == "exponents of 0":
        return {f"{part}_exponent": 0 for part in rng.sample(("sequence", "line", "board"), 2)}
    weights: dict[str, float] = {
        "sequence": rng.choice((0, 10, 50)),
        "sequence_exponent": rng.randint(1, 3),
        "line": rng.randint(0, 4),
        "line_exponent": rng.choice((1, 1.5, 3)),
        "board": rng.randint(0, 5),
        "board_exponent": 2,
        "blocking": rng.choice((-1, 0.5, 1, 3)),
    }
    return {name: weights[name] for name in rng.sample(sorted(weights), rng.randint(2, 5))}


def with_weights(rng: Random, case: Case) -> Case:
    return {**case, "weights": some_weights(rng)} if rng.random() < 0.6 else case
