"""Marking written answers in JupyterLab, question by question: `mark_answers("study3")` in a cell.

All students' answers to one question stand beside its model answer and rubric. Digits give points,
and each mark is in nbgrader's gradebook before the next key.
"""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from autograder.course_folder import CourseFolder
from autograder.desk import marks
from autograder.errors import Refused, in_words
from autograder.telling.questions import allowed, question
from course.probes import Study
from tictactoe.show.still import show_with_words

HERE = Path(__file__).parent
LONGEST = 20_000  # characters of an answer that are shown: ten lines are asked for
CUT = "\n\n*(The answer goes on; the rest is in the student's notebook.)*"
NOTHING = "<p><em>Nothing was written here.</em></p>"
AGAIN = (
    "the student handed in something else meanwhile, and this is the answer now: "
    "read it and mark it again"
)


class Marking(anywidget.AnyWidget):
    """The answers to one question at a time, in the browser.

    `shown` has all that the page paints but the answers' texts, which it asks for as they come into
    view. What students wrote is made safe before it is sent; where the names are hidden, they are
    not sent at all.
    """

    _esm = HERE / "marking.js"
    _css = HERE / "marking.css"
    shown = traitlets.Dict().tag(sync=True)
    own_id = traitlets.Unicode().tag(sync=True)  # by which the page sees whether the kernel lives

    def __init__(self, folder: CourseFolder, study: Study, cell: str | None = None) -> None:
        super().__init__()
        self.own_id = self.model_id or ""
        self.folder, self.study = folder, study
        self._anonymous = True
        self._answers: dict[str, marks.Answer] = {}  # as the page shows them
        self._texts: dict[str, str] = {}  # what the page shows of them
        asked = marks.questions(folder, study)
        if not asked:
            raise Refused(f"{study.assignment} has no questions that people mark")
        wanted = [a.cell for a in asked if a.cell[1] == cell or (cell is None and a.waiting)]
        self._cell = wanted[0] if wanted else asked[0].cell
        self.read()
        self.on_msg(self._asked)

    def read(self) -> None:
        """Read the question's answers and marks anew, those that wait for a mark first."""
        self._asked_all = {a.cell: a for a in marks.questions(self.folder, self.study)}
        self._asked_now = self._asked_all[self._cell]
        self._question = question(self.folder, self.study, self._cell)
        found = marks.answers(self.folder, self.study, self._cell)
        self._late = marks.late(self.folder, self.study)
        found.sort(key=lambda a: (not a.waits, a.id if self._anonymous else a.student))
        self._answers, self._texts = {answer.id: answer for answer in found}, {}
        self._paint()

    def _paint(self) -> None:
        from autograder.telling.safe_html import markdown_of  # slow to import, as nbconvert is

        waiting = sum(answer.waits for answer in self._answers.values())
        self.shown = {
            "questions": [
                {
                    "cell": list(a.cell),
                    "title": a.cell[1].removeprefix("answer-"),
                    "notebook": a.cell[0],
                    "answers": a.answers,
                    "waiting": waiting if a.cell == self._cell else a.waiting,
                }
                for a in self._asked_all.values()
            ],
            "cell": list(self._cell),
            "anonymous": self._anonymous,
            "points": list(allowed(self._asked_now.points, self._question.step)),
            "parts": [
                [title, markdown_of(text, self._question.attached)]
                for title, text in (
                    ("Question", self._question.asked),
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
        who = f"Answer {number}" if self._anonymous else answer.name or answer.student
        points = answer.automatic if answer.points is None else answer.points
        return {
            "id": answer.id,
            "who": who,
            "points": points,
            "waits": answer.waits,
            "given": answer.points is not None,
            "comment": answer.comment or "",
        }

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        """Do what the page asks for; whatever goes wrong is told there, in a sentence."""
        done = {
            "give": self._give,
            "say": self._say,
            "text": self._text,
            "question": self._choose,
            "anonymous": self._hide,
            "read": self._again,
        }
        try:
            done[content["do"]](content)
        except Exception as error:  # else it would only be in the kernel's log
            self.send(
                {
                    "told": in_words(error) if not isinstance(error, Refused) else str(error),
                    "id": content.get("id"),
                    "wrong": True,
                }
            )

    def _give(self, content: dict[str, Any]) -> None:
        seen, points = self._answers[content["id"]], content["points"]
        if self._texts.get(seen.id) != self._html(seen):
            self._text({"ids": [seen.id]})
            raise Refused(AGAIN)
        self._change(
            seen,
            lambda: marks.give(
                self.folder, seen, points, self._asked_now.points, self._question.step
            ),
        )
        if seen.student in self._late:  # a share of the points, for one, is another one now
            from autograder.grading.late import work_out  # slow to import, as nbgrader is

            work_out(self.folder, self.study, [seen.student])

    def _say(self, content: dict[str, Any]) -> None:
        seen = self._answers[content["id"]]
        self._change(seen, lambda: marks.say(self.folder, seen, str(content["text"])))

    def _change(self, seen: marks.Answer, write: Any) -> None:
        try:
            self._answers[seen.id] = write()
        except marks.Overtaken as error:
            self._answers[seen.id] = error.now
            raise
        finally:
            self._paint()
        self.send({"told": "saved", "id": seen.id, "wrong": False})

    def _text(self, content: dict[str, Any]) -> None:
        for key in content["ids"]:
            self._texts[key] = self._html(self._answers[key])
            self.send({"html": self._texts[key], "id": key})

    def _html(self, answer: marks.Answer) -> str:
        from autograder.telling.pictures import lift_inline
        from autograder.telling.safe_html import code_of, markdown_of

        found = marks.source(self.folder, self.study, self._cell, answer.student)
        text = found["text"]
        if not text.strip():
            return NOTHING
        if found["kind"] == "code":
            return code_of(text[:LONGEST])
        short, lifted = lift_inline(text)
        cut = short if len(short) <= LONGEST else short[:LONGEST] + CUT
        return markdown_of(cut, {**found["attachments"], **lifted}, found["folder"])

    def _choose(self, content: dict[str, Any]) -> None:
        cell = tuple(content["cell"])
        if cell not in self._asked_all:
            raise Refused(f"there is no question {cell}")
        self._cell = cell
        self.read()

    def _hide(self, content: dict[str, Any]) -> None:
        self._anonymous = bool(content["on"])
        self.read()

    def _again(self, _content: dict[str, Any]) -> None:
        self.read()

    def _ipython_display_(self) -> None:
        show_with_words(
            self,
            f"{self.study.title}: {len(self._answers)} answers to "
            f"{self._cell[1]}. Run this cell to mark them.",
        )


def mark_answers(assignment: str, question: str | None = None, course: str | Path = ".") -> Marking:
    """The written answers of an assignment, to be marked in a notebook: those to `question`, such
    as "answer-why-ten", or to the first question that has unmarked ones."""
    folder = CourseFolder.open(Path(course))
    return Marking(folder, folder.assignment(assignment), question)
