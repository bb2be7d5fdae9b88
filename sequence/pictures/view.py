"""Sequence as a picture: the board, the hands and the draft row as SVG."""

import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple

from sequence.board.actions import REMOVE
from sequence.board.chips import new_lines
from sequence.board.layout import BIT, CORNERS, HEART, HEART_CELLS, SIZE, Cell, card_at, cells_of
from sequence.pictures.pieces import (
    AS_TEXT,
    CARD,
    DARK,
    EDGE,
    GREY,
    LIT,
    PALE,
    STEP,
    TALL,
    card_back,
    card_face,
    chip,
    ink,
)  # fmt: skip
from sequence.pictures.words import (
    Observed,
    Seen,
    action_words,
    card_name,
    held_cards,
    in_words,
    open_hands,
    recent_plays,
    seen_by_one,
    turn_sentence,
)  # fmt: skip
from tictactoe.games.pictures import image
from tictactoe.show.drawn import Box, hint_mark
from tictactoe.show.values import notation, value_mark, value_text

SQUARE = 48  # side of a cell in pixels
BASE = SQUARE - 2  # of the value on a cell, whose middle lies above it
ON_CARDS = 1.33  # size of a value for which a cell has as little room as a card
ABOVE_VALUE = 22  # the baseline of a card's name in a cell with a value
LEFT, TOP = 20, 22  # where the board begins, behind the numbers of rows and columns
BOARD = SIZE * SQUARE
CELLS = [(row, col) for row in range(SIZE) for col in range(SIZE)]
MIDDLE = (29, 32)  # of a chip in its cell: its card stays readable in the upper left corner
RADIUS = 13  # of a chip
PANEL, LINE = LEFT + BOARD + 18, 17  # where the right part begins; from one line to the next
WIDTH = PANEL + 7 * STEP + 6  # a hand has at most seven cards
SMALL = 0.65  # size of cards that are not to be played from


class _Form(NamedTuple):
    """How large the words are, in pixels, and where the right part stands."""

    width: float
    panel: tuple[float, float]  # its corner
    words: float
    title: float
    name: float  # of a card under a chip
    number: float  # of rows and columns, and on cells
    baseline: float  # of a card's name in an empty cell
    value: float  # in units of 10 pixels
    cards: float  # the size of the cards


_WIDE = _Form(WIDTH, (PANEL, 0), 13, 15, 13, 11, SQUARE / 2 + 7, 1.15, 1)
# On a telephone the right part stands below the board. The picture shrinks to about half its size
# there, and every word is to be read still.
_NARROW = _Form(LEFT + BOARD + 6, (6, TOP + BOARD + 8), 17.5, 19, 17, 17, SQUARE / 2 + 3, 1.7, 1.75)
NUMBER, NARROW_NUMBER = 11, _NARROW.number  # heights of numbers on cells


def picture(  # noqa: PLR0913
    position: Seen | Observed,
    hands: Mapping[int, Sequence[str]] | None = None,
    clicks: Mapping[str, str] | None = None,
    chosen: Collection[str] = (),
    values: Mapping[str, float] | None = None,
    over: str = "",
    *,
    hint: Collection[str] = (),
    narrow: bool = False,
) -> str:
    """A `State` or an `Observation` as SVG text.

    `hands` are the open hands by player, by default that of the player to move, or of the one who
    observes. Of the other hands, the cards that the player was seen to draft are open.

    For a board to click on, `clicks` names what can be clicked, each with its label: "card 4d" in
    the hand, "cell 2,4" and "take 8d" in the draft row. Such elements are lit and have the name in
    `data-move`; `chosen` are the ones clicked already, `values` are written on them, and those in
    `hint` get a frame with a star. `over` is
    SVG that lies above the board, placed by `corner`. The `narrow` form is for telephones.
    """
    return _Drawing(
        position,
        hands,
        clicks or {},
        chosen,
        values or {},
        over,
        hint=hint,
        form=_NARROW if narrow else _WIDE,
    ).svg


def as_html(position: Seen | Observed) -> str:
    """The picture as an `<img>` with its alternative text, as notebooks keep it."""
    return image(picture(position), in_words(position))


def completed(seen: Seen) -> tuple[list[tuple[Cell, Cell]], bool]:
    """The completed lines, each as its two ends, and whether the heart is one of them.

    A line is a five, or nine in a row, which count two sequences as the heart does. A position only
    says which chips are in sequences; which lines they are follows from its history.
    """
    ends: list[tuple[Cell, Cell]] = []
    chips, locked, heart = [0] * seen.rules.teams, 0, False
    for player, action in seen.plays():
        if not action.coords:
            continue
        bit = BIT[action.coords]
        if action.kind == REMOVE:
            chips = [mask & ~(1 << bit) for mask in chips]
            continue
        side = seen.rules.side(player)
        chips[side] |= 1 << bit
        for _, line in new_lines(chips[side], locked, bit, seen.rules.heart):
            locked |= line & ~CORNERS
            if line == HEART:
                heart = True
            else:
                cells = cells_of(line)
                ends.append((cells[0], cells[-1]))
    return ends, heart


class _Drawing:
    def __init__(  # noqa: PLR0913
        self,
        position: Seen | Observed,
        hands: Mapping[int, Sequence[str]] | None,
        clicks: Mapping[str, str],
        chosen: Collection[str],
        values: Mapping[str, float],
        over: str,
        *,
        hint: Collection[str],
        form: _Form,
    ) -> None:
        self.seen, self.clicks, self.chosen = seen_by_one(position), clicks, chosen
        self.values, self.hint, self.form = values, hint, form
        self.how = notation(values.values(), SQUARE - 2, max(form.value, ON_CARDS))
        self.left, self.line = form.panel[0], LINE * form.words / _WIDE.words
        self.hands = open_hands(self.seen, hands)
        self.parts: list[str] = []
        self.names: list[str] = []  # cards under chips: written above the lines of sequences
        height = math.ceil(max(self.panel(), TOP + BOARD + 6))
        self.board()
        self.parts.append(over)
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{form.width}" height="{height}" '
            f'viewBox="0 0 {form.width} {height}"><title>Sequence</title>'
            f"<desc>{escape(in_words(position, hands))}</desc>"
            f'<rect width="{form.width}" height="{height}" fill="white"/>'
            f'<g font-family="sans-serif" font-size="{form.words}" fill="{DARK}">'
            f"{''.join(self.parts)}</g></svg>"
        )

    # The right part: the score, what was played last, the hands, the row.

    def panel(self) -> float:
        """Draw the right part from the top down; returns where it ends."""
        seen, rules, left, line = self.seen, self.seen.rules, self.left, self.line
        y = self.form.panel[1] + 18
        self.text(left, y, turn_sentence(seen), f'font-size="{self.form.title}" font-weight="700"')
        y += 24
        for side, count in enumerate(seen.sequences):
            self.parts.append(chip(side, (left + 9, y - 4), 8))
            who = _players_text(rules.members(side))
            self.text(left + 26, y, f"{count} of {rules.sequences} sequences, {who}")
            y += line + 5
        for player, action in recent_plays(seen):
            self.text(left, y, f"player {player}: {action_words(action)}", f'fill="{GREY}"')
            y += line
        y += 8
        for player in sorted(range(rules.players), key=lambda player: player not in self.hands):
            y = self.hand(player, y)
            if player == max(self.hands, default=0) and rules.row:
                y = self.row(y)
        counts = f"{seen.undealt} undealt, {len(seen.discards)} discarded"
        self.text(left, y, counts, f'fill="{GREY}"')
        for mark, shown in (
            ("dashed frame and arrow: latest chip", seen.history),
            ("rings and a line: completed sequence", seen.locked_mask),
        ):
            if shown:
                y += line
                self.text(left, y, mark, f'fill="{GREY}"')
        return y + 10

    def hand(self, player: int, y: float) -> float:
        """A hand: open, or the cards that the player was seen to draft and the backs of the rest.

        Returns where it ends.
        """
        seen, is_open = self.seen, player in self.hands
        cards, hidden = held_cards(seen, self.hands, player)
        self.parts.append(chip(seen.rules.side(player), (self.left + 7, y - 4), 6))
        label = f"player {player}" + (f": {hidden} hidden" if hidden else "")
        mover = player == seen.to_move and not seen.is_over
        self.text(
            self.left + 20,
            y,
            label + (", to move" if mover else ""),
            'font-weight="700"' if is_open else "",
        )
        # What is not to be played from takes less room, and so do the hands of a large table.
        small = 1 if is_open and len(self.hands) <= 4 else SMALL
        top, size = y + 10, small * self.form.cards
        self.parts.append(f'<g transform="translate({self.left} {top}) scale({size:g})">')
        for place, card in enumerate(cards):
            first = is_open and card not in cards[:place]  # of two equal cards one is chosen
            self.card(card, place * STEP, f"card {card}" if is_open else "", first, small == 1)
        for place in range(hidden):
            self.parts.append(card_back((len(cards) + place) * STEP))
        self.parts.append("</g>")
        return top + (size * TALL if cards or hidden else 0) + self.line + 3

    def row(self, y: float) -> float:
        """The draft row; returns where it ends."""
        size = self.form.cards
        self.text(self.left, y, "draft row", 'font-weight="700"')
        self.parts.append(f'<g transform="translate({self.left} {y + 10}) scale({size})">')
        cards = self.seen.draft_row
        for place, card in enumerate(cards):
            self.card(card, place * STEP, f"take {card}", card not in cards[:place])
            if f"take {card}" in self.values:
                self.parts.append(
                    self.worth(f"take {card}", (place * STEP + CARD / 2, TALL + 6), STEP - 1, 1.1)
                )
        self.parts.append("</g>")
        below = TALL + (13 if self.values else 0) if cards else 0
        return y + 13 + size * below + self.line

    def card(self, card: str, x: float, move: str, first: bool, with_use: bool = True) -> None:
        """A card face up; of two equal ones only the first is shown as chosen."""
        self.clickable(
            move,
            card_face(card, x, move in self.clicks, move in self.chosen and first, with_use),
            (x, 0, CARD, TALL),
        )

    # The board.

    def board(self) -> None:
        """The cells with their cards and chips, the sequences, and the last move."""
        for k in range(SIZE):
            along = k * SQUARE + SQUARE / 2
            style = f'font-size="{self.form.number}" text-anchor="middle" fill="{GREY}"'
            self.text(LEFT + along, TOP - 6, str(k), style)
            self.text(LEFT / 2 - 1, TOP + along + 4, str(k), style)
        for cell in CELLS:
            self.cell(cell)
        ends, heart = completed(self.seen)
        for width, colour in ((7, "white"), (3, DARK)):  # readable on every chip
            for start, end in ends:
                (x, y), (to_x, to_y) = _centre(start), _centre(end)
                self.parts.append(
                    f'<path class="sequence" pointer-events="none" d="M{x} {y}L{to_x}'
                    f' {to_y}" stroke="{colour}" stroke-width="{width}"/>'
                )
            if heart:
                x, y = corner(HEART_CELLS[0])
                self.parts.append(
                    f'<rect class="sequence" pointer-events="none" x="{x + 4}" y="{y + 4}" '
                    f'width="{2 * SQUARE - 8}" height="{2 * SQUARE - 8}" rx="12" fill="none" '
                    f'stroke="{colour}" stroke-width="{width}"/>'
                )
        self.last_move()
        self.parts += self.names
        for cell in CELLS:
            if (move := f"cell {cell[0]},{cell[1]}") in self.values:
                x, y = corner(cell)
                size = self.form.value
                self.parts.append(
                    self.worth(move, (x + SQUARE / 2, y + BASE - 6 * size), SQUARE - 2, size)
                )

    def cell(self, cell: Cell) -> None:
        """One cell: its card in the middle, or in the corner above a chip."""
        x, y = corner(cell)
        card, move = card_at(cell), f"cell {cell[0]},{cell[1]}"
        lit, taken = move in self.clicks, move in self.chosen
        fill = LIT if lit else "white" if card else PALE
        edge, width = (DARK, 4) if taken else (EDGE, 2.5) if lit else ("#999", 1)
        inside = (
            f'<rect x="{x + width / 2}" y="{y + width / 2}" width="{SQUARE - width}" '
            f'height="{SQUARE - width}" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{width}"/>'
        )
        side = self.side_on(cell)
        if not card:
            inside += _label(x + SQUARE / 2, y + SQUARE / 2 + 5, "free", self.form.name, GREY)
        elif side is None:
            baseline = ABOVE_VALUE if move in self.values else self.form.baseline
            inside += _label(x + SQUARE / 2, y + baseline, card_name(card) + AS_TEXT, 19, ink(card))
            if taken:
                inside += chip(self.seen.side, (x + MIDDLE[0] + 8, y + MIDDLE[1] + 8), 7)
        else:
            locked = bool(self.seen.locked_mask >> BIT[cell] & 1)
            inside += chip(side, (x + MIDDLE[0], y + MIDDLE[1]), RADIUS, locked)
            self.names.append(
                f'<text x="{x + 4}" y="{y + 2 + self.form.name}" font-size="{self.form.name}" '
                'font-weight="700" '
                f'fill="{ink(card)}" stroke="{fill}" stroke-width="3" '
                f'paint-order="stroke" pointer-events="none">'
                f"{card_name(card)}{AS_TEXT}</text>"
            )
        self.clickable(
            move, f'<g data-cell="{cell[0]},{cell[1]}">{inside}</g>', (x, y, SQUARE, SQUARE)
        )

    def side_on(self, cell: Cell) -> int | None:
        """The side whose chip is on a cell."""
        bit = BIT[cell]
        return next(
            (side for side, mask in enumerate(self.seen.chip_masks) if mask >> bit & 1), None
        )

    def last_move(self) -> None:
        """A dashed frame and an arrow on the cell of the latest move, a cross if it took a chip."""
        moves = [action for action in self.seen.history if action.coords]
        if not moves or not moves[-1].coords:
            return
        x, y = corner(moves[-1].coords)
        self.parts.append(
            f'<g class="last" pointer-events="none" fill="none" stroke="{DARK}">'
            f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{SQUARE - 3}" height="{SQUARE - 3}" '
            f'stroke-width="3" stroke-dasharray="7 4"/>'
            f'<path d="M{x + SQUARE} {y}l-15 0l15 15Z" fill="{DARK}" stroke="white"/>'
            + (
                f'<path d="M{x + 10} {y + 10}l28 28m0 -28l-28 28" stroke="{GREY}" '
                'stroke-width="2.5"/>'
                if moves[-1].kind == REMOVE
                else ""
            )
            + "</g>"
        )

    def clickable(self, move: str, inside: str, box: Box) -> None:
        """Draw something, and mark it if it can be clicked, or is part of a hint."""
        if move in self.clicks:
            pressed = "true" if move in self.chosen else "false"
            label = self.clicks[move]
            if move in self.values:
                label += f", value {value_text(self.values[move])}"
            if move in self.hint:
                label += ", hint"
                inside += hint_mark(box)
            inside = (
                f'<g data-move="{move}" data-label="{escape(label)}" '
                f'data-pressed="{pressed}">{inside}</g>'
            )
        self.parts.append(inside)

    def worth(self, move: str, centre: tuple[float, float], room: float, size: float) -> str:
        """The value of a cell or of a card to take; it is drawn last, above all marks."""
        kind = move.partition(" ")[0]
        best = max(value for name, value in self.values.items() if name.startswith(kind))
        value = self.values[move]
        return value_mark(value, value == best, centre, room, size, self.how)

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>')


def _label(x: float, y: float, text: str, size: float, colour: str) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="middle" fill="{colour}">'
        f"{text}</text>"
    )


def corner(cell: Cell) -> tuple[float, float]:
    """Where a cell of the board begins in the picture; it is `SQUARE` pixels wide and high."""
    return LEFT + cell[1] * SQUARE, TOP + cell[0] * SQUARE


def _centre(cell: Cell) -> tuple[float, float]:
    x, y = corner(cell)
    return (x + MIDDLE[0], y + MIDDLE[1]) if card_at(cell) else (x + SQUARE / 2, y + SQUARE / 2)


def _players_text(players: Sequence[int]) -> str:
    if len(players) == 1:
        return f"player {players[0]}"
    return f"players {', '.join(map(str, players))}"
