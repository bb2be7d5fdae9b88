"""Unpacks zip files that were submitted, within limits: nothing in one decides where it is written."""

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from autograder.grading.handed_in import MAX_ALL, MAX_ENTRIES, MAX_NAME, Submitted, shown
from autograder.sandbox.limits import MAX_BYTES

OTHER_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
JUNK = "__MACOSX"
CHUNK = 1 << 16


class ArchiveError(ValueError):
    """An archive cannot be unpacked; the message continues a sentence about it."""


def unpack_all(files: Iterable[Submitted], target: Path) -> tuple[list[Submitted], list[str]]:
    """Unpack every zip file among `files` to `target`; returns what was in them, and problems."""
    found, problems = [], []
    left = MAX_ALL
    for number, archive in enumerate(files):
        suffix = archive.path.suffix.lower()
        if suffix in OTHER_ARCHIVES:
            problems.append(
                f"{shown(archive.name)} is an archive that is not opened here: only .zip is"
            )
        if suffix != ".zip":
            continue
        try:
            members = list(_unpacked(archive, target / str(number), left))
        except ArchiveError as error:
            problems.append(f"{shown(archive.name)} {error}")
            continue
        left -= sum(member.path.stat().st_size for member in members)
        found += members
    return found, problems


def _unpacked(archive: Submitted, target: Path, left: int) -> Iterator[Submitted]:
    """The files of one archive, written below `target`, with at most `left` bytes in all."""
    try:
        with zipfile.ZipFile(archive.path) as opened:
            members = [each for each in opened.infolist() if _counts(each)]
            if len(members) > MAX_ENTRIES:
                raise ArchiveError(f"holds more than {MAX_ENTRIES:,} files and was not unpacked")
            if any(each.flag_bits & 1 for each in members):
                raise ArchiveError("is encrypted and was not unpacked")
            for number, member in enumerate(members):
                path = target / str(number) / "file"  # no name of the archive's own
                path.parent.mkdir(parents=True)
                with opened.open(member) as source, path.open("wb") as copy:
                    for chunk in iter(lambda s=source: s.read(CHUNK), b""):
                        left -= len(chunk)
                        if left < 0:
                            raise ArchiveError(
                                f"holds more than {MAX_ALL:,} bytes and was not unpacked"
                            )
                        copy.write(chunk)
                yield Submitted(path, PurePosixPath(archive.name, member.filename))
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
        raise ArchiveError(f"cannot be unpacked ({shown(why)})") from None


def _counts(member: zipfile.ZipInfo) -> bool:
    """Whether a member is an ordinary visible file with a name inside the archive."""
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
