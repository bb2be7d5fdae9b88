"""Keeps nbgrader's own door from files that our intake leaves out: links, pipes, huge ones."""

from functools import partial
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import BaseConverter
from nbgrader.converters.base import NbGraderException

from autograder.grading.handed_in import look_through


class CarefulExporter(NotebookExporter):
    """nbgrader's exporter, whose converter refuses a submission with such files.

    nbgrader copies what links point to, such as the gradebook, and waits for ever at a pipe. Of its
    hooks only the exporter meets the converter before that, and only an error in `init_assignment`
    is one of this submission alone.
    """

    def __init__(self, config=None, parent: BaseConverter | None = None, **options) -> None:
        super().__init__(config=config, parent=parent, **options)
        if parent is not None:
            parent.init_assignment = partial(_look_first, parent, parent.init_assignment)


def _look_first(converter: BaseConverter, go_on, assignment: str, student: str) -> None:
    folder = Path(converter.coursedir.format_path(
        converter.coursedir.submitted_directory, student, assignment))
    if problem := next(look_through(folder).problems(), None):
        raise NbGraderException(f"{student} cannot be graded here: {problem}. `autograder grade` "
                                "grades the rest of this submission")
    go_on(assignment, student)
