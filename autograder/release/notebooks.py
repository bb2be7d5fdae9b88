"""Makes notebooks from percent text: stable cell ids, no outputs, and nbgrader's metadata.

A code cell that is nothing but `check("study3.type_a")` becomes a graded cell, a markdown cell with
`answer="why-ten"` a written answer that people mark. Their points come from the study's table. The
metadata includes the checksums and the protection of graded cells that nbgrader's *generate* adds,
so the course, the kit, the live site and every release hold the same bytes.
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from autograder.errors import Refused
from course.probes import Study, UnknownCheck, load_check, load_study

CHECK_CALL = re.compile(r"""(?:#[^\n]*\n+)*check\((["'])([a-z0-9_.]+)\1\)""")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class NotebookError(Refused):
    """The text of a notebook does not match the study's table."""


def check_id(cell: NotebookNode) -> str | None:
    """The id of the check that a cell runs, or None for any other cell."""
    found = CHECK_CALL.fullmatch(cell.source.strip()) if cell.cell_type == "code" else None
    return found.group(2) if found else None


def build_notebook(text: str, name: str, study: Study) -> str:
    """The notebook `name` (without its ending) as the text of an .ipynb file.

    Raises `NotebookError` for a check or an answer that the study's table does not have.
    """
    notebook = jupytext.reads(text, fmt="py:percent")
    seen: set[str] = set()
    for cell in notebook.cells:
        cell.metadata = _metadata(cell, name, study)
        cell["id"] = _cell_id(cell, name, seen)
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    _protect(notebook)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def _protect(notebook: NotebookNode) -> None:
    """Add what nbgrader's *generate* adds: graded cells cannot be deleted, checks cannot be edited,
    and a checksum shows whether a question has been answered."""
    from nbgrader.preprocessors import ComputeChecksums, LockCells  # slow to import

    for step in (LockCells(), ComputeChecksums()):
        step.preprocess(notebook, {})


def unprotect(notebook: NotebookNode) -> None:
    """Remove from graded cells what `build_notebook` and nbgrader's *generate* add."""
    for cell in notebook.cells:
        if marked := cell.metadata.get("nbgrader"):
            for added in ("deletable", "editable"):
                cell.metadata.pop(added, None)
            for added in ("checksum", "cell_type"):
                marked.pop(added, None)


def complain_about_graded_cells(notebooks: Iterable[NotebookNode], study: Study) -> None:
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


def complain_about_unknown_checks(notebook: NotebookNode, path: Path) -> None:
    """Raise `NotebookError` where a graded cell asks for a check that nobody can pass.

    That is one that does not exist, or one of a module that does not lie beside the notebook.
    """
    for cell in notebook.cells:
        asked, marked = check_id(cell), cell.metadata.get("nbgrader", {})
        if asked is None or not marked.get("grade") or marked.get("solution"):
            continue
        where = f"{path.name}: the cell {marked.get('grade_id')!r} asks for {asked}, "
        try:
            check = load_check(asked)
        except UnknownCheck as error:
            raise NotebookError(f"{where}but {error}") from None
        if check.id != asked:
            raise NotebookError(f"{where}but the check is called {check.id}")
        module = load_study(check.study).module
        if not (path.parent / module).is_file():
            raise NotebookError(f"{where}but there is no {module} beside the notebook")


def answer_id(written: str) -> str:
    """The nbgrader id of the cell of a written answer."""
    return f"answer-{written}"


def notebook_texts(folder: Path) -> list[Path]:
    """The percent texts of a study's notebooks, in order."""
    return sorted(folder.glob("[0-9][0-9]_*.py"))


def _metadata(cell: NotebookNode, name: str, study: Study) -> dict:
    asked = check_id(cell)
    if asked is not None:
        check = {c.id: c for c in study.checks.values()}.get(asked)
        if check is None:
            raise NotebookError(f"{name}: {study.name}.toml has no check {asked}")
        points = 0 if check.extra_credit else check.max_points
        return {"nbgrader": _graded(check.grade_id, points, solution=False)}
    if "answer" in cell.metadata:
        written = cell.metadata["answer"]
        if cell.cell_type != "markdown":
            raise NotebookError(f"{name}: the answer {written} must be a markdown cell")
        if written not in study.written:
            raise NotebookError(f"{name}: {study.name}.toml has no points for the answer {written}")
        return {"nbgrader": _graded(answer_id(written), study.written[written], solution=True)}
    return {name: cell.metadata[name] for name in ("tags", "nbgrader") if name in cell.metadata}


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
    """An id from the cell's own text, so that editing one cell changes no other cell's id."""
    number = 0
    while True:
        text = f"{name}\n{cell.cell_type}\n{cell.source}\n{number}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        if digest not in seen:
            seen.add(digest)
            return digest
        number += 1
