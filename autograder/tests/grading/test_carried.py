"""What builds on a wrong function is marked as right if it is right given that function."""

import math
from dataclasses import replace

import pytest

from autograder import verdicts, workspace
from autograder.grading import attempts, carried, verdict
from autograder.grading.verdict import Known, Seconds, decide
from autograder.mutants import load_mutants
from autograder.tests.support.needs import need_isolation
from autograder.workspace.strip import BEGIN, END, stub
from course.probes import Check, load_study, studies
from course.probes.explain import as_html, as_text
from course.probes.outcome import Outcome
from course.probes.questions import MATCHES
from course.probes.replies import Replies

SOME = 9  # every ninth mutant
ASKED = [name for name in studies() if name != "study10"]  # which is games
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


def decided(name: str, text: str, check: str) -> Outcome:
    """The outcome that the page of a submission with this text shows."""
    study = load_study(name)
    return decide(
        f"{name}.{check}",
        lambda module, asked, seconds: workspace.ask(study, text, asked, seconds),
        Seconds(None, 20, 20),
    )


def answer(name: str) -> str:
    """The text of the reference."""
    return workspace.answer_path(load_study(name)).read_text("utf-8")


def with_counts(body: str) -> str:
    """Study 3's reference with another `lane_counts`."""
    assert answer("study3").count(COUNTS) == 1
    return answer("study3").replace(COUNTS, body)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant", ["blocked_lanes_counted", "diagonals_missed", "two_and_one_swapped"]
)
def test_a_slip_in_the_first_function_costs_that_function_alone(mutant):
    """Whatever the slip in `lane_counts` is, all that builds on it is right given it."""
    text = workspace.module_texts(load_study("study3"))[mutant]
    for check in load_study("study3").checks.values():
        outcome = decided("study3", text, check.name)
        if check.name == "lane_counts":
            assert not outcome.full
            assert not outcome.given
        else:
            assert outcome.full
            assert "lane_counts" in outcome.given
            assert "right, given your lane_counts" in as_text(outcome)
            assert "right, given your lane_counts" in as_html(outcome)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "function", "builds_on_it"),
    [
        ("reward_from_minus_one", "reward", ["backup", "flat", "uct", "isuct"]),
        ("two_kept_in_the_root", "ucb", ["select", "uct", "isuct"]),
    ],
)
def test_a_slip_in_a_function_costs_nothing_in_the_trees(mutant, function, builds_on_it):
    """Also where each iteration of a search goes another way by the values that it has got."""
    text = workspace.module_texts(load_study("study9"))[mutant]
    assert not decided("study9", text, function).full
    for check in builds_on_it:
        outcome = decided("study9", text, check)
        assert (check, outcome.full, outcome.given) == (check, True, (function,))


class Slow:
    """A module of study 3 with a slip in its first function; what is asked besides the hidden cases
    is counted, and is slow."""

    def __init__(self, seconds: float, computed: float, *, stopped: bool = False) -> None:
        self.seconds, self.computed, self.stopped = seconds, computed, stopped
        self.count = 0
        self.study = verdicts.hidden_study("study3")
        self.text = workspace.module_texts(self.study)["blocked_lanes_counted"]

    def __call__(self, module: str, asked: Check, seconds: float) -> Replies:
        """Ask it, and say that it took so long."""
        if asked.cases == self.study.checks[asked.name].cases:
            return workspace.ask(self.study, self.text, asked, 20)
        self.count += 1
        if self.stopped:
            replies = Replies((None,) * len(asked.cases), stopped="stopped")
        else:
            replies = workspace.ask(self.study, self.text, asked, 20)
        return replace(replies, seconds=self.seconds, computed=self.computed)

    def marks(self, more: float) -> dict[str, float]:
        """What each check earns."""
        known = Known()
        return {
            check.id: decide(check.id, self, Seconds(None, 20, 20, {}, more), known).earned
            for check in self.study.checks.values()
        }


@pytest.mark.slow
def test_what_is_asked_besides_is_bounded_for_all_checks_together(monkeypatch):
    """Whoever computes, sleeps or hangs whenever values are asked is soon not asked any more."""
    monkeypatch.setattr(verdict, "factor", lambda: 1.0)
    quick = Slow(0.1, 0.1)
    marks = quick.marks(20)
    assert quick.count > 6
    without_end = Slow(45, 2)
    assert without_end.marks(math.inf) == marks
    assert without_end.count == quick.count
    unmeasured = Slow(45, 0)  # as without a sandbox: a load could be the reason
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


def test_the_slip_itself_is_not_carried():
    """The function with the slip is not right given itself, nor is another slip beside it."""
    outcome = decided("study3", answer("study3").replace("/ 10\n", "/ 5\n"), "heuristic")
    assert outcome.earned == 0
    both = with_counts(COUNTS.replace("two, one", "one, two", 2)).replace("/ 10\n", "/ 5\n")
    assert decided("study3", both, "heuristic").earned == 0


def test_what_is_wrong_beside_what_is_right_given_a_slip_is_explained():
    """In a check that asks the slip's function too, the page says both: the cause, and what for."""
    text = workspace.module_texts(load_study("study3"))["block_not_seen"]
    outcome = decided("study3", text, "priority")
    assert not outcome.full
    assert outcome.slip == "block_not_seen"
    assert "not all right, given your priority" in as_text(outcome)
    assert f"Likely cause: {outcome.cause}" in as_text(outcome)


def test_a_function_that_says_hardly_anything_carries_nothing():
    """`return 0` does not make whatever builds on it right."""
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
        assert not outcome.given
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


RANDOM = "import zlib\nreturn zlib.crc32(repr(({})).encode())"
BY_STATE = RANDOM.format("str(observation)")
BY_CELL = RANDOM.format("str(observation), kind, cell")
BY_CARD = RANDOM.format("str(observation), card")
FIRST_LEGAL = "return observation.legal_actions()[0]"
FOR_NOTHING = {  # a study, functions that were made up, and a check that is built on them
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


@pytest.mark.parametrize("attack", FOR_NOTHING)
def test_made_up_values_carry_nothing(attack, monkeypatch):
    """A function that returns random numbers makes nothing right that is built on it."""
    name, bodies, check = FOR_NOTHING[attack]
    text = with_bodies(name, bodies)
    outcome = decided(name, text, check)
    assert not outcome.given
    assert outcome.earned < 0.75 * outcome.points
    monkeypatch.setattr(carried, "is_attempt", lambda *_: True)
    without = decided(name, text, check)
    assert without.full
    assert without.given


@pytest.mark.parametrize("check", ["heuristic", "is_quiescent", "type_a", "priority"])
def test_code_that_was_not_written_is_not_carried(check):
    """A check earns nothing by being built on a wrong function if its own code is the stub's."""
    text = with_counts(COUNTS.replace("two, one", "one, two", 2))
    outcome = decided("study3", stub(text, "type_a.py", keep=["lane_counts"]), check)
    assert (outcome.earned, outcome.given, outcome.unwritten) == (0, (), True)


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
    """Values of another sign or unit, or with errors, do; constants and made-up numbers do not."""
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
    """But not nearly constant; and a condition has errors of one kind, in many cases."""
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
    assert (outcome.full, outcome.given) == (True, (function,))
    assert not decided("study3", text, function).full


def test_an_attempt_is_right_more_often_than_by_chance():
    """Where there are too few values to see whether they follow the right ones."""
    values = [(1, 5), (2, 3), (4, 4)]
    assert attempts.is_attempt(values, [values], [[(1, 1), (2, 2), (3, 0)]])
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
    """A list of another length has no right items."""
    assert list(attempts.items_of(right, theirs)) == items


def test_the_aspects_of_a_function():
    """In study 6's check `play`, `parts` earns three aspects and `play_score` the last."""
    assert carried.aspects_by_function("play", "study6") == {
        "parts": {"sequence", "line", "board"},
        "play_score": {"score"},
    }


def test_a_slip_that_no_check_asks_for_itself_still_costs_something():
    """`score` of study 6 is asked through `play_score` only: it is not carried there."""
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
def test_values_of_any_kind_are_no_fault(body):
    """Whatever `lane_counts` returns, the checks end with an outcome, and none is full by it."""
    text = with_counts(body)
    study = load_study("study3")
    for check in ("lane_counts", "type_a"):
        outcome = decide(
            f"study3.{check}",
            lambda module, asked, seconds: workspace.ask(study, text, asked, seconds),
            Seconds(1, 1, 1),
        )
        assert isinstance(outcome, Outcome)
        assert not outcome.full


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_no_mutant_gains_all_or_loses_by_it(name):
    """What is carried forward gives marks back, never takes any, and hides no slip.

    Of the many mutants these are some; `doctor --all` lists all.
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
