"""The share of a rung's points that a rate of wins earns, from as many deals as it takes.

The share grows in a line from nothing at the rate `floor` to everything at the rate `ceiling`. It
comes from the mean over all deals, as many as give it a standard error of `PRECISION`, unless a
sequential test ends the games before: as soon as the rate is clearly above the ceiling, or below
the floor.

The test is a bet (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by
betting"). Before each deal it stakes a part of its capital, which begins at 1, on a result above
the ceiling. Where the true rate is no higher, the capital does not grow in the mean, and by Ville's
inequality it ever reaches 1 / `ERROR` with a chance of at most `ERROR`, however often one looks.
For games that are won or lost this is Wald's test; here a result is the mean of a deal's two games,
which need not be independent of each other. The same is done below the floor.
"""

import math

ERROR = 0.01  # the chance that a rate at the ceiling, or at the floor, is called clearly beyond it
PRECISION = 0.05  # the standard error of the share; of the points of three rungs about 0.027
FEWEST = 40  # deals before the error can be estimated
STAKE = 0.7  # of what may be staked: it finds what the reference clearly is within 50 deals


class Rate:
    """The results so far, each of them the mean of one deal's games: from 0 to 1."""

    def __init__(self, floor: float, ceiling: float, deals: int) -> None:
        """Raises ValueError unless 0 < floor < ceiling < 1 and there is a deal to play."""
        if not (0 < floor < ceiling < 1 and deals >= 1):
            raise ValueError(
                f"a rung needs 0 < floor < ceiling < 1 and a deal, not {floor} to "
                f"{ceiling} in {deals} deals"
            )
        self.floor, self.ceiling, self.most = floor, ceiling, deals
        self.deals = 0
        self.sum = self._squares = 0.0
        self._above = self._below = 1.0  # the capitals of the two bets

    def add(self, result: float) -> None:
        """Count the result of a deal."""
        self.deals += 1
        self.sum += result
        self._squares += result * result
        if not self.is_clear:
            self._above *= 1 + STAKE * (result - self.ceiling) / self.ceiling
            self._below *= 1 + STAKE * (self.floor - result) / (1 - self.floor)

    @property
    def is_clear(self) -> bool:
        """Whether the rate is clearly above the ceiling or below the floor."""
        return max(self._above, self._below) >= 1 / ERROR

    @property
    def is_known(self) -> bool:
        """Whether no more deals are needed."""
        return (
            self.is_clear
            or self.deals >= self.most
            or (self.deals >= FEWEST and self.error <= PRECISION)
        )

    @property
    def mean(self) -> float:
        """The mean of the results, 0 before the first."""
        return self.sum / max(1, self.deals)

    @property
    def error(self) -> float:
        """The standard error of the share, estimated from two deals or more."""
        variance = (self._squares - self.sum * self.mean) / (self.deals - 1)
        return math.sqrt(max(0.0, variance) / self.deals) / (self.ceiling - self.floor)

    @property
    def share(self) -> float:
        """What this earns, from 0 to 1."""
        if self.is_clear:
            return 1.0 if self._above > self._below else 0.0
        return min(1.0, max(0.0, (self.mean - self.floor) / (self.ceiling - self.floor)))
