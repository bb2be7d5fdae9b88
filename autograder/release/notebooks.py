"""Builds notebooks from percent text, with stable cell ids, no outputs, and nbgrader's metadata.

A code cell that contains only `check("study3.type_a")` becomes a graded cell, and a markdown cell
with `answer="why-ten"` becomes a manually graded answer. The points are read from the study's
table, and a comment marks each check for extra credit. The source of a code cell with the tag
`hide-input` is folded, so students see its output and can open the code. The metadata includes the
checksums and the cell protection that nbgrader's *generate* adds, so the course, the kit, the live
site and every release contain the same bytes.
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from autograder.errors import UserError
from course.checks import Study, UnknownCheck, load_check, load_study

CHECK_CALL = re.compile(r"""(?:#[^\n]*\n+)*check\((["'])([a-z0-9_.]+)\1\)""")
FOLDED_TAG = "hide-input"  # for code that is not worth reading, such as plotting code
NOTEBOOK_NAME = re.compile(r"^(\d\d)([a-z]?)_")  # how the name of a notebook begins: "09_", "10b_"
EXTRA_CREDIT = "# Extra credit: these points count in addition to full marks."
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class NotebookError(UserError):
    """The text of a notebook does not match the study's table."""


def check_id(cell: NotebookNode) -> str | None:
    """Return the id of the check that a cell runs, or None for any other cell."""
    match = CHECK_CALL.fullmatch(cell.source.strip()) if cell.cell_type == "code" else None
    return match[2] if match else None


def is_folded(cell: NotebookNode) -> bool:
    """Whether the source of a code cell is hidden until the reader opens it."""
    return cell.cell_type == "code" and FOLDED_TAG in cell.metadata.get("tags", ())


def build_notebook(text: str, name: str, study: Study) -> str:
    """Return the notebook `name` (without its extension) as the text of an .ipynb file.

    Raises `NotebookError` for a check or an answer that is missing from the study's table.
    """
    notebook = jupytext.reads(text, fmt="py:percent")
    seen: set[str] = set()
    for cell in notebook.cells:
        cell.metadata = _metadata(cell, name, study)
        cell["id"] = _cell_id(cell, name, seen)
        cell.source = _source(cell, study)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    _protect(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def _protect(notebook: NotebookNode) -> None:
    """Add the same protection as nbgrader's *generate*.

    Graded cells cannot be deleted, checks cannot be edited, and a checksum shows whether a question
    has been answered.
    """
    from nbgrader.preprocessors import ComputeChecksums, LockCells  # slow to import

    for step in (LockCells(), ComputeChecksums()):
        step.preprocess(notebook, {})


def unprotect(notebook: NotebookNode) -> None:
    """Remove the protection that `build_notebook` and nbgrader's *generate* add to graded cells."""
    for cell in notebook.cells:
        if marked := cell.metadata.get("nbgrader"):
            for added in ("deletable", "editable"):
                cell.metadata.pop(added, None)
            for added in ("checksum", "cell_type"):
                marked.pop(added, None)


def require_graded_cells(notebooks: Iterable[NotebookNode], study: Study) -> None:
    """Raise `NotebookError` unless each check and written answer of the study occurs once."""
    ids = [
        cell.metadata.nbgrader.grade_id
        for notebook in notebooks
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    ]
    expected = [c.grade_id for c in study.checks.values()] + list(map(answer_id, study.written))
    for grade_id in {*ids, *expected}:
        if ids.count(grade_id) != 1:
            raise NotebookError(
                f"{study.assignment}: the cell {grade_id} occurs "
                f"{ids.count(grade_id)} times in the notebooks, but must occur "
                "once"
            )


def require_known_checks(notebook: NotebookNode, path: Path) -> None:
    """Raise `NotebookError` for a graded cell whose check cannot be passed.

    Either the check does not exist, or its module is not next to the notebook.
    """
    for cell in notebook.cells:
        name, marked = check_id(cell), cell.metadata.get("nbgrader", {})
        if name is None or not marked.get("grade") or marked.get("solution"):
            continue
        where = f"{path.name}: the cell {marked.get('grade_id')!r} runs {name}, "
        try:
            check = load_check(name)
        except UnknownCheck as error:
            raise NotebookError(f"{where}but {error}") from None
        if check.id != name:
            raise NotebookError(f"{where}but the check is called {check.id}")
        module = load_study(check.study).module
        if not (path.parent / module).is_file():
            raise NotebookError(f"{where}but there is no {module} next to the notebook")


def answer_id(written: str) -> str:
    """Return the nbgrader id of the cell of a written answer."""
    return f"answer-{written}"


def notebook_texts(folder: Path) -> list[Path]:
    """Return the percent texts of a study's notebooks, in order."""
    return sorted(path for path in folder.glob("*.py") if NOTEBOOK_NAME.match(path.name))


def notebook_number(name: str) -> str:
    """Return the number by which texts refer to a notebook: "9" for "09_sequence", "10b" for
    "10b_two".

    A letter marks the second part of a notebook, so that no later notebook is renumbered. The
    result is "" for a name without a number.
    """
    match = NOTEBOOK_NAME.match(name)
    return f"{int(match[1])}{match[2]}" if match else ""


def _metadata(cell: NotebookNode, name: str, study: Study) -> dict:
    check_name = check_id(cell)
    if check_name is not None:
        check = {c.id: c for c in study.checks.values()}.get(check_name)
        if check is None:
            raise NotebookError(f"{name}: {study.name}.toml has no check {check_name}")
        points = 0 if check.extra_credit else check.max_points
        return {"nbgrader": _graded(check.grade_id, points, solution=False)}
    if "answer" in cell.metadata:
        written = cell.metadata["answer"]
        if cell.cell_type != "markdown":
            raise NotebookError(f"{name}: the answer {written} must be a markdown cell")
        if written not in study.written:
            raise NotebookError(f"{name}: {study.name}.toml has no points for the answer {written}")
        return {"nbgrader": _graded(answer_id(written), study.written[written], solution=True)}
    kept = {name: cell.metadata[name] for name in ("tags", "nbgrader") if name in cell.metadata}
    return kept | ({"jupyter": {"source_hidden": True}} if is_folded(cell) else {})


def _source(cell: NotebookNode, study: Study) -> str:
    """The source of a cell in the notebook, in which a comment marks a check for extra credit."""
    extra = {check.id for check in study.checks.values() if check.extra_credit}
    return f"{EXTRA_CREDIT}\n{cell.source}" if check_id(cell) in extra else cell.source


def _graded(grade_id: str, points: float, *, solution: bool) -> dict:
    return {
        "grade": True,
        "grade_id": grade_id,
        "locked": not solution,
        "points": points,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }


def _cell_id(cell: NotebookNode, name: str, seen: set[str]) -> str:
    """Return an id that is derived from the cell's text, so that editing a cell does not change the
    ids of others.
    """
    number = 0
    while True:
        text = f"{name}\n{cell.cell_type}\n{cell.source}\n{number}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        if digest not in seen:
            seen.add(digest)
            return digest
        number += 1
