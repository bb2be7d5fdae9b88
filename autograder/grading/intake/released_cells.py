"""Restores the released metadata of a submitted notebook's cells and finds written answers that are
in the wrong cell.
"""

import ast
import copy
from collections import Counter
from collections.abc import Container, Iterator, Mapping

from nbformat import NotebookNode
from nbformat.corpus.words import generate_corpus_id

from common.messages import english
from common.syntax import parse_python

MAX_LISTED = 3  # cells in one sentence


def graded_ids(notebook: NotebookNode) -> set[str]:
    """Return the ids by which nbgrader identifies the notebook's cells."""
    return set(_nbgrader_cells(notebook))


def holds_cells_of(notebook: NotebookNode, released: NotebookNode) -> bool:
    """Whether a notebook is a copy of the released one, regardless of its name."""
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
    """Whether a cell of the release is for a written answer, which a person marks."""
    marked = cell.metadata.get("nbgrader", {})
    return (
        cell.cell_type != "code"
        and bool(marked.get("grade"))
        and bool(marked.get("solution") or marked.get("task"))
    )


def restore_metadata(notebook: NotebookNode, released: NotebookNode, name: str) -> list[str]:
    """Give every cell the release's nbgrader metadata, and remove tags, which can skip cells.

    The notebook's own metadata also comes from the release, and the metadata of outputs is removed,
    because pages that show a notebook turn both into HTML. A written answer next to its cell is
    moved into it.
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
    counts = _nbgrader_cells(notebook)
    messages = [
        *_resolve_copies(notebook, known, counts),
        *_put_back_deleted(notebook, released, counts),
        *_move_answers(notebook, released),
    ]
    return [english(f"{name}: {message}") for message in messages]


def answer_cells(notebook: NotebookNode, released: NotebookNode) -> dict[str, NotebookNode]:
    """Return the cells of a notebook, by grade id, that hold written answers according to the
    released notebook.
    """
    ids = {_grade_id(cell) for cell in released.cells if _is_answer(cell)}
    cells = ((_grade_id(cell), cell) for cell in notebook.cells)
    return {name: cell for name, cell in cells if name is not None and name in ids}


def take_answers(
    notebook: NotebookNode, released: NotebookNode, others: Mapping[str, NotebookNode]
) -> list[str]:
    """Fill untouched answer cells from the cells `others`, by grade id; return the ids of the
    filled cells.

    Another notebook may contain the answers of this one if it was released before this one was
    split off from it.
    """
    answers, filled = answer_cells(released, released), []
    for name, cell in answer_cells(notebook, released).items():
        other = others.get(name)
        if other is None or not _is_untouched(cell, answers[name]) or cell.get("attachments"):
            continue
        if not _is_untouched(other, answers[name]) or other.get("attachments"):
            cell.source = other.source
            if "attachments" in other:
                cell.attachments = other.attachments
            filled.append(name)
    return filled


def _resolve_copies(
    notebook: NotebookNode, known: Mapping[str, NotebookNode], counts: Counter[str]
) -> Iterator[str]:
    """Keep the nbgrader metadata of only one cell for each grade id; yield sentences that report
    this.
    """
    for grade_id, count in sorted(counts.items()):
        if count > 1:
            copies = [cell for cell in notebook.cells if _grade_id(cell) == grade_id]
            kept, which = _choose_copy(copies, known[grade_id])
            for cell in copies:
                if cell is not kept:
                    del cell.metadata["nbgrader"]
            yield english(f"the cell {grade_id} occurs {count} times; {which} counts")


def _put_back_deleted(
    notebook: NotebookNode, released: NotebookNode, present: Container[str]
) -> Iterator[str]:
    """Insert the graded cells of the release that are not `present`; yield sentences that report
    this.
    """
    for index, cell in enumerate(released.cells):
        grade_id = _grade_id(cell)
        if grade_id is None or grade_id in present:
            continue
        used_ids = {other.id for other in notebook.cells}
        restored = NotebookNode(
            copy.deepcopy(cell), id=generate_corpus_id() if cell.id in used_ids else cell.id
        )
        place = _place_of(index, notebook, released) if _is_answer(cell) else None
        notebook.cells.insert(len(notebook.cells) if place is None else place, restored)
        is_last = place in (None, len(notebook.cells) - 1)
        where = english("at the end" if is_last else "where it was")
        yield english(f"the cell {grade_id} was deleted; it was put back {where}")


def _recognise_by_id(notebook: NotebookNode, released: NotebookNode) -> None:
    """Restore dropped nbgrader metadata of answers, which are recognised by their cell ids."""
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


def _choose_copy(copies: list[NotebookNode], released: NotebookNode) -> tuple[NotebookNode, str]:
    """Return the last copy or, for a written answer, the last copy in which something was written."""
    written = [cell for cell in copies if not _is_untouched(cell, released)]
    if not released.metadata.nbgrader.get("solution") or not written or written[-1] is copies[-1]:
        return copies[-1], english("the last one")
    return written[-1], english("the last one with an answer in it")


def _is_untouched(cell: NotebookNode, released: NotebookNode) -> bool:
    return cell.source.strip() in ("", released.source.strip())


# ---- Written answers in the wrong cells


def _move_answers(notebook: NotebookNode, released: NotebookNode) -> Iterator[str]:
    """Move text that was written next to an untouched answer cell into that cell; yield sentences
    that report this.

    Cells are compared with the released text to find new cells, and text that was added to a
    released cell.
    """
    answers = {_grade_id(cell): cell for cell in released.cells if _is_answer(cell)}
    known = _KnownCells(released)
    moved: set[int] = set()  # places of cells whose text was moved
    unanswered: list[str] = []
    for place, cell in enumerate(notebook.cells):
        name = _grade_id(cell)
        answer = answers.get(name)
        if (
            name is None
            or answer is None
            or not _is_untouched(cell, answer)
            or cell.get("attachments")
        ):
            continue
        sources = [near for near in _near(place, notebook, known) if near not in moved]
        if not sources:
            unanswered.append(name)
            continue
        moved |= set(sources)
        _fill(cell, [notebook.cells[near] for near in sources], known)
        yield english(
            f"{name} is unchanged, so the text in the "
            f"{'cell' if len(sources) == 1 else f'{len(sources)} cells'} "
            f"{'below' if sources[0] > place else 'above'} it was taken as the answer"
        )
    if message := _unanswered_message(unanswered, _count_new_texts(notebook, known, moved)):
        yield message


def _fill(answer: NotebookNode, sources: list[NotebookNode], known: "_KnownCells") -> None:
    """Write the text of other cells, with their attachments, into an answer cell."""
    answer.source = "\n\n".join(known.words(cell) for cell in sources)
    attachments = {
        key: value for cell in sources for key, value in cell.get("attachments", {}).items()
    }
    if attachments:
        answer.attachments = NotebookNode(attachments)


def _count_new_texts(notebook: NotebookNode, known: "_KnownCells", moved: set[int]) -> int:
    """Return the number of new cells with text that were not moved."""
    return sum(
        place not in moved
        and cell.cell_type != "code"
        and bool(known.words(cell))
        and known.is_new(cell)
        for place, cell in enumerate(notebook.cells)
    )


def _unanswered_message(unanswered: list[str], new_texts: int) -> str:
    """Return a sentence about unchanged answers if the notebook has text in other cells; otherwise
    "".
    """
    if not unanswered or not new_texts:
        return ""
    ids = ", ".join(unanswered[:MAX_LISTED]) + (" ..." if unanswered[MAX_LISTED:] else "")
    return english(
        f"{ids} {'is' if len(unanswered) == 1 else 'are'} unchanged, but there is text in "
        f"{new_texts} new {'cell' if new_texts == 1 else 'cells'} elsewhere in the notebook: "
        "check whether it contains an answer"
    )


class _KnownCells:
    """The cells of the release, used to recognise what students added."""

    def __init__(self, released: NotebookNode) -> None:
        self._ids = {cell.id: cell for cell in released.cells}
        self._grade_ids = {_grade_id(cell): cell for cell in released.cells if _grade_id(cell)}
        self._sources = {cell.source.strip() for cell in released.cells}

    def _of(self, cell: NotebookNode) -> NotebookNode | None:
        return self._grade_ids.get(_grade_id(cell)) or self._ids.get(cell.id)

    def is_new(self, cell: NotebookNode) -> bool:
        """Whether a cell is new, and not an edited cell of the release."""
        return self._of(cell) is None and cell.source.strip() not in self._sources

    def words(self, cell: NotebookNode) -> str:
        """Return the part of a cell's text that is not in the release, or "" if there is none."""
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
    """Whether an edit only removed words."""
    return not set(source.split()) - set(before.split())


def _is_prose(source: str) -> bool:
    """Whether a code cell contains text instead of code, that is, it does not parse or has no
    effect.
    """
    if not any(map(str.isalpha, source)) or source.lstrip().startswith(("%", "!")):
        return False
    try:
        body = parse_python(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " " in source
    return all(
        isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Constant)
        and isinstance(each.value.value, str)
        for each in body
    )


def _near(place: int, notebook: NotebookNode, known: _KnownCells) -> list[int]:
    """Return the places of cells with text directly below or above a cell, up to the next released
    cell.

    The released cell above is included, because it may be a question to which the student has added
    the answer.
    """
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
    with_text = [near for near in below if known.words(cells[near])]
    return with_text or sorted(near for near in above if known.words(cells[near]))


def _place_of(index: int, notebook: NotebookNode, released: NotebookNode) -> int | None:
    """Return the place at which a deleted cell is inserted, which is after the nearest earlier cell
    in the notebook.
    """
    for earlier in reversed(released.cells[:index]):
        for place, cell in enumerate(notebook.cells):
            if cell.id == earlier.id or (
                _grade_id(earlier) is not None and _grade_id(cell) == _grade_id(earlier)
            ):
                return place + 1
    return None
