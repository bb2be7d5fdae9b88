"""The hidden positions that each check is marked on, and the replies expected there.

`studyN.toml` holds the positions, `studyN.expected.json` (derived) the reference's replies to them
and those of every mutant. Both stay with the staff. May import the public packages only.
"""

from pathlib import Path

from course.probes import Study, load_study


def hidden_study(name: str) -> Study:
    """Study `name` with the hidden cases instead of the public ones."""
    return load_study(name, cases_file(load_study(name)))


def cases_file(study: Study) -> Path:
    """The file of the hidden cases."""
    return study.home / "autograder" / "verdicts" / f"{study.name}.toml"


def expected_file(study: Study) -> Path:
    """The file of the expected replies to the hidden cases."""
    return cases_file(study).with_suffix(".expected.json")
