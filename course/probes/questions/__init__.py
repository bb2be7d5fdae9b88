"""All questions that checks can ask, by name; there is a module for each study, and a shared one.

A module has `QUESTIONS`, by name, and may have `EXPLANATIONS`, which are asked for explanations and
never for marks. Every module in this folder counts, and every one in the same folder of another
home of studies (`course.probes.homes`). May import what stands beside this folder.
"""

from importlib import import_module
from pkgutil import iter_modules

from course.probes.homes import question_folders
from course.probes.question import Question

__path__ += question_folders()  # homes named later than this import have no questions of their own
_modules = [
    import_module(f"{__name__}.{module.name}")
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
]

QUESTIONS: dict[str, Question] = {
    name: question for module in _modules for name, question in module.QUESTIONS.items()
}
MATCHES = frozenset(name for name, question in QUESTIONS.items() if question.is_match)
EXPLANATIONS: dict[str, Question] = {
    name: question
    for module in _modules
    for name, question in getattr(module, "EXPLANATIONS", {}).items()
}
