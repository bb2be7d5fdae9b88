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
    CARD_HEIGHT,
    CARD_STEP,
    CARD_WIDTH,
    DARK,
    GREY,
    HIGHLIGHT,
    HIGHLIGHT_EDGE,
    PALE,
    card_back,
    card_face,
    chip,
    ink,
)
from sequence.pictures.words import (
    ObservationLike,
    StateLike,
    action_text,
    as_observation,
    card_name,
    describe_position,
    held_cards,
    open_hands,
    recent_plays,
    turn_sentence,
)
from tictactoe.boards.rendering import Box, hint_mark
from tictactoe.boards.values import choose_notation, value_mark, value_text
from tictactoe.games.pictures import image

SQUARE = 48  # side of a cell in pixels
BASE = SQUARE - 2  # height of a value on a cell; its middle is above the middle of the cell
ON_CARDS = 1.33  # size of a value that fills a cell as a card does
ABOVE_VALUE = 22  # the baseline of a card's name in a cell with a value
LEFT, TOP = 20, 22  # corner of the board, after the numbers of rows and columns
BOARD = SIZE * SQUARE
CELLS = [(row, col) for row in range(SIZE) for col in range(SIZE)]
MIDDLE = (29, 32)  # centre of a chip in its cell; the card stays legible in the upper left corner
RADIUS = 13  # radius of a chip
PANEL, LINE = LEFT + BOARD + 18, 17  # left edge of the right part; line spacing
WIDTH = PANEL + 7 * CARD_STEP + 6  # a hand has at most seven cards
SMALL = 0.65  # size of cards in hands that the viewer does not play


class _Layout(NamedTuple):
    """Text sizes in pixels, and the position of the right part."""

    width: float
    panel: tuple[float, float]  # its upper left corner
    words: float
    title: float
    name: float  # size of the name of a card under a chip
    number: float  # size of the numbers of rows and columns, and of numbers on cells
    baseline: float  # baseline of a card's name in an empty cell
    value: float  # size of a value, in units of 10 pixels
    cards: float  # the size of the cards


_WIDE = _Layout(WIDTH, (PANEL, 0), 13, 15, 13, 11, SQUARE / 2 + 7, 1.15, 1)
# On a phone, the right part is below the board. The picture is shown at about half its size there,
# and all text must remain legible.
_COMPACT = _Layout(
    LEFT + BOARD + 6, (6, TOP + BOARD + 8), 17.5, 19, 17, 17, SQUARE / 2 + 3, 1.7, 1.75
)
NUMBER, COMPACT_NUMBER = 11, _COMPACT.number  # heights of numbers on cells


def picture(  # noqa: PLR0913
    position: ObservationLike | StateLike,
    hands: Mapping[int, Sequence[str]] | None = None,
    clicks: Mapping[str, str] | None = None,
    chosen: Collection[str] = (),
    values: Mapping[str, float] | None = None,
    over: str = "",
    *,
    hint: Collection[str] = (),
    compact: bool = False,
) -> str:
    """A `State` or an `Observation` as SVG text.

    `hands` are the face-up hands by player, by default that of the player to move, or of the
    observer. In other hands, only cards that were openly drafted are face up.

    For a clickable board, `clicks` maps the name of each clickable element to its label: "card 4d"
    in the hand, "cell 2,4" on the board and "take 8d" in the draft row. These elements are
    highlighted and have the name in `data-move`. Those in `chosen` have already been clicked,
    `values` are written on the elements, and those in `hint` get a frame with a star. `over` is SVG
    drawn over the board, positioned with `corner`. The `compact` layout is for phones.
    """
    return _Drawing(
        position,
        hands,
        clicks or {},
        chosen,
        values or {},
        over,
        hint=hint,
        layout=_COMPACT if compact else _WIDE,
    ).svg


def as_html(position: ObservationLike | StateLike) -> str:
    """The picture as an `<img>` with its alternative text, which notebooks keep."""
    return image(picture(position), describe_position(position))


def completed_lines(seen: ObservationLike) -> tuple[list[tuple[Cell, Cell]], bool]:
    """The completed lines, each as its two ends, and whether the heart is completed.

    A line is a five, or else nine in a row, which count as two sequences, as the heart does. A
    position only shows which chips are in sequences; the lines are derived from the position's
    history.
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
        position: ObservationLike | StateLike,
        hands: Mapping[int, Sequence[str]] | None,
        clicks: Mapping[str, str],
        chosen: Collection[str],
        values: Mapping[str, float],
        over: str,
        *,
        hint: Collection[str],
        layout: _Layout,
    ) -> None:
        self.seen, self.clicks, self.chosen = as_observation(position), clicks, chosen
        self.values, self.hint, self.layout = values, hint, layout
        self.notation = choose_notation(values.values(), SQUARE - 2, max(layout.value, ON_CARDS))
        self.left, self.line = layout.panel[0], LINE * layout.words / _WIDE.words
        self.hands = open_hands(self.seen, hands)
        self.parts: list[str] = []
        self.names: list[
            str
        ] = []  # names of cards under chips, drawn on top of the lines of sequences
        height = math.ceil(max(self.panel(), TOP + BOARD + 6))
        self.board()
        self.parts.append(over)
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width}" height="{height}" '
            f'viewBox="0 0 {layout.width} {height}"><title>Sequence</title>'
            f"<desc>{escape(describe_position(position, hands))}</desc>"
            f'<rect width="{layout.width}" height="{height}" fill="white"/>'
            f'<g font-family="sans-serif" font-size="{layout.words}" fill="{DARK}">'
            f"{''.join(self.parts)}</g></svg>"
        )

    # The right part: the score, the latest action, the hands and the row.

    def panel(self) -> float:
        """Draw the right part from the top down; returns the position of its end."""
        seen, rules, left, line = self.seen, self.seen.rules, self.left, self.line
        y = self.layout.panel[1] + 18
        self.text(
            left, y, turn_sentence(seen), f'font-size="{self.layout.title}" font-weight="700"'
        )
        y += 24
        for side, count in enumerate(seen.sequences):
            self.parts.append(chip(side, (left + 9, y - 4), 8))
            who = _players_text(rules.members(side))
            self.text(left + 26, y, f"{count} of {rules.sequences} sequences, {who}")
            y += line + 5
        for player, action in recent_plays(seen):
            self.text(left, y, f"player {player}: {action_text(action)}", f'fill="{GREY}"')
            y += line
        y += 8
        for player in sorted(range(rules.players), key=lambda player: player not in self.hands):
            y = self.hand(player, y)
            if player == max(self.hands, default=0) and rules.row:
                y = self.row(y)
        counts = f"{seen.deck_size} undealt, {len(seen.discards)} discarded"
        self.text(left, y, counts, f'fill="{GREY}"')
        for mark, is_relevant in (
            ("dashed frame and arrow: latest chip", seen.history),
            ("rings and a line: completed sequence", seen.locked_mask),
        ):
            if is_relevant:
                y += line
                self.text(left, y, mark, f'fill="{GREY}"')
        return y + 10

    def hand(self, player: int, y: float) -> float:
        """Draw a hand, or the cards of it that were openly drafted and the backs of the rest.

        Returns the position of its end.
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
        # Hands that the viewer does not play are smaller, and so are hands if there are many
        # players.
        small = 1 if is_open and len(self.hands) <= 4 else SMALL
        top, size = y + 10, small * self.layout.cards
        self.parts.append(f'<g transform="translate({self.left} {top}) scale({size:g})">')
        for place, card in enumerate(cards):
            first = is_open and card not in cards[:place]  # only one of two equal cards is chosen
            self.card(card, place * CARD_STEP, f"card {card}" if is_open else "", first, small == 1)
        for place in range(hidden):
            self.parts.append(card_back((len(cards) + place) * CARD_STEP))
        self.parts.append("</g>")
        return top + (size * CARD_HEIGHT if cards or hidden else 0) + self.line + 3

    def row(self, y: float) -> float:
        """Draw the draft row; returns the position of its end."""
        size = self.layout.cards
        self.text(self.left, y, "draft row", 'font-weight="700"')
        self.parts.append(f'<g transform="translate({self.left} {y + 10}) scale({size})">')
        cards = self.seen.draft_row
        for place, card in enumerate(cards):
            self.card(card, place * CARD_STEP, f"take {card}", card not in cards[:place])
            if f"take {card}" in self.values:
                self.parts.append(
                    self.worth(
                        f"take {card}",
                        (place * CARD_STEP + CARD_WIDTH / 2, CARD_HEIGHT + 6),
                        CARD_STEP - 1,
                        1.1,
                    )
                )
        self.parts.append("</g>")
        below = CARD_HEIGHT + (13 if self.values else 0) if cards else 0
        return y + 13 + size * below + self.line

    def card(self, card: str, x: float, move: str, first: bool, with_use: bool = True) -> None:
        """A face-up card; of two equal cards, only the first is shown as chosen."""
        self.clickable(
            move,
            card_face(card, x, move in self.clicks, move in self.chosen and first, with_use),
            (x, 0, CARD_WIDTH, CARD_HEIGHT),
        )

    # The board.

    def board(self) -> None:
        """The cells with their cards and chips, the sequences, and the last move."""
        for k in range(SIZE):
            along = k * SQUARE + SQUARE / 2
            style = f'font-size="{self.layout.number}" text-anchor="middle" fill="{GREY}"'
            self.text(LEFT + along, TOP - 6, str(k), style)
            self.text(LEFT / 2 - 1, TOP + along + 4, str(k), style)
        for cell in CELLS:
            self.cell(cell)
        ends, heart = completed_lines(self.seen)
        for width, colour in ((7, "white"), (3, DARK)):  # legible on every chip
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
                size = self.layout.value
                self.parts.append(
                    self.worth(move, (x + SQUARE / 2, y + BASE - 6 * size), SQUARE - 2, size)
                )

    def cell(self, cell: Cell) -> None:
        """Draw a cell, with its card in the middle or, above a chip, in the corner."""
        x, y = corner(cell)
        card, move = card_at(cell), f"cell {cell[0]},{cell[1]}"
        highlighted, taken = move in self.clicks, move in self.chosen
        fill = HIGHLIGHT if highlighted else "white" if card else PALE
        edge, width = (DARK, 4) if taken else (HIGHLIGHT_EDGE, 2.5) if highlighted else ("#999", 1)
        inside = (
            f'<rect x="{x + width / 2}" y="{y + width / 2}" width="{SQUARE - width}" '
            f'height="{SQUARE - width}" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{width}"/>'
        )
        side = self.side_on(cell)
        if not card:
            inside += _label(x + SQUARE / 2, y + SQUARE / 2 + 5, "free", self.layout.name, GREY)
        elif side is None:
            baseline = ABOVE_VALUE if move in self.values else self.layout.baseline
            inside += _label(x + SQUARE / 2, y + baseline, card_name(card) + AS_TEXT, 19, ink(card))
            if taken:
                inside += chip(self.seen.side, (x + MIDDLE[0] + 8, y + MIDDLE[1] + 8), 7)
        else:
            locked = bool(self.seen.locked_mask >> BIT[cell] & 1)
            inside += chip(side, (x + MIDDLE[0], y + MIDDLE[1]), RADIUS, locked)
            self.names.append(
                f'<text x="{x + 4}" y="{y + 2 + self.layout.name}" font-size="{self.layout.name}" '
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
        """Draw a frame and an arrow on the cell of the latest move, and a cross for a removal."""
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
        """Draw an element, and mark it if it can be clicked or is part of a hint."""
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

    def worth(self, move: str, centre: tuple[float, float], space: float, size: float) -> str:
        """Draw the value of a cell or of a card to take; it is drawn last, on top of all marks."""
        kind = move.partition(" ")[0]
        best = max(value for name, value in self.values.items() if name.startswith(kind))
        value = self.values[move]
        return value_mark(value, value == best, centre, space, size, self.notation)

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self.parts.append(f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>')


def _label(x: float, y: float, text: str, size: float, colour: str) -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="middle" fill="{colour}">'
        f"{text}</text>"
    )


def corner(cell: Cell) -> tuple[float, float]:
    """The corner of a cell in the picture; a cell is `SQUARE` pixels wide and high."""
    return LEFT + cell[1] * SQUARE, TOP + cell[0] * SQUARE


def _centre(cell: Cell) -> tuple[float, float]:
    x, y = corner(cell)
    return (x + MIDDLE[0], y + MIDDLE[1]) if card_at(cell) else (x + SQUARE / 2, y + SQUARE / 2)


def _players_text(players: Sequence[int]) -> str:
    if len(players) == 1:
        return f"player {players[0]}"
    return f"players {', '.join(map(str, players))}"
