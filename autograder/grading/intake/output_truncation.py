"""Drops excess cells and outputs of a notebook, which would slow down each later step by minutes."""

from typing import Any

MAX_CELLS = 1_000  # the limit for marked cells, and for all other cells
MAX_OUTPUTS = 1_000  # the limit for all cells together


def truncate(notebook: Any) -> str:
    """Shorten a notebook, given as the data parsed from its file; the data may have any structure.

    Returns a description of what was dropped, or "" if nothing was. The last marked cells are kept,
    because the last of several copies counts.
    """
    remarks = []
    sheets = [notebook, *_dicts(notebook, "worksheets")]  # format 3 has its cells in worksheets
    for sheet in sheets:
        cells = _dicts(sheet, "cells")
        kept = _kept_cells(cells)
        if len(kept) < len(cells):
            remarks.append(f"has {len(cells):,} cells, of which {len(kept):,} were kept")
            sheet["cells"] = kept
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
        remarks.append(f"has {outputs:,} outputs, which were dropped")
    return " and ".join(remarks)


def _kept_cells(cells: list[dict]) -> list[dict]:
    """Return the last marked cells and the first other cells, at most `MAX_CELLS` of each."""
    marked = [i for i, cell in enumerate(cells) if _is_marked(cell)]
    others = [i for i, cell in enumerate(cells) if not _is_marked(cell)]
    return [cells[i] for i in sorted(marked[-MAX_CELLS:] + others[:MAX_CELLS])]


def _dicts(data: Any, key: str) -> list[dict]:
    inner = data.get(key) if isinstance(data, dict) else None
    return [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []


def _is_marked(cell: dict) -> bool:
    metadata = cell.get("metadata")
    return isinstance(metadata, dict) and "nbgrader" in metadata
