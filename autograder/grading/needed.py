"""What the instructor's own solution computes: measured once for a release, the limits follow.

A limit that was measured anew in each run would be another one for each worker and each day. So
what the first worker measures is kept beside the results, as long as what decides the marks stays
as it is; then the class is graded again anyway.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from traitlets.config import Config

from autograder.course_folder import CourseFolder, held
from autograder.grading.deciding import grader_state
from autograder.grading.ledger import read_object, write_json
from course.probes import Study

FILE = "needed.json"
TIMES = 20.0  # as long as the instructor's own solution; no right answer of ours needs more
LEAST = 2.0  # seconds, however little that is: a tenth of a second is noise
MOST = 10.0  # seconds, for a check or a cell


def limit(needed: float, times: float, least: float, most: float) -> float:
    """Seconds of computing for who solves what the instructor's own solution does in `needed`.

    >>> limit(0.01, TIMES, LEAST, 10), limit(0.27, TIMES, LEAST, 10), limit(3, TIMES, LEAST, 10)
    (2.0, 6, 10)
    """
    return min(most, max(least, math.ceil(times * needed)))


def recalled(folder: CourseFolder, study: Study, state: Mapping[str, str]) -> dict[str, float]:
    """What was measured when `state` decided the marks, or nothing."""
    kept = read_object(_file(folder, study), {"state": dict, "seconds": dict})
    return kept["seconds"] if kept and kept["state"] == state else {}


def remembered(
    folder: CourseFolder, study: Study, state: Mapping[str, str], measured: Mapping[str, float]
) -> dict[str, float]:
    """What was measured first, by whichever worker: for all of them `measured` is only that if
    nothing else is known."""
    path = _file(folder, study)
    with held(path.parent):
        known = recalled(folder, study, state)
        if measured and not known:
            write_json(path, {"state": dict(state), "seconds": dict(measured)})
        return known or dict(measured)


def limits(folder: CourseFolder, study: Study, config: Config) -> dict[str, float]:
    """Seconds of computing that each check has, by its id, and a cell of each notebook that is run,
    by the notebook's file; of those for which something was measured."""
    own = config.GradingStep
    times, least = own.get("times_needed", TIMES), own.get("least_seconds", LEAST)
    return {
        what: limit(
            seconds,
            times,
            least,
            own.get("cell_seconds" if what.endswith(".ipynb") else "probe_seconds", MOST),
        )
        for what, seconds in recalled(folder, study, grader_state(folder, study, config)).items()
    }


def limits_in_words(folder: CourseFolder, study: Study, config: Config) -> str:
    """The limits of an assignment in a sentence, or "" if they follow from nothing measured."""
    own = config.GradingStep
    times, least = own.get("times_needed", TIMES), own.get("least_seconds", LEAST)
    groups: dict[float, list[str]] = defaultdict(list)
    for what, seconds in limits(folder, study, config).items():
        groups[seconds].append(f"cells of {what}" if what.endswith(".ipynb") else what)
    if not groups:
        return ""
    usual = max(groups, key=lambda seconds: len(groups[seconds]))
    others = [
        f"{seconds:g} s for {', '.join(groups[seconds])}"
        for seconds in sorted(groups)
        if seconds != usual
    ]
    return (
        f"the limit of computing time is {', '.join([f'{usual:g} s', *others])} "
        f"({times:g} times what the instructor's own solution needs, at least {least:g} s)"
    )


def _file(folder: CourseFolder, study: Study) -> Path:
    return folder.root / "results" / study.assignment / FILE
