"""Decides what the replies to one check show about a known mistake.

Replies are compared aspect by aspect and case by case. A reply that is missing because of an error,
or because the code was stopped or is not written yet, is no evidence, unless the mistake causes the
same error.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from course.checks import Check, KnownMistake, Observation
from course.checks.marking.comparison import error_kind, has_answers, is_right, same_reply
from course.checks.question import NOT_WRITTEN

Replied = Sequence[Observation | None]
MOVE = "move"  # an aspect whose replies are also wrong if it is chosen by wrong values


class Finding(Enum):
    """What the replies to a check show about a mistake that affects it."""

    SAME = "all replies are those of a module with this mistake"
    PARTLY = "all replies are those of a module with this mistake, as far as there are any"
    BESIDE = "replies in the aspects it affects are the same, those in others are also wrong"
    DISTURBED = "replies are wrong where the mistake makes them wrong, but some of them differ"
    SILENT = "there are too few replies"
    CONTRADICTED = "a reply is right that the mistake makes wrong"


class _Counts(NamedTuple):
    """The numbers of cases of one aspect in which replies support or contradict a mistake."""

    affected: int = 0  # the mistake makes the reply wrong
    supporting: int = 0  # the reply is wrong in the same way, which is not just any error
    right: int = 0  # the reply is right, although the mistake makes it wrong
    different: int = 0  # the reply is wrong in another way


def find(
    check: Check, expected: Sequence[Observation], got: Replied, mistake: KnownMistake
) -> Finding | None:
    """What the replies `got` to a check show about a mistake; None if it does not affect the check."""
    observed = mistake.observed.get(check.name)
    if observed is None:
        return None
    replies = [reply or {} for reply in got]
    if not has_answers(check, replies):
        return Finding.SILENT
    counts = [_count(check, name, expected, observed, replies) for name in check.points]
    if _are_same(check, observed, replies):
        return Finding.SAME if any(each.supporting for each in counts) else Finding.SILENT
    findings = dict(zip(check.points, map(_finding_in_aspect, counts), strict=True))
    partly = [name for name, finding in findings.items() if finding is Finding.PARTLY]
    if partly == [MOVE] and Finding.BESIDE in findings.values():
        return Finding.SILENT
    return _combined([*findings.values()])


def _are_same(check: Check, observed: Replied, replies: Sequence[Observation]) -> bool:
    """Whether all replies are those of a mistake."""
    return all(
        same_reply(check.ask, name, theirs or {}, reply)
        for theirs, reply in zip(observed, replies, strict=True)
        for name in check.points
    )


def _combined(findings: Sequence[Finding | None]) -> Finding:
    """What the affected aspects of a check show together, if not all replies are the same."""
    for finding in (Finding.CONTRADICTED, Finding.DISTURBED, Finding.PARTLY):
        if finding in findings:
            is_alone = Finding.BESIDE not in findings
            return Finding.BESIDE if finding is Finding.PARTLY and not is_alone else finding
    return Finding.SILENT


def _finding_in_aspect(counts: _Counts) -> Finding | None:
    if not counts.affected:
        return Finding.BESIDE if counts.different else None
    if counts.right:
        return Finding.CONTRADICTED
    if counts.different:
        return Finding.DISTURBED
    return Finding.PARTLY if 2 * counts.supporting >= counts.affected else Finding.SILENT


def _count(
    check: Check,
    name: str,
    expected: Sequence[Observation],
    observed: Replied,
    got: Sequence[Observation],
) -> _Counts:
    """Compare the replies with those of a mistake in one aspect."""
    affected = supporting = right = different = 0
    for correct, theirs, reply in zip(expected, observed, got, strict=True):
        is_affected = not is_right(check.ask, correct, theirs or {}, name)
        affected += is_affected
        if same_reply(check.ask, name, theirs or {}, reply):
            supporting += is_affected and _is_telling(name, reply, got)
        elif is_right(check.ask, correct, reply, name):
            right += 1
        elif name in reply or _is_another_error(name, theirs or {}, reply):
            different += 1
    return _Counts(affected, supporting, right, different)


def _is_another_error(name: str, theirs: Observation, reply: Observation) -> bool:
    """Whether both replies are errors, and the second is not one of unwritten code."""
    error = (reply.get("errors") or {}).get(name, NOT_WRITTEN)
    return name not in theirs and not error.startswith(NOT_WRITTEN)


def _is_telling(name: str, reply: Observation, replies: Sequence[Observation]) -> bool:
    """Whether a reply is a value, a message about an invalid reply, or an error in only some cases.

    An exception in every case has many possible causes, and its line is reported.
    """
    is_exception = " " not in error_kind((reply.get("errors") or {}).get(name, ""))
    return name in reply or not is_exception or any(name in other for other in replies)
