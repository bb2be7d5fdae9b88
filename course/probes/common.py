"""Says what the questions that went wrong have in common, and no other of the check has.

Who is to move, or whether the game is over: where no known slip fits, this is often all that is
needed to find one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from course.probes.positions import read_position
from course.probes.question import texts_of

FEWEST = 2  # questions on either side: one shows nothing


def in_common(cases: Sequence[Mapping[str, Any]], wrong: Sequence[int]) -> str | None:
    """A sentence about what all wrong cases have and no right one has; None if there is nothing."""
    right = [number for number in range(len(cases)) if number not in set(wrong)]
    if len(wrong) < FEWEST or len(right) < FEWEST:
        return None
    features = [_features(case) for case in cases]
    for feature in sorted(features[wrong[0]]):
        if all(feature in features[number] for number in wrong) and not any(
            feature in features[number] for number in right
        ):
            return (
                f"In all {len(wrong)} questions that went wrong {feature}, and in none of the "
                f"{len(right)} that went right."
            )
    return None


def _features(case: Mapping[str, Any]) -> set[str]:
    """What can be said of a case, each as the end of a sentence."""
    found: set[str] = set()
    texts = texts_of(case)
    if len(texts) != 1:
        return found
    position = read_position(texts[0])
    if hasattr(position, "is_terminal") and position.is_terminal():
        found.add("the game is over")
    elif getattr(position, "to_move", None) in ("x", "o"):
        found.add(f"{position.to_move} is to move")
    if hasattr(position, "side"):
        found.add(f"the observation is of side {position.side}")
    return found
