"""Derives time limits of cells from the computing time of the instructor's own solution.

Checks have constant limits (`Check.time_limit`), which `check` also uses at home.

If each run measured that time again, the limits would differ between workers and days. So the
timings of the first worker are stored next to the results. They are kept until something that
decides the marks changes, because then the class is graded again anyway.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from traitlets.config import Config

from autograder.course_folder import CourseFolder, folder_lock
from autograder.grading.records.deciding import grader_state
from autograder.grading.records.ledger import read_object, write_json
from course.checks import MAX_SECONDS, Check, Study
from course.checks.questions import MATCHES

FILE = "needed.json"
DEFAULT_FACTOR = 20.0  # times the reference's time; no correct answer of ours needs more
MIN_SECONDS = 2.0  # because a tenth of a second is noise
MAX_CELL_SECONDS = 10.0


def time_limit(needed: float, factor: float, minimum: float, maximum: float) -> float:
    """Return the limit, in seconds of CPU time, for work that takes the instructor's own solution
    `needed` seconds.

    >>> [time_limit(needed, DEFAULT_FACTOR, MIN_SECONDS, 10) for needed in (0.01, 0.27, 3)]
    [2.0, 6, 10]
    """
    return min(maximum, max(minimum, math.ceil(factor * needed)))


def check_limit(check: Check, minimum: float, maximum: float) -> float:
    """Return the limit of a check: that of `check` at home, unless the instructor's options say
    otherwise.

    >>> from course.checks import load_check
    >>> [check_limit(load_check("study2.alpha_beta"), low, high) for low, high in ((2, 10), (3, 10))]
    [2, 3]
    """
    if check.ask in MATCHES:
        return check.time_limit
    return min(maximum, max(minimum, check.time_limit))


def load_timings(folder: CourseFolder, study: Study, state: Mapping[str, str]) -> dict[str, float]:
    """Return the timings that were measured when `state` decided the marks; none if there are no
    such timings.
    """
    kept = read_object(_file(folder, study), {"state": dict, "seconds": dict})
    return kept["seconds"] if kept and kept["state"] == state else {}


def keep_first_timings(
    folder: CourseFolder, study: Study, state: Mapping[str, str], measured: Mapping[str, float]
) -> dict[str, float]:
    """Return the timings of the worker that stored them first. If none are stored yet, store and
    return `measured`.
    """
    path = _file(folder, study)
    with folder_lock(path.parent):
        known = load_timings(folder, study, state)
        if measured and not known:
            write_json(path, {"state": dict(state), "seconds": dict(measured)})
        return known or dict(measured)


def time_limits(folder: CourseFolder, study: Study, config: Config) -> dict[str, float]:
    """Return the limits, in seconds of computing, for everything that was measured: for checks by
    their id, and for cells by the file of their notebook.
    """
    own = config.GradingStep
    factor, minimum = own.get("times_needed", DEFAULT_FACTOR), own.get("least_seconds", MIN_SECONDS)
    cell_seconds = own.get("cell_seconds", MAX_CELL_SECONDS)
    check_seconds = own.get("check_seconds", own.get("probe_seconds", MAX_SECONDS))
    checks = {check.id: check for check in study.checks.values()}
    timings = load_timings(folder, study, grader_state(folder, study, config))
    return {
        what: check_limit(checks[what], minimum, check_seconds)
        if what in checks
        else time_limit(seconds, factor, minimum, cell_seconds)
        for what, seconds in timings.items()
    }


def describe_time_limits(folder: CourseFolder, study: Study, config: Config) -> str:
    """Return a sentence that states the limits of an assignment, or "" if nothing was measured."""
    own = config.GradingStep
    factor, minimum = own.get("times_needed", DEFAULT_FACTOR), own.get("least_seconds", MIN_SECONDS)
    groups: dict[float, list[str]] = defaultdict(list)
    limits = time_limits(folder, study, config)
    for what, seconds in limits.items():
        groups[seconds].append(f"cells of {what}" if what.endswith(".ipynb") else what)
    if not groups:
        return ""
    most_common = max(groups, key=lambda seconds: len(groups[seconds]))
    others = [
        f"{seconds:g} s for {', '.join(groups[seconds])}"
        for seconds in sorted(groups)
        if seconds != most_common
    ]
    changed = [
        check.id
        for check in study.checks.values()
        if limits.get(check.id, check.time_limit) != check.time_limit
    ]
    exception = f", except {', '.join(changed)}" if changed else ""
    return (
        f"the CPU time limit is {', '.join([f'{most_common:g} s', *others])} ({factor:g} times the "
        f"time of the instructor's own solution, at least {minimum:g} s; for checks, as at "
        f"home{exception})"
    )


def _file(folder: CourseFolder, study: Study) -> Path:
    return folder.root / "results" / study.assignment / FILE
