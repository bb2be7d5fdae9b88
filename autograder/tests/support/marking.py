"""The page on which a grader marks written answers, driven as the browser does."""

from autograder.course_folder import CourseFolder
from autograder.desk.marking import Marking, mark_answers


def opened(course: CourseFolder, study: str = "study2") -> Marking:
    """A grader's page, which notes what it sends."""
    page = mark_answers(study, course=course.root)
    page.sent = []
    page.send = lambda content, buffers=None: page.sent.append(content)
    return page


def ask(page: Marking, do: str, student: str | None = None, **content) -> list[dict]:
    """Do what the browser does, about one student's answer; returns what came back."""
    page.sent.clear()
    if student:
        content["id"] = key(page, student)
    page._asked(page, {"do": do, **content}, [])
    return list(page.sent)


def key(page: Marking, student: str) -> str:
    """By what the page knows a student's answer."""
    return next(a.id for a in page._answers.values() if a.student == student)


def read(page: Marking, *students: str) -> None:
    """Let the answers come into view, those of all students if none is named."""
    students = students or tuple({a.student: a for a in page._answers.values()})
    ask(page, "text", ids=[key(page, student) for student in students])
