"""Collects the texts that are compared: the class, last year's classes, the staff's answers, public
code and all that students are given.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import common
import sequence
import tictactoe
from autograder.course_folder import CourseFolder, nfc
from autograder.course_folder.people import read_people
from autograder.errors import UserError
from autograder.grading.intake.submission_files import list_submission
from autograder.release.leaks import COURSE, public_code
from autograder.reporting.integrity import MAX_COMPARED_BYTES, marked_cells
from autograder.reporting.questions import answers, cells_of, question_for, source_of
from autograder.workspace import INDEPENDENT_SOLUTION, answer_path
from autograder.workspace.alternatives import alternative_solutions, stored_modules
from common.syntax import SHELL_LINES, text_of
from course.checks import Study
from course.checks.study_paths import study_roots

CLASS, PREVIOUS, STAFF, PUBLIC = "class", "previous", "staff", "public"
IMPORT = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)
TASKS = "#"  # between the name of a notebook and the id of a cell


@dataclass(frozen=True)
class Source:
    """The work of one person, or a public file: a module, and written answers by notebook and cell.

    Sources of one `origin` are versions of each other.
    """

    name: str
    kind: str  # CLASS, PREVIOUS, STAFF or PUBLIC
    origin: str
    module: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    student: str = ""


@dataclass(frozen=True)
class Handout:
    """What every student is given: code, and the text of each question."""

    code: Sequence[str]  # of the notebooks, and of modules that the stub imports
    stub: str
    texts: Sequence[str]
    packages: Sequence[str] = ()  # other code of the packages


def class_sources(folder: CourseFolder, study: Study) -> tuple[list[Source], dict[str, str]]:
    """Return the submissions of the class, and the reasons why some modules are not compared."""
    sources, left_out = [], {}
    for student, path in _submissions(folder, study).items():
        source, problem = _submission(folder, study, student, path)
        sources.append(source)
        if problem:
            left_out[student] = problem
    return sources, left_out


def _submissions(folder: CourseFolder, study: Study) -> dict[str, Path]:
    """Return each submission once, by the student who has submitted it, also for a group."""
    submitted = folder.submitted(study.assignment)
    return {nfc(path.parent.name): path for path in sorted({*submitted.values()})}


def previous_sources(root: Path, study: Study, current: CourseFolder) -> list[Source]:
    """Return the submissions to the same study in another course folder. Raises `UserError`."""
    former = CourseFolder(root.resolve())
    if not (former.root / "submitted").is_dir():
        raise UserError(f"{root} is not a course folder: it has no folder submitted")
    if former.root == current.root:
        raise UserError(f"{root} is this course's own folder: name an earlier course")
    submitted = _submissions(former, study)
    if not submitted:
        raise UserError(f"{root} has no submissions to {study.assignment}")
    return [
        Source(
            f"{student} ({former.root.name})",
            PREVIOUS,
            f"{former.root}/{student}",
            source.module,
            source.answers,
            student,
        )
        for student, path in submitted.items()
        for source, _ in [_submission(former, study, student, path)]
    ]


def staff_sources(study: Study) -> list[Source]:
    """Return the reference answer, the independent solution and the stored alternatives."""
    if not study.module:
        return []
    path = answer_path(study)
    names = {path: "the reference answer"}
    names[path.with_name(INDEPENDENT_SOLUTION)] = "the independent solution"
    sources = [
        Source(name, STAFF, file.name, file.read_text("utf-8"))
        for file, name in names.items()
        if file.is_file()
    ]
    origins = {stored.stem: stored_origin(stored) for stored in stored_modules(study)}
    return sources + [
        Source(f"the alternative solution {name}", STAFF, origins[name], text)
        for name, text in alternative_solutions(study)
    ]


def stored_origin(path: Path) -> str:
    """Return the name of the answer that a stored module is a patch of, or else its own name."""
    return path.name if path.suffix == ".py" else path.read_text("utf-8").split()[0]


def model_answers(study: Study) -> list[Source]:
    """Return the model answers to written questions; the key of each answer is only its cell."""
    if not study.module:
        return []
    texts = {
        cell: "\n\n".join(parts[part] for part in ("model", "samples") if part in parts)
        for cell, parts in answers(study).items()
    }
    return [Source("the model answer", STAFF, "the model answer", answers=texts)] if texts else []


def public_sources(study: Study, handout: Handout) -> list[Source]:
    """Return the public code that a student could copy, which is the code outside the assignment
    that is not given for it.
    """
    known, roots = {*handout.code}, [COURSE.parent, *study_roots()]
    return [
        Source(name, PUBLIC, PUBLIC, text)
        for path, text in public_code()
        if path.parent.name != study.assignment and text not in known
        for name in [next(path.relative_to(r).as_posix() for r in roots if path.is_relative_to(r))]
    ]


def given_texts(release: Path, study: Study) -> Handout:
    """Return the code and the texts that every student is given, from a released assignment."""
    stub = release / study.module
    text = text_of(stub.read_bytes()) if study.module and stub.is_file() else ""
    imported = {*IMPORT.findall(text)}
    code: list[str] = []
    others: list[str] = []
    texts: list[str] = []
    for notebook in sorted(release.glob("*.ipynb")):
        for cell in cells_of(notebook):
            target = code if cell.get("cell_type") == "code" else texts
            target.append(SHELL_LINES.sub("", source_of(cell)))
    for module in sorted(release.glob("*.py")):
        code.append(text_of(module.read_bytes()))
    packages = (Path(str(package.__file__)).parent for package in (common, sequence, tictactoe))
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            if "tests" not in path.parts:
                name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
                (code if name in imported else others).append(path.read_text("utf-8"))
    return Handout(code, text, texts, others)


def question_of(folder: CourseFolder, study: Study, key: str) -> str:
    """Return the text of the question that a cell answers."""
    notebook, _, cell = key.partition(TASKS)
    cells = cells_of(folder.release(study.assignment) / f"{notebook}.ipynb")
    return question_for(cells, cell)[0]


def groups(folder: CourseFolder) -> dict[str, str]:
    """Return the groups of students who submit together, by student; empty without groups."""
    members = read_people(folder.root).groups()
    return {student: group for group, names in members.items() for student in names}


def _submission(folder: CourseFolder, study: Study, student: str, path: Path) -> tuple[Source, str]:
    """Return one submission, and the reason why its module is not compared."""
    release = folder.release(study.assignment)
    files = {str(entry.name): entry for entry in list_submission(path, study, release).entries}
    counted = {name: entry.path for name, entry in files.items() if not entry.ignored}
    module, problem = "", ""
    if study.module in counted:
        raw = counted[study.module].read_bytes()
        if len(raw) > MAX_COMPARED_BYTES:
            problem = f"{study.module} has {len(raw):,} bytes, more than {MAX_COMPARED_BYTES:,}"
        else:
            module = text_of(raw)
    elif study.module:
        problem = f"there is no {study.module}"
    notebooks = [
        p for name, p in sorted(counted.items()) if name.endswith(".ipynb") and "/" not in name
    ]
    if not study.module:
        module = "\n".join(_own_code(notebooks, release))[:MAX_COMPARED_BYTES]
    written = dict(_written(notebooks, release))
    return Source(student, CLASS, nfc(student), module, written, student), problem


def _own_code(notebooks: Iterable[Path], release: Path) -> Iterator[str]:
    """Yield the code cells that differ from those of the released notebook."""
    for path in notebooks:
        released = {source_of(cell) for cell in _code_cells(release / path.name)}
        for cell in _code_cells(path):
            if (source := source_of(cell)) not in released:
                yield SHELL_LINES.sub("", source)


def _code_cells(path: Path) -> list[dict]:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    cells = data.get("cells") if isinstance(data, dict) else None
    return [
        cell
        for cell in (cells if isinstance(cells, list) else [])
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]


def _written(notebooks: Iterable[Path], release: Path) -> Iterator[tuple[str, str]]:
    """Yield the written answers of a submission that differ from the released text."""
    for path in notebooks:
        released = dict(_answers(release / path.name))
        for cell, text in _answers(path):
            if cell in released and text.strip() and text != released[cell]:
                yield f"{path.stem}{TASKS}{cell}", text[:MAX_COMPARED_BYTES]


def _answers(path: Path) -> Iterator[tuple[str, str]]:
    for grade_id, cell in marked_cells(path):
        if cell.get("cell_type") == "markdown" and cell["metadata"]["nbgrader"].get("solution"):
            yield grade_id, source_of(cell)
