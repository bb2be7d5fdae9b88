"""The definition of each check as plain data: questions, positions, points and expected replies.

A study's `checks.toml` contains the points, the questions and the public positions. The derived
file `expected.json` contains the replies of a correct answer and of each mutant. Instructors have
two similar files for the hidden positions. `course.checks.study_paths` lists a study's files.

May import the two games, and nothing else of `course`.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

from common.command_lines import advice
from common.messages import english
from course.checks import study_paths
from course.checks.positions import read_position
from course.checks.question import texts_of
from course.checks.questions import QUESTIONS

Case = Mapping[str, Any]  # one question: its position "on", and its other arguments
Observation = Mapping[str, Any]  # the reply to one case: aspect -> plain value, and "errors"


DEFAULT_SECONDS = 2.0  # of computing for one check; most references need less than 0.05
TIMES_REFERENCE = 20  # a limit above the default is about this many times the reference's time
MAX_SECONDS = 30.0  # the highest limit of a check that plays no games


class UnknownCheck(ValueError):
    """Raised for an unknown study or check; the message lists the existing ones."""


class StudyTableError(ValueError):
    """A mistake in a table; the message states the file, the place and the reason."""


@dataclass(frozen=True)
class Check:
    """One check: its cases, and the points of each aspect that is compared."""

    study: str  # "study3"
    name: str  # "type_a"
    ask: str  # one of `course.checks.questions`
    settings: Mapping[str, Any]  # arguments shared by all cases of this check
    points: Mapping[str, float]  # aspect -> points
    extra_credit: bool
    cases: Sequence[Case]
    seconds: float | None = None  # its time limit in the study's table; None for the default
    digest: str = ""  # digest of the questions in its file, to detect outdated replies

    @property
    def id(self) -> str:
        """The argument of `check`: "study3.type_a"."""
        return f"{self.study}.{self.name}"

    @property
    def max_points(self) -> float:
        """The points of all aspects together."""
        return sum(self.points.values())

    @property
    def time_limit(self) -> float:
        """The limit of the computing time for all cases together, in seconds.

        `check` and grading use the same limit, so a module that passes at home is not stopped in
        grading. It is a constant in the study's table, about 20 times the time of the reference, and
        not a measurement, so it does not depend on the load. `common.clock` scales all limits on
        slow machines.
        """
        return self.seconds or DEFAULT_SECONDS

    @property
    def grade_id(self) -> str:
        """The nbgrader id of the cell that contains this check."""
        return f"check-{self.study}-{self.name}".replace("_", "-")


@dataclass(frozen=True)
class KnownMistake:
    """A known mistake: the sentence that describes it, and the replies of a module that has it."""

    name: str
    sentence: str
    observed: Mapping[str, Sequence[Observation]]  # check name -> one reply per case


@dataclass(frozen=True)
class Study:
    """One study: its assignment folder, the module that students complete, its checks and points."""

    name: str  # "study3"
    title: str
    assignment: str  # "study3_type_a": the folder under course/, and the nbgrader assignment
    module: str  # "heuristic.py"
    checks: Mapping[str, Check]
    written: Mapping[str, float]  # id of a written answer -> points
    home: Path  # the folder that contains all its files: see `course.checks.study_paths`
    counts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # published node counts

    @property
    def folder(self) -> Path:
        """The folder of the stub and the notebooks."""
        return self.home / study_paths.PUBLIC / self.assignment

    @property
    def staff_folder(self) -> Path:
        """The folder of the answers, the mutants and the hidden cases."""
        return self.home / study_paths.STAFF / self.assignment

    @property
    def table(self) -> Path:
        """The file with the title, points, questions and public positions."""
        return self.folder / study_paths.CHECKS

    @property
    def expected_file(self) -> Path:
        """The file of the expected replies to the public cases."""
        return self.table.with_name("expected.json")

    @property
    def max_points(self) -> float:
        """The points of all checks and written answers, excluding extra credit."""
        checks = sum(c.max_points for c in self.checks.values() if not c.extra_credit)
        return checks + sum(self.written.values())


def studies() -> list[str]:
    """The names of all studies, in order: study2 before study9."""
    return list(_tables())


def load_study(name: str, cases_file: Path | None = None) -> Study:
    """Study `name` ("study3", "study3_type_a" or "type_a") with its public cases.

    `cases_file` is a TOML file whose table `cases` replaces the public cases of each check.
    Raises `UnknownCheck`, or `StudyTableError` if one of the two files contains a mistake.
    """
    short, file = _find_table(name)
    study = _study(
        short, file, cases_file, (_file_version(file), cases_file and _file_version(cases_file))
    )
    return replace(study, checks=dict(study.checks))


@lru_cache(maxsize=32)  # grading loads a study for each check of each submission
def _study(short: str, file: Path, cases_file: Path | None, _version: object) -> Study:
    data = _study_table(file)
    if cases_file is None:
        cases = {check: table.get("cases") for check, table in data["checks"].items()}
    else:
        table = read_table(cases_file)
        validate_keys(table, {"cases": dict}, cases_file, "at the top")
        cases = table["cases"]
        for check in sorted(data["checks"].keys() ^ cases.keys()):
            raise table_error(
                cases_file,
                check,
                f"is not a check of {short}"
                if check in cases
                else "has no cases in the table [cases]",
            )
    checks = {}
    for check, table in data["checks"].items():
        settings = {k: v for k, v in table.items() if k not in ("ask", "cases", "seconds")}
        checks[check] = Check(
            short,
            check,
            table["ask"],
            settings,
            data["points"][check],
            check in data["extra_credit"],
            cases[check],
            table.get("seconds"),
            digest_of([table["ask"], settings, cases[check]]),
        )
        _validate_cases(checks[check], cases_file or file)
    return Study(
        short,
        data["title"],
        file.parents[1].name,
        data["module"],
        checks,
        data["written"],
        file.parents[3],
        data["counts"],
    )


def _tables() -> dict[str, Path]:
    try:
        return study_paths.tables()
    except ValueError as error:
        raise StudyTableError(str(error)) from error


def _find_table(name: str) -> tuple[str, Path]:
    """The short name and the table of the study with this name, in one of its three forms."""
    tables = _tables()
    for short, file in tables.items():
        assignment = file.parents[1].name
        if name in (short, assignment, assignment.partition("_")[2]):
            return short, file
    raise UnknownCheck(english(f"there is no study {name!r}; the studies are {', '.join(tables)}"))


def modules() -> dict[str, str]:
    """The module that students complete in each assignment; this does not validate the cases."""
    return {file.parents[1].name: _study_table(file)["module"] for file in _tables().values()}


def load_check(check_id: str) -> Check:
    """The check with this id ("study3.type_a") and its public cases; raises `UnknownCheck`."""
    study, _, name = str(check_id).partition(".")
    checks = load_study(study).checks
    if name not in checks:
        raise UnknownCheck(
            english(
                f"there is no check {check_id!r}; {study} has "
                f"{', '.join(check.id for check in checks.values())}"
            )
        )
    return checks[name]


def load_expected(
    path: Path, checks: Iterable[Check]
) -> tuple[Mapping[str, Sequence[Observation]], list[KnownMistake]]:
    """The replies of a correct answer, by check, and the known mistakes, from a derived JSON file.

    Raises `StudyTableError` if the file is missing, damaged, or older than the questions of
    `checks`.
    """
    checks = list(checks)
    try:
        expected, mistakes, digests = _expected(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, LookupError, TypeError) as error:
        reason = f"{path.name} cannot be read ({type(error).__name__})"
    else:
        stale = [check.id for check in checks if digests.get(check.name) != check.digest]
        if not stale:
            return expected, mistakes
        reason = f"{path.name} is older than the questions of {', '.join(stale)}"
    command = advice("build", *{check.study for check in checks[:1]})
    raise StudyTableError(f"{reason}: run {command}")


@lru_cache(maxsize=4)  # the checks of one study are loaded one after another
def _expected(
    path: Path, _mtime: int
) -> tuple[Mapping[str, Sequence[Observation]], list[KnownMistake], Mapping[str, str]]:
    data = json.loads(path.read_text("utf-8"))
    mistakes = [KnownMistake(**mistake) for mistake in data["mistakes"]]
    return data["expected"], mistakes, dict(data["digests"])


def digest_of(data: object) -> str:
    """A short digest of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def table_error(file: Path, where: str, what: str) -> StudyTableError:
    """An error that reports the problem `what` at the place `where` in `file`."""
    return StudyTableError(f"{'/'.join(file.parts[-3:])}, {where}: {what}")


def read_table(file: Path) -> dict[str, Any]:
    """The contents of a TOML file; raises `StudyTableError` if it cannot be read."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise table_error(file, "which cannot be read", str(error)) from error


def validate_keys(table: Any, keys: Mapping[str, type], file: Path, where: str) -> None:
    """Raise `StudyTableError` unless `table` has these keys, of these types, and no others."""
    words: dict[type, str] = {str: "a text", dict: "a table", list: "a list"}
    if not isinstance(table, dict):
        raise table_error(file, where, f"{table!r} is not a table")
    for key in sorted(table.keys() - keys.keys()):
        raise table_error(file, where, f"there is no key {key!r}; the keys are {', '.join(keys)}")
    for key, kind in keys.items():
        if not isinstance(table.get(key), kind):
            raise table_error(file, where, f"{key!r} is required and must be {words[kind]}")


def _study_table(file: Path) -> dict[str, Any]:
    """The table of a study; everything except the cases is validated."""
    return _validated_table(file, _file_version(file))


def _file_version(file: Path) -> tuple[int, int] | None:
    """The modification time and size of a file, used as a cache key; None if it cannot be read."""
    try:
        status = file.stat()
    except OSError:  # reading it will report the reason
        return None
    return status.st_mtime_ns, status.st_size


@cache
def _validated_table(file: Path, _version: object) -> dict[str, Any]:
    keys = {
        "title": str,
        "module": str,
        "extra_credit": list,
        "points": dict,
        "written": dict,
        "checks": dict,
        "counts": dict,
    }
    data = {"extra_credit": [], "counts": {}, **read_table(file)}
    validate_keys(data, keys, file, "at the top")
    checks = data["checks"]
    for check in sorted(checks.keys() ^ data["points"].keys()):
        raise table_error(
            file,
            check,
            "it must be in both [points] and [checks], and is missing "
            + ("in [points]" if check in checks else "in [checks]"),
        )
    for check in data["extra_credit"]:
        if check not in list(checks):
            raise table_error(file, "extra_credit", f"there is no check {check!r}")
    _validate_points(data["written"], file, "[written]")
    for check, points in data["points"].items():
        ask = checks[check].get("ask") if isinstance(checks[check], dict) else None
        if ask not in list(QUESTIONS):
            raise table_error(file, check, f"'ask' must be one of {', '.join(QUESTIONS)}")
        if not isinstance(points, dict) or not points:
            raise table_error(file, check, "its points must be a table of aspects")
        for aspect in points:
            if aspect not in QUESTIONS[ask].aspects:
                raise table_error(
                    file,
                    check,
                    f"there is no aspect {aspect!r}; the aspects are "
                    f"{', '.join(QUESTIONS[ask].aspects)}",
                )
        _validate_points(points, file, check)
        _validate_seconds(checks[check], file, check)
    return data


def _validate_points(points: Mapping[str, Any], file: Path, where: str) -> None:
    for name, number in points.items():
        if type(number) not in (int, float) or not 0 < number < math.inf:
            raise table_error(
                file, where, f"the points of {name!r} must be a number above 0, not {number!r}"
            )


def _validate_seconds(table: Mapping[str, Any], file: Path, check: str) -> None:
    seconds = table.get("seconds", DEFAULT_SECONDS)
    highest = math.inf if QUESTIONS[table["ask"]].is_match else MAX_SECONDS
    if type(seconds) not in (int, float) or not 0 < seconds <= highest:
        allowed = "above 0" if highest == math.inf else f"above 0 and at most {highest:g}"
        raise table_error(file, check, f"'seconds' must be a number {allowed}, not {seconds!r}")


def _validate_cases(check: Check, file: Path) -> None:
    if not isinstance(check.cases, list) or not check.cases:
        raise table_error(file, check.name, "it needs a list of cases")
    for case in check.cases:
        try:
            question = {**check.settings, **case}
            signature(QUESTIONS[check.ask].ask).bind(None, **question)
            for text in texts_of(question):
                read_position(text)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            reason = str(error).partition("\n")[0].rstrip(":")  # without the drawn board
            raise table_error(file, check.name, f"the case {case}: {reason}") from error
