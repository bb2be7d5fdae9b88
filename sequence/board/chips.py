"""Bitboards of chips: finding the n-th bit, and finding the sequences that a new chip completes."""

from collections.abc import Iterator, Sequence

from sequence.board.layout import CORNERS, HEART, NEIGHBOURHOODS, Five

CHUNK = 13  # bits per table look-up
BITS_IN = tuple(
    tuple(bit for bit in range(CHUNK) if chunk >> bit & 1) for chunk in range(1 << CHUNK)
)
HALVES = tuple((CHUNK << k, (1 << (CHUNK << k)) - 1) for k in (2, 1, 0))  # 52, 26, 13 bits
LOOP_LIMIT = 4  # up to this many bits, clearing one by one is faster than the table
HEART_SEQUENCES = 2  # the number of sequences for which the heart counts


def nth_bit(mask: int, index: int) -> int:
    """The position of a mask's bit number `index`, counted from 0 at the lowest.

    `index` must be from 0 to one less than the number of bits. The mask must be a set of cells or a
    pile, that is, less than 2**104.

    >>> nth_bit(0b10110, 1)
    2
    """
    if index <= LOOP_LIMIT:
        for _ in range(index):
            mask &= mask - 1
        return (mask & -mask).bit_length() - 1
    base = 0
    for size, lower in HALVES:
        half = mask & lower
        below = half.bit_count()
        if index < below:
            mask = half
        else:
            index -= below
            mask >>= size
            base += size
    return base + BITS_IN[mask][index]


def bits(mask: int) -> Iterator[int]:
    """The positions of a mask's bits, the lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def new_sequences(own: int, locked: int, bit: int, heart: bool) -> tuple[int, int]:
    """The number of sequences that the chip just placed on `bit` completes, and their chips.

    `own` contains all chips of the side that placed it, including the new one, and `locked` the
    chips of completed sequences; `heart` states whether the heart of the board counts. All four
    directions are evaluated on the same board, so two crossing fives are two sequences. The second
    value is the mask of the chips that become part of a sequence, without corners.
    """
    lines = new_lines(own, locked, bit, heart)
    if not lines:
        return 0, 0
    count = marks = 0
    for number, used in lines:
        count += number
        marks |= used
    return count, marks & ~CORNERS


def new_lines(own: int, locked: int, bit: int, heart: bool) -> list[tuple[int, int]]:
    """The lines that this chip completes: the number of sequences, and the mask including corners.

    A line is a five, which counts as one sequence, or else nine in a row or the heart, each of
    which counts as two.
    """
    lines = []
    all_own = own | CORNERS
    for mask, fives in NEIGHBOURHOODS[bit]:
        if (all_own & mask).bit_count() >= 5:
            line = _completed_line(all_own, own & ~locked | CORNERS, mask, fives)
            if line[0]:
                lines.append(line)
    if heart and own & HEART == HEART:
        lines.append((HEART_SEQUENCES, HEART))
    return lines


def _completed_line(own: int, plain: int, mask: int, fives: Sequence[Five]) -> tuple[int, int]:
    if len(fives) == 5 and plain & mask == mask:
        return 2, mask  # nine in a row
    if own & mask == plain & mask:  # no earlier sequence within reach
        for five, _ in fives:
            if plain & five == five:
                return 1, five
        return 0, 0
    for five, _ in fives:
        if plain & five == five:
            return 1, five
    for place in (4, 3, 2, 1, 0):  # the place of the shared chip, from the last to the first
        for five, cells in fives:
            if plain & five == five ^ cells[place] and own & cells[place]:
                return 1, five
    return 0, 0
