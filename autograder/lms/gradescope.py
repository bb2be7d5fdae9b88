"""Gradescope: the roster, and the archive of an assignment's submissions.

- "Adding Students and Staff": a roster has a name in one column or in two, a unique email address, and
  optionally a student id, a role and sections. The downloaded file calls them First Name, Last Name,
  SID, Email, Role and Sections.
  https://guides.gradescope.com/hc/en-us/articles/21926598776333-Adding-Students-and-Staff
- *Download Submissions* makes an archive with a folder for each submission and a file
  `submission_metadata.yml`, which names the submitters of each folder and the time. Gradescope does
  not document this file (https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/
  describes another one, for autograders). Its keys are those that these public tools read:
  `otter/metadata.py` in Otter-Grader (:submitters, :name),
  https://github.com/ucbds-infra/otter-grader/blob/0e0bfbfe9809d5dc5baadc0072d67c5bcf25cfdd/otter/metadata.py
  Gradescope Sleuth 2 (:submitters, :name, :sid, :email, :created_at, :score, :history),
  https://github.com/donnell-f/gradescope-sleuth-2/blob/01879e3c8c8a9d0b586448d846ab4c586e5e8720/backend/configuration/configure_new_database.py
  and Provenance, which also describes the file as YAML of Ruby's Psych, with :results:
  https://github.com/itsgeagle/provenance/blob/2b28b7a940e7efdad777daa6fc34cbd382917786/packages/server/src/services/ingest/gradescope/parse-metadata.ts
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from autograder.lms.uploads import FilePart, Hint, Owner, Upload
from autograder.times import TimeError, parse_due

METADATA = "submission_metadata.yml"
MAX_METADATA = 50_000_000  # bytes; it contains the results of every autograder run
KEPT = (":submitters:", ":created_at:")
KEY = re.compile(r"  (:\w+:)")
FRACTION = re.compile(r"(\.\d{6})\d+")
NAMES = ("Name", "Full Name")


class MetadataError(ValueError):
    """The metadata cannot be read."""


def is_roster(head: Iterable[str]) -> bool:
    """Whether the column names are those of Gradescope's roster."""
    names = {*head}
    has_name = bool(names & {*NAMES}) or {"First Name", "Last Name"} <= names
    return has_name and "Email" in names and bool(names & {"SID", "Role"}) and "id" not in names


def is_student(row: Mapping[str, str]) -> bool:
    """Whether a row belongs to a student, and not to an instructor, TA or reader."""
    return row.get("Role", "").strip().lower() in ("", "student") and any(
        row.get(column, "").strip() for column in ("SID", "Email")
    )


def roster_fields(row: Mapping[str, str]) -> dict[str, str]:
    """Return the id, names and address of a student. The id is the SID, or the address without one.

    >>> roster_fields({"Name": "Ada Byron", "SID": "s1", "Email": "ada@example.org"})
    {'id': 's1', 'first_name': 'Ada', 'last_name': 'Byron', 'email': 'ada@example.org'}
    """
    name = next((row[column] for column in NAMES if column in row), "").strip()
    first, _, last = name.rpartition(" ")
    email = row.get("Email", "").strip()
    sections = [row[column].strip() for column in ("Section", "Sections") if column in row]
    return {
        "id": row.get("SID", "").strip() or email,
        "first_name": row.get("First Name", first).strip(),
        "last_name": row.get("Last Name", last).strip(),
        "email": email,
        **dict.fromkeys(["section"] if sections else [], ", ".join(filter(None, sections))),
    }


def read_uploads(parts: Iterable[FilePart]) -> list[Upload]:
    """Return the submissions in an archive. A submission of a group has several owners.

    Raises `MetadataError`.
    """
    listed = list(parts)
    uploads = {}
    for part in listed:
        if part.name.name == METADATA and len(part.name.parts) == 1:
            uploads = {upload.label: upload for upload in _described(part)}
    for part in listed:
        folder, *inside = part.name.parts
        if inside and folder in uploads:
            uploads[folder].add("/".join(inside), part)
    return list(uploads.values())


def _described(part: FilePart) -> Iterator[Upload]:
    """Yield the submissions that the metadata describes, without files."""
    with part.open() as file:
        content = file.read(MAX_METADATA + 1)
    if len(content) > MAX_METADATA:
        raise MetadataError(f"{METADATA} has more than {MAX_METADATA:,} bytes")
    try:
        data = yaml.load("".join(_relevant(content.decode("utf-8-sig"))), yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise MetadataError(f"{METADATA} cannot be read ({' '.join(str(error).split())})") from None
    if not isinstance(data, dict):
        raise MetadataError(f"{METADATA} describes no submissions")
    for label, entry in data.items():
        submitters = entry.get(":submitters") if isinstance(entry, dict) else None
        owners = tuple(map(_owner, submitters)) if isinstance(submitters, list) else ()
        upload = Upload(str(label), owners)
        upload.time = _time(entry.get(":created_at", "")) if isinstance(entry, dict) else None
        yield upload


def _relevant(text: str) -> Iterator[str]:
    """Yield the lines with submitters and times; the others contain students' output, and are long.

    Empty lines in the output belong to it, and so do characters that Python takes for line breaks.
    """
    kept = True
    for line in io.StringIO(text):
        if not line.startswith(" ") and line.strip():
            kept = True
        elif match := KEY.match(line):
            kept = match[1] in KEPT
        if kept:
            yield line


def _owner(submitter: Any) -> Owner:
    """Return how Gradescope identifies a submitter. All values are text, as in the file."""
    if not isinstance(submitter, dict):
        return ()
    sid, email, name = (str(submitter.get(f":{key}", "")) for key in ("sid", "email", "name"))
    return Hint("id", sid, name), Hint("email", email, name), Hint("name", name, name)


def _time(text: Any) -> datetime | None:
    """Return a time such as "2026-03-02 09:00:00.123456789 Z"; None if it cannot be read."""
    try:
        return parse_due(FRACTION.sub(r"\1", str(text)), UTC)
    except TimeError:
        return None
