"""A mistake costs marks at its own place, and almost nothing elsewhere."""

import re
from dataclasses import replace

import pytest

from autograder import workspace
from autograder.doctor import mutant_costs
from autograder.doctor.mutant_costs import (
    ARBITRARY,
    GENERATED,
    LEFT_OUT,
    LIMIT,
    MAX_SHARE,
    NAMED,
    SAMPLE,
    Cost,
    Variant,
    costs_file,
    costs_table,
    load_reasons,
    variants_of,
)
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.carrying.error_carried_forward import Obstacles
from autograder.grading.verdict.reply_collection import SubmissionContext
from autograder.studies import hidden_cases
from autograder.workspace.fault_places import FaultPlaces
from course.checks import StudyTableError, load_study, studies
from course.checks.replies import Replies

STUDIES = [name for name in studies() if name != "study10"]  # a match has no functions to carry
COST = Cost(NAMED, "a|b", ("f", "C.g"), 2, 4, 20, {"later": 4.0})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group(name), pytest.mark.content(name)])
        for name in STUDIES
    ],
)
def test_a_mistake_costs_little_elsewhere(name):
    """At most a tenth of the study's points, unless the reason is known; an optional function that
    was not written costs nothing elsewhere. The table is up to date.
    """
    study = load_study(name)
    costs = mutant_costs.mutant_costs(study)
    assert [cost for cost in costs if cost.is_excessive] == []
    optional = [cost for cost in costs if cost.kind == LEFT_OUT and not cost.reason]
    assert [cost for cost in optional if cost.elsewhere] == []
    assert costs_file(study).read_text("utf-8") == costs_table(study, costs)


def test_a_row_of_the_table():
    """It lists the functions, both costs, the share and the checks elsewhere."""
    row = costs_table(load_study("study2"), [COST]).splitlines()[-1]
    assert row == r"| a\|b | named | f, C.g | 2.00 | 4.00 | 20% | later 4.00 |  |"


def test_a_cost_needs_a_reason_above_the_limit():
    """Exactly a tenth is allowed."""
    assert COST.is_excessive
    assert not replace(COST, reason="known").is_excessive
    assert not replace(COST, elsewhere=COST.points * MAX_SHARE).is_excessive


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_listed_reasons_are_of_mistakes_of_the_study(name):
    """A name in `costs.toml` is that of a mutant, a stored module or a function."""
    study = load_study(name)
    known = {variant.name for variant in variants_of(study)}
    assert load_reasons(study).keys() <= known


@pytest.mark.parametrize(
    ("not_attempts", "limits", "kind", "reason"),
    [
        ({"f"}, ["a limit"], GENERATED, ARBITRARY),
        ({"g"}, ["a limit"], GENERATED, LIMIT),
        ({"g"}, [], GENERATED, ""),
        ({"f"}, ["a limit"], NAMED, ""),  # these are few, so each needs a listed reason
    ],
)
def test_reasons_of_generated_mutants_are_measured(not_attempts, limits, kind, reason):
    """By what kept the values of the function with the mistake from being carried forward."""
    key = load_answer_key(hidden_cases.hidden_study("study3"))
    context = SubmissionContext(key, obstacles=Obstacles(limits, not_attempts))
    first, second, *_ = key.study.checks.values()
    context.replies[second.id] = Replies(tuple(key.expected[second.name]))
    measured = mutant_costs._measured_reason(
        Variant(kind, "line 1", "", ""), ("f",), context, {first.name: 0.5}, [second.name]
    )
    assert measured == reason


def test_the_table_has_a_sample_of_the_generated_mutants():
    """About `SAMPLE` of them, from all parts of the module. All others are measured too, if
    everything is.
    """
    variants = list(variants_of(load_study("study2"), [GENERATED]))
    sample = [number for number, variant in enumerate(variants) if variant.in_table]
    assert SAMPLE <= len(sample) <= 2 * SAMPLE
    assert sample == list(range(0, len(variants), sample[1]))


def test_all_generated_mutants_are_measured_on_request(monkeypatch):
    """Otherwise, only those in the table."""
    study, measured = load_study("study2"), []
    monkeypatch.setattr(mutant_costs, "_cost", lambda key, variant, base: COST)
    for everything in (False, True):
        mutant_costs.mutant_costs(study, [GENERATED], measured.append, everything=everything)
        assert len(measured) == sum(
            everything or variant.in_table for variant in variants_of(study, [GENERATED])
        )
        measured.clear()


def test_a_wrong_table_of_reasons_is_an_error(tmp_path):
    """The names are a list."""
    study = load_study("study2")
    file = tmp_path / study.staff_folder.relative_to(study.home) / "costs.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[elsewhere]\nreason = "name"\n', "utf-8")
    with pytest.raises(StudyTableError, match=re.escape("costs.toml, elsewhere")):
        load_reasons(replace(study, home=tmp_path))


@pytest.mark.parametrize(
    ("name", "function", "own"),
    [
        ("study3", "lane_counts", {"lane_counts"}),
        ("study3", "TypeAPlus.value", {"type_a_plus"}),
        ("study6", "threat", {"blocking"}),
    ],
)
def test_the_own_checks_of_a_function(name, function, own):
    """They call it through the fewest other functions."""
    study = hidden_cases.hidden_study(name)
    text = workspace.answer_path(study).read_text("utf-8")
    assert FaultPlaces(study, text).own_checks([function]) == own


def test_the_functions_with_a_mistake():
    """A new function counts as changed, and so does one that is missing."""
    study = load_study("study2")
    places = FaultPlaces(study, "def f(): return 1\ndef g(): return 2\n")
    changed = places.changed_functions("def g(): return 3\ndef h(): return 4\n")
    assert changed == ("f", "g", "h")
