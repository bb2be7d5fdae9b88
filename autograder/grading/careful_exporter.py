"""Takes submissions in for nbgrader's own commands and formgrader's button as `grade` does."""

import glob
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import BaseConverter
from nbgrader.converters.base import NbGraderException

from autograder.course_folder import CourseFolder
from autograder.grading.handed_in import look_at
from autograder.grading.intake import take_in
from autograder.times import course_zone


class CarefulExporter(NotebookExporter):
    """nbgrader's exporter, whose converter reads what our intake has staged.

    nbgrader itself copies what links point to, such as the gradebook, and waits for ever at a pipe.
    Of its hooks only the exporter meets the converter before that.
    """

    def __init__(self, config=None, parent: BaseConverter | None = None, **options) -> None:
        super().__init__(config=config, parent=parent, **options)
        if parent is not None and not Path(parent.coursedir.submitted_directory).is_absolute():
            # else `grade` has staged it already
            parent.convert_notebooks = partial(_convert_staged, parent, parent.convert_notebooks)


def _convert_staged(converter: BaseConverter, convert: Callable[[], None]) -> None:
    """Stage and convert one submission after the other; raises `NbGraderException` at the end if
    any of them failed."""
    place = converter.coursedir
    folder, own = CourseFolder(Path(place.root)), place.submitted_directory
    pattern = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
    found = {
        *converter.assignments,
        *glob.glob(  # noqa: PTH207 - the pattern is that of nbgrader, with the whole path
            converter._format_source(place.assignment_id, place.student_id)
        ),
    }
    failed = []
    for path in sorted(found):
        names = re.match(pattern, path)
        student, assignment = names["student"], names["assignment"]
        folder.require_release(study := folder.assignment(assignment))
        release = folder.release(assignment)
        with tempfile.TemporaryDirectory(prefix="intake-") as temporary:
            staged = Path(temporary, student, assignment)
            intake = take_in(
                look_at(Path(path), study, release),
                study,
                release,
                staged,
                course_zone(converter.config),
            )
            for problem in intake.problems:
                converter.log.warning("%s: %s", student, problem)
            if not intake.gradable:
                failed.append(student)
                continue
            converter.assignments = {
                str(staged): [str(each) for each in staged.glob(f"{place.notebook_id}.ipynb")]
            }
            place.submitted_directory = temporary
            try:
                convert()
            except NbGraderException:  # which has logged why
                failed.append(student)
            finally:
                place.submitted_directory = own
    if failed:
        raise NbGraderException(f"not graded: {', '.join(failed)}; see the messages above")
