"""Proves that nothing of the staff's side is in the history of a public repository."""

import gzip
import hashlib
import tarfile
import zipfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from autograder.release.book import visible_text
from autograder.release.kit import Member, find_all_leaks, read
from autograder.release.public_course.git import PublishError, Repository

# Files of the staff's folder that are copied to the site, or to the repository.
PUBLIC_BY_DESIGN = ("release/book/templates/", "release/book/package_templates/")
ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b")  # the first bytes of zip files, wheels and .tar.gz
DEPTH = 3  # of archives in archives


@dataclass(frozen=True)
class Search:
    """What the search for leaks needs to know in addition to the studies."""

    secrets: Collection[bytes] = ()  # texts of the course that must not be in the repository
    downloaded: Collection[bytes] = ()  # SHA-256 digests of the site's unchanged downloads


def refuse_leaks(repository: Repository, search: Search) -> int:
    """Search every object that a branch or tag reaches, and return their number.

    Archives are searched file by file, and pages also as visible text. Raises `PublishError`.
    """
    objects = list(repository.objects())
    unknown = [
        file for file in objects if hashlib.sha256(file.data).digest() not in search.downloaded
    ]
    if leaks := leaks_in(unknown, search.secrets):
        raise PublishError(
            "nothing was published, because the repository would contain what only staff may see: "
            + "; ".join(leaks)
        )
    return len(objects)


def leaks_in(files: Iterable[Member], secrets: Collection[bytes] = ()) -> list[str]:
    """Return the leaks in these files and in the archives among them."""
    members = [member for file in files for member in _expanded(file, DEPTH)]
    leaks = find_all_leaks(members, PUBLIC_BY_DESIGN)
    leaks += [
        f"{member.name} contains the secret of the course"
        for member in members
        if any(secret in member.data for secret in secrets)
    ]
    return leaks


def _expanded(file: Member, depth: int) -> Iterator[Member]:
    """Yield a file, its visible text if it is a page, and all files in it if it is an archive."""
    yield file
    if file.data.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        yield Member(file.name, visible_text(file.data.decode("utf-8", "replace")).encode())
    if depth and file.data.startswith(ARCHIVES):
        try:
            inside = _inside(file.data)
        except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
            raise PublishError(
                f"the archive {file.name} cannot be searched ({error}): remove it from the history"
            ) from error
        for member in inside:
            yield from _expanded(Member(f"{file.name}/{member.name}", member.data), depth - 1)


def _inside(data: bytes) -> list[Member]:
    """Return the files in an archive, or the only one in a compressed file."""
    try:
        return read(data)
    except tarfile.ReadError:
        return [Member("contents", gzip.decompress(data))]
