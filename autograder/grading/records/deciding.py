"""Computes digests of everything that decides marks, one per cause, so that the cause of a change
can be reported.

The ledger stores these digests with each result. `grade` compares them with the current ones, and
reports count the results that are out of date.
"""

import hashlib
import inspect
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from traitlets.config import Config, LazyConfigValue

import course
import sequence
import tictactoe
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.grading.records.ledger import LEDGER, read_ledger
from autograder.studies import hidden_cases
from common.command_lines import advice
from course.checks import Study
from sequence.league.cluster import code_files

State = Mapping[str, str]  # cause -> digest
STAFF_PACKAGE = Path(__file__).parents[2]
# The code that decides marks. The rest of the kit releases, displays and explains them.
CODE = (
    STAFF_PACKAGE / "grading",
    STAFF_PACKAGE / "sandbox",
    STAFF_PACKAGE / "workspace",
    *(Path(package.__path__[0]) for package in (course, sequence, tictactoe)),
)
CAUSES = {
    "submission": "it was submitted again",
    "points": "the points in the study's table have changed",
    "positions": "the positions or the expected replies have changed",
    "release": "the assignment was generated again",
    "settings": f"settings in {CONFIG_FILE} have changed",
    "code": "the grading code has changed",
    "isolation": "submissions are run in a different way",
}
UNKNOWN = "it was graded by a version of the kit that did not record what decides the marks"
# Settings that do not influence marks, and settings that a run itself sets.
IGNORED_SECTIONS = {
    "CourseDirectory",
    "Exchange",
    "ExchangeFactory",
    "FeedbackExporter",
    "GenerateAssignment",
    "GenerateFeedback",
    "HTMLExporter",
    "ShareADay",
}
IGNORED_OPTIONS = {
    "cluster_seconds",
    "computed",
    "create_student",
    "fork_server",
    "gradebook_seconds",
    "isolation",
    "needed",
    "scheduler",
    "tests",
}


def grader_state(folder: CourseFolder, study: Study, config: Config) -> dict[str, str]:
    """Return what decides the marks of all submissions to a study, and where the submissions run."""
    stages = (folder.root / "source" / study.assignment, folder.release(study.assignment))
    released = [path for stage in stages for path in sorted(stage.rglob("*"))]
    state = {
        "release": _digest_of_files(released),
        "settings": _digest(_settings(folder)),
        "code": _code(),
        "isolation": config.GradingStep.get("isolation", "sandbox"),
    }
    if study.checks:
        state["points"] = _digest(
            {
                name: [check.points, check.extra_credit, check.seconds]
                for name, check in study.checks.items()
            }
            | {"written": study.written}
        )
        state["positions"] = _digest(
            [
                {name: check.digest for name, check in study.checks.items()},
                _digest_of_files(
                    [
                        hidden_cases.cases_file(study),
                        hidden_cases.expected_file(study),
                        *sorted(study.staff_folder.glob("*.py")),
                    ]
                ),
            ]
        )
    return state


def changes(before: State, now: State) -> list[str]:
    """Return clauses that describe what has changed between two states; none if nothing has.

    Causes that exist in only one of the states are omitted, unless the results come from an older
    kit.
    """
    if "code" not in before:
        return [UNKNOWN]
    return [
        _describe_change(cause, before[cause], now[cause])
        for cause in CAUSES
        if cause in before and cause in now and before[cause] != now[cause]
    ]


def outdated_results(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """Return the students whose marks are based on an earlier state, and what has changed since.

    The way in which a single run isolated its submissions does not count as a change.
    """
    now = grader_state(folder, study, folder.config())
    del now["isolation"]
    outdated = {}
    for path in sorted((folder.root / "results" / study.assignment).glob(f"*/{LEDGER}")):
        entry = read_ledger(path)
        if entry and entry["status"] == "graded" and (why := changes(entry["state"], now)):
            outdated[path.parent.name] = why
    return outdated


def describe_outdated_results(
    folder: CourseFolder, study: Study, outdated: Mapping[str, Iterable[str]]
) -> str:
    """Return a sentence that states how many marks are out of date, why, and what to do; "" if none
    are.
    """
    if not outdated:
        return ""
    number = len(outdated)
    submissions = "1 submission has" if number == 1 else f"{number} submissions have"
    reasons = count_reasons(outdated.values())
    return (
        f"{study.assignment}: {submissions} outdated marks ({reasons}): run "
        f"{advice('grade', study.name, course=folder.root)} to update them"
    )


def count_reasons(reasons: Iterable[Iterable[str]]) -> str:
    """Return the causes that apply to several submissions, each with its frequency, most frequent
    first.
    """
    count = Counter(why for each in reasons for why in each)
    return "; ".join(f"{why}: {number}" for why, number in count.most_common())


def _describe_change(cause: str, before: str, now: str) -> str:
    if cause == "isolation":
        return f"{CAUSES[cause]} ({now}, before: {before})"
    versions = [code.partition(" ")[0] for code in (before, now)]
    if cause == "code" and versions[0] != versions[1]:
        return f"{CAUSES[cause]} (version {versions[1]}, before: {versions[0]})"
    return CAUSES[cause]


@cache
def _code() -> str:
    """Return the kit's version and the digest of the code that decides marks."""
    files = [path for root in CODE for path in code_files(root) if path.suffix == ".py"]
    return f"{version('adversarial-search-kit')} {_digest_of_files(files)}"


def _settings(folder: CourseFolder) -> dict[str, Any]:
    """Return the effective settings that decide marks; comments and the order of lines do not
    count.

    Functions and classes are compared by their source code, and so are the modules next to the
    configuration.
    """
    config = folder.config()
    ours = (
        config.AssignLatePenalties.get("plugin_class")
        == "autograder.grading.records.late.ShareADay"
    )
    left_out = IGNORED_SECTIONS | ({"AssignLatePenalties"} if ours else set())
    helpers = [path for path in sorted(folder.root.glob("*.py")) if path.name != CONFIG_FILE]
    return {
        section: {name: value for name, value in options.items() if name not in IGNORED_OPTIONS}
        for section, options in config.items()
        if section not in left_out
    } | {"modules": _digest_of_files(helpers)}


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, default=_encode)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _encode(value: object) -> object:
    """Encode values that JSON lacks, so that equal settings give the same text in any process."""
    if isinstance(value, LazyConfigValue):
        return value.to_dict()
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, type):
        return [
            value.__qualname__,
            [base.__qualname__ for base in value.__bases__],
            {
                name: member
                for name, member in vars(value).items()
                if callable(member) or not name.startswith("__")
            },
        ]
    try:
        return inspect.getsource(value)  # type: ignore[arg-type]  # of a function
    except (OSError, TypeError):
        return type(value).__qualname__


def _digest_of_files(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(_contents(paths))).hexdigest()[:16]


def _contents(paths: Iterable[Path]) -> Iterator[bytes]:
    for path in paths:
        if path.is_file():
            text = path.read_bytes()
            yield f"{path.name}\0{len(text)}\0".encode() + text
