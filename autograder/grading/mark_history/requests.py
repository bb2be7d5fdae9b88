"""Keeps students' regrade requests and their answers in `regrade_requests.json`.

A student asks a grader, who enters the request. The answer is shown on the student's feedback page,
with the mark before and after.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from autograder.course_folder import CourseFolder, folder_lock
from autograder.errors import UserError
from autograder.grading.mark_history.changes import read_changes, user_name
from autograder.grading.records.ledger import write_json
from common.messages import english

FILE = "regrade_requests.json"


@dataclass(frozen=True)
class RegradeRequest:
    """A request, and the answer, if it has one. Times are in UTC, in ISO format."""

    assignment: str
    student: str
    text: str
    entered: str
    entered_by: str
    mark: float | None  # when the request was entered
    answer: str = ""
    answered: str = ""
    answered_by: str = ""
    new_mark: float | None = None  # when the request was answered

    def describe(self) -> str:
        """Return a sentence for the student."""
        if not self.answered:
            return english(f"regrade request of {self.entered[:10]}, not answered yet: {self.text}")
        if self.new_mark == self.mark:
            result = english("the mark stays")
        else:
            result = english(
                f"the mark was {_points(self.mark)} and is {_points(self.new_mark)} points"
            )
        return english(
            f"regrade request of {self.entered[:10]}: {self.text}; "
            f"answer of {self.answered[:10]}: {self.answer} ({result})"
        )


def read_requests(folder: CourseFolder, assignment: str | None = None) -> list[RegradeRequest]:
    """Return all requests, or those of an assignment, oldest first. Raises `UserError` for a damaged
    file.
    """
    path = folder.root / FILE
    if not path.exists():
        return []
    try:
        requests = [RegradeRequest(**data) for data in json.loads(path.read_text("utf-8"))]
    except (ValueError, TypeError, RecursionError):
        raise UserError(f"{path} is damaged: restore it from a backup") from None
    return [each for each in requests if assignment in (None, each.assignment)]


def open_requests(folder: CourseFolder, assignment: str) -> dict[str, str]:
    """Return the requests for an assignment that have no answer, as sentences, by student."""
    return {
        each.student: each.describe()
        for each in read_requests(folder, assignment)
        if not each.answered
    }


def enter_request(folder: CourseFolder, assignment: str, student: str, text: str) -> RegradeRequest:
    """Store a request. Raises `UserError` if the student has no mark or a request without answer."""
    _require_text(text)
    mark = _mark_of(folder, assignment, student)
    if mark is None:
        raise UserError(f"{student} has no mark for {assignment}")
    with folder_lock(folder.root):
        requests = read_requests(folder)
        if _find_open(requests, assignment, student):
            raise UserError(f"{student} already has a request for {assignment}: answer it first")
        request = RegradeRequest(assignment, student, text.strip(), _now(), user_name(), mark)
        _write(folder, [*requests, request])
    return request


def answer_request(
    folder: CourseFolder, assignment: str, student: str, answer: str
) -> RegradeRequest:
    """Store the answer to a student's request. Raises `UserError` if there is no such request."""
    _require_text(answer)
    with folder_lock(folder.root):
        requests = read_requests(folder)
        request = _find_open(requests, assignment, student)
        if request is None:
            raise UserError(f"{student} has no request for {assignment} that waits for an answer")
        answered = replace(
            request,
            answer=answer.strip(),
            answered=_now(),
            answered_by=user_name(),
            new_mark=_mark_of(folder, assignment, student),
        )
        _write(folder, [answered if each is request else each for each in requests])
    return answered


def _find_open(
    requests: Iterable[RegradeRequest], assignment: str, student: str
) -> RegradeRequest | None:
    """Return the student's request that has no answer yet."""
    return next(
        (
            each
            for each in requests
            if (each.assignment, each.student) == (assignment, student) and not each.answered
        ),
        None,
    )


def _mark_of(folder: CourseFolder, assignment: str, student: str) -> float | None:
    """Return the mark recorded last."""
    marks = {change.student: change.after for change in read_changes(folder, assignment)}
    return marks.get(student)


def _require_text(text: str) -> None:
    if not text.strip():
        raise UserError("a regrade request and its answer need a text")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _points(mark: float | None) -> str:
    return "no" if mark is None else f"{round(mark, 2):g}"


def _write(folder: CourseFolder, requests: Sequence[RegradeRequest]) -> None:
    write_json(folder.root / FILE, [asdict(each) for each in requests])
