"""Copies the marks of a group's submission to the other members of the group.

One submission is graded for each group, that of the member who submitted last (its *owner*). The
other members get copies of its results and of its marks, with their own extensions, free days and
penalties. A mark that a grader has changed for one member only is kept.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.course_folder import CourseFolder
from autograder.database import db_url, with_retry
from autograder.gradebook import Gradebook, SubmittedAssignment
from autograder.grading.records.late import update_penalties
from autograder.grading.records.ledger import (
    EARLIER,
    EXTERNAL_GRADING,
    FAULT,
    LEDGER,
    LOG,
    invalidate,
    read_ledger,
    read_object,
    read_results,
    write_entry,
    write_json,
)
from course.checks import Study

RECORD = "group.json"  # in the results of a member: the manual marks that were copied last
SECRET = "submission_secret.txt"  # names the owner's feedback in nbgrader's exchange
SCORES = ("auto_score", "needs_manual_grade")
BY_GRADERS = ("manual_score", "extra_credit")


def share_marks(
    folder: CourseFolder, study: Study, owners: Iterable[str] | None = None
) -> list[str]:
    """Copy the results and marks of all group submissions, or of those of `owners`, to the other
    members, and return these members. Repeating it changes nothing.
    """
    wanted = None if owners is None else set(owners)
    members = {
        member: owner
        for member, owner in folder.owners(study.assignment).items()
        if member != owner and (wanted is None or owner in wanted)
    }
    shared = [member for member, owner in members.items() if _share(folder, study, owner, member)]
    if shared:
        update_penalties(folder, study, shared)
    return shared


def _share(folder: CourseFolder, study: Study, owner: str, member: str) -> bool:
    """Copy one submission's results and marks to a member; return whether there are any."""
    entry = read_ledger(folder.results(study.assignment, owner) / LEDGER)
    results = folder.results(study.assignment, member)
    if entry is None or not entry.get("marks"):
        invalidate(results / LEDGER)
        return False
    if entry != _without_owner(read_ledger(results / LEDGER), member):
        invalidate(results / LEDGER)
        _copy_results(folder, study, owner, member)

    def write() -> None:
        with Gradebook(db_url(folder)) as book:
            _copy_marks(book, study.assignment, owner, member, results / RECORD)
            book.db.commit()

    with_retry(folder, write)
    write_entry(results / LEDGER, entry | {"student": member, "owner": owner})
    return True


def _without_owner(entry: dict[str, Any] | None, member: str) -> dict[str, Any] | None:
    """Return the entry of the submission from which a member's entry was copied."""
    if entry is None or "owner" not in entry:
        return None
    return {key: value for key, value in entry.items() if key != "owner"} | {
        "student": entry["owner"]
    }


def _copy_results(folder: CourseFolder, study: Study, owner: str, member: str) -> None:
    """Copy the autograded notebooks and the outcomes of checks."""
    source, target = (
        folder.root / "autograded" / student / study.assignment for student in (owner, member)
    )
    shutil.rmtree(target, ignore_errors=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(SECRET))
    theirs, own = (folder.results(study.assignment, student) for student in (owner, member))
    own.mkdir(parents=True, exist_ok=True)
    for name in read_results(own).keys() - read_results(theirs).keys():
        (own / f"{name}.json").unlink()
    for name in read_results(theirs):
        shutil.copyfile(theirs / f"{name}.json", own / f"{name}.json")
    for name in (EARLIER, EXTERNAL_GRADING, FAULT):
        (own / name).unlink(missing_ok=True)
    (own / LOG).write_text(f"copied from {owner}, a member of the same group\n", "utf-8")


def _copy_marks(book: Gradebook, assignment: str, owner: str, member: str, record: Path) -> None:
    """Copy the marks and comments of a submission in the gradebook."""
    source = book.find_submission(assignment, owner)
    book.update_or_create_student(member)
    with book.db.no_autoflush:  # otherwise SQLAlchemy warns about nbgrader
        target = book.update_or_create_submission(assignment, member)
    target.timestamp = source.timestamp
    copied = read_object(record, {"copied": dict}) or {"copied": {}}
    cells = _cells(source)
    now = {
        name: {field: getattr(item, field) for field in fields}
        for name, (item, fields) in cells.items()
    }
    # If the run is killed before the marks are saved, both sets of values are ours.
    earlier = copied["copied"]
    write_json(record, {"copied": {name: [*earlier.get(name, [])[-1:], now[name]] for name in now}})
    for name, (item, fields) in _cells(target).items():
        if name not in now:
            continue
        for field in (*SCORES, "auto_comment"):
            if hasattr(item, field):
                setattr(item, field, getattr(cells[name][0], field))
        for field in fields:
            present = getattr(item, field)
            if present is None or present in [values[field] for values in earlier.get(name, [])]:
                setattr(item, field, now[name][field])


def _cells(submission: SubmittedAssignment) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return the grades and comments of a submission, each with the fields that graders change."""
    cells: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            cells[f"{notebook.name}/{grade.name}"] = grade, BY_GRADERS
        for comment in notebook.comments:
            cells[f"{notebook.name}/{comment.name} comment"] = comment, ("manual_comment",)
    return cells
