"""What the course folder remembers of the learning management systems, in JSON files.

`canvas.json` has the columns by which Canvas identifies students. `lms.json` has the columns of
assignments in Canvas, the participants of Moodle's assignments, and the students' names on GitHub.
"""

import json
from collections.abc import Mapping
from typing import Any

from autograder.course_folder import CourseFolder, CourseFolderError
from autograder.grading.records.ledger import write_json

FILE = "lms.json"


def read_store(folder: CourseFolder, name: str = FILE) -> dict[str, Any]:
    """Return the contents of a file; empty if there is none. Raises `CourseFolderError`."""
    path = folder.root / name
    if not path.is_file():
        return {}
    try:
        stored = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise CourseFolderError(
            f"{path} cannot be read ({error}): import the roster from Canvas again"
            if name != FILE
            else f"{path} cannot be read ({error}): remove it, and import the files again"
        ) from error
    if not isinstance(stored, dict):
        raise CourseFolderError(
            f"{path} is not a JSON object: remove it, and import the files again"
        )
    return stored


def update_store(folder: CourseFolder, name: str, changes: Mapping[str, Any]) -> None:
    """Add keys to a file, or replace them."""
    if changes:
        write_json(folder.root / name, {**read_store(folder, name), **changes})


def section(folder: CourseFolder, key: str) -> dict[str, Any]:
    """Return a section of `lms.json`, which is an object; empty if there is none."""
    value = read_store(folder).get(key, {})
    return value if isinstance(value, dict) else {}


def update_section(folder: CourseFolder, key: str, changes: Mapping[str, Any]) -> None:
    """Add entries to a section of `lms.json`, or replace them."""
    if changes:
        update_store(folder, FILE, {key: {**section(folder, key), **changes}})
