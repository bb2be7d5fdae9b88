"""Archives of submissions: Canvas's names, and what no archive may do.

The names follow `lib/content_zipper.rb` of Canvas and `mod/assign/classes/downloader.php` of Moodle,
which `autograder/lms/canvas.py` and `autograder/lms/moodle.py` cite.
"""

import os
import shutil
import stat
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.errors import UserError
from autograder.lms import collect, sources
from autograder.lms.uploads import Hint
from autograder.tests.support.lms_files import (
    CLASS,
    NOTEBOOK,
    STUDY,
    archive,
    collected,
    course,
    student,
    submission,
    submissions,
)

MODULE = STUDY.module
HOME = STUDY.assignment


@pytest.fixture
def folder(tmp_path):
    """A course folder with a roster."""
    return course(tmp_path / "course")


def test_canvas_files_reach_their_students(folder, tmp_path):
    """Names, ids and files are divided as Canvas joins them; a page with text is a file as well."""
    path = archive(
        tmp_path / "submissions.zip",
        {
            f"byronada_4711_90_{MODULE}": "ada",
            f"byronada_4711_91_{NOTEBOOK}": "{}",
            f"liben_4712_92_{MODULE}": "ben",
            "õunapuuzoë_4713_text.html": "<p>I could not do it.</p>",
        },
    )
    result = collected(folder, path)
    assert (result.system, result.refused, result.notes) == ("canvas", [], [])
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "ada",
        f"ada/{HOME}/{NOTEBOOK}": "{}",
        f"ben/{HOME}/{MODULE}": "ben",
        f"zoe/{HOME}/õunapuuzoë_4713_text.html": "<p>I could not do it.</p>",
    }
    assert set(result.statuses.values()) == {"new"}


def test_late_files_count_as_just_late_until_the_time_is_known(folder, tmp_path):
    """Canvas says LATE but not when; a table of times says when, and nothing is lost without it."""
    path = archive(tmp_path / "s.zip", {f"byronada_LATE_4711_90_{MODULE}": "ada"})
    result = collected(folder, path)
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "ada",
        f"ada/{HOME}/timestamp.txt": "2026-03-02 10:01:00 UTC",
    }
    (note,) = result.notes
    assert "counts as one minute late" in note and "--times" in note
    time = ((Hint("id", "ada"),), collect.datetime(2026, 3, 4, 12, tzinfo=collect.UTC))
    assert collected(folder, path, time).statuses == {"ada": "replaced"}
    assert submissions(folder)[f"ada/{HOME}/timestamp.txt"] == "2026-03-04 12:00:00 UTC"


def test_a_late_student_may_have_another_name_in_canvas(folder, tmp_path):
    """The number decides, and LATE is no part of the name."""
    path = archive(tmp_path / "s.zip", {f"lovelaceaugusta_LATE_4711_90_{MODULE}": "ada"})
    result = collected(folder, path)
    assert (result.statuses, result.refused) == ({"ada": "new"}, [])
    assert submissions(folder)[f"ada/{HOME}/timestamp.txt"] == "2026-03-02 10:01:00 UTC"


def test_a_listed_time_corrects_the_submission_in_both_directions(folder, tmp_path):
    """The files are the same, so the former version is not kept as another attempt."""
    path = archive(tmp_path / "s.zip", {f"byronada_LATE_4711_90_{MODULE}": "ada"})
    collected(folder, path)
    for day in (4, 1):
        time = ((Hint("id", "ada"),), collect.datetime(2026, 3, day, 12, tzinfo=collect.UTC))
        assert collected(folder, path, time).statuses == {"ada": "replaced"}
        stamp = submissions(folder)[f"ada/{HOME}/timestamp.txt"]
        assert stamp == f"2026-03-0{day} 12:00:00 UTC"
    assert collected(folder, path).statuses == {"ada": "unchanged"}
    assert not (folder.root / "attempts").exists()


def test_a_late_submission_without_a_time_is_not_older(folder, tmp_path):
    """It replaces a submission with a known time; one with a listed time can be older."""
    first = archive(tmp_path / "first.zip", {f"byronada_4711_90_{MODULE}": "first"})
    last = archive(tmp_path / "last.zip", {f"byronada_LATE_4711_91_{MODULE}": "last"})
    later, earlier = (
        ((Hint("id", "ada"),), collect.datetime(2026, 3, day, 12, tzinfo=collect.UTC))
        for day in (5, 4)
    )
    collected(folder, first, later)
    assert collected(folder, last).statuses == {"ada": "replaced"}
    collected(folder, last, later)
    result = collected(folder, first, earlier)
    assert (result.statuses, submissions(folder)[f"ada/{HOME}/{MODULE}"]) == (
        {"ada": "older"},
        "last",
    )
    assert result.notes == ["ada: the submission is older than the collected one, which stays"]


def test_a_time_that_is_lost_is_reported(folder, tmp_path):
    """A new submission without a time counts as on time."""
    for name, text in (("first", "x"), ("last", "y")):
        path = archive(tmp_path / f"{name}.zip", {f"byronada_4711_90_{MODULE}": text})
        if name == "first":
            when = collect.datetime(2026, 3, 4, 12, tzinfo=collect.UTC)
            assert collected(folder, path, ((Hint("id", "ada"),), when)).notes == []
    (note,) = collected(folder, path).notes
    assert "ada: the archive has no time for this submission" in note


def test_numbers_of_resubmissions_are_removed(folder, tmp_path):
    """Canvas calls a file that is submitted again `NAME-1`; the newest of several counts."""
    stem = MODULE.removesuffix(".py")
    path = archive(
        tmp_path / "s.zip",
        {
            f"byronada_4711_95_{stem}-2.py": "new",
            f"byronada_4711_94_{MODULE}": "old",
            "byronada_4711_96_notes-2.py": "notes",
            f"liben_4712_97_{NOTEBOOK.replace('.', '-11.')}": "{}",
        },
    )
    result = collected(folder, path)
    assert submissions(folder) == {
        f"ada/{HOME}/{MODULE}": "new",
        f"ada/{HOME}/notes-2.py": "notes",
        f"ben/{HOME}/{NOTEBOOK}": "{}",
    }
    assert result.notes == [f"ada: there are several files {MODULE}: the newest one counts"]


def test_no_student_can_submit_for_another_one(folder, tmp_path):
    """Neither a name with a classmate's number nor a file's name changes the owner."""
    path = archive(
        tmp_path / "s.zip",
        {
            f"byronada_4711_90_4712_1_{MODULE}": "a file with numbers",
            f"evil_4712_4711_91_{MODULE}": "a name with a number",
        },
    )
    result = collected(folder, path)
    assert submissions(folder) == {f"ada/{HOME}/4712_1_{MODULE}": "a file with numbers"}
    (reason,) = result.refused
    assert reason.startswith("evil_: no student on the roster")


def test_unknown_students_are_reported_and_get_no_folder(folder, tmp_path):
    """The roster decides who is in the course."""
    path = archive(
        tmp_path / "s.zip",
        {f"student_9999_90_{MODULE}": "x", f"byronada_4711_91_{MODULE}": "ada"},
    )
    result = collected(folder, path)
    assert list(submissions(folder)) == [f"ada/{HOME}/{MODULE}"]
    assert result.refused == ["student_9999: no student on the roster has this name or number"]
    with pytest.raises(UserError, match="roster is empty"):
        collected(folder, path, students=[])


def test_a_former_submission_stays_if_the_new_one_is_refused(folder, tmp_path):
    """A submission without a usable file, and an older one, replace nothing."""
    good = {f"byronada_4711_90_{MODULE}": "good"}
    collected(folder, archive(tmp_path / "a.zip", good))
    before = submissions(folder)
    large = archive(tmp_path / "b.zip", {f"byronada_4711_91_{MODULE}": os.urandom(5_000_001)})
    result = collected(folder, large)
    assert result.refused == ["ada: it has no file that can be copied"]
    assert "at most 5,000,000 are allowed" in result.notes[0]
    assert collected(folder, archive(tmp_path / "a.zip", good)).statuses == {"ada": "unchanged"}
    assert submissions(folder) == before
    (folder.submission(HOME, "ada") / "timestamp.txt").write_text("2026-03-05 10:00 UTC")
    old = ((Hint("id", "ada"),), collect.datetime(2026, 3, 4, tzinfo=collect.UTC))
    newer = archive(tmp_path / "c.zip", {f"byronada_4711_92_{MODULE}": "other"})
    assert collected(folder, newer, old).statuses == {"ada": "older"}
    assert submissions(folder)[f"ada/{HOME}/{MODULE}"] == "good"
    assert sorted(path.name for path in (folder.root / "submitted").iterdir()) == ["ada"]


def test_students_cannot_choose_their_time(folder, tmp_path):
    """A submitted timestamp.txt is left out."""
    path = archive(
        tmp_path / "s.zip",
        {
            "Ada Byron_7_assignsubmission_file/timestamp.txt": "2020-01-01 00:00 UTC",
            f"Ada Byron_7_assignsubmission_file/{MODULE}": "ada",
        },
    )
    collected(folder, path)
    assert submissions(folder) == {f"ada/{HOME}/{MODULE}": "ada"}


TRICKS = [
    "../../../evil.py",
    "/tmp/evil.py",
    "..\\..\\evil.py",
    "C:\\evil.py",
    "C:/evil.py",
    "a/../../../../evil.py",
    "a/CON.py",
    "nul",
    "trailing. ",
    "bell\a.py",
    "x" * 600,
]


@pytest.mark.parametrize("name", TRICKS)
@pytest.mark.parametrize("first", ["", "Ada Byron_7_assignsubmission_file/"])
def test_names_that_lead_outside_are_not_copied(folder, tmp_path, name, first):
    """Names with .., absolute ones and those of Windows are reported, and the rest is collected."""
    before = {*tmp_path.rglob("*")} | {tmp_path / "s.zip"}
    first = "" if name.startswith("/") else first
    path = archive(
        tmp_path / "s.zip",
        {first + name: "evil", f"Ada Byron_7_assignsubmission_file/{MODULE}": "ada"},
    )
    result = collected(folder, path)
    assert submissions(folder) == {f"ada/{HOME}/{MODULE}": "ada"}
    assert len(result.refused + result.notes) == 1
    outside = {p for p in tmp_path.rglob("*") if folder.root / "submitted" not in (p, *p.parents)}
    assert outside == before
    assert not Path("/tmp/evil.py").exists()


def test_links_and_special_files_are_not_copied(folder, tmp_path):
    """A link in an archive or in a folder is reported, and not followed."""
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as target:
        link = zipfile.ZipInfo("Ada Byron_7_assignsubmission_file/link.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(link, str(folder.root / "nbgrader_config.py"))
        target.writestr(f"Ada Byron_7_assignsubmission_file/{MODULE}", "ada")
    result = collected(folder, path)
    assert result.notes == ["ada: link.py was not copied: it is a link or a special file"]
    place = tmp_path / "folder" / "Ben Li_8_assignsubmission_file"
    place.mkdir(parents=True)
    (place / "link.py").symlink_to(folder.root / "nbgrader_config.py")
    (place / "folder").symlink_to(folder.root)
    (place / MODULE).write_text("ben", "utf-8")
    result = collected(folder, tmp_path / "folder")
    assert len(result.notes) == 2
    assert submissions(folder) == {f"ada/{HOME}/{MODULE}": "ada", f"ben/{HOME}/{MODULE}": "ben"}


@pytest.mark.parametrize("place", ["submitted", "submitted/ada", f"submitted/ada/{HOME}"])
def test_nothing_is_written_through_a_link_in_the_course_folder(folder, tmp_path, place):
    """A folder that is a link is refused."""
    target = tmp_path / "elsewhere"
    target.mkdir()
    (folder.root / place).parent.mkdir(parents=True, exist_ok=True)
    (folder.root / place).symlink_to(target)
    path = archive(tmp_path / "s.zip", {f"byronada_4711_90_{MODULE}": "ada"})
    result = collected(folder, path)
    assert "is not a folder" in result.refused[0]
    assert not list(target.iterdir())


def test_bombs_are_not_unpacked(folder, tmp_path, monkeypatch):
    """Limits: the ratio of a file, the size of a submission, the files of both, and the total."""
    first = "Ada Byron_7_assignsubmission_file"
    bomb = archive(tmp_path / "bomb.zip", {f"{first}/a.ipynb": b"0" * 4_000_000})
    result = collected(folder, bomb)
    assert "more than 200 times as large" in result.notes[0] and not submissions(folder)
    many = archive(tmp_path / "many.zip", {f"{first}/{n}.txt": "" for n in range(2001)})
    assert collected(folder, many).refused == ["ada: it has more than 2,000 files"]
    big = archive(tmp_path / "big.zip", {f"{first}/{n}.txt": os.urandom(900) for n in range(9)})
    monkeypatch.setattr(collect, "MAX_SUBMISSION", 8000)
    assert collected(folder, big).refused == ["ada: it is too large"]
    monkeypatch.setattr(sources, "MAX_PARTS", 8)
    with pytest.raises(UserError, match="more than 8 files"):
        collected(folder, big)
    assert not submissions(folder)


def test_a_false_size_in_an_archive_is_noticed(folder, tmp_path):
    """The header says 10 bytes, the data are more."""
    path = archive(tmp_path / "s.zip", {f"byronada_4711_90_{MODULE}": "x" * 5000})
    data = path.read_bytes()
    path.write_bytes(data.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    (reason,) = collected(folder, path).refused
    assert reason.startswith(f"ada: {MODULE} cannot be unpacked (Bad CRC-32")
    assert not submissions(folder)


@pytest.mark.parametrize("content", [b"", b"no zip file", b"PK\x05\x06" + b"\xff" * 18])
def test_files_that_are_no_archives_are_refused_in_one_sentence(folder, tmp_path, content):
    """A damaged file, another archive and a missing one."""
    (tmp_path / "s.zip").write_bytes(content)
    (tmp_path / "s.tar.gz").write_bytes(content)
    for name, reason in [
        ("s.zip", "cannot be read|no submissions"),
        ("s.tar.gz", "only .zip"),
        ("no", "there is no file"),
    ]:
        with pytest.raises(UserError, match=reason):
            collected(folder, tmp_path / name)


def test_an_archive_of_no_system_is_refused(folder, tmp_path):
    """The message names the option."""
    path = archive(tmp_path / "s.zip", {"readme.txt": "x"})
    with pytest.raises(UserError, match="--format"):
        collected(folder, path)
    with pytest.raises(UserError, match="in the form of Moodle"):
        collected(folder, path, system="moodle")


def test_names_that_differ_in_case_only_are_one_file(folder, tmp_path):
    """The first one counts; a file cannot be a folder as well."""
    first = "Ada Byron_7_assignsubmission_file"
    files = {f"{first}/{name}": name for name in ("A.py", "a.py", "a.py/b.py", "d/e", "d")}
    result = collected(folder, archive(tmp_path / "s.zip", files))
    assert submissions(folder) == submission("ada", A__py="A.py") | {f"ada/{HOME}/d/e": "d/e"}
    assert len(result.notes) == 3


def test_two_students_with_the_same_name_are_not_confused(folder, tmp_path):
    """A name that several students have identifies none of them."""
    twins = [*CLASS, student("ada2", "Ada", "Byron")]
    path = archive(tmp_path / "s.zip", {f"Ada Byron_7_assignsubmission_file/{MODULE}": "x"})
    result = collected(folder, path, students=twins)
    assert len(result.refused) == 1 and not submissions(folder)


PIECES = st.sampled_from(
    [
        *("..", ".", "/", "//", "\\", ":", "_", "-1", "LATE", "4711", "4712", "9", "\u0000", "é"),
        *("byronada_", "Ada Byron_7_assignsubmission_file", "submission_1", "hw-ada", MODULE),
        *("__MACOSX", "con", "submission_metadata.yml", ".git", "*", "?", "timestamp.txt"),
    ]
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=7).map("".join), min_size=1, max_size=6))
def test_no_name_leads_outside_and_none_fails(folder, tmp_path, names):
    """Only folders of students on the roster are written, or an error explains why none are."""
    shutil.rmtree(folder.root / "submitted", ignore_errors=True)
    path = tmp_path / "s.zip"
    path.touch()
    before = {*tmp_path.rglob("*")}
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(path, "w") as target:
        for name in names:
            target.writestr(zipfile.ZipInfo(name), "x")
    with suppress(UserError):
        collected(folder, path)
    home = folder.root / "submitted"
    new = {*tmp_path.rglob("*")} - before - {home}
    students = {home / student.id / HOME for student in CLASS}
    assert all(
        any(place in (each, *each.parents) or each == place.parent for place in students)
        for each in new
    )
