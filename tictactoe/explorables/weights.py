"""Shows how learned weights change, with a slider over the snapshots of a training run.

from tictactoe.explorables.weights import weights_on_board
weights_on_board([("untrained", {...}), ("10 games", {...})], state, values)
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from tictactoe.boards.rendering import (
    Drawable,
    describe_move,
    describe_state,
    draw_state,
    has_compact_layout,
    view_box,
)
from tictactoe.contract import Move
from tictactoe.explorables.explorable import Explorable, View
from tictactoe.explorables.svg_canvas import (
    DARK,
    GREY,
    label,
    normalised,
    number_text,
    svg_document,
    tinted_number,
    translated,
)
from tictactoe.games.pictures import BLUE, ORANGE

Weights = Mapping[Hashable, float]
Snapshot = tuple[str, Weights]  # the time of the snapshot in words, and the weights at that time


LINE = 22  # a bar's height
TITLE = 26
MAX_FRAMED = 4  # best moves that are framed; if there are more, only their number is given


class WeightsLayout(NamedTuple):
    """The width of the picture, the maximum height of its board, and the space around the bars."""

    width: int
    height: int
    names: int
    numbers: int


WIDE, COMPACT = WeightsLayout(800, 210, 150, 70), WeightsLayout(300, 380, 104, 40)


def weights_on_board(
    snapshots: Sequence[Snapshot],
    state: Drawable,
    values: Callable[[Weights], Mapping[Move, float]],
    name: Callable[[Hashable], str] = str,
) -> Explorable:
    """Show the values of the moves in a state with the weights of each snapshot, and the weights.

    `values` computes the value of each move from the weights; `name` returns the name of a weight.
    The bars have the same scale in all snapshots; the tints range from the smallest to the largest
    value of each snapshot.

    Raises ValueError if there are no snapshots.
    """
    if not snapshots:
        raise ValueError("there are no snapshots to step through")
    move_values = [values(weights) for _, weights in snapshots]
    longest = max(
        (abs(weight) for _, weights in snapshots for weight in weights.values()), default=0
    )

    def draw(step: int, _settings: object) -> View:
        when, weights = snapshots[step]
        named = {name(kind): weight for kind, weight in weights.items()}
        svg, compact = (
            _draw(state, move_values[step], named, longest, layout) for layout in (WIDE, COMPACT)
        )
        best = _best(move_values[step])
        weight_texts = ", ".join(f"{kind} {number_text(weight)}" for kind, weight in named.items())
        most = number_text(move_values[step][best[0]]) if best else ""
        status = (
            f"{len(best)} moves are equally good."
            if len(best) > MAX_FRAMED
            else f"Best of {len(move_values[step])} moves, with {most}: "
            + "; ".join(describe_move(state, move) for move in best)
            + "."
        )
        worth = "; ".join(
            f"{move} {number_text(value)}" for move, value in move_values[step].items()
        )
        return View(
            svg,
            f"{when}. {describe_state(state)}. {status} Weights: {weight_texts}. Moves: {worth}.",
            f"{when}. {status}",
            compact,
        )

    return Explorable(draw, len(snapshots) - 1)


def _best(values: Mapping[Move, float]) -> list[Move]:
    """The moves with the highest value."""
    most = max(values.values(), default=0)
    return [move for move, value in values.items() if value == most]


def _draw(
    state: Drawable,
    values: Mapping[Move, float],
    weights: Mapping[str, float],
    longest: float,
    layout: WeightsLayout,
) -> str:
    """The board with the values, and the weights below it."""
    board, height = _board(state, values, layout)
    bars = translated(0, height + TITLE, _bars(weights, longest, layout))
    return svg_document(layout.width, height + TITLE + LINE * len(weights) + 6, [board, bars])


def _board(
    state: Drawable, values: Mapping[Move, float], layout: WeightsLayout
) -> tuple[str, float]:
    """The state with the value of each move, and its height."""
    form = {"compact": True} if layout == COMPACT and has_compact_layout(state) else {}
    drawing = draw_state(state, height=layout.height, max_width=layout.width, compact=bool(form))
    left, top, _, high = view_box(state.svg(**form))
    scale = drawing.height / high
    least, most = min(values.values(), default=0), max(values.values(), default=0)
    best = _best(values)
    marks = []
    for move, (x, y, width, height) in state.boxes(**form).items():
        if move in values:
            box = (scale * (x - left), scale * (y - top), scale * width, scale * height)
            is_best = move in best and len(best) <= MAX_FRAMED
            strength = normalised(values[move], most, least)
            marks.append(tinted_number(box, values[move], strength, is_best))
    return drawing.svg + "".join(marks), drawing.height


def _bars(weights: Mapping[str, float], longest: float, layout: WeightsLayout) -> str:
    """A bar for each weight, which extends to the left if the weight is negative."""
    most = (layout.width - layout.names - 2 * layout.numbers) / 2
    zero, parts = layout.names + layout.numbers + most, []
    for row, (kind, weight) in enumerate(weights.items()):
        y, long = row * LINE, most * normalised(abs(weight), longest)
        left, end, anchor = (
            (zero - long, zero - long - 5, "end")
            if weight < 0
            else (zero, zero + long + 5, "start")
        )
        parts += [
            label(8, y + 15, kind),
            f'<rect x="{left:.1f}" y="{y + 3}" width="{long:.1f}" height="{LINE - 6}" '
            f'fill="{ORANGE if weight < 0 else BLUE}"/>',
            label(end, y + 15, number_text(weight), f'text-anchor="{anchor}"'),
        ]
    axis = (
        f'<path d="M{zero:g} 0V{LINE * len(weights)}" stroke="{DARK}" stroke-width="1.5"/>'
        + label(8, -8, "weights", f'fill="{GREY}" font-size="12"')
    )
    return axis + "".join(parts)
