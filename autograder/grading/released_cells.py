"""Gives the cells of a submitted notebook the metadata of the release, and finds written answers
that are not in the cell that was meant for them."""

import ast
import copy
from collections import Counter
from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id

from course.probes.syntax import parsed

MAX_NAMED = 3  # of cells in one sentence


def graded_ids(notebook: NotebookNode) -> set[str]:
    """The ids that nbgrader knows the notebook's cells by."""
    return set(_nbgrader_cells(notebook))


def holds_cells_of(notebook: NotebookNode, released: NotebookNode) -> bool:
    """Whether a notebook is a copy of the released one, by whatever name."""
    answers = {cell.id for cell in released.cells if _is_answer(cell)}
    return bool(
        graded_ids(notebook) & graded_ids(released)
        or answers & {cell.id for cell in notebook.cells}
    )


def _nbgrader_cells(notebook: NotebookNode) -> Counter:
    marked = [cell.metadata.get("nbgrader") for cell in notebook.cells]
    return Counter(str(m["grade_id"]) for m in marked if isinstance(m, dict) and "grade_id" in m)


def _grade_id(cell: NotebookNode) -> str | None:
    marked = cell.metadata.get("nbgrader")
    return str(marked.get("grade_id")) if isinstance(marked, dict) else None


def _is_answer(cell: NotebookNode) -> bool:
    """Whether a cell of the release is a written answer: prose that a person marks."""
    marked = cell.metadata.get("nbgrader", {})
    return (
        cell.cell_type != "code"
        and bool(marked.get("grade"))
        and bool(marked.get("solution") or marked.get("task"))
    )


def restore_metadata(notebook: NotebookNode, released: NotebookNode, name: str) -> list[str]:
    """Give every cell the release's nbgrader metadata, and remove tags, which can skip cells.

    The notebook's own metadata come from the release too, and those of outputs are removed: pages
    that show a notebook turn both into HTML. A written answer next to its cell is moved into it.
    """
    notebook.metadata = copy.deepcopy(released.metadata)
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "metadata" in output:
            output.metadata = NotebookNode()
    known = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in released.cells
        if "nbgrader" in cell.metadata
    }
    _recognise_by_id(notebook, released)
    for index, cell in enumerate(notebook.cells):
        grade_id = _grade_id(cell)
        cell.metadata.pop("nbgrader", None)
        cell.metadata.pop("tags", None)
        if grade_id in known:
            cell.metadata["nbgrader"] = known[grade_id].metadata.nbgrader
            if cell.cell_type != known[grade_id].cell_type:
                notebook.cells[index] = _of_released_type(cell, known[grade_id])
    problems, seen = [], _nbgrader_cells(notebook)
    for grade_id, count in sorted(seen.items()):
        if count > 1:
            copies = [cell for cell in notebook.cells if _grade_id(cell) == grade_id]
            counts, which = _the_one_that_counts(copies, known[grade_id])
            for cell in copies:
                if cell is not counts:
                    del cell.metadata["nbgrader"]
            problems.append(f"{name}: the cell {grade_id} occurs {count} times; {which} counts")
    for index, cell in enumerate(released.cells):
        grade_id = _grade_id(cell)
        if grade_id is not None and grade_id not in seen:
            taken = {other.id for other in notebook.cells}
            restored = NotebookNode(
                copy.deepcopy(cell), id=generate_corpus_id() if cell.id in taken else cell.id
            )
            place = _place_of(index, notebook, released) if _is_answer(cell) else None
            notebook.cells.insert(len(notebook.cells) if place is None else place, restored)
            problems.append(
                f"{name}: the cell {grade_id} was deleted; it was put back "
                + ("at the end" if place in (None, len(notebook.cells) - 1) else "where it was")
            )
    return problems + [f"{name}: {said}" for said in _move_answers(notebook, released)]


def _recognise_by_id(notebook: NotebookNode, released: NotebookNode) -> None:
    """Give answers their nbgrader metadata if an editor has dropped it, by the cells' own ids."""
    answers = {cell.id: cell for cell in released.cells if _is_answer(cell)}
    seen = graded_ids(notebook)
    for cell in notebook.cells:
        answer = answers.get(cell.id)
        if answer and _grade_id(answer) not in seen and "nbgrader" not in cell.metadata:
            cell.metadata["nbgrader"] = copy.deepcopy(answer.metadata.nbgrader)


def _of_released_type(cell: NotebookNode, released: NotebookNode) -> NotebookNode:
    restored = NotebookNode(copy.deepcopy(released), id=cell.id, source=cell.source)
    if "attachments" in cell and released.cell_type != "code":
        restored.attachments = cell.attachments
    return restored


def _the_one_that_counts(
    copies: list[NotebookNode], released: NotebookNode
) -> tuple[NotebookNode, str]:
    """The last copy; of written answers the last in which something was written."""
    written = [cell for cell in copies if not _is_untouched(cell, released)]
    if not released.metadata.nbgrader.get("solution") or not written or written[-1] is copies[-1]:
        return copies[-1], "the last one"
    return written[-1], "the last one with an answer in it"


def _is_untouched(cell: NotebookNode, released: NotebookNode) -> bool:
    return cell.source.strip() in ("", released.source.strip())


# ---- Written answers in other cells


def _move_answers(notebook: NotebookNode, released: NotebookNode) -> Iterator[str]:
    """Move what was written next to an untouched answer cell into it; yields sentences.

    Which cells are new, and what was added to a released one, is decided by the released text.
    """
    answers = {_grade_id(cell): cell for cell in released.cells if _is_answer(cell)}
    known = _KnownCells(released)
    used: set[int] = set()  # places of cells that were moved
    waiting = []
    for place, cell in enumerate(notebook.cells):
        answer = answers.get(_grade_id(cell))
        if answer is None or not _is_untouched(cell, answer) or cell.get("attachments"):
            continue
        found = [near for near in _near(place, notebook, known) if near not in used]
        if not found:
            waiting.append(_grade_id(cell))
            continue
        used |= set(found)
        cells = [notebook.cells[near] for near in found]
        cell.source = "\n\n".join(known.words(near) for near in cells)
        if attached := {
            key: value for near in cells for key, value in near.get("attachments", {}).items()
        }:
            cell.attachments = NotebookNode(attached)
        where = "below" if found[0] > place else "above"
        what = "cell" if len(found) == 1 else f"{len(found)} cells"
        yield (
            f"{_grade_id(cell)} is unchanged, so the text in the {what} {where} it was taken "
            "as the answer"
        )
    others = [
        place
        for place, cell in enumerate(notebook.cells)
        if place not in used
        and cell.cell_type != "code"
        and known.words(cell)
        and known.is_new(cell)
    ]
    if waiting and others:
        ids = ", ".join(waiting[:MAX_NAMED]) + (" ..." if waiting[MAX_NAMED:] else "")
        are = "is" if len(waiting) == 1 else "are"
        yield (
            f"{ids} {are} unchanged, but there is text in {len(others)} new "
            f"{'cell' if len(others) == 1 else 'cells'} elsewhere in the notebook: check "
            "whether it holds an answer"
        )


class _KnownCells:
    """What the release holds, to tell what students added."""

    def __init__(self, released: NotebookNode) -> None:
        self._ids = {cell.id: cell for cell in released.cells}
        self._grade_ids = {_grade_id(cell): cell for cell in released.cells if _grade_id(cell)}
        self._sources = {cell.source.strip() for cell in released.cells}

    def _of(self, cell: NotebookNode) -> NotebookNode | None:
        return self._grade_ids.get(_grade_id(cell)) or self._ids.get(cell.id)

    def is_new(self, cell: NotebookNode) -> bool:
        """Whether a cell is none of the release's, edited or not."""
        return self._of(cell) is None and cell.source.strip() not in self._sources

    def words(self, cell: NotebookNode) -> str:
        """The prose in a cell that is not in the release; "" if there is none."""
        source, before = cell.source.strip(), self._of(cell)
        if source in self._sources or (before is not None and before.cell_type == "code"):
            return ""
        if before is not None and (
            "nbgrader" in before.metadata and before.metadata.nbgrader.get("grade")
        ):
            return ""  # an answer, a task or a check has its own marks
        if before is not None and before.source.strip() in source:
            return source.replace(before.source.strip(), "", 1).strip()
        if before is not None and cell.cell_type == before.cell_type:
            return "" if _is_shorter(source, before.source.strip()) else source
        return source if cell.cell_type != "code" or _is_prose(source) else ""


def _is_shorter(source: str, before: str) -> bool:
    """Whether an edited cell only lost words."""
    return not set(source.split()) - set(before.split())


def _is_prose(source: str) -> bool:
    """Whether a code cell holds words instead of code: it does not parse, or does nothing."""
    if not any(map(str.isalpha, source)) or source.lstrip().startswith(("%", "!")):
        return False
    try:
        body = parsed(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " " in source
    return all(
        isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Constant)
        and isinstance(each.value.value, str)
        for each in body
    )


def _near(place: int, notebook: NotebookNode, known: _KnownCells) -> list[int]:
    """The places of cells with words right above and below a cell, up to the next released ones;
    the last one above may be the question itself, with words added to it."""
    cells = notebook.cells
    below = []
    for near in range(place + 1, len(cells)):
        if not known.is_new(cells[near]):
            break
        below.append(near)
    above = []
    for near in range(place - 1, -1, -1):
        above.append(near)
        if not known.is_new(cells[near]):
            break
    found = [near for near in below if known.words(cells[near])]
    return found or sorted(near for near in above if known.words(cells[near]))


def _place_of(index: int, notebook: NotebookNode, released: NotebookNode) -> int | None:
    """Where a deleted cell of the release belongs: after the nearest earlier one that is there."""
    for earlier in reversed(released.cells[:index]):
        for place, cell in enumerate(notebook.cells):
            if cell.id == earlier.id or (
                _grade_id(earlier) is not None and _grade_id(cell) == _grade_id(earlier)
            ):
                return place + 1
    return None
