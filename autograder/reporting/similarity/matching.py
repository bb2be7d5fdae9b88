"""Compares documents by the runs of tokens that they share, as Moss does, with copydetect.

A run that the given files contain counts nothing. Any other run counts the more, the fewer people
have written it, so the one obvious way to write a function counts little.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from copydetect.utils import find_fingerprint_overlap, get_copied_slices, hashed_kgrams
from scipy.sparse import csr_matrix

from autograder.reporting.similarity.normal_form import Token

FIRST_CHARACTER = 0xF0000  # tokens are characters of a private area, which has 130,000
LAST_CHARACTER = 0x10FFFF
SAME_SHARE, SAME_LENGTH = 0.95, 150  # of the runs of two versions of one document
Units = Sequence[Sequence[Token]]


@dataclass(frozen=True)
class Document:
    """The tokens of a module or an answer. Documents of one `origin` are versions of each other."""

    origin: str
    units: Units


@dataclass(frozen=True)
class Region:
    """A part that two documents share: its number, and its lines in both."""

    number: int
    lines: frozenset[int]
    other_lines: frozenset[int]


class Fingerprint:
    """The hashes of all runs of `length` tokens of a document, each within one unit."""

    def __init__(self, units: Units, length: int) -> None:
        self.length = length
        self.lines = [token.line for unit in units for token in unit]
        text = "".join(_alphabet.character(token.text) for unit in units for token in unit)
        self.runs: list[int | None] = [None] * len(text)  # by the place of the first token
        self.places: dict[int, list[int]] = {}
        start = 0
        for unit in units:
            hashes = hashed_kgrams(text[start : start + len(unit)], length)
            for place, run in enumerate(hashes.tolist(), start):
                self.runs[place] = run
                self.places.setdefault(run, []).append(place)
            start += len(unit)


class _Alphabet:
    """Maps each different token to one character."""

    def __init__(self) -> None:
        self._characters: dict[str, str] = {}
        self._next = count(FIRST_CHARACTER)

    def character(self, token: str) -> str:
        """Return the character of a token; all tokens beyond the alphabet's size share the last."""
        if token not in self._characters:
            self._characters[token] = chr(min(next(self._next), LAST_CHARACTER))
        return self._characters[token]


_alphabet = _Alphabet()


def runs_of(units: Units, length: int) -> frozenset[int]:
    """Return the hashes of all runs of tokens; they are the same only within this process."""
    return frozenset(Fingerprint(units, length).places)


class Comparison:
    """The result of comparing all documents with each other.

    `shares[a, b]` is the part of the shorter of two documents that the other one contains too,
    from 0 to 1. `evidence[a, b]` is the length of that document, as a number of runs that no other
    author has written. Runs in `known` count nothing.
    """

    def __init__(self, documents: Sequence[Document], known: Collection[int], length: int) -> None:
        self._prints = [Fingerprint(document.units, length) for document in documents]
        origins = _merged([document.origin for document in documents], self._prints, known)
        self._weights = _weights(self._prints, origins, known)

    @cached_property
    def _shared(self) -> np.ndarray:
        """The weights of the runs that two documents share, for each two."""
        return _products(self._prints, self._weights)

    @cached_property
    def evidence(self) -> np.ndarray:
        """The length of the shorter one of each two documents, without what is common."""
        totals = np.diag(self._shared)
        return np.minimum.outer(totals, totals) / max(self._weights.values(), default=1.0)

    @cached_property
    def shares(self) -> np.ndarray:
        """The part that each two documents share."""
        totals = np.diag(self._shared)
        smaller = np.minimum.outer(totals, totals)
        return np.divide(self._shared, smaller, out=np.zeros_like(smaller), where=smaller > 0)

    def regions(self, one: int, other: int) -> list[Region]:
        """Return the parts that two documents share, in the order of the first document."""
        first, second = self._prints[one], self._prints[other]
        runs = ({*first.places} & {*second.places}) & self._weights.keys()
        if not runs:
            return []
        places = find_fingerprint_overlap(runs, runs, first.places, second.places)
        left, right = (
            get_copied_slices(overlaps, first.length).astype(int).T.tolist() for overlaps in places
        )
        slice_of = {
            run: number
            for number, (start, end) in enumerate(left)
            for run in first.runs[start:end]
            if run in runs
        }
        lines: dict[int, set[int]] = {number: set() for number in range(len(left))}
        for start, end in right:
            votes = [slice_of[run] for run in second.runs[start:end] if run in slice_of]
            lines[max(sorted({*votes}), key=votes.count)] |= {*second.lines[start:end]}
        return [
            Region(number, frozenset(first.lines[start:end]), frozenset(lines[number]))
            for number, (start, end) in enumerate(left)
        ]


def _products(prints: Sequence[Fingerprint], weights: Mapping[int, float]) -> np.ndarray:
    """Return the sum of the weights of the runs that two documents share, for each two."""
    numbers = {run: number for number, run in enumerate(weights)}
    rows, columns, values = [], [], []
    for row, one in enumerate(prints):
        for run in one.places.keys() & numbers.keys():
            rows.append(row)
            columns.append(numbers[run])
            values.append(weights[run] ** 0.5)
    shape = (len(prints), max(len(numbers), 1))
    matrix = csr_matrix((values, (rows, columns)), shape=shape, dtype=float)
    return (matrix @ matrix.T).toarray()


def _merged(
    origins: Sequence[str], prints: Sequence[Fingerprint], known: Collection[int]
) -> list[str]:
    """Return the origins, with one origin for long documents that are almost the same. Otherwise,
    what many students have copied would count as common.
    """
    runs = {run for one in prints for run in one.places}.difference(known)
    counts = _products(prints, dict.fromkeys(runs, 1.0))
    sizes = np.diag(counts)
    merged = list(origins)
    for one, other in np.argwhere(counts >= SAME_SHARE * np.maximum.outer(sizes, sizes)):
        if one < other and min(sizes[one], sizes[other]) >= SAME_LENGTH:
            merged = [merged[one] if name == merged[other] else name for name in merged]
    return merged


def _weights(
    prints: Sequence[Fingerprint], origins: Sequence[str], known: Collection[int]
) -> Mapping[Any, float]:
    """Return the weight of each run by the number of people who wrote it, without given runs."""
    writers: dict[int, set[str]] = {}
    for one, origin in zip(prints, origins, strict=True):
        for run in {*one.places}.difference(known):
            writers.setdefault(run, set()).add(origin)
    people = len({*origins}) + 2
    return {run: float(np.log(people / max(2, len(who))) ** 2) for run, who in writers.items()}
