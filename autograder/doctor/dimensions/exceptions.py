"""Reads the exceptions of a study: values that no case can have, and sentences about one direction.

They are in `dimensions.toml` in the staff's folder of the study, each with a reason; a study without
exceptions has no such file.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.doctor.dimensions.values import Value
from course.checks import Study, read_table, table_error, validate_keys

FILE = "dimensions.toml"
ALL_CHECKS = "*"
FORM = "a value is listed as 'check: dimension: value'"


def load_impossible(study: Study) -> dict[tuple[str, Value], str]:
    """Return the values that no case of a check can have, with the reasons. The check "*" stands for
    all checks.
    """
    file = study.staff_folder / FILE
    reasons = {}
    for reason, entries in _read(study)["impossible"].items():
        for entry in entries:
            check, *value = str(entry).split(": ", 2)
            if len(value) != 2 or check not in (ALL_CHECKS, *study.checks):
                raise table_error(file, reason, f"{FORM}, not as {entry!r}")
            reasons[check, Value(*value)] = reason
    return reasons


def load_one_sided(study: Study) -> Mapping[str, Sequence[str]]:
    """Return quotations of sentences that are about one direction only, by the reason."""
    return _read(study)["one_sided"]


def _read(study: Study) -> dict[str, Any]:
    file = study.staff_folder / FILE
    table: dict[str, Any] = {"impossible": {}, "one_sided": {}}
    if file.is_file():
        table |= read_table(file)
    validate_keys(table, {"impossible": dict, "one_sided": dict}, file, "at the top")
    for name, reasons in table.items():
        validate_keys(reasons, dict.fromkeys(reasons, list), file, name)
    return table
