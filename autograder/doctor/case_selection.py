"""Draws hidden cases from a seed, and selects a small set in which each mutant is detected twice.

The mutants are those in `mutants.toml`, the wrong modules of outsiders, and generated mutants.
Fresh cases are drawn first, as many as a check has now. Mutants that fewer than two of them detect
run on more fresh cases, in growing portions, until two cases detect them or the sample is
exhausted. If no fresh case detects a mutant, an old case may do so, because some old cases were
written by hand for situations that are almost never drawn. If no single case detects it, all old
cases of a check together may do so, for example if the module keeps state between cases. From all
these cases, a greedy algorithm for the set cover problem selects a small set that detects just as
much. Every mutant runs on the selected cases.

The selected cases of a check also have every value of its dimensions (`autograder.doctor.dimensions`),
such as each player to move. For this, the first cases are drawn in excess, and more are drawn later
for values that no usable case has.
"""

import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import NamedTuple

from autograder import workspace
from autograder.doctor.dimensions.drawing import Drawing
from autograder.doctor.dimensions.exceptions import load_impossible
from autograder.doctor.dimensions.values import Value
from autograder.doctor.mutant_generator import generate_mutants
from autograder.doctor.mutation_testing import MAX_SLOWDOWN, lost_aspects, run_mutation_testing
from autograder.errors import UserError
from autograder.grading.records.reference_timing import MIN_SECONDS, check_limit
from autograder.release.leaks import public_files
from autograder.studies import hidden_cases
from autograder.studies.fresh_cases import fresh_cases, require_drawable
from autograder.studies.mutants import Mutant, load_mutants, load_outsiders
from autograder.workspace.affected_checks import AffectedChecks
from course.checks import MAX_SECONDS, Case, Check, Observation, Study, load_study
from course.checks.question import texts_of
from course.checks.questions import MATCHES
from course.checks.replies import Replies

WANTED = 2  # cases that detect a mutant, if possible
SECOND_PORTION = 20  # fresh cases of each check; each later portion is twice as large
SAMPLE = 400  # fresh cases of each check, at most
# Number of alternative selections without the incomplete cases; the cases of all selections are
# completed together.
ALTERNATIVE_SETS = 3
NODES_OF_A_CASE = 20  # nodes that a module could search in a case's fixed time
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")  # other keys of TOML are quoted
REASON = "exposes "  # the beginning of the reason for a case
ATTEMPTS, CANDIDATES = 4, 3  # portions for values that no case has, and cases for each value
# A mutant, and the "check.aspect" that it must lose, or ""; or "" and a value of a dimension.
Need = tuple[str, str]
Tick = Callable[[str], None]


@dataclass(frozen=True)
class SelectedCases:
    """The cases of one check, each with the reason for its selection."""

    check: Check
    cases: Sequence[Case]
    reasons: Sequence[str]


@dataclass(frozen=True)
class CaseSelection:
    """The selected cases for a seed, and the mutants that at most one case detects."""

    study: str
    seed: int
    checks: Sequence[SelectedCases]
    mutants: int
    once: Sequence[str]  # mutants that only one case detects
    unseen: Sequence[str]  # generated mutants that no case detects
    missing: Sequence[str]  # losses that no case shows; the set is then unusable
    uncovered: Sequence[str]  # values of dimensions that no case has
    drawn: int


class _RunnableMutant(NamedTuple):
    """A mutant's text, and the checks that it affects; the most specific check comes first."""

    text: str
    checks: Sequence[str]


Mutants = Mapping[str, _RunnableMutant]


@dataclass
class _Coverage:
    """The cases of all checks in the order in which they ran, and the needs that each case meets."""

    cases: list[tuple[str, Case]] = field(default_factory=list)
    meets: list[set[Need]] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)  # nodes that a correct search visits
    withdrawn: set[int] = field(default_factory=set)  # indices of cases that run again
    drawings: Mapping[str, Drawing] = field(default_factory=dict)  # by check

    def values(self, check: str, case: Case) -> set[Need]:
        """Return the needs that a case meets because of its kind."""
        drawing = self.drawings.get(check)
        if drawing is None:
            return set()
        return {("", f"{check}, {value}") for value in drawing.values(case) & drawing.required}

    def uncovered(self) -> dict[str, set[Value]]:
        """Return, for each check, the required values that no case has."""
        counts = self.counts()
        return {
            name: {value for value in drawing.required if not counts["", f"{name}, {value}"]}
            for name, drawing in self.drawings.items()
        }

    def indices(self, checks: Mapping[str, Check]) -> list[int]:
        """Return the indices of the cases of these checks, except withdrawn ones."""
        return [
            index
            for index, (name, case) in enumerate(self.cases)
            if index not in self.withdrawn and case in checks[name].cases
        ]

    def withdraw(self, indices: Iterable[int], checks: Mapping[str, Check]) -> dict[str, Check]:
        """Withdraw these cases, so that they run again; return the checks with only these cases."""
        cases = defaultdict(list)
        for index in indices:
            name, case = self.cases[index]
            cases[name].append(case)
            self.withdrawn.add(index)
            self.meets[index] = set()
        return {name: replace(checks[name], cases=cases[name]) for name in checks if name in cases}

    def counts(self) -> Counter[Need]:
        """Return how many cases meet each need."""
        return Counter(need for needs in self.meets for need in needs)


def choose_cases(
    study_name: str,
    seed: int,
    sample: int = SAMPLE,
    *,
    keep: bool = False,
    equivalent: Container[str] = (),
    progress: Tick = lambda note: None,
) -> CaseSelection:
    """Draw cases of a study from `seed` and select among them.

    With `keep`, the current cases are kept, and cases are drawn only for needs that the current
    ones do not meet. Mutants known to be `equivalent` run only on the first portion. `progress` is
    called with the name of each mutant. The cases of matches do not change. Raises `UserError` if a
    study has no other checks.
    """
    selector = _Selector(study_name, seed, sample, keep, equivalent, progress)
    selector.select()
    return selector.result()


class _Selector:
    """One selection of cases: its mutants, its sources of cases, and the coverage so far."""

    def __init__(
        self,
        study_name: str,
        seed: int,
        sample: int,
        keep: bool,
        equivalent: Container[str],
        progress: Tick,
    ) -> None:
        study, self._hidden = load_study(study_name), hidden_cases.hidden_study(study_name)
        self._seed, self._keep, self._progress = seed, keep, progress
        self._checks = {
            name: check for name, check in self._hidden.checks.items() if check.ask not in MATCHES
        }
        if not self._checks:
            raise UserError(
                f"{study.name} has no positions to draw: its checks are games, whose deals "
                "come from the course's own secret"
            )
        for name, check in self._checks.items():
            require_drawable(check, [*check.cases, *study.checks[name].cases])
        self._drawn = _fresh_cases(study, self._checks, seed)
        self._public = b"\0".join(path.read_bytes() for path in public_files())
        self._fresh = {name: filter(self._is_secret, self._drawn[name]) for name in self._checks}
        self._sizes = _portions(sample)

        texts, self._named, self._outsiders = _mutants(study)
        self._answers = _answers(study)
        affected = AffectedChecks(replace(self._hidden, checks=self._checks), self._answers[0])
        self._mutants = {
            name: _RunnableMutant(text, sorted(affected.checks(text), key=affected.reached_count))
            for name, text in texts.items()
        }
        self._detectable = {
            name: mutant for name, mutant in self._mutants.items() if name not in equivalent
        }

        impossible = load_impossible(study)
        self._coverage = _Coverage(
            drawings={
                name: Drawing(
                    check,
                    study.checks[name].cases,
                    [value for each, value in impossible if each in ("*", name)],
                )
                for name, check in self._checks.items()
            }
        )
        self._attempts = 0  # at drawing cases for values that no case has
        self._not_drawn: set[tuple[str, Value]] = set()
        self._selected: list[int] = []
        self._fixed: list[int] = []  # indices of cases that are always selected
        self._complete: set[int] = set()  # indices of cases on which all mutants have run
        self._first_selection = True
        self._ran_old_cases: Mutants = self._mutants if keep else {}  # ran on all old cases
        self._keeps_old_order = keep

    def select(self) -> None:
        """Run mutants on cases until the selected set detects as much as possible."""
        self._run_first_cases()
        while (
            self._run_fresh_portion()
            or self._run_uncovered_values()
            or self._complete_selected_cases()
            or self._run_old_cases()
            or self._run_old_cases_in_order()
        ):
            pass  # after a step that had something to do, all steps are tried again

    def _run_first_cases(self) -> None:
        """Run all mutants on the current cases, or on the same number of fresh ones."""
        checks = self._checks
        if not self._keep:
            checks = {
                name: replace(check, cases=self._stratified(name, len(check.cases)))
                for name, check in checks.items()
            }
        self._run(checks, self._mutants)
        self._complete.update(range(len(self._coverage.cases)))
        if self._keep:
            self._fixed = [*range(len(self._coverage.cases))]

    def _run_fresh_portion(self) -> bool:
        """Run mutants that too few cases detect on more fresh cases, until the sample is exhausted."""
        mutants = self._detected_by_fewer_than(WANTED)
        size = next(self._sizes, 0) if mutants else 0
        portion = _portion(self._checks, self._fresh, mutants, size)
        if portion:
            self._run(portion, mutants)
        return bool(portion)

    def _run_uncovered_values(self) -> bool:
        """Run the named mutants on fresh cases with values that no case has; only a few times,
        because such cases may contradict the table of a mutant.
        """
        uncovered = self._coverage.uncovered()
        if not any(uncovered.values()) or self._attempts == ATTEMPTS:
            return False
        self._attempts += 1
        cases = {
            name: [case for value in sorted(values) for case in self._candidates(name, value)]
            for name, values in uncovered.items()
        }
        portion = {
            name: replace(self._checks[name], cases=drawn) for name, drawn in cases.items() if drawn
        }
        if portion:
            self._run(portion, self._named_and_undetected())
        return bool(portion)

    def _candidates(self, name: str, value: Value) -> list[Case]:
        """Draw a few cases with this value; none if an earlier attempt did not find any."""
        cases: list[Case] = []
        while len(cases) < CANDIDATES and (name, value) not in self._not_drawn:
            drawn = self._coverage.drawings[name].stratified(
                self._drawn[name], 0, [value], self._is_secret
            )
            cases += drawn
            if not drawn:
                self._not_drawn.add((name, value))
        return cases

    def _stratified(self, name: str, size: int) -> list[Case]:
        drawing = self._coverage.drawings[name]
        return drawing.stratified(self._drawn[name], size, drawing.required, self._is_secret)

    def _is_secret(self, case: Case) -> bool:
        """Whether no file that students receive contains a position of the case."""
        return not any(text.encode() in self._public for text in texts_of(case))

    def _complete_selected_cases(self) -> bool:
        """Select cases; for each selected case, run the mutants that have not run on it yet.

        After the first time, only a few mutants remain to be run. So the cases of alternative
        selections are completed at the same time.
        """
        self._selected = _fewest(self._coverage, self._fixed)
        incomplete = set(self._selected) - self._complete
        if not incomplete:
            return False
        if not self._first_selection:
            incomplete |= _alternatives(self._coverage, incomplete, self._complete)
        portion = self._coverage.withdraw(incomplete, self._checks)
        mutants = self._mutants if self._first_selection else self._named_and_undetected()
        self._first_selection = False
        self._complete.update(self._run(portion, mutants))
        return True

    def _run_old_cases(self) -> bool:
        """Run the mutants that no case detects on the current cases."""
        undetected = self._detected_by_fewer_than(1)
        if not undetected.keys() - self._ran_old_cases.keys():
            return False
        # All cases run again, and so do the mutants that ran on them before.
        self._ran_old_cases = {**self._ran_old_cases, **undetected}
        self._coverage.withdraw(self._coverage.indices(self._checks), self._checks)
        self._run(self._checks, self._ran_old_cases)
        return True

    def _run_old_cases_in_order(self) -> bool:
        """Keep all old cases of the checks in which a loss is not detected. This is done only once.

        Some mistakes of a module that keeps state between cases show only if one particular case
        follows another.
        """
        if self._keeps_old_order:
            return False
        lacking = {
            check
            for need in _missing(self._named, self._outsiders, self._coverage)
            for check in _checks_of(need, self._mutants)
        }
        if not lacking:
            return False
        self._keeps_old_order = True
        portion = {name: check for name, check in self._checks.items() if name in lacking}
        cases = self._coverage.cases
        old = [i for i in self._coverage.indices(self._checks) if cases[i][0] in lacking]
        self._coverage.withdraw(old, self._checks)
        self._fixed = [*self._run(portion, self._named_and_undetected())]
        self._complete.update(self._fixed)
        return True

    def _run(self, checks: Mapping[str, Check], mutants: Mutants) -> range:
        """Run mutants on the cases of these checks; return the indices of the new cases."""
        start = len(self._coverage.cases)
        portion = replace(self._hidden, checks=checks)
        _run_mutants(portion, self._answers, mutants, self._named, self._coverage, self._progress)
        return range(start, len(self._coverage.cases))

    def _detected_by_fewer_than(self, count: int) -> dict[str, _RunnableMutant]:
        return _detected_by_fewer_than(count, self._detectable, self._named, self._coverage)

    def _named_and_undetected(self) -> dict[str, _RunnableMutant]:
        named = {name: self._mutants[name] for name in self._named}
        return named | self._detected_by_fewer_than(WANTED)

    def result(self) -> CaseSelection:
        """Return the selected cases, and what they detect."""
        counts = self._coverage.counts()
        selected_counts = _counts_of(self._coverage, self._selected)
        generated = [
            name
            for name in self._mutants
            if name not in self._named and name not in self._outsiders
        ]
        missing = _missing(self._named, self._outsiders, self._coverage)
        return CaseSelection(
            self._hidden.name,
            self._seed,
            [
                _selected_cases(self._hidden.checks[name], self._selected, self._coverage)
                for name in self._checks
            ],
            len(self._mutants),
            [name for name in self._mutants if selected_counts[name, ""] == 1],
            [name for name in generated if not counts[name, ""]],
            [" in ".join(filter(None, need)) for need in missing],
            [
                f"{name}, {value}"
                for name, values in self._coverage.uncovered().items()
                for value in sorted(values)
            ],
            len(self._coverage.cases),
        )


# ---- cases


def _fresh_cases(study: Study, checks: Mapping[str, Check], seed: int) -> dict[str, Iterator[Case]]:
    """Return the fresh cases of each check."""
    rng = random.Random(f"cases of {study.name} {seed}")
    return {
        name: fresh_cases(check, [*check.cases, *study.checks[name].cases], rng)
        for name, check in checks.items()
    }


def _portions(sample: int) -> Iterator[int]:
    """Yield the number of fresh cases of each check for each portion, until the sample is
    exhausted.
    """
    size = SECOND_PORTION
    while sample > 0:
        yield min(size, sample)
        size, sample = 2 * size, sample - size


def _portion(
    checks: Mapping[str, Check],
    fresh: Mapping[str, Iterator[Case]],
    mutants: Mutants,
    size: int,
) -> dict[str, Check]:
    """Return the checks that the mutants affect, each with `size` fresh cases or as many as there
    are.
    """
    affected = set().union(*(mutant.checks for mutant in mutants.values()))
    return {
        name: replace(check, cases=cases)
        for name, check in checks.items()
        if name in affected and (cases := list(islice(fresh[name], size)))
    }


# ---- mutants, and which of them must be detected


def equivalent_mutants(study_name: str) -> set[str]:
    """Return the generated mutants that no current case detects. They are equivalent, as `doctor`
    has verified.
    """
    result = run_mutation_testing(load_study(study_name), sample=0)
    return {mutant.name for mutant in result.equivalent}


def _mutants(study: Study) -> tuple[dict[str, str], dict[str, Mutant], list[str]]:
    """Return the text of each mutant by name, the named mutants, and the names of outsiders'
    modules.
    """
    answer = workspace.answer_path(study).read_text("utf-8")
    named = {mutant.name: mutant for mutant in load_mutants(study.name)}
    texts = {name: mutant.apply(answer) for name, mutant in named.items()}
    texts |= {mutant.name: mutant.text for mutant in generate_mutants(answer)}
    outsiders = {
        f"outsider's {wrong.name}": wrong.apply(_answers(study)[-1])
        for wrong in load_outsiders(study)
        if not wrong.accepted
    }
    return texts | outsiders, named, list(outsiders)


def _answers(study: Study) -> list[str]:
    """Return the texts of the correct answers: the reference and, if there is one, the independent
    solution.
    """
    return [file.read_text("utf-8") for file in workspace.correct_answers(study)]


def _needs(name: str, named: Mapping[str, Mutant]) -> Iterable[Need]:
    """Yield what must be detected about a mutant: that it is wrong, and each loss in its table."""
    yield name, ""
    if name in named:
        yield from (
            (name, f"{check}.{aspect}")
            for check, aspects in named[name].loses.items()
            for aspect in aspects
        )


def _missing(
    named: Mapping[str, Mutant], outsiders: Iterable[str], coverage: _Coverage
) -> list[Need]:
    """Return the losses in tables, and the outsiders' modules, that no case detects."""
    counts = coverage.counts()
    return [
        need
        for mutant in (*named, *outsiders)
        for need in _needs(mutant, named)
        if not counts[need] and (need[1] or mutant in outsiders)
    ]


def _checks_of(need: Need, mutants: Mutants) -> Sequence[str]:
    """Return the checks whose cases may meet a need."""
    mutant, aspect = need
    return [aspect.partition(".")[0]] if aspect else mutants[mutant].checks


def _detected_by_fewer_than(
    count: int, mutants: Mutants, named: Mapping[str, Mutant], coverage: _Coverage
) -> dict[str, _RunnableMutant]:
    """Return the mutants that have a need which fewer than `count` cases meet, each with the checks
    whose cases may meet it.
    """
    counts, result = coverage.counts(), {}
    for name, mutant in mutants.items():
        needs = [aspect for _, aspect in _needs(name, named) if counts[name, aspect] < count]
        if not needs:
            continue
        checks = mutant.checks
        if "" not in needs:
            listed = {aspect.partition(".")[0] for aspect in needs}
            checks = [check for check in checks if check in listed]
        result[name] = _RunnableMutant(mutant.text, checks)
    return result


# ---- running mutants on cases


def _run_mutants(
    portion: Study,
    answers: Sequence[str],
    mutants: Mutants,
    named: Mapping[str, Mutant],
    coverage: _Coverage,
    progress: Tick,
) -> None:
    """Run mutants on the cases of a portion; add the cases, with the needs that they meet, to
    `coverage`.

    A named mutant runs in all checks that it affects, because its table must be right. Any other
    mutant runs in one check after another until `WANTED` cases detect it.

    Cases on which the reference fails or the independent solution differs are invalid. Cases on
    which a named mutant loses something that its table does not list would make the table wrong.
    Neither kind is added.
    """
    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        expected, *others = pool.map(lambda text: workspace.run_checks(portion, text, 60), answers)
    valid = {
        check.name: [
            _is_valid(check, *observations)
            for observations in zip(
                expected[check.name].observations,
                *(other[check.name].observations for other in others),
                strict=True,
            )
        ]
        for check in portion.checks.values()
    }

    def losses(name: str) -> dict[str, list[set[str]]]:
        progress(name)
        return _losses(portion, mutants[name], expected, valid, stops_early=name not in named)

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        lost = dict(zip(mutants, pool.map(losses, mutants), strict=True))
    for check in portion.checks.values():
        for number, case in enumerate(check.cases):
            if not valid[check.name][number]:
                continue
            needs = _needs_met(check.name, {m: lost[m][check.name][number] for m in mutants}, named)
            if needs is not None:
                coverage.cases.append((check.name, case))
                coverage.meets.append(needs | coverage.values(check.name, case))
                observation = expected[check.name].observations[number] or {}
                coverage.nodes.append(observation.get("nodes") or 0)


def _losses(
    portion: Study,
    mutant: _RunnableMutant,
    expected: Mapping[str, Replies],
    valid: Mapping[str, Sequence[bool]],
    *,
    stops_early: bool,
) -> dict[str, list[set[str]]]:
    """Return the aspects that a mutant loses in each valid case of each check."""
    losses: dict[str, list[set[str]]] = {
        check.name: [set() for _ in check.cases] for check in portion.checks.values()
    }
    for check in filter(None, map(portion.checks.get, mutant.checks)):
        right = expected[check.name]
        (replies,) = workspace.run_checks(
            portion, mutant.text, checks=[check.name], max_seconds=_time_limit(check, right)
        ).values()
        losses[check.name] = [
            lost_aspects(check, *observations) if is_valid else set()
            for is_valid, *observations in zip(
                valid[check.name], right.observations, replies.observations, strict=True
            )
        ]
        if stops_early and sum(map(bool, chain(*losses.values()))) >= WANTED:
            break
    return losses


def _time_limit(check: Check, expected: Replies) -> float:
    """Return the limit of a mutant's run, in seconds: that of grading, or more for a portion with
    many more cases than the check has.
    """
    limit = check_limit(check, MIN_SECONDS, MAX_SECONDS)
    return max(limit, MAX_SLOWDOWN * expected.seconds)


def _needs_met(
    check: str, lost: Mapping[str, set[str]], named: Mapping[str, Mutant]
) -> set[Need] | None:
    """Return the needs that a case meets, given the aspects that each mutant loses in it.

    Returns None if a named mutant loses an aspect that its table does not list.
    """
    needs: set[Need] = set()
    for name, aspects in lost.items():
        if name in named:
            if aspects - set(named[name].loses.get(check, ())):
                return None
            needs |= {(name, f"{check}.{aspect}") for aspect in aspects}
        if aspects:
            needs.add((name, ""))
    return needs


def _is_valid(check: Check, expected: Observation | None, *others: Observation | None) -> bool:
    """Whether the reference answers a case, and the independent solution gives the same answer."""
    return (
        expected is not None
        and "errors" not in expected
        and not any(lost_aspects(check, expected, other) for other in others)
    )


# ---- selection: a greedy set cover


def _fewest(coverage: _Coverage, fixed: Sequence[int] = ()) -> list[int]:
    """Return the indices of the selected cases in their order, including the `fixed` ones."""
    selected = list(fixed)
    wanted = Counter(
        {need: min(WANTED if need[0] else 1, count) for need, count in coverage.counts().items()}
    )
    for index in selected:
        wanted.subtract(coverage.meets[index])
    _cover_needs(coverage, selected, wanted)
    _cover_checks(coverage, selected, wanted)
    _remove_redundant(coverage, selected, wanted, fixed)
    return sorted(selected)


def _cover_needs(coverage: _Coverage, selected: list[int], wanted: Counter[Need]) -> None:
    """Repeatedly select the case that meets the most remaining needs for its cost, until all are
    met.

    The cost is the time that a submission needs to search the case.
    """
    candidates = {
        index: needs for index, needs in enumerate(coverage.meets) if index not in selected
    }
    while needed := {need for need, count in wanted.items() if count > 0}:
        candidates = {
            index: needs for index, needs in candidates.items() if not needed.isdisjoint(needs)
        }
        best = max(
            candidates,
            key=lambda index: (
                len(needed & candidates[index]) / (NODES_OF_A_CASE + coverage.nodes[index])
            ),
        )
        selected.append(best)
        wanted.subtract(candidates.pop(best))


def _cover_checks(coverage: _Coverage, selected: list[int], wanted: Counter[Need]) -> None:
    """Select one case of each check that has none yet."""
    checks = {coverage.cases[index][0] for index in selected}
    for check in {name for name, _ in coverage.cases} - checks:
        first = next(
            index
            for index, (name, _) in enumerate(coverage.cases)
            if name == check and index not in coverage.withdrawn
        )
        selected.append(first)
        wanted.subtract(coverage.meets[first])


def _remove_redundant(
    coverage: _Coverage, selected: list[int], wanted: Counter[Need], fixed: Iterable[int]
) -> None:
    """Remove cases whose needs are also met by others, the most expensive cases first."""
    checks = Counter(coverage.cases[index][0] for index in selected)
    for index in sorted(set(selected) - set(fixed), key=lambda index: -coverage.nodes[index]):
        check, _ = coverage.cases[index]
        if checks[check] > 1 and all(wanted[need] < 0 for need in coverage.meets[index]):
            selected.remove(index)
            checks[check] -= 1
            wanted.update(coverage.meets[index])


def _alternatives(
    coverage: _Coverage, excluded: Container[int], complete: Iterable[int]
) -> set[int]:
    """Return incomplete cases that would be selected if the `excluded` ones were missing, then those
    that would replace these, and so on.

    If a case turns out to be unusable, the next best case is often unusable as well.
    """
    alternatives: set[int] = set()
    for _ in range(ALTERNATIVE_SETS):
        remaining = [
            set() if index in excluded or index in alternatives else needs
            for index, needs in enumerate(coverage.meets)
        ]
        alternatives |= set(_fewest(replace(coverage, meets=remaining))) - set(complete)
    return {index for index in alternatives if coverage.meets[index]}


def _counts_of(coverage: _Coverage, indices: Iterable[int]) -> Counter[Need]:
    """Return how many of these cases meet each need."""
    return Counter(need for index in indices for need in coverage.meets[index])


def _selected_cases(check: Check, selected: Sequence[int], coverage: _Coverage) -> SelectedCases:
    indices = [index for index in selected if coverage.cases[index][0] == check.name]
    counts = _counts_of(coverage, selected)
    return SelectedCases(
        check,
        [coverage.cases[index][1] for index in indices],
        [_reason(coverage.meets[index], counts) for index in indices],
    )


def _reason(needs: Iterable[Need], counts: Mapping[Need, int]) -> str:
    """State how many mutants a case detects, and name some that few other cases detect."""
    number = len({name for name, aspect in needs if not aspect})
    rare = sorted({name for name, aspect in needs if name and counts[name, aspect] <= WANTED})
    reason = f"{REASON}{number} mutant{'s' * (number != 1)}"
    if rare:
        reason += f", few others expose {', '.join(rare[:2])}"
    if len(rare) > 2:
        reason += f" and {len(rare) - 2} more"
    if values := sorted(need[1] for need in needs if not need[0] and counts[need] == 1):
        reason += f", alone has {' and '.join(value.partition(', ')[2] for value in values)}"
    return reason


# ---- the table


def as_table(selection: CaseSelection) -> str:
    """Return the text of `hidden_cases.toml` for a selection; the cases of matches do not change.

    Comments on the lines of cases in the current table are kept.
    """
    lines = [
        f"# Study {selection.study.removeprefix('study')}: the hidden positions, which "
        "decide marks. Only staff may see them.",
        f"# Chosen by `autograder draw-positions {selection.study}`. Each comment gives the number of",
        "# mutants that a position exposes, and which of them few other positions expose.",
        "",
        "[cases]",
    ]
    selected = {each.check.name: each for each in selection.checks}
    study = hidden_cases.hidden_study(selection.study)
    notes = _notes(hidden_cases.cases_file(study).read_text("utf-8"))
    for name, check in study.checks.items():
        cases = selected[name].cases if name in selected else check.cases
        reasons = selected[name].reasons if name in selected else [""] * len(cases)
        lines.append(f"{name} = [")
        for case, reason in zip(cases, reasons, strict=True):
            comment = "; ".join(filter(None, (notes.get(_toml(case)), reason)))
            lines.append(f"    {_toml(case)},{f' # {comment}' if comment else ''}")
        lines += ["]", ""]
    return "\n".join(lines)


def _notes(table: str) -> dict[str, str]:
    """Return the comments on the cases of a table, by case, without the reasons that an earlier
    selection gave.
    """
    notes = {}
    for match in re.finditer(r"^ *(\{.*\}), *# *(.*)$", table, re.MULTILINE):
        case = tomllib.loads(f"case = {match[1]}")["case"]
        parts = [part for part in match[2].split("; ") if not part.startswith(REASON)]
        if note := "; ".join(parts):
            notes[_toml(case)] = note
    return notes


def _toml(value: object) -> str:
    """Return a case, or a value in it, as TOML on one line."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + " }"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return (
        '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(value, str)
        else repr(value)
    )


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _toml(name)
