"""Finds a file that students submitted under another name, or in another folder, than asked."""

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from pathlib import PurePath

from autograder.grading.handed_in import Submitted

COPY = re.compile(  # what browsers, JupyterLab and file managers append
    r"[\s_-]*(?:\(\d+\)|[-_ ]+(?:copy|copi[ae]|kopi[ae])[\s_-]*(?:\(?\d+\)?)?)$"
)
ADDED = (".txt", ".json")  # suffixes that browsers and editors append to a name


class Likeness(IntEnum):
    """How the name of a file differs from the one that was asked for; less is better."""

    SAME = 0
    SPELLING = 1  # in upper and lower case, or by an added suffix
    COPY = 2  # marked as a copy


def likeness(name: str, wanted: str) -> Likeness | None:
    """How `name` is like the file name `wanted`; None if it is another name."""
    if name == wanted:
        return Likeness.SAME
    plain, target = _plain(name), _plain(wanted)
    for suffix in ADDED:
        plain = plain.removesuffix(suffix)
    if plain == target:
        return Likeness.SPELLING
    stem, suffix = PurePath(target).stem, PurePath(target).suffix
    if plain.endswith(suffix):
        shorter = COPY.sub("", plain.removesuffix(suffix))
        if shorter == stem:
            return Likeness.COPY
    return None


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().strip()


def alike(files: Sequence[Submitted], wanted: str) -> list[Submitted]:
    """The files that may be `wanted`, the likeliest first: by their names, then by their depth."""
    found = [
        (how, len(file.name.parts), str(file.name), file)
        for file in files
        if (how := likeness(file.name.name, wanted)) is not None
    ]
    return [file for *_, file in sorted(found, key=lambda each: each[:3])]


def clear_choice(candidates: Sequence[Submitted], wanted: str) -> Submitted | None:
    """The first of candidates in order, unless another one as like it has other contents."""
    if not candidates:
        return None
    first = candidates[0]
    how = likeness(first.name.name, wanted)
    contents = {
        file.path.read_bytes() for file in candidates if likeness(file.name.name, wanted) is how
    }
    return first if len(contents) == 1 else None
