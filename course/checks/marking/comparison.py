"""Compares a module's replies with the expected ones and computes the share of points they earn."""

import math
import re
from collections.abc import Sequence
from typing import Any

from course.checks import Check, Observation
from course.checks.question import DEFINES_NO, NOT_WRITTEN
from course.checks.questions import QUESTIONS

TOLERANCE = 1e-9  # for floats; everything else is compared exactly


def credit(ask: str, expected: Observation, got: Observation, aspect: str) -> float:
    """The share of one position's points that an aspect earns: 0, 1, or the share that it reports."""
    if aspect not in QUESTIONS[ask].shares:
        return int(is_right(ask, expected, got, aspect))
    share = got.get(aspect)
    if type(share) is not int and type(share) is not float:
        return 0.0
    return min(1.0, max(0.0, share))


def is_right(ask: str, expected: Observation, got: Observation, aspect: str) -> bool:
    """Whether `got` has the expected value in this aspect of the question `ask`.

    The value expected of a student's own function is missing if that function fails.
    """
    return aspect in got and aspect in expected and same(ask, aspect, expected[aspect], got[aspect])


def same(ask: str, aspect: str, expected: Any, got: Any) -> bool:
    """Whether two values of an aspect are equal, or equivalent if the question defines that.

    Two missing values are always equal.
    """
    if expected is None and got is None:
        return True
    return QUESTIONS[ask].comparators.get(aspect, equal)(expected, got)


def equal(expected: Any, got: Any) -> bool:
    """Whether two plain values are equal: floats within `TOLERANCE`, everything else exactly.

    If the expected value is an integer, the other one must be an integer as well.
    """
    if isinstance(expected, list):
        return (
            isinstance(got, list) and len(got) == len(expected) and all(map(equal, expected, got))
        )
    if type(expected) is float and type(got) in (int, float):
        try:
            return math.isclose(expected, got, rel_tol=0, abs_tol=TOLERANCE)
        except OverflowError:  # an integer larger than every float
            return False
    return type(got) in (bool, int, float, str, type(None)) and expected == got


def same_reply(ask: str, aspect: str, theirs: Observation, got: Observation) -> bool:
    """Whether two modules reply the same in an aspect: the same value, or the same kind of error.

    Code that is not written yet is no reply.
    """
    if aspect in theirs and aspect in got:
        return same(ask, aspect, theirs[aspect], got[aspect])
    if aspect in theirs or aspect in got:
        return False
    errors = [(reply.get("errors") or {}).get(aspect, "") for reply in (theirs, got)]
    return not errors[1].startswith(NOT_WRITTEN) and _same_kind_of_error(*errors)


def is_missing_code(error: str) -> bool:
    """Whether an error only states that some code is not written yet or is left out."""
    return error.startswith(NOT_WRITTEN) or re.fullmatch(rf"\S+{DEFINES_NO}\w+", error) is not None


def error_kind(text: str) -> str:
    """The kind of an error: its type, or the start of the message about an invalid reply.

    Other parts of a message can depend on line numbers and on the version of Python.
    """
    return re.split(r"[,:(]", text, maxsplit=1)[0].strip()


def _same_kind_of_error(first: str, second: str) -> bool:
    """Whether two errors are of the same kind; derived files of earlier versions store only the
    first word of a kind.
    """
    shorter, longer = sorted((error_kind(first).split(), error_kind(second).split()), key=len)
    return bool(shorter) == bool(longer) and longer[: len(shorter)] == shorter


def has_answers(check: Check, got: Sequence[Observation]) -> bool:
    """Whether any aspect of any case has a value."""
    return any(name in reply for reply in got for name in check.points)
