"""What each check asks of a student's module, as plain data.

`studyN.toml` holds the points, the questions and the public positions of study N, and
`studyN.expected.json` (derived) what a right answer, and each known slip, replies to them. Staff
keep the same two files for the positions that are used for marks, elsewhere.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Case = Mapping[str, Any]  # one question: the position "on", and what else the probe wants to know
Observation = Mapping[str, Any]  # the reply to one case: aspect -> plain value, and "errors"


class UnknownCheck(ValueError):
    """There is no such study or check; the message lists those that there are."""


@dataclass(frozen=True)
class Check:
    """One check: the cases that are asked and the points of each aspect that is compared."""

    study: str  # "study3"
    name: str  # "type_a"
    ask: str  # the function of `course.probes.ask` that asks
    settings: Mapping[str, Any]  # what every case of this check has in common
    points: Mapping[str, float]  # aspect -> points
    extra_credit: bool
    cases: Sequence[Case]

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

    @property
    def max_points(self) -> float:
        """The points of checks and written answers, without extra credit."""
        checks = sum(c.max_points for c in self.checks.values() if not c.extra_credit)
        return checks + sum(self.written.values())


def studies() -> list[str]:
    """The names of all studies that have checks, in order."""
    return sorted(path.stem for path in HERE.glob("study*.toml"))


def load_study(name: str, cases_file: Path | None = None) -> Study:
    """Study `name` ("study3" or "study3_type_a") with its public cases.

    `cases_file`: a TOML file whose table `cases` replaces the public ones, check by check.
    Raises `UnknownCheck`.
    """
    known = studies()
    short = name.split("_", maxsplit=1)[0]
    if short not in known or name not in (short, _read(short)["assignment"]):
        raise UnknownCheck(f"there is no study {name!r}; there are {', '.join(known)}")
    data = _read(short)
    cases = {check: table["cases"] for check, table in data["checks"].items()}
    if cases_file is not None:
        cases = tomllib.loads(cases_file.read_text("utf-8"))["cases"]
        if set(cases) != set(data["checks"]):
            raise ValueError(f"{cases_file.name} has cases for {sorted(cases)}, "
                             f"the checks are {sorted(data['checks'])}")
    checks = {}
    for check, table in data["checks"].items():
        settings = {k: v for k, v in table.items() if k not in ("ask", "cases")}
        checks[check] = Check(short, check, table["ask"], settings, data["points"][check],
                              check in data.get("extra_credit", ()), cases[check])
    return Study(short, data["title"], data["assignment"], data["module"], checks, data["written"])


def load_check(check_id: str) -> Check:
    """The check with this id ("study3.type_a") and its public cases; raises `UnknownCheck`."""
    study, _, name = str(check_id).partition(".")
    checks = load_study(study).checks
    if name not in checks:
        raise UnknownCheck(f"there is no check {check_id!r}; {study} has "
                           + ", ".join(check.id for check in checks.values()))
    return checks[name]


def load_expected(path: Path) -> tuple[Mapping[str, Sequence[Observation]], list[Slip]]:
    """What a right answer replies, by check, and the known slips, from a derived JSON file."""
    data = json.loads(path.read_text("utf-8"))
    return data["expected"], [Slip(**slip) for slip in data["slips"]]


@cache
def _read(study: str) -> dict:
    return tomllib.loads((HERE / f"{study}.toml").read_text("utf-8"))
