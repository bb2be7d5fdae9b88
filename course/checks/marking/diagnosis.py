"""Names the known mistake that explains the wrong replies to a check, if there is one.

A mistake is named if a module with it gives the same replies. The results of the study's other
checks confirm it or contradict it, and a doubt about it holds for all checks.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from common.messages import english
from course.checks import Check, KnownMistake, Observation
from course.checks.marking.comparison import has_answers, is_missing_code, is_right
from course.checks.marking.evidence import Finding, find
from course.checks.questions import MATCHES
from course.checks.replies import Replies

MAX_NAMED = 2  # mistakes with the same replies that are named together
MANY = 2  # wrong cases; so many seldom match those of a mistake by chance
# Findings in a check in which all replies are those of a mistake, as far as there are any.
EXPLAINED = (Finding.SAME, Finding.PARTLY, Finding.UNSPECIFIC)
# Findings in a check that a mistake of another check also makes wrong.
ALSO_WRONG = (Finding.SAME, Finding.PARTLY, Finding.BESIDE, Finding.DISTURBED, Finding.UNSPECIFIC)


class CheckSummary(NamedTuple):
    """The result of another check of the same module.

    If a known mistake affects the check and is not in `mistakes` or `findings`, the replies
    contradict it, unless they are no evidence. They are none if there are no replies,
    or if they are judged by what is right given the student's own functions.
    """

    full: bool  # whether a page shows it as correct
    mistakes: Sequence[str]  # the names of all known mistakes that give the same replies
    is_evidence: bool = True
    findings: Mapping[str, Finding] = {}  # what the replies show about other mistakes, by name
    wrong: int = MANY  # the number of cases with a wrong reply
    is_weak: bool = False  # whether only booleans are wrong, which many different mistakes can flip
    is_written: bool = True  # whether written code gives some of the wrong replies or an error

    def finding(self, mistake: KnownMistake) -> Finding:
        """What the replies show about a mistake that affects this check."""
        if not self.is_evidence:
            return Finding.SILENT
        if mistake.name in self.mistakes:
            return Finding.SAME
        return self.findings.get(mistake.name, Finding.CONTRADICTED)


class OtherChecks(NamedTuple):
    """The results of the study's other checks, by id: those before this one and those after it."""

    before: Mapping[str, CheckSummary] = {}
    after: Mapping[str, CheckSummary] = {}

    @property
    def all(self) -> dict[str, CheckSummary]:
        """The results before and after this check together."""
        return {**self.before, **self.after}


NO_OTHER_CHECKS = OtherChecks()


def other_checks(
    check_id: str, order: Sequence[str], summaries: Mapping[str, CheckSummary]
) -> OtherChecks:
    """The summaries of all checks except this one; `order` lists the ids of the study's checks."""
    place = list(order).index(check_id)
    before, after = (
        {name: summaries[name] for name in part if name in summaries}
        for part in (order[:place], order[place + 1 :])
    )
    return OtherChecks(before, after)


def summarize(
    check: Check,
    replies: Replies,
    expected: Sequence[Observation],
    mistakes: Iterable[KnownMistake],
) -> CheckSummary:
    """What the replies to a check show about the known mistakes."""
    got = [observation or {} for observation in replies.observations]
    wrong = _wrong_replies(check, expected, got)
    is_answered = has_answers(check, got) and not (replies.broken or replies.stopped)
    is_evidence = is_answered and check.ask not in MATCHES  # many mistakes lose the same matches
    findings = _findings(check, expected, got, mistakes) if is_evidence and wrong else {}
    same = tuple(name for name, finding in findings.items() if finding is Finding.SAME)
    return CheckSummary(
        not wrong,
        same,
        is_evidence,
        {name: finding for name, finding in findings.items() if name not in same},
        len({number for number, _ in wrong}),
        all(isinstance(expected[number].get(name), bool) for number, name in wrong),
        _is_written(replies, wrong),
    )


def _is_written(replies: Replies, wrong: Sequence[tuple[int, str]]) -> bool:
    """Whether some replies are wrong or missing for another reason than missing code."""
    if replies.broken:
        return False
    return replies.stopped is not None or not all(
        is_missing_code(((replies.observations[number] or {}).get("errors") or {}).get(name, ""))
        for number, name in wrong
    )


def _wrong_replies(
    check: Check, expected: Sequence[Observation], got: Sequence[Observation]
) -> list[tuple[int, str]]:
    """The case and the aspect of each wrong reply."""
    return [
        (number, name)
        for number, (right, reply) in enumerate(zip(expected, got, strict=True))
        for name in check.points
        if not is_right(check.ask, right, reply, name)
    ]


def _findings(
    check: Check,
    expected: Sequence[Observation],
    got: Sequence[Observation],
    mistakes: Iterable[KnownMistake],
) -> dict[str, Finding]:
    """What wrong replies show about the mistakes that they do not contradict, by name."""
    findings = ((each.name, find(check, expected, got, each)) for each in mistakes)
    return {
        name: finding
        for name, finding in findings
        if finding and finding is not Finding.CONTRADICTED
    }


class Diagnosis(NamedTuple):
    """What explains wrong replies."""

    matching: Sequence[KnownMistake] = ()  # all mistakes that give the same replies
    named: Sequence[KnownMistake] = ()  # the likeliest of these, which no reply distinguishes
    cause: str | None = None  # the sentence about them, or about one that an earlier check shows
    is_doubtful: bool = False
    contradicted_by: str | None = None
    inherited_from: str | None = None


def diagnose(
    check: Check, own: CheckSummary, mistakes: Sequence[KnownMistake], others: OtherChecks
) -> Diagnosis:
    """What explains the wrong replies to a check, whose summary is `own`."""
    summaries = {**others.before, check.id: own, **others.after}
    evidence = _Evidence(summaries, {mistake.name: mistake for mistake in mistakes})
    matching = evidence.known(own.mistakes)
    named = _likeliest(matching or evidence.known(_partly(own)), evidence)
    if named and not (own.is_weak and evidence.has_unexplained_failure(named[0], check.id)):
        contradicting = evidence.contradicting(named[0])
        contradicting.sort(key=lambda name: not evidence.summaries[name].full)
        may_be_chance = own.wrong < MANY and any(n in others.before for n in contradicting[:1])
        if not may_be_chance:
            is_doubtful = any(map(evidence.is_doubtful, named))
            shows_none = evidence.showing(named[0], Finding.CONTRADICTED)
            contradicted_by = next((name for name in contradicting if name in shows_none), None)
            return Diagnosis(matching, named, _sentence(named), is_doubtful, contradicted_by)
    if not own.is_written:
        return Diagnosis(matching)
    inherited_from, causes = _inherited_mistakes(own, check, others, evidence)
    if causes:
        return Diagnosis(matching, cause=_sentence(causes), inherited_from=inherited_from)
    failures = evidence.related_failures(check.id, others.before)
    leading = (name for name in failures if evidence.may_share_cause(name, check.id))
    return Diagnosis(matching, inherited_from=next(leading, None))


def _sentence(mistakes: Sequence[KnownMistake]) -> str:
    """The sentence of a mistake, or of two that no reply distinguishes."""
    if len(mistakes) == 1:
        return mistakes[0].sentence
    first, second = (mistake.sentence for mistake in mistakes)
    return english(f"One of these: {first} Or: {second}")


def _partly(summary: CheckSummary) -> list[str]:
    """The mistakes that explain a part of the loss, beginning with the ones that explain most."""
    for finding in (Finding.PARTLY, Finding.BESIDE):
        if names := [name for name, each in summary.findings.items() if each is finding]:
            return names
    return []


class _Evidence(NamedTuple):
    """What the checks of a study show together about the known mistakes."""

    summaries: Mapping[str, CheckSummary]  # by the check's id
    mistakes: Mapping[str, KnownMistake]  # by name

    def known(self, names: Iterable[str]) -> list[KnownMistake]:
        """The mistakes with these names; a name of an earlier version has none."""
        return [self.mistakes[name] for name in names if name in self.mistakes]

    def confirming(self, mistake: KnownMistake) -> list[str]:
        """The checks whose replies are those of a module with this mistake."""
        return self.showing(mistake, Finding.SAME, Finding.PARTLY, Finding.BESIDE)

    def showing(self, mistake: KnownMistake, *findings: Finding) -> list[str]:
        """The checks that show this about a mistake."""
        return [
            name
            for name, summary in self.summaries.items()
            if affects(mistake, name) and summary.finding(mistake) in findings
        ]

    def contradicting(self, mistake: KnownMistake) -> list[str]:
        """The checks whose replies contradict a mistake, and are not explained by another one that
        could hide it.
        """
        return [
            name
            for name in self._opposing(mistake)
            if self.summaries[name].full or not self._is_explained(name)
        ]

    def _opposing(self, mistake: KnownMistake) -> list[str]:
        """The checks whose replies are not those of a module with this mistake. If another check
        clearly shows it, these are the correct ones, because others can have a second mistake.
        """
        opposing = self.showing(mistake, Finding.CONTRADICTED, Finding.DISTURBED)
        is_clear = any(
            not self.summaries[name].is_weak and self.summaries[name].wrong >= MANY
            for name in self.showing(mistake, Finding.SAME)
        )
        return [name for name in opposing if self.summaries[name].full or not is_clear]

    def _is_explained(self, check: str) -> bool:
        """Whether a mistake that no check contradicts gives the same replies to this check."""
        explaining = self.known(self.summaries[check].mistakes)
        return any(not self._opposing(mistake) for mistake in explaining)

    def is_refuted(self, mistake: KnownMistake) -> bool:
        """Whether a mistake explains all losses but one that was carried forward: with this mistake
        alone, other replies would be right given the student's own functions.
        """
        carried = [
            name
            for name, summary in self.summaries.items()
            if summary.full and not summary.is_evidence and affects(mistake, name)
        ]
        explained = self.showing(mistake, *EXPLAINED)
        return any(mistake.name not in self.summaries[name].mistakes for name in carried) and all(
            summary.full or name in explained for name, summary in self.summaries.items()
        )

    def is_doubtful(self, mistake: KnownMistake) -> bool:
        """Whether a check contradicts a mistake, or an unknown one may explain the same replies."""
        is_clear = bool(self.showing(mistake, Finding.SAME, Finding.PARTLY))
        return (
            bool(self.contradicting(mistake))
            or (not is_clear and bool(self.showing(mistake, Finding.BESIDE)))
            or any(
                self.has_unexplained_failure(mistake, name, takewhile(name.__ne__, self.summaries))
                for name in self.confirming(mistake)
            )
        )

    def has_unexplained_failure(
        self, mistake: KnownMistake, check: str, others: Iterable[str] | None = None
    ) -> bool:
        """Whether neither this nor another mistake explains the wrong replies to one of the `others`,
        by default all, whose cause may also explain those to `check`.
        """
        explained = self.showing(mistake, *EXPLAINED)
        return any(
            self.summaries[name].is_evidence
            and name not in explained
            and not self._is_explained(name)
            for name in self.related_failures(check, self.summaries if others is None else others)
        )

    def related_failures(self, check: str, others: Iterable[str]) -> list[str]:
        """Those of the other checks with wrong replies or errors of written code that have a known
        mistake in common with a check.
        """
        related = [mistake for mistake in self.mistakes.values() if affects(mistake, check)]
        return [
            name
            for name in others
            if name != check
            and not self.summaries[name].full
            and self.summaries[name].is_written
            and any(affects(mistake, name) for mistake in related)
        ]

    def may_share_cause(self, first: str, second: str) -> bool:
        """Whether a mistake can cause wrong replies to both checks, without any in a check whose
        replies are all right.
        """
        right = [name for name, each in self.summaries.items() if each.full and each.is_evidence]
        return any(
            affects(mistake, first)
            and affects(mistake, second)
            and not any(affects(mistake, name) for name in right)
            for mistake in self.mistakes.values()
        )


def affects(mistake: KnownMistake, check_id: str) -> bool:
    """Whether a module with this mistake gives wrong replies to a check."""
    return check_id.partition(".")[2] in mistake.observed


def _likeliest(candidates: Sequence[KnownMistake], evidence: _Evidence) -> Sequence[KnownMistake]:
    """The candidates with the most evidence; none if too many have the same evidence.

    A candidate with less evidence does not replace one that is refuted.
    """

    def priority(mistake: KnownMistake) -> tuple[int, int, int]:  # the smallest comes first
        return (
            len(evidence.contradicting(mistake)),
            len(evidence.showing(mistake, Finding.CONTRADICTED, Finding.DISTURBED)),
            -len(evidence.confirming(mistake)),
        )

    best = min(map(priority, candidates), default=None)
    likeliest = [
        mistake
        for mistake in candidates
        if priority(mistake) == best and not evidence.is_refuted(mistake)
    ]
    return likeliest if len(likeliest) <= MAX_NAMED else ()


def _inherited_mistakes(
    own: CheckSummary, check: Check, others: OtherChecks, evidence: _Evidence
) -> tuple[str | None, Sequence[KnownMistake]]:
    """An earlier check and its mistake, or several that no reply distinguishes, if no check
    contradicts them, and the replies to this check are wrong wherever these mistakes make them wrong.
    """
    for name, summary in others.before.items():
        likeliest = _likeliest(evidence.known(summary.mistakes), evidence)
        is_clear = bool(likeliest) and summary.is_evidence and not summary.is_weak
        if is_clear and all(
            affects(mistake, check.id)
            and own.finding(mistake) in ALSO_WRONG
            and not evidence.is_doubtful(mistake)
            for mistake in likeliest
        ):
            return name, likeliest
    return None, ()
