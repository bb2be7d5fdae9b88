"""Describes what all questions with wrong replies, and no others, have in common.

For example, the same player is to move in each, or the game is over. If no known mistake
matches, such a hint is often enough to find the mistake.
"""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from common.messages import english
from course.checks.positions import read_position
from course.checks.question import texts_of

MIN_CASES = 3  # cases of each kind, wrong and correct: fewer show no pattern
# The wrong cases are one of this many selections of as many cases. One of them would have a property
# in common by chance, so there must be many more selections than properties.
MIN_SELECTIONS = 50


def in_common(cases: Sequence[Mapping[str, Any]], wrong: Sequence[int]) -> str | None:
    """A sentence about what all wrong cases, and no others, have in common, or None.

    It needs correct cases that are known to lack the property.
    """
    correct = [number for number in range(len(cases)) if number not in set(wrong)]
    if min(len(wrong), len(correct)) < MIN_CASES:
        return None
    if comb(len(cases), len(wrong)) < MIN_SELECTIONS:
        return None
    features = [_features(case) for case in cases]
    if not all(features):  # of a case with several positions, or with none, nothing is known
        return None
    for feature in sorted(features[wrong[0]]):
        if all(feature in features[number] for number in wrong) and not any(
            feature in features[number] for number in correct
        ):
            return english(
                f"In all {len(wrong)} questions with a wrong reply, {feature}. This is not true of "
                f"any of the {len(correct)} questions with a correct reply."
            )
    return None


def _features(case: Mapping[str, Any]) -> set[str]:
    """The features of a case, each worded as the end of a sentence; none if they are not known."""
    features: set[str] = set()
    texts = texts_of(case)
    if len(texts) != 1:
        return features
    position = read_position(texts[0])
    if hasattr(position, "is_terminal") and position.is_terminal():
        features.add(english("the game is over"))
    elif getattr(position, "to_move", None) in ("x", "o"):
        features.add(english(f"{position.to_move} is to move"))
    if hasattr(position, "side"):
        features.add(english("Sequence is played"))  # sorted first: other games have no sides
        features.add(english(f"the observation belongs to side {position.side}"))
    return features
