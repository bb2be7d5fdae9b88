"""Lists the files of an archive or a folder within limits. No name in it decides where a file is
written.
"""

import os
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from autograder.errors import UserError
from autograder.grading.intake.submission_files import MAX_NAME, MAX_NOTEBOOK
from autograder.lms.uploads import FilePart
from autograder.sandbox.limits import MAX_BYTES

MAX_PARTS = 100_000  # files in an archive
MAX_RATIO = 200  # times that a file may be larger than in the archive
SMALL = 1_000_000  # bytes; a smaller file may be compressed more
JUNK = "__MACOSX"
RESERVED = {"con", "prn", "aux", "nul"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)
}  # names of devices in Windows
OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")


@contextmanager
def open_source(path: Path) -> Iterator[list[FilePart]]:
    """Open an archive or a folder that a system made, and list its files.

    Raises `UserError` if it is neither, or has too many files.
    """
    if path.is_dir():
        yield _within_limit(_in_folder(path), path)
    elif not path.is_file():
        raise UserError(f"there is no file or folder {path}")
    elif path.suffix.lower() in OTHER_ARCHIVES:
        raise UserError(f"{path} is an archive that is not opened here: only .zip is")
    else:
        try:
            archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
            raise UserError(f"{path} cannot be read as a zip file ({error})") from None
        with archive:
            yield _within_limit(_in_archive(archive), path)


def _within_limit(parts: Iterator[FilePart], path: Path) -> list[FilePart]:
    listed = []
    for part in parts:
        listed.append(part)
        if len(listed) > MAX_PARTS:
            raise UserError(f"{path} has more than {MAX_PARTS:,} files, so nothing was collected")
    return listed


def _in_archive(archive: zipfile.ZipFile) -> Iterator[FilePart]:
    for member in archive.infolist():
        name = PurePosixPath(member.filename)
        if not name.parts or member.is_dir() or is_hidden(name):  # `is_dir` needs a name
            continue
        problem = name_problem(member.filename)
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
            problem = "it is a link or a special file"
        elif member.flag_bits & 1:
            problem = "it is encrypted"
        elif member.file_size > SMALL and member.file_size > MAX_RATIO * member.compress_size:
            problem = f"it is more than {MAX_RATIO} times as large as in the archive"
        yield FilePart(
            name,
            member.file_size,
            partial(archive.open, member),
            problem or size_problem(name, member.file_size),
        )


def _in_folder(root: Path) -> Iterator[FilePart]:
    for place, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted([*files, *folders]):
            path = Path(place, name)
            relative = PurePosixPath(path.relative_to(root).as_posix())
            if is_hidden(relative):
                continue
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                continue
            problem = name_problem(str(relative))
            if not stat.S_ISREG(status.st_mode):
                problem = "it is a link or a special file"
            yield FilePart(
                relative,
                status.st_size,
                partial(_open, path),
                problem or size_problem(relative, status.st_size),
            )
        folders[:] = [name for name in folders if not name.startswith(".")]


def _open(path: Path) -> IO[bytes]:
    """Open a regular file, without following a link."""
    number = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    return os.fdopen(number, "rb")


def is_hidden(name: PurePosixPath) -> bool:
    """Whether a file is hidden, as in `.git`, or was added by macOS; such files are never copied."""
    return JUNK in name.parts or any(
        part.startswith(".") and not part.startswith("..") for part in name.parts
    )


def name_problem(name: str) -> str:
    """Return why a file with this name is not copied, or "".

    >>> name_problem("notes/a.txt"), name_problem("../a.txt")
    ('', 'its name leads outside of the submission')
    """
    path = PurePosixPath(name)
    if (
        path.is_absolute()
        or any(part.startswith("..") for part in path.parts)
        or "\\" in name
        or ":" in name
    ):
        return "its name leads outside of the submission"
    if not name or not name.isprintable():
        return "its name has characters that cannot be printed"
    if len(os.fsencode(name)) > MAX_NAME:
        return f"its name has more than {MAX_NAME} bytes"
    for part in path.parts:
        if part.partition(".")[0].strip().lower() in RESERVED or part != part.rstrip(". "):
            return "Windows cannot have a file with this name"
    return ""


def size_problem(name: PurePosixPath, size: int) -> str:
    """Return why a file of this size is not copied, or ""."""
    limit = size_limit(name)
    return f"it has {size:,} bytes: at most {limit:,} are allowed" if size > limit else ""


def size_limit(name: PurePosixPath) -> int:
    """Return the number of bytes that a file may have."""
    return MAX_NOTEBOOK if name.suffix.lower() == ".ipynb" else MAX_BYTES


def without_root(parts: Sequence[FilePart]) -> list[FilePart]:
    """Return the files without their common top folder, if there is one."""
    first = {part.name.parts[0] for part in parts if part.name.parts}
    if len(first) != 1 or any(len(part.name.parts) < 2 for part in parts):
        return list(parts)
    return [part._replace(name=PurePosixPath(*part.name.parts[1:])) for part in parts]
