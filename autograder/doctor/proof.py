"""Verifies a study: the reference gets full marks, the stub earns 0, and each mutant loses the
listed marks.

It also verifies that no file for students contains a hidden position, an expected reply or a
solution.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from autograder import workspace
from autograder.release.assignments import assignment_files
from autograder.release.leaks import find_leaks, public_files
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants
from course.checks import Study, load_study
from course.checks.marking.explain import as_text
from course.checks.marking.outcome import Outcome


@dataclass(frozen=True)
class Finding:
    """The result for one module: its marks, and the aspects that it loses and should lose."""

    name: str
    earned: float
    points: float
    loses: Mapping[str, tuple[str, ...]]
    should_lose: Mapping[str, tuple[str, ...]]
    named: bool  # whether a mistake has these replies, or feedback shows the error that was raised

    @property
    def healthy(self) -> bool:
        """Whether the module loses exactly the aspects that it should, and the feedback can explain
        why.
        """
        return self.loses == self.should_lose and self.named


def examine(
    study: Study, progress: Callable[[Finding], None] = lambda finding: None
) -> list[Finding]:
    """Run the reference, the stub and every mutant through the hidden checks."""
    texts = workspace.module_texts(study)
    everything = {name: tuple(check.points) for name, check in study.checks.items()}
    should = {"reference": {}, "second": {}, "stub": everything} | {
        m.name: {check: tuple(aspects) for check, aspects in m.loses.items()}
        for m in load_mutants(study.name)
    }
    findings = []
    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        examined = pool.map(lambda text: workspace.outcomes_of(study, text), texts.values())
        for name, outcomes in zip(texts, examined, strict=True):
            finding = _finding(name, outcomes, should[name])
            findings.append(finding)
            progress(finding)
    return findings


def _finding(name: str, outcomes: list[Outcome], should: Mapping[str, tuple[str, ...]]) -> Finding:
    loses = {}
    for outcome in outcomes:
        lost = tuple(a.name for a in outcome.aspects if a.right < a.cases)
        if lost:
            loses[outcome.check.split(".")[1]] = lost
    named = all(_is_named(outcome, stub=name == "stub") for outcome in outcomes)
    order = {check: tuple(sorted(aspects)) for check, aspects in loses.items()}
    wanted = {check: tuple(sorted(aspects)) for check, aspects in should.items()}
    return Finding(
        name, sum(o.earned for o in outcomes), sum(o.points for o in outcomes), order, wanted, named
    )


def _is_named(outcome: Outcome, *, stub: bool) -> bool:
    """Whether the feedback can explain what a mutant loses in a check, and the stub earns nothing."""
    if stub:
        return outcome.earned == 0
    return bool(outcome.full or outcome.is_match or outcome.matching or outcome.problem)


def show_mutant(study_name: str, mutant: str, check: str) -> str:
    """Return the feedback that a mutant gets from one check, as text."""
    study = load_study(study_name)
    (outcome,) = workspace.outcomes_of(study, workspace.module_texts(study)[mutant], [check])
    return as_text(outcome)


def leaks(study: Study) -> list[str]:
    """Search all files that students receive, the release and the public packages, for leaks."""
    files = {*assignment_files(study), *public_files()}
    expected = hidden_cases.expected_file(study).read_bytes()
    return find_leaks(study, sorted(files)) + [
        f"{path} is the private file of expected replies"
        for path in sorted(files)
        if path.read_bytes() == expected
    ]
