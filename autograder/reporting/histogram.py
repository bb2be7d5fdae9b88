"""Draws a histogram of marks as SVG without matplotlib, whose import takes a second."""

from collections import Counter
from collections.abc import Sequence

from tictactoe.explorables.svg_canvas import label, number_text, svg_document
from tictactoe.games.pictures import BLUE, Picture

BINS = 10
WIDTH, HEIGHT = 560, 220  # of the picture, in pixels
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 22, 46  # margins
GAP = 4  # between bars


def histogram(max_points: float, scores: Sequence[float]) -> Picture:
    """Draw the number of submissions in each tenth of the marks from 0 to `max_points`, which is
    positive.

    The picture's alternative text lists the numbers.
    """
    counts = Counter(min(max(int(score / max_points * BINS), 0), BINS - 1) for score in scores)
    edges = [max_points * edge / BINS for edge in range(BINS + 1)]
    step = (WIDTH - LEFT - RIGHT) / BINS
    baseline, scale = HEIGHT - BOTTOM, (HEIGHT - TOP - BOTTOM) / max(counts.values(), default=1)
    parts = [f'<path d="M{LEFT} {baseline}H{WIDTH - RIGHT}" stroke="#222"/>']
    for number in range(BINS):
        x, count = LEFT + number * step, counts[number]
        if count:
            parts.append(
                f'<rect x="{x + GAP / 2:g}" y="{baseline - count * scale:g}" '
                f'width="{step - GAP:g}" height="{count * scale:g}" fill="{BLUE}"/>'
            )
            parts.append(
                label(x + step / 2, baseline - count * scale - 5, count, 'text-anchor="middle"')
            )
    parts += [
        label(LEFT + number * step, baseline + 17, number_text(edge), 'text-anchor="middle"')
        for number, edge in enumerate(edges)
    ]
    parts.append(
        label(
            (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 8,
            f"points (of {max_points:g})",
            'text-anchor="middle"',
        )
    )
    middle = (TOP + baseline) / 2
    parts.append(
        label(
            18, middle, "submissions", f'text-anchor="middle" transform="rotate(-90 18 {middle:g})"'
        )
    )
    description = ", ".join(
        f"{counts[number]} from {edges[number]:g} to {edges[number + 1]:g}"
        for number in range(BINS)
        if counts[number]
    )
    return Picture(svg_document(WIDTH, HEIGHT, parts), f"Histogram of marks: {description} points.")
