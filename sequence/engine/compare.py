"""Compares two agents, which play the same deals from both seats; the score has an interval.

>>> from sequence import Greedy, Random, compare
>>> print(compare(Greedy(), Random(), deals=5))
10 won, 0 drawn, 0 lost: score 1.000 (95 % interval 0.722 to 1.000)
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from sequence.board.rules import Rules
from sequence.engine.play import Agent, play
from tictactoe.games.play import Match

Contestant = Agent | Callable[[], Agent]


@dataclass(frozen=True)
class Comparison(Match):
    """The outcome of a comparison from the first agent's point of view: a `Match` with details.

    `seats` has separate counts for the games in which the first agent began and those in which the
    second one did. `seconds` contains the thinking times of the actions, by agent; they differ from
    run to run, so they are ignored when comparisons are tested for equality.
    """

    seats: tuple[Match, Match]
    seconds: tuple[tuple[float, ...], tuple[float, ...]] = field(compare=False, repr=False)


def compare(
    first: Contestant,
    second: Contestant,
    deals: int = 50,
    seed: int = 0,
    rules: Rules | None = None,
    progress: Callable[[Comparison], object] | None = None,
) -> Comparison:
    """Play each deal twice, so that each agent begins once: 2 * `deals` games in total.

    `first` and `second` are agents, or classes or functions without arguments that create one
    before every game. The games are those of `play` with the seeds `seed`, `seed` + 1 and so on;
    agents are reset as in `play`, and the same `seed` repeats the games. The default `rules` are
    those of the draft for two players. `progress` is called after each deal with the outcome so
    far.

    Raises ValueError for fewer than one deal, and the same errors as `play`.
    """
    if deals < 1:
        raise ValueError(f"a comparison has at least one deal, not {deals}")
    counts = [0, 0, 0], [0, 0, 0]  # for each seat of the first agent: games won, drawn and lost
    seconds: tuple[list[float], list[float]] = [], []

    def so_far() -> Comparison:
        wins, draws, losses = map(sum, zip(*counts, strict=True))
        return Comparison(
            wins,
            draws,
            losses,
            seats=(Match(*counts[0]), Match(*counts[1])),
            seconds=(tuple(seconds[0]), tuple(seconds[1])),
        )

    for deal in range(seed, seed + deals):
        for seat, count in enumerate(counts):
            agents = [agent() if callable(agent) else agent for agent in (first, second)]
            game = play(agents[::-1] if seat else agents, deal, rules)
            count[1 if game.winner is None else 0 if game.winner == seat else 2] += 1
            for state, spent in zip(game.states, game.seconds, strict=False):
                seconds[state.to_move != seat].append(spent)
        if progress is not None:
            progress(so_far())
    return so_far()
