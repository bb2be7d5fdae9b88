"""What each check asks of a student's module, as plain data.

`studyN.toml` holds the points, the questions and the public positions of study N, and
`studyN.expected.json` (derived) what a right answer, and each known slip, replies to them. Two more
such files, elsewhere, are for the positions that marks are given on: `course.probes.homes` says
where everything that belongs to a study is found.

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

from course.probes import homes
from course.probes.positions import read_position
from course.probes.question import texts_of
from course.probes.questions import QUESTIONS

Case = Mapping[str, Any]  # one question: the position "on", and what else the probe wants to know
Observation = Mapping[str, Any]  # the reply to one case: aspect -> plain value, and "errors"


class UnknownCheck(ValueError):
    """There is no such study or check; the message lists the ones that exist."""


class StudyTableError(ValueError):
    """A mistake in a table that people edit; the message says in which file, where and why."""


@dataclass(frozen=True)
class Check:
    """One check: the cases that are asked and the points of each aspect that is compared."""

    study: str  # "study3"
    name: str  # "type_a"
    ask: str  # one of `course.probes.questions`
    settings: Mapping[str, Any]  # what every case of this check has in common
    points: Mapping[str, float]  # aspect -> points
    extra_credit: bool
    cases: Sequence[Case]
    seconds: float | None = None  # that it may take, where that is not the usual time
    digest: str = ""  # of what is asked, in the file that it was read from; replies belong to it

    @property
    def id(self) -> str:
        """The name that `check` is called with: "study3.type_a"."""
        return f"{self.study}.{self.name}"

    @property
    def max_points(self) -> float:
        """The points of all aspects together."""
        return sum(self.points.values())

    @property
    def grade_id(self) -> str:
        """The nbgrader id of the cell that holds this check."""
        return f"check-{self.study}-{self.name}".replace("_", "-")


@dataclass(frozen=True)
class Slip:
    """A known wrong answer: its sentence, and what it replies to the cases of each check."""

    name: str
    sentence: str
    observed: Mapping[str, Sequence[Observation]]  # check name -> one reply per case


@dataclass(frozen=True)
class Study:
    """One study: its assignment folder, the module that students fill, its checks and points."""

    name: str  # "study3"
    title: str
    assignment: str  # "study3_type_a": the folder under course/, and the nbgrader assignment
    module: str  # "heuristic.py"
    checks: Mapping[str, Check]
    written: Mapping[str, float]  # id of a written answer -> points
    home: Path  # the folder below which all that belongs to it is found: `course.probes.homes`
    counts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # published node counts

    @property
    def folder(self) -> Path:
        """The folder of the stub and the notebooks."""
        return self.home / "course" / self.assignment

    @property
    def table(self) -> Path:
        """The file with the title, points, questions and public positions."""
        return self.home / homes.TABLES / f"{self.name}.toml"

    @property
    def expected_file(self) -> Path:
        """Where the expected replies to the public cases stand."""
        return self.table.with_suffix(".expected.json")

    @property
    def max_points(self) -> float:
        """The points of checks and written answers, without extra credit."""
        checks = sum(c.max_points for c in self.checks.values() if not c.extra_credit)
        return checks + sum(self.written.values())


def studies() -> list[str]:
    """The names of all studies, in order: study2 before study9."""
    return list(_homes())


def load_study(name: str, cases_file: Path | None = None) -> Study:
    """Study `name` ("study3", "study3_type_a" or "type_a") with its public cases.

    `cases_file`: a TOML file whose table `cases` replaces the public ones, check by check.
    Raises `UnknownCheck`, and `StudyTableError` if one of the two files has a mistake in it.
    """
    short, file = _table_of(name)
    study = _study(short, file, cases_file, (_written(file), cases_file and _written(cases_file)))
    return replace(study, checks=dict(study.checks))


@lru_cache(maxsize=32)  # a grader asks for a study with each check of each submission
def _study(short: str, file: Path, cases_file: Path | None, _changed: object) -> Study:
    data = _study_table(file)
    if cases_file is None:
        cases = {check: table.get("cases") for check, table in data["checks"].items()}
    else:
        table = read_table(cases_file)
        complain_about_keys(table, {"cases": dict}, cases_file, "at the top")
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
        _complain_about_cases(checks[check], cases_file or file)
    return Study(
        short,
        data["title"],
        data["assignment"],
        data["module"],
        checks,
        data["written"],
        file.parents[2],
        data["counts"],
    )


def _homes() -> dict[str, Path]:
    try:
        return homes.tables()
    except ValueError as error:
        raise StudyTableError(str(error)) from error


def _table_of(name: str) -> tuple[str, Path]:
    """The short name and the table of the study that is called `name` in one of three ways."""
    known = {short: home / homes.TABLES / f"{short}.toml" for short, home in _homes().items()}
    short = name.split("_", maxsplit=1)[0]
    if short in known and name in (short, _study_table(known[short])["assignment"]):
        return short, known[short]
    for short, file in known.items():
        if _study_table(file)["assignment"] == f"{short}_{name}":
            return short, file
    raise UnknownCheck(f"there is no study {name!r}; the studies are {', '.join(known)}")


def modules() -> dict[str, str]:
    """The module that students fill in each assignment, by assignment; no case is looked at."""
    tables = (
        _study_table(home / homes.TABLES / f"{short}.toml") for short, home in _homes().items()
    )
    return {table["assignment"]: table["module"] for table in tables}


def load_check(check_id: str) -> Check:
    """The check with this id ("study3.type_a") and its public cases; raises `UnknownCheck`."""
    study, _, name = str(check_id).partition(".")
    checks = load_study(study).checks
    if name not in checks:
        raise UnknownCheck(
            f"there is no check {check_id!r}; {study} has "
            + ", ".join(check.id for check in checks.values())
        )
    return checks[name]


def load_expected(
    path: Path, checks: Iterable[Check]
) -> tuple[Mapping[str, Sequence[Observation]], list[Slip]]:
    """The replies of a right answer, by check, and the known slips, from a derived JSON file.

    Raises `StudyTableError` if they are not the replies to what `checks` ask: the file is missing,
    damaged, or older than the tables.
    """
    try:
        expected, slips, digests = _expected(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = f"{path.name} cannot be read ({type(error).__name__})"
    else:
        stale = [check.id for check in checks if digests.get(check.name) != check.digest]
        if not stale:
            return expected, slips
        why = f"{path.name} is older than the questions of {', '.join(stale)}"
    raise StudyTableError(f"{why}: run `autograder build {path.name.partition('.')[0]}`")


@lru_cache(maxsize=4)  # one study's checks are asked after one another
def _expected(
    path: Path, _changed: int
) -> tuple[Mapping[str, Sequence[Observation]], list[Slip], Mapping[str, str]]:
    data = json.loads(path.read_text("utf-8"))
    return data["expected"], [Slip(**slip) for slip in data["slips"]], dict(data["digests"])


def digest_of(data: object) -> str:
    """A short digest of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def table_error(file: Path, where: str, what: str) -> StudyTableError:
    """The error that says `what` is wrong `where` in `file`."""
    return StudyTableError(f"{'/'.join(file.parts[-3:])}, {where}: {what}")


def read_table(file: Path) -> dict[str, Any]:
    """The contents of a TOML file; raises `StudyTableError` if it cannot be read."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise table_error(file, "which cannot be read", str(error)) from error


def complain_about_keys(table: Any, keys: Mapping[str, type], file: Path, where: str) -> None:
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
    """The table of a study, with everything checked except the cases."""
    return _checked_table(file, _written(file))


def _written(file: Path) -> tuple[int, int] | None:
    """When a file was written and its size, which change with it; None if it cannot be read."""
    try:
        found = file.stat()
    except OSError:  # reading it will say why
        return None
    return found.st_mtime_ns, found.st_size


@cache
def _checked_table(file: Path, _changed: object) -> dict[str, Any]:
    keys = {
        "title": str,
        "assignment": str,
        "module": str,
        "extra_credit": list,
        "points": dict,
        "written": dict,
        "checks": dict,
        "counts": dict,
    }
    data = {"extra_credit": [], "counts": {}, **read_table(file)}
    complain_about_keys(data, keys, file, "at the top")
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
    _complain_about_points(data["written"], file, "[written]")
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
        _complain_about_points(points, file, check)
    return data


def _complain_about_points(points: Mapping[str, Any], file: Path, where: str) -> None:
    for name, number in points.items():
        if type(number) not in (int, float) or not 0 < number < math.inf:
            raise table_error(
                file, where, f"the points of {name!r} must be a number above 0, not {number!r}"
            )


def _complain_about_cases(check: Check, file: Path) -> None:
    if not isinstance(check.cases, list) or not check.cases:
        raise table_error(file, check.name, "it needs a list of cases")
    for case in check.cases:
        try:
            question = {**check.settings, **case}
            signature(QUESTIONS[check.ask].ask).bind(None, **question)
            for text in texts_of(question):
                read_position(text)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            why = str(error).partition("\n")[0].rstrip(":")  # without the picture of the board
            raise table_error(file, check.name, f"the case {case}: {why}") from error
