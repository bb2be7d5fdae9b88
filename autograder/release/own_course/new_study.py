"""Writes a working study into a course folder, from which an instructor's own study can grow.

The study contains one of everything: an answer with a solution region, a notebook with a check and a
written question, a kind of question, public and hidden cases, a drawer of new cases, known mistakes,
a rubric and a test.
"""

import keyword
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Template

from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.release import derive
from autograder.release.notebooks import NOTEBOOK_NAME, notebook_texts
from course.checks import Study, load_study, studies
from course.checks.study_paths import CHECKS, PUBLIC, QUESTIONS, STAFF

TEMPLATES = Path(__file__).parent / "new_study"
NAME = re.compile(r"[a-z][a-z0-9_]*")
STUDY_NUMBER = re.compile(r"study(\d+)")


def new_study(
    folder: CourseFolder, name: str, tick: Callable[[str], object] = lambda step: None
) -> Study:
    """Write the study `name`, such as "nim", into the course folder and build its derived files.

    It has the next free number. Raises `UserError` if there can be no such study.
    """
    require_name(name)
    present = [load_study(study) for study in studies()]
    if taken := [s.name for s in present if name in (s.module.removesuffix(".py"), *s.checks)]:
        raise UserError(f"{taken[0]} has this name already: choose another")
    number = 1 + max(_study_numbers(folder.studies_home, present))
    assignment = f"study{number}_{name}"
    public = folder.studies_home / PUBLIC / assignment
    staff = folder.studies_home / STAFF / assignment
    notebook = 1 + max(_notebook_numbers(present), default=0)
    files = {
        "answer.py": staff / f"{name}.py",
        "checks.toml": public / CHECKS,
        "questions.py": public / CHECKS.with_name(QUESTIONS),
        "notebook.py": public / f"{notebook:02}_{name}.py",
        "hidden_cases.toml": staff / "hidden_cases.toml",
        "mutants.toml": staff / "mutants.toml",
        "fresh_cases.py": staff / "fresh_cases.py",
        "written.md": staff / "written.md",
        "test.py": staff / f"test_{name}.py",
    }
    values = {
        "name": name,
        "study": f"study{number}",
        "number": notebook,
        "title": f"Study {number}: {name.replace('_', ' ').capitalize()}",
        "test": files["test.py"],
    }
    for template, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (TEMPLATES / f"{template}.in").read_text("utf-8")
        path.write_text(Template(text).substitute(values), "utf-8")
    folder.use_studies()
    derive.build(f"study{number}", tick)
    return load_study(f"study{number}")


def require_name(name: str) -> None:
    """Raise `UserError` unless a module can have this name."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be the name of a study's module: use small letters, digits and '_', "
            "beginning with a letter, for example nim"
        )


def _study_numbers(home: Path, present: list[Study]) -> Iterator[int]:
    """Yield the numbers of all studies, and of folders in the course that no longer are studies."""
    for name in [s.name for s in present] + [
        path.name for part in (PUBLIC, STAFF) for path in (home / part).glob("study*")
    ]:
        if match := STUDY_NUMBER.match(name):
            yield int(match[1])


def _notebook_numbers(present: list[Study]) -> list[int]:
    names = [path.stem for study in present for path in notebook_texts(study.folder)]
    return [int(match[1]) for name in names if (match := NOTEBOOK_NAME.match(name))]
