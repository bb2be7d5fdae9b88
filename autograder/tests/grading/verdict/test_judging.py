"""Outcomes follow from plain replies, so these tests run no student code and no sandbox."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from autograder.grading.verdict import divergence_words
from autograder.grading.verdict.answer_key import AnswerKey
from autograder.grading.verdict.carrying.error_carried_forward import CarriedFunctions
from autograder.grading.verdict.judging import CheckRun, carried_outcome, first_outcome, judge
from autograder.studies.generated_mutants import GeneratedMutants, digest
from course.checks import Check, KnownMistake, Observation, load_study
from course.checks.marking.comparison import equal
from course.checks.marking.outcome import Outcome
from course.checks.questions import QUESTIONS
from course.checks.replies import Replies

BOARDS = ("xx_oo____", "x___o____", "xox_o_x_o", "_________")
COUNTS, QUIET = "lane_counts", "is_quiescent"


def make_check(name: str) -> Check:
    """A check of study 3 that calls the function of this name, with four cases."""
    cases = [{"on": [board]} for board in BOARDS]
    return Check("study3", name, name, {}, {"answer": 4.0}, False, cases)


CHECKS = {name: make_check(name) for name in (COUNTS, QUIET)}
EXPECTED = {COUNTS: [1, 2, 3, 4], QUIET: [False, True, False, True]}
SWAPPED = {COUNTS: [2, 1, 4, 3], QUIET: [True, False, True, False]}
HALF = {COUNTS: [1, 2, 0, 0], QUIET: [False, True, True, False]}


def observations(answers: Sequence) -> list[Observation]:
    """Replies of one aspect."""
    return [{"answer": answer} for answer in answers]


def make_key(*mistakes: KnownMistake, generated: GeneratedMutants | None = None) -> AnswerKey:
    """An answer key of two checks, in which a page may show every case."""
    return AnswerKey(
        replace(load_study("study3"), checks=CHECKS),
        {name: observations(answers) for name, answers in EXPECTED.items()},
        mistakes,
        generated or GeneratedMutants(),
        {name: frozenset(range(len(BOARDS))) for name in CHECKS},
    )


def mistake(name: str, **answers: Sequence) -> KnownMistake:
    """A known mistake with these replies to the checks that it affects."""
    return KnownMistake(name, f"{name}.", {check: observations(a) for check, a in answers.items()})


def run(key: AnswerKey, name: str, answers: Sequence) -> CheckRun:
    """A check that got these answers and nothing else."""
    check, replies = CHECKS[name], Replies(tuple(observations(answers)))
    return CheckRun(check, replies, first_outcome(key, check, replies))


def judged(key: AnswerKey, *runs: CheckRun) -> list[Outcome]:
    """The outcomes of these runs."""
    return list(judge(key, {each.check.id: each for each in runs}).values())


def test_right_replies_need_no_explanation():
    """The outcome has all points, no case and no cause."""
    key = make_key(mistake("swapped", lane_counts=SWAPPED[COUNTS]))
    for outcome in judged(key, *(run(key, name, EXPECTED[name]) for name in CHECKS)):
        assert (outcome.full, outcome.earned) == (True, 4.0)
        assert outcome.case is outcome.cause is outcome.mistake is None


def test_a_known_mistake_is_named():
    """Replies of a known mistake name it, and each case earns its share of the points."""
    key = make_key(mistake("swapped", lane_counts=SWAPPED[COUNTS]), mistake("other"))
    (outcome,) = judged(key, run(key, COUNTS, SWAPPED[COUNTS]))
    assert (outcome.mistake, outcome.cause, outcome.earned) == ("swapped", "swapped.", 0.0)
    (outcome,) = judged(key, run(key, COUNTS, HALF[COUNTS]))
    assert (outcome.mistake, outcome.earned) == (None, 2.0)


def test_a_mistake_is_explained_where_it_was_made():
    """A later check with other replies refers to the earlier one if the mistake affects both."""
    both = mistake("swapped", lane_counts=SWAPPED[COUNTS], is_quiescent=SWAPPED[QUIET])
    key = make_key(both)
    first, second = judged(
        key, run(key, COUNTS, SWAPPED[COUNTS]), run(key, QUIET, [None, None, True, False])
    )
    assert first.mistake == "swapped"
    assert (second.mistake, second.inherited_from) == (None, first.check)
    assert second.cause == first.cause


def test_a_check_without_its_mistake_casts_doubt():
    """A mistake is doubtful if a check that it would affect is correct."""
    both = mistake("swapped", lane_counts=SWAPPED[COUNTS], is_quiescent=SWAPPED[QUIET])
    key = make_key(both)
    first, _ = judged(key, run(key, COUNTS, SWAPPED[COUNTS]), run(key, QUIET, EXPECTED[QUIET]))
    assert (first.mistake, first.is_doubtful, first.contradicted_by) == (
        "swapped",
        True,
        "study3.is_quiescent",
    )


@pytest.mark.parametrize(("quiet", "is_named"), [(HALF[QUIET], True), (EXPECTED[QUIET], False)])
def test_a_generated_mutant_must_explain_all_checks(quiet, is_named):
    """A mutant that affects another check is named only if that check has its replies as well."""
    digests = {
        name: {digest(CHECKS[name], observations(HALF[name]), observations(EXPECTED[name])): [0]}
        for name in CHECKS
    }
    mutants = GeneratedMutants([(COUNTS, "a number is one too large")], digests)
    key = make_key(generated=mutants)
    outcome, _ = judged(key, run(key, COUNTS, HALF[COUNTS]), run(key, QUIET, quiet))
    assert bool(outcome.resembles) == is_named
    assert not is_named or "`lane_counts`: a number is one too large" in outcome.resembles


def test_a_generated_mutant_is_not_named_for_another_distribution(monkeypatch):
    """The digest of a distribution states only whether it is right, so other ones may be wrong."""
    question = replace(QUESTIONS[COUNTS], comparators={"answer": equal})
    monkeypatch.setitem(QUESTIONS, COUNTS, question)
    right, wrong = observations(EXPECTED[COUNTS]), observations(HALF[COUNTS])
    digests = {COUNTS: {digest(CHECKS[COUNTS], wrong, right): [0]}}
    key = make_key(generated=GeneratedMutants([(COUNTS, "a number is wrong")], digests))
    replies = Replies(tuple(observations([1, 2, 9, 9])))
    assert key.generated.matching(CHECKS[COUNTS], replies.observations, right) == {0}
    (outcome,) = judged(key, run(key, COUNTS, [1, 2, 9, 9]))
    assert outcome.resembles is None


@pytest.mark.parametrize("is_full", [True, False])
def test_carried_functions_have_the_marks_and_the_cause_stays(is_full):
    """Marks are those given the student's own functions; a cause is named while some marks are
    lost.
    """
    key = make_key(mistake("swapped", is_quiescent=SWAPPED[QUIET]))
    right_here = SWAPPED[QUIET] if is_full else [True, False, True, True]
    plain = run(key, QUIET, SWAPPED[QUIET])
    functions = CarriedFunctions(observations(right_here), (COUNTS,))
    carried = carried_outcome(key, plain.check, plain.replies, functions)
    (outcome,) = judged(key, replace(plain, carried=carried))
    assert outcome.carried_from == (COUNTS,)
    assert (outcome.full, outcome.earned) == (is_full, 4.0 if is_full else 3.0)
    assert outcome.mistake == (None if is_full else "swapped")
    if not is_full:
        assert outcome.case["expected"] == {"answer": True}


def test_a_case_that_may_not_be_shown_is_removed():
    """Its points count, but the case and the module's reply to it are removed."""
    key = replace(make_key(), shown_cases={COUNTS: frozenset({0})})
    answers = [1, 2, 3, "a secret"]
    (outcome,) = judged(key, run(key, COUNTS, answers))
    assert (outcome.case, outcome.is_case_hidden, outcome.earned) == (None, True, 3.0)
    assert "secret" not in repr(outcome)


def test_a_page_shows_the_rerun_and_not_the_marked_replies():
    """Only a process that received no other hidden case gets its reply onto a page."""
    key = make_key()
    plain = run(key, COUNTS, ["all hidden cases", 2, 3, 4])
    rerun = Replies(tuple(observations(["one case"])))
    (outcome,) = judged(key, replace(plain, rerun=rerun))
    assert outcome.case["got"] == {"answer": "one case"}
    assert outcome.earned == 3.0
    (outcome,) = judged(key, replace(plain, rerun=rerun, rerun_expected={"answer": 5}))
    assert outcome.case["expected"] == {"answer": 5}


def test_a_search_is_compared_node_by_node():
    """The collected tree of the case leads to a sentence, computed without the student's module."""
    right = {"move": 3, "value": 0, "nodes": 9}
    check = replace(
        load_study("study3").checks["type_a"],
        settings={},
        points=dict.fromkeys(right, 1.0),
        cases=[{"agent": "TypeA", "limit": 2, "on": "xox_o_x_o"}],
    )
    key = replace(
        make_key(),
        study=replace(load_study("study3"), checks={check.name: check}),
        expected={check.name: [right]},
        shown_cases={check.name: frozenset({0})},
    )
    replies = Replies(({**right, "nodes": 8},))
    first = first_outcome(key, check, replies)
    trace = Replies(({"trace": []},))
    (outcome,) = judged(key, CheckRun(check, replies, first, trace=trace))
    assert outcome.divergence["sentence"] == divergence_words.NOT_COUNTED


@pytest.mark.parametrize(
    "replies",
    [
        Replies((None,) * 4, broken="SyntaxError: invalid syntax"),
        Replies((None,) * 4, stopped="stopped after 2 s of computing time"),
        Replies(({"errors": {"answer": "ValueError: no"}},) * 4),
        Replies(({},) * 4),
    ],
)
def test_a_module_without_answers_earns_nothing(replies):
    """For any reason, there is an outcome, and no mistake is named."""
    key = make_key(mistake("none", lane_counts=[None] * 4))
    check = CHECKS[COUNTS]
    (outcome,) = judged(key, CheckRun(check, replies, first_outcome(key, check, replies)))
    assert (outcome.earned, outcome.mistake) == (0.0, None)
    assert outcome.stopped == (replies.stopped is not None)


def test_the_same_runs_have_the_same_outcomes():
    """Judging has no side effects, and its result does not depend on earlier calls."""
    key = make_key(mistake("swapped", lane_counts=SWAPPED[COUNTS]))
    runs = {
        each.check.id: each
        for each in (run(key, COUNTS, SWAPPED[COUNTS]), run(key, QUIET, HALF[QUIET]))
    }
    copy = dict(runs)
    outcomes = judge(key, runs)
    assert judge(key, dict(list(runs.items())[:1])).keys() == {"study3.lane_counts"}
    assert judge(key, runs) == outcomes
    assert runs == copy
