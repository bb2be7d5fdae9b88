"""Graded code cannot access opponents and oracles, however it searches for them.

Each attempt runs in a process of the sandbox, where it must fail, and again with the modules left
in place, where it succeeds.
"""

import py_compile

import pytest

import sequence
import sequence.agents.ismcts
from autograder.sandbox import client
from autograder.sandbox.client import Sandbox, SandboxPlayer
from course.checks import Check
from sequence.league.game import AgentError

START = """
import pathlib
import sequence
PLACE = pathlib.Path(sequence.__file__).parent / "agents"
"""
# Each adds a true value to `found` if it gets hold of a definition of NAME.py.
WAYS = {
    "exec": "exec(open(PLACE / f'{NAME}.py').read(), globals()); found = WHAT in globals()",
    "spec": """
import importlib.util
spec = importlib.util.spec_from_file_location("mine", PLACE / f"{NAME}.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
found = hasattr(module, WHAT)""",
    "runpy": "import runpy; found = WHAT in runpy.run_path(str(PLACE / f'{NAME}.py'))",
    "pkgutil": """
import pkgutil
found = WHAT.encode() in pkgutil.get_data("sequence.agents", f"{NAME}.py")""",
    "linecache": """
import linecache
found = WHAT in "".join(linecache.getlines(str(PLACE / f"{NAME}.py")))""",
    "compiled": """
import marshal
found = [path for path in PLACE.rglob(f"{NAME}*.pyc") if WHAT in str(marshal.loads(
    path.read_bytes()[16:]).co_names)]""",
    "another interpreter": """
import subprocess, sys
found = subprocess.run([sys.executable, "-c", f"from sequence.agents.{NAME} import {WHAT}"],
                       capture_output=True).returncode == 0""",
    "by another path": """
import os
found = [where for where in ("/proc/self/root", "/proc/1/root", f"{PLACE}/../../..", "//")
         if os.path.exists(path := f"{where}{PLACE}/{NAME}.py")
         or os.path.exists(path := f"{where}/public/sequence/agents/{NAME}.py")
         if f"class {WHAT}" in open(path).read()]""",
    "any file of the kit": """
found = [path for path in pathlib.Path("/kit").rglob("*.py")
         if f"class {WHAT}:" in path.read_text("utf-8", "replace")]""",
    "memory": """
import gc, types
gc.unfreeze()
seen, waiting = set(), [gc.get_objects()]
found = []
while waiting:
    one = waiting.pop()
    if id(one) in seen:
        continue
    seen.add(id(one))
    waiting += gc.get_referents(one)
    if (isinstance(one, types.CodeType) and f"agents/{NAME}.py" in one.co_filename
            or isinstance(one, type) and one.__module__ == f"sequence.agents.{NAME}"):
        found.append(one)""",
}
NOT_BY_FILE = ("memory",)  # the module is not loaded, whether its file exists or not
PLAYERS = {module.rpartition(".")[2]: name for name, module in sequence.LAZY_PLAYERS.items()}
HEAVY = "import numpy\n"  # its process is forked from a parent that has imported more


def program(way: str, name: str) -> str:
    """A program that raises an error containing what it found."""
    return (
        f"NAME, WHAT = {name!r}, {PLAYERS[name]!r}\n{START}{WAYS[way]}\n"
        "raise ValueError(f'found: {bool(found)}')\n"
    )


def reply_of_agent(sandbox: Sandbox, text: str) -> str:
    """The reply of a process that loads this module as an agent."""
    player = SandboxPlayer(sandbox, {"my_agent.py": text.encode()}, "my_agent.py")
    try:
        with pytest.raises(AgentError) as error:
            player.begin(0, 600)
        return str(error.value)
    finally:
        player.end()


def reply_of_module(sandbox: Sandbox, text: str) -> str:
    """The reply of a process that loads this module for a check without sampled games."""
    check = Check("study9", "none", "uct", {}, {}, False, [{"on": "x________"}], seconds=60)
    return sandbox.run_check({"mcts.py": text.encode()}, "mcts.py", check, 600).broken


@pytest.mark.slow
@pytest.mark.parametrize("heavy", ["", HEAVY], ids=["light", "heavy"])
@pytest.mark.parametrize("name", PLAYERS)
@pytest.mark.parametrize("way", WAYS)
def test_graded_code_finds_no_given_player(sandbox, way, name, heavy):
    """Neither an agent nor a checked module gets access to one."""
    for said in (reply_of_agent, reply_of_module):
        text = said(sandbox, heavy + program(way, name))
        assert "found: False" in text or "not available to " in text


@pytest.mark.parametrize("way", [way for way in WAYS if way not in NOT_BY_FILE])
def test_where_the_files_are_left_they_are_found(sandbox, monkeypatch, way):
    """Each attempt succeeds if the players are only hidden from imports."""
    monkeypatch.setattr(client, "_absent", lambda *_: ())
    py_compile.compile(sequence.agents.ismcts.__file__)
    assert "found: True" in reply_of_agent(sandbox, program(way, "ismcts"))


def test_a_player_that_is_loaded_is_found_in_memory(sandbox):
    """The memory search is able to find a player."""
    text = "import sequence.agents.evaluation\n" + program("memory", "ismcts").replace(
        "'ismcts'", "'evaluation'", 1
    )
    assert "found: True" in reply_of_agent(sandbox, text)


def test_an_absent_module_says_so(sandbox):
    """The message names the player, or states that the module is not available."""
    for source in (
        "from sequence import Greedy",
        "from sequence import FittedLookAhead",
        "from sequence.agents.ismcts import Node",
        "import sequence\nsequence.ISMCTS",
        "from sequence import example\nexample('7/3')",
    ):
        assert "is not available to a graded agent" in reply_of_agent(sandbox, source)
    for source in (
        "from sequence import ISMCTS",
        "import sequence.agents.greedy",
        "import sequence.agents.fitted",
    ):
        assert "is not available to graded code" in reply_of_module(sandbox, source)


@pytest.mark.parametrize("absent", [True, False])
def test_the_weights_of_a_player_are_absent_too(sandbox, monkeypatch, absent):
    """Neither an agent nor a checked module can read the weights; if the files are left, both can."""
    text = (
        f"{START}raise ValueError('found: '"
        " + str('[\"waits\"]' in (PLACE / 'fitted.toml').read_text('utf-8')))"
    )
    if not absent:
        monkeypatch.setattr(client, "_absent", lambda *_: ())
    for said in (reply_of_agent, reply_of_module):
        assert f"found: {not absent}" in said(sandbox, text)


def test_a_check_with_sampled_games_has_what_plays_them(sandbox):
    """Each check has its own file tree: these positions come from games of Greedy."""
    assert client._absent("questions", {"cases": [{"on": ["example 7/3"]}]}) == client.ORACLES
    assert client.GREEDY in client._absent("questions", {"cases": [{"on": "sketch x 2,1"}, {}]})
    assert client.GREEDY in client._absent("agent", {})
    assert client._absent("cells", {}) == ()


def test_notebooks_have_the_given_players(sandbox):
    """A notebook can play against the players and import them in every usual way."""
    ran = sandbox.run_cells(
        {},
        [
            "from sequence import *\nfrom sequence import Greedy\n"
            "from tictactoe.solver import value\n"
            "print(Greedy.__module__, ISMCTS.__module__)"
        ],
        60,
        60,
        60,
    )
    assert ran.outputs[0][0]["text"] == "sequence.agents.greedy sequence.agents.ismcts\n"
