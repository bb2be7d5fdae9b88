"""Grades a module as the grading step does, and lists how its pages explain the cause."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from autograder import workspace
from autograder.grading.verdict.answer_key import AnswerKey, load_answer_key
from autograder.grading.verdict.judging import judge
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits, collect
from autograder.studies import hidden_cases
from course.checks.marking.explain import as_text
from course.checks.marking.outcome import Outcome
from course.checks.questions import MATCHES
from course.checks.replies import SECONDS

# Some modules need nearly the time limit of a long check. So that their pages do not depend on the
# load, such checks may take several times as long here.
SLOWER = 3

TITLES = {
    "Likely cause: ": "named",
    "Likely cause, found": "carried",
    "Possible cause: ": "contradicted",
    "Perhaps: ": "generated mutant",
    "Where your search": "first node",
    "Your search, node by node: ": "search",
    "What the wrong replies have in common: ": "in common",
    "differs: ": "item",
    "including ": "item",
    "stopped after": "error",
}


def key_of(study: str) -> AnswerKey:
    """The answer key of a study with its hidden cases."""
    return load_answer_key(hidden_cases.hidden_study(study))


def grade(key: AnswerKey, text: str) -> dict[str, Outcome]:
    """The outcomes of a module with this text in all checks without games, by id."""
    context = SubmissionContext(key)
    limits = TimeLimits(
        None,
        SLOWER * SECONDS,
        SECONDS,
        {check.id: SLOWER * check.seconds for check in key.study.checks.values() if check.seconds},
    )

    def ask(_study, check, seconds):
        one = replace(key.study, checks={check.name: check})
        return workspace.run_checks(one, text, max_seconds=seconds)[check.name]

    for check in key.study.checks.values():
        if check.ask not in MATCHES:
            collect(context, check, ask, limits)
    return judge(key, context.runs)


def losses(study: str, text: str) -> list[Outcome]:
    """The outcomes of a module below full marks."""
    return [outcome for outcome in grade(key_of(study), text).values() if not outcome.full]


def explanations(wrong: Iterable[Outcome]) -> Iterator[str]:
    """The ways in which the pages explain the cause of losses."""
    for outcome in wrong:
        text = as_text(outcome)
        yield from (way for title, way in TITLES.items() if title in text)
        if outcome.problem:
            yield "error"
