"""Verifies that mutants break the requirements in a study's stub, sentence by sentence.

A mutant quotes the sentences of the docstrings that it breaks. A mutant must break every sentence,
except sentences about given code and sentences that `mutants.toml` lists as untested.
"""

import ast
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from autograder.studies.mutants import LEFT_OUT, UNEXPOSED, load_mutants, load_untested
from autograder.workspace import answer_path
from autograder.workspace.strip import stub, written_functions
from common.syntax import parse_python
from course.checks import Study

HINT = "Hint:"  # begins a paragraph that states no requirement
BETWEEN_SENTENCES = re.compile(r'(?<=[.?!])\s+(?=[A-Z`"])')
STATES = BROKEN, GIVEN_CODE, UNTESTED, UNCOVERED = (
    "broken by mutants",
    "about given code",
    "listed as untested",
    "not covered",
)
Sentence = tuple[str, str]  # the owner of the docstring, "TypeA.search" or "module", and the text


class SentenceCoverage(NamedTuple):
    """One sentence of a stub, whether it is covered, and the mutants that break it."""

    sentence: Sentence
    state: str
    mutants: frozenset[str]


def stub_coverage(study: Study) -> tuple[str, list[str]]:
    """Return a summary of how many of the stub's sentences are broken by mutants, and a message for
    each problem.
    """
    rows, problems = sentence_coverage(study)
    if not rows:
        return f"{study.name}: no mutant quotes a sentence of the stub", []
    counts = Counter(row.state for row in rows)
    numbers = ", ".join(f"{counts[state]} {state}" for state in STATES)
    return f"{study.name}: {len(rows)} sentences in the stub: {numbers}", problems


def sentence_coverage(study: Study) -> tuple[list[SentenceCoverage], list[str]]:
    """Return the sentences of the stub with the mutants that break them, and a message for each
    problem. There are none if no mutant quotes a sentence.
    """
    mutants, untested = load_mutants(study.name), load_untested(study)
    if not untested and not any(mutant.breaks for mutant in mutants):
        return [], []
    answer = answer_path(study).read_text("utf-8")
    stated = list(sentences(stub(answer, study.module)))
    problems = [
        f"mutant {mutant.name}: it breaks a sentence of the stub but loses no marks"
        for mutant in mutants
        if mutant.breaks and not mutant.loses
    ]
    broken: dict[Sentence, set[str]] = {}
    for mutant in mutants:
        for sentence in quoted(mutant.breaks, stated, f"mutant {mutant.name}", problems):
            broken.setdefault(sentence, set()).add(mutant.name)
    listed = [
        sentence
        for reason, quotations in untested.items()
        for sentence in quoted(quotations, stated, f"untested, {reason!r}", problems)
    ]
    given_code = _about_given_code(stated, written_functions(answer))
    states = (
        dict.fromkeys(stated, UNCOVERED)
        | dict.fromkeys(listed, UNTESTED)
        | dict.fromkeys(given_code, GIVEN_CODE)
        | dict.fromkeys(broken, BROKEN)
    )
    left_out = [
        sentence
        for reason in (LEFT_OUT, UNEXPOSED)
        for sentence in quoted(untested.get(reason, []), stated, reason, [])
    ]
    problems += _problems(states, {*listed} - {*left_out})
    rows = [
        SentenceCoverage(sentence, state, frozenset(broken.get(sentence, ())))
        for sentence, state in states.items()
    ]
    return rows, problems


def _problems(states: Mapping[Sentence, str], listed: Container[Sentence]) -> Iterator[str]:
    for sentence, state in states.items():
        if state == UNCOVERED:
            yield f"{': '.join(sentence)} (no mutant breaks this sentence)"
        elif state != UNTESTED and sentence in listed:
            yield f"{': '.join(sentence)} ({UNTESTED}, but {state})"


def quoted(
    quotations: Iterable[str], stated: Sequence[Sentence], place: str, problems: list[str]
) -> Iterator[Sentence]:
    """Yield the sentence from which each quotation ("owner: phrase") is taken; append messages to
    `problems`.
    """
    for quotation in quotations:
        owner, _, phrase = quotation.partition(": ")
        matches = [
            sentence for sentence in stated if sentence[0] == owner and phrase in sentence[1]
        ]
        if len(matches) == 1:
            yield matches[0]
        else:
            number = f"{len(matches)} sentences" if matches else "no sentence"
            problems.append(f"{place}: {quotation!r} matches {number} of the stub")


def _about_given_code(stated: Iterable[Sentence], written: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences about functions and classes in which students write nothing."""
    for owner, text in stated:
        if owner != "module" and not any(f"{name}.".startswith(f"{owner}.") for name in written):
            yield owner, text


def sentences(source: str) -> Iterator[Sentence]:
    """Yield the sentences of each docstring of a stub, without the module's title, hints and
    examples.

    >>> list(sentences('''"Title."
    ... def double(n):
    ...     \"\"\"Twice n. It is pure.
    ...
    ...     Hint: add n to itself.
    ...
    ...     >>> double(2)
    ...     4
    ...     \"\"\"
    ... '''))
    [('double', 'Twice n.'), ('double', 'It is pure.')]
    """
    for owner, docstring in _docstrings(parse_python(source), ()):
        for number, paragraph in enumerate(re.split(r"\n\s*\n", docstring)):
            lines = takewhile(
                lambda line: not line.startswith(">>>"), map(str.strip, paragraph.split("\n"))
            )
            text = " ".join(lines).strip()
            is_title = owner == "module" and number == 0
            if text and not is_title and not text.startswith(HINT):
                yield from ((owner, sentence) for sentence in BETWEEN_SENTENCES.split(text))


def _docstrings(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, path: tuple[str, ...]
) -> Iterator[Sentence]:
    if docstring := ast.get_docstring(node):
        yield ".".join(path) or "module", docstring
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield from _docstrings(child, (*path, child.name))
