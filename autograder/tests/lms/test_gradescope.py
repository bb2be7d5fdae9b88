"""Gradescope-like archives with metadata, and rosters.

The rosters follow "Adding Students and Staff" in Gradescope's guides, and the metadata follow the
public tools that read them; `autograder/lms/gradescope.py` cites both.
"""

import shutil
import unicodedata

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.commands.roster import read_roster
from autograder.course_folder import nfc
from autograder.errors import UserError
from autograder.lms.tables import read_table
from autograder.lms.uploads import plain_id
from autograder.tests.support.lms_files import (
    BOMS,
    DELIMITERS,
    LOGINS,
    NAMES,
    NEWLINES,
    STUDY,
    archive,
    collected,
    course,
    student,
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


def test_the_same_files_keep_their_time(folder, tmp_path):
    """A student who submits the same files again later loses nothing."""
    for number, day in (("1", "03"), ("2", "04")):
        path = archive(
            tmp_path / f"{number}.zip",
            {
                "submission_metadata.yml": METADATA.replace("2026-03-03", f"2026-03-{day}"),
                f"submission_101/{MODULE}": "ada",
            },
        )
        result = collected(folder, path)
    assert any("ada: the same files were submitted again later" in note for note in result.notes)
    assert "unchanged: 1" in result.summary(HOME)
    assert submissions(folder)[f"ada/{HOME}/timestamp.txt"] == "2026-03-03 11:30:00 UTC"


def test_lines_of_output_are_not_metadata(folder, tmp_path):
    """Neither after an empty line nor after a character that only Python takes for a line break."""
    evil = METADATA.replace(
        "    - output: |\n",
        "    - output: |\n\n        :created_at: 2026-01-01\u2028no: [ YAML\n\n        a: b: c\n",
    )
    path = archive(
        tmp_path / "s.zip", {"submission_metadata.yml": evil, f"submission_101/{MODULE}": "ada"}
    )
    assert collected(folder, path).statuses == {"ada": "new"}
    assert submissions(folder)[f"ada/{HOME}/timestamp.txt"] == "2026-03-03 11:30:00 UTC"


class _Dumper(yaml.SafeDumper):
    """Writes text with several lines as Ruby does, as a block; numbers, dates and words that YAML
    interprets have no quotation marks, and are text nevertheless.
    """

    yaml_implicit_resolvers = {}


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)
# Numbers, dates and words that YAML would interpret, and what a spreadsheet would.
SIDS = LOGINS | st.sampled_from(
    [
        *("0123", "1_000", "2026-03-02", "null", "~", "yes", "- x", "a: b", "#1", "&a", "!x"),
        *("=1+1", "'=x", 'a, "b"', "Ada; B", "Ö", unicodedata.normalize("NFD", "Zoë"), "李雷"),
    ]
)
OUTPUT = st.lists(
    st.sampled_from(["", "a: b: c", "  :submitters:", "submission_1:", "- [", "x\u2028y", "=1"])
).map("\n".join)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(SIDS, NAMES, NAMES, st.booleans(), OUTPUT, st.booleans()),
        min_size=1,
        max_size=4,
        unique_by=lambda row: plain_id(row[0]),
    )
)
def test_odd_names_and_ids_reach_their_students(folder, tmp_path, rows):
    """Each submission goes to the student with its SID or address, whatever is in the results."""
    shutil.rmtree(folder.root / "submitted", ignore_errors=True)
    table = [["First Name", "Last Name", "SID", "Email", "Role", "Sections"]]
    metadata, files = {}, {}
    for number, (login, first, last, has_sid, output, results_first) in enumerate(rows):
        sid, email = login if has_sid else "", f"{number}.{login}@x.org"
        table.append([first, last, sid, email, "Student", last])
        submitter = {":name": f"alias {first} {last}", ":sid": sid}
        submitter[":email"] = "elsewhere@x.org" if sid else email
        results = {":results": {"tests": [{"output": output}]}}
        metadata[f"submission_{number}"] = {
            ":submitters": [submitter],
            **(results if results_first else {}),
            ":created_at": "2026-03-02 09:00:00.5 Z",
            **results,
        }
        files[f"submission_{number}/{MODULE}"] = nfc(sid or email)
    try:
        found = read_roster(written(table))
    except UserError as error:
        assert "line break" in str(error)
        return
    text = yaml.dump(metadata, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    path = archive(tmp_path / "s.zip", {"submission_metadata.yml": text, **files})
    known = [student(s["id"], s["first_name"], s["last_name"], s["email"]) for s in found]
    result = collected(folder, path, students=known)
    assert (result.system, result.refused) == ("gradescope", [])
    time = "2026-03-02 09:00:00 UTC"
    assert submissions(folder) == {
        f"{name}/{HOME}/{file}": content
        for name in files.values()
        for file, content in ((MODULE, name), ("timestamp.txt", time))
    }


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


PRINTABLE = NAMES.filter(str.isprintable)


@given(
    st.lists(
        st.tuples(SIDS, PRINTABLE, PRINTABLE, PRINTABLE),
        min_size=1,
        max_size=5,
        unique_by=lambda row: plain_id(row[0]),
    ),
    st.booleans(),
    BOMS,
    DELIMITERS,
    NEWLINES,
)
def test_a_roster_keeps_ids_names_and_sections(rows, one_column, bom, delimiter, newline):
    """They are unchanged, whatever the form of the file, with names in one column or in two."""
    head = [*(["Name"] if one_column else ["First Name", "Last Name"]), "SID", "Email", "Role"]
    cells = [[*head, "Sections"]]
    for number, (sid, first, last, section) in enumerate(rows):
        names = [f"{first} {last}"] if one_column else [first, last]
        cells.append([*names, sid, f"={number}@x.org", "Student", section])
    table = read_table(written(cells, delimiter, newline, bom), "it")
    assert table.text() == written(cells, delimiter, newline, bom)
    found = read_roster(table.text())
    assert [(each["id"], each["email"], each["section"]) for each in found] == [
        (nfc(sid), f"={number}@x.org", nfc(section).strip())
        for number, (sid, _, _, section) in enumerate(rows)
    ]
    for each, (_, first, last, _) in zip(found, rows, strict=True):
        if one_column:  # the last word is taken as the last name
            assert (
                f"{each['first_name']} {each['last_name']}".split()
                == nfc(f"{first} {last}").split()
            )
        else:
            assert (each["first_name"], each["last_name"]) == (
                nfc(first).strip(),
                nfc(last).strip(),
            )
