"""Decides the marks of a submission's checks, in two steps.

`reply_collection` queries the student's module and returns plain data for each check. `judging`
computes the outcomes from these data and the study's answer key, without calling any student's code.
"""

from autograder.grading.verdict.judging import judge
from autograder.grading.verdict.reply_collection import (
    Query,
    SubmissionContext,
    TimeLimits,
    collect,
)
from course.checks import Check
from course.checks.marking.outcome import Outcome


def decide(context: SubmissionContext, check: Check, query: Query, limits: TimeLimits) -> Outcome:
    """Return the outcome of a check: the points, the case that explains them, and the cause.

    `query(study, check, seconds)` calls the student's module, wherever the module runs. The context
    contains the results of other checks of the same submission; this result is added to it.
    """
    collect(context, check, query, limits)
    return judge(context.key, context.runs)[check.id]
