"""Cuts from a notebook what is so much that each later step would take minutes with it."""

from typing import Any

MAX_CELLS = 1_000  # of those that are marked, and of all others
MAX_OUTPUTS = 1_000  # of all cells together


def cut(notebook: Any) -> str:
    """Shorten a notebook, given as the plain data of its file, which may be anything.

    Returns in words what was left out, "" for nothing. Of marked cells the last ones stay, since of
    copies the last one counts.
    """
    said = []
    sheets = [notebook, *_dicts(notebook, "worksheets")]  # where format 3 has its cells
    for sheet in sheets:
        cells = _dicts(sheet, "cells")
        if len(cells) > MAX_CELLS:
            marked = [i for i, cell in enumerate(cells) if _is_marked(cell)]
            others = [i for i, cell in enumerate(cells) if not _is_marked(cell)]
            stay = sorted(marked[-MAX_CELLS:] + others[:MAX_CELLS])
            if len(stay) < len(cells):
                said.append(f"has {len(cells):,} cells, of which {len(stay):,} were kept")
                sheet["cells"] = [cells[i] for i in stay]
    with_outputs = [
        cell
        for sheet in sheets
        for cell in _dicts(sheet, "cells")
        if isinstance(cell.get("outputs"), list)
    ]
    outputs = sum(len(cell["outputs"]) for cell in with_outputs)
    if outputs > MAX_OUTPUTS:
        for cell in with_outputs:
            cell["outputs"] = []
        said.append(f"has {outputs:,} outputs, which were left out")
    return " and ".join(said)


def _dicts(data: Any, key: str) -> list[dict]:
    inner = data.get(key) if isinstance(data, dict) else None
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def _is_marked(cell: dict) -> bool:
    metadata = cell.get("metadata")
    return isinstance(metadata, dict) and "nbgrader" in metadata
