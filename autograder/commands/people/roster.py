"""The command `roster`: imports the class from a file, and changes the status of students."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from autograder.commands.console import print_line
from autograder.commands.options import CoursePath, expand_home, report_errors
from autograder.commands.people.roster_changes import roster_changes, students_by_id
from autograder.commands.roster import add_roster, load_roster
from autograder.course_folder import CONFIG_FILE, CourseFolder, folder_lock, nfc
from autograder.course_folder.people import read_people, write_people
from autograder.errors import UserError
from autograder.lms.rosters import directory, remember_roster, with_known_ids
from autograder.reporting.gradebook import full_name
from common.command_lines import advice


def _students(what: str) -> typer.models.OptionInfo:
    return typer.Option(
        metavar="NAME",
        callback=lambda names: names and [nfc(name) for name in names],
        help=what,
        show_default=False,
    )


def roster(
    course: CoursePath,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            callback=expand_home,
            help="A CSV file with a column id and optional names, sections and groups.",
            show_default=False,
        ),
    ] = None,
    *,
    id_column: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="The column with the students' ids (default: id or username).",
            show_default=False,
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    drop_missing: Annotated[
        bool,
        typer.Option("--drop-missing", help="Mark students who are not in the file as dropped."),
    ] = False,
    drop: Annotated[
        list[str] | None, _students("Mark this student as dropped (may be repeated).")
    ] = None,
    restore: Annotated[
        list[str] | None, _students("Undo that for this student (may be repeated).")
    ] = None,
) -> None:
    """Import the roster of a course, after showing what changes; without a file, list it.

    Example: autograder roster class.csv --dry-run --course my_course. Creates the folder if
    necessary. No student is ever deleted: dropped students keep their marks, but are not graded,
    counted or exported. From the first import on, submissions of students who are not on the roster
    are reported and not graded.
    """
    with report_errors():
        students = students_in(file, id_column) if file else []
        folder = _folder(course, students, new=bool(file) and not dry_run)
        if file is None and (dry_run or drop_missing or id_column):
            raise UserError("--dry-run, --drop-missing and --id need a roster file")
        _require_known(folder, [*(drop or ()), *(restore or ())], students)
        if file:
            enrol(folder, file, students, dry_run=dry_run, drop_missing=drop_missing)
        elif not (drop or restore):
            _list(folder)
        if not dry_run:
            set_dropped(folder, drop or (), True)
            set_dropped(folder, restore or (), False)


def _folder(course: Path, students: Sequence[dict[str, Any]], *, new: bool) -> CourseFolder:
    """Return the course folder, which is created if `new`."""
    if students and not new and not (course / CONFIG_FILE).is_file():
        raise UserError(
            f"there is no course folder {course} yet, so every student would be added: "
            f"{len(students)}"
        )
    return CourseFolder.create(course) if new else CourseFolder.open(course)


def students_in(file: Path, id_column: str = "") -> list[dict[str, Any]]:
    """Return the students in a roster file. Raises `UserError` if there is no file, or no class in
    it.
    """
    if not file.is_file():
        raise UserError(f"there is no file {file}")
    return load_roster(file, id_column)


def enrol(
    folder: CourseFolder,
    file: Path,
    students: Sequence[dict[str, Any]],
    *,
    dry_run: bool = False,
    drop_missing: bool = False,
) -> None:
    """Print what a roster file changes, and add its students to the course unless `dry_run`."""
    students = with_known_ids(
        file, students, directory(folder, students_by_id(folder).values(), "")
    )
    changes = roster_changes(folder, students)
    for line in changes.lines():
        print_line(line)
    if changes.dropped:
        print_line(f"they stay dropped; {advice('roster', '--restore', 'NAME')} undoes that")
    if dry_run:
        print_line("nothing was written")
        return
    add_roster(folder, students)
    remember_roster(folder, file)
    print_line(f"added to or updated on the roster of {folder.root}: {len(students)}")
    if drop_missing:
        set_dropped(folder, changes.missing, True)


def set_dropped(folder: CourseFolder, students: Sequence[str], dropped: bool) -> None:
    """Mark students as dropped, or undo that, and print their names."""
    if not students:
        return
    with folder_lock(folder.root):
        people = read_people(folder.root)
        for student in students:
            people = people.with_person(student, dropped=dropped)
        write_people(folder.root, people)
    print_line(f"{'dropped' if dropped else 'no longer dropped'}: {', '.join(students)}")


def _require_known(
    folder: CourseFolder, names: Sequence[str], listed: Sequence[dict[str, Any]]
) -> None:
    known = {*read_people(folder.root).students, *students_by_id(folder)}
    known |= {student["id"] for student in listed}
    for name in names:
        if name not in known:
            raise UserError(f"there is no student {name!r} in {folder.root}")


def _list(folder: CourseFolder) -> None:
    """Print each student with name, section, group and status."""
    people, rows = read_people(folder.root), students_by_id(folder)
    names = sorted({*people.students, *rows})
    for name in names:
        person = people.person(name)
        parts = (
            full_name(rows[name]) if name in rows else "",
            f"section {person.section}" if person.section else "",
            f"group {person.group}" if person.group else "",
            "dropped" if person.dropped else "",
        )
        print_line(", ".join([name, *filter(None, parts)]))
    if not names:
        print_line(f"{folder.root} has no students yet")
