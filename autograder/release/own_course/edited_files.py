"""Which files an instructor has edited since a command wrote them.

The files are those of a course's version of a study, `my_course/studies/course/study3_*` and
`my_course/studies/autograder/studies/study3_*`, or those of an assignment in `my_course/source`.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from course.checks.study_paths import PUBLIC, STAFF

# `build` and `doctor` write them from the other files.
MEASURED = {"expected.json", "hidden_expected.json", "generated_mutants.json", "costs.md"}
Digests = Mapping[str, str]  # of files, by their paths


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files in a folder, sorted, except files that Python and Jupyter write."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not hidden:
            yield path


def folders_of(home: Path, study: str) -> list[Path]:
    """Return the folders of a version in `home`; none if the course has no version of the study."""
    return [path for part in (PUBLIC, STAFF) for path in sorted((home / part).glob(f"{study}_*"))]


def digests_of_files(home: Path, folders: Iterable[Path]) -> dict[str, str]:
    """Return a digest of each file in these folders of `home`, except measured replies."""
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for folder in folders
        for path in files_below(folder)
        if path.name not in MEASURED
    }


def edited_files(home: Path, folders: Iterable[Path], made: Digests) -> list[str]:
    """Return the files that were changed, added or removed since a command wrote these folders.

    Nothing is edited if the folders were deleted.
    """
    present = digests_of_files(home, folders)
    if not present:
        return []
    return sorted(
        path for path in present.keys() | made.keys() if present.get(path) != made.get(path)
    )
