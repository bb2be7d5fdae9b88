"""Judges checks from the data collected about them, with pure functions that do not call students'
code.

`first_outcome` compares the replies to one check with the expected ones. `judge` considers all
checks of a submission together. A mistake that several checks show is named once, and a check that
is affected by an earlier one states this. The comparison is in `course.checks.marking.comparison`
and the wording in `course.checks.marking.explain`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.grading.verdict.answer_key import AnswerKey
from autograder.grading.verdict.carrying.error_carried_forward import CarriedFunctions
from autograder.grading.verdict.divergence import (
    correct_in_isolation,
    first_divergence,
    has_same_result,
    result_in_isolation,
)
from autograder.grading.verdict.divergence_words import divergence_kind
from common.messages import english
from course.checks import Check, KnownMistake, Observation
from course.checks.marking.diagnosis import (
    EXPLAINED,
    NO_OTHER_CHECKS,
    CheckSummary,
    OtherChecks,
    other_checks,
    summarize,
)
from course.checks.marking.evidence import Finding
from course.checks.marking.outcome import Outcome, mark, redacted, without_case
from course.checks.questions import MATCHES, QUESTIONS
from course.checks.replies import Replies

# The fields that explain an outcome. They are kept even if the marks come from the outcome with
# errors carried forward.
CAUSES = (
    "mistake",
    "cause",
    "matching",
    "inherited_from",
    "contradicted_by",
    "is_doubtful",
    "common",
    "resembles",
)


@dataclass(frozen=True)
class CheckRun:
    """The data collected about one check, which determine its outcome.

    `first` and `carried` follow from the replies. They are stored because they also decide what has
    to be collected, so that the replies are compared only once.
    """

    check: Check
    replies: Replies  # the replies to the hidden cases
    first: Outcome  # judged by the expected replies alone
    carried: Outcome | None = None  # judged given the student's own functions, if better
    trace: Replies | None = None  # the search in the case that explains the outcome
    rerun: Replies | None = None  # the replies to that case alone in a new process
    rerun_expected: Observation | None = None  # the right reply there, given its functions

    @property
    def marked(self) -> Outcome:
        """The outcome that has the marks."""
        return self.carried or self.first


def first_outcome(key: AnswerKey, check: Check, replies: Replies) -> Outcome:
    """Return the outcome that follows from the expected replies alone, before other checks are
    taken into account.
    """
    return _marked(key, check, replies, key.mistakes)


def carried_outcome(
    key: AnswerKey, check: Check, replies: Replies, carried: CarriedFunctions
) -> Outcome:
    """Return the outcome that is judged by what would be right, given the student's own functions.

    If there is no reply given these functions, for example because of an error, the original one is
    right.
    """
    expected = [
        {**right, **reply}
        for right, reply in zip(key.expected[check.name], carried.expected, strict=True)
    ]
    outcome = mark(check, replies, expected, (), showable=key.shown_cases[check.name])
    return replace(outcome, carried_from=carried.functions)


def judge(key: AnswerKey, runs: Mapping[str, CheckRun]) -> dict[str, Outcome]:
    """Return the outcomes of the checks of one submission, by id. Each explanation takes all checks
    into account.

    A module can copy its arguments into its replies, so a page shows nothing of the replies that
    decide a mark. It shows only replies of a process that knew no hidden case except the one shown.
    At most one case is shown, and it is one of a few that are fixed for the check (see
    `shown_cases`).
    """
    summaries = {name: _summary(key, run) for name, run in runs.items()}
    mutants = {
        run.check.name: _matching_mutants(key, run)
        for name, run in runs.items()
        if summaries[name].is_evidence
    }
    order = [check.id for check in key.study.checks.values()]
    outcomes = {}
    for name, run in runs.items():
        others = other_checks(name, order, summaries)
        outcome = _explained(key, run, summaries[name], others, mutants)
        outcomes[name] = _for_page(key, run, _outcome_with_carried_errors(run, outcome, others))
    return outcomes


def _summary(key: AnswerKey, run: CheckRun) -> CheckSummary:
    """Return what the replies to a check show about the known mistakes.

    Replies that are judged by what is right given the student's own functions are no evidence.
    """
    summary = summarize(run.check, run.replies, key.expected[run.check.name], key.mistakes)
    if run.carried is not None:
        return summary._replace(full=run.carried.full, is_evidence=False)
    result = result_in_isolation(run.trace) if run.trace else None
    if not result or run.first.case is None:
        return summary
    case = run.first.case["question"]
    consistent = [
        name for name in summary.mistakes if has_same_result(key.study, name, case, result)
    ]
    return summary._replace(mistakes=consistent)


def may_show_case(key: AnswerKey, check: Check, replies: Replies, outcome: Outcome) -> bool:
    """Whether a page may show the case that explains the outcome."""
    return (
        outcome.case is None
        or bool(replies.broken)
        or outcome.case["number"] in key.shown_cases[check.name]
    )


def _marked(
    key: AnswerKey,
    check: Check,
    replies: Replies,
    mistakes: Sequence[KnownMistake],
    others: OtherChecks = NO_OTHER_CHECKS,
    summary: CheckSummary | None = None,
) -> Outcome:
    expected, showable = key.expected[check.name], key.shown_cases[check.name]
    return mark(check, replies, expected, mistakes, others, showable, summary=summary)


def _for_page(key: AnswerKey, run: CheckRun, outcome: Outcome) -> Outcome:
    """Return the outcome without the parts that a page must not show."""
    if not may_show_case(key, run.check, run.replies, outcome):
        return replace(without_case(outcome), divergence=_kind_of_divergence(outcome))
    if run.rerun is None:
        return outcome
    expected = run.rerun_expected
    if expected is not None and outcome.case is not None:
        expected = {**key.expected[run.check.name][outcome.case["number"]], **expected}
    return redacted(outcome, run.check, run.rerun, expected)


def _kind_of_divergence(outcome: Outcome) -> dict[str, Any] | None:
    """Describe how the search differs, without anything from which the position could be inferred."""
    kind = divergence_kind(outcome.divergence["sentence"]) if outcome.divergence else None
    if kind is None:
        return None
    sentence = english(f"at a position that is not shown, {kind}")
    return {"board": None, "path": [], "sentence": sentence}


def _outcome_with_carried_errors(run: CheckRun, outcome: Outcome, others: OtherChecks) -> Outcome:
    """Return the outcome with errors carried forward if its marks are better.

    The causes of `outcome` belong to it only if one mistake explains all losses of the module. With
    another loss, they would explain the replies without regard to the student's own functions.
    """
    if run.carried is None:
        return outcome
    if run.carried.full or not _explains_everything(outcome, others):
        return replace(run.carried, matching=outcome.matching)
    return replace(run.carried, **{name: getattr(outcome, name) for name in CAUSES})


def _explains_everything(outcome: Outcome, others: OtherChecks) -> bool:
    """Whether the mistake that an outcome names also explains the losses in all other checks."""
    return (
        outcome.mistake is not None
        and not outcome.is_doubtful
        and all(
            summary.full
            or outcome.mistake in summary.mistakes
            or summary.findings.get(outcome.mistake) in EXPLAINED
            for summary in others.all.values()
            if summary.is_evidence
        )
    )


def _explained(
    key: AnswerKey,
    run: CheckRun,
    summary: CheckSummary,
    others: OtherChecks,
    mutants: Mapping[str, Collection[int]],
) -> Outcome:
    """Return the outcome that follows from the expected replies, with its cause."""
    if run.first.case is None:  # everything is right, so there is nothing to explain
        return run.first
    if run.trace is not None:  # a part of the losses explains less than the first node that differs
        summary = summary._replace(findings=_without_parts(summary.findings))
    outcome = _marked(key, run.check, run.replies, key.mistakes, others, summary)
    if outcome.full or run.check.ask in MATCHES:
        return outcome
    result = result_in_isolation(run.trace) if run.trace else None
    has_clear_cause = outcome.mistake is not None and not outcome.is_doubtful
    if not has_clear_cause and not correct_in_isolation(outcome, result):
        sentence = _generated_mutant_sentence(key, run.check, mutants)
        if sentence:  # a single mistake that explains all replies, unlike the doubtful one
            outcome = replace(
                outcome,
                resembles=sentence,
                mistake=None,
                cause=None,
                inherited_from=None,
                contradicted_by=None,
            )
    if run.trace is not None and outcome.mistake is None:
        divergence = first_divergence(key.study, run.check, outcome, run.trace)
        outcome = replace(outcome, divergence=divergence)
    return outcome


def _without_parts(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """Return findings in which no mistake explains only the replies in some of the aspects."""
    return {
        name: Finding.SILENT if finding is Finding.BESIDE else finding
        for name, finding in findings.items()
    }


def _matching_mutants(key: AnswerKey, run: CheckRun) -> frozenset[int]:
    """Return the generated mutants that have exactly these replies to a check; none if wrong replies
    are not stored exactly, such as distributions.
    """
    comparators = QUESTIONS[run.check.ask].comparators
    if any(each.name in comparators and each.right < each.cases for each in run.first.aspects):
        return frozenset()
    return key.generated.matching(run.check, run.replies.observations, key.expected[run.check.name])


def _generated_mutant_sentence(
    key: AnswerKey, check: Check, mutants: Mapping[str, Collection[int]]
) -> str | None:
    """Describe what the generated mutants with these replies have in common; their replies must
    match in this check and in all other checks that they affect.
    """
    candidates = frozenset(mutants.get(check.name, ()))
    for other, matching in mutants.items():
        candidates -= key.generated.affecting(other, candidates) - set(matching)
    return key.generated.sentence(check, candidates)
