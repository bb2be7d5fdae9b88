"""Converts a win rate into a share of a rung's points, with as few deals as necessary.

The share is 0 at the win rate `floor`, 1 at the win rate `ceiling`, and linear in between. It is
computed from the mean over all deals, as soon as its standard error is at most `PRECISION`. A
sequential test ends the match earlier if the rate is clearly above the ceiling or below the floor.

It is a test by betting (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables
by betting"). The test starts with a capital of 1 and, before each deal, bets part of it on a result
above the ceiling. If the true rate is not above the ceiling, the expected capital does not grow. By
Ville's inequality, the probability that it ever reaches 1 / `ERROR` is then at most `ERROR`, no
matter how often the capital is inspected. If the results were independent wins and losses, this
would be Wald's test. Here a result is the mean of a deal's two games, which may depend on each
other. A second bet tests whether the rate is below the floor.
"""

import math

ERROR = 0.01  # probability that a rate at either bound is reported as clearly beyond it
PRECISION = 0.05  # the share's largest standard error; about 0.027 for three rungs together
MIN_DEALS = 40  # deals before the error can be estimated
STAKE = 0.7  # share of the largest bet; enough for the reference to be clear within 50 deals


class Rate:
    """The results so far; each is the mean of one deal's games, from 0 to 1."""

    def __init__(self, floor: float, ceiling: float, deals: int) -> None:
        """Raises ValueError unless 0 < floor < ceiling < 1 and there is a deal to play."""
        if not (0 < floor < ceiling < 1 and deals >= 1):
            raise ValueError(
                f"a rung needs 0 < floor < ceiling < 1 and a deal, not {floor} to "
                f"{ceiling} in {deals} deals"
            )
        self.floor, self.ceiling, self.max_deals = floor, ceiling, deals
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
            or self.deals >= self.max_deals
            or (self.deals >= MIN_DEALS and self.error <= PRECISION)
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
        """The share of the points, from 0 to 1."""
        if self.is_clear:
            return 1.0 if self._above > self._below else 0.0
        return min(1.0, max(0.0, (self.mean - self.floor) / (self.ceiling - self.floor)))
