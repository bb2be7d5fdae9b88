"""The page of claims: what it says was measured, and what it points to is there."""

import random
import re
import tomllib
from pathlib import Path

import pytest

from autograder.benchmarks import _claims_agents as agents
from autograder.benchmarks import _claims_page, claims
from autograder.release.derive import COURSE
from autograder.workspace import load_answer
from sequence import Greedy, play
from sequence.board.actions import PLACE
from tictactoe import Board

CLAIMS = [
    claim
    for source in tomllib.loads(_claims_page.TABLE.read_text("utf-8"))["source"]
    for claim in source["claim"]
]


def test_the_page_has_the_numbers_of_the_last_run():
    """Nothing on it is typed: the table and the numbers give the page."""
    assert _claims_page.page(_claims_page.measured()) == _claims_page.PAGE.read_text("utf-8")
    rows = [line for line in _claims_page.PAGE.read_text("utf-8").splitlines() if line[:1] == "|"]
    assert {row.count("|") for row in rows} == {6}  # a bar in a sentence would be another column


def test_the_places_are_there():
    """Notebooks, their headings and benchmarks that a claim names."""
    for claim in CLAIMS:
        where = claim["where"]
        texts = "".join(
            path.read_text("utf-8")
            for number in re.findall(r"notebook (\d\d)", where)
            for path in COURSE.glob(f"study*/{number}_*.py")
        )
        for heading in re.findall(r"\*([^*]+)\*", where):
            assert re.search(rf"^# #+ {re.escape(heading)}", texts, re.MULTILINE), heading
        for name in re.findall(r"`bench (\w+)`", where):
            assert Path(claims.__file__).with_name(f"{name}.py").is_file()


@pytest.mark.slow
def test_measurements_have_the_names_that_the_run_has():
    """A number that the table needs is measured under its name."""
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
        ("layered_greedy", r"with layers has ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"),
        ("layeredblocking_greedy", r"both together ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"),
        ("blocking_evaluator", r"it wins ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"),
        ("linecounter_evaluator", r"the line counter has ()()(0.\d\d) \((0.\d\d) to (0.\d\d)\)"),
        ("defendfirst_greedy", r"Stop first, and it has ()()(0.\d\d)()()"),
    ],
)
def test_the_notebook_has_these_numbers(name, row):
    """What notebook 10 says of layers and threats is what the benchmark has measured."""
    text = (COURSE / "study6_evaluator" / "10_evaluator.py").read_text("utf-8").replace("\n# ", " ")
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
        ("study7_lookahead/13_deeper.py", "deep_look", 50, "over the best four, has"),
        ("study8_sarsa/15_sarsa.py", "sarsa_greedy", 500, "*mixed* has"),
        ("study8_sarsa/15_sarsa.py", "sarsa_reward", 500, "against `Greedy` and"),
        ("study8_sarsa/15_sarsa.py", "neither_random", 100, "*neither* has"),
    ],
)
def test_later_notebooks_have_these_numbers(notebook, name, games, said):
    """What notebooks 13 and 15 say of many games is what the benchmark has measured."""
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
    ],
)
def test_the_notebook_has_the_price_of_the_seat(name, agent):
    """The last column of its table, for each agent."""
    text = (COURSE / "study6_evaluator" / "10_evaluator.py").read_text("utf-8")
    measured = _claims_page.measured()
    share, low, high = (measured[f"seats_{name}{part}"] for part in ("", "_low", "_high"))
    assert re.search(
        rf"^# \| {agent}.* \| {share:.2f} \({low:.2f} to {high:.2f}\) \|$", text, re.MULTILINE
    )
    share, low, high = (measured[f"seats_original_random{part}"] for part in ("", "_low", "_high"))
    assert f"has {share:.2f} ({low:.2f} to {high:.2f})" in text.replace("\n# ", " ")
    assert f"{measured['seats_games']:,} games" in text


def test_layers_come_before_the_evaluator():
    """A sequence is completed where one can be, and the others' is stopped where it must be."""
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
    """The page says that 5 is a divisor that is large enough for H in study 3."""
    study = load_answer("type_a")
    states, seen = [Board()], set()
    while states:
        state = states.pop()
        if state not in seen and not state.is_terminal():
            seen.add(state)
            states += [state.after(move) for move in state.legal_moves()]
    values = [abs(10 * study.heuristic(state, "x")) for state in seen if study.is_quiescent(state)]
    assert round(max(values)) == 4
