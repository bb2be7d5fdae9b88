"""The command `similarity`: lists submissions that resemble each other.

May import the rest of `commands` and the layers below it.
"""

from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.console import print_line
from autograder.commands.options import CoursePath, StudyName, expand_home, report_errors
from autograder.course_folder import CourseFolder


def add_to(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command()(similarity)


def _expand_all(paths: list[Path] | None) -> list[Path] | None:
    return [path for path in map(expand_home, paths or []) if path is not None]


def similarity(
    study: StudyName,
    course: CoursePath,
    previous: Annotated[
        list[Path] | None,
        typer.Option(
            "--previous",
            metavar="FOLDER",
            callback=_expand_all,
            help="Also compare with the submissions in this earlier course folder (may be repeated).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List submissions that a person should compare, on a page with both texts side by side.

    Example: autograder similarity study3 --course my_course --previous my_course_2026. Modules and
    written answers are compared within the class, with earlier courses and with the staff's answers,
    modules also with public code. No mark changes.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        from autograder.reporting.similarity.page import find_similar, write_similarity

        findings = find_similar(folder, folder.assignment(study), previous or ())
        page, table, data = write_similarity(folder, findings)
        print_line(
            f"{findings.study.assignment}: {findings.students} submissions, pairs of similar modules: "
            f"{len(findings.modules)}, of similar written answers: {len(findings.answers)}"
        )
        for student, reason in findings.left_out.items():
            print_line(f"not compared: {student}, because {reason}")
        print_line(f"{page}, and as data {table.name} and {data.name}")
