"""Fills a grading worksheet of Moodle: `export --worksheet`."""

from pathlib import Path

from autograder.commands.console import print_error
from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.lms.tables import load_table
from autograder.reporting.export import read_marks, warnings
from autograder.reporting.worksheet import fill_worksheet


def filled_worksheet(folder: CourseFolder, path: Path | None, study: str | None) -> tuple[str, str]:
    """Return a name and the text of a worksheet with the marks of an assignment; print warnings.

    Raises `UserError` if only one of the two options was used, and for a file without a worksheet.
    """
    if path is None or study is None:
        raise UserError(
            "--worksheet names Moodle's file and --study its assignment: use both of them"
        )
    wanted = folder.assignment(study)
    table = load_table(path, "a grading worksheet")
    roster = read_marks(folder)
    filled = fill_worksheet(roster, wanted, table)
    of_assignment = [line for line in warnings(roster) if line.startswith(wanted.assignment)]
    for warning in [*of_assignment, *filled.warnings]:
        print_error(warning)
    return f"worksheet-{wanted.assignment}", filled.text
