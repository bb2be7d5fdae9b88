"""Reads the hidden positions on which each check is marked, and the replies that are expected
there.

`hidden_cases.toml` contains the positions, and `hidden_expected.json` (derived) contains the
replies of the reference and of every mutant.
"""

from pathlib import Path

from course.checks import Study, load_study


def hidden_study(name: str) -> Study:
    """Return the study `name` with the hidden cases instead of the public ones."""
    return load_study(name, cases_file(load_study(name)))


def cases_file(study: Study) -> Path:
    """Return the file with the hidden cases of a study."""
    return study.staff_folder / "hidden_cases.toml"


def expected_file(study: Study) -> Path:
    """Return the file with the expected replies to the hidden cases."""
    return study.staff_folder / "hidden_expected.json"
