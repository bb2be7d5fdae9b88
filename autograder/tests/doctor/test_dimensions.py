"""The kinds of cases of each check are computed from the cases alone, and gaps are reported."""

import json
import random
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import islice

import pytest

from autograder.doctor.dimensions import (
    DimensionTable,
    Row,
    SentenceDirections,
    Value,
    arguments,
    dimension_table,
    direction_problems,
    exceptions,
    sentence_directions,
    values,
    values_of,
)
from autograder.doctor.dimensions.drawing import SAMPLE, Drawing
from autograder.doctor.dimensions.losses import MutantCounts, losses_by_value
from autograder.doctor.dimensions.table import NO_MUTANTS
from autograder.doctor.mutation_testing import lost_only_in_public_cases
from autograder.doctor.stub_coverage import BROKEN, SentenceCoverage, sentence_coverage
from autograder.studies import hidden_cases
from autograder.studies.study6_evaluator import fresh_cases
from course.checks import Check, KnownMistake, StudyTableError, load_study, studies
from course.checks.positions import read_position
from course.checks.questions import MATCHES, SHARED
from course.checks.study_paths import question_modules

X_MOVES, O_MOVES = Value("to move", "x"), Value("to move", "o")


def check_of(ask, cases, **points):
    """A check with these cases."""
    return Check("study1", "check", ask, {}, points or {"answer": 1}, False, cases)


def kinds(ask, *on, **case):
    """The values of a case, as texts."""
    case["on"] = on[0] if len(on) == 1 else list(on)
    return set(map(str, values_of(check_of(ask, [case]), case)))


def test_each_question_has_dimensions():
    """The kinds of positions or of arguments are known for every question that can be drawn. Other
    tests may have added the questions of a course folder.
    """
    modules = map(import_module, (*SHARED, *question_modules()))
    questions = {name for module in modules for name in module.QUESTIONS} - MATCHES
    known = {name.partition(" ")[0] for name in (*values.BY_QUESTION, *arguments.BY_QUESTION)}
    assert known <= questions
    assert questions - known <= {"deep_killers", "symmetry"}


def test_boards():
    """A board has the player to move, its value, the moves, the size of the tree and the pairs."""
    assert kinds("search", "xx_oo____") == {
        "to move: x", "value: won for x", "legal moves: several", "tree: small",
        "positions for one agent: one",
    }  # fmt: skip
    assert {"to move: o", "tree: large"} <= kinds("search", "x________")
    assert {"legal moves: one", "value: drawn for x"} <= kinds("search", "xxooxx_oo")


@pytest.mark.parametrize(
    ("board", "pairs"),
    [
        ("x________", "none"),
        ("xx_o_____", "opponent's only"),
        ("xx__o___o", "own only"),
        ("xx_oo____", "both, equally many"),
        ("oxxox__ox", "both, more of the opponent's"),
    ],
)
def test_pairs(board, pairs):
    """A pair is a lane with two marks of one player and nothing else."""
    assert f"pairs: {pairs}" in kinds("lane_counts", board)


def test_finished_boards():
    """Nobody is to move in them."""
    assert kinds("heuristic", "xxxoo____") >= {"end: won by x"}
    assert not any(value.startswith("to move") for value in kinds("heuristic", "xxxoo____"))


def test_trees_of_numbers():
    """Their values are those of any numbers, for either player."""
    assert {"value: lost for x", "turns: alternate"} <= kinds("search", "tree ((-3, -2.5), -4)")
    assert "value: won for o" in kinds("search", 'tree ((-3, -2.5), -4), "o"')


def test_several_positions():
    """A case has the values of all its positions."""
    both = kinds("is_quiescent", "x________", "xo_______")
    assert {"to move: x", "to move: o", "positions for one agent: several"} <= both


def test_positions_of_sequence():
    """Hands, locked chips, the score and the end of the game are dimensions."""
    seen = kinds("evaluator_action", "sketch x 4,1 4,2 4,3 4,4 / o 6,1 / hand jh 2s / row 3c")
    assert {"jacks: one-eyed", "draft row: not empty", "locked chips: none", "score: level"} <= seen
    assert "an action ends the game: no" in seen
    text = "sketch X 3,2 3,3 3,4 3,5 3,6 / x 4,1 4,2 4,3 4,4 / o 2,2 / score 1 0 / hand jd / row 3c"
    ahead = kinds("evaluator_action", text)
    assert {"score: ahead", "locked chips: own", "jacks: two-eyed"} <= ahead
    assert "an action ends the game: yes" in ahead


def test_passes():
    """Without cards, a pass is the only action."""
    assert "actions: pass only" in kinds("evaluator_action", "sketch x 4,1")


def test_arguments():
    """Windows, ties and results of moves are dimensions of the arguments."""
    bound = kinds("deep_bound", [], arguments=[[0.1, 0.1, 0.3], [0.5, "-inf", 0.5]])
    assert {"value: equal to alpha", "value: equal to beta", "alpha: -inf"} <= bound
    assert "best moves: several best" in kinds("epsilon_greedy", [], values=[[1, 0.5], [2, 0.5]])
    cube = "qubic xxx_____________ ooo_____________ ________________ ________________"
    assert "move: wins" in kinds("step", cube, move=3)
    assert "move: illegal" in kinds("step", cube, move=0)


def test_options():
    """An option that a case does not set has its default."""
    check, case = check_of("search", []), {"on": "x________", "limit": 2}
    assert {Value("option limit", "above 1"), Value("option order", "default")} <= values_of(
        check, case, ["limit", "order"]
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [("centre", "centre"), ("x________", "a position"), (-1, "negative"), (1, "1"), ([], "empty")],
)
def test_classes_of_options(value, expected):
    """Words are classes, but each position is not a class by itself."""
    assert arguments.class_of(value) == expected


CASES = [{"on": "x________"}, {"on": "xo_______"}, {"on": ["x________", "xo_______"]}]
RIGHT = [{"answer": [True]}, {"answer": [True]}, {"answer": [True, True]}]


def wrong_in(*lost):
    """The known mistake of a module that is wrong in these positions: pairs of case and position."""
    observed = [
        {"answer": [(case, number) not in lost for number in range(len(right["answer"]))]}
        for case, right in enumerate(RIGHT)
    ]
    return KnownMistake(f"wrong in {lost}", "", {"check": observed})


def test_a_direction_is_inferred_from_losses():
    """A mutant that loses only with x to move is counted for this direction only."""
    both, only_x = wrong_in((0, 0), (1, 0)), wrong_in((1, 0), (2, 1))
    losses = losses_by_value(check_of("is_quiescent", CASES), RIGHT, [both, only_x], [])
    assert losses[X_MOVES] == MutantCounts(
        frozenset({both.name, only_x.name}), frozenset({only_x.name})
    )
    assert losses[O_MOVES] == MutantCounts(frozenset({both.name}), frozenset())


def row(**changes):
    """A row without problems, changed."""
    mutants = MutantCounts(frozenset({"mutant"}), frozenset())
    return replace(Row("check", X_MOVES, 1, 1, 30, 20, mutants, None), **changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"mutants": None}, None),
        ({"public": 0}, None),
        ({"hidden": 0}, "no hidden case has this value"),
        ({"seeds": 19}, "too few fresh cases have this value: not all of 20 seeds draw one"),
        ({"drawn": 0, "seeds": 0}, "no fresh case has this value: draw such cases, or list it"),
        ({"mutants": NO_MUTANTS}, "no mutant loses marks in these cases"),
        ({"reason": "it is over"}, "some cases have this value, which is listed as impossible"),
        ({"reason": "it is over", "public": 0, "hidden": 0, "drawn": 0, "seeds": 0}, None),
    ],
)
def test_problems(changes, problem):
    """A value must be drawn, hidden and exposed by a mutant, or be listed as impossible."""
    problems = list(row(**changes).problems(20))
    assert len(problems) == (problem is not None)
    assert not problems or problems[0].startswith(problem)


def test_sentences_must_be_covered_in_both_directions(monkeypatch):
    """A sentence whose mutants lose marks for x only is reported, unless it is about x."""
    mutants = MutantCounts(frozenset({"mutant"}), frozenset())
    rows = [row(mutants=mutants), row(value=O_MOVES, mutants=NO_MUTANTS)]
    coverage = SentenceCoverage(("search", "It is good."), BROKEN, frozenset({"mutant"}))
    directions = sentence_directions([coverage], DimensionTable("study1", rows, []))
    assert directions == [SentenceDirections(coverage, {X_MOVES: 1, O_MOVES: 0})]
    assert str(directions[0]) == "1 of 2"
    study = load_study("study1")
    (problem,) = direction_problems(study, directions)
    assert problem == "search: It is good. (no mutant of this sentence loses marks with to move: o)"
    one_sided = {"it is about x": ["search: It is"]}
    monkeypatch.setattr(
        "autograder.doctor.dimensions.directions.load_one_sided", lambda study: one_sided
    )
    assert direction_problems(study, directions) == []
    covered = [SentenceDirections(coverage, {X_MOVES: 1, O_MOVES: 1})]
    assert "listed as about one direction" in direction_problems(study, covered)[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[impossible]\nreason = ['minimax: turns']", "a value is listed as 'check: dimension"),
        ("[impossible]\nreason = ['maximax: turns: two']", "a value is listed as 'check: dim"),
        ("[impossible]\nreason = 'minimax'", "must be a list"),
        ("[other]", "there is no key 'other'"),
    ],
)
def test_mistakes_in_exceptions(tmp_path, text, message):
    """They are reported with the place."""
    study = replace(load_study("study1"), home=tmp_path)
    study.staff_folder.mkdir(parents=True)
    (study.staff_folder / exceptions.FILE).write_text(text, "utf-8")
    with pytest.raises(StudyTableError, match=message):
        exceptions.load_impossible(study)


@pytest.mark.slow
def test_unknown_exceptions_are_reported(monkeypatch):
    """A value that is not in the table cannot be impossible."""
    listed = {("alpha_beta", Value("to move", "z")): "there is no z"}
    monkeypatch.setattr("autograder.doctor.dimensions.table.load_impossible", lambda study: listed)
    table = dimension_table(load_study("study2"), seeds=[1])
    assert "dimensions.toml: alpha_beta, to move: z is not a value of a dimension" in table.problems


@pytest.mark.slow
def test_the_table_of_a_study():
    """It counts the public and the hidden cases, and fresh ones with each seed."""
    study = load_study("study2")
    table = dimension_table(study, seeds=[1, 2])
    rows = {row.value: row for row in table.rows}
    public = study.checks["alpha_beta"].cases
    assert rows[X_MOVES].public + rows[O_MOVES].public == len(public)
    assert all(rows[value].seeds == 2 for value in (X_MOVES, O_MOVES))
    assert all(rows[value].mutants.there >= rows[value].mutants.only_there for value in rows)


def test_a_mutant_that_only_public_cases_detect_is_reported(tmp_path, monkeypatch):
    """The derived files show what each named mutant loses."""
    study = load_study("study2")
    assert lost_only_in_public_cases(study) == []
    hidden = hidden_cases.hidden_study("study2")
    derived = json.loads(hidden_cases.expected_file(hidden).read_text("utf-8"))
    mutant = derived["mistakes"].pop(0)["name"]
    file = tmp_path / "hidden_expected.json"
    file.write_text(json.dumps(derived), "utf-8")
    monkeypatch.setattr(hidden_cases, "expected_file", lambda study: file)
    problems = lost_only_in_public_cases(study)
    assert problems
    assert all(problem.startswith(f"mutant {mutant}: it loses '") for problem in problems)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stratified_cases_have_all_values(seed):
    """The first cases of a seed are taken in excess until they have all values that can be drawn."""
    study = load_study("study2")
    check = study.checks["alpha_beta"]
    drawing = Drawing(check, check.cases, [])
    cases = list(drawing.cases(seed))
    counts = Counter(value for case in cases for value in drawing.values(case))
    required = {value for value in drawing.required if counts[value]}
    chosen = drawing.stratified(iter(cases), 5, required)
    assert len(chosen) >= 5
    assert required <= {value for case in chosen for value in drawing.values(case)}
    assert len(drawing.stratified(iter(cases), 30, [])) == 30


def test_public_positions_are_not_used():
    """A case that is not usable is skipped, even if it has a missing value."""
    check = load_study("study2").checks["alpha_beta"]
    drawing = Drawing(check, check.cases, [])
    first, *others = islice(drawing.cases(1), SAMPLE)
    chosen = drawing.stratified(
        iter([first, *others]), 1, drawing.values(first), lambda case: case != first
    )
    assert first not in chosen
    assert drawing.values(first) <= {value for case in chosen for value in drawing.values(case)}


@pytest.mark.parametrize("seed", range(20))
def test_games_of_four_can_be_read(seed):
    """A hand of two players' official rules is too large for four, even on an empty board."""
    case = {"on": "sketch hand as 3c 5c 4h 4s th ks / rules official / player 1"}
    read_position(fresh_cases._of_four(random.Random(seed), case)["on"])


def test_values_do_not_depend_on_the_order():
    """They are functions of a case, without a state."""
    check = load_study("study3").checks["is_quiescent"]
    drawn = list(islice(Drawing(check, check.cases, []).cases(1), 20))
    found = [values_of(check, case) for case in drawn]
    order = random.Random(1).sample(range(len(drawn)), len(drawn))
    assert [values_of(check, drawn[number]) for number in order] == [found[n] for n in order]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.xdist_group(name), pytest.mark.content(name)])
        for name in studies()
    ],
)
def test_all_kinds_are_covered(name):
    """With 20 seeds, the drawn cases of every check have all values of its dimensions, and so have
    the hidden ones. Mutants break each sentence in each direction. The hidden cases detect all that
    the public ones detect.
    """
    study = load_study(name)
    table = dimension_table(study)
    coverage, _ = sentence_coverage(study)
    assert list(table.problems) == []
    assert direction_problems(study, sentence_directions(coverage, table)) == []
    assert lost_only_in_public_cases(study) == []
