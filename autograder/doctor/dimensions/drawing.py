"""Draws cases of a check so that they have all values of its dimensions."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from autograder.doctor.dimensions.values import Value, options_of, possible_values, values_of
from autograder.studies.fresh_cases import fresh_cases
from course.checks import Case, Check

SEEDS = range(1, 21)
SAMPLE = 400  # cases drawn with each seed, at most
FEWEST = 60  # cases drawn with the first seed, at least
MISSES = 2  # seeds that may fail to draw a value before it is no longer searched for
RARE = 3  # a value of an option that fewer of these cases have is not required


class Drawing:
    """The fresh cases of a check, by seed, and the values that they must have."""

    def __init__(self, check: Check, public: Sequence[Case], impossible: Iterable[Value]) -> None:
        self.check, self.patterns = check, [*check.cases, *public]
        first = list(islice(self.cases(SEEDS[0]), FEWEST))
        existing = [*self.patterns, *first]
        self.options = options_of(existing)
        frequent = Counter(value for case in first for value in self.values(case))
        occurring = {value for case in self.patterns for value in self.values(case)}
        occurring |= {value for value, number in frequent.items() if number >= RARE}
        self.possible = possible_values(check, sorted(occurring))
        self.required = frozenset(self.possible) - {*impossible}

    def cases(self, seed: int) -> Iterator[Case]:
        """Yield the fresh cases of a seed, at most `SAMPLE`."""
        rng = random.Random(f"dimensions of {self.check.id} {seed}")
        return islice(fresh_cases(self.check, self.patterns, rng), SAMPLE)

    def values(self, case: Case) -> frozenset[Value]:
        """Return the values of a case."""
        return values_of(self.check, case, self.options)

    def number_with(self, value: Value, cases: Iterable[Case]) -> int:
        """Return the number of cases that have this value."""
        return sum(value in self.values(case) for case in cases)

    def counts(self, seeds: Iterable[int]) -> tuple[Counter[Value], Counter[Value]]:
        """Return how many fresh cases have each value, and with how many seeds it occurs.

        Each seed draws cases until they have all required values. The search for a value that
        `MISSES` seeds did not draw ends early, because the value is reported as a problem anyway.
        """
        counts: Counter[Value] = Counter()
        by_seed: Counter[Value] = Counter()
        misses: Counter[Value] = Counter()
        for seed in seeds:
            missing = {value for value in self.required if misses[value] < MISSES}
            occurring: set[Value] = set()
            for case in self.cases(seed):
                values = self.values(case)
                counts.update(values)
                occurring |= values
                missing -= values
                if not missing:
                    break
            by_seed.update(occurring)
            misses.update(missing)
        return counts, by_seed

    def stratified(
        self,
        cases: Iterator[Case],
        size: int,
        required: Iterable[Value],
        is_usable: Callable[[Case], bool] = lambda case: True,
    ) -> list[Case]:
        """Return `size` usable cases, or more, that have all `required` values, if some of the first
        `SAMPLE` cases have them.
        """
        chosen: list[Case] = []
        others: list[Case] = []
        missing = set(required)
        for case in islice(cases, SAMPLE):
            values = self.values(case)
            is_needed = not missing.isdisjoint(values)
            if (is_needed or len(others) < size) and is_usable(case):
                (chosen if is_needed else others).append(case)
                missing -= values
            if not missing and len(chosen) + len(others) >= size:
                break
        return [*chosen, *others[: max(0, size - len(chosen))]]
