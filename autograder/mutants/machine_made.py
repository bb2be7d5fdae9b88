"""Names the machine-made mutant whose replies a submission gives, where no written slip has them.

`studyN.machine.json` (derived by `autograder build --machine`) holds what every mutant of the
answer that `autograder.doctor.machine_mutants` makes replies to each hidden check, as a digest.
The questions are part of a digest, so that a table of other questions names nothing.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course.probes import Check, Observation, Study
from course.probes.outcome import describe_case, same
from course.probes.questions import QUESTIONS

DIGITS = 6  # of a number, so that the order of a sum does not matter
LENGTH = 12  # of a digest


@dataclass(frozen=True)
class MachineSlips:
    """What the mutants of one study reply: `slips` are pairs of a function ("Minimax.value") and
    what is wrong there, `replies` maps check and digest to the numbers of those who reply it."""

    slips: Sequence[tuple[str, str]] = ()
    replies: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    made_of: Mapping[str, str] = field(default_factory=dict)  # check -> what its part was made of

    def matching(
        self, check: Check, got: Sequence[Observation | None], expected: Sequence[Observation]
    ) -> frozenset[int]:
        """The slips whose replies to a check are exactly these."""
        return frozenset(self.replies.get(check.name, {}).get(digest(check, got, expected), ()))

    def felt_by(self, check: str, slips: Collection[int]) -> frozenset[int]:
        """Those of the slips that spoil the replies to this check too."""
        felt = {slip for known in self.replies.get(check, {}).values() for slip in known}
        return frozenset(slips) & felt

    def sentence(self, check: Check, slips: Collection[int]) -> str | None:
        """What the slips have in common, in words; None if they have too little.

        Slips in the functions that the check calls by name come before those in their helpers.
        """
        found = [self.slips[number] for number in sorted(slips)]
        asked = describe_case(check, check.cases[0])
        found = [
            slip for slip in found if re.search(rf"\b{slip[0].split('.')[0]}\b", asked)
        ] or found
        functions = list(dict.fromkeys(f"`{function}`" for function, _ in found))
        wrong = list(dict.fromkeys(what for _, what in found))
        if not found or len(functions) > 2:
            return None
        told = f": {', or '.join(wrong)}" if len(wrong) <= 2 and len(functions) == 1 else ""
        return (
            "Your replies to all the questions of this check are those of a right solution "
            f"with a single slip in {' or '.join(functions)}{told}."
        )


def machine_file(study: Study) -> Path:
    """The file of what machine-made mutants of a study reply."""
    return study.home / "autograder" / "mutants" / f"{study.name}.machine.json"


@cache
def load_machine_slips(file: Path) -> MachineSlips:
    """The table in this file; an empty one if there is none."""
    if not file.exists():
        return MachineSlips()
    data = json.loads(file.read_text("utf-8"))
    return MachineSlips([tuple(slip) for slip in data["slips"]], data["replies"], data["made_of"])


def digest(check: Check, got: Sequence[Observation | None], expected: Sequence[Observation]) -> str:
    """The questions of a check and the replies to them in a few letters."""
    seen = [
        [_seen(check, name, e, g or {}) for name in check.points]
        for e, g in zip(expected, got, strict=True)
    ]
    return digest_of([check.ask, check.settings, check.cases, seen])


def digest_of(data: Any) -> str:
    """A few letters that are others for other data."""
    text = json.dumps(data, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:LENGTH]


def _seen(check: Check, name: str, expected: Observation, got: Observation) -> Any:
    if name not in got:
        return "no answer"
    if name in QUESTIONS[check.ask].judged:  # replies that need not be equal
        return same(check.ask, name, expected.get(name), got[name])
    return _canonical(got[name])


def _canonical(value: Any) -> Any:
    """Equal values as one: True, 1 and 1.0 are."""
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, (bool, int, float)):
        try:
            return round(float(value), DIGITS) + 0.0
        except (OverflowError, ValueError):
            return str(value)
    return value
