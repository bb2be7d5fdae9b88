"""The files of a public repository: what `publish` writes, and what the instructor changed there.

`published.json` in the repository records the id of each file that `publish` wrote. Files with
other names belong to the instructor, and so do changes of the recorded files.
"""

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.release.kit import GRADING, Contents
from autograder.release.public_course.git import PublishError, Repository
from course.checks import Study
from course.lab.progress import RESULTS_FILE
from course.lab.start_page import PAGE

RECORD = "published.json"
FORMAT = 1
WORKFLOWS = Path(__file__).parent / "workflows"
IN_REPOSITORY = ".github/workflows"
MERGED = (".md", ".yml")  # changes of the instructor and of the kit in such a file are merged
ANY_PYTHON = '"3.11"'  # in the workflows' sources
IGNORED = (
    ".venv/",
    "__pycache__/",
    ".ipynb_checkpoints/",
    ".pytest_cache/",
    RESULTS_FILE,
    PAGE,
)
NAMES_SHOWN = 3


@dataclass(frozen=True)
class Record:
    """What `publish` wrote: the version of the kit, the id of each file, and the site, if any."""

    version: str = ""
    files: dict[str, str] = field(default_factory=dict)
    site: dict[str, str] = field(default_factory=dict)  # "made_from" and "tree"
    merged: dict[str, str] = field(default_factory=dict)  # the kit's text of each merged file

    @classmethod
    def read(cls, repository: Repository) -> "Record | None":
        """Return the record in the last commit, or None if there is none; raises `PublishError`."""
        if not repository.read(f"HEAD:{RECORD}"):
            return None
        try:
            data: dict[str, Any] = json.loads(repository.blob(f"HEAD:{RECORD}"))
            if data.pop("format") != FORMAT:
                raise ValueError("another version of the kit wrote it")
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise PublishError(
                f"{repository.folder / RECORD} cannot be read ({error}): restore it from the last "
                "commit of `publish`, or publish into a new folder"
            ) from error

    def to_json(self) -> bytes:
        """Return the text of the file."""
        return (json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n").encode()


@dataclass
class Changes:
    """The difference between the repository and what `publish` writes."""

    written: dict[str, bytes] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # changed or deleted by the instructor
    merged: dict[str, str] = field(default_factory=dict)  # the kit's text of each merged file
    conflicts: dict[str, str] = field(default_factory=dict)  # the reason by path


def public_files(
    kit: Contents, wanted: Sequence[Study], repository: Repository, branch: str, has_site: bool
) -> dict[str, bytes]:
    """Return the files of the repository, except the record: the kit and what GitHub needs."""
    files = {
        **kit,
        # Without it, git could change the ends of lines.
        ".gitattributes": b"* -text\n",
        ".gitignore": "".join(f"{name}\n" for name in IGNORED).encode(),
        f"{IN_REPOSITORY}/check.yml": _check_workflow(kit, wanted, repository).encode(),
    }
    if has_site:
        pages = (WORKFLOWS / "pages.yml").read_text("utf-8").replace("BRANCH", branch)
        files[f"{IN_REPOSITORY}/pages.yml"] = pages.encode()
    return dict(sorted(files.items()))


def _check_workflow(kit: Contents, wanted: Sequence[Study], repository: Repository) -> str:
    """Return the workflow for students' repositories. With several studies, it checks only those
    that a student has begun. Its Python has the version of grading.
    """
    python = json.dumps(json.loads(kit[GRADING])["python"])
    if len(wanted) == 1:
        text = (WORKFLOWS / "check.yml").read_text("utf-8")
        return text.replace("STUDIES", wanted[0].name).replace(ANY_PYTHON, python)
    rows = []
    for study in wanted:
        stub = f"course/{study.assignment}/{study.module}"
        rows.append(f"{' ' * 10}{study.name} {repository.blob_id(kit[stub])} {stub}\n")
    begin, end = "<<'STUBS'\n", f"{' ' * 10}STUBS\n"
    text = (WORKFLOWS / "check_all.yml").read_text("utf-8").replace(ANY_PYTHON, python)
    return text.replace(begin + end, begin + "".join(rows) + end)


def changes(repository: Repository, files: Mapping[str, bytes], record: Record) -> Changes:
    """Compare the last commit of the repository with `files` and with its record."""
    former = record.files
    present = repository.tree(repository.read("HEAD"))
    present.pop(RECORD, None)
    difference = Changes()
    for path in _overlaps(present.keys() - former.keys(), files):
        difference.conflicts[path] = "you added it, and the kit needs this name"
    for path, data in files.items():
        if path not in difference.conflicts:
            _compare(repository, path, data, present.get(path), record, difference)
    for path in sorted(former.keys() - files.keys()):
        if path in present:
            (difference.deleted if present[path] == former[path] else difference.kept).append(path)
    return difference


def _compare(
    repository: Repository,
    path: str,
    data: bytes,
    present: str | None,
    record: Record,
    difference: Changes,
) -> None:
    """Add what must be done with one file of the kit to the changes."""
    new, former = repository.blob_id(data), record.files.get(path)
    if present == new:
        return
    if present == former:
        difference.written[path] = data  # new, or unchanged by the instructor
    elif former is None:
        difference.conflicts[path] = "you added it, and the kit has such a file"
    elif present is None or former == new:
        difference.kept.append(path)
        if path in record.merged:
            difference.merged[path] = record.merged[path]
    elif (merged := _merged(repository, path, data, present, record)) is not None:
        difference.written[path] = merged
        difference.kept.append(path)
        difference.merged[path] = data.decode()
    else:
        difference.conflicts[path] = (
            "you changed it, and it is different in this version of the kit"
        )


def _merged(
    repository: Repository, path: str, data: bytes, present: str, record: Record
) -> bytes | None:
    """Return a file with the changes of the instructor and of the kit; None if they conflict."""
    if not path.endswith(MERGED):
        return None
    if path in record.merged:
        former = record.merged[path].encode()
    elif repository.read(f"{record.files[path]}^{{blob}}"):
        former = repository.blob(record.files[path])
    else:
        return None
    with tempfile.TemporaryDirectory() as folder:
        texts = {"present": repository.blob(present), "former": former, "new": data}
        for name, text in texts.items():
            Path(folder, name).write_bytes(text)
        done = subprocess.run(
            ["git", "merge-file", "-p", "-q", *texts], cwd=folder, capture_output=True, check=False
        )
    return done.stdout if done.returncode == 0 else None


def _overlaps(own: set[str], files: Mapping[str, bytes]) -> list[str]:
    """Return the instructor's files that have the name of a folder of the kit, or the reverse."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    return sorted(
        path
        for path in own
        if path in folders or any(str(p) in files for p in PurePosixPath(path).parents)
    )


def first_names(paths: Sequence[str]) -> str:
    """Return the first of these paths for a message, and how many others there are."""
    more = len(paths) - NAMES_SHOWN
    return ", ".join(paths[:NAMES_SHOWN]) + (f" and {more} others" if more > 0 else "")
