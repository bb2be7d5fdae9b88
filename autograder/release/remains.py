"""Removes from student versions what nbgrader's own steps leave of solutions.

nbgrader clears the text of a solution. It leaves the pictures attached to it, keys in the metadata
in which other programs store answers or comments, and files next to the notebook.
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
TELLING = re.compile(r"solution|answer|solved|comment|mark.?scheme|l(ö|oe)sung|musterl", re.I)
DEFINITION = re.compile(r"^ {0,3}\[([^\]]+)\]:[ \t]*<?((?:attachment|data):\S*).*\n?", re.M)
TEXTS = (".py", ".md", ".txt", ".rst", ".html", ".yml", ".yaml", ".toml")
LARGEST = 1_000_000  # bytes of a side file that is read as text
MARKER = "BEGIN SOLUTION"


class ClearRemains(NbGraderPreprocessor):
    """Removes attachments that a cell no longer shows, and metadata in which answers may be."""

    def preprocess(self, nb, resources):
        """Clear a notebook whose solutions have been cleared; report each removal in the log."""
        name = resources.get("metadata", {}).get("name", "notebook")
        for removed in clear_remains(nb):
            self.log.warning("%s.ipynb: removed from the student version: %s", name, removed)
        return nb, resources


class RemoveSolutionFiles(NbGraderPreprocessor):
    """Removes files from a release that only belong to the solution; in source/ they stay."""

    def preprocess(self, nb, resources):
        """Look at the files after an assignment's last notebook.

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
        written, kept = self._texts(source)
        for path in solution_files(files, written, kept):
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
        """The text of an assignment's notebooks, as written and as students get it."""
        steps = [
            step(parent=self.parent) for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme)
        ]
        written, kept = [], []
        for path in sorted(source.glob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            written += [cell.source for cell in notebook.cells]
            cleared, resources = deepcopy(notebook), {}
            for step in steps:
                cleared, resources = step.preprocess(cleared, resources)
            kept += [cell.source for cell in cleared.cells]
        return "\n".join(written), "\n".join(kept)


def clear_remains(nb: NotebookNode) -> Iterator[str]:
    """Clear a notebook in place; yields what was removed, in words."""
    for key in sorted(nb.metadata.keys() - NOTEBOOK_KEYS):
        del nb.metadata[key]
        yield f"the notebook's metadata {key!r}"
    for cell in nb.cells:
        place = f"the cell {_name(cell)!r}"
        marked = is_solution(cell) or is_grade(cell) or is_task(cell)
        for key in [
            key for key in cell.metadata if key not in CELL_KEYS and (marked or TELLING.search(key))
        ]:
            del cell.metadata[key]
            yield f"the metadata {key!r} of {place}"
        own = cell.metadata.get("nbgrader", {})
        for key in sorted(own.keys() - NBGRADER_KEYS):
            del own[key]
            yield f"the nbgrader metadata {key!r} of {place}"
        if is_solution(cell) and cell.cell_type != "code":
            cell.source = _without_unused_definitions(cell.source)
        for name in _unused_attachments(cell):
            del cell.attachments[name]
            yield f"the attachment {name!r} of {place}, which its text no longer shows"
        if "attachments" in cell and not cell.attachments:
            del cell["attachments"]


def solution_files(files: Iterable[Path], written: str, kept: str) -> list[Path]:
    """The files that only solutions use: by the text of the notebooks as `written`, and as `kept`
    for students."""
    files = list(files)
    suspects = [
        path
        for path in files
        if not _mentions(kept, path) and (TELLING.search(path.stem) or _mentions(written, path))
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
    if path.suffix not in TEXTS or path.stat().st_size > LARGEST:
        return ""
    return path.read_text("utf-8", "replace")


def _name(cell: Mapping[str, Any]) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id", "")


def _without_unused_definitions(text: str) -> str:
    """A Markdown text without definitions of pictures, `[tree]: data:...`, that it does not use."""
    rest = DEFINITION.sub("", text).lower()
    return DEFINITION.sub(lambda found: found[0] if f"[{found[1].lower()}]" in rest else "", text)


def _unused_attachments(cell: NotebookNode) -> list[str]:
    text = unquote(html.unescape(cell.source))
    return [
        name
        for name in cell.get("attachments", {})
        if not re.search(rf"attachment:{re.escape(unquote(name))}(?!\.?\w)", text)
    ]
