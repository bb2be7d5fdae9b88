"""The page for marking written answers in JupyterLab, question by question:
`mark_answers("study3")`.

All students' answers to one question appear next to its model answer and rubric. Digit keys enter
points, and each mark is in nbgrader's gradebook before the next key is handled.
"""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from autograder.course_folder import CourseFolder
from autograder.dashboard.marking import marks
from autograder.errors import UserError, format_error
from autograder.grading.mark_history.changes import BY_HAND, recording
from autograder.reporting.questions import allowed, question
from course.checks import Study
from tictactoe.boards.static_snapshot import show_with_fallback

HERE = Path(__file__).parent
MAX_SHOWN = 20_000  # characters of an answer; the questions ask for about ten lines
CUT = "\n\n*(The answer continues; the rest is in the student's notebook.)*"
NOTHING = "<p><em>Nothing was written here.</em></p>"
AGAIN = (
    "the student has submitted another answer in the meantime, which is now shown: read it and "
    "mark it again"
)


class Marking(anywidget.AnyWidget):
    """The answers to one question at a time, in the browser.

    `view` contains everything that the page shows except the answers' texts, which the page
    requests when they are scrolled into view. Students' text is sanitised before it is sent; hidden
    names are not sent at all.
    """

    _esm = HERE / "page.js"
    _css = HERE / "page.css"
    view = traitlets.Dict().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)  # shows the page that the kernel is alive

    def __init__(self, folder: CourseFolder, study: Study, cell: str | None = None) -> None:
        super().__init__()
        self.own_id = self.model_id or ""
        self.folder, self.study = folder, study
        self._anonymous = True
        self._section = ""  # by default all sections
        self._answers: dict[str, marks.Answer] = {}  # the answers as the page shows them
        self._texts: dict[str, str] = {}  # as HTML
        questions = marks.questions(folder, study)
        if not questions:
            raise UserError(f"{study.assignment} has no questions that are marked by hand")
        wanted = [a.cell for a in questions if a.cell[1] == cell or (cell is None and a.waiting)]
        self._cell = wanted[0] if wanted else questions[0].cell
        self.read()
        self.on_msg(self._dispatch)

    def read(self) -> None:
        """Read the question's answers and marks again; unmarked answers come first."""
        self._all_questions = {a.cell: a for a in marks.questions(self.folder, self.study)}
        self._marked_question = self._all_questions[self._cell]
        self._question = question(self.folder, self.study, self._cell)
        self._people = self.folder.people()
        answers = [
            answer
            for answer in marks.answers(self.folder, self.study, self._cell)
            if self._section in ("", self._people.person(answer.student).section)
        ]
        self._late = marks.late_students(self.folder, self.study)
        answers.sort(key=lambda a: (not a.waits, a.id if self._anonymous else a.student))
        self._answers, self._texts = {answer.id: answer for answer in answers}, {}
        self._paint()

    def _paint(self) -> None:
        from autograder.reporting.pages.safe_html import (
            markdown_of,
        )  # slow to import, as nbconvert is

        waiting = sum(answer.waits for answer in self._answers.values())
        self.view = {
            "questions": [
                {
                    "cell": list(a.cell),
                    "title": a.cell[1].removeprefix("answer-"),
                    "notebook": a.cell[0],
                    "answers": a.answers,
                    "waiting": (
                        waiting if a.cell == self._cell and not self._section else a.waiting
                    ),
                }
                for a in self._all_questions.values()
            ],
            "sections": self._people.names("section"),
            "section": self._section,
            "cell": list(self._cell),
            "anonymous": self._anonymous,
            "points": list(allowed(self._marked_question.points, self._question.step)),
            "parts": [
                [title, markdown_of(text, self._question.attached)]
                for title, text in (
                    ("Question", self._question.text),
                    ("Points", self._question.rubric),
                    ("Model answer", self._question.model),
                    ("Sample answers", self._question.samples),
                    ("For the grader", self._question.notes),
                )
                if text
            ],
            "answers": [
                self._line(number, answer)
                for number, answer in enumerate(self._answers.values(), 1)
            ],
            "comments": marks.comments(self._answers.values()),
        }

    def _line(self, number: int, answer: marks.Answer) -> dict[str, Any]:
        who = f"Answer {number}" if self._anonymous else self._named(answer)
        points = answer.automatic if answer.points is None else answer.points
        return {
            "id": answer.id,
            "who": who,
            "points": points,
            "waits": answer.waits,
            "marked": answer.points is not None,
            "comment": answer.comment or "",
        }

    def _named(self, answer: marks.Answer) -> str:
        """Return a student's name, with the section and the other members of the group."""
        person = self._people.person(answer.student)
        members = self._people.groups().get(person.group, [])
        group = ", ".join(name for name in members if name != answer.student)
        return (answer.name or answer.student) + "".join(
            f" ({text})"
            for text in (
                f"section {person.section}" if person.section else "",
                f"group {person.group}, with {group}" if group else "",
            )
            if text
        )

    def _dispatch(self, _widget: object, content: Any, _buffers: object) -> None:
        """Handle a request from the page; errors are reported on the page in one sentence."""
        handlers = {
            "grade": self._grade,
            "comment": self._comment,
            "text": self._text,
            "question": self._choose,
            "anonymous": self._hide,
            "section": self._filter,
            "read": self._again,
        }
        try:
            handlers[content["do"]](content)
        except Exception as error:  # otherwise, the error would appear only in the kernel's log
            self.send(
                {
                    "message": format_error(error)
                    if not isinstance(error, UserError)
                    else str(error),
                    "id": content.get("id"),
                    "wrong": True,
                }
            )

    def _grade(self, content: dict[str, Any]) -> None:
        answer, points = self._answers[content["id"]], content["points"]
        if self._texts.get(answer.id) != self._html(answer):
            self._text({"ids": [answer.id]})
            raise UserError(AGAIN)
        # Without a filter, the marks of the whole class are read.
        students = None if self._people.person(answer.student).group else [answer.student]
        with recording(self.folder, self.study.assignment, BY_HAND, students):
            self._change(
                answer,
                lambda: marks.save_points(
                    self.folder, answer, points, self._marked_question.points, self._question.step
                ),
            )
            if answer.student in self._late:  # the penalty can be a share of the points
                from autograder.grading.records.late import (
                    update_penalties,  # slow to import, as nbgrader is
                )

                update_penalties(self.folder, self.study, [answer.student])

    def _comment(self, content: dict[str, Any]) -> None:
        answer = self._answers[content["id"]]
        self._change(answer, lambda: marks.save_comment(self.folder, answer, str(content["text"])))

    def _change(self, answer: marks.Answer, write: Any) -> None:
        try:
            self._answers[answer.id] = write()
            if self._people.person(answer.student).group:
                from autograder.grading.records.group_marks import share_marks  # slow to import

                share_marks(self.folder, self.study, [answer.student])
        except marks.StaleMarkError as error:
            self._answers[answer.id] = error.now
            raise
        finally:
            self._paint()
        self.send({"message": "saved", "id": answer.id, "wrong": False})

    def _text(self, content: dict[str, Any]) -> None:
        for key in content["ids"]:
            self._texts[key] = self._html(self._answers[key])
            self.send({"html": self._texts[key], "id": key})

    def _html(self, answer: marks.Answer) -> str:
        from autograder.reporting.pages.pictures import extract_inline_pictures
        from autograder.reporting.pages.safe_html import code_of, markdown_of

        cell = marks.answer_cell(self.folder, self.study, self._cell, answer.student)
        text = cell["text"]
        if not text.strip():
            return NOTHING
        if cell["kind"] == "code":
            return code_of(text[:MAX_SHOWN])
        short, lifted = extract_inline_pictures(text)
        cut = short if len(short) <= MAX_SHOWN else short[:MAX_SHOWN] + CUT
        return markdown_of(cut, {**cell["attachments"], **lifted}, cell["folder"])

    def _choose(self, content: dict[str, Any]) -> None:
        cell = tuple(content["cell"])
        if cell not in self._all_questions:
            raise UserError(f"there is no question {cell}")
        self._cell = cell
        self.read()

    def _hide(self, content: dict[str, Any]) -> None:
        self._anonymous = bool(content["on"])
        self.read()

    def _filter(self, content: dict[str, Any]) -> None:
        if content["name"] not in ("", *self._people.names("section")):
            raise UserError(f"there is no section {content['name']!r}")
        self._section = content["name"]
        self.read()

    def _again(self, _content: dict[str, Any]) -> None:
        self.read()

    def _ipython_display_(self) -> None:
        show_with_fallback(
            self,
            f"{self.study.title}: {len(self._answers)} answers to "
            f"{self._cell[1]}. Run this cell to mark them.",
        )


def mark_answers(assignment: str, question: str | None = None, course: str | Path = ".") -> Marking:
    """Mark the written answers of an assignment in a notebook.

    The page begins with the answers to `question`, such as "answer-why-ten". The default is the
    first question that has unmarked answers.
    """
    folder = CourseFolder.open(Path(course))
    return Marking(folder, folder.assignment(assignment), question)
