"""Play hundreds of thousands of random games of Qubic, many at a time, with numpy.

Players who mark every open cell with equal probability mark the cells in a random order. So a game
is one shuffled row, the turn in which each cell would be marked, and ends with the first turn that
completes a lane. `replay` plays such a game move by move; the tests check that both ways have the
same winner after the same number of moves.
"""

from dataclasses import dataclass
from typing import Any

from tictactoe.games.qubic import CELLS, LANES, Qubic

BATCH = 4_000  # games at a time: what fits into the cache is fastest


@dataclass(frozen=True)
class Playouts:
    """Finished games between two random players, as numpy arrays with one item (or row) per game.

    `turns` (games x 64) holds the turn, from 0, in which each cell would be marked if the game went
    on to the last cell; `lengths` the number of moves made; `winners` +1 for x, -1 for o, 0 for a
    draw. Even turns are x's.
    """

    turns: Any
    lengths: Any
    winners: Any

    def replay(self, game: int) -> Qubic:
        """The final position of one of the games, played move by move."""
        order = self.turns[game].argsort()
        return Qubic.from_moves(order[: self.lengths[game]].tolist())


def random_games(games: int, seed: int = 0) -> Playouts:
    """Play `games` games between two random players; the same seed plays the same games.

    Raises ValueError for fewer than one game.
    """
    import numpy as np

    if games < 1:
        raise ValueError(f"play at least one game, not {games}")
    chance = np.random.default_rng(seed)
    batches = [_shuffled(chance, min(BATCH, games - start)) for start in range(0, games, BATCH)]
    played = [(turns, *results(turns)) for turns in batches]
    return Playouts(*(np.concatenate(arrays) for arrays in zip(*played, strict=True)))


def results(turns: Any) -> tuple[Any, Any]:
    """Lengths and winners (see `Playouts`) of the games with these turns (games x 64)."""
    import numpy as np

    by_cell = np.ascontiguousarray(turns.T)  # a game to a column: rows are quick to compare
    never = np.uint8(CELLS)
    end = np.full(len(turns), never)
    for lane in LANES:
        first, second, third, fourth = (by_cell[cell] for cell in lane)
        mixed = ((first ^ second) | (first ^ third) | (first ^ fourth)) & 1  # marks of both players
        last = np.maximum(np.maximum(first, second), np.maximum(third, fourth))
        np.minimum(end, last | mixed * never, out=end)
    winners = np.where(end == never, 0, np.where(end % 2, -1, 1)).astype(np.int8)
    return np.minimum(end, CELLS - 1) + np.uint8(1), winners


def _shuffled(chance: Any, games: int) -> Any:
    """The cells' turns in `games` games: a shuffled row of 0 to 63 for each."""
    import numpy as np

    return chance.permuted(np.tile(np.arange(CELLS, dtype=np.uint8), (games, 1)), axis=1)
