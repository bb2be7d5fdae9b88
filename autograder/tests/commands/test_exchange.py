"""The exchange for a class: one student's odd folder is no reason to stop the others."""

from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.commands.exchange import BY_EXCHANGE, exchange
from autograder.course_folder import COURSE_ID, CourseFolder
from autograder.errors import Refused
from course.probes import load_study

SLIPS = pytest.mark.filterwarnings(  # both are nbgrader's own
    "ignore:.*unrecognized arguments:DeprecationWarning", "ignore:unclosed file:ResourceWarning")
pytestmark = SLIPS
STUDY = load_study("study2")


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A course with a release, and nothing in it."""
    folder = CourseFolder.create(tmp_path / "course")
    folder.release(STUDY.assignment).mkdir(parents=True)
    return folder


def page_of(folder: CourseFolder, student: str, *files: str) -> Path:
    """Write a student's page of feedback, beside it what is named; returns the page."""
    place = folder.root / "feedback" / student / STUDY.assignment
    place.mkdir(parents=True)
    for name in files:
        (place / name).write_text(f"2026-03-02 10:00:00 UTC {student}", "utf-8")
    page = place / "02_alpha_beta.html"
    page.write_text(student, "utf-8")
    return page


def handed_back(folder: CourseFolder) -> list[str]:
    """Whose pages are in the exchange."""
    return sorted(path.read_text("utf-8")
                  for path in (folder.exchange() / COURSE_ID / "feedback").glob("*.html"))


def test_who_did_not_submit_through_the_exchange_is_left_out_and_named(folder):
    """Others get their pages back, whoever comes first."""
    page_of(folder, "ann")
    page_of(folder, "bob", *BY_EXCHANGE)
    page_of(folder, "cy", BY_EXCHANGE[0])
    page_of(folder, "dan", *BY_EXCHANGE)
    said = exchange(folder, STUDY, "hand-back")
    assert "students: 2; left out" in said and said.endswith(": ann, cy")
    assert handed_back(folder) == ["bob", "dan"]


def test_a_page_that_cannot_be_handed_back_is_told_after_the_others(folder):
    """nbgrader's reason is in the sentence, and everybody else's page is in the exchange."""
    page = page_of(folder, "ann", *BY_EXCHANGE)
    page.unlink()
    page.mkdir()
    page_of(folder, "bob", *BY_EXCHANGE)
    with pytest.raises(Refused, match=r"students: 1; nbgrader did not hand back to ann \(.*\)"):
        exchange(folder, STUDY, "hand-back")
    assert handed_back(folder) == ["bob"]


def test_feedback_that_can_be_handed_back_to_nobody_is_refused(folder):
    """A class that handed in on paper is not told that all is well."""
    page_of(folder, "ann")
    with pytest.raises(Refused, match="students: 0; left out"):
        exchange(folder, STUDY, "hand-back")


def test_what_stopped_nbgrader_is_the_reason(folder, monkeypatch):
    """Not the last line of what it was doing: of a full disk its log says nothing."""
    stopped = {"success": False, "log": "[INFO] Destination: there",
               "error": "Traceback\nOSError: [Errno 28] No space left on device"}
    monkeypatch.setattr(NbGraderAPI, "release_assignment", lambda *arguments: stopped)
    with pytest.raises(Refused, match=r"did not hand out .*: OSError: \[Errno 28\] No space left"):
        exchange(folder, STUDY, "hand-out")
