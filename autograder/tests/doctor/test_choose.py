"""Hidden positions drawn from a seed: few, and every mutant is seen, twice where it can be."""

import itertools
import tomllib
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import verdicts
from autograder.doctor import choose
from autograder.doctor.choose import (
    WANTED,
    _fewest,
    _needs,
    _portions,
    _Seen,
    _toml,
    as_table,
    choose_cases,
)
from autograder.doctor.machine_mutants import machine_mutants
from autograder.errors import Refused
from autograder.mutants import load_mutants, load_outsiders
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path
from course.probes import load_study

NEEDS = st.sets(st.tuples(st.sampled_from("abcdefgh"), st.just("")))


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), NEEDS, st.integers(0, 99)), max_size=20))
def test_what_is_kept_sees_as_much_as_everything(drawn):
    """Each mutant that was seen twice still is, each that was seen once too, in every check; and
    no case could be left out."""
    seen = _Seen(
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


def test_what_is_taken_out_counts_no_more():
    """A case that is asked again was not seen by anybody until it is."""
    check = load_study("study1").checks["minimax"]
    seen = _Seen([("minimax", {"on": str(n)}) for n in range(3)], [{("a", "")}] * 3, [0] * 3)
    portion = seen.take({0, 2}, {"minimax": check})
    assert portion["minimax"].cases == [{"on": "0"}, {"on": "2"}]
    assert seen.counts() == {("a", ""): 1}
    assert _fewest(seen) == [1]


def test_cases_of_a_table_are_found_once():
    """An old case that was asked before is taken out when it is asked more; so it comes once."""
    check = replace(load_study("study1").checks["minimax"], cases=[{"on": "1"}, {"on": "2"}])
    seen = _Seen([("minimax", {"on": str(n)}) for n in (0, 1, 2, 1)], [{("a", "")}] * 4, [0] * 4)
    seen.take([1], {"minimax": check})
    assert seen.numbers({"minimax": check}) == [2, 3]


@given(st.integers(0, 1_000))
def test_portions_grow_to_the_sample(sample):
    """Together they are the sample, and none but the last is less than twice the one before."""
    sizes = list(_portions(sample))
    assert sum(sizes) == sample
    assert all(later == 2 * size for size, later in itertools.pairwise(sizes[:-1]))


@given(
    st.recursive(
        st.booleans()
        | st.integers(-(10**6), 10**6)
        | st.text(st.characters(codec="ascii", exclude_categories=["Cc"]))
        | st.floats(-10, 10),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["on", "cards"]), inner),
    )
)
def test_a_case_is_written_as_toml(value):
    """What is written is read again as it was."""
    assert tomllib.loads(f"case = {_toml(value)}")["case"] == value


def test_games_have_no_positions():
    """A study of games alone is refused in a sentence that says what decides there."""
    with pytest.raises(Refused, match="study10 has no positions to draw: its checks are games"):
        choose_cases("study10", 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_module_that_remembers_is_seen(monkeypatch, seed):
    """Where a loss shows only on an old position that follows another old one, both are kept, one
    after the other, whatever came before."""
    first, second, *_ = verdicts.hidden_study("study2").checks["alpha_beta"].cases
    mutant = load_mutants("study2")[0]
    text = mutant.apply(answer_path(load_study("study2")).read_text("utf-8"))
    monkeypatch.setattr(
        choose, "_mutants", lambda study: ({mutant.name: text}, {mutant.name: mutant}, [])
    )

    def look(portion, answers, left, named, seen, done):
        for check in portion.checks.values():
            for pair in itertools.pairwise([None, *check.cases]):
                seen.cases.append((check.name, pair[1]))
                seen.meets.append(
                    {need for need in _needs(mutant.name, named) if pair == (first, second)}
                )
                seen.nodes.append(0)

    monkeypatch.setattr(choose, "_look", look)
    choice = choose_cases("study2", seed, sample=20)
    (chosen,) = choice.checks
    assert choice.missing == []
    assert (first, second) in itertools.pairwise(chosen.cases)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 9])
def test_a_seed_gives_a_set_that_sees_all(tmp_path, seed):
    """For other seeds other positions, which show every loss that the mutants' table lists, and
    every wrong module of outsiders. With seed 9 all fresh positions that show one of these losses
    spoil another mutant's table, and an old position has to take their place."""
    need_isolation()
    choice = choose_cases("study1", seed, sample=100)
    assert choice.missing == []
    study = load_study("study1")
    assert choice.mutants == sum(
        map(
            len,
            (
                machine_mutants(answer_path(study).read_text("utf-8")),
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
    assert sum(len(check.cases) for check in checks.values()) < 40
    present = verdicts.hidden_study("study1").checks
    assert (
        sum(case in present[name].cases for name, check in checks.items() for case in check.cases)
        <= 5
    ), "a position that last year's class has seen"


@pytest.mark.slow
def test_the_present_positions_can_be_kept(tmp_path):
    """Then they come first, with what was said of them, and what they lack is added."""
    need_isolation()
    choice = choose_cases("study2", 5, sample=60, keep=True)
    study = verdicts.hidden_study("study2")
    (chosen,) = choice.checks
    present = study.checks["alpha_beta"].cases
    assert list(chosen.cases[: len(present)]) == list(present)
    assert choice.missing == []
    text = as_table(choice)
    assert "no number stands for infinity; sees" in text
    file = tmp_path / "study2.toml"
    file.write_text(text, "utf-8")
    assert list(load_study("study2", file).checks["alpha_beta"].cases) == list(chosen.cases)
