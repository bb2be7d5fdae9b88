"""What marks follow from, as one digest per cause, so that a change can be named.

The ledger keeps these digests with each result. `grade` compares them with today's, and wherever
marks are shown, results of an earlier day are counted.
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
from autograder import verdicts
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.grading.ledger import LEDGER, read_ledger
from course.probes import Study
from sequence.league.cluster import code_files

State = Mapping[str, str]  # cause -> digest
STAFF = Path(__file__).parents[1]
# The code that decides marks. The rest of the kit releases, shows and explains them.
CODE = (
    STAFF / "grading",
    STAFF / "sandbox",
    STAFF / "workspace",
    *(Path(package.__file__).parent for package in (course, sequence, tictactoe)),
)
CAUSES = {
    "submission": "it was handed in again",
    "points": "the points in the study's table have changed",
    "positions": "the positions or the expected replies have changed",
    "release": "the assignment was released again",
    "settings": f"settings in {CONFIG_FILE} have changed",
    "code": "the grading code has changed",
    "isolation": "submissions run in another way",
}
UNKNOWN = "it was graded by a version of the kit that kept no record of what decides the marks"
# Settings that decide no mark, or that a run sets for itself.
NO_SECTIONS = {
    "CourseDirectory",
    "Exchange",
    "ExchangeFactory",
    "FeedbackExporter",
    "GenerateAssignment",
    "GenerateFeedback",
    "HTMLExporter",
    "ShareADay",
}
NO_OPTIONS = {
    "cluster_seconds",
    "computed",
    "door",
    "gradebook_seconds",
    "isolation",
    "needed",
    "scheduler",
    "tests",
}


def grader_state(folder: CourseFolder, study: Study, config: Config) -> dict[str, str]:
    """What decides the marks of all submissions to a study, and where they run."""
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
        answers = study.home / "autograder" / "answers" / study.assignment
        state["positions"] = _digest(
            [
                {name: check.digest for name, check in study.checks.items()},
                _digest_of_files(
                    [
                        verdicts.cases_file(study),
                        verdicts.expected_file(study),
                        *sorted(answers.glob("*.py")),
                    ]
                ),
            ]
        )
    return state


def changes(before: State, now: State) -> list[str]:
    """What has changed between two states, as sentences without a full stop; none if nothing has.

    Causes that only one of them knows are left out, but for results of an older kit.
    """
    if "code" not in before:
        return [UNKNOWN]
    return [
        _in_words(cause, before[cause], now[cause])
        for cause in CAUSES
        if cause in before and cause in now and before[cause] != now[cause]
    ]


def out_of_date(folder: CourseFolder, study: Study) -> dict[str, list[str]]:
    """The students whose marks follow from an earlier state, and what has changed since.

    How a single run isolated its submissions is no such change.
    """
    now = grader_state(folder, study, folder.config())
    del now["isolation"]
    found = {}
    for path in sorted((folder.root / "results" / study.assignment).glob(f"*/{LEDGER}")):
        entry = read_ledger(path)
        if entry and entry["status"] == "graded" and (why := changes(entry["state"], now)):
            found[path.parent.name] = why
    return found


def out_of_date_in_words(study: Study, found: Mapping[str, Iterable[str]]) -> str:
    """How many marks are out of date, why, and what to do; "" if none are."""
    if not found:
        return ""
    are = "1 submission has" if len(found) == 1 else f"{len(found)} submissions have"
    return (
        f"{study.assignment}: {are} marks of an earlier state ({counted(found.values())}): "
        f"run `autograder grade {study.name}` to bring them up to date"
    )


def counted(reasons: Iterable[Iterable[str]]) -> str:
    """The causes that several submissions have, the most frequent first, each with its number."""
    count = Counter(why for each in reasons for why in each)
    return "; ".join(f"{why}: {number}" for why, number in count.most_common())


def _in_words(cause: str, before: str, now: str) -> str:
    if cause == "isolation":
        return f"{CAUSES[cause]} ({now}, before: {before})"
    versions = [code.partition(" ")[0] for code in (before, now)]
    if cause == "code" and versions[0] != versions[1]:
        return f"{CAUSES[cause]} (version {versions[1]}, before: {versions[0]})"
    return CAUSES[cause]


@cache
def _code() -> str:
    """The kit's version and the digest of the code that decides marks."""
    files = [path for root in CODE for path in code_files(root) if path.suffix == ".py"]
    return f"{version('adversarial-search-kit')} {_digest_of_files(files)}"


def _settings(folder: CourseFolder) -> dict[str, Any]:
    """The effective settings that decide marks: comments and the order of lines make no difference.

    A function or a class counts by its source, and so do the modules beside the configuration.
    """
    config = folder.config()
    ours = config.AssignLatePenalties.get("plugin_class") == "autograder.grading.late.ShareADay"
    left_out = NO_SECTIONS | ({"AssignLatePenalties"} if ours else set())
    helpers = [path for path in sorted(folder.root.glob("*.py")) if path.name != CONFIG_FILE]
    return {
        section: {name: value for name, value in options.items() if name not in NO_OPTIONS}
        for section, options in config.items()
        if section not in left_out
    } | {"modules": _digest_of_files(helpers)}


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, default=_as_text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _as_text(value: object) -> object:
    """What JSON lacks, so that two equal settings give the same text in two processes."""
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
    return hashlib.sha256(b"".join(_parts(paths))).hexdigest()[:16]


def _parts(paths: Iterable[Path]) -> Iterator[bytes]:
    for path in paths:
        if path.is_file():
            text = path.read_bytes()
            yield f"{path.name}\0{len(text)}\0".encode() + text
