"""Shows a score on every cell of a Sequence board, with options for the weights in the score.

from sequence.widget.scores import score_board
score_board(position, cells, score, {"line": (0, 1, 2), "blocking": (0, 1)})
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sequence.board.layout import Cell
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.pictures.view import COMPACT_NUMBER, NUMBER, SQUARE, corner, picture
from sequence.pictures.words import describe_position
from tictactoe.explorables.explorable import Explorable, Settings, View
from tictactoe.explorables.svg_canvas import normalised, number_text, tinted_number

MAX_LISTED = 3  # best cells listed in the line below the board


def score_board(
    position: State | Observation,
    cells: Iterable[Cell],
    score: Callable[..., float],
    options: Mapping[str, Sequence[Any]],
    initial: Mapping[str, Any] | None = None,
) -> Explorable:
    """Show `score(cell, **settings)` on each of these cells, with a slider for each setting.

    `options` contains the possible values of each setting, and `initial` contains the initial
    values, by default the first ones. The tints range from the smallest to the largest score.
    """
    cells = list(cells)

    def draw(_step: int, settings: Settings) -> View:
        scores = {cell: score(cell, **settings) for cell in cells}
        turned = ", ".join(f"{name} = {value}" for name, value in settings.items())
        status = f"{turned}. {best_cells(scores)}" if turned else best_cells(scores)
        return View(
            board_with_numbers(position, scores),
            f"{status} On each cell: {numbers_text(scores)}. {describe_position(position)}",
            status,
            board_with_numbers(position, scores, compact=True),
        )

    return Explorable(draw, options=options, initial=initial)


def board_with_numbers(
    position: State | Observation, numbers: Mapping[Cell, float], compact: bool = False
) -> str:
    """A picture of the board with numbers on its cells, tinted by size; the largest is framed."""
    least, most = min(numbers.values(), default=0), max(numbers.values(), default=0)
    size = COMPACT_NUMBER if compact else NUMBER
    over = "".join(
        tinted_number(
            (*corner(cell), SQUARE, SQUARE),
            number,
            normalised(number, most, least),
            number == most,
            size=size,
        )
        for cell, number in numbers.items()
    )
    return picture(position, over=over, compact=compact)


def numbers_text(numbers: Mapping[Cell, float]) -> str:
    """All numbers in words."""
    return (
        "; ".join(f"{row},{col} {number_text(number)}" for (row, col), number in numbers.items())
        or "nothing"
    )


def best_cells(numbers: Mapping[Cell, float]) -> str:
    """The cells with the largest numbers, in words."""
    order = sorted(numbers, key=numbers.__getitem__, reverse=True)
    best = ", ".join(
        f"{row},{col} with {number_text(numbers[row, col])}" for row, col in order[:MAX_LISTED]
    )
    return f"The best cells: {best}." if best else "There is no cell to score."
