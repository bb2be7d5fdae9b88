"""Gradescope-like archives with metadata, and rosters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.commands.roster import read_roster
from autograder.errors import UserError
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NEWLINES,
    STUDY,
    archive,
    collected,
    course,
    submissions,
    written,
)

MODULE = STUDY.module
HOME = STUDY.assignment
ROSTER = """\
First Name,Last Name,SID,Email,Role,Sections
Ada,Byron,ada,ada@example.org,Student,A
Ben,Li,,ben@example.org,Student,B
Grace,Hopper,g1,grace@example.org,TA,
"""
# As public tools read it: keys of Ruby, times with nanoseconds, results with students' output.
METADATA = """\
---
submission_101:
  :submitters:
  - :name: Ada Byron
    :sid: ada
    :email: ada@example.org
  :created_at: 2026-03-03 12:30:00.123456789 +01:00
  :score: 3.0
  :status: processed
  :results:
    tests:
    - output: |
        submission_102:
          :submitters:
          - :name: Ben Li
  :history: []
submission_102:
  :submitters:
  - :name: B. Li
    :sid: ''
    :email: BEN@example.org
  - :name: "Zo\\u00eb \\xD5unapuu"
    :sid:
    :email: zoe@elsewhere.org
  :created_at: 2026-03-02 08:59:00.000000000 Z
submission_103:
  :submitters:
  - :name: Some One
    :sid: '999'
    :email: one@example.org
  :created_at: 2026-03-02 08:59:00 Z
"""


@pytest.fixture
def folder(tmp_path):
    """A course with a roster."""
    return course(tmp_path / "course")


@pytest.mark.parametrize("root", ["", "assignment_77_export/"])
def test_submissions_with_times_and_groups(folder, tmp_path, root):
    """Submitters are found by SID, address or name; output in the results is not read."""
    path = archive(
        tmp_path / "s.zip",
        {
            f"{root}submission_metadata.yml": METADATA,
            f"{root}submission_101/{MODULE}": "ada",
            f"{root}submission_102/code/{MODULE}": "pair",
            f"{root}submission_103/{MODULE}": "unknown",
        },
    )
    result = collected(folder, path)
    assert result.system == "gradescope"
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "ada",
        f"ada/{HOME}/timestamp.txt": "2026-03-03 11:30:00 UTC",
        f"ben/{HOME}/code/{MODULE}": "pair",
        f"ben/{HOME}/timestamp.txt": "2026-03-02 08:59:00 UTC",
        f"zoe/{HOME}/code/{MODULE}": "pair",
        f"zoe/{HOME}/timestamp.txt": "2026-03-02 08:59:00 UTC",
    }
    assert result.refused == ["submission_103: no student on the roster has this name or number"]
    assert result.notes == [
        "submission_102: a submission of several students, collected for each of them: ben, zoe"
    ]


def test_the_newest_of_several_submissions_counts(folder, tmp_path):
    """A student may be in two groups."""
    again = METADATA.replace("submission_101", "submission_201").replace(
        "2026-03-03 12:30", "2026-03-03 18:00"
    )
    path = archive(
        tmp_path / "s.zip",
        {
            "submission_metadata.yml": METADATA + again.removeprefix("---\n"),
            f"submission_101/{MODULE}": "old",
            f"submission_201/{MODULE}": "new",
        },
    )
    result = collected(folder, path)
    assert submissions(folder)[f"ada/{HOME}/{MODULE}"] == "new"
    assert any("submission_101, submission_201" in note for note in result.notes)


@pytest.mark.parametrize(
    "metadata",
    [
        "submission_1: [",
        "- a list",
        "submission_1:\n  :submitters: " + "[" * 5000,
        "\xff\xfe".encode("latin-1"),
    ],
)
def test_metadata_that_cannot_be_read_are_refused(folder, tmp_path, metadata):
    """The message is one sentence."""
    path = archive(
        tmp_path / "s.zip",
        {"submission_metadata.yml": metadata, f"submission_1/{MODULE}": "x"},
    )
    with pytest.raises(UserError, match="metadata") as error:
        collected(folder, path)
    assert "\n" not in str(error.value)


def test_metadata_cannot_run_code(folder, tmp_path):
    """Tags of YAML are not interpreted."""
    evil = METADATA.replace("Ada Byron", "!!python/object/apply:os.system ['false']", 1)
    path = archive(
        tmp_path / "s.zip",
        {"submission_metadata.yml": evil, f"submission_101/{MODULE}": "ada"},
    )
    assert "ada" in collected(folder, path).statuses


def test_a_roster_has_students_only():
    """The SID is the id; without one, it is the address."""
    assert read_roster(ROSTER) == [
        {
            "id": "ada",
            "first_name": "Ada",
            "last_name": "Byron",
            "email": "ada@example.org",
            "section": "A",
        },
        {
            "id": "ben@example.org",
            "first_name": "Ben",
            "last_name": "Li",
            "email": "ben@example.org",
            "section": "B",
        },
    ]
    (student,) = read_roster("Name,SID,Email,Role\nAda Byron,s1,a@example.org,Student\n")
    assert (student["first_name"], student["last_name"]) == ("Ada", "Byron")


@given(st.lists(LOGINS, min_size=1, max_size=5, unique=True), BOMS, DELIMITERS, NEWLINES)
def test_a_roster_keeps_ids(logins, bom, delimiter, newline):
    """Ids and addresses are unchanged, whatever the form of the file."""
    head = ["First Name", "Last Name", "SID", "Email", "Role", "Sections"]
    rows = [["A", "B", login, f"{n}@x.org", "Student", ""] for n, login in enumerate(logins)]
    found = read_roster(written([head, *rows], delimiter, newline, bom))
    assert [(s["id"], s["email"]) for s in found] == [
        (login, f"{n}@x.org") for n, login in enumerate(logins)
    ]
