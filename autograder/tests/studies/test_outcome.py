"""Marks: each aspect by itself, position by position; and explanations that survive any reply."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course.probes import Check, Slip, load_study, studies
from course.probes.explain import as_html, as_text
from course.probes.outcome import Others, Shown, equal, is_right, mark
from course.probes.replies import Replies

# Explanations look up how the check asks, so the tests borrow the name of a real one.
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
SLIP = Slip(
    "root",
    "The root was not counted.",
    {CHECK.name: [{**e, "nodes": e["nodes"] - 1} for e in EXPECTED]},
)


def marked(*observations, check=CHECK, expected=EXPECTED, slips=(SLIP,), **replies):
    """The outcome of these observations; the expected ones where there are none."""
    return mark(check, Replies(observations or tuple(expected), **replies), expected, slips)


def earned(outcome):
    """The points of each aspect."""
    return {aspect.name: aspect.earned for aspect in outcome.aspects}


def but(number, **changes):
    """The expected observations, with some values of one changed."""
    return [{**e, **changes} if i == number else dict(e) for i, e in enumerate(EXPECTED)]


# ---- Marks


def test_all_right_earns_everything():
    """Right replies earn all points, and there is nothing to explain."""
    outcome = marked()
    assert (outcome.earned, outcome.points, outcome.full) == (6, 6, True)
    assert (outcome.case, outcome.problem, outcome.slip, outcome.cause) == (None,) * 4
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
    """One position wrong in one aspect costs that aspect one share of its points."""
    assert earned(marked(*but(0, **{aspect: wrong}))) == pytest.approx(left)


def test_no_aspect_gates_another():
    """A wrong move in every position leaves the points for values and nodes alone."""
    outcome = marked(*({**e, "move": 4} for e in EXPECTED))
    assert earned(outcome) == {"move": 0, "value": 2, "nodes": 1}
    assert [(a.right, a.asked) for a in outcome.aspects] == [(0, 3), (3, 3), (3, 3)]
    assert not outcome.full


def test_points_are_rounded_once():
    """Thirds add up: the sum is rounded to hundredths, and not the aspects."""
    assert marked(*but(0, move=1, value=0.5, nodes=1)).earned == 4
    assert marked(*but(0, nodes=1)).earned == 5.67


def test_extra_credit_is_passed_on():
    """The outcome says whether its points are on top."""
    check = Check(CHECK.study, CHECK.name, "search", {}, CHECK.points, True, CHECK.cases)
    assert marked(check=check).extra_credit
    assert not marked().extra_credit


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=3, max_size=3))
def test_points_are_the_share_of_right_positions(rights):
    """Whatever is right where, each aspect earns points times right positions of all."""
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


# ---- Errors, and replies that did not come


def test_an_error_in_one_aspect_leaves_the_others():
    """An aspect that raised is wrong at that position, and its sentence is the problem."""
    observation = {"move": 8, "value": 1.0, "errors": {"nodes": "TypeError: no"}}
    outcome = marked(observation, *EXPECTED[1:])
    assert earned(outcome) == pytest.approx({"move": 3, "value": 2, "nodes": 2 / 3})
    assert outcome.problem == "TypeError: no"
    assert outcome.case["errors"] == {"nodes": "TypeError: no"}
    assert outcome.case["got"] == {"move": 8, "value": 1.0, "nodes": None}


def test_a_stopped_module_keeps_what_it_had_answered():
    """Positions answered before the stop count, and the first unanswered one is named."""
    outcome = marked(EXPECTED[0], None, None, stopped="stopped after 3 s")
    assert earned(outcome) == pytest.approx({"move": 1, "value": 2 / 3, "nodes": 1 / 3})
    assert outcome.stopped
    assert outcome.problem == (
        'stopped after 3 s: no answer to Searcher().search(Board("xo_xo____"))'
    )


def test_a_broken_module_earns_nothing():
    """A module that cannot be loaded gets no points, and the reason is told."""
    outcome = marked(None, None, None, broken="SyntaxError: no")
    assert (outcome.earned, outcome.problem, outcome.slip) == (0, "SyntaxError: no", None)
    assert not outcome.stopped


def test_a_stop_after_all_answers_costs_nothing():
    """A process that answers everything and then hangs has answered everything."""
    outcome = marked(stopped="stopped after 3 s")
    assert outcome.full
    assert as_text(outcome)


def test_a_stub_is_not_written_yet():
    """The error of an unfilled stub is told apart from a wrong answer."""
    message = "not written yet: Searcher.search: write this method"
    outcome = marked(*[{"errors": dict.fromkeys(CHECK.points, message)}] * 3)
    assert outcome.unwritten
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
    """Floats may differ by a billionth; whole numbers may come as floats."""
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
    """Other numbers, other types and other shapes are wrong, and none of them raises."""
    assert not equal(expected, got)


@pytest.mark.parametrize(
    ("expected", "got"), [(True, 1), (False, 0), (1, True), (0, False), (1.0, True), (0.0, False)]
)
def test_truth_values_are_the_numbers_that_they_are(expected, got):
    """Python's True is 1: an `is_quiescent` that returns 0 or 1 is right."""
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
    """Anything without a NaN in it is equal to itself."""
    assert equal(value, value)


def kind_of(value):
    """A value's type, or those of a list's members, all the way down."""
    return [kind_of(each) for each in value] if isinstance(value, list) else type(value)


@given(PLAIN, PLAIN)
@example(0.5, 10**400)
@example([False], [1e-254])
@example([0], [1e-254])
def test_equality_of_any_two_values_is_a_truth_value(expected, got):
    """No reply makes the comparison raise, and equal ones are equal both ways if of one kind."""
    assert equal(expected, got) in (True, False)
    if kind_of(expected) == kind_of(got):
        assert equal(expected, got) == equal(got, expected)


def test_an_aspect_that_is_missing_is_wrong():
    """No answer is not the answer None."""
    assert is_right("search", {"move": None}, {"move": None}, "move")
    assert not is_right("search", {"move": None}, {}, "move")


# ---- Slips


def test_a_slip_is_named_when_all_replies_are_its():
    """The feedback has the sentence of the slip whose replies these are."""
    outcome = marked(*SLIP.observed[CHECK.name])
    assert (outcome.slip, outcome.cause) == (SLIP.name, SLIP.sentence)
    assert SLIP.sentence in as_text(outcome)
    assert SLIP.sentence in as_html(outcome)


def test_a_slip_is_not_named_for_part_of_its_replies():
    """Where one reply differs from the slip's, it is another mistake."""
    seen = SLIP.observed[CHECK.name]
    assert marked(seen[0], seen[1], {**seen[2], "move": 5}).slip is None
    assert marked(seen[0], seen[1], EXPECTED[2]).slip is None
    assert marked(seen[0], seen[1], None, stopped="stopped").slip is None


def test_no_slip_is_named_for_right_replies():
    """A slip that makes no difference here is not held against a right answer."""
    harmless = Slip("harmless", "No harm.", {CHECK.name: EXPECTED})
    assert marked(slips=[harmless]).slip is None


def test_the_slips_of_other_checks_do_not_matter():
    """A slip is compared on the check that it is known to differ in."""
    assert marked(*but(0, move=1), slips=[Slip("other", "No.", {"other": []})]).slip is None


def test_the_first_of_equal_slips_is_named():
    """Two slips that cannot be told apart: the first of the file."""
    twin = Slip("twin", "Another.", SLIP.observed)
    assert marked(*SLIP.observed[CHECK.name], slips=[SLIP, twin]).slip == "root"
    assert marked(*SLIP.observed[CHECK.name], slips=[twin, SLIP]).slip == "twin"


def test_a_slip_that_did_not_answer_everything_is_no_obstacle():
    """A slip that never ends has None in the place of a reply; marking goes on."""
    endless = Slip("endless", "It never ends.", {CHECK.name: [EXPECTED[0], None, None]})
    assert marked(*but(1, move=1), slips=[endless]).slip is None


@pytest.mark.parametrize(
    "replies", [{"broken": "SyntaxError: no"}, {"stopped": "stopped after 3 s"}, {}]
)
def test_no_slip_is_named_where_nothing_was_answered(replies):
    """Errors say nothing of the cause: a stub or a broken module is not the slip that raises."""
    raising = Slip(
        "raising",
        "It raises.",
        {CHECK.name: [{"errors": dict.fromkeys(CHECK.points, "KeyError: 1")}] * 3},
    )
    unwritten = {"errors": dict.fromkeys(CHECK.points, "not written yet: write this")}
    observations = [None] * 3 if replies else [unwritten] * 3
    assert marked(*observations, slips=[raising], **replies).slip is None


# ---- The case that explains


def test_the_smallest_failing_case_is_explained():
    """Of the wrong positions the one with the fewest expected nodes is shown."""
    outcome = marked(*({**e, "move": 4} for e in EXPECTED))
    assert outcome.case == {
        "number": 1,
        "asked": {"agent": "Searcher", "on": "xo_xo____"},
        "expected": EXPECTED[1],
        "got": {**EXPECTED[1], "move": 4},
        "errors": {},
    }
    assert marked(*but(2, move=4)).case["asked"]["on"] == "_________"


def test_a_stopped_check_shows_where_it_was_stopped_and_no_other_position():
    """The position in the sentence and the one explained are the same: one is given away."""
    outcome = marked({**EXPECTED[0], "move": 4}, None, EXPECTED[2], stopped="stopped")
    assert outcome.case["asked"]["on"] == BOARDS[1]
    assert BOARDS[1] in outcome.problem
    assert BOARDS[0] not in as_text(outcome)


def test_an_outcome_is_plain_data():
    """What is kept of an outcome has its sums, and lists for tuples do no harm."""
    data = marked(*but(0, move=1)).to_json()
    assert (data["earned"], data["points"]) == (5, 6)
    assert data["aspects"][0] == {"name": "move", "right": 2, "asked": 3, "earned": 2, "points": 3}


# ---- Explanations


def test_the_text_of_a_right_answer_is_one_line():
    """There is nothing to look at, so only the marks are shown."""
    assert as_text(marked()) == f"{CHECK.id}: 6 of 6 points - all right"
    assert as_html(marked()) == f"<p><strong>{CHECK.id}: 6 of 6 points - all right</strong></p>"


@pytest.mark.parametrize("explain", [as_text, as_html])
def test_an_explanation_shows_question_board_and_answers(explain):
    """What was asked, the board, what was expected and what came, and which of them differ."""
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
    """A search that raises on one position: the student must be able to try just that one."""
    error = {"errors": dict.fromkeys(CHECK.points, "IndexError: no such cell (line 3 of a.py)")}
    shown = explain(marked(EXPECTED[0], error, EXPECTED[2])).replace("&quot;", '"')
    assert "IndexError: no such cell (line 3 of a.py)" in shown
    assert 'Board("xo_xo____")' in shown


def test_settings_and_options_are_in_the_question():
    """Options of the case are shown as they would be typed."""
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "TypeA"},
        {"move": 1},
        False,
        [{"on": "_________", "limit": 2, "order": "board"}],
    )
    outcome = marked({"move": 1}, check=check, expected=[{"move": 0}], slips=())
    assert 'TypeA(limit=2, order=board order).search(Board("_________"))' in as_text(outcome)


def test_what_another_agent_did_before_is_in_the_question():
    """Where another agent searches first the student reads so; arguments of `value` are no options."""
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "TypeA", "beside": {"limit": 1}, "arguments": [0]},
        {"move": 1},
        False,
        [{"on": "tree ((5, 9), 3)", "limit": 2}],
    )
    shown = as_text(marked({"move": 1}, check=check, expected=[{"move": 0}], slips=()))
    assert (
        "TypeA(limit=2).search(NumberTree(((5, 9), 3))) after TypeA(limit=1).search of the same"
        in shown
    )
    assert "x to move in ((5, 9), 3)" in shown


def test_the_made_up_game_is_shown():
    """A position of the made-up row is asked and drawn as one."""
    check = Check(
        CHECK.study, CHECK.name, "search", {"agent": "A"}, {"move": 1}, False, [{"on": "row xx___"}]
    )
    outcome = marked({"move": 1}, check=check, expected=[{"move": 0}], slips=())
    for shown in (as_text(outcome), as_html(outcome).replace("&quot;", '"')):
        assert 'Row("xx___")' in shown
        assert "x|x|_|_|_" in shown


def test_extra_credit_is_called_so():
    """The headline says that the points are on top."""
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
    """A value or an exception's text is shown as text, never run by the browser."""
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
    """One absurd value does not fill the notebook, the feedback and the report."""
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
    """Whatever plain data comes back, there are marks, a text and a page that can be written."""
    outcome = marked(*observations, broken=broken)
    assert 0 <= outcome.earned <= outcome.points
    for shown in (as_text(outcome), as_html(outcome)):
        assert CHECK.id in shown
        assert shown.encode("utf-8")
    assert "<script" not in as_html(outcome)


# ---- What other checks of the same module have shown

HELPER = f"{CHECK.study}.helper"
SPREAD = Slip(
    "spread",
    "The helper is wrong.",
    {"helper": [{"two": 1}], CHECK.name: [{**e, "value": -1.0} for e in EXPECTED]},
)


def beside(*observations, helper, slips=(SPREAD,)):
    """The outcome where an earlier check has shown this."""
    return mark(CHECK, Replies(observations), EXPECTED, slips, Others({HELPER: helper}))


def test_the_cause_of_a_broken_helper_is_carried():
    """A check whose own replies fit no slip has that of the helper, and says where it was found."""
    outcome = beside(*but(0, move=1), helper=Shown(False, ("spread",)))
    assert (outcome.slip, outcome.cause, outcome.found_in) == (None, SPREAD.sentence, HELPER)
    for shown in (as_text(outcome), as_html(outcome)):
        assert f"Likely cause, found in {HELPER}" in shown
        assert SPREAD.sentence in shown


def test_a_helper_that_is_wrong_in_an_unknown_way_is_to_be_looked_at_first():
    """Without a known slip the check still says which one to mend first."""
    outcome = beside(*but(0, move=1), helper=Shown(False, ()))
    assert (outcome.cause, outcome.found_in) == (None, HELPER)
    assert f"{HELPER} is not all right either" in as_text(outcome)


def test_a_right_helper_carries_nothing():
    """Nothing is said of a helper that is right, or of one whose slips do no harm here."""
    assert beside(*but(0, move=1), helper=Shown(True, ())).found_in is None
    harmless = Slip("harmless", "No.", {"helper": [{"two": 1}]})
    assert (
        beside(*but(0, move=1), helper=Shown(False, ("harmless",)), slips=(harmless,)).found_in
        is None
    )


def test_of_slips_with_the_same_replies_the_one_that_others_confirm_is_named():
    """A slip in a helper that is right cannot be the cause if another one can."""
    twin = Slip("twin", "The search is wrong.", {CHECK.name: SPREAD.observed[CHECK.name]})
    wrong = SPREAD.observed[CHECK.name]
    slips = (SPREAD, twin)
    assert beside(*wrong, helper=Shown(True, ()), slips=slips).slip == "twin"
    assert beside(*wrong, helper=Shown(False, ("spread",)), slips=slips).slip == "spread"


def test_a_cause_that_another_check_does_not_bear_out_is_told_as_such():
    """The only slip with these replies is not called likely if the helper has none of it."""
    outcome = beside(*SPREAD.observed[CHECK.name], helper=Shown(True, ()))
    assert "Likely cause" not in as_text(outcome)
    assert f"It is as if: {SPREAD.sentence} But {HELPER} does not bear this out" in as_text(outcome)


def test_what_the_wrong_questions_have_in_common_is_told():
    """Two wrong ones with o to move, two right ones with x to move: that is worth a sentence."""
    boards = ("x________", "xox______", "_________", "xo_______")
    check = Check(
        CHECK.study,
        CHECK.name,
        "search",
        {"agent": "S"},
        {"move": 1},
        False,
        [{"on": board} for board in boards],
    )
    replies = [{"move": 9}, {"move": 9}, {"move": 0}, {"move": 0}]
    outcome = marked(*replies, check=check, expected=[{"move": 0}] * 4, slips=())
    assert "In all 2 questions that went wrong o is to move" in as_text(outcome)
    assert (
        marked(
            *replies[:2],
            *replies[:1],
            replies[2],
            check=check,
            expected=[{"move": 0}] * 4,
            slips=(),
        ).common
        is None
    )
