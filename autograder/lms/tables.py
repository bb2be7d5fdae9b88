"""Reads and writes tables as CSV. A table that is written again keeps its delimiter, line ends, byte
order mark, and every cell that was not changed.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.errors import UserError

DELIMITERS = ",;\t"
MAX_BYTES = 20_000_000
BOM = "\ufeff"
QUOTED = re.compile(r'"(?:[^"]|"")*"')
SEPARATOR_LINE = re.compile(r"sep=([,;\t])\n")  # for Excel, before the header


@dataclass(frozen=True)
class Table:
    """A header and rows of text, with the form in which they were written.

    `lines` are the numbers of the rows' last lines, for messages.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...] = ()
    delimiter: str = ","
    newline: str = "\n"
    bom: bool = False

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield each row as a dictionary, with the number of its line.

        Missing cells are empty. The first of several columns with the same name counts.
        """
        for line, row in zip(self.lines, self.rows, strict=True):
            record: dict[str, str] = {}
            for number, name in enumerate(self.header):
                record.setdefault(name, row[number] if number < len(row) else "")
            yield line, record

    def with_cells(self, changes: list[dict[str, str]]) -> "Table":
        """Return the table with other cells: for each row, the new text of columns."""
        rows = []
        for row, cells in zip(self.rows, changes, strict=True):
            new = list(row) + [""] * (len(self.header) - len(row) if cells else 0)
            for name, cell in cells.items():
                new[self.header.index(name)] = cell
            rows.append(tuple(new))
        return replace(self, rows=tuple(rows))

    def text(self) -> str:
        """Return the table as CSV; `read_table` returns the same table for it."""
        file = io.StringIO()
        writer = csv.writer(file, delimiter=self.delimiter, lineterminator=self.newline)
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return BOM * self.bom + file.getvalue()


def load_table(path: Path, name: str) -> Table:
    """Return the table in a file, in UTF-8, or in UTF-16 with a byte order mark.

    Raises `UserError`, in which `name` describes the file, for example "the roster".
    """
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    if path.stat().st_size > MAX_BYTES:
        raise UserError(f"{path} has more than {MAX_BYTES:,} bytes, so it is not {name}")
    return read_table(decoded(path.read_bytes(), path), name)


def decoded(content: bytes, path: Path) -> str:
    """Return the text of a table file, including its byte order mark. Raises `UserError`."""
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if utf16 else "utf-8")
    except UnicodeDecodeError:
        raise UserError(f'{path} is not in UTF-8: save it as "CSV UTF-8"') from None


def read_table(text: str, name: str) -> Table:
    """Read CSV with commas, semicolons or tabs as delimiters. Raises `UserError` if it is malformed.

    Lines without text before the header and after the last row do not count.
    """
    bom, newline = text.startswith(BOM), "\r\n" if "\r\n" in text else "\n"
    text = text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    if separator := SEPARATOR_LINE.match(text):
        text = "\n" + text[separator.end() :]
    above = re.match(r"(?:[^\S\n]*\n)*", text)
    text, skipped = text[above.end() :], above[0].count("\n")  # type: ignore[index, union-attr]
    delimiter = _delimiter(text.partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(tuple(row))
            lines.append(skipped + reader.line_num)
    except csv.Error as error:  # an unclosed quotation mark would swallow the rest of the class
        raise UserError(
            f"from line {(lines[-1] if lines else skipped) + 1} on, {name} is not a valid table "
            f"({error}): look for a surplus quotation mark"
        ) from None
    kept = [(row, line) for row, line in zip(rows, lines, strict=True) if row]
    while kept and not any(cell.strip() for cell in kept[-1][0]):
        kept.pop()
    return Table(
        kept[0][0] if kept else (),
        tuple(row for row, _ in kept[1:]),
        tuple(line for _, line in kept[1:]),
        delimiter,
        newline,
        bom,
    )


def _delimiter(line: str) -> str:
    """Return the delimiter of a header; those inside quotation marks do not count."""
    return max(DELIMITERS, key=QUOTED.sub("", line).count)
