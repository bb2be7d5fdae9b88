"""Learned weights as they change: a slider over the snapshots of a training run.

from tictactoe.show.weights import weights_on_board
weights_on_board([("untrained", {...}), ("10 games", {...})], state, values)
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from tictactoe.contract import Move
from tictactoe.games.pictures import BLUE, ORANGE
from tictactoe.show.drawn import Drawable, draw_state, has_narrow_form, move_words, view_box, words
from tictactoe.show.explorable import Explorable, View
from tictactoe.show.sheet import DARK, GREY, label, moved, number_text, share, sheet, tinted

Weights = Mapping[Hashable, float]
Snapshot = tuple[str, Weights]  # when it was taken, and the weights as they were then


LINE = 22  # a bar's height
TITLE = 26
FEW = 4  # of the best moves that are framed and named; more are just counted


class Room(NamedTuple):
    """How wide the picture is, how high its board at most, and the room beside the bars."""

    width: int
    height: int
    names: int
    numbers: int


WIDE, NARROW = Room(800, 210, 150, 70), Room(300, 380, 104, 40)


def weights_on_board(
    snapshots: Sequence[Snapshot],
    state: Drawable,
    values: Callable[[Weights], Mapping[Move, float]],
    name: Callable[[Hashable], str] = str,
) -> Explorable:
    """Show what the moves of a state are worth by the weights of each snapshot, and the weights.

    `values` finds the value of each move from the weights; `name` says what a weight is called. The
    bars have the same scale in all snapshots; the tints run from the least to the largest value of
    each.

    Raises ValueError if there are no snapshots.
    """
    if not snapshots:
        raise ValueError("there are no snapshots to step through")
    found = [values(weights) for _, weights in snapshots]
    longest = max(
        (abs(weight) for _, weights in snapshots for weight in weights.values()), default=0
    )

    def draw(step: int, _settings: object) -> View:
        when, weights = snapshots[step]
        named = {name(kind): weight for kind, weight in weights.items()}
        svg, narrow = (_drawn(state, found[step], named, longest, room) for room in (WIDE, NARROW))
        best = _best(found[step])
        told = ", ".join(f"{kind} {number_text(weight)}" for kind, weight in named.items())
        most = number_text(found[step][best[0]]) if best else ""
        said = (
            f"{len(best)} moves are equally good."
            if len(best) > FEW
            else f"Best of {len(found[step])} moves, with {most}: "
            + "; ".join(move_words(state, move) for move in best)
            + "."
        )
        worth = "; ".join(f"{move} {number_text(value)}" for move, value in found[step].items())
        return View(
            svg,
            f"{when}. {words(state)}. {said} Weights: {told}. Moves: {worth}.",
            f"{when}. {said}",
            narrow,
        )

    return Explorable(draw, len(snapshots) - 1)


def _best(values: Mapping[Move, float]) -> list[Move]:
    """The moves that are worth most."""
    most = max(values.values(), default=0)
    return [move for move, value in values.items() if value == most]


def _drawn(
    state: Drawable,
    values: Mapping[Move, float],
    weights: Mapping[str, float],
    longest: float,
    room: Room,
) -> str:
    """The board with the values, and the weights below it."""
    board, height = _board(state, values, room)
    bars = moved(0, height + TITLE, _bars(weights, longest, room))
    return sheet(room.width, height + TITLE + LINE * len(weights) + 6, [board, bars])


def _board(state: Drawable, values: Mapping[Move, float], room: Room) -> tuple[str, float]:
    """The state with the value of each move, and its height."""
    form = {"narrow": True} if room == NARROW and has_narrow_form(state) else {}
    drawing = draw_state(state, height=room.height, most_width=room.width, narrow=bool(form))
    left, top, _, high = view_box(state.svg(**form))
    scale = drawing.height / high
    least, most = min(values.values(), default=0), max(values.values(), default=0)
    best = _best(values)
    marks = []
    for move, (x, y, width, height) in state.boxes(**form).items():
        if move in values:
            box = (scale * (x - left), scale * (y - top), scale * width, scale * height)
            is_best = move in best and len(best) <= FEW
            strength = share(values[move], most, least)
            marks.append(tinted(box, values[move], strength, is_best))
    return drawing.svg + "".join(marks), drawing.height


def _bars(weights: Mapping[str, float], longest: float, room: Room) -> str:
    """A bar for each weight, to the left below zero."""
    most = (room.width - room.names - 2 * room.numbers) / 2
    zero, parts = room.names + room.numbers + most, []
    for row, (kind, weight) in enumerate(weights.items()):
        y, long = row * LINE, most * share(abs(weight), longest)
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
