"""Pages state no wrong cause: measured on modules whose mistakes are known.

- A mistake that is unknown: the replies of each known mistake are judged without knowing it.
- Two mistakes in different functions, or a mistake and a function that is missing.
"""

import ast
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat, zip_longest

import pytest

from autograder import workspace
from autograder.grading.verdict.answer_key import AnswerKey
from autograder.grading.verdict.judging import CheckRun, first_outcome, judge
from autograder.studies.generated_mutants import GeneratedMutants
from autograder.studies.mutants import load_mutants
from autograder.tests.support.modules.graded import key_of, losses
from course.checks import KnownMistake, StudyTableError, load_study, studies
from course.checks.marking.outcome import Outcome
from course.checks.questions import MATCHES
from course.checks.replies import Replies

ENOUGH = 0.99  # of the modules with an unknown mistake: a few have the replies of another one
SECONDS = 50.0  # for the modules with two mistakes
STUDIES = [name for name in studies() if len(load_study(name).checks) > 1 or name == "study2"]


def likely_causes(judged: Iterator[Outcome] | list[Outcome]) -> Iterator[list[str]]:
    """The sentences of each cause that pages call likely; there can be alternatives."""
    for outcome in judged:
        if outcome.cause and not outcome.is_doubtful:
            yield outcome.cause.removeprefix("One of these: ").split(" Or: ")


def judged_without(key: AnswerKey, mistake: KnownMistake) -> list[Outcome]:
    """The outcomes of a module with a mistake that the answer key does not contain."""
    others = [each for each in key.mistakes if each.observed != mistake.observed]
    key = replace(key, mistakes=others, generated=GeneratedMutants())
    runs = {}
    for check in key.study.checks.values():
        if check.ask not in MATCHES:
            replies = Replies(tuple(mistake.observed.get(check.name, key.expected[check.name])))
            runs[check.id] = CheckRun(check, replies, first_outcome(key, check, replies))
    return list(judge(key, runs).values())


@pytest.mark.slow
@pytest.mark.content
def test_an_unknown_mistake_is_not_taken_for_a_known_one():
    """Without the entry of a mistake, its replies are explained by nothing, or as possible."""
    wrong, number = [], 0
    for name in STUDIES:
        key = key_of(name)
        for mistake in key.mistakes:
            number += 1
            causes = list(likely_causes(judged_without(key, mistake)))
            if causes:
                wrong.append((name, mistake.name, causes))
    assert len(wrong) <= (1 - ENOUGH) * number, wrong


def functions(text: str) -> dict[str, ast.FunctionDef]:
    """The functions of a module, and the methods of classes without a base, by name."""
    tree = ast.parse(text)
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for part in tree.body:
        if isinstance(part, ast.ClassDef) and not part.bases:
            found |= {
                f"{part.name}.{node.name}": node
                for node in part.body
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
            }
    return found


def without(text: str, function: ast.FunctionDef) -> str:
    """A module without one of its functions."""
    lines = text.splitlines(keepends=True)
    start = min(node.lineno for node in [function, *function.decorator_list])
    lines[start - 1 : function.end_lineno] = [f"{' ' * function.col_offset}pass\n"]
    return "".join(lines)


def changed(first: str, second: str) -> set[str]:
    """The names of the functions that differ between two modules."""
    ours, theirs = (
        {name: ast.dump(node) for name, node in functions(text).items()} for text in (first, second)
    )
    return {name for name in ours.keys() | theirs if ours.get(name) != theirs.get(name)}


def two_mistakes(name: str) -> Iterator[tuple[set[str], str]]:
    """Modules of a study with two independent mistakes each, and the names of these mistakes; every
    other module lacks a function instead of the second mistake.
    """
    answer = workspace.answer_path(load_study(name)).read_text("utf-8")
    mutants, rng = load_mutants(name), random.Random(name)
    while True:
        first, second = rng.sample(mutants, 2)
        text, other = first.apply(answer), second.apply(answer)
        in_first, in_second = changed(answer, text), changed(answer, other)
        if in_first and in_second and not in_first & in_second:
            try:
                yield {first.name, second.name}, second.apply(text)
            except StudyTableError:  # both edit the same lines outside of functions
                continue
        missing = sorted(functions(text).keys() - in_first)
        yield {first.name}, without(text, functions(text)[rng.choice(missing)])


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.xdist_group("outsiders")
def test_of_two_mistakes_each_stated_cause_is_one_of_them():
    """A second mistake, or a missing function, does not make a page state a third one."""
    start, number, wrong = time.monotonic(), 0, []
    modules = [zip(repeat(name), two_mistakes(name), strict=False) for name in STUDIES]
    for name, (mistakes, text) in (each for row in zip_longest(*modules) for each in row):
        if number >= len(STUDIES) and time.monotonic() - start > SECONDS:
            break
        number += 1
        known = {each.name: each for each in key_of(name).mistakes}
        replies = [known[each].observed for each in mistakes]
        truths = {each.sentence for each in known.values() if each.observed in replies}
        for causes in likely_causes(losses(name, text)):
            if truths.isdisjoint(causes):
                wrong.append((name, mistakes, causes))
    print(f"{number} modules")
    assert not wrong
