"""The table `course.toml` in a course folder: what the course changes in the kit's studies.

```
name = "Search and games, spring 2027"    # in the overview and in reports
id = "search_2027"                        # nbgrader's course id
language = "de"                           # of feedback and `check`: see messages/de.po

[study3]
leave_out = ["type_a_plus", "why-ten"]    # checks and written questions
extra_credit = ["priority"]               # the checks for extra credit, instead of the kit's
points = { lane_counts = { counts = 3 }, whose-move = 2 }   # of a check's aspects, of a question
variant = { pair_weight = 6, divisor = 20 }   # this year's version of the study: see `next-year`
former = [{ pair_weight = 7 }]                # the versions of former years, besides the kit's

[study3.hidden_cases]                     # in addition to the kit's
lane_counts = [{ on = "x___o____" }]

[[study3.text]]                           # "replace", "before" or "after" quotes the notebook
notebook = "03_lane_heuristic"
after = "The estimate must follow the chances of winning."
text = "Read section 5.3 of our textbook first."

[[study3.mutant]]                         # a known mistake, as in the kit's mutants.toml
name = "counts_rows_only"
sentence = "`lane_counts` counts only the rows."
loses = { lane_counts = ["counts"] }
edit = [{ old = "for lane in LANES", new = "for lane in LANES[:3]" }]

[plan]                                    # `plan own` sets these due dates
study1 = 2                                # at the end of the second week
study3 = "2027-03-01 18:00"               # in the course's time zone

[late]                                    # see `policies.py`, also for [attempts]
percent = 10
free_days = 3
```

Everything is optional. Mistakes raise `StudyTableError`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from autograder.course_folder.policies import attempts_count, late_options
from course.checks import read_table, table_error

FILE = "course.toml"
COURSE_ID = "adversarial_search"
VALID_ID = re.compile(r"[A-Za-z0-9_.-]+")  # a folder of the exchange
ENGLISH = "en"
LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]{2,4})*")  # de, pt_BR, zh_Hans
STUDY = re.compile(r"study\d+")
PLACES = ("replace", "before", "after")
KEYS = {
    "name": str,
    "id": str,
    "language": str,
    "plan": dict,
    "late": dict,
    "attempts": dict,
}
STUDY_KEYS = {
    "leave_out": list,
    "extra_credit": list,
    "points": dict,
    "hidden_cases": dict,
    "text": list,
    "mutant": list,
    "variant": dict,
    "former": list,
}


class TextChange(NamedTuple):
    """A text that replaces `quoted` in a notebook, or is added before or after its paragraph."""

    notebook: str
    place: str  # one of PLACES
    quoted: str
    text: str


@dataclass(frozen=True)
class StudyChanges:
    """What a course changes in one study."""

    leave_out: Sequence[str] = ()  # checks and written questions
    extra_credit: Sequence[str] | None = None  # instead of the kit's checks for extra credit
    points: Mapping[str, Any] = field(default_factory=dict)
    hidden_cases: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    texts: Sequence[TextChange] = ()
    mutants: Sequence[Mapping[str, Any]] = ()
    drawn_cases: Mapping[str, Sequence[Mapping[str, Any]]] = field(
        default_factory=dict
    )  # instead of the kit's hidden cases
    variant: Mapping[str, Any] = field(default_factory=dict)  # values of the study's parameters
    former: Sequence[Mapping[str, Any]] = ()  # variants of former years


@dataclass(frozen=True)
class CourseTable:
    """The content of `course.toml`, and its path."""

    file: Path
    name: str = ""
    id: str = COURSE_ID
    studies: Mapping[str, StudyChanges] = field(default_factory=dict)
    plan: Mapping[str, int | str] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)  # options of `policies.LateRule`
    attempts: str = "last"  # one of `policies.COUNTS`
    language: str = ENGLISH


def read_course_table(root: Path) -> CourseTable:
    """Return the table of the course folder `root`; without a file, nothing is changed.

    Raises `StudyTableError`.
    """
    file = root / FILE
    if not file.is_file():
        return CourseTable(file)
    table = read_table(file)
    for key, value in table.items():
        if not STUDY.fullmatch(key):
            _require(key in KEYS, file, "at the top", _unknown(key, [*KEYS, "study1, study2 ..."]))
            _require(isinstance(value, KEYS[key]), file, key, f"{value!r} has the wrong type")
    course_id = table.get("id", COURSE_ID)
    _require(
        VALID_ID.fullmatch(course_id) is not None,
        file,
        "id",
        f"{course_id!r} may contain only letters from A to Z, digits, '_', '-' and '.'",
    )
    language = table.get("language", ENGLISH)
    _require(
        LANGUAGE.fullmatch(language) is not None,
        file,
        "language",
        f"{language!r} must be a code such as 'de' or 'pt_BR'",
    )
    studies = {key: _changes(value, file, key) for key, value in table.items() if STUDY.match(key)}
    plan = table.get("plan", {})
    for study, due in plan.items():
        is_due = (type(due) is int and due > 0) or isinstance(due, str)
        _require(
            STUDY.fullmatch(study) is not None and is_due,
            file,
            "plan",
            f"{study} = {due!r} must be a study with a number of weeks, or with a time in quotes "
            "such as '2027-03-01 18:00'",
        )
    return CourseTable(
        file,
        table.get("name", ""),
        course_id,
        studies,
        plan,
        late_options(table.get("late", {}), file),
        attempts_count(table.get("attempts", {}), file),
        language,
    )


def _changes(table: Any, file: Path, study: str) -> StudyChanges:
    _require(isinstance(table, dict), file, study, f"{table!r} is not a table")
    for key, value in table.items():
        _require(key in STUDY_KEYS, file, study, _unknown(key, STUDY_KEYS))
        _require(
            isinstance(value, STUDY_KEYS[key]),
            file,
            f"{study}.{key}",
            f"{value!r} has the wrong type",
        )
    for key in ("leave_out", "extra_credit"):
        for name in table.get(key, []):
            _require(isinstance(name, str), file, f"{study}.{key}", f"{name!r} is not a name")
    return StudyChanges(
        table.get("leave_out", []),
        table.get("extra_credit"),
        table.get("points", {}),
        table.get("hidden_cases", {}),
        [_text_change(entry, file, f"{study}.text") for entry in table.get("text", [])],
        table.get("mutant", []),
        variant=table.get("variant", {}),
        former=table.get("former", []),
    )


def _text_change(entry: Any, file: Path, where: str) -> TextChange:
    _require(isinstance(entry, dict), file, where, f"{entry!r} is not a table")
    for key in ("notebook", "text"):
        _require(isinstance(entry.get(key), str), file, where, f"{key!r} is required, as a text")
    places = [key for key in entry if key in PLACES]
    _require(
        len(places) == 1 and isinstance(entry[places[0]], str) and entry[places[0]].strip() != "",
        file,
        where,
        f"it needs one of {', '.join(PLACES)}, with a text of the notebook",
    )
    for key in entry.keys() - {"notebook", "text", *PLACES}:
        raise table_error(file, where, _unknown(key, ["notebook", "text", *PLACES]))
    return TextChange(entry["notebook"], places[0], entry[places[0]], entry["text"])


def _unknown(key: str, keys: Sequence[str] | Mapping[str, Any]) -> str:
    return f"there is no key {key!r}; the keys are {', '.join(keys)}"


def _require(holds: bool, file: Path, where: str, problem: str) -> None:
    if not holds:
        raise table_error(file, where, problem)
