"""Stages submissions for nbgrader's own commands and formgrader's button in the same way as
`grade`.
"""

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
from autograder.grading.intake.intake import stage_submission
from autograder.grading.intake.submission_files import list_submission
from autograder.times import course_zone


class StagingExporter(NotebookExporter):
    """nbgrader's exporter, whose converter reads the files that our intake has staged.

    nbgrader itself copies the targets of links, such as the gradebook, and blocks forever on a
    named pipe. The exporter is the only hook that receives the converter before this happens.
    """

    def __init__(self, config=None, parent: BaseConverter | None = None, **options) -> None:
        super().__init__(config=config, parent=parent, **options)
        if parent is not None and not Path(parent.coursedir.submitted_directory).is_absolute():
            # With an absolute path, `grade` has staged the submission.
            parent.convert_notebooks = partial(_convert_staged, parent, parent.convert_notebooks)


def _convert_staged(converter: BaseConverter, convert: Callable[[], None]) -> None:
    """Stage and convert one submission after another. Raises `NbGraderException` at the end if any
    of them failed.
    """
    place = converter.coursedir
    folder, own = CourseFolder(Path(place.root)), place.submitted_directory
    pattern = converter._format_source("(?P<assignment>.*)", "(?P<student>.*)", escape=True)
    paths = {
        *converter.assignments,
        *glob.glob(  # noqa: PTH207 - nbgrader's pattern contains the whole path
            converter._format_source(place.assignment_id, place.student_id)
        ),
    }
    failed = []
    for path in sorted(paths):
        names = re.match(pattern, path)
        if names is None:  # cannot happen, because nbgrader lists paths by the same pattern
            continue
        student, assignment = names["student"], names["assignment"]
        folder.require_release(study := folder.assignment(assignment))
        release = folder.release(assignment)
        with tempfile.TemporaryDirectory(prefix="intake-") as temporary:
            staged = Path(temporary, student, assignment)
            intake = stage_submission(
                list_submission(Path(path), study, release),
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
            except NbGraderException:  # nbgrader has logged the reason
                failed.append(student)
            finally:
                place.submitted_directory = own
    if failed:
        raise NbGraderException(f"not graded: {', '.join(failed)}; see the messages above")
