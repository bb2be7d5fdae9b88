"""Shows a ray of a board, read cell by cell, with the results of a reading function for each
prefix.

from sequence.widget.rays import read_along
read_along(board, (4, 4), {"right": (0, 1), "down": (1, 0)}, read, ("connected", "open"))
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from sequence.board.layout import SIZE, Cell
from sequence.pictures.pieces import HIGHLIGHT, HIGHLIGHT_EDGE, PALE, chip
from tictactoe.explorables.explorable import Explorable, Settings, View
from tictactoe.explorables.svg_canvas import (
    DARK,
    GREY,
    label,
    number_text,
    svg_document,
    translated,
)

WALL = "#"
SQUARE, BOX, ROW = (
    28,
    30,
    21,
)  # side of a cell, side of a letter's box, height of a row of the table
MARGIN = 18  # space for the numbers of rows and columns
GAP = 34  # gap between the board and the table
COLUMN = 88  # width of the table, after the texts
TEXTS = 128  # width of the texts that were read
COMPACT_BOX, COMPACT_COLUMN, COMPACT_TEXTS = 26, 62, 90  # on a phone, below the board
TITLE = 20
Read = Callable[[str], Sequence[object]]  # a student's function that reads a text
_Reading = tuple[str, tuple[object, ...]]  # a text, and the values for it


def read_along(
    board: str,
    cell: Cell,
    steps: Mapping[str, Cell],
    read: Read,
    names: Sequence[str],
) -> Explorable:
    """Uncover a ray from `cell` cell by cell, with the results of `read` for the uncovered part.

    `board` is a text of 100 cells, in which "m" is a chip of mine and "t" one of theirs, in
    capitals if it is in a sequence; `steps` maps the name of each direction to the step to the next
    cell. Covered cells count as a wall: `read` is called with the uncovered cells and "#", and
    returns a value for each of the `names`.

    Raises ValueError if the board does not have 100 cells or there are no directions.
    """
    if len(board) != SIZE * SIZE or not steps:
        raise ValueError(
            f"a ray is read on a board of {SIZE * SIZE} cells, in a direction; got "
            f"{len(board)} cells and {len(steps)} directions"
        )
    rays = {name: list(_walk(cell, step)) for name, step in steps.items()}
    texts = {
        name: "".join(board[SIZE * row + col] for row, col in ray) for name, ray in rays.items()
    }

    def draw(step: int, settings: Settings) -> View:
        name = settings["direction"]
        text = texts[name]
        rows = [
            (text[:length] + WALL, _read_values(read, text[:length] + WALL, names))
            for length in range(step + 1)
        ]
        status = _status(name, text, rows, names)
        board_part = translated(MARGIN, MARGIN, _board(board, cell, rays[name], step))
        side, high = MARGIN + SIZE * SQUARE, ROW * (SIZE + 1) + 34
        right = _strip(text, step, BOX) + _table(rows, names, TITLE + BOX, COLUMN, TEXTS)
        svg = svg_document(
            side + GAP + max(TEXTS + COLUMN * len(names), BOX * (SIZE + 1)),
            max(side, TITLE + BOX + high) + 8,
            [board_part, translated(side + GAP, 0, right)],
        )
        below = _strip(text, step, COMPACT_BOX) + _table(
            rows, names, TITLE + COMPACT_BOX, COMPACT_COLUMN, COMPACT_TEXTS
        )
        compact = svg_document(
            max(side + 4, COMPACT_TEXTS + COMPACT_COLUMN * len(names), COMPACT_BOX * (SIZE + 1)),
            side + 16 + TITLE + COMPACT_BOX + high,
            [board_part, translated(2, side + 16, below)],
        )
        details = "; ".join(
            f"{seen}: " + ", ".join(map(_value_text, values)) for seen, values in rows
        )
        return View(
            svg, f"From {cell[0]},{cell[1]}: {status} Read so far: {details}.", status, compact
        )

    return Explorable(
        draw, lambda settings: len(texts[settings["direction"]]), {"direction": list(rays)}
    )


def _walk(cell: Cell, step: Cell) -> Iterator[Cell]:
    """The cells beyond a cell, up to the edge."""
    row, col = cell[0] + step[0], cell[1] + step[1]
    while 0 <= row < SIZE and 0 <= col < SIZE and step != (0, 0):
        yield row, col
        row, col = row + step[0], col + step[1]


def _read_values(read: Read, text: str, names: Sequence[str]) -> tuple[object, ...]:
    """The values that `read` returns for a text, one for each name."""
    values = read(text)
    if not isinstance(values, Sequence) or len(values) != len(names):
        raise ValueError(
            f"reading {text!r} returned {values!r} instead of one value for each of "
            f"{', '.join(names)}"
        )
    return tuple(values)


def _status(name: str, text: str, rows: Sequence[_Reading], names: Sequence[str]) -> str:
    seen, values = rows[-1]
    news = [
        what
        for what, value, before in zip(
            names, values, rows[-2][1] if len(rows) > 1 else values, strict=True
        )
        if value != before
    ]
    changed = f" Changed: {', '.join(news)}." if news else " Nothing changed." if rows[1:] else ""
    details = ", ".join(
        f"{what} {_value_text(value)}" for what, value in zip(names, values, strict=True)
    )
    return f"{name}, {len(seen) - 1} of {len(text)} cells: {details}.{changed}"


def _value_text(value: object) -> str:
    """A value as text for the table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value) if isinstance(value, (int, float)) else str(value)


def _board(board: str, cell: Cell, ray: Sequence[Cell], step: int) -> str:
    """A small board with the start of the ray, the cells that were read and the remaining ones."""
    parts, style = [], f'font-size="12" text-anchor="middle" fill="{GREY}"'
    for number in range(SIZE):
        along = number * SQUARE + SQUARE / 2
        parts += [label(along, -5, number, style), label(-8, along + 4, number, style)]
    for place, mark in enumerate(board):
        row, col = divmod(place, SIZE)
        x, y = col * SQUARE, row * SQUARE
        at = ray.index((row, col)) if (row, col) in ray else None
        fill = HIGHLIGHT if at is not None and at < step else PALE if at is not None else "white"
        parts.append(
            f'<rect x="{x + 1}" y="{y + 1}" width="{SQUARE}" height="{SQUARE}" '
            f'fill="{fill}" stroke="#999"/>'
        )
        if mark.lower() in "mt":
            side = "mt".index(mark.lower())
            parts.append(chip(side, (x + SQUARE / 2 + 1, y + SQUARE / 2 + 1), 8, mark.isupper()))
    for (row, col), width in ((cell, 3), *((place, 3.5) for place in ray[step - 1 : step] if step)):
        dashes = ' stroke-dasharray="5 3"' if (row, col) == cell else ""
        parts.append(
            f'<rect x="{col * SQUARE + 2.5}" y="{row * SQUARE + 2.5}" '
            f'width="{SQUARE - 3}" height="{SQUARE - 3}" fill="none" stroke="{DARK}" '
            f'stroke-width="{width}"{dashes}/>'
        )
    return "".join(parts)


def _strip(text: str, step: int, box: int) -> str:
    """The cells of the ray as letters; covered ones are blank."""
    parts = [label(0, 14, "the ray, uncovered so far", f'fill="{GREY}" font-size="12"')]
    for place in range(len(text) + 1):
        mark = (text + WALL)[place] if place < step or place == len(text) else ""
        is_read = place < step
        parts.append(
            f'<rect x="{place * box + 1}" y="{TITLE}" width="{box}" height="{box}" '
            f'fill="{HIGHLIGHT if is_read else "#e2e2e2" if place < len(text) else "white"}" '
            f'stroke="{HIGHLIGHT_EDGE if is_read else "#999"}"/>'
            + label(
                place * box + 1 + box / 2,
                TITLE + box / 2 + 5,
                mark,
                'text-anchor="middle" font-size="15" font-family="monospace" font-weight="700"',
            )
        )
    return "".join(parts)


def _table(
    rows: Sequence[_Reading],
    names: Sequence[str],
    top: int,
    column_width: int,
    texts: int,
) -> str:
    """A row for each step, with the latest row in bold and changed values underlined."""
    top += 24
    parts = [label(0, top, "read", f'fill="{GREY}" font-size="12"')]
    parts += [
        label(texts + column_width * number, top, name, f'fill="{GREY}" font-size="12"')
        for number, name in enumerate(names)
    ]
    for number, (seen, values) in enumerate(rows):
        y = top + ROW * (number + 1)
        weight = f'font-weight="{700 if number == len(rows) - 1 else 400}"'
        parts.append(label(0, y, seen, f'font-family="monospace" {weight}'))
        before = rows[number - 1][1] if number else values
        for column, (value, old) in enumerate(zip(values, before, strict=True)):
            line = ' text-decoration="underline"' if value != old else ""
            parts.append(label(texts + column_width * column, y, _value_text(value), weight + line))
    return "".join(parts)
