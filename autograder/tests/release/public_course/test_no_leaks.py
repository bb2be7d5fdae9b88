"""Nothing of the staff's side gets into the history of a public repository."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from autograder.course_folder import CourseFolder
from autograder.release.kit import Member, find_all_leaks
from autograder.release.leaks import public_files
from autograder.release.own_course.adapted_studies import Adaptation
from autograder.release.public_course import PublishError, Search
from autograder.release.public_course.git import Repository
from autograder.release.public_course.proof import leaks_in
from autograder.studies.hidden_cases import hidden_study
from autograder.tests.support.public_course import (
    FIRST,
    KIT,
    PAGES,
    commit,
    git,
    site_of,
    state,
)
from autograder.workspace import answer_path
from autograder.workspace.strip import BEGIN, END
from course.checks import load_study
from course.checks.question import texts_of
from course.checks.study_paths import VARIABLE

ANSWER = answer_path(FIRST).read_text("utf-8")
LINES = ANSWER.replace(BEGIN, "").replace(END, "")
STUB = f"course/{FIRST.assignment}/{FIRST.module}"
HIDDEN = sorted(
    {t for c in hidden_study("study3").checks.values() for case in c.cases for t in texts_of(case)}
    - {t for c in load_study("study3").checks.values() for case in c.cases for t in texts_of(case)}
)[0]
RUBRIC = max(
    (FIRST.staff_folder / "written.md").read_text("utf-8").splitlines(), key=len
)  # a line of a model answer
MODEL_ANSWER = "The model answer of this course is that ten is a divisor."
MUTANTS = (FIRST.staff_folder / "mutants.toml").read_bytes()


def zipped(**files: str) -> bytes:
    """A zip file, as the wheel of the live site is one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def marked_up(text: str) -> bytes:
    """A page that shows a text with a tag around each word, as highlighted code has them."""
    lines = [
        " ".join(f"<span>{word}</span>" for word in line.split()) for line in text.splitlines()
    ]
    return ("<!DOCTYPE html>\n<pre>" + "\n".join(lines) + "</pre>\n").encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("planted", "leak"),
    [
        ({STUB: ANSWER.encode()}, "minimax.py .* holds a solution region"),
        ({STUB: LINES.encode()}, "minimax.py .* holds lines of the answer"),
        ({"docs/a.md": HIDDEN.encode()}, f"docs/a.md .* contains the hidden position {HIDDEN}"),
        ({"docs/a.md": RUBRIC.encode()}, "docs/a.md .* contains a model answer"),
        ({"docs/a.toml": MUTANTS}, "docs/a.toml .* is the staff's file studies/study1_"),
        ({"a.zip": zipped(a=LINES)}, "a.zip .*/a holds lines of the answer"),
        ({"a.gz": gzip.compress(HIDDEN.encode())}, "a.gz .*/contents contains the hidden"),
    ],
)
def test_a_leak_in_the_kit_stops_the_first_publish(published, folder, planted, leak):
    """Nothing is created."""
    with pytest.raises(PublishError, match=f"nothing was published, .*{leak}"):
        published(planted)
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "pages",
    [
        {"live/kit.whl": zipped(inner=LINES)},
        {"live/kit.whl": zipped(**{"a/minimax.py": ANSWER})},
        {"chapter.html": marked_up(LINES)},
    ],
)
def test_a_leak_in_the_site_changes_nothing(published, folder, pages):
    """The former commits are the last ones, and no object is added."""
    published(site=site_of())
    before = state(folder)
    with pytest.raises(PublishError, match="nothing was published"):
        published({"LICENSE": b"MIT 2\n"}, site_of({**PAGES, **pages}, "2"))
    assert state(folder) == before


def _in_an_earlier_commit(folder: Path) -> None:
    (folder / "help.py").write_text(LINES, "utf-8")
    commit(folder)
    git(folder, "rm", "-q", "help.py")
    commit(folder)


def _on_another_branch(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "draft")
    (folder / "help.py").write_text(LINES, "utf-8")
    commit(folder)
    git(folder, "checkout", "-q", "main")


def _in_a_message(folder: Path) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", f"Add {HIDDEN}")


def _in_a_tag(folder: Path) -> None:
    git(folder, "tag", "-a", "week1", "-m", f"With {HIDDEN}")


def _in_a_name(folder: Path) -> None:
    (folder / HIDDEN).write_text("x\n", "utf-8")
    commit(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plant", [_in_an_earlier_commit, _on_another_branch, _in_a_message, _in_a_tag, _in_a_name]
)
def test_a_leak_anywhere_in_the_history_is_found(published, folder, plant):
    """Even if nothing new is published, because the history could be pushed."""
    published()
    plant(folder)
    before = state(folder)
    with pytest.raises(PublishError, match="nothing was published"):
        published()
    assert state(folder) == before


def test_every_object_of_the_repository_is_searched(published, folder):
    """The number of objects is that of git, and none of them has a leak."""
    done = published(site=site_of())
    objects = git(folder, "rev-list", "--objects", "--all").splitlines()
    found = list(Repository(folder).objects())
    assert done.objects == len(found) == len(objects)
    assert {KIT["LICENSE"], PAGES["index.html"]} <= {file.data for file in found}
    assert leaks_in(found) == []


def test_the_secret_of_the_course_is_a_leak(published, folder):
    """It determines the deals of graded games."""
    with pytest.raises(PublishError, match=r"LICENSE .* contains the secret of the course"):
        published({"LICENSE": b"with 0123456789abcdef\n"}, search=Search([b"0123456789abcdef"]))
    assert not folder.exists()


# ---- A course's own studies


@pytest.fixture
def course(tmp_path, monkeypatch) -> CourseFolder:
    """A course that changes points of study 3, and has staff files of its own."""
    monkeypatch.setenv(VARIABLE, "")
    made = CourseFolder.create(tmp_path / "my course")
    (made.root / "course.toml").write_text(
        "[study3]\npoints = { lane_counts = { two = 4 } }\n", "utf-8"
    )
    Adaptation(made).update()
    staff = made.studies_home / "autograder" / "studies" / "study3_type_a"
    hidden = (staff / "hidden_cases.toml").read_text("utf-8")
    assert HIDDEN in hidden
    (staff / "hidden_cases.toml").write_text(hidden.replace(HIDDEN, HIDDEN[::-1]), "utf-8")
    (staff / "notes.md").write_text(
        "Ada's mistake of last year was a missing base case.\n", "utf-8"
    )
    (staff / "written.md").write_text(MODEL_ANSWER, "utf-8")
    course = CourseFolder.open(made.root)
    checks = hidden_study("study3").checks
    expected = staff / "hidden_expected.json"  # the replies to the former position will do
    data = json.loads(expected.read_text("utf-8"))
    data["digests"] = {name: check.digest for name, check in checks.items()}
    expected.write_text(json.dumps(data), "utf-8")
    return course


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "leak"),
    [
        (HIDDEN[::-1], "contains the hidden position"),
        (HIDDEN, "contains the hidden position"),  # of the kit's version
        ("Ada's mistake of last year was a missing base case.\n", "is the staff's file studies/"),
        (MODEL_ANSWER, "model answer"),
    ],
)
def test_the_staff_side_of_a_courses_studies_is_searched_for(course, text, leak):
    """Both versions of a study count: the course's and the one of the kit that it replaces."""
    (found,) = find_all_leaks([Member("a", text.encode())])[-1:]
    assert leak in found


def test_the_path_of_a_course_is_a_leak(course):
    """It shows how the instructor's machine is organised."""
    path = str(course.studies_home)
    assert find_all_leaks([Member("a", f"see {path}/x".encode())]) == [
        "a contains the path of this checkout"
    ]


def test_staff_files_of_a_course_are_not_public(course):
    """The public files of a course are those outside its folder autograder."""
    ours = [path for path in public_files() if path.is_relative_to(course.studies_home)]
    assert course.studies_home / "course" / "study3_type_a" / "heuristic.py" in ours
    assert not [p for p in ours if "autograder" in p.relative_to(course.studies_home).parts]
    text = json.dumps([path.read_text("utf-8", "replace") for path in ours])
    assert HIDDEN[::-1] not in text
