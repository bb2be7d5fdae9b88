"""Mutants by machine: made anywhere in a solution, seen by hidden positions, or equivalent."""

import ast
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import verdicts, workspace
from autograder.doctor.by_machine import prove_by_machine
from autograder.doctor.fresh_cases import fresh_cases
from autograder.doctor.machine_mutants import machine_mutants
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answer_path
from course.probes import load_study, studies

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
    """Comparisons, signs, constants, players, arguments, branches, orders and statements."""
    made = {(mutant.line, mutant.what) for mutant in machine_mutants(ANSWER)}
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
    """What students are given is not theirs to get wrong, and each text is made once."""
    mutants = machine_mutants(ANSWER)
    assert {mutant.line for mutant in mutants} <= set(range(5, 10))
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    assert all("return state + 1" in mutant.text for mutant in mutants)


@pytest.mark.slow
@pytest.mark.parametrize("study", studies())
def test_each_has_a_name_of_its_own(study):
    """Positions are chosen by these names; two changes of one line may read alike."""
    mutants = machine_mutants(answer_path(load_study(study)).read_text("utf-8"))
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert all(mutant.name.startswith(f"line {mutant.line}: {mutant.what}") for mutant in mutants)


@given(st.sampled_from(machine_mutants(ANSWER)))
def test_a_mutant_is_python_and_not_the_answer(mutant):
    """Each can be compiled, and says something else than the answer."""
    compile(mutant.text, "mutant", "exec")
    assert ast.unparse(ast.parse(mutant.text)) != ast.unparse(ast.parse(ANSWER))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study2", "study3"])
def test_no_mutant_of_the_machine_lives(name):
    """The hidden positions of the studies on tic-tac-toe see every change that can be seen."""
    need_isolation()
    proof = prove_by_machine(load_study(name), sample=100)
    assert proof.alive == ()
    assert proof.made == proof.killed + len(proof.equivalent) > 100


@pytest.mark.slow
def test_positions_that_let_a_wrong_search_pass_are_found(monkeypatch):
    """Where x is to move in every position, a search that looks for x's best always is alive."""
    need_isolation()
    study = load_study("study2")
    hidden = verdicts.hidden_study("study2")
    check = hidden.checks["alpha_beta"]
    blind = replace(hidden, checks={"alpha_beta": replace(check, cases=[{"on": "xo__o__xx"}])})
    monkeypatch.setattr(verdicts, "hidden_study", lambda name: blind)
    proof = prove_by_machine(study, sample=100)
    assert any(alive.mutant.what == "> becomes >=" for alive in proof.alive)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_second_answers_agree_on_fresh_positions(seed):
    """The two answers to study 2 reply alike wherever a seed puts the question."""
    need_isolation()
    study = load_study("study2")
    texts = workspace.module_texts(study)
    check = study.checks["alpha_beta"]
    drawn = fresh_cases(check, list(check.cases), random.Random(seed))
    fresh = replace(
        study, checks={"alpha_beta": replace(check, cases=[next(drawn) for _ in range(20)])}
    )
    first, second = (
        workspace.ask_all(fresh, texts[name], 60)["alpha_beta"].observations
        for name in ("reference", "second")
    )
    assert first == second
