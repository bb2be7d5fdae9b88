"""Proves the hidden positions of a study against mutants that a machine made.

Each mutant must be seen by a case of the check that it spoils. One that no hidden case sees is
asked fresh cases: it is *equivalent* if none of them sees it either, and *alive* otherwise - then
the hidden positions let a wrong module pass.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice

from autograder import verdicts, workspace
from autograder.doctor.fresh_cases import fresh_cases
from autograder.doctor.machine_mutants import MachineMutant, machine_mutants
from autograder.workspace.reach import Reach
from course.probes import Case, Check, Study
from course.probes.outcome import is_right
from course.probes.questions import MATCHES
from course.probes.replies import Replies

SAMPLE = 2_000  # fresh cases of each check that a mutant must pass to count as equivalent
AT_ONCE = 100  # of them in one go
SLOWER = 20  # times as long as the reference: a mutant that takes longer has been seen
LEAST = 2.0  # seconds, whatever the reference needs


@dataclass(frozen=True)
class Alive:
    """A mutant that no hidden case sees, and the fresh case that does."""

    mutant: MachineMutant
    check: str
    case: Case


@dataclass(frozen=True)
class MachineProof:
    """What became of the machine's mutants of one study."""

    study: str
    made: int
    killed: int
    equivalent: tuple[MachineMutant, ...]
    alive: tuple[Alive, ...]
    fresh: int  # cases that each of the equivalent ones was asked, over all checks
    seconds: float


def prove_by_machine(
    study: Study,
    seed: int = 1,
    sample: int = SAMPLE,
    done: Callable[[str], None] = lambda said: None,
) -> MachineProof:
    """Put every machine-made mutant of a study through its hidden cases, and survivors through
    `sample` fresh ones of each check; `done` is told of each mutant.

    Checks that are games are left out: no slip can be told by their results.
    """
    begun = time.monotonic()
    hidden = _without_games(verdicts.hidden_study(study.name))
    text = workspace.answer_path(study).read_text("utf-8")
    mutants = machine_mutants(text) if hidden.checks else []
    reach = Reach(hidden, text)
    judge = _Judge(hidden, text, reach)
    with ThreadPoolExecutor(workspace.at_once()) as pool:
        seen = list(pool.map(lambda mutant: _told(judge.sees(mutant), mutant, done), mutants))
        survivors = [mutant for mutant, case in zip(mutants, seen, strict=True) if case is None]
        left, alive, fresh = survivors, [], 0
        for portion in _portions(study, _reached(hidden, reach, survivors), seed, sample):
            judge = _Judge(portion, text, reach)
            fresh += judge.cases
            found = list(pool.map(judge.sees, left))
            alive += [
                Alive(mutant, *case)
                for mutant, case in zip(left, found, strict=True)
                if case is not None
            ]
            left = [mutant for mutant, case in zip(left, found, strict=True) if case is None]
            done(f"{fresh:,} fresh cases")
            if not left:
                break
    return MachineProof(
        study.name,
        len(mutants),
        len(mutants) - len(survivors),
        tuple(left),
        tuple(alive),
        fresh,
        time.monotonic() - begun,
    )


def _told(result, mutant: MachineMutant, done: Callable[[str], None]):
    done(mutant.what)
    return result


def _without_games(study: Study) -> Study:
    return replace(
        study,
        checks={name: check for name, check in study.checks.items() if check.ask not in MATCHES},
    )


class _Judge:
    """Compares a module with the reference on the cases of a study, by the checks that reach what
    is changed."""

    def __init__(self, study: Study, reference: str, reach: Reach) -> None:
        self._study, self._reach = study, reach
        self._expected = workspace.ask_all(study, reference, 60)
        self._most = {
            name: max(LEAST, SLOWER * replies.seconds) for name, replies in self._expected.items()
        }
        self.cases = sum(len(check.cases) for check in study.checks.values())

    def sees(self, mutant: MachineMutant) -> tuple[str, Case] | None:
        """The first check and case in which the mutant's reply is not the reference's."""
        reached = self._reach.checks(mutant.text)
        for name, check in self._study.checks.items():
            if name not in reached:
                continue
            (replies,) = workspace.ask_all(
                self._study, mutant.text, checks=[name], most=self._most[name]
            ).values()
            case = _differing(check, replies, self._expected[name])
            if case is not None:
                return name, case
        return None


def _differing(check: Check, replies: Replies, expected: Replies) -> Case | None:
    if replies.broken:
        return check.cases[0]
    for case, ours, theirs in zip(
        check.cases, expected.observations, replies.observations, strict=True
    ):
        asked = [a for a in check.points if a in (ours or {})]  # a fresh case may be no question
        if not all(is_right(check.ask, ours, theirs or {}, aspect) for aspect in asked):
            return case
    return None


def _reached(hidden: Study, reach: Reach, survivors: Iterable[MachineMutant]) -> Study:
    """The study with only the checks that one of the survivors can change."""
    names = set().union(*(reach.checks(mutant.text) for mutant in survivors))
    return replace(
        hidden, checks={name: check for name, check in hidden.checks.items() if name in names}
    )


def _portions(study: Study, hidden: Study, seed: int, sample: int) -> Iterator[Study]:
    """Fresh cases of each check, in portions, until the sample is used up."""
    rng = random.Random(f"fresh cases of {study.name} {seed}")
    drawn = {
        name: fresh_cases(check, [*check.cases, *study.checks[name].cases], rng)
        for name, check in hidden.checks.items()
    }
    for _ in range(0, sample, AT_ONCE):
        checks = {
            name: replace(check, cases=list(islice(drawn[name], AT_ONCE)))
            for name, check in hidden.checks.items()
        }
        checks = {name: check for name, check in checks.items() if check.cases}
        if not checks:
            return
        yield replace(hidden, checks=checks)
