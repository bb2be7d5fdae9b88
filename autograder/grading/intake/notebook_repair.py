"""Reads a submitted notebook and repairs values that nbformat's schema rejects.

Marking needs only the cells' sources and nbgrader metadata. Every other value that does not
validate is dropped or filled in. nbformat's validator decides; no editor is special-cased.
"""

import codecs
import copy
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from nbformat.corpus.words import generate_corpus_id
from nbformat.validator import normalize

from autograder.grading.intake.output_truncation import truncate
from autograder.sandbox.limits import MAX_BYTES
from common.messages import english

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
FALLBACK = "cp1252"  # the encoding of Windows editors that do not write Unicode
CELLS = re.compile(r'"cells"\s*:\s*\[')
BETWEEN_CELLS = re.compile(r"[\s,]*")
CELL_TYPES = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell, "raw": v4.new_raw_cell}
OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
MAX_METADATA = 100  # keys of a cell's invalid metadata that are validated one by one
MAX_KINDS = 4  # kinds of repairs that are listed


class UnreadableNotebook(ValueError):
    """A file cannot be read as a notebook; the message completes a sentence that begins with the
    file's name.
    """


def read_notebook(content: bytes) -> tuple[NotebookNode, str]:
    """Return the notebook in a file's bytes, made valid for nbformat 4.5, and a description of the
    repairs.

    The description completes a sentence that begins with the file's name; without repairs, it is
    "". Raises `UnreadableNotebook` if the file is not a notebook.
    """
    try:
        return _read(content)
    except UnreadableNotebook:
        raise
    except Exception as error:  # nbformat raises many errors, such as RecursionError
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableNotebook(english(f"is not a valid notebook ({first_line:.200})")) from None


def _read(content: bytes) -> tuple[NotebookNode, str]:
    text, encoding = _decoded(content)
    data, damage = _parsed(text)
    remarks = [remark for remark in (encoding, damage, truncate(data)) if remark]
    if not isinstance(data, dict):
        raise UnreadableNotebook(english("is not a valid notebook (its JSON is not an object)"))
    repairs: Counter[str] = Counter()
    if len(content) > MAX_BYTES:
        remarks += _without_outputs(data, len(content))
    if not isinstance(data.get("cells"), list):
        data = _converted(data)
    cells = [_repaired_cell(cell, repairs) for cell in data["cells"] if isinstance(cell, dict)]
    if len(cells) < len(data["cells"]):
        repairs[english("cell that is not an object")] += len(data["cells"]) - len(cells)
    plain = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    encoded = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")  # lone surrogates
    with warnings.catch_warnings(action="ignore"):  # about duplicate ids, which are replaced here
        notebook = nbformat.reads(encoded.decode(), as_version=4)
        _, notebook = normalize(notebook)
    nbformat.validate(notebook)
    if repairs:
        remarks.append(_repair_sentence(repairs))
    return notebook, " and ".join(remarks)


def _repair_sentence(repairs: Counter[str]) -> str:
    kinds = [
        english(f"{count} \N{MULTIPLICATION SIGN} {what}")
        for what, count in repairs.most_common(MAX_KINDS)
    ]
    if len(repairs) > MAX_KINDS:
        kinds.append(english(f"{len(repairs) - MAX_KINDS} more kinds"))
    return english(
        "did not follow the notebook format and was repaired; the text of its cells was kept ("
        + ", ".join(kinds)
        + ")"
    )


# ---- From bytes to plain data


def _decoded(content: bytes) -> tuple[str, str]:
    """Return the decoded text, and a remark if its encoding is not UTF-8."""
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if content.startswith(mark)), None)
    if encoding is None and content[:4].count(0) in (2, 3):  # because JSON begins with ASCII
        encoding = json.detect_encoding(content)
    if encoding:
        try:
            return content.decode(encoding), english(
                f"is encoded in {encoding.upper()} instead of UTF-8"
            )
        except UnicodeDecodeError:
            raise UnreadableNotebook(english(f"is not valid {encoding.upper()} text")) from None
    try:
        return content.decode("utf-8-sig"), ""  # editors on Windows write a byte order mark
    except UnicodeDecodeError as error:
        problem = english(f"is not UTF-8 text (byte {error.start})")
    try:
        text = content.decode(FALLBACK)
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        raise UnreadableNotebook(problem) from None
    return text, english(f"{problem} and was read as Windows-1252: check its accented letters")


def _parsed(text: str) -> tuple[Any, str]:
    """Return the value of a JSON text, and a remark if only part of the text could be parsed.

    If the text is truncated or damaged, every cell before the damage is kept.
    """
    decoder = json.JSONDecoder(strict=False, parse_constant=lambda _: None)  # NaN, Infinity
    try:
        return decoder.decode(text), ""
    except json.JSONDecodeError as error:
        place = english(f"(line {error.lineno}, column {error.colno})")
    start = len(text) - len(text.lstrip())
    try:
        data, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError:
        cells = list(_cells_before_damage(text, decoder))
        if not cells:
            raise UnreadableNotebook(english(f"is not valid JSON {place}")) from None
        return (
            {"cells": cells},
            english(
                f"is damaged {place}: only its first {len(cells)} "
                f"{'cell' if len(cells) == 1 else 'cells'} could be read"
            ),
        )
    if not (isinstance(data, dict) and data.get("cells")):
        raise UnreadableNotebook(english(f"is not valid JSON {place}"))
    return data, (
        english(
            f"has text after its end {place}, which was ignored ({len(text) - end:,} characters)"
        )
    )


def _cells_before_damage(text: str, decoder: json.JSONDecoder) -> Iterator[Any]:
    start = CELLS.search(text)
    place = start.end() if start else len(text)
    while True:
        if between := BETWEEN_CELLS.match(text, place):
            place = between.end()
        try:
            cell, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        if not (isinstance(cell, dict) and "cell_type" in cell):
            return
        yield cell


def _without_outputs(data: dict, size: int) -> list[str]:
    """Drop the outputs of a notebook that is too large. Raises `UnreadableNotebook` if the notebook
    is still too large without them.
    """
    cells = [
        cell
        for sheet in (data, *_list(data, "worksheets"))
        if isinstance(sheet, dict)
        for cell in _list(sheet, "cells")
        if isinstance(cell, dict)
    ]
    dropped = any(cell.get("outputs") for cell in cells)
    for cell in cells:
        if "outputs" in cell:
            cell["outputs"] = []
    data["metadata"] = {}  # not used
    text = sum(
        len(json.dumps({key: value for key, value in cell.items() if key != "attachments"}))
        for cell in cells
    )
    if text > MAX_BYTES:
        raise UnreadableNotebook(
            english(
                f"has {size:,} bytes: at most {MAX_BYTES:,} are allowed without outputs and pictures"
            )
        )
    return [english(f"has {size:,} bytes, and its outputs were dropped")] if dropped else []


def _list(data: dict, key: str) -> list:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _converted(data: dict) -> dict:
    """Convert a notebook of an older format to format 4; drop its outputs if nbformat fails."""
    if not _list(data, "worksheets"):
        raise UnreadableNotebook(english("is not a valid notebook (it has no list of cells)"))
    try:
        with warnings.catch_warnings(action="ignore"):
            return nbformat.convert(nbformat.reads(json.dumps(data), as_version=4), 4)
    except Exception:  # nbformat can raise any error, as in `read_notebook`
        sheets = [sheet for sheet in data["worksheets"] if isinstance(sheet, dict)]
        return {
            "cells": [
                {
                    "cell_type": cell.get("cell_type"),
                    "metadata": cell.get("metadata"),
                    "source": cell.get("input", cell.get("source")),
                }
                for sheet in sheets
                for cell in _list(sheet, "cells")
                if isinstance(cell, dict)
            ]
        }


# ---- Cells


def _repaired_cell(cell: dict, repairs: Counter[str]) -> dict:
    """Return a valid cell with the same text; the changes are counted in `repairs`."""
    cell = {**cell, "cell_type": _cell_type(cell, repairs), "source": _source(cell, repairs)}
    cell_id = cell.get("id")
    if not (isinstance(cell_id, str) and ID.fullmatch(cell_id)):
        if cell_id is not None:
            repairs[english("cell with an invalid id")] += 1
        cell["id"] = generate_corpus_id()  # formats before 4.5 have none
    if _is_valid_cell(cell):
        return cell
    outputs = cell.get("outputs")
    if cell["cell_type"] == "code" and isinstance(outputs, list):
        cell["outputs"] = [
            kept for output in outputs if (kept := _repaired_output(output, repairs)) is not None
        ]
    if isinstance(cell.get("metadata"), dict):
        cell["metadata"] = _repaired_metadata(cell["metadata"], repairs)
    template = dict(CELL_TYPES[cell["cell_type"]]())
    optional = () if cell["cell_type"] == "code" else ("attachments",)
    return _conformed("cell", cell, template, optional, _is_valid_cell, repairs)


def _cell_type(cell: dict, repairs: Counter[str]) -> str:
    kind = cell.get("cell_type")
    if isinstance(kind, str) and kind in CELL_TYPES:
        return kind
    repairs[english("cell of an unknown type")] += 1
    if isinstance(kind, str) and kind.strip().lower() in CELL_TYPES:
        return kind.strip().lower()
    return "code" if cell.get("outputs") or cell.get("execution_count") else "markdown"


def _source(cell: dict, repairs: Counter[str]) -> str:
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    if "source" not in cell or not all(isinstance(line, str) for line in lines):
        repairs[english("cell whose source is not text")] += 1
    return "".join(str(line) for line in lines if isinstance(line, (str, int, float)))


def _repaired_output(output: Any, repairs: Counter[str]) -> dict | None:
    """Return a valid output, or None if it cannot be repaired."""
    if _is_valid_output(output):
        return output
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind not in OUTPUT_TYPES:
        repairs[english("invalid output")] += 1
        return None
    return _conformed("output", output, dict(v4.new_output(kind)), (), _is_valid_output, repairs)


def _repaired_metadata(metadata: dict, repairs: Counter[str]) -> dict:
    def is_valid(key: str) -> bool:
        return _is_valid_cell({**v4.new_raw_cell(), "metadata": {key: metadata[key]}})

    validated = set(list(metadata)[:MAX_METADATA])
    kept = {
        key: value
        for key, value in metadata.items()
        if key == "nbgrader" or (key in validated and is_valid(key))
    }
    repairs[english("cell with invalid metadata")] += len(kept) < len(metadata)
    return kept


def _conformed(
    what: str,
    data: dict,
    template: dict,
    optional: tuple[str, ...],
    is_valid: Callable[[dict], bool],
    repairs: Counter[str],
) -> dict:
    """Return `template` with those values of `data` that are valid in it."""
    result = dict(template)
    for key in (*template, *optional):
        if key not in data:
            repairs[english(f"{what} without {key}")] += key in template
        elif is_valid({**template, key: data[key]}):
            result[key] = data[key]
        else:
            repairs[english(f"{what} with an invalid {key}")] += 1
    for key in set(data) - set(template) - set(optional):
        repairs[english(f"{what} with an unexpected {_short(key)}")] += 1
    repairs += Counter()  # drops zero counts
    return result


def _short(key: str) -> str:
    return repr(key if len(key) <= 30 else f"{key[:27]}...").encode("ascii", "replace").decode()


def _is_valid_output(output: Any) -> bool:
    return _is_valid_cell({**v4.new_code_cell(), "outputs": [output]})


def _is_valid_cell(cell: dict) -> bool:
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [copy.copy(cell)]}
    try:
        with warnings.catch_warnings(action="ignore"):
            nbformat.validate(notebook)
    except Exception:  # a ValidationError; of deep data RecursionError, of odd keys TypeError
        return False
    return True
