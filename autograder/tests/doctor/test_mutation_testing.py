"""Generated mutants change any part of a solution, and are killed by hidden cases or equivalent."""

import ast
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import workspace
from autograder.doctor.mutant_generator import generate_mutants
from autograder.doctor.mutation_testing import run_mutation_testing
from autograder.studies import hidden_cases
from autograder.studies.fresh_cases import fresh_cases
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path
from course.checks import load_study, studies

ANSWER = '''
def best(state, player):
    """The best."""
    ### BEGIN SOLUTION
    found = None
    for move in state:
        if found is None or not move <= found + 1 and player == "x":
            found = min(move, player)
    return -found
    ### END SOLUTION


def other(state):
    return state + 1
'''


def test_every_kind_of_change_is_made():
    """The kinds are comparisons, signs, constants, players, arguments, branches, orders and
    statements.
    """
    made = {(mutant.line, mutant.description) for mutant in generate_mutants(ANSWER)}
    assert {
        (7, "<= becomes <"),
        (7, "<= becomes >="),
        (7, "+ becomes -"),
        (7, "1 becomes 2"),
        (7, "1 becomes 0"),
        (7, "'x' becomes 'o'"),
        (7, "== becomes !="),
        (7, "or becomes and"),
        (7, "without not"),
        (6, "'state' backwards"),
        (8, "min becomes max"),
        (8, "'min(move, player)' with its arguments swapped"),
        (9, "without -"),
        (8, "move becomes found"),
        (7, "without 'found = min(move, player)'"),
    } <= made


def test_only_solutions_are_changed():
    """Code outside the solution regions is not changed, and no two mutants have the same text."""
    mutants = generate_mutants(ANSWER)
    assert {mutant.line for mutant in mutants} <= set(range(5, 10))
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    assert all("return state + 1" in mutant.text for mutant in mutants)


@pytest.mark.slow
@pytest.mark.parametrize("study", studies())
def test_names_are_unique(study):
    """They differ even if two changes of one line have the same description."""
    mutants = generate_mutants(answer_path(load_study(study)).read_text("utf-8"))
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(
        mutant.name.startswith(f"line {mutant.line}: {mutant.description}") for mutant in mutants
    )


@given(st.sampled_from(generate_mutants(ANSWER)))
def test_a_mutant_is_python_and_not_the_answer(mutant):
    """Each mutant can be compiled and differs from the answer."""
    compile(mutant.text, "mutant", "exec")
    assert ast.unparse(ast.parse(mutant.text)) != ast.unparse(ast.parse(ANSWER))


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study2", "study3"])
def test_no_generated_mutant_survives(name):
    """The hidden cases of the studies on tic-tac-toe kill every mutant that is not equivalent."""
    need_isolation()
    proof = run_mutation_testing(load_study(name), sample=100)
    assert proof.survivors == ()
    assert proof.generated == proof.killed + len(proof.equivalent) > 100


@pytest.mark.slow
def test_positions_that_let_a_wrong_search_pass_are_found(monkeypatch):
    """If x is to move in every position, a search that always maximises for x survives."""
    need_isolation()
    study = load_study("study2")
    hidden = hidden_cases.hidden_study("study2")
    check = hidden.checks["alpha_beta"]
    blind = replace(hidden, checks={"alpha_beta": replace(check, cases=[{"on": "xo__o__xx"}])})
    monkeypatch.setattr(hidden_cases, "hidden_study", lambda name: blind)
    proof = run_mutation_testing(study, sample=100)
    assert any(alive.mutant.description == "> becomes >=" for alive in proof.survivors)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_second_answers_agree_on_fresh_positions(seed):
    """The answer to study 2 and the independent solution have the same replies for every seed."""
    need_isolation()
    study = load_study("study2")
    texts = workspace.module_texts(study)
    check = study.checks["alpha_beta"]
    drawn = fresh_cases(check, list(check.cases), random.Random(seed))
    fresh = replace(
        study, checks={"alpha_beta": replace(check, cases=[next(drawn) for _ in range(20)])}
    )
    first, second = (
        workspace.run_checks(fresh, texts[name], 60)["alpha_beta"].observations
        for name in ("reference", "second")
    )
    assert first == second
