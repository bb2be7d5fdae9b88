"""A score on every cell of a Sequence board, with knobs for the weights that it depends on.

from sequence.widget.scores import score_board
score_board(position, cells, score, {"line": (0, 1, 2), "blocking": (0, 1)})
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sequence.board.layout import Cell
from sequence.engine.observation import Observation
from sequence.engine.state import State
from sequence.pictures.view import NARROW_NUMBER, NUMBER, SQUARE, corner, picture
from sequence.pictures.words import in_words
from tictactoe.show.explorable import Explorable, Settings, View
from tictactoe.show.sheet import number_text, share, tinted

TOLD = 3  # of the best cells, in the line below the board


def score_board(
    position: State | Observation,
    cells: Iterable[Cell],
    score: Callable[..., float],
    knobs: Mapping[str, Sequence[Any]],
    at: Mapping[str, Any] | None = None,
) -> Explorable:
    """Show `score(cell, **settings)` on each of these cells, with a slider for each setting.

    `knobs` has the values that each setting can have, and `at` those at which they begin, by
    default the first. The tints run from the least score to the largest.
    """
    cells = list(cells)

    def draw(_step: int, settings: Settings) -> View:
        scores = {cell: score(cell, **settings) for cell in cells}
        turned = ", ".join(f"{name} = {value}" for name, value in settings.items())
        said = f"{turned}. {best_cells(scores)}" if turned else best_cells(scores)
        return View(
            board_with(position, scores),
            f"{said} On each cell: {numbers_told(scores)}. {in_words(position)}",
            said,
            board_with(position, scores, narrow=True),
        )

    return Explorable(draw, knobs=knobs, at=at)


def board_with(
    position: State | Observation, numbers: Mapping[Cell, float], narrow: bool = False
) -> str:
    """A picture of Sequence with numbers on its cells, tinted from least to most, the most framed."""
    least, most = min(numbers.values(), default=0), max(numbers.values(), default=0)
    size = NARROW_NUMBER if narrow else NUMBER
    over = "".join(
        tinted(
            (*corner(cell), SQUARE, SQUARE),
            number,
            share(number, most, least),
            number == most,
            size=size,
        )
        for cell, number in numbers.items()
    )
    return picture(position, over=over, narrow=narrow)


def numbers_told(numbers: Mapping[Cell, float]) -> str:
    """All the numbers in words."""
    return (
        "; ".join(f"{row},{col} {number_text(number)}" for (row, col), number in numbers.items())
        or "nothing"
    )


def best_cells(numbers: Mapping[Cell, float]) -> str:
    """The cells with the largest numbers, in words."""
    order = sorted(numbers, key=numbers.__getitem__, reverse=True)
    told = ", ".join(
        f"{row},{col} with {number_text(numbers[row, col])}" for row, col in order[:TOLD]
    )
    return f"The best cells: {told}." if told else "There is no cell to score."
