"""Similarity: copies that are found, and false alarms.

The stored correct modules of a study, by people who had only the student kit, are a class. No two of
them should be listed, unless one is a version of the other: both are stored as versions of the same
answer, or most of the lines of one are in the other. Then each module is submitted once more in each
disguise, and the pair should be listed. The constants of the comparison were chosen with
these modules in view, so the rates of a new class will differ.
Written answers are measured with the sample answers of the studies, which differ, and with copies in
which words are replaced. The results are written to docs/similarity.md.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.benchmarks import Result
from autograder.benchmarks.support.disguises import DISGUISES, disguise, reword
from autograder.reporting.questions import sections
from autograder.reporting.similarity.findings import Modules, Pair, answer_pairs
from autograder.reporting.similarity.sources import (
    CLASS,
    TASKS,
    Handout,
    Source,
    given_texts,
    staff_sources,
)
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from common.syntax import parse_python
from course.checks import Study, load_study, studies

PAGE = Path(__file__).parents[3] / "docs" / "similarity.md"
CALLED = {"choose", "reset"}  # methods that the games call, even if the stub does not have them
VERSION = (
    0.67  # of a module's own lines: with more in common, two modules are versions of each other
)
MIN_CHARACTERS = 12  # of a line that can identify its author
COPY = "copy of "
HEAD = """# How reliable the comparison of submissions is

`python3 run.py bench similarity` writes this page.
[The guide for graders](grader.md#similar-submissions) explains the command that is measured here.

## Modules

The modules are the reference, the independent solution and the stored correct modules by people who
had only the student kit. *Listed* counts the pairs of independent modules that the command lists. Two
modules are not independent if more than two thirds of the lines of one are in the other, names
included, or if both are stored as versions of the same answer. The other columns show how many copies
in a disguise are listed together with their original.

The constants of the comparison were chosen with these modules and disguises in view, so expect worse
rates in your class.

"""
PROSE_HEAD = """
## Written answers

The sample answers to each question are independent. In the copies, one of eight or one of four words
is replaced, and the sentences are in another order.

"""


@dataclass(frozen=True)
class Rates:
    """The measurements of one study."""

    study: str
    modules: int
    pairs: int  # of independent modules
    listed: Sequence[tuple[str, str]]  # of these
    detected: Mapping[str, int]  # disguise -> copies found
    versions: int = 0  # listed pairs that are not independent


def run() -> list[Result]:
    """Measure all studies and write the page; takes a few minutes."""
    rates = [measure(load_study(name)) for name in studies() if staff_sources(load_study(name))]
    rates = [rate for rate in rates if rate.pairs]
    answers = prose()
    PAGE.write_text(page(rates, answers), "utf-8")
    modules = sum(rate.modules for rate in rates)
    independent = sum(rate.pairs for rate in rates)
    results = [
        Result(
            "independent modules that are listed",
            sum(len(rate.listed) for rate in rates) / independent,
            f"of {independent} pairs",
            "<= 0.01",
        )
    ]
    for how in DISGUISES:
        detected = sum(rate.detected[how] for rate in rates)
        results.append(
            Result(f"copies found: {how}", detected / modules, f"of {modules}", ">= 0.7")
        )
    targets = ("<= 0.01", ">= 0.7", None)
    for (what, number, total), target in zip(answers, targets, strict=True):
        results.append(Result(f"written answers: {what}", number / total, f"of {total}", target))
    return results


def measure(study: Study, hows: Sequence[str] = tuple(DISGUISES)) -> Rates:
    """Return the measurements of one study."""
    handout = given_texts(study.folder, study)
    originals = [replace(s, kind=CLASS, student=s.name) for s in staff_sources(study)]
    own = {source.name: _own_lines(source.module, handout) for source in originals}
    independent = {
        frozenset((one.name, other.name))
        for number, one in enumerate(originals)
        for other in originals[:number]
        if one.origin != other.origin and not _are_versions(own[one.name], own[other.name])
    }
    pairs = Modules(originals, handout).pairs()
    listed = [(p.one.name, p.other.name) for p in pairs if _names(p) in independent]
    versions = len(pairs) - len(listed)
    fixed = _fixed_names(study)
    detected = {}
    for how in hows:
        copies = [_copy(source, disguise(source.module, how, fixed)) for source in originals]
        copied = {_names(pair) for pair in Modules([*originals, *copies], handout).pairs()}
        detected[how] = sum(
            frozenset((source.name, COPY + source.name)) in copied for source in originals
        )
    return Rates(study.name, len(originals), len(independent), listed, detected, versions)


def prose() -> list[tuple[str, int, int]]:
    """Return what was measured with written answers, how many were listed, and of how many."""
    answers = [
        Source(f"{study} {name} {number}", CLASS, f"{study} {name} {number}", "", {key: text}, "")
        for study in studies()
        for name, texts in _sample_answers(load_study(study)).items()
        for key in [f"{study}{TASKS}{name}"]
        for number, text in enumerate(texts)
    ]
    handout = Handout((), "", ())
    questions = [next(iter(source.answers)) for source in answers]
    pairs = sum(questions.count(name) * (questions.count(name) - 1) // 2 for name in {*questions})
    rows = [
        ("independent answers to the same question", len(answer_pairs(answers, [], handout)), pairs)
    ]
    for every in (8, 4):
        copies = [
            replace(
                _copy(source, ""), answers={q: reword(t, every) for q, t in source.answers.items()}
            )
            for source in answers
        ]
        detected = {_names(pair) for pair in answer_pairs([*answers, *copies], [], handout)}
        number = sum(frozenset((each.name, COPY + each.name)) in detected for each in answers)
        rows.append((f"copies with one of {every} words replaced", number, len(answers)))
    return rows


def page(rates: Sequence[Rates], answers: Sequence[tuple[str, int, int]]) -> str:
    """Return the text of the page."""
    head = ["study", "modules", "independent pairs", "listed", *DISGUISES]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for rate in rates:
        counts = (rate.modules, rate.pairs, len(rate.listed), *rate.detected.values())
        lines.append([rate.study.removeprefix("study"), *map(str, counts)])
    modules = sum(rate.modules for rate in rates)
    pairs, listed = sum(rate.pairs for rate in rates), sum(len(rate.listed) for rate in rates)
    detected = [sum(rate.detected[how] for rate in rates) for how in DISGUISES]
    lines.append(["all", *map(str, (modules, pairs, listed, *detected))])
    shares = [_percent(listed, pairs), *(_percent(number, modules) for number in detected)]
    lines.append(["share", "", "", *shares])
    excluded = sum(rate.modules * (rate.modules - 1) // 2 for rate in rates) - pairs
    versions = sum(rate.versions for rate in rates)
    note = (
        f"\nAnother {excluded} pairs are not independent by this rule, and {versions} of them are "
        "listed. Some of their authors\nmay not have known each other's module, so *listed* is a "
        "lower bound.\n"
    )
    names = "".join(
        f"\nListed although independent, in {rate.study}: {one} and {other}.\n"
        for rate in rates
        for one, other in rate.listed
    )
    rows = [["what", "listed", "of", "share"], ["---", "---:", "---:", "---:"]]
    rows += [[what, str(n), str(total), _percent(n, total)] for what, n, total in answers]
    return HEAD + _table(lines) + note + names + PROSE_HEAD + _table(rows)


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _percent(number: int, total: int) -> str:
    return f"{100 * number / total:.1f} %"


def _copy(source: Source, module: str) -> Source:
    name = COPY + source.name
    return replace(source, name=name, origin=name, student=name, module=module)


def _names(pair: Pair) -> frozenset[str]:
    return frozenset((pair.one.name, pair.other.name))


def _fixed_names(study: Study) -> set[str]:
    """Return the names of functions and methods that students must not change."""
    tree = parse_python(stub(answer_path(study).read_text("utf-8"), study.module))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return CALLED | {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def _own_lines(text: str, handout: Handout) -> set[str]:
    return {*_lines(text)} - {*_lines(handout.stub)}


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = " ".join(line.split())
        if len(words) >= MIN_CHARACTERS and not words.startswith("#"):
            yield words


def _are_versions(one: set[str], other: set[str]) -> bool:
    return len(one & other) > VERSION * min(len(one), len(other))


def _sample_answers(study: Study) -> dict[str, list[str]]:
    """Return the sample answers to each written question, without their marks."""
    detected = {}
    for name, section in sections(study).items():
        samples = section.partition("**Sample answers.**")[2].partition("For the grader:")[0]
        texts = [part.partition(": ")[2].strip() for part in samples.split("\n* ")]
        detected[name] = [text for text in texts if text]
    return detected
