"""What the text of a study promises, sentence by sentence, and where each sentence is asked.

`studyN.toml` lists every sentence of the docstrings in the study's stub. A sentence that can be
false is `asked` by aspects of checks, and there are mutants that break it; of any other the list
says why it cannot be asked. May import `verdicts`, `mutants` and the public packages.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from autograder import verdicts
from autograder.mutants import load_mutants
from course.probes import Study, complain_about_keys, load_expected, load_study, read_table
from course.probes.outcome import same
from course.probes.syntax import parsed

HINT = "Hint:"  # begins a paragraph that promises nothing
BETWEEN_SENTENCES = re.compile(r'(?<=[.:?!])\s+(?=[A-Z`"])')


@dataclass(frozen=True)
class Promise:
    """A sentence of the docstring `of` something, the aspects ("type_a.nodes") that ask it, and the
    mutants that break it; or `because`, the reason that nothing asks it."""

    of: str  # "TypeA.search", or "module"
    says: str
    asked: Sequence[str]
    broken_by: Sequence[str]
    because: str


def promises_file(study: Study) -> Path:
    """The list of a study's promises; a study need not have one."""
    return study.home / "autograder" / "promises" / f"{study.name}.toml"


def load_promises(name: str) -> list[Promise]:
    """The promises of "study3", in the order of their file; raises `StudyTableError`."""
    file = promises_file(load_study(name))
    table = read_table(file)
    complain_about_keys(table, {"promise": list}, file, "at the top")
    found = []
    for number, entry in enumerate(table["promise"], 1):
        full = {"broken_by": [], "because": "", **entry} if isinstance(entry, dict) else entry
        complain_about_keys(
            full,
            {"of": str, "says": str, "asked": list, "broken_by": list, "because": str},
            file,
            f"promise {number}",
        )
        found.append(Promise(**full))
    return found


def sentences(stub: str) -> Iterator[tuple[str, str]]:
    """What each docstring of a stub is of, and each of its sentences; without hints and examples.

    >>> list(sentences('''"Two functions. Both double."
    ... def double(n):
    ...     \\"\\"\\"Twice n.
    ...
    ...     Hint: add n to itself.
    ...
    ...     >>> double(2)
    ...     4
    ...     \\"\\"\\"
    ... '''))
    [('module', 'Two functions.'), ('module', 'Both double.'), ('double', 'Twice n.')]
    """
    for name, docstring in _docstrings(parsed(stub), ()):
        for paragraph in re.split(r"\n\s*\n", docstring):
            lines = takewhile(
                lambda line: not line.startswith(">>>"), map(str.strip, paragraph.split("\n"))
            )
            text = " ".join(lines).strip()
            if text and not text.startswith(HINT):
                yield from ((name, sentence) for sentence in BETWEEN_SENTENCES.split(text))


def _docstrings(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, path: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    if docstring := ast.get_docstring(node):
        yield ".".join(path) or "module", docstring
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield from _docstrings(child, (*path, child.name))


def faults(study: Study) -> list[str]:
    """What is wrong with a study's list: a sentence for each promise that is missing or not kept.

    Each sentence of the stub stands in the list, and nothing else does. What is asked is broken by
    a mutant, and each mutant that is named loses one of the aspects in the hidden cases.
    """
    promises = load_promises(study.name)
    told = Counter(sentences((study.folder / study.module).read_text("utf-8")))
    listed = Counter((promise.of, promise.says) for promise in promises)
    found = [f"the text says of {of}, but the list does not: {says}" for of, says in told - listed]
    found += [f"the list has of {of}, but the text does not: {says}" for of, says in listed - told]
    aspects = {
        f"{check.name}.{aspect}" for check in study.checks.values() for aspect in check.points
    }
    lost = _lost(study)
    for promise in promises:
        found += [
            f"{promise.of}: {promise.says} {fault}" for fault in _faults(promise, aspects, lost)
        ]
    return found


def _faults(
    promise: Promise, aspects: Collection[str], lost: Mapping[str, set[str]]
) -> Iterator[str]:
    for aspect in promise.asked:
        if aspect not in aspects:
            yield f"(there are no points for {aspect!r})"
    for mutant in promise.broken_by:
        if mutant not in lost:
            yield f"(there is no mutant {mutant!r})"
        elif not lost[mutant] & set(promise.asked):
            yield f"({mutant} loses nothing of {', '.join(promise.asked) or 'nothing'})"
    if bool(promise.broken_by) == bool(promise.because):
        yield "(either mutants break it, or something is said of why none can)"


def _lost(study: Study) -> dict[str, set[str]]:
    """The aspects that each mutant loses in the hidden cases, as their expected replies say."""
    hidden = verdicts.hidden_study(study.name)
    expected, slips = load_expected(verdicts.expected_file(study), hidden.checks.values())
    lost: dict[str, set[str]] = {mutant.name: set() for mutant in load_mutants(study.name)}
    for slip in slips:
        for name, seen in slip.observed.items():
            check = study.checks[name]
            lost[slip.name] |= {
                f"{name}.{aspect}"
                for aspect in check.points
                if not all(
                    same(check.ask, aspect, wanted.get(aspect), (got or {}).get(aspect))
                    for wanted, got in zip(expected[name], seen, strict=True)
                )
            }
    return lost
