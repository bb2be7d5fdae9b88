"""Identifies the generated mutant that gives the same replies as a submission, if no named mutant
does.

`generated_mutants.json` (derived by `autograder build --generated-mutants`) contains, for each
mutant that `autograder.doctor.mutant_generator` makes of the answer, a digest of its replies to
each hidden check. The questions are part of a digest, so a table for other questions matches
nothing.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from pathlib import Path
from typing import Any

from common.messages import english
from course.checks import Check, Observation, Study
from course.checks.marking.comparison import same
from course.checks.marking.outcome import describe_case
from course.checks.questions import QUESTIONS

DIGITS = 6  # to which numbers are rounded, so that the order of a sum does not matter
LENGTH = 12  # characters of a digest


@dataclass(frozen=True)
class GeneratedMutants:
    """The replies of the generated mutants of one study.

    `mutants` are pairs of a function ("Minimax.value") and a description of the mistake in it.
    `replies` maps a check's name and a digest to the numbers of the mutants with these replies.
    `made_of` maps a check's name to a digest of the data from which its part was generated.
    """

    mutants: Sequence[tuple[str, str]] = ()
    replies: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    made_of: Mapping[str, str] = field(default_factory=dict)

    def matching(
        self, check: Check, got: Sequence[Observation | None], expected: Sequence[Observation]
    ) -> frozenset[int]:
        """Return the mutants whose replies to a check are exactly these."""
        return frozenset(self.replies.get(check.name, {}).get(digest(check, got, expected), ()))

    def affecting(self, check: str, mutants: Collection[int]) -> frozenset[int]:
        """Return those `mutants` that also give wrong replies to this check."""
        affecting = {number for same in self.replies.get(check, {}).values() for number in same}
        return frozenset(mutants) & affecting

    def sentence(self, check: Check, mutants: Collection[int]) -> str | None:
        """Return a sentence that describes what the mutants have in common; None if they have too
        little in common.

        Mistakes in the functions that the check calls by name come before those in their helpers.
        """
        candidates = [self.mutants[number] for number in sorted(mutants)]
        question = describe_case(check, check.cases[0])
        candidates = [
            mutant
            for mutant in candidates
            if re.search(rf"\b{mutant[0].split('.')[0]}\b", question)
        ] or candidates
        functions = list(dict.fromkeys(f"`{function}`" for function, _ in candidates))
        mistakes = list(dict.fromkeys(mistake for _, mistake in candidates))
        if not candidates or len(functions) > 2:
            return None
        is_specific = len(mistakes) <= 2 and len(functions) == 1
        place = reduce(lambda first, second: english(f"{first} or {second}"), functions)
        detail = reduce(lambda first, second: english(f"{first}, or {second}"), mistakes)
        return english(
            "Your replies to all questions of this check are those of a correct solution "
            f"with a single mistake in {place}{f': {detail}' if is_specific else ''}."
        )


def generated_mutants_file(study: Study) -> Path:
    """Return the file with the replies of a study's generated mutants."""
    return study.staff_folder / "generated_mutants.json"


@cache
def load_generated_mutants(file: Path) -> GeneratedMutants:
    """Return the table in this file, or an empty one if there is no such file."""
    if not file.exists():
        return GeneratedMutants()
    data = json.loads(file.read_text("utf-8"))
    return GeneratedMutants(
        [tuple(mutant) for mutant in data["mutants"]], data["replies"], data["made_of"]
    )


def digest(check: Check, got: Sequence[Observation | None], expected: Sequence[Observation]) -> str:
    """Return a short digest of the questions of a check and the replies to them."""
    compared = [
        [_compared(check, name, e, g or {}) for name in check.points]
        for e, g in zip(expected, got, strict=True)
    ]
    return digest_of([check.ask, check.settings, check.cases, compared])


def digest_of(data: Any) -> str:
    """Return a short digest of plain data."""
    text = json.dumps(data, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:LENGTH]


def _compared(check: Check, name: str, expected: Observation, got: Observation) -> Any:
    if name not in got:
        return "no answer"
    if name in QUESTIONS[check.ask].comparators:  # correct replies need not be equal
        return same(check.ask, name, expected.get(name), got[name])
    return _canonical(got[name])


def _canonical(value: Any) -> Any:
    """Return the same form for values that are equal, such as True, 1 and 1.0."""
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, (bool, int, float)):
        try:
            return round(float(value), DIGITS) + 0.0
        except (OverflowError, ValueError):
            return str(value)
    return value
