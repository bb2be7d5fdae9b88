"""Decides from which share on two documents are listed.

The shorter the documents are, the more of them has to agree, because two people often write a short
function in the same way. The threshold is higher where independent authors, or most of this class,
agree more than usual.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MARGIN = 0.05  # above the largest share of two independent authors
SPREAD = 6  # above the median of the class, in standard deviations (from the median deviation)
CERTAIN = 0.98  # a share that is always enough
HINT = 0.05  # by which each further hint, such as the same wrong reply, lowers the threshold
MAX_HINTS = 2
MIN_PAIRS = 30  # fewer pairs do not show a usual value


@dataclass(frozen=True)
class Rule:
    """The threshold for documents with `evidence` runs: `base + slope / evidence`."""

    base: float
    slope: float
    min_evidence: float  # with less, two documents are never listed
    independent: float = 0  # the largest share of two independent authors
    usual: float = 0  # the largest share that is usual in the class

    def threshold(self, evidence: float, hints: int = 0) -> float:
        """Return the share from which on two documents are listed.

        >>> rule = Rule(0.7, 5, 10)
        >>> round(rule.threshold(100), 2), round(rule.threshold(15), 2), rule.threshold(5)
        (0.75, 0.98, 2)
        """
        if evidence < self.min_evidence:
            return 2
        lowest = self.base + self.slope / evidence
        lowest = max(lowest, self.independent + MARGIN, self.usual)
        return min(lowest, CERTAIN) - HINT * min(hints, MAX_HINTS)


CODE = Rule(base=0.66, slope=7, min_evidence=10)
PROSE = Rule(base=0.30, slope=4, min_evidence=15)


def usual_share(shares: Sequence[float]) -> float:
    """Return the largest share that is usual among these, by their median and its deviation.

    >>> round(usual_share([0.1, 0.12, 0.08, 0.1, 0.9] * 6), 2)
    0.28
    """
    if len(shares) < MIN_PAIRS:
        return 0
    middle = float(np.median(shares))
    deviation = 1.4826 * float(np.median(np.abs(np.asarray(shares) - middle)))
    return middle + SPREAD * deviation
