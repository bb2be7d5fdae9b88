"""Removes parts of solutions that nbgrader's own steps leave in student versions.

nbgrader clears the text of a solution, but not its attached pictures, the metadata in which other
programs store answers or comments, or files next to the notebook.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearSolutions,
    NbGraderPreprocessor,
)
from nbgrader.utils import is_grade, is_solution, is_task

from autograder.release.notebooks import NotebookError

CELL_KEYS = frozenset(
    (
        "nbgrader",
        "editable",
        "deletable",
        "tags",
        "slideshow",
        "collapsed",
        "scrolled",
        "jupyter",
        "format",
        "trusted",
        "vscode",
        "hide_input",
    )
)
NBGRADER_KEYS = frozenset(
    (
        "grade",
        "grade_id",
        "schema_version",
        "solution",
        "locked",
        "task",
        "points",
        "checksum",
        "cell_type",
    )
)
NOTEBOOK_KEYS = frozenset(
    (
        "kernelspec",
        "language_info",
        "title",
        "authors",
        "jupytext",
        "orig_nbformat",
        "celltoolbar",
        "toc",
        "toc-autonumbering",
        "rise",
        "livereveal",
        "colab",
        "vscode",
        "nbgrader",
    )
)
SUSPICIOUS_NAME = re.compile(
    r"solution|answer|solved|comment|mark.?scheme|l(ö|oe)sung|musterl", re.I
)
DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:[ \t]*<?((?:attachment|data):\S*).*\n?", re.M)
TEXT_SUFFIXES = (".py", ".md", ".txt", ".rst", ".html", ".yml", ".yaml", ".toml")
MAX_TEXT_BYTES = 1_000_000  # size of the largest file that is read as text
MARKER = "BEGIN SOLUTION"


class ClearRemains(NbGraderPreprocessor):
    """Removes unused attachments, and metadata that may contain answers."""

    def preprocess(self, nb, resources):
        """Clear a notebook whose solutions have been cleared; report each removal in the log."""
        name = resources.get("metadata", {}).get("name", "notebook")
        for removed in clear_remains(nb):
            self.log.warning("%s.ipynb: removed from the student version: %s", name, removed)
        return nb, resources


class RemoveSolutionFiles(NbGraderPreprocessor):
    """Removes the files that only the solution uses from a release; source/ is not changed."""

    def preprocess(self, nb, resources):
        """Check the files after the assignment's last notebook.

        Raises `NotebookError` for a Python file with marked solutions, which nbgrader copies.
        """
        converter = getattr(self.parent, "parent", None)
        name, source = resources["metadata"].get("name"), Path(resources["metadata"]["path"])
        where = resources.get("nbgrader", {})
        if converter is None or Path(converter.notebooks[-1]).stem != name or not where:
            return nb, resources
        released = Path(converter._format_dest(where["assignment"], where["student"]))
        files = sorted(
            path for path in released.rglob("*") if path.is_file() and path.suffix != ".ipynb"
        )
        for path in files:
            if path.suffix == ".py" and MARKER in _text(path):
                error = NotebookError(
                    f"{path.relative_to(released)} contains {MARKER!r}, but nbgrader clears "
                    "solutions in notebooks only: remove the solution from this file, or move the "
                    f"file out of source/{where['assignment']}"
                )
                self.log.error("%s", error)
                raise error
        written, released_text = self._texts(source)
        for path in solution_files(files, written, released_text):
            path.unlink()
            self.log.warning(
                "%s is not part of the student version, because only the solution uses it. "
                "Submissions can read it during grading: move it out of source/%s unless a test "
                "needs it",
                path.relative_to(released),
                where["assignment"],
            )
        return nb, resources

    def _texts(self, source: Path) -> tuple[str, str]:
        """Return the text of an assignment's notebooks, in the source and in the student version."""
        steps = [
            step(parent=self.parent) for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme)
        ]
        written, kept = [], []
        for path in sorted(source.glob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            written += [cell.source for cell in notebook.cells]
            cleared = deepcopy(notebook)
            resources: dict[str, Any] = {}
            for step in steps:
                cleared, resources = step.preprocess(cleared, resources)
            kept += [cell.source for cell in cleared.cells]
        return "\n".join(written), "\n".join(kept)


def clear_remains(nb: NotebookNode) -> Iterator[str]:
    """Clear a notebook in place; yield a description of each removed part."""
    for key in sorted(nb.metadata.keys() - NOTEBOOK_KEYS):
        del nb.metadata[key]
        yield f"the notebook's metadata {key!r}"
    for cell in nb.cells:
        place = f"the cell {_name(cell)!r}"
        yield from _clear_metadata(cell, place)
        if is_solution(cell) and cell.cell_type != "code":
            cell.source = _without_unused_definitions(cell.source)
        yield from _clear_attachments(cell, place)


def _clear_metadata(cell: NotebookNode, place: str) -> Iterator[str]:
    is_marked = is_solution(cell) or is_grade(cell) or is_task(cell)
    for key in list(cell.metadata):
        if key not in CELL_KEYS and (is_marked or SUSPICIOUS_NAME.search(key)):
            del cell.metadata[key]
            yield f"the metadata {key!r} of {place}"
    nbgrader = cell.metadata.get("nbgrader", {})
    for key in sorted(nbgrader.keys() - NBGRADER_KEYS):
        del nbgrader[key]
        yield f"the nbgrader metadata {key!r} of {place}"


def _clear_attachments(cell: NotebookNode, place: str) -> Iterator[str]:
    for name in _unused_attachments(cell):
        del cell.attachments[name]
        yield f"the attachment {name!r} of {place}, which its text no longer shows"
    if "attachments" in cell and not cell.attachments:
        del cell["attachments"]


def solution_files(files: Iterable[Path], written: str, kept: str) -> list[Path]:
    """Return the files that only solutions use, judged by the text of the notebooks.

    `written` is the source text, and `kept` is the text of the student version.
    """
    files = list(files)
    suspects = [
        path
        for path in files
        if not _mentions(kept, path)
        and (SUSPICIOUS_NAME.search(path.stem) or _mentions(written, path))
    ]
    others = [path for path in files if path not in suspects]
    while used := [
        path for path in suspects if any(_mentions(_text(other), path) for other in others)
    ]:
        suspects = [path for path in suspects if path not in used]
        others += used
    return suspects


def _mentions(text: str, path: Path) -> bool:
    module = path.suffix == ".py" and re.search(rf"\b{re.escape(path.stem)}\b", text)
    return bool(module) or path.name in text or path.name in unquote(text)


def _text(path: Path) -> str:
    if path.suffix not in TEXT_SUFFIXES or path.stat().st_size > MAX_TEXT_BYTES:
        return ""
    return path.read_text("utf-8", "replace")


def _name(cell: Mapping[str, Any]) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "")


def _without_unused_definitions(text: str) -> str:
    """Remove unused definitions of pictures, such as `[tree]: data:...`, from Markdown text."""
    rest = DEFINITION.sub("", text).lower()
    return DEFINITION.sub(lambda match: match[0] if f"[{match[1].lower()}]" in rest else "", text)


def _unused_attachments(cell: NotebookNode) -> list[str]:
    text = unquote(html.unescape(cell.source))
    return [
        name
        for name in cell.get("attachments", {})
        if not re.search(rf"attachment:{re.escape(unquote(name))}(?!\.?\w)", text)
    ]
