"""Computes how a student's free late days are spent, from the times of all submissions.

Each student has a budget of free days for the term. They are used automatically in the order of the
due dates, and no day that does not lower the penalty is used. The result depends only on the times in
the gradebook and on the rule, so it is the same whenever it is computed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from autograder.course_folder.policies import LateRule
from autograder.grading.records.gradebook_reader import Executor, SubmissionTime, read_times
from common.messages import english
from course.checks.marking.explain import capitalized
from course.checks.study_paths import natural_sort_key

PLUGIN = "autograder.grading.records.late.ShareADay"


@dataclass(frozen=True)
class Account:
    """The free days of one student."""

    budget: int
    used: Mapping[str, int]  # assignment -> days, only where days were used
    seconds: Mapping[str, float]  # assignment -> seconds late, before free days

    @property
    def left(self) -> int:
        """The number of free days that have not been used."""
        return self.budget - sum(self.used.values())

    def describe_for(self, assignment: str) -> str:
        """Return in sentences for the student how late an assignment is, and the account up to it.

        Later assignments are left out, so that they do not change the page of an earlier one.
        """
        hours = self.seconds.get(assignment, 0) / 3600
        late = english(f"Submitted {hours:.1f} hours late. " if hours else "")
        names = list(self.seconds)
        if assignment not in names:
            return f"{capitalized(self.describe())}."
        earlier = names[: names.index(assignment) + 1]
        used = {name: self.used[name] for name in earlier if name in self.used}
        return f"{late}{capitalized(replace(self, used=used).describe())}."

    def describe(self) -> str:
        """Return the account in words, for the student and for graders."""
        used = ", ".join(
            english(f"{days} for {assignment}") for assignment, days in self.used.items()
        )
        return english(
            f"free late days: {sum(self.used.values())} of {self.budget} used"
            + (f" ({used})" if used else "")
            + f", {self.left} left"
        )


def rule_of(config: Any) -> LateRule | None:
    """Return the late rule of a course with this configuration; None if it uses another plugin."""
    if config.AssignLatePenalties.get("plugin_class") != PLUGIN:
        return None
    names = [field.name for field in fields(LateRule)]
    return LateRule(**{name: config.ShareADay[name] for name in names if name in config.ShareADay})


def accounts(
    gradebook: Executor, rule: LateRule | None, student: str | None = None
) -> dict[str, Account]:
    """Return the accounts of all students who have submitted something, or of one of them.

    They are empty if the course has no free days.
    """
    if rule is None or not rule.free_days:
        return {}
    times: dict[str, list[SubmissionTime]] = defaultdict(list)
    for time in read_times(gradebook, student):
        if time.due:
            times[time.student].append(time)
    return {name: account(rule, own) for name, own in times.items()}


def account(rule: LateRule, times: Iterable[SubmissionTime]) -> Account:
    """Return the account of the student with these submissions."""
    left, used, seconds = rule.free_days, {}, {}
    for time in _ordered(times):
        seconds[time.assignment] = time.seconds
        if days := rule.days_needed(time.seconds, left):
            used[time.assignment] = days
            left -= days
    return Account(rule.free_days, used, seconds)


def _ordered(times: Iterable[SubmissionTime]) -> Iterator[SubmissionTime]:
    dated = [time for time in times if time.due]
    return iter(sorted(dated, key=lambda time: (time.due, natural_sort_key(time.assignment))))
