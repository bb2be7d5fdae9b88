"""Which directions of each sentence of a stub are covered by mutants.

A sentence can be false for one player only: for every mutant, there is a module that makes the same
mistake only if o is to move, for example. The checks detect this module if the mutant itself loses
marks in a case with o to move. So a sentence is covered in a direction if one of its mutants loses
marks there, in any of the checks in which they lose; a mutant for each direction is not needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.doctor.dimensions.exceptions import FILE, load_one_sided
from autograder.doctor.dimensions.table import DimensionTable, Row
from autograder.doctor.dimensions.values import Value
from autograder.doctor.stub_coverage import SentenceCoverage, quoted
from course.checks import Study

DIRECTIONS = frozenset(("to move", "player", "value"))  # dimensions of the players


@dataclass(frozen=True)
class SentenceDirections:
    """One sentence of a stub, with the number of its mutants that lose marks in each direction."""

    coverage: SentenceCoverage
    mutants: Mapping[Value, int]

    def __str__(self) -> str:
        if not self.mutants:
            return self.coverage.state
        return f"{len(self.mutants) - len(self.uncovered)} of {len(self.mutants)}"

    @property
    def uncovered(self) -> list[Value]:
        """The directions in which none of the mutants loses marks."""
        return [value for value, number in self.mutants.items() if not number]


def sentence_directions(
    coverage: Iterable[SentenceCoverage], table: DimensionTable
) -> list[SentenceDirections]:
    """Return the directions of each sentence that mutants break, in the checks where these lose."""
    return [SentenceDirections(each, _directions(each.mutants, table.rows)) for each in coverage]


def direction_problems(study: Study, sentences: Sequence[SentenceDirections]) -> list[str]:
    """Return a message for each sentence that is not covered in all directions, and for each mistake
    in the list of sentences about one direction.
    """
    problems: list[str] = []
    stated = [each.coverage.sentence for each in sentences]
    one_sided = {
        sentence
        for reason, quotations in load_one_sided(study).items()
        for sentence in quoted(quotations, stated, f"{FILE}, {reason!r}", problems)
    }
    for each in sentences:
        sentence = each.coverage.sentence
        if sentence in one_sided and not each.uncovered:
            problems.append(
                f"{FILE}: {': '.join(sentence)} (listed as about one direction, but covered in all)"
            )
        elif each.uncovered and sentence not in one_sided:
            problems.append(
                f"{': '.join(sentence)} (no mutant of this sentence loses marks with "
                f"{', or with '.join(map(str, each.uncovered))})"
            )
    return problems


def _directions(mutants: frozenset[str], rows: Sequence[Row]) -> dict[Value, int]:
    checks = {row.check for row in rows if row.mutants is not None and row.mutants.there & mutants}
    losing: dict[Value, set[str]] = {}
    for row in rows:
        if row.check in checks and row.value.dimension in DIRECTIONS and row.reason is None:
            there = row.mutants.there if row.mutants else frozenset()
            losing.setdefault(row.value, set()).update(there & mutants)
    return {value: len(names) for value, names in losing.items()}
