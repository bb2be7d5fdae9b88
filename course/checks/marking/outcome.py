"""Marks the replies to one check: which positions are correct, and why the others are not.

Each aspect is marked separately, position by position; a mistake in one aspect never costs points
in another. The same code marks the public positions for `check` and the hidden ones in grading.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from common.messages import english
from course.checks import Case, Check, KnownMistake, Observation, load_check, load_expected
from course.checks.marking.common_cause import in_common
from course.checks.marking.comparison import (
    credit,
    has_answers,
    is_right,
    same,
)
from course.checks.marking.diagnosis import (
    NO_OTHER_CHECKS,
    CheckSummary,
    Diagnosis,
    OtherChecks,
    diagnose,
    summarize,
)
from course.checks.positions import is_toy_game
from course.checks.question import NOT_WRITTEN, texts_of
from course.checks.questions import MATCHES, QUESTIONS
from course.checks.replies import Replies

NO_ANSWER = ": no answer to "  # between the reason for stopping a check and the running case
BROKEN = english("the module could not be loaded")
TOO_SLOW = english("your code took too long when only this question was run, so no reply is shown")
DEPENDS_ON_HISTORY = english(
    "your code gives the expected reply when only this question is run, so the reply depends on "
    "something else: on earlier calls, or on chance"
)
RAISED = english("your code raises an error at a position that is not shown")
SEARCH_ASPECTS = ("move", "value", "nodes")  # the search tree explains differences
FORMER_KEYS = {  # key in results of earlier versions -> current key
    "slip": "mistake",
    "given": "carried_from",
    "found_in": "inherited_from",
    "not_in": "contradicted_by",
    "said": "match_notes",
    "unshown": "is_case_hidden",
}


@dataclass(frozen=True)
class Aspect:
    """The result for one aspect: `right` of `cases` positions, `earned` of `points`.

    In a match, `cases` is the number of opponents, and `right` may be a fraction.
    """

    name: str
    right: float
    cases: int
    earned: float
    points: float


@dataclass(frozen=True)
class Outcome:
    """The marks of one check, and the case that explains them best."""

    check: str
    extra_credit: bool
    aspects: tuple[Aspect, ...]
    problem: str | None  # why some or all cases have no reply
    case: Mapping[str, Any] | None  # where it was stopped, or the smallest wrong case
    mistake: str | None  # the name of the known mistake that gives the same replies
    cause: str | None  # the sentence that describes it
    stopped: bool  # whether the module was stopped, or ended, before it answered everything
    seconds: float
    divergence: Mapping[str, Any] | None = (
        None  # the first node that differs: board, path, sentence
    )
    carried_from: tuple[str, ...] = ()  # the student's functions that expected replies are based on
    matching: tuple[str, ...] = ()  # the names of all known mistakes that give the same replies
    inherited_from: str | None = None  # the earlier check that reveals the cause
    contradicted_by: str | None = None  # a check that does not show the mistake, although it should
    is_doubtful: bool = False  # whether the replies to another check do not match the mistake
    undecided: tuple[str, ...] = ()  # known mistakes that the replies do not decide
    common: str | None = None  # what only the questions with wrong replies have in common
    resembles: str | None = None  # the sentence of a generated mutant that gives the same replies
    match_notes: tuple[str, ...] = ()  # a sentence about each match
    is_case_hidden: bool = False  # whether the explaining cases must not be shown
    is_written: bool = True  # whether written code gives some of the wrong replies or an error

    @property
    def earned(self) -> float:
        """Points earned, rounded to hundredths."""
        return round(sum(a.earned for a in self.aspects), 2)

    @property
    def points(self) -> float:
        """Points that could be earned."""
        return round(sum(a.points for a in self.aspects), 2)

    @property
    def full(self) -> bool:
        """Whether every position is correct in every aspect."""
        return all(a.right == a.cases for a in self.aspects)

    @property
    def is_match(self) -> bool:
        """Whether the check plays games, whose results cannot reveal a known mistake."""
        return load_check(self.check).ask in MATCHES

    @property
    def not_implemented(self) -> bool:
        """Whether the required code is still the stub."""
        return bool(self.problem and self.problem.startswith(NOT_WRITTEN))

    @property
    def has_wrong_answer(self) -> bool:
        """Whether any case has a wrong reply, rather than none."""
        return (
            self.case is not None
            and not self.stopped
            and any(value is not None for value in self.case["got"].values())
        )

    @property
    def is_evidence(self) -> bool:
        """Whether there are replies that can confirm or contradict a known mistake."""
        return not self.is_match and not self.stopped and (self.earned > 0 or self.has_wrong_answer)

    def to_json(self) -> dict[str, Any]:
        """The outcome and its total points as plain data."""
        return asdict(self) | {"earned": self.earned, "points": self.points}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Outcome":
        """The outcome whose `to_json` is `data`; fields missing in older files have their defaults."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in with_present_keys(data).items() if key in known}
        return cls(**values | {"aspects": tuple(Aspect(**aspect) for aspect in values["aspects"])})


def with_present_keys(data: Mapping[str, Any]) -> dict[str, Any]:
    """A stored outcome with the current keys, even if an earlier version wrote it."""
    values = {FORMER_KEYS.get(key, key): value for key, value in data.items()}
    values["aspects"] = [_renamed(aspect, "asked", "cases") for aspect in data["aspects"]]
    if data.get("case"):
        values["case"] = _renamed(data["case"], "asked", "question")
    return values


def _renamed(data: Mapping[str, Any], former: str, present: str) -> dict[str, Any]:
    return {present if key == former else key: value for key, value in data.items()}


def mark(
    check: Check,
    replies: Replies,
    expected: Sequence[Observation],
    mistakes: Sequence[KnownMistake],
    others: OtherChecks = NO_OTHER_CHECKS,
    showable: Collection[int] | None = None,
    *,
    summary: CheckSummary | None = None,
) -> Outcome:
    """The outcome of a check: its replies compared with the expected ones and the known mistakes.

    The case that explains it is one of the numbers in `showable`, if one of these has a wrong
    reply. If several mistakes give the same replies, the one confirmed by other checks is reported,
    or else one that they do not rule out. If no mistake gives the same replies, the cause may be a
    mistake that an earlier check shows and that also affects this one. `summary` is what the replies
    show about the mistakes, if other evidence has already been taken into account.
    """
    got = [observation or {} for observation in replies.observations]
    wrong = _wrong_cases(check, expected, got)
    is_answered = has_answers(check, got)
    case = _explaining_case(check, replies, expected, wrong, showable) if wrong else None
    own = summary or summarize(check, replies, expected, mistakes)
    diagnosis = diagnose(check, own, mistakes, others) if case else Diagnosis()
    common = None
    if is_answered and not diagnosis.cause and not replies.stopped:
        common = in_common([{**check.settings, **case} for case in check.cases], wrong)
    return Outcome(
        check.id,
        check.extra_credit,
        _marked_aspects(check, expected, got),
        _problem(check, replies, wrong, got),
        case,
        diagnosis.named[0].name if diagnosis.named else None,
        diagnosis.cause,
        replies.stopped is not None,
        round(replies.seconds, 3),
        match_notes=replies.match_notes,
        matching=tuple(match.name for match in diagnosis.matching),
        inherited_from=diagnosis.inherited_from,
        contradicted_by=diagnosis.contradicted_by,
        is_doubtful=diagnosis.is_doubtful,
        undecided=tuple(own.findings),
        common=common,
        is_written=own.is_written,
    )


def _wrong_cases(
    check: Check, expected: Sequence[Observation], got: Sequence[Observation]
) -> list[int]:
    """The numbers of the cases whose reply is wrong in some aspect."""
    return [
        number
        for number, (e, g) in enumerate(zip(expected, got, strict=True))
        if not all(is_right(check.ask, e, g, name) for name in check.points)
    ]


def _marked_aspects(
    check: Check, expected: Sequence[Observation], got: Sequence[Observation]
) -> tuple[Aspect, ...]:
    aspects = []
    for name, points in check.points.items():
        right = sum(credit(check.ask, e, g, name) for e, g in zip(expected, got, strict=True))
        aspects.append(Aspect(name, right, len(expected), points * right / len(expected), points))
    return tuple(aspects)


def _explaining_case(
    check: Check,
    replies: Replies,
    expected: Sequence[Observation],
    wrong: Sequence[int],
    showable: Collection[int] | None,
) -> dict[str, Any]:
    """The case at which the module was stopped, or the case in `wrong` that explains the most."""
    got = [observation or {} for observation in replies.observations]

    def priority(number: int) -> tuple[Any, ...]:  # the smallest comes first
        differs_in_search = any(
            not is_right(check.ask, expected[number], got[number], name)
            for name in check.points
            if name in SEARCH_ASPECTS
        )
        return (
            showable is not None and number not in showable,
            not got[number],
            _error(check, got[number]) is None,
            not differs_in_search,
            any(map(is_toy_game, texts_of(check.cases[number]))),
            expected[number].get("nodes") or 0,
        )

    number = _first_unanswered(replies) if replies.stopped else None
    if number is None:
        number = min(wrong, key=priority)
    return {
        "number": number,
        "question": {**check.settings, **check.cases[number]},
        "expected": {name: expected[number].get(name) for name in check.points},
        **_got_and_errors(check, got[number]),
    }


def redacted(
    outcome: Outcome, check: Check, replies: Replies, expected: Observation | None = None
) -> Outcome:
    """The outcome with the module's output limited to `replies`, so that it reveals no other case.

    `replies` contains the reply to the one case that is shown, run alone in a new process, or no
    reply if the module is broken. `expected` are the correct values, if they differ from the
    outcome's.
    """
    if outcome.case is None or not replies.observations:
        return replace(outcome, problem=replies.broken or BROKEN)
    got = replies.observations[0] or {}
    correct = outcome.case["expected"]
    if expected is not None:
        correct = {name: expected.get(name) for name in check.points}
    problem = outcome.problem
    if not outcome.stopped:
        problem = replies.broken or (TOO_SLOW if replies.stopped else _error(check, got))
        if problem is None and all(
            same(check.ask, name, correct[name], got.get(name)) for name in check.points
        ):
            problem = DEPENDS_ON_HISTORY
    case = {**outcome.case, "expected": correct, **_got_and_errors(check, got)}
    return replace(outcome, problem=problem, case=case)


def without_case(outcome: Outcome) -> Outcome:
    """The outcome without its explaining case, for when that case must not be shown.

    Error messages of the module are also removed, because they could contain the case.
    """
    problem = outcome.problem and RAISED
    if outcome.stopped:
        problem = (outcome.problem or "").partition(NO_ANSWER)[0]
    elif outcome.not_implemented:
        problem = NOT_WRITTEN
    return replace(outcome, problem=problem, case=None, divergence=None, is_case_hidden=True)


def _got_and_errors(check: Check, reply: Observation) -> dict[str, dict[str, Any]]:
    return {
        "got": {name: reply.get(name) for name in check.points},
        "errors": dict(reply.get("errors") or {}),
    }


def mark_against_file(
    check: Check, replies: Replies, expected_file: Path, others: OtherChecks = NO_OTHER_CHECKS
) -> Outcome:
    """Call `mark` with the expected replies and the known mistakes from a derived file."""
    expected, mistakes = load_expected(expected_file, [check])
    return mark(check, replies, expected[check.name], mistakes, others)


def _problem(
    check: Check, replies: Replies, wrong: Sequence[int], got: Sequence[Observation]
) -> str | None:
    """The reason why replies are missing, as a sentence: a broken module, a stop, or an error."""
    if replies.broken:
        return replies.broken
    if replies.stopped:
        first = _first_unanswered(replies)
        if first is None:  # the module had answered everything
            return None
        return english(f"{replies.stopped}{NO_ANSWER}{describe_case(check, check.cases[first])}")
    return next(filter(None, (_error(check, got[i]) for i in wrong)), None)


def _error(check: Check, reply: Observation) -> str | None:
    """The error raised in one case, except errors in the aspects of `Question.details`."""
    details = QUESTIONS[check.ask].details
    errors = (reply.get("errors") or {}).items()
    return next((error for name, error in errors if name not in details), None)


def _first_unanswered(replies: Replies) -> int | None:
    """The number of the first case without a reply."""
    return next((i for i, reply in enumerate(replies.observations) if reply is None), None)


def describe_case(check: Check, case: Case) -> str:
    """The question as a call in Python: 'TypeA(limit=2).search(Board("x________"))'."""
    return describe_question({**check.settings, **case}, check.ask)


def describe_question(question: Mapping[str, Any], ask: str) -> str:
    """Like `describe_case`, but with the settings and the case in one mapping."""
    return QUESTIONS[ask].describe(question)
