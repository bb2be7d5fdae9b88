"""A student's progress in a study: what `check` saw last, and which answers are written.

`check` notes its points in `.checked.json` beside the module; everything else is read from the
saved notebooks and the saved module. Nothing is run, and nothing here decides a mark.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.probes import Study
from course.probes.outcome import Outcome, Shown

NOTES = ".checked.json"
NOTEBOOKS = "[0-9][0-9]_*.ipynb"
SKIPPED = "skip-execution"  # the tag of a cell that is not part of the reading
TO_WRITE = "raise NotImplementedError("  # how a stub says that code is wanted
ANSWER_STUB = "*Write your answer here.*"
CHECK_CALL = re.compile(r"""^check\((["'])([a-z0-9_.]+)\1\)""", re.MULTILINE)


def note(module: Path, outcome: Outcome) -> None:
    """Save what a check saw of `module` for the start page, if the folder can be written to."""
    notes = read_notes(module.parent)
    notes[outcome.check] = {
        "earned": outcome.earned,
        "points": outcome.points,
        "full": outcome.full,
        "slips": outcome.matching,
        "module": _digest(module),
    }
    with contextlib.suppress(OSError):
        (module.parent / NOTES).write_text(json.dumps(notes, indent=1) + "\n", "utf-8")


def read_notes(folder: Path) -> dict[str, dict[str, Any]]:
    """What the last run of each check saw: "earned", "points" and the "module"'s digest, by id.

    What somebody else has written into the file, and is no note, is left out.
    """
    notes = _json(folder / NOTES)
    return (
        {check: noted for check, noted in notes.items() if _is_note(noted)}
        if isinstance(notes, dict)
        else {}
    )


def _is_note(noted: Any) -> bool:
    match noted:
        case {"earned": int() | float(), "points": int() | float(), "module": str()}:
            slips = noted.get("slips", [])
            return (
                isinstance(noted.get("full", True), bool)
                and isinstance(slips, list)
                and all(isinstance(slip, str) for slip in slips)
            )
    return False


def _json(path: Path) -> Any:
    """What a file of JSON holds; None where there is none that can be read."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def shown(module: Path) -> dict[str, Shown]:
    """What the checks have shown of `module` as it is now, by id."""
    now = _digest(module)
    return {
        check: Shown(noted.get("full", True), noted.get("slips", ()))
        for check, noted in read_notes(module.parent).items()
        if noted.get("module") == now
    }


def _digest(module: Path) -> str:
    return hashlib.sha256(module.read_bytes()).hexdigest() if module.is_file() else ""


@dataclass(frozen=True)
class Progress:
    """The progress in one notebook."""

    path: Path
    title: str
    checks: tuple[str, ...]  # the ids of the checks in it, extra credit apart
    earned: float  # on the public positions, by the last run of each check
    points: float
    unchecked: tuple[str, ...]  # checks that were not run yet
    changed: bool  # whether the module has changed since one of its checks was run
    answered: int
    questions: int
    run: int  # code cells that were run, as the notebook was saved
    cells: int

    @property
    def state(self) -> str:
        """ "not started", "begun" or "done".

        A notebook without checks and questions is done when all its cells were run.
        """
        if not self.checks and not self.questions:
            return "not started" if not self.run else "begun" if self.run < self.cells else "done"
        if not self.earned and not self.answered:
            return "not started"
        whole = self.earned == self.points and self.answered == self.questions
        return "done" if whole else "begun"  # later notebooks go on with the same module


def progress(folder: Path, study: Study) -> list[Progress]:
    """The progress in each notebook of a study's folder, in reading order."""
    return [_of_notebook(path, study) for path in sorted(folder.glob(NOTEBOOKS))]


def to_write(module: Path) -> int | None:
    """How many functions of a module are still to be written; None if there is no such file."""
    return module.read_text("utf-8", "replace").count(TO_WRITE) if module.is_file() else None


def markdown_cells(path: Path) -> Iterator[str]:
    """The text of each Markdown cell of a notebook; nothing of a file that is no notebook."""
    return (source for kind, source, *_ in _cells(path) if kind == "markdown")


def _of_notebook(path: Path, study: Study) -> Progress:
    cells = list(_cells(path))
    by_id = {check.id: check for check in study.checks.values() if not check.extra_credit}
    code = [
        was_run
        for kind, _, metadata, was_run in cells
        if kind == "code" and SKIPPED not in (metadata.get("tags") or ())
    ]
    found = {
        check: by_id[check]
        for kind, source, *_ in cells
        if kind == "code"
        for _, check in CHECK_CALL.findall(source)
        if check in by_id
    }
    notes = {check: noted for check, noted in read_notes(path.parent).items() if check in found}
    now = _digest(path.parent / study.module)
    answers = [
        source
        for kind, source, metadata, _ in cells
        if kind == "markdown"
        and isinstance(metadata.get("nbgrader"), dict)
        and metadata["nbgrader"].get("solution")
    ]
    titles = (
        line[2:].strip()
        for kind, source, *_ in cells
        if kind == "markdown"
        for line in source.splitlines()
        if line.startswith("# ")
    )
    return Progress(
        path,
        next(titles, path.stem),
        tuple(found),
        earned=sum(noted["earned"] for noted in notes.values()),
        points=sum(check.max_points for check in found.values()),
        unchecked=tuple(check for check in found if check not in notes),
        changed=any(noted["module"] != now for noted in notes.values()),
        answered=sum(ANSWER_STUB not in source and bool(source.strip()) for source in answers),
        questions=len(answers),
        run=sum(code),
        cells=len(code),
    )


def _cells(path: Path) -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    """Kind, source and metadata of each cell, and whether it was run; nothing of what is none."""
    notebook = _json(path)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        match cell:
            case {"cell_type": str(kind), "source": str() | [*_] as source}:
                metadata = cell.get("metadata")
                yield (
                    kind,
                    "".join(map(str, source)),
                    metadata if isinstance(metadata, dict) else {},
                    cell.get("execution_count") is not None,
                )
