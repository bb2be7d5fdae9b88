"""Tests the hidden cases of a study with generated mutants.

The hidden cases should kill each mutant, that is, its replies must differ from the reference's in
at least one case. A mutant that survives runs on the public and on fresh cases. It is *equivalent*
if none of them kills it either; otherwise, the hidden cases let a wrong module pass.

Named mutants and the wrong modules of outsiders are not generated, but the hidden cases must detect
them as well if the public cases do.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from autograder import workspace
from autograder.doctor.mutant_generator import GeneratedMutant, generate_mutants
from autograder.studies import hidden_cases
from autograder.studies.fresh_cases import fresh_cases
from autograder.studies.mutants import load_outsiders
from autograder.workspace.affected_checks import AffectedChecks
from course.checks import Case, Check, Observation, Study, load_expected
from course.checks.marking.comparison import is_right
from course.checks.questions import MATCHES
from course.checks.replies import Replies

SAMPLE = 2_000  # fresh cases of each check that a mutant must pass to be equivalent
PORTION = 100  # how many of these run together
MAX_SLOWDOWN = 20  # a mutant that takes this many times as long as the reference counts as killed
MIN_SECONDS = 2.0  # for one check, however fast the reference is


@dataclass(frozen=True)
class SurvivingMutant:
    """A mutant that no hidden case kills, and the fresh case that kills it."""

    mutant: GeneratedMutant
    check: str
    case: Case


@dataclass(frozen=True)
class MutationTestResult:
    """The result of running the generated mutants of one study."""

    study: str
    generated: int
    killed: int
    equivalent: tuple[GeneratedMutant, ...]
    survivors: tuple[SurvivingMutant, ...]
    fresh_cases: int  # passed by each equivalent mutant, over all checks
    seconds: float


def run_mutation_testing(
    study: Study,
    seed: int = 1,
    sample: int = SAMPLE,
    progress: Callable[[str], None] = lambda note: None,
) -> MutationTestResult:
    """Run every generated mutant of a study on the hidden cases, and each survivor on the public
    cases and on `sample` fresh cases of each check. `progress` is called with a note about each
    mutant.

    Matches are excluded, because their results do not identify a mistake.
    """
    started = time.monotonic()
    hidden = _without_matches(hidden_cases.hidden_study(study.name))
    text = workspace.answer_path(study).read_text("utf-8")
    mutants = generate_mutants(text) if hidden.checks else []
    affected = AffectedChecks(hidden, text)
    detector = _Detector(hidden, text, affected)
    with ThreadPoolExecutor(workspace.max_parallel()) as pool:

        def is_killed(mutant: GeneratedMutant) -> bool:
            case = detector.killing_case(mutant.text)
            progress(mutant.description)
            return case is not None

        killed = list(pool.map(is_killed, mutants))
        survivors = [mutant for mutant, dead in zip(mutants, killed, strict=True) if not dead]
        left, killed_later, fresh = survivors, [], 0
        relevant = _relevant_checks(hidden, affected, survivors)
        public = replace(study, checks={name: study.checks[name] for name in relevant.checks})
        for portion in chain([public], _portions(study, relevant, seed, sample)):
            if not left:
                break
            detector = _Detector(portion, text, affected)
            cases = list(pool.map(detector.killing_case, [mutant.text for mutant in left]))
            pairs = list(zip(left, cases, strict=True))
            killed_later += [SurvivingMutant(mutant, *case) for mutant, case in pairs if case]
            left = [mutant for mutant, case in pairs if case is None]
            if portion is not public:
                fresh += detector.case_count
                progress(f"{fresh:,} fresh cases")
    return MutationTestResult(
        study.name,
        len(mutants),
        len(mutants) - len(survivors),
        tuple(left),
        tuple(killed_later),
        fresh,
        time.monotonic() - started,
    )


def lost_only_in_public_cases(study: Study) -> list[str]:
    """Return a message for each named mutant that loses an aspect of a check in some public case,
    but in no hidden case. The replies are read from the derived files.
    """
    hidden = _without_matches(hidden_cases.hidden_study(study.name))
    public = replace(study, checks={name: study.checks[name] for name in hidden.checks})
    lost_hidden = _lost_by_mutants(hidden, hidden_cases.expected_file(hidden))
    return [
        f"mutant {mutant}: it loses {aspect!r} of {check} in a public case, but in no hidden one"
        for mutant, check, aspect in sorted(_lost_by_mutants(public, public.expected_file))
        if (mutant, check, aspect) not in lost_hidden
    ]


def _lost_by_mutants(study: Study, expected_file: Path) -> set[tuple[str, str, str]]:
    """Return the losses in a derived file: the mutant, the check and the aspect."""
    expected, mistakes = load_expected(expected_file, study.checks.values())
    return {
        (mistake.name, name, aspect)
        for mistake in mistakes
        for name, check in study.checks.items()
        if name in mistake.observed
        for right, got in zip(expected[name], mistake.observed[name], strict=True)
        for aspect in lost_aspects(check, right, got)
    }


def outsiders_detected_only_in_public_cases(
    study: Study, progress: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Run the wrong modules of outsiders on the hidden cases and, if they lose nothing there, on the
    public ones; return a message for each one that loses something.
    """
    hidden = _without_matches(hidden_cases.hidden_study(study.name))
    public = replace(study, checks={name: study.checks[name] for name in hidden.checks})
    texts = [file.read_text("utf-8") for file in workspace.correct_answers(study)]
    wrong = [(each.name, each.apply(texts[-1])) for each in load_outsiders(study)]
    everything = AffectedChecks(hidden, texts[0])
    detectors = (
        [_Detector(each, texts[0], everything) for each in (hidden, public)] if wrong else []
    )

    def is_detected_only_in_public(module: tuple[str, str]) -> bool:
        progress(module[0])
        seen, public_case = (detector.killing_case(module[1]) for detector in detectors)
        return seen is None and public_case is not None

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        flags = list(pool.map(is_detected_only_in_public, wrong))
    return [
        f"outsider's module {name}: it loses points in a public case, but in no hidden one"
        for (name, _), flag in zip(wrong, flags, strict=True)
        if flag
    ]


def lost_aspects(
    check: Check, expected: Observation | None, observation: Observation | None
) -> set[str]:
    """Return the aspects with points that a reply loses; none if the reference has no reply."""
    if expected is None:
        return set()
    return {
        aspect
        for aspect in check.points
        if aspect in expected and not is_right(check.ask, expected, observation or {}, aspect)
    }


def _without_matches(study: Study) -> Study:
    return replace(
        study,
        checks={name: check for name, check in study.checks.items() if check.ask not in MATCHES},
    )


class _Detector:
    """Compares mutants with the reference on the cases of a study, in those checks that a mutant
    affects.
    """

    def __init__(self, study: Study, reference: str, affected: AffectedChecks) -> None:
        self._study, self._affected = study, affected
        self._expected = workspace.run_checks(study, reference, 60)
        self._max_seconds = {
            name: max(MIN_SECONDS, MAX_SLOWDOWN * replies.seconds)
            for name, replies in self._expected.items()
        }
        self.case_count = sum(len(check.cases) for check in study.checks.values())

    def killing_case(self, text: str) -> tuple[str, Case] | None:
        """Return the first check and case in which a wrong module's reply differs from the
        reference's.
        """
        affected = self._affected.checks(text)
        for name, check in self._study.checks.items():
            if name not in affected:
                continue
            (replies,) = workspace.run_checks(
                self._study, text, checks=[name], max_seconds=self._max_seconds[name]
            ).values()
            case = _differing(check, replies, self._expected[name])
            if case is not None:
                return name, case
        return None


def _differing(check: Check, replies: Replies, expected: Replies) -> Case | None:
    if replies.broken:
        return check.cases[0]
    for case, right, observation in zip(
        check.cases, expected.observations, replies.observations, strict=True
    ):
        if lost_aspects(check, right, observation):  # the reference has no reply to an invalid case
            return case
    return None


def _relevant_checks(
    hidden: Study, affected: AffectedChecks, survivors: Iterable[GeneratedMutant]
) -> Study:
    """Return the study with only the checks that at least one of the survivors affects."""
    names = set().union(*(affected.checks(mutant.text) for mutant in survivors))
    return replace(
        hidden, checks={name: check for name, check in hidden.checks.items() if name in names}
    )


def _portions(study: Study, hidden: Study, seed: int, sample: int) -> Iterator[Study]:
    """Yield fresh cases of each check, in portions, until the sample is exhausted."""
    rng = random.Random(f"fresh cases of {study.name} {seed}")
    drawn = {
        name: fresh_cases(check, [*check.cases, *study.checks[name].cases], rng)
        for name, check in hidden.checks.items()
    }
    for _ in range(0, sample, PORTION):
        checks = {
            name: replace(check, cases=list(islice(drawn[name], PORTION)))
            for name, check in hidden.checks.items()
        }
        checks = {name: check for name, check in checks.items() if check.cases}
        if not checks:
            return
        yield replace(hidden, checks=checks)
