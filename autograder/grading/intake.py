"""Copies the files of a submission that count, checked and repaired where that is safe.

The marks need only the module. A notebook that is missing or cannot be read is replaced by the one
that was released, so that only its written answers are lost; the cells' nbgrader metadata is always
taken from the release. Each repair is reported in one sentence, and the submission itself is never
changed.
"""

import codecs
import copy
import json
import shutil
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id
from nbformat.validator import normalize
from nbgrader.utils import parse_utc

from autograder.grading.cut import cut
from autograder.grading.handed_in import TIMESTAMP, HandedIn
from course.probes import Study
from course.probes.syntax import SLOW


@dataclass(frozen=True)
class Intake:
    """The result of an intake: `problems` in sentences, and whether there is anything to grade."""

    problems: tuple[str, ...]
    gradable: bool


def take_in(handed_in: HandedIn, study: Study, release: Path, staged: Path) -> Intake:
    """Copy the files that count of a submission to `staged`; report what was wrong with them."""
    submission, files = handed_in.folder, handed_in.files
    problems = list(handed_in.problems())
    if not files:
        return Intake((*problems, "the folder is empty: nothing was handed in"), False)
    staged.mkdir(parents=True)
    notebooks = {path.name for path in release.glob("*.ipynb")}
    for path in files:
        if path.suffix != ".ipynb" and path.relative_to(submission).parts[0] not in notebooks:
            target = staged / path.relative_to(submission)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    problems += _timestamp_problems(staged / TIMESTAMP)
    if study.module:
        problems += _module_problems(submission, study.module, files)
    spare = [p for p in files if p.suffix == ".ipynb" and p.name not in notebooks]
    for name in sorted(notebooks):
        released = nbformat.read(release / name, as_version=4)
        notebook, said = _notebook(submission / name, released, files, spare)
        problems += said
        nbformat.write(notebook, staged / name)
    return Intake(tuple(problems), True)


def _timestamp_problems(path: Path) -> list[str]:
    if path.is_file():
        try:
            with warnings.catch_warnings(action="error"):  # such as a time zone that is a path
                parse_utc(path.read_text("utf-8").strip())
        except Exception:  # whatever dateutil meets, nbgrader would meet it again
            path.unlink()
            return ["timestamp.txt holds no valid time: the submission counts as on time"]
    return []


def _module_problems(submission: Path, module: str, files: Iterable[Path]) -> list[str]:
    path = submission / module
    if path not in files:
        stem = module.removesuffix(".py").lower()
        alike = [p.relative_to(submission).as_posix() for p in files
                 if p.suffix == ".py" and stem in p.name.lower()]
        hint = f"; if {alike[0]!r} is meant, rename it and grade again" if alike else ""
        return [f"{module} is missing: its checks get no marks{hint}"]
    try:
        with tokenize.open(path) as text:
            if codecs.lookup(text.encoding).name != SLOW and "\0" in text.read():
                raise SyntaxError("it holds NUL characters")
    except (SyntaxError, UnicodeError, LookupError) as error:
        why = str(error).split(" for '")[0]  # without the path
        return [f"{module} is not UTF-8 text: Python cannot read it ({why})"]
    return []


def _notebook(path: Path, released: NotebookNode, files: list[Path],
              spare: list[Path]) -> tuple[NotebookNode, list[str]]:
    """The submitted notebook with the release's metadata, or the released one in its place.

    Where nothing in it is marked, it need not be handed in.
    """
    stands_in = "the released notebook is used instead, so its written answers are lost"
    problems = []
    if path not in files:
        renamed = next((p for p in spare if _graded_ids(_read(p)[0]) & _graded_ids(released)), None)
        if renamed is None and not _graded_ids(released):
            return released, []
        if renamed is None:
            return released, [f"{path.name} is missing: {stands_in}"]
        problems.append(f"{path.name} is missing, but {renamed.name!r} holds its cells "
                        "and is used instead")
        path = renamed
    notebook, why = _read(path)
    if notebook is None:
        return released, [*problems, f"{path.name} {why}: {stands_in}"]
    if why:
        problems.append(f"{path.name} {why}")
    return notebook, problems + restore_metadata(notebook, released, path.name)


def _read(path: Path) -> tuple[NotebookNode | None, str]:
    """The notebook and what was left out of it; or None and why it cannot be read."""
    try:
        data = json.loads(path.read_bytes().decode("utf-8-sig"))  # editors on Windows begin so
        left_out = cut(data)
        text = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")  # half characters
        with warnings.catch_warnings(action="ignore"):  # of ids, which are put right here
            notebook = nbformat.reads(text.decode(), as_version=4)
            notebook.nbformat_minor = max(5, notebook.nbformat_minor)
            _, notebook = normalize(notebook)  # gives cells the ids that old notebooks lack
        nbformat.validate(notebook)
    except UnicodeDecodeError as error:
        return None, f"is not UTF-8 text (byte {error.start})"
    except json.JSONDecodeError as error:
        return None, f"is not valid JSON (line {error.lineno}, column {error.colno})"
    except Exception as error:  # nbformat raises all sorts, RecursionError and NameError too
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        return None, f"is not a valid notebook ({first_line:.200})"
    return notebook, left_out


def _graded_ids(notebook: NotebookNode | None) -> set[str]:
    return set(_nbgrader_cells(notebook)) if notebook else set()


def _nbgrader_cells(notebook: NotebookNode) -> Counter:
    marked = [cell.metadata.get("nbgrader") for cell in notebook.cells]
    return Counter(str(m["grade_id"]) for m in marked if isinstance(m, dict) and "grade_id" in m)


def restore_metadata(notebook: NotebookNode, released: NotebookNode, name: str) -> list[str]:
    """Give every cell the release's nbgrader metadata, and remove tags, which can skip cells.

    The notebook's own metadata come from the release too, and those of outputs are removed: pages
    that show a notebook turn both into HTML.
    """
    notebook.metadata = copy.deepcopy(released.metadata)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "metadata" in output:
            output.metadata = NotebookNode()
    known = {cell.metadata.nbgrader.grade_id: cell
             for cell in released.cells if "nbgrader" in cell.metadata}
    for index, cell in enumerate(notebook.cells):
        marked = cell.metadata.pop("nbgrader", None)
        cell.metadata.pop("tags", None)
        grade_id = str(marked.get("grade_id")) if isinstance(marked, dict) else None
        if grade_id in known:
            cell.metadata["nbgrader"] = known[grade_id].metadata.nbgrader
            if cell.cell_type != known[grade_id].cell_type:
                notebook.cells[index] = NotebookNode(
                    copy.deepcopy(known[grade_id]), id=cell.id, source=cell.source)
    problems, seen = [], _nbgrader_cells(notebook)
    for grade_id, count in sorted(seen.items()):
        if count > 1:
            copies = [cell for cell in notebook.cells
                      if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
            counts, which = _the_one_that_counts(copies, known[grade_id])
            for cell in copies:
                if cell is not counts:
                    del cell.metadata["nbgrader"]
            problems.append(f"{name}: the cell {grade_id} occurs {count} times; {which} counts")
    for cell in released.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id is not None and grade_id not in seen:
            taken = {other.id for other in notebook.cells}
            notebook.cells.append(NotebookNode(
                cell, id=generate_corpus_id() if cell.id in taken else cell.id))
            problems.append(f"{name}: the cell {grade_id} was deleted; it was put back at the end")
    return problems


def _the_one_that_counts(copies: list[NotebookNode],
                         released: NotebookNode) -> tuple[NotebookNode, str]:
    """The last copy; of written answers the last in which something was written."""
    untouched = ("", released.source.strip())
    written = [cell for cell in copies if cell.source.strip() not in untouched]
    if not released.metadata.nbgrader.get("solution") or not written or written[-1] is copies[-1]:
        return copies[-1], "the last one"
    return written[-1], "the last one with an answer in it"
