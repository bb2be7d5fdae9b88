"""The page on which a grader marks written answers, driven like a browser."""

from autograder.course_folder import CourseFolder
from autograder.dashboard.marking.page import Marking, mark_answers


def opened(course: CourseFolder, study: str = "study2") -> Marking:
    """A grader's page that records the messages it sends."""
    page = mark_answers(study, course=course.root)
    page.sent = []
    page.send = lambda content, buffers=None: page.sent.append(content)
    return page


def ask(page: Marking, do: str, student: str | None = None, **content) -> list[dict]:
    """Send the browser's message about one student's answer; return the response."""
    page.sent.clear()
    if student:
        content["id"] = key(page, student)
    page._dispatch(page, {"do": do, **content}, [])
    return list(page.sent)


def key(page: Marking, student: str) -> str:
    """The page's key for a student's answer."""
    return next(a.id for a in page._answers.values() if a.student == student)


def read(page: Marking, *students: str) -> None:
    """Let the answers of these students come into view, by default of all."""
    students = students or tuple({a.student: a for a in page._answers.values()})
    ask(page, "text", ids=[key(page, student) for student in students])
