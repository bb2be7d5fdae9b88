"""Marks for each aspect and position, and explanations for any possible reply."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course.checks import Check, KnownMistake, load_study, studies
from course.checks.marking.common_cause import in_common
from course.checks.marking.comparison import equal, error_kind, is_right
from course.checks.marking.diagnosis import CheckSummary, OtherChecks, summarize
from course.checks.marking.evidence import Finding, find
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import FORMER_KEYS, Outcome, mark
from course.checks.replies import Replies

# Explanations look up the check's query, so the tests use the name of a real check.
REAL = next(
    check
    for study in studies()
    for check in load_study(study).checks.values()
    if check.ask == "search"
)
BOARDS = ("x_o_x_o__", "xo_xo____", "_________")
CHECK = Check(
    REAL.study,
    REAL.name,
    "search",
    {"agent": "Searcher"},
    {"move": 3, "value": 2, "nodes": 1},
    False,
    [{"on": board} for board in BOARDS],
)
EXPECTED = [
    {"move": 8, "value": 1.0, "nodes": 30},
    {"move": 6, "value": 1.0, "nodes": 20},
    {"move": 0, "value": 0.0, "nodes": 100},
]
MISTAKE = KnownMistake(
    "root",
    "The root was not counted.",
    {CHECK.name: [{**e, "nodes": e["nodes"] - 1} for e in EXPECTED]},
)


def marked(*observations, check=CHECK, expected=EXPECTED, mistakes=(MISTAKE,), **replies):
    """The outcome of these observations, by default the expected ones."""
    return mark(check, Replies(observations or tuple(expected), **replies), expected, mistakes)


def earned(outcome):
    """The points of each aspect."""
    return {aspect.name: aspect.earned for aspect in outcome.aspects}


def but(number, **changes):
    """The expected observations with some values of one replaced."""
    return [{**e, **changes} if i == number else dict(e) for i, e in enumerate(EXPECTED)]


# ---- Marks


def test_all_right_earns_everything():
    """Correct replies earn all points and need no explanation."""
    outcome = marked()
    assert (outcome.earned, outcome.points, outcome.full) == (6, 6, True)
    assert (outcome.case, outcome.problem, outcome.mistake, outcome.cause) == (None,) * 4
    assert not outcome.stopped


@pytest.mark.parametrize(
    ("aspect", "wrong", "left"),
    [
        ("move", 1, {"move": 2, "value": 2, "nodes": 1}),
        ("value", 0.5, {"move": 3, "value": 2 * 2 / 3, "nodes": 1}),
        ("nodes", 31, {"move": 3, "value": 2, "nodes": 2 / 3}),
    ],
)
def test_a_wrong_aspect_costs_only_its_share(aspect, wrong, left):
    """One wrong position in an aspect costs that aspect one share of its points."""
    assert earned(marked(*but(0, **{aspect: wrong}))) == pytest.approx(left)


def test_no_aspect_gates_another():
    """Wrong moves in every position do not affect the points for values and nodes."""
    outcome = marked(*({**e, "move": 4} for e in EXPECTED))
    assert earned(outcome) == {"move": 0, "value": 2, "nodes": 1}
    assert [(a.right, a.cases) for a in outcome.aspects] == [(0, 3), (3, 3), (3, 3)]
    assert not outcome.full


def test_points_are_rounded_once():
    """Thirds add up, because the sum is rounded to hundredths and the aspects are not."""
    assert marked(*but(0, move=1, value=0.5, nodes=1)).earned == 4
    assert marked(*but(0, nodes=1)).earned == 5.67


def test_extra_credit_is_passed_on():
    """The outcome records whether its points are extra credit."""
    check = Check(CHECK.study, CHECK.name, "search", {}, CHECK.points, True, CHECK.cases)
    assert marked(check=check).extra_credit
    assert not marked().extra_credit


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=3, max_size=3))
def test_points_are_the_share_of_right_positions(rights):
    """Each aspect earns its points times the share of correct positions."""
    names = list(CHECK.points)
    observations = [
        {name: e[name] if right else "wrong" for name, right in zip(names, row, strict=True)}
        for e, row in zip(EXPECTED, rights, strict=True)
    ]
    outcome = marked(*observations)
    for column, aspect in enumerate(outcome.aspects):
        assert aspect.right == sum(row[column] for row in rights)
        assert aspect.earned == pytest.approx(CHECK.points[aspect.name] * aspect.right / 3)
    assert outcome.full == all(map(all, rights)) == (outcome.case is None)


# ---- Errors and missing replies


def test_an_error_in_one_aspect_leaves_the_others():
    """An aspect that raised an error is wrong at that position, and its message is the problem."""
    observation = {"move": 8, "value": 1.0, "errors": {"nodes": "TypeError: no"}}
    outcome = marked(observation, *EXPECTED[1:])
    assert earned(outcome) == pytest.approx({"move": 3, "value": 2, "nodes": 2 / 3})
    assert outcome.problem == "TypeError: no"
    assert outcome.case["errors"] == {"nodes": "TypeError: no"}
    assert outcome.case["got"] == {"move": 8, "value": 1.0, "nodes": None}


def test_a_stopped_module_keeps_what_it_had_answered():
    """Replies before the stop count, and the first position without a reply is named."""
    outcome = marked(EXPECTED[0], None, None, stopped="stopped after 3 s")
    assert earned(outcome) == pytest.approx({"move": 1, "value": 2 / 3, "nodes": 1 / 3})
    assert outcome.stopped
    assert outcome.problem == (
        'stopped after 3 s: no answer to Searcher().search(Board("xo_xo____"))'
    )


def test_a_broken_module_earns_nothing():
    """A module that cannot be loaded earns zero points, and the reason is given."""
    outcome = marked(None, None, None, broken="SyntaxError: no")
    assert (outcome.earned, outcome.problem, outcome.mistake) == (0, "SyntaxError: no", None)
    assert not outcome.stopped


def test_a_stop_after_all_answers_costs_nothing():
    """A process that hangs after all replies has replied to everything."""
    outcome = marked(stopped="stopped after 3 s")
    assert outcome.full
    assert as_text(outcome)


def test_a_stub_is_not_written_yet():
    """The error of an unwritten stub is distinguished from a wrong answer."""
    message = "not written yet: Searcher.search: write this method"
    outcome = marked(*[{"errors": dict.fromkeys(CHECK.points, message)}] * 3)
    assert outcome.not_implemented
    assert outcome.earned == 0
    assert "not written yet" in as_text(outcome).splitlines()[0]


# ---- Equality


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (0.1 + 0.2, 0.3),
        (0.3, 0.3 + 9e-10),
        (0.3, 0.3 - 9e-10),
        (1.0, 1),
        (0.0, -0.0),
        (4, 4.0),
        (math.inf, math.inf),
        ("x", "x"),
        (None, None),
        (True, True),
        (10**30, 10**30),
        ([], []),
        ([1, 2.0], [1, 2]),
        ([[0.1], "a"], [[0.1 + 1e-12], "a"]),
    ],
)
def test_these_are_equal(expected, got):
    """Floats may differ by a billionth, and integers may be given as floats."""
    assert equal(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (0.3, 0.3 + 2e-9),
        (1e9, 1e9 + 1e-6),
        (4, 4.0000000001),
        (4, 5),
        (1, "1"),
        (1.0, "1.0"),
        (0, None),
        (None, 0),
        (None, ""),
        (False, None),
        (0.0, None),
        ("x", ["x"]),
        (1, [1]),
        ([1], 1),
        ([1, 2], [2, 1]),
        ([1, 2], [1]),
        ([1], [1, 2]),
        ([1, [2]], [1, 2]),
        ([], None),
        ([], 0),
        (0.5, math.nan),
        (1, math.nan),
        (1.0, math.inf),
        (math.inf, -math.inf),
        ("nan", math.nan),
        ([0.5], [math.nan]),
        (math.nan, math.nan),
        (True, "True"),
        (1, {"a": 1}),
        ([1], {"0": 1}),
        ("1", 1),
        ("ab", ["a", "b"]),
        (1.0, 10**400),
        (1.0, -(10**400)),
        (1, 10**400),
        (math.inf, 10**400),
    ],
    ids=lambda value: f"{value!r:.12}",
)
def test_these_are_not_equal(expected, got):
    """Other numbers, types and shapes are wrong, and none of them raises an error."""
    assert not equal(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"), [(True, 1), (False, 0), (1, True), (0, False), (1.0, True), (0.0, False)]
)
def test_truth_values_are_the_numbers_that_they_are(expected, got):
    """Python's True is 1, so an `is_quiescent` that returns 0 or 1 is correct."""
    assert equal(expected, got)


PLAIN = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=8)
    ),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(PLAIN.filter(lambda value: "nan" not in repr(value)))
def test_every_value_equals_itself(value):
    """Any value without a NaN is equal to itself."""
    assert equal(value, value)


def kind_of(value):
    """A value's type, and recursively the types of a list's members."""
    return [kind_of(each) for each in value] if isinstance(value, list) else type(value)


@given(PLAIN, PLAIN)
@example(0.5, 10**400)
@example([False], [1e-254])
@example([0], [1e-254])
def test_equality_of_any_two_values_is_a_truth_value(expected, got):
    """No reply makes the comparison raise, and equality of values with the same type is symmetric."""
    assert equal(expected, got) in (True, False)
    if kind_of(expected) == kind_of(got):
        assert equal(expected, got) == equal(got, expected)


def test_an_aspect_that_is_missing_is_wrong():
    """A missing reply is not the reply None."""
    assert is_right("search", {"move": None}, {"move": None}, "move")
    assert not is_right("search", {"move": None}, {}, "move")


# ---- Mistakes


def test_an_aspect_without_an_expected_value_is_wrong():
    """The reference may fail with a student's own function, so that there is no value to expect."""
    name = next(iter(CHECK.points))
    expected = [{}, *EXPECTED[1:]]
    assert not is_right(CHECK.ask, {}, EXPECTED[0], name)
    outcome = marked(*EXPECTED, expected=expected, mistakes=())
    assert [aspect.right for aspect in outcome.aspects] == [len(EXPECTED) - 1] * len(CHECK.points)


def test_a_mistake_is_named_when_all_replies_are_its():
    """The feedback has the description of the mistake with these replies."""
    outcome = marked(*MISTAKE.observed[CHECK.name])
    assert (outcome.mistake, outcome.cause) == (MISTAKE.name, MISTAKE.sentence)
    assert MISTAKE.sentence in as_text(outcome)
    assert MISTAKE.sentence in as_html(outcome)


def test_a_mistake_is_not_named_for_part_of_its_replies():
    """If one reply differs from the mistake's, it is another mistake; in an aspect that the mistake
    does not affect, it may be a second one.
    """
    seen = MISTAKE.observed[CHECK.name]
    outcome = marked(seen[0], seen[1], {**seen[2], "move": 5})
    assert (outcome.matching, outcome.is_doubtful) == ((), True)
    assert marked(seen[0], seen[1], {**seen[2], "nodes": 5}).mistake is None
    assert marked(seen[0], seen[1], EXPECTED[2]).mistake is None
    assert marked(seen[0], seen[1], None, stopped="stopped").mistake is None


def test_no_mistake_is_named_for_right_replies():
    """A mistake without effect here is not named for a correct answer."""
    harmless = KnownMistake("harmless", "No harm.", {CHECK.name: EXPECTED})
    assert marked(mistakes=[harmless]).mistake is None


def test_the_mistakes_of_other_checks_do_not_matter():
    """A mistake is compared only in the checks that it affects."""
    assert (
        marked(*but(0, move=1), mistakes=[KnownMistake("other", "No.", {"other": []})]).mistake
        is None
    )


def test_the_first_of_equal_mistakes_is_named():
    """If two mistakes are indistinguishable, the first one in the file is named."""
    twin = KnownMistake("twin", "Another.", MISTAKE.observed)
    assert marked(*MISTAKE.observed[CHECK.name], mistakes=[MISTAKE, twin]).mistake == "root"
    assert marked(*MISTAKE.observed[CHECK.name], mistakes=[twin, MISTAKE]).mistake == "twin"


def test_a_mistake_that_did_not_answer_everything_is_no_obstacle():
    """A mistake that never ends has None instead of a reply, and marking continues."""
    endless = KnownMistake("endless", "It never ends.", {CHECK.name: [EXPECTED[0], None, None]})
    assert marked(*but(1, move=1), mistakes=[endless]).mistake is None


@pytest.mark.parametrize(
    "replies", [{"broken": "SyntaxError: no"}, {"stopped": "stopped after 3 s"}, {}]
)
def test_no_mistake_is_named_where_nothing_was_answered(replies):
    """Errors do not identify the cause: a stub or a broken module is not a mistake that raises."""
    raising = KnownMistake(
        "raising",
        "It raises.",
        {CHECK.name: [{"errors": dict.fromkeys(CHECK.points, "KeyError: 1")}] * 3},
    )
    unwritten = {"errors": dict.fromkeys(CHECK.points, "not written yet: write this")}
    observations = [None] * 3 if replies else [unwritten] * 3
    assert marked(*observations, mistakes=[raising], **replies).mistake is None


# ---- The explained case


def test_the_smallest_failing_case_is_explained():
    """The wrong position with the fewest expected nodes is shown."""
    outcome = marked(*({**e, "move": 4} for e in EXPECTED))
    assert outcome.case == {
        "number": 1,
        "question": {"agent": "Searcher", "on": "xo_xo____"},
        "expected": EXPECTED[1],
        "got": {**EXPECTED[1], "move": 4},
        "errors": {},
    }
    assert marked(*but(2, move=4)).case["question"]["on"] == "_________"


def test_a_stopped_check_shows_where_it_was_stopped_and_no_other_position():
    """The position in the message is the explained one, so that only one is disclosed."""
    outcome = marked({**EXPECTED[0], "move": 4}, None, EXPECTED[2], stopped="stopped")
    assert outcome.case["question"]["on"] == BOARDS[1]
    assert BOARDS[1] in outcome.problem
    assert BOARDS[0] not in as_text(outcome)


def test_an_outcome_is_plain_data():
    """A stored outcome has its sums, and accepts lists instead of tuples."""
    data = marked(*but(0, move=1)).to_json()
    assert (data["earned"], data["points"]) == (5, 6)
    assert data["aspects"][0] == {"name": "move", "right": 2, "cases": 3, "earned": 2, "points": 3}


def test_outcomes_of_earlier_versions_are_read():
    """Some keys had other names, and some fields did not exist yet."""
    outcome = outcome_with_helper(*but(0, move=1), helper=CheckSummary(False, ("spread",)))
    data = outcome.to_json()
    assert Outcome.from_json(data) == outcome
    former = {present: key for key, present in FORMER_KEYS.items()}
    older = {former.get(key, key): value for key, value in data.items()}
    older["aspects"] = [
        {"name": "move", "right": 2, "asked": 3, "earned": 2, "points": 3},
        *({"asked": aspect.pop("cases"), **aspect} for aspect in data["aspects"][1:]),
    ]
    older["case"] = {"asked": data["case"].pop("question"), **data["case"]}
    assert older.keys() > {"slip", "given", "found_in", "not_in"} and older["found_in"] == HELPER
    assert Outcome.from_json(older) == outcome
    del older["unshown"], older["said"]
    assert Outcome.from_json(older) == outcome


# ---- Explanations


def test_the_text_of_a_right_answer_is_one_line():
    """Without an error, only the marks are shown."""
    assert as_text(marked()) == f"{CHECK.id}: 6 of 6 points - all correct"
    assert as_html(marked()) == f"<p><strong>{CHECK.id}: 6 of 6 points - all correct</strong></p>"


@pytest.mark.parametrize("explain", [as_text, as_html])
def test_an_explanation_shows_question_board_and_answers(explain):
    """The explanation has the query, the board, the expected and actual replies, and their
    differences.
    """
    outcome = marked(*but(1, value=-0.25))
    shown = explain(outcome).replace("&quot;", '"')
    assert 'Searcher().search(Board("xo_xo____"))' in shown
    assert "-0.25" in shown
    assert shown.count("differs") == 1
    assert "2 of 3" in shown
    if explain is as_text:
        assert "x|o|_" in shown
        assert "  value    expected 1.0, got -0.25   <- differs" in shown.splitlines()
        assert "  nodes    expected 20, got 20" in shown.splitlines()
    else:
        assert "<svg" in shown or "<img" in shown


@pytest.mark.parametrize("explain", [as_text, as_html])
def test_an_error_is_shown_with_the_position_it_was_on(explain):
    """The position is shown so that the student can run the search on it."""
    error = {"errors": dict.fromkeys(CHECK.points, "IndexError: no such cell (line 3 of a.py)")}
    shown = explain(marked(EXPECTED[0], error, EXPECTED[2])).replace("&quot;", '"')
    assert "IndexError: no such cell (line 3 of a.py)" in shown
    assert 'Board("xo_xo____")' in shown


def test_settings_and_options_are_in_the_question():
    """Options of the case are shown as typed in code."""
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "TypeA"},
        {"move": 1},
        False,
        [{"on": "_________", "limit": 2, "order": "board"}],
    )
    outcome = marked({"move": 1}, check=check, expected=[{"move": 0}], mistakes=())
    assert 'TypeA(limit=2, order=board order).search(Board("_________"))' in as_text(outcome)


def test_what_another_agent_did_before_is_in_the_question():
    """If another agent searches first, this is stated; arguments of `value` are not options."""
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "TypeA", "beside": {"limit": 1}, "arguments": [0]},
        {"move": 1},
        False,
        [{"on": "tree ((5, 9), 3)", "limit": 2}],
    )
    shown = as_text(marked({"move": 1}, check=check, expected=[{"move": 0}], mistakes=()))
    assert (
        "TypeA(limit=2).search(NumberTree(((5, 9), 3))) after TypeA(limit=1).search of the same"
        in shown
    )
    assert "x to move in ((5, 9), 3)" in shown


def test_the_made_up_game_is_shown():
    """A position of the made-up row is drawn as a row."""
    check = Check(
        CHECK.study, CHECK.name, "search", {"agent": "A"}, {"move": 1}, False, [{"on": "row xx___"}]
    )
    outcome = marked({"move": 1}, check=check, expected=[{"move": 0}], mistakes=())
    for shown in (as_text(outcome), as_html(outcome).replace("&quot;", '"')):
        assert 'Row("xx___")' in shown
        assert "x|x|_|_|_" in shown


def test_extra_credit_is_called_so():
    """The headline states that the points are extra credit."""
    check = Check(CHECK.study, CHECK.name, "search", {}, CHECK.points, True, CHECK.cases)
    assert "6 of 6 points of extra credit" in as_text(marked(check=check))


EVIL = "<script>alert('\"&')</script>"


@pytest.mark.parametrize(
    ("observations", "replies"),
    [
        (but(0, move=EVIL), {}),
        (but(0, move=[EVIL, [EVIL]]), {}),
        ([{"move": 8, "value": 1.0, "errors": {"nodes": EVIL}}, *EXPECTED[1:]], {}),
        ([{"errors": dict.fromkeys(CHECK.points, EVIL)}] * 3, {}),
        ([{"errors": dict.fromkeys(CHECK.points, f"not written yet: {EVIL}")}] * 3, {}),
        ([None] * 3, {"broken": EVIL}),
        ([None] * 3, {"stopped": EVIL}),
    ],
    ids=["value", "list", "error", "errors", "stub", "broken", "stopped"],
)
def test_the_page_escapes_what_a_student_wrote(observations, replies):
    """A value or an exception's text is escaped, and the browser never runs it."""
    outcome = marked(*observations, **replies)
    page = as_html(outcome)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<script>" in as_text(outcome)


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, [["x" * 100] * 100] * 100, list(range(100_000))],
    ids=["text", "lists", "numbers"],
)
def test_a_long_answer_is_cut(value):
    """One huge value does not fill the notebook, the feedback and the report."""
    outcome = marked(*but(0, move=value))
    assert len(as_text(outcome)) < 5_000
    assert len(as_html(outcome)) < 20_000


ERRORS = st.text(st.characters(), min_size=1, max_size=20)
OBSERVATIONS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "move": PLAIN,
            "value": PLAIN,
            "nodes": PLAIN,
            "other": PLAIN,
            "errors": st.dictionaries(st.sampled_from(["move", "value", "nodes", "x"]), ERRORS),
        },
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.tuples(OBSERVATIONS, OBSERVATIONS, OBSERVATIONS), st.none() | ERRORS)
@example(({"move": 10**400, "value": 10**400, "nodes": 10**400}, None, None), "stopped")
@example(({"move": math.nan, "value": math.inf, "nodes": -math.inf}, {}, {}), None)
@example(({"errors": {"move": "\ud800"}}, {}, {}), None)
def test_any_replies_are_marked_and_explained(observations, broken):
    """Any plain data can be marked, and the text and the page can be written."""
    outcome = marked(*observations, broken=broken)
    assert 0 <= outcome.earned <= outcome.points
    for shown in (as_text(outcome), as_html(outcome)):
        assert CHECK.id in shown
        assert shown.encode("utf-8")
    assert "<script" not in as_html(outcome)


# ---- Results of other checks of the same module

HELPER = f"{CHECK.study}.helper"
SPREAD = KnownMistake(
    "spread",
    "The helper is wrong.",
    {"helper": [{"two": 1}], CHECK.name: [{**e, "value": -1.0} for e in EXPECTED]},
)


def outcome_with_helper(*observations, helper, mistakes=(SPREAD,)):
    """The outcome if an earlier check has had this result."""
    return mark(CHECK, Replies(observations), EXPECTED, mistakes, OtherChecks({HELPER: helper}))


def test_the_cause_of_a_broken_helper_is_carried():
    """A check whose own replies match no mistake takes the helper's, and names where it was found."""
    wrong = [{**e, "value": -0.5, "nodes": 1} for e in EXPECTED]
    outcome = outcome_with_helper(*wrong, helper=CheckSummary(False, ("spread",)))
    assert (outcome.mistake, outcome.cause, outcome.inherited_from) == (
        None,
        SPREAD.sentence,
        HELPER,
    )
    for shown in (as_text(outcome), as_html(outcome)):
        assert f"Likely cause, found in {HELPER}" in shown
        assert SPREAD.sentence in shown


def test_a_helper_that_is_wrong_in_an_unknown_way_is_to_be_looked_at_first():
    """Without a known mistake, the check states which function to correct first."""
    outcome = outcome_with_helper(*but(0, move=1), helper=CheckSummary(False, ()))
    assert (outcome.cause, outcome.inherited_from) == (None, HELPER)
    assert f"{HELPER}, which is not all correct either" in as_text(outcome)


def test_a_right_helper_carries_nothing():
    """A correct helper is not mentioned, nor is one whose mistake has no effect here."""
    assert (
        outcome_with_helper(*but(0, move=1), helper=CheckSummary(True, ())).inherited_from is None
    )
    harmless = KnownMistake("harmless", "No.", {"helper": [{"two": 1}]})
    assert (
        outcome_with_helper(
            *but(0, move=1), helper=CheckSummary(False, ("harmless",)), mistakes=(harmless,)
        ).inherited_from
        is None
    )


def test_a_helper_is_not_mentioned_if_no_mistake_explains_both():
    """A check that is all right shows that the wrong helper is not the cause."""
    third = f"{REAL.study}.third"
    shared = KnownMistake("shared", "No.", {**SPREAD.observed, "third": [{"three": 1}]})
    others = OtherChecks({third: CheckSummary(True, ()), HELPER: CheckSummary(False, ())})
    outcome = mark(CHECK, Replies(but(0, move=1)), EXPECTED, (shared,), others)
    assert outcome.inherited_from is None


def test_a_less_likely_mistake_does_not_replace_a_refuted_one():
    """The cause is not known if the likeliest mistake does not fit errors carried forward."""
    third, seen = f"{REAL.study}.third", SPREAD.observed[CHECK.name]
    likelier = KnownMistake("likelier", "No.", {CHECK.name: seen, "helper": [{"two": 1}]})
    other = KnownMistake("other", "No.", {CHECK.name: seen, "third": [{"three": 1}]})
    carried = CheckSummary(True, (), is_evidence=False)
    others = OtherChecks({HELPER: carried, third: CheckSummary(True, ())})
    outcome = mark(CHECK, Replies(seen), EXPECTED, (likelier, other), others)
    assert outcome.cause is None


def test_of_mistakes_with_the_same_replies_the_one_that_others_confirm_is_named():
    """A mistake in a helper that is correct is not the cause if another one is possible."""
    twin = KnownMistake("twin", "The search is wrong.", {CHECK.name: SPREAD.observed[CHECK.name]})
    wrong = SPREAD.observed[CHECK.name]
    mistakes = (SPREAD, twin)
    assert (
        outcome_with_helper(*wrong, helper=CheckSummary(True, ()), mistakes=mistakes).mistake
        == "twin"
    )
    assert (
        outcome_with_helper(
            *wrong, helper=CheckSummary(False, ("spread",)), mistakes=mistakes
        ).mistake
        == "spread"
    )


def test_a_cause_that_another_check_contradicts_is_marked():
    """The only mistake with these replies is not called probable if the helper contradicts it."""
    outcome = outcome_with_helper(*SPREAD.observed[CHECK.name], helper=CheckSummary(True, ()))
    assert "Likely cause" not in as_text(outcome)
    assert (
        f"Possible cause: {SPREAD.sentence} However, the replies to {HELPER} do not show"
        in as_text(outcome)
    )


def common_property(wrong: int, correct: int) -> str | None:
    """What is stated if all cases with o to move are wrong, and all others are correct."""
    boards = ["x________"] * wrong + ["_________"] * correct
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "S"},
        {"move": 1},
        False,
        [{"on": board} for board in boards],
    )
    replies = [{"move": 9}] * wrong + [{"move": 0}] * correct
    outcome = marked(*replies, check=check, expected=[{"move": 0}] * len(boards), mistakes=())
    assert (outcome.common or "") in as_text(outcome)
    return outcome.common


def test_a_common_property_of_the_wrong_cases_is_stated():
    """Four wrong cases with o to move and four correct ones with x to move are worth a sentence."""
    assert common_property(4, 4).startswith("In all 4 questions with a wrong reply, o is to move")


@pytest.mark.parametrize(("wrong", "correct"), [(2, 2), (3, 3), (3, 2), (2, 10), (10, 2), (4, 3)])
def test_a_property_in_common_by_chance_is_not_stated(wrong, correct):
    """A few cases have some property in common in many ways, and none of them is a reason."""
    assert common_property(wrong, correct) is None


def test_cases_that_may_have_the_property_are_no_comparison():
    """Only a correct case that lacks the property shows that it matters."""
    wrong, correct = [{"on": "x________"}] * 4, [{"on": "_________"}] * 4
    two_boards, no_board = {"on": ["x________", "x_______o"]}, {"cards": ["js"]}
    assert in_common([*wrong, *correct], range(4)) is not None
    for unknown in (two_boards, no_board):
        assert in_common([*wrong, *[unknown] * 4], range(4)) is None
        assert in_common([*wrong, *correct[1:], unknown], range(4)) is None
    assert in_common([*wrong, *wrong], range(4)) is None
    assert in_common(wrong, range(4)) is None


# ---- Evidence for a known mistake


def test_an_error_matches_an_error_of_the_same_kind_only():
    """A module that fails in another way does not have the mistake."""
    seen = [{**EXPECTED[0], "value": -1.0}, {"errors": dict.fromkeys(CHECK.points, "KeyError")}]
    failing = KnownMistake("failing", "It fails.", {CHECK.name: [*seen, EXPECTED[2]]})

    def named(text):
        errors = {"errors": dict.fromkeys(CHECK.points, text)}
        return marked(seen[0], errors, EXPECTED[2], mistakes=[failing]).cause

    assert named("KeyError: 3 (line 7 of a.py)") == failing.sentence
    assert named("KeyError (line 7 of a.py)") == failing.sentence
    assert named("IndexError: list index out of range (line 7 of a.py)") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("KeyError: 'a, b' (line 3 of a.py)", "KeyError"),
        ("StopIteration (line 3 of a.py)", "StopIteration"),
        ("ZeroDivisionError", "ZeroDivisionError"),
        ("a lane's kind is a pair (own, opponent's), not 3", "a lane's kind is a pair"),
        (
            "lane_counts must return a pair (two, one), it returned 3",
            "lane_counts must return a pair",
        ),
    ],
)
def test_the_kind_of_an_error_has_no_line_and_no_value(text, kind):
    """The kind is the type, or the start of the message about an invalid reply."""
    assert error_kind(text) == error_kind(kind) == kind


def test_an_exception_in_every_case_has_many_causes():
    """It names no mistake, although this one raises the same exception in the same cases."""
    errors = {"nodes": "KeyError: 1"}
    seen = [{"move": e["move"], "value": e["value"], "errors": errors} for e in EXPECTED]
    failing = KnownMistake("failing", "It fails.", {CHECK.name: seen})
    assert marked(*seen, mistakes=[failing]).cause is None
    message = {"errors": {"nodes": "nodes must be a number, not 'a'"}}
    seen = [{"move": e["move"], "value": e["value"], **message} for e in EXPECTED]
    invalid = KnownMistake("invalid", "It is no number.", {CHECK.name: seen})
    assert marked(*seen, mistakes=[invalid]).cause == invalid.sentence


@pytest.mark.parametrize(
    ("error", "is_doubtful"),
    [("not written yet: value", False), ("KeyError: 1", True), ("a.py defines no value", False)],
)
def test_missing_replies_do_not_hide_a_mistake(error, is_doubtful):
    """A module with a known mistake that also lacks a method still gets the mistake's name; an
    error that the mistake does not cause may have the same cause as the other wrong replies.
    """
    without = [
        {"move": e["move"], "nodes": e["nodes"], "errors": {"value": error}}
        for e in MISTAKE.observed[CHECK.name]
    ]
    outcome = marked(*without)
    assert (outcome.cause, outcome.is_doubtful) == (MISTAKE.sentence, is_doubtful)
    assert outcome.matching == ()


def test_an_error_where_the_mistake_gives_a_reply_is_beside_it():
    """Two of three replies are those of the mistake, and the third is an error of something else."""
    seen = MISTAKE.observed[CHECK.name]
    error = {"errors": dict.fromkeys(CHECK.points, "KeyError: 1")}
    stub = {"errors": dict.fromkeys(CHECK.points, "not written yet: this")}
    assert find(CHECK, EXPECTED, [*seen[:2], error], MISTAKE) is Finding.BESIDE
    assert find(CHECK, EXPECTED, [*seen[:2], stub], MISTAKE) is Finding.PARTLY
    assert find(CHECK, EXPECTED, [*seen[:2], None], MISTAKE) is Finding.PARTLY
    outcome = marked(*seen[:2], error)
    assert (outcome.cause, outcome.is_doubtful) == (MISTAKE.sentence, True)


def test_a_second_wrong_aspect_makes_a_mistake_only_possible():
    """Another mistake may explain all aspects, unless this one is clear from another check."""
    seen = [{**e, "move": 4} for e in MISTAKE.observed[CHECK.name]]
    outcome = marked(*seen)
    assert (outcome.cause, outcome.is_doubtful) == (MISTAKE.sentence, True)
    assert f"Possible cause: {MISTAKE.sentence}" in as_text(outcome)
    helper = KnownMistake("root", MISTAKE.sentence, {**MISTAKE.observed, "helper": [{"two": 1}]})
    outcome = outcome_with_helper(*seen, helper=CheckSummary(False, ("root",)), mistakes=(helper,))
    assert (outcome.cause, outcome.is_doubtful) == (MISTAKE.sentence, False)


def test_a_move_that_may_follow_from_wrong_values_reveals_no_mistake():
    """If the values are wrong as well, a mistake in the choice of the move is not named."""
    chosen = [{**e, "move": 4} for e in EXPECTED]
    mistake = KnownMistake("choice", "The last move was chosen.", {CHECK.name: chosen})
    assert marked(*chosen, mistakes=(mistake,)).cause == mistake.sentence
    seen = [{**e, "value": 0.25} for e in chosen]
    assert marked(*seen, mistakes=(mistake,)).cause is None


def test_mistakes_that_no_reply_distinguishes_are_named_together():
    """Two are alternatives; with three, the cause is not known."""
    seen = MISTAKE.observed[CHECK.name]
    twins = [KnownMistake(name, f"{name}.", {CHECK.name: seen}) for name in "abc"]
    assert marked(*seen, mistakes=twins[:2]).cause == "One of these: a. Or: b."
    outcome = marked(*seen, mistakes=twins)
    assert (outcome.cause, outcome.matching) == (None, ("a", "b", "c"))


NO_EVIDENCE = CheckSummary(False, (), is_evidence=False)


def test_a_check_without_evidence_neither_confirms_nor_contradicts():
    """A helper that fails or was stopped casts no doubt, but is to be looked at; one that is not
    written is not.
    """
    unwritten = NO_EVIDENCE._replace(is_written=False)
    for helper, place in ((NO_EVIDENCE, HELPER), (unwritten, None)):
        outcome = outcome_with_helper(*SPREAD.observed[CHECK.name], helper=helper)
        assert (outcome.cause, outcome.is_doubtful) == (SPREAD.sentence, False)
        outcome = outcome_with_helper(*but(0, move=1), helper=helper)
        assert (outcome.cause, outcome.inherited_from) == (None, place)


@pytest.mark.parametrize(
    ("error", "place"),
    [
        ("TypeError: no (line 3 of a.py)", HELPER),
        ("not written yet: write this", None),
        ("minimax.py defines no Searcher", None),
    ],
)
def test_a_check_that_only_fails_leads_to_the_helper_unless_it_is_not_written(error, place):
    """An error in every case shows no cause, but it may come from the helper."""
    errors = [{"errors": dict.fromkeys(CHECK.points, error)}] * 3
    outcome = outcome_with_helper(*errors, helper=CheckSummary(False, ()))
    assert (outcome.cause, outcome.inherited_from) == (None, place)


@pytest.mark.parametrize(
    ("replies", "is_written"),
    [
        (({"errors": {"two": "KeyError: 1"}},), True),
        (({"two": 0},), True),
        (({"errors": {"two": "not written yet: write this"}},), False),
        (({"errors": {"two": "heuristic.py defines no lane_counts"}},), False),
        (({"errors": {"two": "not written yet: write this"}}, {"two": 0}), True),
        (({"two": 0}, {"errors": {"two": "not written yet: write this"}}), True),
    ],
)
def test_code_that_is_not_written_is_recognised(replies, is_written):
    """A stub and a function that is left out are missing; any other error is of written code."""
    cases = [{"on": "_" * 9}] * len(replies)
    check = Check("study1", "helper", "lane_counts", {}, {"two": 1}, False, cases)
    none = (None,) * len(replies)
    for each, expected in (
        (Replies(replies), is_written),
        (Replies(none, stopped="stopped after 3 s"), True),
        (Replies(none, broken="SyntaxError: no"), False),
    ):
        right = [{"two": 1}] * len(replies)
        assert summarize(check, each, right, ()).is_written == expected
        assert mark(check, each, right, ()).is_written == expected


def test_a_mistake_is_inherited_only_where_it_makes_replies_wrong():
    """The helper's mistake affects the values, which are all missing; the numbers of nodes are
    wrong for another reason.
    """
    wrong = [{"move": e["move"], "nodes": 1, "errors": {"value": "KeyError: 1"}} for e in EXPECTED]
    outcome = outcome_with_helper(*wrong, helper=CheckSummary(False, ("spread",)))
    assert (outcome.cause, outcome.inherited_from) == (None, HELPER)


def test_a_mistake_that_gives_the_same_booleans_is_inherited():
    """Booleans alone are too few to name a mistake, but they agree with one clear elsewhere."""
    weak = Check(
        CHECK.study, "weak", "is_quiescent", {}, {"answer": 1}, False, [{"on": "_" * 9}] * 3
    )
    right, seen = [{"answer": True}] * 3, [{"answer": False}] * 3
    known = [
        KnownMistake("clear", "No.", {CHECK.name: [{}], "weak": seen}),
        KnownMistake("other", "Other.", {"weak": [{"answer": False}, *right[1:]], "later": [{}]}),
    ]
    others = OtherChecks(
        {CHECK.id: CheckSummary(False, ("clear",))},
        {f"{CHECK.study}.later": CheckSummary(False, ())},
    )
    outcome = mark(weak, Replies(tuple(seen)), right, known, others)
    assert (outcome.cause, outcome.inherited_from) == ("No.", CHECK.id)


def test_an_exception_in_every_case_is_no_evidence_against_its_mistake():
    """The helper clearly shows the mistake, and the exceptions in the earlier check are its own."""
    errors = {"errors": dict.fromkeys(CHECK.points, "KeyError: 1")}
    failing = KnownMistake("spread", "No.", {"helper": [{"two": 1}], CHECK.name: [errors] * 3})
    assert find(CHECK, EXPECTED, [errors] * 3, failing) is Finding.SILENT  # no reply at all
    seen = [{"move": e["move"], "value": e["value"], "errors": {"nodes": "KeyError: 1"}}
            for e in EXPECTED]  # fmt: skip
    failing = KnownMistake("spread", "No.", {"helper": [{"two": 1}], CHECK.name: seen})
    assert find(CHECK, EXPECTED, seen, failing) is Finding.UNSPECIFIC
    before = {CHECK.id: summarize(CHECK, Replies(tuple(seen)), EXPECTED, [failing])}
    helper = Check(CHECK.study, "helper", "lane_counts", {}, {"two": 1}, False, [{"on": "_" * 9}])
    outcome = mark(helper, Replies(({"two": 1},)), [{"two": 0}], [failing], OtherChecks(before))
    assert (outcome.cause, outcome.is_doubtful) == ("No.", False)


def test_a_mistake_that_right_replies_contradict_is_not_inherited():
    """The helper's mistake would make every value wrong, and these are right."""
    wrong = [{**e, "nodes": 1} for e in EXPECTED]
    helper = CheckSummary(False, ("spread",))
    outcome = outcome_with_helper(*wrong, helper=helper)
    assert (outcome.cause, outcome.inherited_from) == (None, HELPER)


def test_an_unexplained_loss_in_an_earlier_check_makes_a_mistake_only_possible():
    """The unknown mistake in the helper may also explain these replies."""
    twin = KnownMistake("twin", "The search is wrong.", {CHECK.name: SPREAD.observed[CHECK.name]})
    wrong = SPREAD.observed[CHECK.name]
    outcome = outcome_with_helper(*wrong, helper=CheckSummary(False, ()), mistakes=(SPREAD, twin))
    assert (outcome.cause, outcome.is_doubtful, outcome.contradicted_by) == (
        "The search is wrong.",
        True,
        None,
    )
    own = KnownMistake("own", "The helper is wrong in another way.", {"helper": [{"two": 2}]})
    outcome = outcome_with_helper(
        *wrong, helper=CheckSummary(False, ("own",)), mistakes=(SPREAD, twin, own)
    )
    assert (outcome.cause, outcome.is_doubtful) == ("The search is wrong.", False)


@pytest.mark.parametrize(
    ("findings", "contradicting"),
    [
        ([Finding.DISTURBED], None),
        ([Finding.CONTRADICTED], "study1.other0"),
        ([Finding.DISTURBED, Finding.CONTRADICTED], "study1.other1"),
    ],
)
def test_replies_that_are_wrong_in_another_way_do_not_exclude_a_mistake(findings, contradicting):
    """Only a reply that is right although the mistake makes it wrong shows that it is elsewhere."""
    wrong = but(0, value=-0.5)
    names = [f"other{number}" for number in range(len(findings))]
    affected = {name: [{"two": 1}] for name in names}
    known = KnownMistake("spread", "No.", {CHECK.name: wrong, **affected})
    after = {
        f"study1.{name}": CheckSummary(False, (), findings={"spread": finding})
        for name, finding in zip(names, findings, strict=True)
    }
    outcome = mark(CHECK, Replies(tuple(wrong)), EXPECTED, [known], OtherChecks({}, after))
    assert outcome.cause == "No."
    assert (outcome.is_doubtful, outcome.contradicted_by) == (True, contradicting)
    assert ("do not show this mistake" in as_text(outcome)) == bool(contradicting)


def test_a_doubt_holds_for_all_checks():
    """A later check does not call a mistake likely that an earlier one contradicts."""
    three = KnownMistake("spread", SPREAD.sentence, {**SPREAD.observed, "other": [{"two": 1}]})
    wrong = SPREAD.observed[CHECK.name]
    others = OtherChecks({HELPER: CheckSummary(True, ())}, {"study1.other": CheckSummary(True, ())})
    outcome = mark(CHECK, Replies(tuple(wrong)), EXPECTED, [three], others)
    assert (outcome.is_doubtful, outcome.contradicted_by) == (True, HELPER)
    helper = Check(CHECK.study, "helper", "lane_counts", {}, {"two": 1}, False, [{"on": "_" * 9}])
    others = OtherChecks({}, {CHECK.id: CheckSummary(True, ())})
    outcome = mark(helper, Replies(({"two": 1},)), [{"two": 0}], [three], others)
    assert outcome.contradicted_by == CHECK.id


def test_another_mistake_can_hide_one():
    """A helper whose replies are those of a second mistake does not contradict the first one."""
    own = KnownMistake("own", "The helper is wrong in another way.", {"helper": [{"two": 2}]})
    outcome = outcome_with_helper(
        *SPREAD.observed[CHECK.name], helper=CheckSummary(False, ("own",)), mistakes=(SPREAD, own)
    )
    assert (outcome.cause, outcome.is_doubtful) == (SPREAD.sentence, False)
