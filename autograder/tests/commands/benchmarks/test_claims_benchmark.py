"""The page of claims: its numbers were measured, and its references exist."""

import random
import re
import tomllib

import pytest

from autograder.benchmarks import available
from autograder.benchmarks.agents import _claims_agents as agents
from autograder.benchmarks.agents import _claims_page, claims
from autograder.release.derive import COURSE
from autograder.workspace import load_answer
from sequence import Greedy, play
from sequence.board.actions import PLACE
from tictactoe import Board

COMPLAINTS = COURSE / "study6_evaluator" / "10b_complaints.py"
# Four columns of the notebook's table further right: the share of the points and its interval.
AGAINST_ORIGINAL = r"(?: \| [^|]+){3} \| ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"
CLAIMS = [
    claim
    for source in tomllib.loads(_claims_page.TABLE.read_text("utf-8"))["source"]
    for claim in source["claim"]
]


def test_the_page_has_the_numbers_of_the_last_run():
    """Nothing on the page is typed by hand: the table and the measurements generate it."""
    assert _claims_page.page(_claims_page.measured()) == _claims_page.PAGE.read_text("utf-8")
    rows = [line for line in _claims_page.PAGE.read_text("utf-8").splitlines() if line[:1] == "|"]
    assert {row.count("|") for row in rows} == {6}  # a bar in a sentence would start another column


def test_the_places_are_there():
    """The notebooks, headings and benchmarks that a claim refers to exist."""
    for claim in CLAIMS:
        where = claim["where"]
        texts = "".join(
            path.read_text("utf-8")
            for number in re.findall(r"notebook (\d\d[a-z]?)", where)
            for path in COURSE.glob(f"study*/{number}_*.py")
        )
        for heading in re.findall(r"\*([^*]+)\*", where):
            assert re.search(rf"^# #+ {re.escape(heading)}", texts, re.MULTILINE), heading
        for name in re.findall(r"`bench (\w+)`", where):
            assert name in available()


@pytest.mark.slow
def test_measurements_have_the_names_that_the_run_has():
    """Each number that the table needs is measured under its name."""
    measured = claims.measurements(10)
    for name in ("evaluator_greedy", "openings", "table"):
        found = measured[name]()
        assert all(number.startswith(name) for number in found)
        assert found.keys() <= _claims_page.measured().keys()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (
            "evaluator_greedy",
            r"\| original \| (0.\d\d) \| (0.\d\d) \| (0.\d\d) \((0.\d\d) to (0.\d\d)\)",
        ),
        (
            "blocking_greedy",
            r"\| with the threat \| (0.\d\d) \| (0.\d\d) \| (0.\d\d) \((0.\d\d) to (0.\d\d)\)",
        ),
        (
            "linecounter_greedy",
            r"\| `LineCounter`.* \| (0.\d\d) \| (0.\d\d) \| (0.\d\d) \((0.\d\d) to (0.\d\d)\)",
        ),
        ("layered_greedy", r"layers, complete first \| ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"),
        (
            "layeredblocking_greedy",
            r"threat and layers together \| ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)",
        ),
        ("blocking_evaluator", rf"\| with the threat{AGAINST_ORIGINAL}"),
        ("linecounter_evaluator", rf"\| `LineCounter`{AGAINST_ORIGINAL}"),
        ("defendfirst_greedy", r"layers, stop first \| ()()(0.\d\d)()()"),
    ],
)
def test_the_notebook_has_these_numbers(name, row):
    """The numbers on layers and threats in notebook 10b match the benchmark's."""
    text = COMPLAINTS.read_text("utf-8").replace("\n# ", " ")
    measured = _claims_page.measured()
    wanted = [measured[f"{name}{part}"] for part in ("_first", "_second", "", "_low", "_high")]
    shown = re.search(row, text).groups()
    assert [number for number in shown if number] == [
        f"{number:.2f}" for number, place in zip(wanted, shown, strict=True) if place
    ]


@pytest.mark.parametrize(
    ("notebook", "name", "games", "said"),
    [
        ("study7_lookahead/13_deeper.py", "look_without", 500, "Another 250 paired deals gave"),
        ("study7_lookahead/13_deeper.py", "known_without", 500, "for possible cards and"),
        ("study7_lookahead/13_deeper.py", "deep_look", 50, "over the best four, scores"),
        ("study8_sarsa/15_sarsa.py", "sarsa_greedy", 500, "*mixed* scores"),
        ("study8_sarsa/15_sarsa.py", "sarsa_reward", 500, "against `Greedy` and"),
        ("study8_sarsa/15_sarsa.py", "neither_random", 100, "*neither* scores"),
    ],
)
def test_later_notebooks_have_these_numbers(notebook, name, games, said):
    """The numbers on many games in notebooks 13 and 15 match the benchmark's."""
    text = " ".join((COURSE / notebook).read_text("utf-8").replace("\n#", " ").split())
    measured = _claims_page.measured()
    share, low, high = (measured[f"{name}{part}"] for part in ("", "_low", "_high"))
    assert f"{said} {share:.2f} ({low:.2f} to {high:.2f})" in text
    assert measured[f"{name}_games"] == games
    assert f"ver {games // 2} paired deals" in text or f"{games // 2} paired deals gave" in text


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("original", "original"),
        ("blocking", "with the threat"),
        ("linecounter", "`LineCounter`"),
        ("greedy", "`Greedy`"),
        ("random", "`Random`"),
        ("original_random", "original, after a random first action"),
    ],
)
def test_the_notebook_has_the_price_of_the_seat(name, agent):
    """The last column of the notebook's table matches the benchmark for each agent."""
    text = COMPLAINTS.read_text("utf-8")
    measured = _claims_page.measured()
    share, low, high = (measured[f"seats_{name}{part}"] for part in ("", "_low", "_high"))
    assert re.search(
        rf"^# \| {agent}.* \| {share:.2f} \({low:.2f} to {high:.2f}\) \|$", text, re.MULTILINE
    )
    assert f"{measured['seats_games']:,} games" in text


def test_layers_come_before_the_evaluator():
    """The agent completes a sequence whenever it can, and blocks the opponent's whenever it must."""
    evaluator = load_answer("evaluator")
    layered = agents.Layered(evaluator, evaluator.Evaluator())
    took = stopped = 0
    for state in agents._turns([Greedy(), Greedy()], 15):
        seen = state.observation()
        action, wins, stops = layered.choose(seen), agents.takes(seen), agents.defends(seen)
        if wins:
            assert action in wins
            took += 1
            assert max(state.after(action).sequences) > 0
        elif stops:
            assert action in stops
            stopped += 1
    assert took and stopped


@pytest.mark.slow
def test_a_fork_cannot_be_stopped():
    """Whatever the opponent replies, the player completes a sequence."""
    states = [
        state
        for game in (play([Greedy(), Greedy()], seed=deal) for deal in range(40, 60))
        for state in game.states[:-1]
    ]
    forks = [
        (state, cell)
        for state in states
        for cell in {action.coords for action in state.legal_actions() if action.kind == PLACE}
        if agents._is_fork(state, cell)
    ]
    assert forks
    for state, cell in forks[:3]:
        after = state.after(
            next(
                action
                for action in state.legal_actions()
                if action.kind == PLACE and action.coords == cell
            )
        )
        reply = random.Random(1).choice(list(after.legal_actions()))
        assert agents.takes(after.after(reply).observation())


def test_no_quiet_state_has_more_than_four():
    """|H| is at most 4 in quiet states, so 5 is a large enough divisor for H in study 3."""
    study = load_answer("type_a")
    states, seen = [Board()], set()
    while states:
        state = states.pop()
        if state not in seen and not state.is_terminal():
            seen.add(state)
            states += [state.after(move) for move in state.legal_moves()]
    values = [abs(10 * study.heuristic(state, "x")) for state in seen if study.is_quiescent(state)]
    assert round(max(values)) == 4
