"""Time limits in grading: CPU time counts, waiting has its own limit, load changes nothing."""

import time
from dataclasses import replace

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder import workspace
from autograder.benchmarks.grading import load
from autograder.grading.run.kernel import run_in_kernel
from autograder.grading.run.nbgrader_steps import _Submission
from common import clock
from course.checks import Check, load_study
from course.checks.matches import match
from course.checks.matches.ladder_agent import LadderPlayer
from course.checks.running.process import query_module
from sequence.league.game import Limits, PlayerExited
from sequence.league.players.specs import parse

HEURISTIC = Check(
    "study99", "heuristic", "heuristic", {}, {"value": 1}, False, [{"on": "xo_xo____"}]
)
MODULE = "import subprocess, sys, time\ndef heuristic(state, player):\n    {body}\n    return 1\n"
ENDLESS = "while True: pass"
BY_A_CHILD = f"subprocess.run([sys.executable, '-c', {ENDLESS!r}])"
COMPUTED = "2 s of computing time"
WAITED = "3 s, nearly all of them spent waiting"
BODIES = {ENDLESS: COMPUTED, BY_A_CHILD: COMPUTED, "time.sleep(600)": WAITED}
SECONDS = 2
pytestmark = pytest.mark.xdist_group("clocks")  # one sandbox for all tests


@pytest.fixture(params=BODIES)
def body(request, monkeypatch):
    """Code that does not end; code that only waits gets a short limit."""
    if "sleep" in request.param:
        monkeypatch.setattr(clock, "WALL_CLOCK_FACTOR", 1)
        monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 1.0)
    return request.param


@pytest.fixture(params=["sandbox", "process"])
def ask(request, tmp_path):
    """Run the check on a module, in the sandbox or in a separate process."""
    if request.param == "sandbox":
        inside = request.getfixturevalue("sandbox")
        return lambda text: inside.run_check({"m.py": text.encode()}, "m.py", HEURISTIC, SECONDS)

    def asked(text):
        path = tmp_path / "m.py"
        path.write_text(text, "utf-8")
        return query_module(path, HEURISTIC, SECONDS)

    return asked


def _running_in(folder) -> list[str]:
    """The programs whose current folder is `folder`."""
    return [
        process.name()
        for process in psutil.process_iter(["cwd"])
        if process.info["cwd"] == str(folder)
    ]


# ---- The waiting budget


SLEEPS = MODULE.format(body="time.sleep(600)")


@pytest.mark.slow
def test_all_checks_of_a_submission_share_one_budget_of_waiting(sandbox, monkeypatch):
    """When it is used up, a waiting module is stopped immediately, and a computing one gets its
    reply.
    """
    budget = clock.WaitBudget(1)
    monkeypatch.setattr(sandbox, "waiting", budget)

    def ask(text: str):
        return sandbox.run_check({"m.py": text.encode()}, "m.py", HEURISTIC, SECONDS)

    first, spent = ask(SLEEPS), budget.spent
    again = ask(SLEEPS)
    assert (
        first.stopped
        == again.stopped
        == (
            "stopped: the submission had spent 1 s waiting, for example in sleep, which is the "
            "limit for all its checks and notebooks together"
        )
    )
    assert (
        budget.spent - spent
        < clock.wall_clock_limit(SECONDS) / 2
        < clock.wall_clock_limit(SECONDS) - 1
    )
    assert ask(MODULE.format(body="sum(range(10 ** 6))")).observations[0]["value"]
    ran = sandbox.run_cells({}, ["import time\ntime.sleep(600)"], SECONDS, SECONDS, SECONDS)
    assert ran.stopped == first.stopped


def test_the_budget_is_that_of_one_submission():
    """The submission's notebooks share it, and the next submission has a new one."""
    submission = _Submission()
    submission.enter({"assignment": "study99", "student": "ada", "notebook": "01"})
    budget = submission.budget(5)
    submission.enter({"assignment": "study99", "student": "ada", "notebook": "02"})
    assert submission.budget(5) is budget
    submission.enter({"assignment": "study99", "student": "ben", "notebook": "01"})
    assert submission.budget(5) is not budget


@pytest.mark.slow
def test_without_a_sandbox_there_is_one_budget_too(tmp_path):
    """The budget covers modules, agents in games and notebooks; Python's start-up does not count."""
    budget = clock.WaitBudget(1)
    path = tmp_path / "m.py"

    def ask(text: str):
        path.write_text(text, "utf-8")
        return query_module(path, HEURISTIC, SECONDS, waiting=budget)

    assert ask(MODULE.format(body="pass")).observations == ({"value": [1, 1]},)
    assert budget.spent < 0.5
    begun = time.monotonic()
    assert ask(SLEEPS).stopped == budget.reason
    assert ask(SLEEPS).stopped == budget.reason
    assert ask(MODULE.format(body="sum(range(10 ** 6))")).observations[0]["value"]
    notebook = new_notebook(
        cells=[new_code_cell(text) for text in ("import time", "time.sleep(600)", "1 + 1")]
    )
    ran = run_in_kernel(notebook, notebook.cells, tmp_path, SECONDS, Config(), budget)
    assert (ran.stopped, ran.late, ran.outputs[2]) == (budget.reason, {}, None)
    player = LadderPlayer(parse(f"{path}:MyAgent"), Limits(first=30, action=30), budget)
    path.write_text("import time\ntime.sleep(600)\n", "utf-8")
    with pytest.raises(PlayerExited, match="waiting, for example"):
        player.begin(1, 30)
    player.end()
    assert time.monotonic() - begun < clock.wall_clock_limit(SECONDS)


@pytest.mark.slow
def test_without_a_budget_each_check_may_wait(sandbox, monkeypatch):
    """The same module is stopped only by the limit of each check."""
    monkeypatch.setattr(clock, "WALL_CLOCK_FACTOR", 1)
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 1.0)
    assert sandbox.waiting is None
    for _ in range(2):
        found = sandbox.run_check({"m.py": SLEEPS.encode()}, "m.py", HEURISTIC, SECONDS)
        assert found.stopped == f"stopped after {WAITED}"


# ---- Checks and cells


SPOILT = "\nfrom sequence.agents.greedy import Greedy\ndel Greedy.choose\n"


@pytest.mark.parametrize("many", [1, 3000])  # so many do not fit into one message
def test_games_of_positions_are_played_before_a_module_runs(sandbox, many):
    """They do not use the module's CPU time, and the module's changes to the players do not affect
    them.
    """
    study = load_study("study6")
    answer = workspace.module_texts(study)["reference"]
    check = replace(
        study.checks["cell_score"],
        cases=[
            {"on": f"example {608:0>{number}}/27", "cells": ["2,2", "5,0"]}
            for number in range(1, many + 1)
        ],
    )
    spoilt = answer + (SPOILT if many == 1 else "")
    replies, expected = (
        sandbox.run_check({study.module: text.encode()}, study.module, check, 60)
        for text in (spoilt, answer)
    )
    assert replies == expected and not replies.broken
    assert [
        told for observation in replies.observations for told in observation.get("errors", ())
    ] == []


@pytest.mark.slow
def test_why_a_check_is_stopped(ask, body):
    """A loop and a child process use up the CPU time; a waiting module is reported as waiting."""
    stopped = ask(MODULE.format(body=body)).stopped
    assert stopped == f"stopped after {BODIES[body]}"


IGNORED = {
    "by Python": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "by a call": "call(17, 1, 0)",
    "by a flag of a call": "call(17, 0, 2)",
    "by more bits than count": "call(17 | 1 << 32, 1, 0)",
}
UNWAITED = """import contextlib, ctypes, os, platform, signal, struct, time

def call(number, handler, flags):
    ctypes.CDLL(None).syscall(
        ctypes.c_long(dict(x86_64=13).get(platform.machine(), 134)), ctypes.c_ulong(number),
        struct.pack("QQQQ", handler, flags, 0, 0), ctypes.c_void_p(), ctypes.c_ulong(8))

def heuristic(state, player):
    with contextlib.suppress(OSError):
        {ignore}
    for _ in range(40):
        if os.fork() == 0:
            while time.process_time() < 0.1: pass
            os._exit(0)
        with contextlib.suppress(ChildProcessError):
            os.wait()
    return 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("ignore", IGNORED.values(), ids=IGNORED)
def test_children_whose_end_is_ignored_count(sandbox, ignore):
    """The kernel counts a child's CPU time even if its exit status is ignored."""
    text = UNWAITED.format(ignore=ignore).encode()
    found = sandbox.run_check({"m.py": text}, "m.py", HEURISTIC, SECONDS)
    assert found.stopped == f"stopped after {COMPUTED}"


@pytest.mark.slow
def test_time_that_passes_costs_a_check_nothing(ask):
    """A reply after more seconds than the limit is correct if it used little CPU time."""
    replies = ask(MODULE.format(body=f"time.sleep({SECONDS + 1})"))
    assert (replies.stopped, replies.observations) == (None, ({"value": [1, 1]},))
    assert replies.seconds > SECONDS


@pytest.mark.slow
def test_why_a_cell_is_stopped(sandbox, body):
    """The cell is interrupted for the same reasons, and the next one runs."""
    ran = sandbox.run_cells(
        {}, ["import subprocess, sys, time", body, "1 + 1"], SECONDS, SECONDS, 60
    )
    assert ran.late.keys() == {1}
    assert (ran.late[1], ran.stopped) == (BODIES[body], None)
    assert ran.outputs[2]


@pytest.mark.slow
def test_time_that_passes_costs_a_cell_nothing(sandbox):
    """The limits of a cell and of the notebook are not wall-clock times."""
    ran = sandbox.run_cells(
        {}, [f"import time; time.sleep({SECONDS + 1})"] * 2, SECONDS, SECONDS, SECONDS
    )
    assert (ran.late, ran.stopped) == ({}, None)
    assert ran.seconds > 2 * SECONDS


@pytest.mark.slow
def test_why_a_cell_is_stopped_without_a_sandbox(tmp_path, body):
    """In nbgrader's kernel, the stopped cell is also the last one."""
    notebook = new_notebook(
        cells=[new_code_cell(text) for text in ("import subprocess, sys, time", body, "1 + 1")]
    )
    ran = run_in_kernel(notebook, notebook.cells, tmp_path, SECONDS, Config())
    assert ran.late.keys() == {1}
    assert ran.late[1] == BODIES[body]
    assert _running_in(tmp_path) == []  # processes started by a cell have ended with it
    assert ran.stopped == f"a cell above did not finish within {BODIES[body]}"
    assert ran.outputs[2] is None


# ---- The ladder


SLOW = """
import time
from sequence import Random

seen = []


class Slow(Random):
    def choose(self, observation):
        seen.append(observation)
        end = time.thread_time() + (5 if len(seen) == 3 else 0)
        while time.thread_time() < end:
            pass
        return super().choose(observation)
"""
PATIENT = """
class MyAgent:
    def choose(self, observation):
        return max(observation.legal_actions(), key=lambda action: bool(action.coords))
"""


@pytest.mark.slow
def test_a_slow_opponent_ends_no_run_and_costs_nobody_a_mark(tmp_path, monkeypatch):
    """An opponent has no time limit, even beyond the agent's limit for all games."""
    monkeypatch.setattr(match, "LIMITS", Limits(first=30, action=2))
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "slow.py").write_text(SLOW, "utf-8")
    path = tmp_path / "my_agent.py"
    path.write_text(PATIENT, "utf-8")
    check = Check(
        "study10",
        "ladder",
        "match",
        {"deals": 2},
        {"strength": 6, "legal": 2},
        False,
        [
            {
                "against": "a slow one",
                "seed": 1,
                "agent": "studies/slow.py:Slow",
                "rates": [0.1, 0.9],
            }
        ],
    )
    begun = time.thread_time()
    replies = query_module(path, check, 60, tmp_path / "answers")
    assert time.thread_time() - begun > 5
    assert replies.stopped is None
    (observation,) = replies.observations
    assert observation["legal"] is True
    assert 0 <= observation["strength"] <= 1


# ---- Load


@pytest.mark.slow
def test_a_class_next_to_eight_spinning_processes():
    """Marks and time-outs of a small class are the same as on an idle machine."""
    results = load.compare("alpha_beta", 2)
    assert [result.name for result in results if result.met is False] == []
    assert sum(result.met is True for result in results) == 4
