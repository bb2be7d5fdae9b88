"""Code that builds on a wrong function is marked as correct if it is correct given that function."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from autograder import workspace
from autograder.grading.verdict import reply_collection
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.carrying import attempts, error_carried_forward
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits
from autograder.grading.verdict.verdict import decide
from autograder.studies import hidden_cases
from autograder.studies.mutants import load_mutants
from autograder.tests.support.modules.graded import losses
from autograder.tests.support.modules.held_out import held_out
from autograder.tests.support.needs import need_isolation
from autograder.workspace.strip import BEGIN, END, stub
from course.checks import Check, Study, load_study, studies
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import Outcome
from course.checks.questions import MATCHES
from course.checks.replies import Replies

SOME = 9  # every ninth mutant
ASKED = [name for name in studies() if name != "study10"]  # number of games
COUNTS = """    two = one = 0
    for lane in state.lanes:
        marks = [state[cell] for cell in lane]
        own = marks.count(player)
        if own + marks.count(EMPTY) == len(marks):
            two += own == 2
            one += own == 1
    return two, one
"""


@pytest.fixture(autouse=True)
def _isolated():
    need_isolation()


def new_context(name: str) -> SubmissionContext:
    """The context of a new submission."""
    return SubmissionContext(load_answer_key(hidden_cases.hidden_study(name)))


def decided(name: str, text: str, check: str, context: SubmissionContext | None = None) -> Outcome:
    """The outcome on the page of a submission with this source."""
    context = context or new_context(name)
    return decide(
        context,
        context.key.study.checks[check],
        lambda study, asked, seconds: workspace.run_check(study, text, asked, seconds),
        TimeLimits(None, 20, 20),
    )


def answer(name: str) -> str:
    """The source of the reference."""
    return workspace.answer_path(load_study(name)).read_text("utf-8")


def with_counts(body: str) -> str:
    """Study 3's reference with another `lane_counts`."""
    assert answer("study3").count(COUNTS) == 1
    return answer("study3").replace(COUNTS, body)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant", ["blocked_lanes_counted", "diagonals_missed", "two_and_one_swapped"]
)
def test_a_mistake_in_the_first_function_costs_marks_only_there(mutant):
    """For any mistake in `lane_counts`, everything that builds on it is correct given its values."""
    text = workspace.module_texts(load_study("study3"))[mutant]
    for check in load_study("study3").checks.values():
        outcome = decided("study3", text, check.name)
        if check.name == "lane_counts":
            assert not outcome.full
            assert not outcome.carried_from
        else:
            assert outcome.full
            assert "lane_counts" in outcome.carried_from
            assert "correct, given your lane_counts" in as_text(outcome)
            assert "correct, given your lane_counts" in as_html(outcome)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "function", "builds_on_it"),
    [
        ("reward_from_minus_one", "reward", ["backup", "flat", "uct", "isuct"]),
        ("two_kept_in_the_root", "ucb", ["select", "uct", "isuct"]),
    ],
)
def test_a_mistake_in_a_function_costs_nothing_in_the_trees(mutant, function, builds_on_it):
    """This also holds if the values change the path of each iteration of a search."""
    text = workspace.module_texts(load_study("study9"))[mutant]
    assert not decided("study9", text, function).full
    for check in builds_on_it:
        outcome = decided("study9", text, check)
        assert (check, outcome.full, outcome.carried_from) == (check, True, (function,))


def test_infinite_values_are_carried_forward():
    """A function may return infinity, as a bound does."""
    text = answer("study9")
    assert text.count("if visits == 0:") == 1
    outcome = decided("study9", text.replace("if visits == 0:", "if visits <= 1:"), "select")
    assert (outcome.full, outcome.carried_from) == (True, ("ucb",))


class Slow:
    """A module of study 3 with a mistake in its first function.

    Queries besides the hidden cases are counted, and are slow.
    """

    def __init__(self, seconds: float, computed: float, *, stopped: bool = False) -> None:
        self.seconds, self.computed, self.stopped = seconds, computed, stopped
        self.count = 0
        self.study = hidden_cases.hidden_study("study3")
        self.text = workspace.module_texts(self.study)["blocked_lanes_counted"]

    def __call__(self, study: Study, asked: Check, seconds: float) -> Replies:
        """Query the module, and pretend that it took so long."""
        if asked.cases == self.study.checks[asked.name].cases:
            return workspace.run_check(self.study, self.text, asked, 20)
        self.count += 1
        if self.stopped:
            replies = Replies((None,) * len(asked.cases), stopped="stopped")
        else:
            replies = workspace.run_check(self.study, self.text, asked, 20)
        return replace(replies, seconds=self.seconds, computed=self.computed)

    def marks(self, more: float) -> dict[str, float]:
        """The points of each check."""
        context = SubmissionContext(load_answer_key(self.study))
        limits = TimeLimits(None, 20, 20, {}, more)
        return {
            check.id: decide(context, check, self, limits).earned
            for check in self.study.checks.values()
        }


def test_values_that_take_longer_than_one_query_are_collected_in_several(monkeypatch):
    """Whether a query is stopped depends on the load, so it must not decide the mark. Only a query
    that is stopped before it has any value yields none.
    """
    monkeypatch.setattr(error_carried_forward, "VALUES_PER_CASE", 5)
    key = load_answer_key(hidden_cases.hidden_study("study3"))
    text = with_counts(COUNTS.replace("two += own == 2", "two += 3 * (own == 2)"))
    counts = []

    def stopped_after(answered: int) -> Outcome:
        def query(study: Study, asked: Check, seconds: float) -> Replies:
            replies = workspace.run_check(study, text, asked, seconds)
            if asked.ask != "values" or len(asked.cases) <= answered:
                return replies
            counts.append(len(asked.cases))
            observed = replies.observations[:answered]
            observed += (None,) * (len(asked.cases) - answered)
            return replace(replies, observations=observed, stopped="stopped")

        check = key.study.checks["heuristic"]
        return decide(SubmissionContext(key), check, query, TimeLimits(None, 20, 20))

    assert stopped_after(2).full
    assert counts
    assert all(before - after == 2 for before, after in pairwise(counts))
    assert not stopped_after(0).full


@pytest.mark.slow
def test_extra_queries_share_one_budget(monkeypatch):
    """Extra queries stop soon if a module computes, sleeps or hangs during them."""
    monkeypatch.setattr(reply_collection, "speed_factor", lambda: 1.0)
    quick = Slow(0.1, 0.1)
    marks = quick.marks(20)
    assert quick.count > 6
    without_end = Slow(45, 2)
    assert without_end.marks(math.inf) == marks
    assert without_end.count == quick.count
    unmeasured = Slow(45, 0)  # as without a sandbox: load could be the reason
    assert unmeasured.marks(20) == marks
    for slow, asked in (
        (Slow(4, 4), 5),
        (Slow(45, 0.01), 6),
        (Slow(45, 0.01, stopped=True), 6),
        (Slow(4, 4, stopped=True), 5),
        (Slow(4, 0, stopped=True), 1),
    ):
        found = slow.marks(20)
        assert slow.count == asked
        assert found.keys() == marks.keys()
        assert all(found[check] <= marks[check] for check in marks)
        assert found["study3.lane_counts"] == marks["study3.lane_counts"]


def test_the_mistake_itself_is_not_carried():
    """The wrong function is not correct given itself, nor is a second mistake next to it. Right are
    only the positions whose value is 0.
    """
    zeros = sum(
        not any(reply["value"])
        for reply in load_answer_key(hidden_cases.hidden_study("study3")).expected["heuristic"]
    )
    both = with_counts(COUNTS.replace("two, one", "one, two", 2)).replace("/ 10\n", "/ 5\n")
    for text in (answer("study3").replace("/ 10\n", "/ 5\n"), both):
        (value,) = decided("study3", text, "heuristic").aspects
        assert value.right <= zeros < value.cases / 2


def test_given_a_wrong_function_there_may_be_no_right_value():
    """Such a case is not carried forward, and the check is still judged."""
    (module,) = (each for each in held_out("study4") if each.name == "promoted_includes_illegal")
    assert {outcome.check for outcome in losses("study4", module.text)} >= {"study4.promoted"}


def test_remaining_mistakes_are_explained():
    """In a check that also calls the wrong function, the page names that function and the cause."""
    text = workspace.module_texts(load_study("study3"))["block_not_seen"]
    outcome = decided("study3", text, "priority")
    assert not outcome.full
    assert outcome.mistake == "block_not_seen"
    assert "not all correct, compared with our solution using your priority" in as_text(outcome)
    assert f"Likely cause: {outcome.cause}" in as_text(outcome)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "former", "checks"),
    [
        ("study6", "swapped", ["blocking", "simple"]),
        ("study7", "turned", ["best_reply", "look_ahead"]),
    ],
)
def test_modules_of_earlier_stubs_are_graded_the_same(name, former, checks):
    """`Chips.flipped` had another name in each of the two stubs, and study 6 had `RECIPE`.

    The stub of study 7 also defined `Chips`, lines and links, as its independent solution does.
    """
    mutants = [m for m in load_mutants(name) if set(m.loses) & {*checks}]
    texts = [answer(name), *(mutant.apply(answer(name)) for mutant in mutants[:3])]
    if name == "study7":
        texts = [workspace.module_texts(load_study(name))["second"]]
    for text in texts:
        assert "def flipped" in text
        earlier = text.replace("flipped", former).replace("ORIGINAL_WEIGHTS", "RECIPE")
        for check in checks:
            now, before = (decided(name, module, check) for module in (text, earlier))
            assert replace(before, seconds=now.seconds) == now


def test_a_constant_function_carries_nothing():
    """`return 0` does not make the code that builds on it correct."""
    text = (
        with_counts("    return 0, 0\n")
        .replace("    return (3 * p2 + p1 - 3 * o2 - o1) / 10\n", "    return 0\n")
        .replace(
            '    return lane_counts(state, "x")[0] == 0 and lane_counts(state, "o")[0] == 0\n',
            "    return True\n",
        )
    )
    for check in ("heuristic", "is_quiescent", "type_a", "priority"):
        outcome = decided("study3", text, check)
        assert not outcome.carried_from
        assert not outcome.full


def with_bodies(name: str, bodies: dict[str, str]) -> str:
    """The reference with other bodies of these functions ("play_score", "Evaluator.choose")."""
    text = answer(name)
    for function, body in bodies.items():
        start = 0
        for part in function.split("."):
            start = text.index(f"{'class' if part[0].isupper() else 'def'} {part}", start)
        first = text.index(BEGIN, start)
        indent = text[text.rindex("\n", 0, first) + 1 : first]
        text = (
            text[:first]
            + body.replace("\n", "\n" + indent)
            + text[text.index(END, first) + len(END) :]
        )
    return text


BY_SCORES = "return board_score(chips.after(kind, cell)) - board_score(chips)"
NO_TABLE = 'raise NotImplementedError("cells_by_cost: write this function")'


@pytest.mark.parametrize("check", ["play", "line_counter"])
def test_a_function_that_is_left_out_does_not_stop_another(check):
    """`cells_by_cost` may be omitted. Then a mistake in `line_cost` is still carried forward, although
    the reference's `board_gain` calls both.
    """
    text = with_bodies("study6", {"board_gain": BY_SCORES, "cells_by_cost": NO_TABLE})
    (mutant,) = (m for m in load_mutants("study6") if m.name == "corners_cost_one")
    outcome = decided("study6", mutant.apply(text), check)
    assert outcome.full


@pytest.mark.slow
def test_the_module_need_not_call_its_functions_where_the_reference_does():
    """Here `is_quiescent` is correct and does not call the wrong `lane_counts`."""
    text = with_counts(COUNTS.replace("two, one", "one, two", 2))
    quiet = (
        "lanes = [[state[cell] for cell in lane] for lane in state.lanes]\n"
        'return not any(sorted(lane) == sorted([EMPTY, p, p]) for lane in lanes for p in "xo")'
    )
    old = '    return lane_counts(state, "x")[0] == 0 and lane_counts(state, "o")[0] == 0\n'
    text = text.replace(old, "    " + quiet.replace("\n", "\n    ") + "\n")
    assert "sorted(lane)" in text
    outcome = decided("study3", text, "type_a")
    assert (outcome.full, outcome.carried_from) == (True, ("heuristic",))


def test_a_known_mistake_in_a_method_is_carried():
    """A method that fills a table has no plain values, but the replies are those of the mutant."""
    text = workspace.module_texts(load_study("study1"))["tabular_min_and_max_swapped"]
    assert not decided("study1", text, "tabular").full
    outcome = decided("study1", text, "mixed_tabular")
    assert (outcome.full, outcome.carried_from) == (True, ("Tabular.value",))


@pytest.mark.parametrize("body", ["return 0, None", "return 0, (state.legal_moves() or [None])[0]"])
def test_a_method_that_is_no_attempt_is_not_carried(body):
    """`return 0` in a method does not make the code that builds on it correct."""
    text = with_bodies("study1", {"Tabular.value": body})
    outcome = decided("study1", text, "mixed_tabular")
    assert not outcome.carried_from
    assert not outcome.full


@pytest.mark.parametrize(
    ("name", "right", "wrong", "check", "function"),
    [
        ("study3", COUNTS, "    return 0, 0\n", "heuristic", "lane_counts"),
        ("study8", "if any(action):", "if all(action):", "learning", "QTable.update"),  # a method
    ],
)
def test_functions_that_are_no_attempts_are_recorded(name, right, wrong, check, function):
    """So that the table of costs can name the reason why they cost marks elsewhere."""
    context = new_context(name)
    assert answer(name).count(right) == 1
    outcome = decided(name, answer(name).replace(right, wrong), check, context)
    assert not outcome.full
    assert context.obstacles.not_attempts == {function}


def test_limits_are_recorded(monkeypatch):
    """If too many values would be needed, staff can see that errors were not carried forward."""
    monkeypatch.setattr(error_carried_forward, "MAX_VALUES", 5)
    text = workspace.module_texts(load_study("study3"))["blocked_lanes_counted"]
    context = new_context("study3")
    decided("study3", text, "heuristic", context)
    assert context.obstacles.limits == ["study3.heuristic, given lane_counts: more than 5 values"]


RANDOM = (
    "import hashlib\n"
    "return int.from_bytes(hashlib.sha256(repr((SEED, {})).encode()).digest()[:4], 'big')"
)
SEEDS = (1, 2, 3, 4)
BY_STATE = RANDOM.format("str(observation)")
BY_CELL = RANDOM.format("str(observation), kind, cell")
BY_CARD = RANDOM.format("str(observation), card")
FIRST_LEGAL = "return observation.legal_actions()[0]"
MADE_UP = {  # a study, functions with made-up values, and a check that is built on them
    "random by state, the first legal action": (
        "study6",
        {"play_score": BY_STATE, "draft_score": BY_STATE, "Evaluator.choose": FIRST_LEGAL},
        "evaluator",
    ),
    "random by cell": ("study6", {"play_score": BY_CELL, "draft_score": BY_CARD}, "evaluator"),
    "cells in their order": (
        "study6",
        {
            "play_score": "return -10 * cell[0] - cell[1] - 100 * (kind == REMOVE)",
            "draft_score": RANDOM.format("card") + " / 2**40",
        },
        "evaluator",
    ),
    "random costs": (
        "study6",
        {"line_cost": RANDOM.format("line, chips") + " % NEVER"},
        "cell_score",
    ),
    "random counts": (
        "study3",
        {
            "lane_counts": RANDOM.format("str(state), player").replace("return ", "n = ")
            + "\nreturn n % 3, n // 7 % 4"
        },
        "type_a",
    ),
    "coin flips": ("study3", {"is_quiescent": RANDOM.format("str(state)") + " % 2 > 0"}, "type_a"),
    "the number of marks": (
        "study3",
        {"is_quiescent": "return sum(state[cell] != EMPTY for cell in range(9)) % 3 > 0"},
        "type_a",
    ),
    "random values": (
        "study3",
        {"heuristic": RANDOM.format("str(state), player") + " % 100 / 10"},
        "type_a",
    ),
}


@pytest.mark.parametrize(
    "attack, seed",
    [
        pytest.param(
            attack,
            seed,
            marks=[]
            if seed == 1 and attack != "random counts"
            else [pytest.mark.slow, pytest.mark.content(MADE_UP[attack][0])],
        )
        for attack in MADE_UP
        for seed in SEEDS
    ],
)
def test_made_up_values_carry_nothing(attack, seed, monkeypatch):
    """A function that returns random numbers does not make the code that builds on it correct."""
    name, bodies, check = MADE_UP[attack]
    text = with_bodies(name, bodies).replace("SEED", str(seed))
    outcome = decided(name, text, check)
    assert not outcome.carried_from
    assert outcome.earned < 0.75 * outcome.points
    monkeypatch.setattr(error_carried_forward, "is_attempt", lambda *_: True)
    without = decided(name, text, check)
    assert without.full
    assert without.carried_from


@pytest.mark.parametrize("check", ["heuristic", "is_quiescent", "type_a", "priority"])
def test_code_that_was_not_written_is_not_carried(check):
    """A check earns nothing through a wrong function if its own code is still the stub."""
    text = with_counts(COUNTS.replace("two, one", "one, two", 2))
    outcome = decided("study3", stub(text, "type_a.py", keep=["lane_counts"]), check)
    assert (outcome.earned, outcome.carried_from, outcome.not_implemented) == (0, (), True)


RIGHT = [[(number * 7 + case) % 19 for number in range(10)] for case in range(5)]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda right, case, number: -right, True),
        (lambda right, case, number: right / 10, True),
        (lambda right, case, number: right + number % 3, True),
        (lambda right, case, number: right // 4, True),
        (lambda right, case, number: 0, False),
        (lambda right, case, number: 1000 + case, False),
        (lambda right, case, number: 1000 * (case * 37 % 11) + number * 101 % 13, False),
    ],
)
def test_an_attempt_follows_the_right_values(wrong, expected):
    """Values with another sign or unit, or with errors, follow them; constants and random numbers
    do not.
    """
    values = [
        [(right, wrong(right, case, number)) for number, right in enumerate(row)]
        for case, row in enumerate(RIGHT)
    ]
    every = [pair for case in values for pair in case]
    assert attempts.is_attempt(every, values, []) is expected


EITHER = [
    [
        (one and other, one or other, one, other)
        for one, other in [(number % 7 < 3, (number + case) % 2 > 0) for number in range(24)]
    ]
    for case in range(8)
]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[(right, right // 7) for right in row] for row in RIGHT], True),
        ([[(right, right // 15) for right in row] for row in RIGHT], False),
        (
            [
                [(right, (right * 101 + case) % 7 // 2) for right in row]
                for case, row in enumerate(RIGHT)
            ],
            False,
        ),
        ([[(both, either) for both, either, *_ in row] for row in EITHER], True),
        ([[(both, True) for both, *_ in row] for row in EITHER], False),
        (
            [
                [(both, (number * 7 + case) % 5 > 1) for number, (both, *_) in enumerate(row)]
                for case, row in enumerate(EITHER)
            ],
            False,
        ),
        (
            [
                [(both, both or number % 8 > 0) for number, (both, *_) in enumerate(row)]
                for row in EITHER
            ],
            False,
        ),
        ([[(both, either) for both, either, *_ in row[:6]] for row in EITHER[:2]], False),
    ],
)
def test_values_that_follow_closely_may_be_coarser(values, expected):
    """But they must not be nearly constant; and a condition has errors of one kind, in many cases."""
    every = [pair for case in values for pair in case]
    assert attempts.is_attempt(every, values, []) is expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "function", "check"),
    [
        ("one_quiet_player_is_enough", "is_quiescent", "type_a"),
        ("one_quiet_player_is_enough", "is_quiescent", "type_a_plus"),
        ("divided_without_rest", "heuristic", "type_a_plus"),
    ],
)
def test_a_coarser_function_is_carried(mutant, function, check):
    """A plausible mistake costs marks in the function's own check only."""
    text = workspace.module_texts(load_study("study3"))[mutant]
    outcome = decided("study3", text, check)
    assert (outcome.full, outcome.carried_from) == (True, (function,))
    assert not decided("study3", text, function).full


def test_an_attempt_is_right_more_often_than_by_chance():
    """This decides if there are too few values to see whether they follow the correct ones."""
    values = [(1, 5), (2, 3), (4, 4)]
    assert attempts.is_attempt(values, [values], [[(n, n if n < 7 else 0) for n in range(1, 10)]])
    assert not attempts.is_attempt(values, [values], [[(1, 2), (2, 3), (3, 1)]])
    assert not attempts.is_attempt(values, [values], [[(True, True), (False, True)]])


@pytest.mark.parametrize(
    ("right", "theirs", "items"),
    [
        ([1, [2, 3]], [1, [2, 4]], [(1, 1), (2, 2), (3, 4)]),
        ([1, 2], [1], [(1, None), (2, None)]),
        (1.5, None, [(1.5, None)]),
    ],
)
def test_items_are_compared_place_by_place(right, theirs, items):
    """A list of another length has no correct items."""
    assert list(attempts.items_of(right, theirs)) == items


def test_the_aspects_of_a_function():
    """In study 6's check `play`, `parts` earns three aspects and `play_score` the last."""
    reference = load_answer_key(hidden_cases.hidden_study("study6")).reference
    assert reference.aspects_by_function(reference.study.checks["play"]) == {
        "parts": {"sequence", "line", "board"},
        "play_score": {"score"},
    }


def test_a_mistake_that_only_one_check_reaches_costs_something():
    """`score` of study 6 is only called through `play_score`, so it is not carried there."""
    texts = workspace.module_texts(load_study("study6"))
    assert not decided("study6", texts["exponents_as_factors"], "play").full
    assert not decided("study6", texts["numbers_written_in"], "play").full


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "    return float('nan'), 1\n",
        "    return 10**400, 1\n",
        "    return 'two', 'one'\n",
        "    return [two for two in range(5000)]\n",
        "    return None\n",
        "    return 1, 2, 3\n",
        "    raise ValueError('no')\n",
        "    import os; os._exit(0)\n",
        "    return 2.5, True\n",
        "    return state, player\n",
        "    while True:\n        pass\n",
    ],
)
def test_values_of_any_kind_have_an_outcome(body):
    """Whatever `lane_counts` returns, the checks have an outcome, and it gives none of them full
    marks.
    """
    text = with_counts(body)
    key = load_answer_key(hidden_cases.hidden_study("study3"))
    for check in ("lane_counts", "type_a"):
        outcome = decide(
            SubmissionContext(key),
            key.study.checks[check],
            lambda study, asked, seconds: workspace.run_check(study, text, asked, seconds),
            TimeLimits(1, 1, 1),
        )
        assert isinstance(outcome, Outcome)
        assert not outcome.full


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_no_mutant_gains_all_or_loses_by_it(name):
    """Carrying errors forward restores marks, never removes any, and hides no mistake.

    The test uses some of the mutants; `doctor --all` uses all.
    """
    study = load_study(name)
    texts = workspace.module_texts(study)
    for mutant in load_mutants(name)[::SOME]:
        earned = full = before = 0.0
        for check in study.checks.values():
            if check.ask in MATCHES or check.name not in mutant.loses:
                continue
            (plain,) = workspace.outcomes_of(study, texts[mutant.name], [check.name])
            outcome = decided(name, texts[mutant.name], check.name)
            assert outcome.earned >= plain.earned
            before, earned, full = (
                before + plain.earned,
                earned + outcome.earned,
                full + outcome.points,
            )
        assert before <= earned < full, mutant.name
