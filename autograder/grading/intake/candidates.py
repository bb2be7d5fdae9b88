"""Finds a file that was submitted under a different name, or in a different folder, than required."""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from pathlib import PurePath

from autograder.grading.intake.submission_files import SubmittedFile

COPY = re.compile(  # what browsers, JupyterLab and file managers append
    r"[\s_-]*(?:\(\d+\)|[-_ ]+(?:copy|copi[ae]|kopi[ae])[\s_-]*(?:\(?\d+\)?)?)$"
)
ADDED = (".txt", ".json")  # suffixes that browsers and editors append to a name


class NameMatch(IntEnum):
    """How much the name of a file differs from the required one; smaller is better."""

    SAME = 0
    SPELLING = 1  # the name has a different letter case or an added suffix
    COPY = 2  # the name is marked as a copy


def name_match(name: str, wanted: str) -> NameMatch | None:
    """Return how `name` matches the file name `wanted`; None if it does not match."""
    if name == wanted:
        return NameMatch.SAME
    plain, target = _plain(name), _plain(wanted)
    for suffix in ADDED:
        plain = plain.removesuffix(suffix)
    if plain == target:
        return NameMatch.SPELLING
    stem, suffix = PurePath(target).stem, PurePath(target).suffix
    if plain.endswith(suffix):
        shorter = COPY.sub("", plain.removesuffix(suffix))
        if shorter == stem:
            return NameMatch.COPY
    return None


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().strip()


def matching_files(files: Sequence[SubmittedFile], wanted: str) -> list[SubmittedFile]:
    """Return the files that may be `wanted`, best match first. A match of the name counts more than
    the depth of the folder.
    """
    matches = [
        (match, len(file.name.parts), str(file.name), file)
        for file in files
        if (match := name_match(file.name.name, wanted)) is not None
    ]
    return [file for *_, file in sorted(matches, key=lambda each: each[:3])]


def unambiguous_file(candidates: Sequence[SubmittedFile], wanted: str) -> SubmittedFile | None:
    """Return the first candidate; None if an equally good candidate has different contents."""
    if not candidates:
        return None
    first = candidates[0]
    match = name_match(first.name.name, wanted)
    contents = {
        file.path.read_bytes() for file in candidates if name_match(file.name.name, wanted) is match
    }
    return first if len(contents) == 1 else None
