"""Hidden cases drawn from a seed: few, and each mutant is detected, twice if possible."""

import itertools
import tomllib
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.doctor import case_selection
from autograder.doctor.case_selection import (
    WANTED,
    _Coverage,
    _fewest,
    _losses,
    _needs,
    _portions,
    _RunnableMutant,
    _toml,
    as_table,
    choose_cases,
)
from autograder.doctor.mutant_generator import generate_mutants
from autograder.errors import UserError
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants, load_outsiders
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path
from course.checks import load_study
from course.checks.replies import Replies

NEEDS = st.sets(st.tuples(st.sampled_from("abcdefgh"), st.just("")))


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), NEEDS, st.integers(0, 99)), max_size=20))
def test_the_selection_detects_as_much_as_all_cases(drawn):
    """Each mutant is detected as often as before, up to twice; every check has a case; and no case is
    redundant."""
    seen = _Coverage(
        [(check, {"on": str(n)}) for n, (check, *_) in enumerate(drawn)],
        [needs for _, needs, _ in drawn],
        [nodes for *_, nodes in drawn],
    )
    kept = _fewest(seen)
    counts = Counter(need for number in kept for need in seen.meets[number])
    assert kept == sorted(set(kept))
    assert all(counts[need] >= min(WANTED, there) for need, there in seen.counts().items())
    assert {seen.cases[number][0] for number in kept} == {check for check, *_ in drawn}
    for number in kept:
        of_check = sum(seen.cases[other][0] == seen.cases[number][0] for other in kept)
        assert of_check == 1 or any(counts[need] <= WANTED for need in seen.meets[number])


@pytest.mark.parametrize(
    ("seconds", "needed", "limit"), [(7, 0.01, 7), (99, 0.01, 30), (None, 0.01, 2), (7, 1, 20)]
)
def test_a_mutant_has_the_time_of_grading(monkeypatch, seconds, needed, limit):
    """It runs with the limit of its check, and longer if the reference needs long for many cases."""
    study = load_study("study2")
    check = replace(study.checks["alpha_beta"], seconds=seconds)
    right = Replies(({"move": 0},) * len(check.cases), seconds=needed)
    used = []

    def run_checks(portion, text, checks, max_seconds):
        used.append(max_seconds)
        return {check.name: right}

    monkeypatch.setattr(case_selection.workspace, "run_checks", run_checks)
    _losses(
        replace(study, checks={check.name: check}),
        _RunnableMutant("", [check.name]),
        {check.name: right},
        {check.name: [True] * len(check.cases)},
        stops_early=False,
    )
    assert used == [limit]


def test_withdrawn_cases_do_not_count():
    """A case that runs again detects nothing before it has run."""
    check = load_study("study1").checks["minimax"]
    seen = _Coverage([("minimax", {"on": str(n)}) for n in range(3)], [{("a", "")}] * 3, [0] * 3)
    portion = seen.withdraw({0, 2}, {"minimax": check})
    assert portion["minimax"].cases == [{"on": "0"}, {"on": "2"}]
    assert seen.counts() == {("a", ""): 1}
    assert _fewest(seen) == [1]


def test_cases_of_a_table_are_unique():
    """An old case is withdrawn when it runs again, so each case has one index."""
    check = replace(load_study("study1").checks["minimax"], cases=[{"on": "1"}, {"on": "2"}])
    seen = _Coverage(
        [("minimax", {"on": str(n)}) for n in (0, 1, 2, 1)], [{("a", "")}] * 4, [0] * 4
    )
    seen.withdraw([1], {"minimax": check})
    assert seen.indices({"minimax": check}) == [2, 3]


@given(st.integers(0, 1_000))
def test_portions_grow_to_the_sample(sample):
    """Together they form the sample, and each except the last is twice as large as the previous
    one.
    """
    sizes = list(_portions(sample))
    assert sum(sizes) == sample
    assert all(later == 2 * size for size, later in itertools.pairwise(sizes[:-1]))


@given(
    st.recursive(
        st.booleans()
        | st.integers(-(10**6), 10**6)
        | st.text(st.characters(codec="ascii", exclude_categories=["Cc"]))
        | st.floats(-10, 10),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["on", "cards", "3 bet", "\"'"]), inner)
        ),
    )
)
def test_a_case_is_written_as_toml(value):
    """Parsing it gives the same value."""
    assert tomllib.loads(f"case = {_toml(value)}")["case"] == value


def test_games_have_no_positions():
    """A study with matches only raises an error that explains why."""
    with pytest.raises(UserError, match="study10 has no positions to draw: its checks are games"):
        choose_cases("study10", 1)


@pytest.mark.content("study2")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_module_that_remembers_is_detected(monkeypatch, seed):
    """If a loss shows only on an old case that follows a certain other one, both are selected, in this
    order."""
    first, second, *_ = hidden_cases.hidden_study("study2").checks["alpha_beta"].cases
    mutant = load_mutants("study2")[0]
    text = mutant.apply(answer_path(load_study("study2")).read_text("utf-8"))
    monkeypatch.setattr(
        case_selection, "_mutants", lambda study: ({mutant.name: text}, {mutant.name: mutant}, [])
    )

    def run_mutants(portion, answers, mutants, named, coverage, progress):
        for check in portion.checks.values():
            for pair in itertools.pairwise([None, *check.cases]):
                coverage.cases.append((check.name, pair[1]))
                coverage.meets.append(
                    {need for need in _needs(mutant.name, named) if pair == (first, second)}
                )
                coverage.nodes.append(0)

    monkeypatch.setattr(case_selection, "_run_mutants", run_mutants)
    choice = choose_cases("study2", seed, sample=20)
    (chosen,) = choice.checks
    assert choice.missing == []
    assert (first, second) in itertools.pairwise(chosen.cases)


@pytest.mark.content("study1")
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 9])
def test_a_seed_gives_a_set_that_detects_all(tmp_path, seed):
    """Other seeds give other cases, which show every loss in the mutants' table and detect every
    wrong module of outsiders. With seed 9, every fresh case that shows one of the losses
    contradicts another mutant's table, so an old case is selected instead.
    """
    need_isolation()
    choice = choose_cases("study1", seed, sample=100)
    assert choice.missing == []
    study = load_study("study1")
    assert choice.mutants == sum(
        map(
            len,
            (
                generate_mutants(answer_path(study).read_text("utf-8")),
                load_mutants(study.name),
                [wrong for wrong in load_outsiders(study) if not wrong.accepted],
            ),
        )
    )
    file = tmp_path / "study1.toml"
    file.write_text(as_table(choice), "utf-8")
    checks = load_study("study1", file).checks
    assert {chosen.check.name: list(chosen.cases) for chosen in choice.checks} == {
        name: list(check.cases) for name, check in checks.items()
    }
    present = hidden_cases.hidden_study("study1").checks
    size, present_size = (sum(len(each.cases) for each in s.values()) for s in (checks, present))
    assert size <= present_size
    assert (
        sum(case in present[name].cases for name, check in checks.items() for case in check.cases)
        <= 5
    ), "a position that last year's class has seen"


@pytest.mark.slow
def test_the_present_positions_can_be_kept(tmp_path):
    """They come first, with their comments, followed by cases for the remaining losses."""
    need_isolation()
    choice = choose_cases("study2", 5, sample=60, keep=True)
    study = hidden_cases.hidden_study("study2")
    (chosen,) = choice.checks
    present = study.checks["alpha_beta"].cases
    assert list(chosen.cases[: len(present)]) == list(present)
    assert choice.missing == []
    text = as_table(choice)
    assert "no number stands for infinity; exposes" in text
    file = tmp_path / "study2.toml"
    file.write_text(text, "utf-8")
    assert list(load_study("study2", file).checks["alpha_beta"].cases) == list(chosen.cases)
