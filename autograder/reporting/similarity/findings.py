"""Finds the pairs of submissions that a person should compare.

A pair is listed if two modules, or two answers to the same question, share more than independent
authors do (see `thresholds.py`). A module is also listed with a public file if it contains a
function of that file. Members of a group are not compared with each other, and students are not
compared with their own earlier submissions.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from autograder.reporting.similarity.hints import Hints, given_words, marks_of
from autograder.reporting.similarity.matching import Comparison, Document, Region, Units, runs_of
from autograder.reporting.similarity.normal_form import (
    Token,
    attribute_names,
    given_names,
    normal_form,
)
from autograder.reporting.similarity.sources import CLASS, PUBLIC, STAFF, TASKS, Handout, Source
from autograder.reporting.similarity.thresholds import CODE, PROSE, Rule, usual_share

CODE_RUN, PROSE_RUN = 5, 3  # tokens and words in a row
MAX_USUAL = 0.85  # a class in which most people copied from each other must not look normal
WORD = re.compile(r"[^\W_]+")
Outcomes = Mapping[str, Sequence[Mapping]]  # by student


@dataclass(frozen=True)
class Pair:
    """Two similar works: the first is a student's, the second a student's, the staff's or public."""

    one: Source
    other: Source
    question: str  # notebook and cell of a written answer; "" for modules
    share: float
    threshold: float
    evidence: float
    hints: tuple[str, ...]
    regions: tuple[Region, ...]

    def texts(self) -> tuple[str, str]:
        """Return the two texts that are similar."""
        if not self.question:
            return self.one.module, self.other.module
        cell = self.question.partition(TASKS)[2]
        other = self.other.answers
        return self.one.answers[self.question], other.get(self.question, other.get(cell, ""))


class Modules:
    """The comparison of all modules with each other."""

    def __init__(
        self,
        sources: Sequence[Source],
        handout: Handout,
        outcomes: Outcomes | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> None:
        self.sources = [source for source in sources if source.module.strip()]
        self._groups, self._handout = groups or {}, handout
        self._vocabulary = given_names() | attribute_names(handout.stub)
        self.codes = [normal_form(source.module, self._vocabulary) for source in self.sources]
        self._documents = [
            Document(source.origin, code.units)
            for source, code in zip(self.sources, self.codes, strict=True)
        ]
        known = self._known(*handout.code, *handout.packages, handout.stub)
        self.comparison = Comparison(self._documents, known, CODE_RUN)
        words = given_words((*handout.code, *handout.packages))
        marks = [
            marks_of(source.module, code, (outcomes or {}).get(source.student, ()), words)
            for source, code in zip(self.sources, self.codes, strict=True)
        ]
        self._hints = Hints(marks, [source.origin for source in self.sources])

    @cached_property
    def rule(self) -> Rule:
        """The threshold of this study and class."""
        return _rule(CODE, self.sources, self.comparison)

    def pairs(self) -> list[Pair]:
        """Return the listed pairs, the most similar first."""
        return _pairs(self.sources, self.comparison, self.rule, "", self._groups, self._hints)

    def public_pairs(self, public: Iterable[Source]) -> list[Pair]:
        """Return the modules that contain a function or method of a public file, the most similar
        first. Each pair shows the longest such function.
        """
        known = self._known(*self._handout.code, self._handout.stub)
        written = frozenset().union(*(runs_of(each.units, CODE_RUN) for each in self._documents))
        sources, documents = list(self.sources), list(self._documents)
        for source in public:
            for unit in normal_form(source.module, self._vocabulary).units:
                runs = runs_of([unit], CODE_RUN) - known
                if len(runs) >= CODE.min_evidence and 2 * len(runs & written) > len(runs):
                    sources.append(source)
                    documents.append(Document(source.origin, [unit]))
        pairs = _pairs(sources, Comparison(documents, known, CODE_RUN), CODE, "", {}, None)
        longest = {
            (pair.one.name, pair.other.name): pair
            for pair in sorted(pairs, key=lambda pair: pair.evidence)
            if pair.other.kind == PUBLIC
        }
        return sorted(longest.values(), key=lambda pair: -pair.share)

    def _known(self, *texts: str) -> frozenset[int]:
        return frozenset().union(*(_runs_of_code(text, self._vocabulary) for text in texts))

    def is_empty(self, number: int) -> bool:
        """Whether a module has nothing that can be compared, for example because it is the stub."""
        return bool(self.comparison.evidence[number, number] == 0)


def answer_pairs(
    sources: Sequence[Source],
    models: Sequence[Source],
    handout: Handout,
    groups: Mapping[str, str] | None = None,
) -> list[Pair]:
    """Return the similar answers to each written question, the most similar first.

    What the question and the notebooks say counts nothing. What the model answer says counts only
    if an answer is compared with the model answer.
    """
    known = frozenset().union(*map(_runs_of_prose, handout.texts))
    questions = sorted({question for source in sources for question in source.answers})
    listed = [
        pair
        for question in questions
        for pair in _similar_answers(question, sources, models, known, groups or {})
    ]
    return sorted(listed, key=lambda pair: -pair.share)


def _similar_answers(
    question: str,
    sources: Sequence[Source],
    models: Sequence[Source],
    known: frozenset[int],
    groups: Mapping[str, str],
) -> Iterator[Pair]:
    """Yield the similar answers to one question, within the class and to the model answer."""
    cell = question.partition(TASKS)[2]
    answered = [source for source in sources if question in source.answers]
    model = [source for source in models if cell in source.answers]
    documents = [Document(each.origin, _words(each.answers[question])) for each in answered]
    model_documents = [Document(each.origin, _words(each.answers[cell])) for each in model]
    common = known.union(*(runs_of(document.units, PROSE_RUN) for document in model_documents))
    comparison = Comparison(documents, common, PROSE_RUN)
    rule = _rule(PROSE, answered, comparison)
    yield from _pairs(answered, comparison, rule, question, groups, None)
    if model:
        both = [*answered, *model]
        comparison = Comparison([*documents, *model_documents], known, PROSE_RUN)
        pairs = _pairs(both, comparison, PROSE, question, groups, None)
        yield from (pair for pair in pairs if pair.other.kind == STAFF)


def clusters(pairs: Iterable[Pair]) -> list[list[str]]:
    """Return the names of people who are connected by pairs, the largest clusters first. Pairs
    with the staff's answers and public files do not count.
    """
    cluster: dict[str, set[str]] = {}
    for pair in pairs:
        if pair.other.kind not in (STAFF, PUBLIC):
            names = [pair.one.name, pair.other.name]
            joined = set(names).union(*(cluster.get(name, ()) for name in names))
            for name in joined:
                cluster[name] = joined
    unique = {min(names): sorted(names) for names in cluster.values()}
    return sorted(unique.values(), key=lambda names: (-len(names), names))


@cache
def _runs_of_code(text: str, vocabulary: frozenset[str]) -> frozenset[int]:
    return runs_of(normal_form(text, vocabulary).units, CODE_RUN)


@cache
def _runs_of_prose(text: str) -> frozenset[int]:
    return runs_of(_words(text), PROSE_RUN)


def _words(text: str) -> Units:
    """Return the words of a text as tokens, without case and punctuation."""
    return [
        [
            Token(word.lower(), number)
            for number, line in enumerate(text.splitlines(), 1)
            for word in WORD.findall(line)
        ]
    ]


def _rule(rule: Rule, sources: Sequence[Source], comparison: Comparison) -> Rule:
    """Return the rule for this study: raised where independent authors or the class agree more."""
    staff = [number for number, source in enumerate(sources) if source.kind == STAFF]
    independent = [
        float(comparison.shares[a, b])
        for a in staff
        for b in staff
        if a < b
        and sources[a].origin != sources[b].origin
        and comparison.evidence[a, b] >= rule.min_evidence
    ]
    students = [number for number, source in enumerate(sources) if source.kind == CLASS]
    usual = usual_share(
        [
            float(comparison.shares[a, b])
            for a in students
            for b in students
            if a < b and comparison.evidence[a, b] >= rule.min_evidence
        ]
    )
    return Rule(
        rule.base,
        rule.slope,
        rule.min_evidence,
        max(independent, default=0),
        min(usual, MAX_USUAL),
    )


def _pairs(
    sources: Sequence[Source],
    comparison: Comparison,
    rule: Rule,
    question: str,
    groups: Mapping[str, str],
    hints: Hints | None,
) -> list[Pair]:
    listed: list[Pair] = []
    lowest = rule.base - 0.2  # below it, hints are not worth collecting
    for a, one in enumerate(sources):
        if one.kind != CLASS:
            continue
        staff: list[Pair] = []
        for b, other in enumerate(sources):
            if (other.kind == CLASS and b <= a) or comparison.shares[a, b] < lowest:
                continue
            if _belong_together(one, other, groups):
                continue
            share, evidence = float(comparison.shares[a, b]), float(comparison.evidence[a, b])
            common = hints.shared(a, b) if hints else ()
            threshold = rule.threshold(evidence, len(common))
            if share >= threshold:
                pair = Pair(
                    one, other, question, share, threshold, evidence, common,
                    tuple(comparison.regions(a, b)),
                )  # fmt: skip
                (staff if other.kind == STAFF else listed).append(pair)
        listed += sorted(staff, key=lambda pair: -pair.share)[:1]  # the others are versions of it
    return sorted(listed, key=lambda pair: (-pair.share, pair.one.name, pair.other.name))


def _belong_together(one: Source, other: Source, groups: Mapping[str, str]) -> bool:
    """Whether two sources are of one student, or of one group."""
    if one.student and one.student == other.student:
        return True
    group = groups.get(one.student)
    return other.kind == CLASS and group is not None and groups.get(other.student) == group
