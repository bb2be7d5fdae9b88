"""Machine-made slips are named for exactly their replies, and without the answer's code."""

import json

import pytest

from autograder import verdicts, workspace
from autograder.doctor.machine_mutants import machine_mutants
from autograder.doctor.machine_table import stale_checks
from autograder.mutants.machine_made import MachineSlips, digest, load_machine_slips, machine_file
from course.probes import Check, load_study, studies

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


def table(*slips):
    """A table in which all of these slips have the wrong replies."""
    return MachineSlips(slips, {CHECK.name: {digest(CHECK, WRONG, RIGHT): range(len(slips))}})


def test_exactly_these_replies_are_matched():
    """One other reply, or another question, is another slip."""
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
    """1, 1.0 and True are the same, and so are sums that were added up in another order."""
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
    ("slips", "told"),
    [
        (
            [("is_quiescent", "`<` stands where `<=` belongs")],
            "a single slip in `is_quiescent`: `<` stands where `<=` belongs.",
        ),
        ([("is_quiescent", "one"), ("is_quiescent", "two")], "in `is_quiescent`: one, or two."),
        ([("is_quiescent", str(n)) for n in range(3)], "a single slip in `is_quiescent`."),
        ([("lane_counts", "one"), ("is_quiescent", "two")], "in `is_quiescent`: two."),
        ([("lane_counts", "one"), ("heuristic", "two")], "a slip in `lane_counts` or `heuristic`."),
    ],
)
def test_the_sentence_says_what_the_slips_have_in_common(slips, told):
    """The function that is asked comes first; several that differ are not told apart."""
    sentence = table(*slips).sentence(CHECK, range(len(slips)))
    assert sentence.endswith(told.replace("a slip in", "a single slip in"))


def test_too_many_functions_say_nothing():
    """Where it could be anywhere, nothing is said."""
    assert table(("a", "x"), ("b", "x"), ("c", "x")).sentence(CHECK, range(3)) is None


def answers():
    """The studies with a table."""
    return [
        study
        for study in map(load_study, studies())
        if verdicts.hidden_study(study.name).checks and machine_file(study).exists()
    ]


@pytest.mark.parametrize("study", answers(), ids=lambda study: study.name)
def test_tables_are_fresh(study):
    """Written anew by `autograder build --machine`, which asks only what has changed."""
    assert stale_checks(study) == []


@pytest.mark.parametrize("study", answers(), ids=lambda study: study.name)
def test_slips_give_no_answer_away(study):
    """They speak of operators, and of functions that the stub has: never of a line of the answer."""
    stub = workspace.module_texts(study)["stub"]
    for function, what in load_machine_slips(machine_file(study)).slips:
        assert f"def {function.split('.')[-1]}(" in stub
        assert len(what) < 60
        assert all(len(quoted) <= len("heappop") for quoted in what.split("`")[1::2])
    assert json.loads(machine_file(study).read_text("utf-8"))["slips"]


def test_every_mutant_says_what_and_where():
    """All have a slip in words and a function of the answer."""
    text = workspace.answer_path(load_study("study3")).read_text("utf-8")
    assert all(
        mutant.slip and f"def {mutant.function.split('.')[-1]}(" in text
        for mutant in machine_mutants(text)
    )
