"""Draws cases of `mixed_tabular` of study 1 from a seed: boards and trees that are small, because a
wrong module may search them for each of the hundreds of moves that it draws.
"""

from collections.abc import Callable
from random import Random

from autograder.studies.fresh_cases import BOARDS, TREE_STRATA
from autograder.studies.strata import Stratified
from course.checks import Case

FEWEST_MARKS = 3  # on a board
DRAWS = 1_500  # moves drawn in a tree, so that shares of equally good moves can be compared


def _mixed(rng: Random, stratum: str) -> Case:
    if stratum in TREE_STRATA.strata:
        return {"on": TREE_STRATA.draw(rng, stratum), "draws": DRAWS}
    while True:
        board = BOARDS.draw(rng, stratum)
        if len(board) - board.count("_") >= FEWEST_MARKS:
            return {"on": board}


DRAWERS: dict[str, Callable[[Random], Case]] = {
    "mixed": Stratified([*BOARDS.strata, *TREE_STRATA.strata], _mixed)
}
