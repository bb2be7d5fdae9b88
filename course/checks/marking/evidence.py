"""Decides what the replies to one check show about a known mistake.

Replies are compared aspect by aspect and case by case. A reply that is missing because the code was
stopped or is not written is no evidence. An error is evidence for the mistakes that cause it in the
same case, and against all others.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from course.checks import Check, KnownMistake, Observation
from course.checks.marking.comparison import (
    error_kind,
    has_answers,
    is_missing_code,
    is_right,
    same_reply,
)

Replied = Sequence[Observation | None]
MOVE = "move"  # an aspect whose replies are also wrong if it is chosen by wrong values


class Finding(Enum):
    """What the replies to a check show about a mistake that affects it."""

    SAME = "all replies are those of a module with this mistake"
    PARTLY = "all replies are those of a module with this mistake, as far as there are any"
    BESIDE = "replies that it makes wrong are the same, but there are other wrong replies or errors"
    DISTURBED = "replies are wrong where the mistake makes them wrong, but some of them differ"
    UNSPECIFIC = "all replies are those of a module with this mistake, but many mistakes cause them"
    SILENT = "there are too few replies"
    CONTRADICTED = "a reply is right that the mistake makes wrong"


class _Counts(NamedTuple):
    """The numbers of cases of one aspect in which replies support or contradict a mistake."""

    affected: int = 0  # the mistake makes the reply wrong
    supporting: int = 0  # the reply is wrong in the same way, which is not just any error
    right: int = 0  # the reply is right, although the mistake makes it wrong
    different: int = 0  # the reply is wrong in another way
    failing: int = 0  # there is an error instead of a reply, which the mistake does not cause


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
        return Finding.SAME if any(each.supporting for each in counts) else Finding.UNSPECIFIC
    findings = dict(zip(check.points, map(_finding_in_aspect, counts), strict=True))
    partly = [name for name, finding in findings.items() if finding is Finding.PARTLY]
    if partly == [MOVE] and Finding.BESIDE in findings.values():
        return Finding.SILENT
    return _combined([*findings.values()], any(each.failing for each in counts))


def _are_same(check: Check, observed: Replied, replies: Sequence[Observation]) -> bool:
    """Whether all replies are those of a mistake."""
    return all(
        same_reply(check.ask, name, theirs or {}, reply)
        for theirs, reply in zip(observed, replies, strict=True)
        for name in check.points
    )


def _combined(findings: Sequence[Finding | None], has_other_errors: bool) -> Finding:
    """What the affected aspects of a check show together, if not all replies are the same."""
    for finding in (Finding.CONTRADICTED, Finding.DISTURBED):
        if finding in findings:
            return finding
    if Finding.PARTLY not in findings:
        return Finding.SILENT
    return Finding.BESIDE if has_other_errors or Finding.BESIDE in findings else Finding.PARTLY


def _finding_in_aspect(counts: _Counts) -> Finding | None:
    if not counts.affected:
        return Finding.BESIDE if counts.different or counts.failing else None
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
    affected = supporting = right = different = failing = 0
    for correct, theirs, reply in zip(expected, observed, got, strict=True):
        is_affected = not is_right(check.ask, correct, theirs or {}, name)
        affected += is_affected
        if same_reply(check.ask, name, theirs or {}, reply):
            supporting += is_affected and _is_specific(name, reply, got)
        elif is_right(check.ask, correct, reply, name):
            right += 1
        elif name in reply or (_is_error(name, reply) and name not in (theirs or {})):
            different += 1
        elif _is_error(name, reply):
            failing += 1
    return _Counts(affected, supporting, right, different, failing)


def _is_error(name: str, reply: Observation) -> bool:
    """Whether code that is written raised an error instead of giving this part of the reply."""
    errors = reply.get("errors") or {}
    return name in errors and not is_missing_code(errors[name])


def _is_specific(name: str, reply: Observation, replies: Sequence[Observation]) -> bool:
    """Whether a reply is a value, a message about an invalid reply, or an error in only some cases.

    An exception in every case has many possible causes, and its line is reported: if a mistake
    explains nothing else, the finding is `UNSPECIFIC`.
    """
    is_exception = " " not in error_kind((reply.get("errors") or {}).get(name, ""))
    return name in reply or not is_exception or any(name in other for other in replies)
