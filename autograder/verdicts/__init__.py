"""What each check is marked on: hidden positions, and the replies expected there.

`studyN.toml` holds the positions, `studyN.expected.json` (derived) the reference's replies to them
and those of every mutant. Both stay with the staff.
"""

from pathlib import Path

from course.probes import Study, load_study


def hidden_study(name: str) -> Study:
    """Study `name` with the hidden cases in the place of the public ones."""
    return load_study(name, cases_file(load_study(name)))


def cases_file(study: Study) -> Path:
    """Where the hidden cases stand."""
    return study.home / "autograder" / "verdicts" / f"{study.name}.toml"


def expected_file(study: Study) -> Path:
    """Where the expected replies to the hidden cases stand."""
    return cases_file(study).with_suffix(".expected.json")
