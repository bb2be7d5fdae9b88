"""A histogram of marks as an SVG picture; matplotlib takes a second to import for one."""

from collections import Counter
from collections.abc import Sequence

from tictactoe.games.pictures import BLUE, Picture
from tictactoe.show.sheet import label, number_text, sheet

BINS = 10
WIDTH, HEIGHT = 560, 220  # of the picture, in pixels
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 22, 46  # of the plot in it
GAP = 4  # between two bars


def histogram(most: float, scores: Sequence[float]) -> Picture:
    """The number of submissions in each tenth of the marks from 0 to `most`, which is positive.

    Its alternative text lists the numbers.
    """
    counts = Counter(min(max(int(score / most * BINS), 0), BINS - 1) for score in scores)
    edges = [most * edge / BINS for edge in range(BINS + 1)]
    step = (WIDTH - LEFT - RIGHT) / BINS
    ground, scale = HEIGHT - BOTTOM, (HEIGHT - TOP - BOTTOM) / max(counts.values(), default=1)
    parts = [f'<path d="M{LEFT} {ground}H{WIDTH - RIGHT}" stroke="#222"/>']
    for number in range(BINS):
        x, count = LEFT + number * step, counts[number]
        if count:
            parts.append(
                f'<rect x="{x + GAP / 2:g}" y="{ground - count * scale:g}" '
                f'width="{step - GAP:g}" height="{count * scale:g}" fill="{BLUE}"/>'
            )
            parts.append(
                label(x + step / 2, ground - count * scale - 5, count, 'text-anchor="middle"')
            )
    parts += [
        label(LEFT + number * step, ground + 17, number_text(edge), 'text-anchor="middle"')
        for number, edge in enumerate(edges)
    ]
    parts.append(
        label(
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, f"points (of {most:g})", 'text-anchor="middle"'
        )
    )
    middle = (TOP + ground) / 2
    parts.append(
        label(
            18, middle, "submissions", f'text-anchor="middle" transform="rotate(-90 18 {middle:g})"'
        )
    )
    words = ", ".join(
        f"{counts[number]} from {edges[number]:g} to {edges[number + 1]:g}"
        for number in range(BINS)
        if counts[number]
    )
    return Picture(sheet(WIDTH, HEIGHT, parts), f"Histogram of marks: {words} points.")
