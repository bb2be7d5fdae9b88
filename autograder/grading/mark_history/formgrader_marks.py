"""Records the marks that graders give in formgrader, with the name of the user.

`autograder.course_folder` imports this module in a server that runs formgrader.
"""

from functools import wraps
from pathlib import Path

from nbgrader.server_extensions.formgrader.apihandlers import GradeHandler

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.mark_history.changes import BY_HAND, record_changes

_put = GradeHandler.put


@wraps(_put)
def _put_and_record(self: GradeHandler, grade_id: str) -> None:
    _put(self, grade_id)
    grade = self.gradebook.find_grade_by_id(grade_id)
    folder = CourseFolder(Path(self.coursedir.root))
    try:
        record_changes(
            folder, grade.assignment.name, f"{BY_HAND} in formgrader", [grade.student.id]
        )
    except UserError as error:  # the mark is saved, so the page must not report a failure
        self.log.error("the change of a mark was not recorded: %s", error)


GradeHandler.put = _put_and_record
