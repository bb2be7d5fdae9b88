"""Selects the students of a section, and updates the marks of groups before they are read."""

from typing import NamedTuple

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from course.checks import Study


class Selection(NamedTuple):
    """The options that select students; by default all students."""

    students: list[str] | None = None
    section: str | None = None


def submitters(
    folder: CourseFolder, study: Study, students: list[str] | None, section: str | None
) -> list[str] | None:
    """Return the selected students, or those of a section who have submitted; None for all.

    Raises `UserError` if both are given, or if no student of the section has submitted.
    """
    if section is None:
        return students
    if students:
        raise UserError("--student and --section select different students: use only one of them")
    present = folder.submitted(study.assignment)
    chosen = [name for name in folder.people().in_section(section) if name in present]
    if not chosen:
        raise UserError(f"no student of section {section} has submitted {study.assignment}")
    return chosen


def update_groups(folder: CourseFolder, study: Study | None = None) -> None:
    """Copy marks that were given since the last grading run to all members of groups.

    Raises `CourseFolderError` if there are groups but no gradebook.
    """
    if not folder.people().groups():
        return
    from autograder.grading.records.gradebook_reader import require_gradebook  # slow to import
    from autograder.grading.records.group_marks import share_marks

    require_gradebook(folder, study.assignment if study else None)
    released = sorted(path.name for path in folder.root.glob("release/*/"))
    for wanted in [study] if study else [folder.assignment(name) for name in released]:
        share_marks(folder, wanted)
