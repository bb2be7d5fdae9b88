"""The table of the dimensions of a study's checks, and the problems in it.

Cases are drawn with each of `SEEDS`. With every seed, each value must occur within the first
`SAMPLE` cases, so that `draw-positions` can select cases with all values. A value that cannot occur
is listed in the study's `dimensions.toml`, with the reason.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.doctor.dimensions.drawing import SEEDS, Drawing
from autograder.doctor.dimensions.exceptions import load_impossible
from autograder.doctor.dimensions.losses import Losses, MutantCounts, losses_by_value
from autograder.doctor.dimensions.values import Value
from autograder.studies import hidden_cases
from course.checks import (
    Case,
    Check,
    Study,
    StudyTableError,
    load_expected,
)
from course.checks.questions import MATCHES

NO_MUTANTS = MutantCounts(frozenset(), frozenset())
Tick = Callable[[str], object]


@dataclass(frozen=True)
class Row:
    """One value of a dimension of a check: how many cases have it, and which mutants lose there."""

    check: str
    value: Value
    public: int
    hidden: int
    drawn: int  # over all seeds
    seeds: int  # with which a case was drawn that has the value
    mutants: MutantCounts | None  # None if the replies of mutants are out of date
    reason: str | None  # why no case can have the value

    def problems(self, seeds: int) -> Iterator[str]:
        """Yield what is wrong with this row, if cases were drawn with this number of seeds."""
        if self.reason is not None:
            if self.public or self.hidden or self.drawn:
                yield f"some cases have this value, which is listed as impossible: {self.reason}"
            return
        if not self.drawn:
            yield "no fresh case has this value: draw such cases, or list it with a reason"
        elif self.seeds < seeds:
            yield f"too few fresh cases have this value: not all of {seeds} seeds draw one"
        if not self.hidden:
            if self.drawn or self.public:
                yield "no hidden case has this value"
        elif self.mutants is not None and not self.mutants.there:
            yield "no mutant loses marks in these cases"


@dataclass(frozen=True)
class DimensionTable:
    """The rows of a study's table, and a message for each problem."""

    study: str
    rows: Sequence[Row]
    problems: Sequence[str]


def dimension_table(
    study: Study, seeds: Sequence[int] = SEEDS, progress: Tick = lambda check: None
) -> DimensionTable:
    """Return the table of a study's dimensions; `progress` is called with the name of each check.

    No student's code and no mutant runs: the losses of mutants are read from the derived replies.
    """
    hidden = hidden_cases.hidden_study(study.name)
    reasons = load_impossible(study)
    rows: list[Row] = []
    for name, check in hidden.checks.items():
        if check.ask not in MATCHES:
            progress(name)
            rows += _rows(check, study.checks[name].cases, seeds, reasons)
    problems = [
        f"{row.check}, {row.value}: {problem}"
        for row in rows
        for problem in row.problems(len(seeds))
    ]
    known = {(row.check, row.value) for row in rows}
    checks = {row.check for row in rows}
    problems += [
        f"dimensions.toml: {check}, {value} is not a value of a dimension"
        for check, value in reasons
        if not any((name, value) in known for name in (checks if check == "*" else [check]))
    ]
    return DimensionTable(study.name, rows, problems)


def _rows(
    check: Check,
    public: Sequence[Case],
    seeds: Sequence[int],
    reasons: Mapping[tuple[str, Value], str],
) -> Iterator[Row]:
    drawing = Drawing(
        check, public, [value for name, value in reasons if name in (check.name, "*")]
    )
    counts, by_seed = drawing.counts(seeds)
    losses = _losses(check, drawing.options)
    for value in drawing.possible:
        yield Row(
            check.name,
            value,
            drawing.number_with(value, public),
            drawing.number_with(value, check.cases),
            counts[value],
            by_seed[value],
            None if losses is None else losses.get(value, NO_MUTANTS),
            reasons.get((check.name, value), reasons.get(("*", value))),
        )


def _losses(check: Check, options: Sequence[str]) -> Losses | None:
    study = hidden_cases.hidden_study(check.study)
    try:
        expected, mistakes = load_expected(hidden_cases.expected_file(study), [check])
    except StudyTableError:
        return None
    return losses_by_value(check, expected[check.name], mistakes, options)
