"""Arguments and options that several commands share, and the form in which errors are reported."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from traitlets import TraitError

from autograder.commands.console import escape_unencodable_output, print_error
from autograder.commands.stopping import exit_status, stoppable
from autograder.course_folder import CONFIG_FILE, nfc
from autograder.errors import UserError, format_error, system_error_message
from common.command_lines import default_folder
from course.checks import StudyTableError, UnknownCheck

BAD_INPUT, NEEDS_ATTENTION = 2, 1  # exit statuses


class Isolation(StrEnum):
    """Where submissions run."""

    SANDBOX = "sandbox"
    PROCESS = "process"


class Format(StrEnum):
    """The formats in which marks are exported."""

    GRADEBOOK = "gradebook"
    CANVAS = "canvas"
    MOODLE = "moodle"


def expand_home(path: Path | None) -> Path | None:
    """Replace ~ with the home folder, because shells do not do so in `--course=~/course`."""
    if path is None:
        return None
    try:
        return path.expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"there is no home folder {path.parts[0]}") from None


StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A study, for example study3 or study3_type_a.", show_default=False
    ),
]
CoursePath = Annotated[
    Path,
    typer.Option(
        "--course",
        "-c",
        metavar="FOLDER",
        callback=expand_home,
        help="The nbgrader course folder.",
        default_factory=lambda: default_folder("course"),
        show_default="the kit's build/course",
    ),
]
OptionalCourse = Annotated[
    Path | None,
    typer.Option(
        "--course",
        "-c",
        metavar="FOLDER",
        callback=expand_home,
        show_default=False,
        help="Use the studies of this course instead of the kit's.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Parallel jobs; by default one per core or worker.", show_default=False
    ),
]
Students = Annotated[
    list[str] | None,
    typer.Option(
        "--student",
        callback=lambda names: names and [nfc(name) for name in names],
        help="Only this student (may be repeated).",
        show_default=False,
    ),
]
Section = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=lambda name: name and nfc(name),
        help="Only this section of the roster.",
        show_default=False,
    ),
]
MaximumPenalty = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        help="Maximum of --percent-a-day in percent (default: 100).",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Also grade unchanged submissions again.")]
Isolated = Annotated[
    Isolation | None,
    typer.Option(
        "--isolation",
        metavar="WHERE",
        help="Sandbox or process (default: as configured).",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Dask scheduler, for example tcp://host:8786.",
        show_default=False,
    ),
]


@contextmanager
def report_errors() -> Iterator[None]:
    """Print each expected error as one sentence, and exit with a non-zero status."""
    escape_unencodable_output()
    try:
        with stoppable():
            yield
    except (UserError, UnknownCheck, StudyTableError) as error:
        print_error(f"autograder: {error}")
        raise typer.Exit(BAD_INPUT) from None
    except TraitError as error:
        print_error(
            f"autograder: the course's {CONFIG_FILE} has a setting of the wrong type: "
            f"{' '.join(str(error).split())}"
        )
        raise typer.Exit(BAD_INPUT) from None
    except Exception as error:
        if system_error_message(error) is None:
            raise
        print_error(f"autograder: {format_error(error)}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # printing fails if the terminal was closed
            print_error(
                "autograder: stopped; finished work is kept, and the same command continues from "
                "there"
            )
        raise typer.Exit(exit_status(stop)) from None


def maximum_penalty(percent_a_day: float | None, at_most: float | None) -> float:
    """Return the maximum of a late penalty in percent.

    Raises `UserError` for a maximum without a penalty.
    """
    if at_most is not None and percent_a_day is None:
        raise UserError("--at-most needs --percent-a-day: the two options are one rule")
    return 100 if at_most is None else at_most
