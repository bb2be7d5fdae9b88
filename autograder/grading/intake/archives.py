"""Unpacks submitted zip files within limits. No name in an archive decides where a file is written."""

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from autograder.grading.intake.submission_files import (
    MAX_ALL,
    MAX_ENTRIES,
    MAX_NAME,
    SubmittedFile,
    printable_name,
)
from autograder.sandbox.limits import MAX_BYTES
from common.messages import english

OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
JUNK = "__MACOSX"
CHUNK = 1 << 16


class ArchiveError(ValueError):
    """An archive cannot be unpacked; the message completes a sentence that begins with its name."""


def unpack_archives(
    files: Iterable[SubmittedFile], target: Path
) -> tuple[list[SubmittedFile], list[str]]:
    """Unpack every zip file among `files` to `target`; return the unpacked files and problems."""
    unpacked: list[SubmittedFile] = []
    problems: list[str] = []
    left = MAX_ALL
    for number, archive in enumerate(files):
        suffix = archive.path.suffix.lower()
        if suffix in OTHER_ARCHIVES:
            problems.append(
                english(
                    f"{printable_name(archive.name)} is an archive that is not opened here: only "
                    ".zip is"
                )
            )
        if suffix != ".zip":
            continue
        try:
            members = list(_unpacked(archive, target / str(number), left))
        except ArchiveError as error:
            problems.append(f"{printable_name(archive.name)} {error}")
            continue
        left -= sum(member.path.stat().st_size for member in members)
        unpacked += members
    return unpacked, problems


def _unpacked(archive: SubmittedFile, target: Path, left: int) -> Iterator[SubmittedFile]:
    """Unpack one archive below `target`, up to `left` bytes in total; yield the files."""
    try:
        with zipfile.ZipFile(archive.path) as opened:
            members = [each for each in opened.infolist() if _is_usable(each)]
            if len(members) > MAX_ENTRIES:
                raise ArchiveError(
                    english(f"holds more than {MAX_ENTRIES:,} files and was not unpacked")
                )
            if any(each.flag_bits & 1 for each in members):
                raise ArchiveError(english("is encrypted and was not unpacked"))
            for number, member in enumerate(members):
                path = target / str(number) / "file"  # not a name from the archive
                path.parent.mkdir(parents=True)
                with opened.open(member) as source, path.open("wb") as copy:
                    for chunk in iter(partial(source.read, CHUNK), b""):
                        left -= len(chunk)
                        if left < 0:
                            raise ArchiveError(
                                english(f"holds more than {MAX_ALL:,} bytes and was not unpacked")
                            )
                        copy.write(chunk)
                yield SubmittedFile(path, PurePosixPath(archive.name, member.filename))
    except ArchiveError:
        shutil.rmtree(target, ignore_errors=True)
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
        OSError,
        LookupError,
    ) as error:
        shutil.rmtree(target, ignore_errors=True)
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise ArchiveError(english(f"cannot be unpacked ({printable_name(why)})")) from None


def _is_usable(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a regular visible file with a relative name."""
    path = PurePosixPath(member.filename)
    kind = stat.S_IFMT(member.external_attr >> 16)
    return not (
        member.is_dir()
        or kind not in (0, stat.S_IFREG)
        or path.is_absolute()
        or "\\" in member.filename
        or ":" in member.filename
        or JUNK in path.parts
        or any(part.startswith(".") for part in path.parts)
        or len(member.filename.encode("utf-8", "replace")) > MAX_NAME
        or (member.file_size > MAX_BYTES and path.suffix != ".ipynb")
    )
