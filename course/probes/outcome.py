"""Mark the replies to one check: which positions are right in each aspect, and why others are not.

Aspects are marked separately, position by position, and none gates another. The same code serves
the student's own check on public positions and the marking on hidden ones.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from course.probes import Case, Check, Observation, Slip, load_check, load_expected
from course.probes.common import FEWEST, in_common
from course.probes.positions import is_made_up
from course.probes.question import NOT_WRITTEN, texts_of
from course.probes.questions import MATCHES, QUESTIONS
from course.probes.replies import Replies

TOLERANCE = 1e-9  # of a value; everything else is compared exactly
NO_ANSWER = ": no answer to "  # between why a check was stopped and the case at that time
BROKEN = "the module could not be loaded"
TOO_SLOW = "what your code replies to this question by itself took too long to be shown"
NOT_ALONE = (
    "this question by itself gets the expected reply: what your code replies depends on "
    "what it was asked before"
)
RAISED = "your code raises an error at a position that is not shown"
OF_A_SEARCH = ("move", "value", "nodes")  # where one of these differs, the tree shows why


@dataclass(frozen=True)
class Aspect:
    """How one aspect of a check went: `right` of `asked` positions, `earned` of `points`.

    In a match `asked` are the opponents, and one who is beaten in part counts in part.
    """

    name: str
    right: float
    asked: int
    earned: float
    points: float


@dataclass(frozen=True)
class Outcome:
    """The marks of one check, and the one case that explains them best."""

    check: str
    extra_credit: bool
    aspects: tuple[Aspect, ...]
    problem: str | None  # why nothing, or not everything, could be asked
    case: Mapping[str, Any] | None  # where it was stopped, or the smallest that differs: asked, ...
    slip: str | None  # the name of the known slip whose replies these are
    cause: str | None  # and its sentence
    stopped: bool  # whether the module was stopped, or ended, before it had answered
    seconds: float
    divergence: Mapping[str, Any] | None = None  # the first other node: board, path, sentence
    given: tuple[str, ...] = ()  # own functions that the expected replies are built on, if any
    matching: tuple[str, ...] = ()  # the names of all slips whose replies these are
    found_in: str | None = None  # the earlier check whose cause this one suffers from
    not_in: str | None = None  # a check that the slip would spoil too, and that has other replies
    is_doubtful: bool = False  # whether another check does not have the slip's replies
    common: str | None = None  # what only the questions that went wrong have in common
    resembles: str | None = None  # the sentence of a machine-made mutant with the same replies
    said: tuple[str, ...] = ()  # how each match went
    unshown: bool = False  # whether the only cases that explain it are not to be shown

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
        """Whether every position was right in every aspect."""
        return all(a.right == a.asked for a in self.aspects)

    @property
    def is_match(self) -> bool:
        """Whether the check played games, whose results cannot point to a known slip."""
        return load_check(self.check).ask in MATCHES

    @property
    def unwritten(self) -> bool:
        """Whether the code that was asked for is still the stub."""
        return bool(self.problem and self.problem.startswith(NOT_WRITTEN))

    @property
    def is_wrong_somewhere(self) -> bool:
        """Whether some case was answered, but not correctly."""
        return (
            self.case is not None
            and not self.stopped
            and any(value is not None for value in self.case["got"].values())
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, with the sums included."""
        return asdict(self) | {"earned": self.earned, "points": self.points}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Outcome":
        """The outcome that `to_json` gave these data of."""
        known = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        return cls(**known | {"aspects": tuple(Aspect(**aspect) for aspect in data["aspects"])})


class Shown(NamedTuple):
    """What another check has shown of the same module."""

    full: bool
    slips: Sequence[str]  # the names of those whose replies it had


class Others(NamedTuple):
    """What the other checks of the study have shown, by id: those before this one, and after."""

    before: Mapping[str, Shown] = {}
    after: Mapping[str, Shown] = {}


NO_OTHERS = Others()


def others_of(check_id: str, order: Sequence[str], shown: Mapping[str, Shown]) -> Others:
    """What is shown by the checks other than this one, which are in this order."""
    place = list(order).index(check_id)
    before, after = (
        {name: shown[name] for name in part if name in shown}
        for part in (order[:place], order[place + 1 :])
    )
    return Others(before, after)


def mark(
    check: Check,
    replies: Replies,
    expected: Sequence[Observation],
    slips: Sequence[Slip],
    others: Others = NO_OTHERS,
    shown: Collection[int] | None = None,
) -> Outcome:
    """The outcome of a check: its replies compared with the expected ones and the known slips.

    The case that explains it is one of those numbered `shown`, if one of them went wrong.
    Of slips with the same replies the one is named that other checks confirm, or else do not rule
    out. Where no slip has these replies, it is one that an earlier check has and that spoils this
    check too.
    """
    got = [observation or {} for observation in replies.observations]
    aspects = []
    for name, points in check.points.items():
        right = sum(_credit(check.ask, e, g, name) for e, g in zip(expected, got, strict=True))
        aspects.append(Aspect(name, right, len(expected), points * right / len(expected), points))
    wrong = [
        i
        for i, (e, g) in enumerate(zip(expected, got, strict=True))
        if not all(is_right(check.ask, e, g, name) for name in check.points)
    ]
    case: dict[str, Any] | None = None
    problem = _problem(check, replies, wrong, got)
    if wrong:
        number = _unanswered(replies) if replies.stopped else None
        if number is None:  # what raised; else the smallest search, if that differs; a board first
            number = min(
                wrong,
                key=lambda i: (
                    shown is not None and i not in shown,
                    not got[i],
                    _error(check, got[i]) is None,
                    all(
                        is_right(check.ask, expected[i], got[i], name)
                        for name in check.points
                        if name in OF_A_SEARCH
                    ),
                    any(map(is_made_up, texts_of(check.cases[i]))),
                    expected[i].get("nodes") or 0,
                ),
            )
        case = {
            "number": number,
            "asked": {**check.settings, **check.cases[number]},
            "expected": {n: expected[number].get(n) for n in check.points},
            **_replied(check, got[number]),
        }
    matching = []
    if wrong and check.ask not in MATCHES:  # many are beaten in the same way
        matching = [s for s in slips if _same_replies(check, got, s)]
    slip = min(matching, key=lambda s: _doubts(s, others), default=None)
    not_in = _ruled_out_by(slip, others) if slip else None
    if not_in in others.before and len(wrong) < FEWEST:  # a single reply may be so by chance
        slip = not_in = None
    found_in = _also_wrong(slip, others) if slip and case and _says_little(check, case) else None
    if found_in:
        slip = not_in = None
    cause = slip
    answered = any(name in g for g in got for name in check.points)
    if wrong and slip is None and answered and not replies.stopped and not found_in:
        found_in, cause = _carried(check, slips, others)
    return Outcome(
        check.id,
        check.extra_credit,
        tuple(aspects),
        problem,
        case,
        slip.name if slip else None,
        cause.sentence if cause else None,
        replies.stopped is not None,
        round(replies.seconds, 3),
        said=replies.said,
        matching=tuple(s.name for s in matching),
        found_in=found_in,
        not_in=not_in,
        is_doubtful=slip is not None and _doubts(slip, others) != (0, 0),
        common=None
        if cause or replies.stopped or not answered
        else in_common([{**check.settings, **case} for case in check.cases], wrong),
    )


def _felt(slip: Slip, others: Others) -> dict[str, Shown]:
    """What the other checks show that the slip would spoil."""
    return {
        check: shown
        for check, shown in {**others.before, **others.after}.items()
        if check.partition(".")[2] in slip.observed
    }


def _doubts(slip: Slip, others: Others) -> tuple[int, int]:
    """How many other checks rule the slip out, being right, and how many do not have its replies."""
    felt = _felt(slip, others)
    return (
        sum(shown.full for shown in felt.values()),
        sum(slip.name not in shown.slips for shown in felt.values()),
    )


def _says_little(check: Check, case: Mapping[str, Any]) -> bool:
    """Whether only a yes or a no is other than expected: many slips have the same."""
    return all(
        isinstance(case["expected"][name], bool)
        for name in check.points
        if not same(check.ask, name, case["expected"][name], case["got"][name])
    )


def _also_wrong(slip: Slip, others: Others) -> str | None:
    """Another check that is not all right, and that the slip would not spoil; None if none is."""
    return next(
        (
            check
            for check, shown in {**others.before, **others.after}.items()
            if not shown.full and check.partition(".")[2] not in slip.observed
        ),
        None,
    )


def _ruled_out_by(slip: Slip, others: Others) -> str | None:
    """A check that the slip would spoil and that is right, or, if no other check confirms the slip,
    one that is wrong in another way; None if there is none."""
    felt = _felt(slip, others)
    confirmed = any(slip.name in shown.slips for shown in felt.values())
    doubting = [
        check
        for check, shown in felt.items()
        if shown.full or not (confirmed or slip.name in shown.slips)
    ]
    return min(doubting, key=lambda check: not felt[check].full, default=None)


def _carried(check: Check, slips: Sequence[Slip], others: Others) -> tuple[str | None, Slip | None]:
    """The earlier check whose slip spoils this check too, and the slip; the slip is None if it is
    not known, but some known slip spoils both."""
    spoiling = {slip.name: slip for slip in slips if check.name in slip.observed}
    for name, shown in others.before.items():
        for slip in shown.slips:
            if slip in spoiling:
                return name, spoiling[slip]
    for name, shown in others.before.items():
        if not shown.full and any(
            name.partition(".")[2] in slip.observed for slip in spoiling.values()
        ):
            return name, None
    return None, None


def as_alone(
    outcome: Outcome, check: Check, replies: Replies, expected: Observation | None = None
) -> Outcome:
    """The outcome with nothing of the module's own but what it replies to the one case that is
    shown, asked alone (to no case, where the module is broken): it cannot tell of the others.

    `expected` is what is right there, if it is not what the outcome has.
    """
    if outcome.case is None or not replies.observations:
        return replace(outcome, problem=replies.broken or BROKEN)
    got = replies.observations[0] or {}
    right = (
        outcome.case["expected"]
        if expected is None
        else {name: expected.get(name) for name in check.points}
    )
    problem = outcome.problem
    if not outcome.stopped:
        problem = replies.broken or (TOO_SLOW if replies.stopped else _error(check, got))
        if problem is None and all(same(check.ask, n, right[n], got.get(n)) for n in check.points):
            problem = NOT_ALONE
    return replace(
        outcome, problem=problem, case={**outcome.case, "expected": right, **_replied(check, got)}
    )


def without_case(outcome: Outcome) -> Outcome:
    """The outcome with nothing that tells of the case that explains it, which is not to be shown.

    What the module said there could contain the case, so its errors are left out as well.
    """
    problem = outcome.problem and RAISED
    if outcome.stopped:
        problem = (outcome.problem or "").partition(NO_ANSWER)[0]
    elif outcome.unwritten:
        problem = NOT_WRITTEN
    return replace(outcome, problem=problem, case=None, divergence=None, unshown=True)


def _replied(check: Check, reply: Observation) -> dict[str, dict[str, Any]]:
    return {
        "got": {name: reply.get(name) for name in check.points},
        "errors": dict(reply.get("errors") or {}),
    }


def mark_by_file(
    check: Check, replies: Replies, expected_file: Path, others: Others = NO_OTHERS
) -> Outcome:
    """As `mark`, with the expected replies and the slips from a derived file."""
    expected, slips = load_expected(expected_file, [check])
    return mark(check, replies, expected[check.name], slips, others)


def _credit(ask: str, expected: Observation, got: Observation, aspect: str) -> float:
    """How much of one position's points an aspect earns: all or nothing, or the share it tells."""
    if aspect not in QUESTIONS[ask].shares:
        return int(is_right(ask, expected, got, aspect))
    share = got.get(aspect)
    if type(share) is not int and type(share) is not float:
        return 0.0
    return min(1.0, max(0.0, share))


def is_right(ask: str, expected: Observation, got: Observation, aspect: str) -> bool:
    """Whether `got` has the expected value in this aspect of the question `ask`."""
    return aspect in got and same(ask, aspect, expected[aspect], got[aspect])


def same(ask: str, aspect: str, expected: Any, got: Any) -> bool:
    """Whether two values of an aspect mean the same: equal, unless the question says otherwise.

    Two that are missing are alike, whatever the question says.
    """
    if expected is None and got is None:
        return True
    return QUESTIONS[ask].judged.get(aspect, equal)(expected, got)


def equal(expected: Any, got: Any) -> bool:
    """Whether two plain values are equal: floats within `TOLERANCE`, the rest exactly.

    The expected value decides: where it is a whole number, so must be the other.
    """
    if isinstance(expected, list):
        return (
            isinstance(got, list) and len(got) == len(expected) and all(map(equal, expected, got))
        )
    if type(expected) is float and type(got) in (int, float):
        try:
            return math.isclose(expected, got, rel_tol=0, abs_tol=TOLERANCE)
        except OverflowError:  # a whole number beyond all floats
            return False
    return type(got) in (bool, int, float, str, type(None)) and expected == got


def _same_replies(check: Check, got: Sequence[Observation], slip: Slip) -> bool:
    seen = slip.observed.get(check.name)
    answered = any(name in g for g in got for name in check.points)
    return (
        seen is not None
        and answered
        and all(
            same(check.ask, name, (s or {}).get(name), g.get(name))
            for s, g in zip(seen, got, strict=True)
            for name in check.points
        )
    )


def _problem(
    check: Check, replies: Replies, wrong: Sequence[int], got: Sequence[Observation]
) -> str | None:
    """The one sentence for the machinery's side of a failure: broken, stopped, or raised."""
    if replies.broken:
        return replies.broken
    if replies.stopped:
        first = _unanswered(replies)
        if first is None:  # it had answered everything
            return None
        return f"{replies.stopped}{NO_ANSWER}{describe_case(check, check.cases[first])}"
    return next(filter(None, (_error(check, got[i]) for i in wrong)), None)


def _error(check: Check, reply: Observation) -> str | None:
    """What was raised in one case, other than in a detail."""
    return next(
        (
            error
            for name, error in (reply.get("errors") or {}).items()
            if name not in QUESTIONS[check.ask].details
        ),
        None,
    )


def _unanswered(replies: Replies) -> int | None:
    return next((i for i, o in enumerate(replies.observations) if o is None), None)


def describe_case(check: Check, case: Case) -> str:
    """What was asked, in the words of Python: 'TypeA(limit=2).search(Board("x________"))'."""
    return describe_question({**check.settings, **case}, check.ask)


def describe_question(question: Mapping[str, Any], ask: str) -> str:
    """As `describe_case`, for the settings and the case in one mapping."""
    return QUESTIONS[ask].describe(question)
