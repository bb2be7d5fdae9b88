"""Ratings on the Elo scale with intervals, from the results of all pairings (Bradley-Terry).

In the model, i beats j with probability 1 / (1 + 10 ** ((r_j - r_i) / 400)) (Bradley and Terry
1952; the scale is Elo's). The library choix computes the ratings and their covariance by
expectation propagation under a Gaussian prior, which keeps them finite if an agent always wins.

A tie counts as half a win and half a loss (Davidson 1970), but the library supports only whole
comparisons. Two ties of a pair are exactly one win for each. If the number of ties is odd, the last
one is halfway between two posteriors, one without it and one with a win for each agent. The result
is their geometric mean, which for Gaussians has the mean of their natural parameters.
"""

import importlib.util
import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from tictactoe.games.play import Match

ELO = 400 / math.log(10)  # Elo points in one unit of the model's natural scale
PRIOR = 350.0  # Elo points; the standard deviation of an unknown player in Glicko (Glickman 1999)
Z = NormalDist().inv_cdf(0.975)


class Rating(NamedTuple):
    """A rating in Elo points above the average of the league; `margin` is half a 95 % interval."""

    elo: float
    margin: float


def ratings(agents: Sequence[str], pairings: Mapping[tuple[str, str], Match]) -> dict[str, Rating]:
    """The rating of each agent from the matches, given from the view of each pair's first agent.

    Games count as independent. The two games of a deal are not quite independent: the same luck
    helps one agent and then the other, so the intervals are slightly wider than necessary. If an
    agent wins every game, its interval is up to a seventh too narrow, and after a hundred games its
    rating is too low, because such results contain little information about how much better it is.
    The computation takes some seconds per thousand games, and longer with more agents.
    """
    import numpy as np

    number = {agent: index for index, agent in enumerate(agents)}
    without, with_odd_ties = [], []
    for (first, second), match in pairings.items():
        win, loss = (number[first], number[second]), (number[second], number[first])
        both = match.draws // 2
        without += [win] * (match.wins + both) + [loss] * (match.losses + both)
        with_odd_ties += [win, loss] * (match.draws % 2)
    posteriors = [_posterior(len(agents), without)]
    if with_odd_ties:
        posteriors.append(_posterior(len(agents), without + with_odd_ties))
    precisions = [np.linalg.inv(covariance) for _, covariance in posteriors]
    covariance = np.linalg.inv(sum(precisions) / len(posteriors))
    mean = (
        covariance
        @ sum(precision @ mean for precision, (mean, _) in zip(precisions, posteriors, strict=True))
        / len(posteriors)
    )
    # Only differences are meaningful, so the uncertainty of the common level is removed.
    centre = np.eye(len(agents)) - 1 / len(agents)
    mean, covariance = centre @ mean, centre @ covariance @ centre.T
    spread = np.sqrt(np.diag(covariance))
    return {
        agent: Rating(float(ELO * mean[index]), float(Z * ELO * spread[index]))
        for agent, index in number.items()
    }


def _posterior(agents: int, comparisons: Sequence[tuple[int, int]]) -> tuple[Any, Any]:
    """Mean (a vector) and covariance (a matrix) after the comparisons, pairs (winner, loser)."""
    import choix.ep
    import numpy as np

    # The library processes the comparisons in an order drawn from numpy's global generator, which
    # other threads also use. So this is a copy of its module with a separate generator.
    spec: Any = choix.ep.__spec__
    library: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    library.nprand = np.random.RandomState(0)
    mean, covariance = library.ep_pairwise(agents, comparisons, (ELO / PRIOR) ** 2)
    return mean, covariance
