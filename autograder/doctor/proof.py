"""Verifies a study: the reference gets full marks, the stub none, each mutant loses what it should.

And no hidden position, expected reply or solution is in anything that a student can get, and what
the text promises is asked.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

from autograder import promises, verdicts, workspace
from autograder.grading.verdict import Seconds, decide
from autograder.mutants import Mutant, load_mutants
from autograder.release.assignments import released_files
from autograder.release.leaks import find_leaks, public_files
from course.probes import Study, load_study
from course.probes.explain import as_text
from course.probes.outcome import Outcome
from course.probes.replies import SECONDS


@dataclass(frozen=True)
class Finding:
    """The result for one module: its marks, what it loses, and what it should lose."""

    name: str
    earned: float
    points: float
    loses: Mapping[str, tuple[str, ...]]
    should_lose: Mapping[str, tuple[str, ...]]
    named: bool  # whether the feedback names the slip, or another whose replies are the same

    @property
    def healthy(self) -> bool:
        """Whether it loses exactly what it should, and feedback can say why."""
        return self.loses == self.should_lose and self.named


def examine(study: Study, done: Callable[[Finding], None] = lambda f: None) -> list[Finding]:
    """Run the reference, the stub and every mutant through the hidden checks."""
    texts = workspace.module_texts(study)
    everything = {name: tuple(check.points) for name, check in study.checks.items()}
    should = {"reference": {}, "second": {}, "stub": everything} | {
        m.name: {check: tuple(aspects) for check, aspects in m.loses.items()}
        for m in load_mutants(study.name)
    }
    findings = []
    with ThreadPoolExecutor(workspace.at_once()) as pool:
        examined = pool.map(lambda text: workspace.outcomes_of(study, text), texts.values())
        for name, outcomes in zip(texts, examined, strict=True):
            finding = _finding(name, outcomes, should[name])
            findings.append(finding)
            done(finding)
    return findings


def _finding(name: str, outcomes: list[Outcome], should: Mapping[str, tuple[str, ...]]) -> Finding:
    loses = {}
    for outcome in outcomes:
        lost = tuple(a.name for a in outcome.aspects if a.right < a.asked)
        if lost:
            loses[outcome.check.split(".")[1]] = lost
    if name == "stub":
        named = all(o.earned == 0 for o in outcomes)
    else:
        named = all(o.slip is not None for o in outcomes if not o.full and not o.is_match)
    order = {check: tuple(sorted(aspects)) for check, aspects in loses.items()}
    wanted = {check: tuple(sorted(aspects)) for check, aspects in should.items()}
    return Finding(
        name, sum(o.earned for o in outcomes), sum(o.points for o in outcomes), order, wanted, named
    )


class Carried(NamedTuple):
    """What a mutant earns, without and with what is right given its slip."""

    name: str
    plain: float
    earned: float
    points: float


def carried_marks(study: Study, done: Callable[[str], None] = lambda name: None) -> list[Carried]:
    """The marks of every mutant that gets some back because they are right given its slip."""
    texts = workspace.module_texts(study)

    def of(mutant: Mutant) -> Carried:
        done(mutant.name)
        plain = {o.check: o for o in workspace.outcomes_of(study, texts[mutant.name])}
        outcomes = [
            o
            if o.full or o.is_match
            else decide(
                o.check,
                lambda _, check, seconds: workspace.ask(study, texts[mutant.name], check, seconds),
                Seconds(None, SECONDS, SECONDS),
            )
            for o in plain.values()
        ]
        return Carried(
            mutant.name,
            sum(o.earned for o in plain.values()),
            sum(o.earned for o in outcomes),
            sum(o.points for o in outcomes),
        )

    with ThreadPoolExecutor(workspace.at_once()) as pool:
        return [
            found for found in pool.map(of, load_mutants(study.name)) if found.earned > found.plain
        ]


def show_mutant(study_name: str, mutant: str, check: str) -> str:
    """The feedback that a mutant gets from one check, as text."""
    study = load_study(study_name)
    (outcome,) = workspace.outcomes_of(study, workspace.module_texts(study)[mutant], [check])
    return as_text(outcome)


def broken_promises(study: Study) -> tuple[str, list[str]]:
    """How many sentences of the stub are asked, in a sentence, and one for each fault."""
    if not promises.promises_file(study).is_file():
        return f"{study.name}: what its text promises is not listed", []
    listed = promises.load_promises(study.name)
    asked = sum(bool(promise.broken_by) for promise in listed)
    return (
        f"{study.name}: {len(listed)} sentences of its text, {asked} are asked and broken by "
        f"mutants, {len(listed) - asked} cannot be asked"
    ), promises.faults(study)


def leaks(study: Study) -> list[str]:
    """Search everything that a student can get, the release and the public packages, for leaks."""
    files = {*released_files(study), *public_files()}
    expected = verdicts.expected_file(study).read_bytes()
    found = find_leaks(study, sorted(files))
    return found + [
        f"{path} is the private file of expected replies"
        for path in sorted(files)
        if path.read_bytes() == expected
    ]
