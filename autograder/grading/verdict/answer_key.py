"""The answer key of a study, that is, the data with which replies to its hidden cases are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.grading.verdict.reference_runs import Reference
from autograder.grading.verdict.shown_cases import shown_cases
from autograder.studies import hidden_cases
from autograder.studies.generated_mutants import (
    GeneratedMutants,
    generated_mutants_file,
    load_generated_mutants,
)
from course.checks import KnownMistake, Observation, Study, load_expected


@dataclass(frozen=True, eq=False)
class AnswerKey:
    """A study with its hidden cases, the expected replies, and the replies of known mistakes."""

    study: Study
    expected: Mapping[str, Sequence[Observation]]  # by the check's name
    mistakes: Sequence[KnownMistake]
    generated: GeneratedMutants
    shown_cases: Mapping[str, frozenset[int]]  # by the check's name: the cases that a page may show

    @cached_property
    def reference(self) -> Reference:
        """The reference, to run it on values of a student's functions."""
        return Reference(self.study)


_loaded: dict[Path, AnswerKey] = {}  # by the file of the expected replies


def load_answer_key(study: Study) -> AnswerKey:
    """Return the answer key of a study with its hidden cases; the same object as long as no file
    changes.

    Raises `StudyTableError` if the expected replies do not belong to the study's hidden cases.
    """
    file = hidden_cases.expected_file(study)
    expected, mistakes = load_expected(file, study.checks.values())
    generated = load_generated_mutants(generated_mutants_file(study))
    key = _loaded.get(file)
    if (
        key is None
        or key.study != study
        or key.expected is not expected
        or key.generated is not generated
    ):
        showable = {
            name: shown_cases(check, expected[name], mistakes)
            for name, check in study.checks.items()
        }
        key = _loaded[file] = AnswerKey(study, expected, mistakes, generated, showable)
    return key
