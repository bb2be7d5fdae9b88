"""Generated mutants are identified by exactly their replies, without disclosing the answer's code."""

import json

import pytest

from autograder import workspace
from autograder.doctor.generated_table import stale_checks
from autograder.doctor.mutant_generator import generate_mutants
from autograder.studies import hidden_cases
from autograder.studies.generated_mutants import (
    GeneratedMutants,
    digest,
    generated_mutants_file,
    load_generated_mutants,
)
from course.checks import Check, load_study, studies

CHECK = Check(
    "study3",
    "is_quiescent",
    "is_quiescent",
    {},
    {"answer": 3},
    False,
    [{"on": ["_________"]}, {"on": ["xx_oo____"]}],
)
RIGHT = [{"answer": [True]}, {"answer": [False]}]
WRONG = [{"answer": [False]}, {"answer": [False]}]


def table(*mistakes):
    """A table in which all of these mistakes have the wrong replies."""
    return GeneratedMutants(
        mistakes, {CHECK.name: {digest(CHECK, WRONG, RIGHT): range(len(mistakes))}}
    )


def test_exactly_these_replies_are_matched():
    """A different reply or an additional query makes it a different mistake."""
    known = table(("is_quiescent", "a number is one too large"))
    assert known.matching(CHECK, WRONG, RIGHT) == {0}
    assert not known.matching(CHECK, RIGHT, RIGHT)
    assert not known.matching(CHECK, [WRONG[0], None], RIGHT)
    other = Check(
        "study3",
        "is_quiescent",
        "is_quiescent",
        {},
        CHECK.points,
        False,
        [{"on": ["x________"]}, CHECK.cases[1]],
    )
    assert not known.matching(other, WRONG, RIGHT)


def test_equal_replies_have_one_digest():
    """1, 1.0 and True are equal, and so are sums added in another order."""
    assert (
        len(
            {
                digest(CHECK, [{"answer": [one]}, RIGHT[1]], RIGHT)
                for one in (1, 1.0, True, 0.1 + 0.2 + 0.7)
            }
        )
        == 1
    )


@pytest.mark.parametrize(
    ("mistakes", "told"),
    [
        (
            [("is_quiescent", "`<` is used instead of `<=`")],
            "a single mistake in `is_quiescent`: `<` is used instead of `<=`.",
        ),
        ([("is_quiescent", "one"), ("is_quiescent", "two")], "in `is_quiescent`: one, or two."),
        ([("is_quiescent", str(n)) for n in range(3)], "a single mistake in `is_quiescent`."),
        ([("lane_counts", "one"), ("is_quiescent", "two")], "in `is_quiescent`: two."),
        (
            [("lane_counts", "one"), ("heuristic", "two")],
            "a single mistake in `lane_counts` or `heuristic`.",
        ),
    ],
)
def test_the_sentence_says_what_the_mistakes_have_in_common(mistakes, told):
    """The queried function comes first; several different mistakes are not distinguished."""
    sentence = table(*mistakes).sentence(CHECK, range(len(mistakes)))
    assert sentence.endswith(told)


def test_too_many_functions_say_nothing():
    """If the mistake could be anywhere, there is no message."""
    assert table(("a", "x"), ("b", "x"), ("c", "x")).sentence(CHECK, range(3)) is None


def answers():
    """The studies with a table."""
    return [
        study
        for study in map(load_study, studies())
        if hidden_cases.hidden_study(study.name).checks and generated_mutants_file(study).exists()
    ]


@pytest.mark.parametrize("study", answers(), ids=lambda study: study.name)
def test_tables_are_fresh(study):
    """The tables equal the output of `autograder build --generated-mutants`, which updates changed
    ones only.
    """
    assert stale_checks(study) == []


@pytest.mark.parametrize("study", answers(), ids=lambda study: study.name)
def test_mistakes_give_no_answer_away(study):
    """Descriptions mention operators and functions of the stub, never a line of the answer."""
    stub = workspace.module_texts(study)["stub"]
    for function, what in load_generated_mutants(generated_mutants_file(study)).mutants:
        assert f"def {function.split('.')[-1]}(" in stub
        assert len(what) < 60
        assert all(len(quoted) <= len("heappop") for quoted in what.split("`")[1::2])
    assert json.loads(generated_mutants_file(study).read_text("utf-8"))["mutants"]


def test_every_mutant_says_what_and_where():
    """Each has a description and a function of the answer."""
    text = workspace.answer_path(load_study("study3")).read_text("utf-8")
    assert all(
        mutant.mistake and f"def {mutant.function.split('.')[-1]}(" in text
        for mutant in generate_mutants(text)
    )
