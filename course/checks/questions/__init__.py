"""All kinds of questions, by name.

`helpers` and `searches` are used by several studies; a study may add its own questions in
`_check/questions.py`. Each of these modules defines a dictionary `QUESTIONS`, and may define
`EXPLANATIONS`, questions that explain outcomes but never decide marks, and `RECORDERS`, which repeat
the searches of a question (see `tracing`). May import the modules directly in `course.checks`.
"""

from importlib import import_module

from course.checks.question import Question
from course.checks.questions.tracing import Recorder, trace_question
from course.checks.study_paths import question_modules

SHARED = (f"{__name__}.helpers", f"{__name__}.searches")
QUESTIONS: dict[str, Question] = {}
RECORDERS: dict[str, Recorder] = {}
EXPLANATIONS: dict[str, Question] = {"trace": trace_question(RECORDERS)}
MATCHES: set[str] = set()  # the questions that play games


def load_questions() -> None:
    """Add the questions of all studies that are in use now, also those of a course folder."""
    for name in (*SHARED, *question_modules()):
        module = import_module(name)
        QUESTIONS.update(module.QUESTIONS)
        RECORDERS.update(getattr(module, "RECORDERS", {}))
        EXPLANATIONS.update(getattr(module, "EXPLANATIONS", {}))
    MATCHES.update(name for name, question in QUESTIONS.items() if question.is_match)


load_questions()
