"""Plays hundreds of thousands of random games of Qubic, many at a time, with numpy.

Players who choose among the open cells with equal probability mark the cells in a random order. A
game is therefore one shuffled row, which contains the turn in which each cell would be marked, and
it ends with the first turn that completes a lane. `replay` plays such a game move by move; the
tests check that both methods agree on the winner and the number of moves.
"""

from dataclasses import dataclass
from typing import Any

from tictactoe.games.qubic import CELLS, LANES, Qubic

BATCH = 4_000  # games at a time; computation is fastest if they fit into the cache


@dataclass(frozen=True)
class Playouts:
    """Finished games between two random players, as numpy arrays with one item (or row) per game.

    `turns` (games x 64) contains the turn, from 0, in which each cell would be marked if the game
    continued to the last cell; even turns are x's. `lengths` contains the number of moves made, and
    `winners` contains +1 for x, -1 for o and 0 for a draw.
    """

    turns: Any
    lengths: Any
    winners: Any

    def replay(self, game: int) -> Qubic:
        """The final position of one of the games, played move by move."""
        order = self.turns[game].argsort()
        return Qubic.from_moves(order[: self.lengths[game]].tolist())


def random_games(games: int, seed: int = 0) -> Playouts:
    """Play `games` games between two random players; the same seed gives the same games.

    Raises ValueError for fewer than one game.
    """
    import numpy as np

    if games < 1:
        raise ValueError(f"play at least one game, not {games}")
    rng = np.random.default_rng(seed)
    batches = [_shuffled_turns(rng, min(BATCH, games - start)) for start in range(0, games, BATCH)]
    played = [(turns, *results(turns)) for turns in batches]
    return Playouts(*(np.concatenate(arrays) for arrays in zip(*played, strict=True)))


def results(turns: Any) -> tuple[Any, Any]:
    """The lengths and winners (see `Playouts`) of the games with these turns (games x 64)."""
    import numpy as np

    by_cell = np.ascontiguousarray(
        turns.T
    )  # one game per column, because rows are quick to compare
    never = np.uint8(CELLS)
    end = np.full(len(turns), never)
    for lane in LANES:
        first, second, third, fourth = (by_cell[cell] for cell in lane)
        has_both_players = (
            (first ^ second) | (first ^ third) | (first ^ fourth)
        ) & 1  # marks of both players
        last = np.maximum(np.maximum(first, second), np.maximum(third, fourth))
        np.minimum(end, last | has_both_players * never, out=end)
    winners = np.where(end == never, 0, np.where(end % 2, -1, 1)).astype(np.int8)
    return np.minimum(end, CELLS - 1) + np.uint8(1), winners


def _shuffled_turns(rng: Any, games: int) -> Any:
    """The cells' turns in `games` games, one shuffled row of 0 to 63 per game."""
    import numpy as np

    return rng.permuted(np.tile(np.arange(CELLS, dtype=np.uint8), (games, 1)), axis=1)
