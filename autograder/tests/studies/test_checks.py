"""Checks: whatever a module does when it is called, exactly its replies are returned.

The modules are strings; each runs in a separate process, like a student's module.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from random import Random
from types import ModuleType, SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter

from autograder import workspace
from autograder.workspace import load_answer
from course.check import Points, check
from course.checks import Check, UnknownCheck, load_check, load_study, studies
from course.checks.running.process import query_module
from course.checks.running.queries import plain, reply
from course.checks.toy_games import NumberTree, Row
from sequence import example
from sequence.agents.beliefs import sample
from tictactoe import IllegalMove

BOARDS = ("xo_xo____", "x_o_x_o__", "_________")
SEARCH = Check(
    "study99",
    "search",
    "search",
    {"agent": "Agent"},
    {"move": 1, "value": 1, "nodes": 1},
    False,
    [{"on": board} for board in BOARDS],
)
HEURISTIC = Check(
    "study99",
    "heuristic",
    "heuristic",
    {},
    {"value": 1},
    False,
    [{"on": board} for board in BOARDS],
)
ONE = replace(HEURISTIC, cases=HEURISTIC.cases[:1])
ENOUGH = 120.0  # seconds that no module needs here
BRIEF = 3.0  # for code that never ends and has started by then
TIMES = (3, 12, 48)  # the same, for code with earlier work: more time under load
AGENT = """
class Agent:
    def search(self, state):
        {body}
"""
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no process groups")


@pytest.fixture
def ask(tmp_path):
    """Run a check on a module with this source, and return the result."""

    def asked(text, check=HEURISTIC, seconds=ENOUGH):
        module = tmp_path / "answers.py"
        module.write_text(text, "utf-8")
        return query_module(module, check, seconds)

    return asked


def heuristic(body, before=""):
    """A module whose heuristic has this body after these lines."""
    return f"{before}\ndef heuristic(state, player):\n    {body}\n"


def agent(body, before=""):
    """A module whose agent searches with this body."""
    return before + AGENT.format(body=body)


VALUE_1 = ({"value": [1, 1]},) * 3


def error_of(replies, number=0, aspect="value"):
    """The error message of one case in one aspect."""
    return replies.observations[number]["errors"][aspect]


# ---- Returned results


def changed_reply(check_id: str, number: int, **names: object) -> tuple[dict, dict]:
    """The replies of the reference answer to a case, without and with other values of names."""
    check, module = load_check(check_id), ModuleType("answer")
    answer = load_answer(check.study)
    vars(module).update(vars(answer), **names)
    case = {**check.settings, **check.cases[number]}
    return reply(answer, check.ask, case), reply(module, check.ask, case)


def test_costs_that_a_short_list_omits_have_no_cells():
    """A list by cost that is too short is a wrong reply and no error."""
    by_cost = load_answer("study6").cells_by_cost
    right, short = changed_reply("study6.board", 1, cells_by_cost=lambda chips: by_cost(chips)[:4])
    cells, gains = right["by_cost"]
    assert short == {**right, "by_cost": [cells[:4] + [""] * (len(cells) - 4), gains]}
    assert cells[3] and cells[4]


def test_a_state_before_the_first_action_is_described():
    """A selection that returns such a state is a wrong reply and no error."""
    start = sample(example("1/0"), Random(1))
    assert start.history == ()

    class Restarting(load_answer("study9").ISUCT):
        def select(self, node, state):
            return super().select(node, state)[0], start

    right, other = changed_reply("study9.info_step", 0, ISUCT=Restarting)
    assert other["selected"] == [right["selected"][0], "0 actions, (0, 0), no action"]
    assert "selected" not in other.get("errors", {})


def test_answers_come_back_in_order(ask):
    """There is one observation per case, in the order of the cases, with its time."""
    replies = ask(agent("return state.legal_moves()[0], 0.5, len(state.legal_moves())"), SEARCH)
    assert replies.observations == (
        {"move": 2, "value": 0.5, "nodes": 5},
        {"move": 1, "value": 0.5, "nodes": 5},
        {"move": 0, "value": 0.5, "nodes": 9},
    )
    assert (replies.broken, replies.stopped) == (None, None)
    assert 0 < replies.seconds < ENOUGH


def test_printing_disturbs_nothing(ask):
    """Output is never mistaken for a reply, whenever and wherever it is printed."""
    noise = (
        'import os, sys\nprint("hello")\nprint("oops", file=sys.stderr)\n'
        'os.write(1, b"{\\"case\\": 0, \\"observation\\": {\\"value\\": [9, 9]}}\\n")\n'
        'sys.__stdout__.write("more\\n")\n'
    )
    replies = ask(heuristic("print('[', end=''); return 1", noise))
    assert replies.observations == VALUE_1
    assert replies.stopped is None


def test_much_printing_does_not_block(ask):
    """A megabyte on each stream does not block on a full pipe."""
    noise = (
        'import sys\nfor stream in (sys.stdout, sys.stderr):\n    stream.write("x" * 1_000_000)\n'
    )
    assert ask(heuristic("return 1", noise)).observations == VALUE_1


@pytest.mark.parametrize(
    "lines",
    [
        "import sys\nsys.stdout.close()",
        "import os\nos.close(1)",
        "import os\nos.close(2)",
        "import os, sys\nsys.stderr.close()\nos.close(0)",
        "import sys\nsys.stdout = None",
    ],
    ids=["stdout", "fd 1", "fd 2", "the rest", "none"],
)
def test_closed_streams_disturb_nothing(ask, lines):
    """A module may close its streams, because replies use another channel."""
    assert ask(heuristic("return 1", lines)).observations == VALUE_1


FORGE = """
import os
for fd in range(3, 20):
    try:
        os.write(fd, {data!r})
    except OSError:
        pass
"""


@pytest.mark.parametrize(
    "data",
    [
        b"garbage\n",
        b"\xff\xfe\xfa\n",
        b"[1]\n",
        b"null\n",
        b"{}\n",
        b'{"case": 99}\n',
        b'{"case": -1, "observation": {"value": 1}}\n',
        b'{"case": 0.0, "observation": {}}\n',
        b'{"case": true, "observation": 1}\n',
        b'{"case": [0]}\n',
        b'{"case": {}}\n',
        b'{"case": 0, "observation": [1]}\n',
        b'{"case": 0, "observation": "x"}\n',
        b'{"case": 0, "observation": {"errors": 1}}\n',
        b"[" * 100_000 + b"\n",
        b"1" * 5_000 + b"\n",
        b'{"case": 1e400}\n',
        b"\n\n\n",
        b"\0\n",
        b'"\\ud800"\n',
    ],
    ids=range(20),
)
def test_garbage_on_the_way_of_the_replies_is_no_answer(ask, data):
    """A module that finds the replies' descriptor can disturb only its own replies."""
    replies = ask(heuristic("return 1", FORGE.format(data=data)))
    assert replies.observations == VALUE_1
    assert (replies.broken, replies.stopped) == (None, None)


@pytest.mark.parametrize(
    "observation", [[1], "text", 1, True, {"errors": "text"}, {"errors": {"value": 1}}], ids=repr
)
def test_a_forged_observation_is_no_answer(ask, observation):
    """Text written after the module's last reply is an observation or nothing."""
    line = json.dumps({"case": 2, "observation": observation}).encode() + b"\n"
    body = f"STATES.append(state); len(STATES) == 6 and atexit(); return 1\n\n{AFTER}".replace(
        "LINE", repr(line)
    )
    replies = ask(heuristic(body, "import os, threading, time\nSTATES = []\n"))
    assert replies.observations[:2] == VALUE_1[:2]
    last = replies.observations[2]
    assert last is None or (
        isinstance(last, dict)
        and all(isinstance(text, str) for text in dict(last.get("errors", {})).values())
    )


AFTER = """
def atexit():
    real = os._exit

    def last_word(status):
        for fd in range(3, 20):
            try:
                os.write(fd, LINE)
            except OSError:
                pass
        real(status)

    os._exit = last_word
"""


# ---- Modules that fail


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero (line 2 of answers.py)"),
        ("def f(:\n", "SyntaxError: "),
        (
            "import no_such_module\n",
            "ModuleNotFoundError: No module named 'no_such_module' (line 1",
        ),
        ("import sys\nsys.exit()\n", "SystemExit (line 2 of answers.py)"),
        ("raise SystemExit('bye')\n", "SystemExit: bye (line 1 of answers.py)"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise NotImplementedError('f: write this')\n", "not written yet: f: write this"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E\n", "E"),
        ("x = 1\n\0", ""),
        ("raise Exception('a' * 10_000)\n", "Exception: aaa"),
        ("def f(): f()\nf()\n", "RecursionError: maximum recursion depth exceeded"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
        ("class Quit(BaseException): pass\nraise Quit('now')\n", "Quit: now"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_broken(ask, text, sentence):
    """An exception during import is reported in a line, with the student's own line number."""
    replies = ask(text)
    assert replies.observations == (None, None, None)
    assert replies.stopped is None
    assert replies.broken.startswith(sentence)
    assert len(replies.broken) < 500
    assert "course/checks" not in replies.broken


def test_a_missing_module_is_broken(tmp_path):
    """Without a file there are no replies, and grading continues."""
    replies = query_module(tmp_path / "nothing.py", HEURISTIC)
    assert replies.observations == (None, None, None)
    assert replies.broken == "nothing.py is missing"


def test_a_module_that_is_not_text_is_broken(ask, tmp_path):
    """Python's own error reports a module in another encoding."""
    (tmp_path / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
    assert query_module(tmp_path / "latin.py", ONE).broken.startswith("SyntaxError: ")


def test_a_module_that_ends_the_process_at_its_import_is_stopped(ask):
    """If `os._exit` runs during import, there are no replies, and the status is reported."""
    replies = ask("import os\nos._exit(3)\n")
    assert replies.observations == (None, None, None)
    assert replies.stopped == "the process ended with exit status 3"


def test_a_quiet_end_is_reported(ask):
    """`os._exit(0)` looks like success although there are no replies."""
    replies = ask(heuristic("import os; os._exit(0)"))
    assert replies.observations == (None, None, None)
    assert replies.stopped == "the process ended before it replied"


def test_answers_before_the_end_of_the_process_count(ask):
    """Replies before `os._exit` are kept."""
    replies = ask(heuristic("import os; state.text == '_' * 9 and os._exit(3); return 1"))
    assert replies.observations == (*VALUE_1[:2], None)
    assert replies.stopped == "the process ended with exit status 3"


@posix
def test_a_crash_is_reported(ask):
    """A module that crashes the interpreter loses only the missing replies."""
    replies = ask(
        heuristic("state.text == '_' * 9 and os.kill(os.getpid(), 11); return 1", "import os")
    )
    assert replies.observations == (*VALUE_1[:2], None)
    assert replies.stopped == "the process ended with exit status -11"


# ---- Cases that fail


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero (line 3 of answers.py)"),
        ("raise NotImplementedError('f: write this')", "not written yet: f: write this"),
        ("state.after(99)", "IllegalMove: "),
        ("heuristic(state, player)", "RecursionError: maximum recursion depth exceeded"),
        ("import sys; sys.exit()", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise type('Quit', (BaseException,), {})('now')", "Quit: now"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise StopIteration", "StopIteration"),
        ("raise type('E', (Exception,), {'__str__': lambda e: 1 / 0})", "E"),
        ("raise Exception('\\ud800')", "Exception: "),
        ("raise MemoryError", "MemoryError"),
    ],
)
def test_an_error_costs_only_its_case(ask, statement, sentence):
    """Whatever one case raises, the cases before and after it get replies."""
    replies = ask(
        "\ndef heuristic(state, player):\n"
        f"    if state.text == {BOARDS[1]!r}: {statement}\n    return 1\n"
    )
    assert (replies.broken, replies.stopped) == (None, None)
    assert (replies.observations[0], replies.observations[2]) == VALUE_1[:2]
    assert error_of(replies, 1).startswith(sentence)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ("None", "Agent.search must return Search(move, value, nodes), it returned None"),
        ("1, 2", "Agent.search must return Search(move, value, nodes), it returned (1, 2)"),
        ("'abc'", "Agent.search must return Search(move, value, nodes), it returned 'abc'"),
        ("type('R', (), {'__repr__': lambda r: 1 / 0})()", "ZeroDivisionError"),
        ("[0] * 10_000", "Agent.search must return Search(move, value, nodes), it returned [0, 0"),
    ],
)
def test_a_wrong_shape_is_reported(ask, result, sentence):
    """A result that is not a triple is an error in all three aspects."""
    replies = ask(agent(f"return {result}"), SEARCH)
    assert replies.stopped is None
    for aspect in ("move", "value", "nodes"):
        assert error_of(replies, 2, aspect).startswith(sentence)
        assert len(error_of(replies, 2, aspect)) < 200


@pytest.mark.parametrize("result", ["None", "(1,)", "1, 2, 3", "7", "iter([1, 2])"])
def test_lane_counts_must_be_a_pair(ask, result):
    """Lane counts of another shape are refused with the function's name."""
    replies = ask(
        f"def lane_counts(state, player):\n    return {result}\n", replace(ONE, ask="lane_counts")
    )
    assert error_of(replies, 0, "two").startswith("lane_counts must return a pair (two, one)")


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (
            "[1, 0, 0, True]",
            "one_side must return a tuple and not a list, it returned [1, 0, 0, True]",
        ),
        ("None", "one_side must return a tuple and not a NoneType, it returned None"),
        ("(1, 0)", "one_side must return 4 values and not 2, it returned (1, 0)"),
    ],
)
def test_a_list_is_not_said_to_have_another_length(ask, result, sentence):
    """The type is named if it is wrong, and the length only if that is wrong."""
    rays = load_study("study8").checks["rays"]
    replies = ask(f"def one_side(text, gaps=1):\n    return {result}\n", rays)
    assert error_of(replies, 0, "gaps") == sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return start", "play_episode ended before `choose` had chosen all moves of the game"),
        (
            "while True: players['x'].choose(start)",
            "`choose` was called again after it had chosen all moves of the game",
        ),
    ],
)
def test_a_scripted_game_is_not_said_to_be_over_or_not(ask, body, sentence):
    """Only the calls of `choose` are known; the module may have reached any state."""
    player = (
        "class QPlayer:\n    def __init__(self, seed):\n        self.table = {}\n"
        "    def reset(self, seed):\n        pass\n"
    )
    episode = load_study("study5").checks["episode"]
    replies = ask(f"{player}def play_episode(players, start):\n    {body}\n", episode)
    assert error_of(replies, 0, "final") == sentence


def test_the_wrong_pair_is_the_one_that_is_shown(ask):
    """If only one player's counts have the wrong shape, those are shown."""
    replies = ask(
        "def lane_counts(state, player):\n    return (0, 1) if player == 'x' else None\n",
        replace(ONE, ask="lane_counts"),
    )
    assert error_of(replies, 0, "two").endswith("it returned None")


@pytest.mark.parametrize(
    ("text", "check", "aspect", "name"),
    [
        ("", HEURISTIC, "value", "heuristic"),
        ("class agent: pass\n", SEARCH, "move", "Agent"),
        ("", replace(ONE, ask="priority"), "order", "by_priority"),
        ("", replace(ONE, ask="table", settings={"agent": "Tabular"}), "move", "Tabular"),
        ("", replace(ONE, ask="mixed", settings={"agent": "Mixed", "draws": 2}), "drawn", "Mixed"),
    ],
)
def test_a_missing_name_is_reported(ask, text, check, aspect, name):
    """The message names the missing function or class."""
    replies = ask(text, check)
    assert error_of(replies, 0, aspect) == f"answers.py defines no {name}"


def test_a_missing_method_is_reported(ask):
    """A class without `search` raises Python's own error."""
    replies = ask("class Agent: pass\n", SEARCH)
    sentence = "AttributeError: 'Agent' object has no attribute 'search'"
    assert error_of(replies, 0, "move").startswith(sentence)


def test_parts_fail_by_themselves(ask):
    """The priority of moves has a reply although their order raises an error."""
    replies = ask(
        "def priority(state, move, player):\n    return move\n", replace(ONE, ask="priority")
    )
    [observation] = replies.observations
    assert observation["priority"] == [2, 5, 6, 7, 8]
    assert set(observation["errors"]) == {"order"}


def test_values_of_a_triple_fail_by_themselves(ask):
    """An invalid value costs its own aspect; move and nodes are correct."""
    replies = ask(agent("return 3, object(), 7"), SEARCH)
    observation = replies.observations[0]
    assert (observation.get("move"), observation.get("nodes")) == (3, 7)
    assert set(observation["errors"]) == {"value"}


def test_endless_lists_are_refused(ask):
    """An infinite generator is refused after some items, without filling the memory."""
    text = (
        "import os\ndef by_priority(state):\n    for n in range(1_000_000):\n"
        "        yield n\n    os._exit(7)\n"
    )
    replies = ask(text, replace(ONE, ask="priority"))
    assert replies.stopped is None
    assert "errors" in replies.observations[0]


# ---- Plain values


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("numpy.int64(3)", 3),
        ("numpy.float32(0.5)", 0.5),
        ("numpy.bool_(True)", True),
        ("numpy.float64('nan')", "nan"),
        ("numpy.str_('x')", "x"),
        ("True", True),
        ("None", None),
        ("fractions.Fraction(1, 2)", 0.5),
        ("enum.IntEnum('E', 'A').A", 1),
        ("'é'", "é"),
        ("'\\ud800'", "\ud800"),
        ("(1, [2, (3,)])", [1, [2, [3]]]),
        ("float('inf')", float("inf")),
        ("10**400", 10**400),
        ("-0.0", -0.0),
        ("[0] * 400", [0] * 400),
        ("type('S', (str,), {})('x')", "x"),
        ("collections.namedtuple('P', 'a')(1)", [1]),
    ],
)
def test_numbers_strings_and_lists_come_back(ask, expression, value):
    """All number types become plain numbers, and tuples become lists."""
    replies = ask(
        heuristic(f"return {expression}", "import numpy, fractions, enum, collections"), ONE
    )
    [observation] = replies.observations
    got = observation["value"][0]
    assert repr(got) == ("nan" if value == "nan" else repr(value))
    assert type(got) is (float if value == "nan" else type(value))


@pytest.mark.parametrize(
    "expression",
    [
        "object()",
        "(n for n in 'ab')",
        "{'a': 1}",
        "{1, 2}",
        "1j",
        "b'bytes'",
        "len",
        "int",
        "numpy.zeros(2)",
        "[0] * 1001",
        "[object()]",
        "__import__('decimal').Decimal(1)",
        "state",
        "10**5000",
        "[10**5000]",
        "fractions.Fraction(10**400)",
        "LOOP",
        "DEEP[-1]",
        "DEEP[300]",
        "[[0] * 1000] * 1000",
        "'x' * 1_000_000",
    ],
)
def test_what_is_no_plain_answer_is_an_error(ask, expression):
    """Objects, huge numbers and infinite lists are an error in that case only."""
    before = (
        "import numpy, fractions\nLOOP = []\nLOOP.append(LOOP)\nDEEP = [[]]\n"
        "for _ in range(5_000): DEEP.append([DEEP[-1]])\n"
    )
    replies = ask(heuristic(f"return {expression} if state.text == {BOARDS[0]!r} else 1", before))
    assert (replies.broken, replies.stopped) == (None, None)
    assert replies.observations[1:] == VALUE_1[1:]
    assert error_of(replies)
    assert len(error_of(replies)) < 400


def test_a_value_that_lies_about_itself_is_an_error(ask):
    """A number whose conversion raises costs its own aspect."""
    before = (
        "import numbers\nclass Liar(numbers.Integral):\n"
        "    def __int__(self): raise ValueError('no')\n"
        "Liar.__abstractmethods__ = frozenset()\n"
    )
    replies = ask(heuristic("return Liar()", before), ONE)
    assert error_of(replies).startswith("ValueError: no")


def test_plain_keeps_truth_values():
    """True stays True and does not become 1."""
    assert plain([True, 1, 1.0]) == [True, 1, 1.0]
    assert list(map(type, plain([True, 1, 1.0]))) == [bool, int, float]


# ---- Time


@pytest.mark.slow
def test_an_endless_loop_is_stopped(ask):
    """A module that never finishes loading is stopped in time."""
    replies = ask("while True: pass\n", seconds=BRIEF)
    assert replies.stopped == f"stopped after {BRIEF:g} s of computing time"
    assert replies.observations == (None, None, None)
    assert BRIEF <= replies.seconds < ENOUGH


@pytest.mark.slow
def test_answers_before_an_endless_loop_count(ask):
    """Replies before the loop are kept."""
    for seconds in TIMES:
        replies = ask(heuristic("while state.text == '_' * 9: pass\n    return 1"), seconds=seconds)
        assert replies.stopped == f"stopped after {seconds} s of computing time"
        if replies.observations[1]:
            break
    assert replies.observations == (*VALUE_1[:2], None)


@pytest.mark.slow
@posix
def test_a_module_that_ignores_signals_is_stopped(ask):
    """Signal handlers and masks do not protect a loop."""
    before = (
        "import signal\nfor n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
        "    signal.signal(n, signal.SIG_IGN)\n"
    )
    replies = ask(heuristic("while True: pass", before), seconds=BRIEF)
    assert replies.stopped == f"stopped after {BRIEF:g} s of computing time"


CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"])
with open("pid.txt", "w") as file:
    file.write(str(child.pid))
"""


def is_alive(pid):
    """Whether a process runs; a zombie does not count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(found) and not found.startswith("Z")


@pytest.mark.slow
@posix
@pytest.mark.skipif(shutil.which("ps") is None, reason="ps reports whether a process runs")
@pytest.mark.parametrize(
    "body",
    ["return 1", "while True: pass", "import os; os._exit(3)"],
    ids=["ends", "hangs", "exits"],
)
def test_children_do_not_outlive_the_check(ask, tmp_path, body):
    """A module's child processes are ended with it, without waiting."""
    replies = ask(heuristic(body, CHILD), seconds=BRIEF if "while" in body else ENOUGH)
    assert replies.seconds < ENOUGH
    pid = int((tmp_path / "pid.txt").read_text("utf-8"))
    for _ in range(600):
        if not is_alive(pid):
            break
        time.sleep(0.1)
    assert not is_alive(pid)


def test_threads_are_not_waited_for(ask):
    """An endless thread does not keep the process from ending."""
    before = "import threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()\n"
    replies = ask(heuristic("return 1", before))
    assert replies.observations == VALUE_1
    assert replies.stopped is None
    assert replies.seconds < ENOUGH


# ---- Imports


def test_a_side_file_can_be_imported(ask, tmp_path):
    """A second file next to the module can be imported."""
    (tmp_path / "my_helper.py").write_text("ONE = 1\n", "utf-8")
    assert ask("from my_helper import ONE\n" + heuristic("return ONE")).observations == VALUE_1


@pytest.mark.parametrize(
    "name",
    [
        "json",
        "heapq",
        "tictactoe",
        "numpy",
        "course",
        "traceback",
        "random",
        "sitecustomize",
        "usercustomize",
    ],
)
def test_a_side_file_shadows_nothing(ask, tmp_path, name):
    """A file named like an installed module does not replace it."""
    (tmp_path / f"{name}.py").write_text("raise ValueError('shadow')\n", "utf-8")
    imported = name if not name.endswith("customize") else "json"
    replies = ask(f"import {imported}\n" + heuristic("return 1"))
    assert replies.broken is None
    assert replies.observations == VALUE_1


def test_a_side_folder_shadows_nothing(ask, tmp_path):
    """A folder named like a given package does not replace it."""
    (tmp_path / "tictactoe").mkdir()
    (tmp_path / "tictactoe" / "__init__.py").write_text("raise ValueError('shadow')\n", "utf-8")
    replies = ask("from tictactoe import Board\n" + heuristic("return int(Board() is not None)"))
    assert replies.observations == VALUE_1


@pytest.mark.parametrize(
    "statement",
    [
        "import tictactoe.solver",
        "from tictactoe import solver",
        "from tictactoe.solver import value",
        "import importlib; importlib.import_module('tictactoe.solver')",
    ],
)
def test_the_solver_is_not_there(ask, statement):
    """The oracle cannot be imported to replace a student's search."""
    replies = ask(f"{statement}\n{heuristic('return 1')}")
    assert replies.observations == (None, None, None)
    assert "Error: " in replies.broken
    assert "solver" in replies.broken


def test_the_module_is_known_by_its_name(ask):
    """Classes of the module can be pickled, and dataclasses find their module."""
    text = (
        "import pickle\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        + heuristic("return pickle.loads(pickle.dumps(P(1))).x")
    )
    assert ask(text).observations == VALUE_1


def test_the_folder_of_the_module_is_the_working_folder(ask, tmp_path):
    """A file next to the module can be read by its name."""
    (tmp_path / "number.txt").write_text("1", "utf-8")
    assert ask(heuristic("return int(open('number.txt').read())")).observations == VALUE_1


def test_cases_do_not_see_what_another_check_patched(ask):
    """Each check has a separate process, so patches do not affect the next one."""
    text = heuristic("state_type = type(state); state_type.is_terminal = None; return 1")
    ask(text)
    replies = ask(heuristic("return int(state.is_terminal() in (True, False))"))
    assert replies.observations == VALUE_1


# ---- The names of checks


ALL = [check for study in studies() for check in load_study(study).checks.values()]


def test_checks_are_found_by_their_ids():
    """Every check is loaded by its id, and its study also by the assignment's name."""
    for known in ALL:
        assert load_check(known.id) == known
    for name in studies():
        assert load_study(load_study(name).assignment) == load_study(name)


@pytest.mark.parametrize(
    "name", ["study0", "", "study", "../study1", "study1_other", "Study1", "study1 ", "1"]
)
def test_an_unknown_study_lists_the_known_ones(name):
    """The error lists the valid study names."""
    with pytest.raises(UnknownCheck) as error:
        load_study(name)
    assert str(error.value) == f"there is no study {name!r}; the studies are {', '.join(studies())}"


@pytest.mark.parametrize("rest", ["", ".", ".nothing", ".a.b"])
def test_an_unknown_check_lists_the_checks_of_its_study(rest):
    """The error lists the checks of the study."""
    with pytest.raises(UnknownCheck) as error:
        load_check(f"study1{rest}")
    known = ", ".join(check.id for check in load_study("study1").checks.values())
    assert str(error.value) == f"there is no check 'study1{rest}'; study1 has {known}"


@pytest.mark.parametrize("odd", [None, 1, [], "study0.minimax", "", "."])
def test_an_odd_check_id_is_unknown(odd):
    """For any value, the error lists the studies."""
    with pytest.raises(UnknownCheck, match=f"the studies are {', '.join(studies())}"):
        load_check(odd)


def test_unknown_checks_are_value_errors():
    """Code that knows only Python's built-in exceptions can catch it."""
    assert issubclass(UnknownCheck, ValueError)


def test_check_refuses_an_unknown_name(tmp_path):
    """`check` reports an unknown name before it looks for a module."""
    with pytest.raises(UnknownCheck):
        check("study1.nothing", tmp_path)


# ---- The made-up game


def test_a_row_is_marked_by_the_player_to_move():
    """x begins, o follows, and the previous state is unchanged."""
    row = Row("xx___")
    assert row.after(2) == Row("xxx__", "o")
    assert row.after(2).after(4) == Row("xxx_o", "x")
    assert row == Row("xx___")
    assert (row[1], row[2], str(row), hash(row) == hash(Row("xx___"))) == (
        "x",
        "_",
        "x|x|_|_|_",
        True,
    )


def test_a_tree_of_numbers_is_a_game():
    """Players take turns, leaves have their numbers, and equal trees are equal states."""
    tree = NumberTree.read("((5, 2.5), 3, (5, 2.5))")
    assert (tree.to_move, tree.legal_moves(), tree.is_terminal()) == ("x", (0, 1, 2), False)
    assert tree.after(0) == tree.after(2) == NumberTree.read(tree.after(0).text)
    assert tree.after(0) != NumberTree((5, 2.5))
    end = tree.after(2).after(1)
    assert (end.is_terminal(), end.legal_moves(), end.utility("o")) == (True, (), -2.5)
    with pytest.raises(ValueError, match="not terminal"):
        tree.utility("x")
    with pytest.raises(IllegalMove):
        tree.after(3)
    with pytest.raises(ValueError, match="is not a tree of numbers"):
        NumberTree.read("((5, 9)")


SEEDED = """
import random

class Mixed:
    def __init__(self, seed):
        {made}
    def best_moves(self, state):
        return state.legal_moves()
    def choose(self, state):
        return {drawn}
"""


@pytest.mark.parametrize(
    ("made", "drawn", "repeated"),
    [
        (
            "self.random = random.Random(seed)",
            "self.random.choice(state.legal_moves())",
            [True, False, True, True],
        ),
        ("random.seed(seed)", "random.choice(state.legal_moves())", [False, False, False, False]),
        ("self.seed = seed", "random.choice(state.legal_moves())", [False, False, False, False]),
        (
            "self.random = random.Random(1)",
            "self.random.choice(state.legal_moves())",
            [True, True, True, True],
        ),
        (
            "self.random = random.Random()",
            "self.random.choice(state.legal_moves())",
            [False, False, False, True],
        ),
    ],
    ids=["own", "shared", "shared and unseeded", "without seed", "by the clock"],
)
def test_where_random_numbers_come_from_is_seen(ask, made, drawn, repeated):
    """They must come from the agent's own seeded generator."""
    check = replace(ONE, ask="mixed", settings={"agent": "Mixed", "draws": 20})
    (reply,) = ask(SEEDED.format(made=made, drawn=drawn), check).observations
    assert reply["repeated"] == repeated


def test_lanes_of_a_row_are_four_neighbours():
    """A row of six cells has three lanes, a row of three has none."""
    assert Row("______").lanes == ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5))
    assert Row("___").lanes == ()


@pytest.mark.parametrize(
    ("cells", "moves", "utility"),
    [
        ("xx___", (2, 3, 4), None),
        ("xxxx_", (), 1),
        ("_oooo", (), -1),
        ("xoxox", (), 0),
        ("xxx_x", (3,), None),
        ("ooo", (), 0),
        ("_____", (0, 1, 2, 3, 4), None),
        ("xxxxx", (), 1),
    ],
)
def test_a_row_ends_with_four_or_without_open_cells(cells, moves, utility):
    """Moves are the empty cells from the left until a player has four."""
    row = Row(cells)
    assert row.legal_moves() == moves
    assert row.is_terminal() == (not moves)
    if utility is not None:
        assert (row.utility("x"), row.utility("o")) == (utility, -utility)


@pytest.mark.parametrize(
    ("cells", "move"),
    [("xx___", 0), ("xx___", 5), ("xx___", -1), ("xx___", None), ("xx___", "2"), ("xxxx_", 4)],
)
def test_an_illegal_move_in_a_row_is_refused(cells, move):
    """An occupied cell, a non-existent cell, and any cell after the end are refused."""
    with pytest.raises(IllegalMove, match="illegal move"):
        Row(cells).after(move)


# ---- check()


FIRST = ALL[0]
STUDY = load_study(FIRST.study)


@pytest.fixture(params=["stub", "reference"])
def solved(request, tmp_path):
    """A folder with a module of the first study, and its expected points."""
    text = workspace.module_texts(STUDY)[request.param]
    (tmp_path / STUDY.module).write_text(text, "utf-8")
    return tmp_path, FIRST.max_points if request.param == "reference" else 0


def test_check_returns_points_and_prints_why(solved, capsys):
    """In plain Python the explanation is printed and the points are a float."""
    folder, points = solved
    result = check(FIRST.id, folder, ENOUGH)
    assert isinstance(result, Points)
    assert result == points
    assert repr(result) == f"{points:g}"
    printed = capsys.readouterr().out
    assert printed.startswith(f"{FIRST.id}: {points:g} of {FIRST.max_points:g} points")
    assert ("not written yet" in printed) == (points == 0)


def test_extra_credit_returns_nothing(tmp_path, capsys):
    """nbgrader must not read points from a cell that has none."""
    bonus = [check for check in ALL if check.extra_credit]
    assert bonus
    study = load_study(bonus[0].study)
    text = workspace.module_texts(study)["stub"]
    (tmp_path / study.module).write_text(text, "utf-8")
    assert check(bonus[0].id, tmp_path, ENOUGH) is None
    assert "extra credit" in capsys.readouterr().out


def run(code, folder):
    """The output of a Python process that runs this code in that folder."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=ENOUGH,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_check_in_a_script(solved):
    """A script in the module's folder needs only the name."""
    folder, points = solved
    printed = run(
        f"from course.check import check\np = check({FIRST.id!r}, seconds={ENOUGH})\n"
        "print(repr(p), type(p).__mro__[1].__name__)",
        folder,
    )
    assert printed.startswith(f"{FIRST.id}: ")
    assert printed.endswith(f"{points:g} float\n")


def test_check_in_ipython(solved):
    """In IPython's terminal the explanation is printed as text, and the points are the result."""
    folder, points = solved
    cells = ["from course.check import check", f"check({FIRST.id!r}, seconds={ENOUGH})"]
    printed = run(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(history_manager=None)\n"
        f"for cell in {cells!r}:\n    done = shell.run_cell(cell)\n"
        "print('result', repr(done.result), done.success)",
        folder,
    )
    assert printed.startswith(f"{FIRST.id}: ")
    assert "<table" not in printed
    assert printed.endswith(f"result {points:g} True\n")


def test_check_in_a_notebook(solved, monkeypatch, capsys):
    """In a notebook the explanation is displayed, so that the browser shows boards and tables."""
    folder, points = solved
    shown = in_a_notebook(monkeypatch)
    assert check(FIRST.id, folder, ENOUGH) == points
    [explanation] = shown
    assert explanation._repr_html_().startswith("<p><strong>")
    assert repr(explanation).startswith(f"{FIRST.id}: ")
    assert capsys.readouterr().out == ""


def in_a_notebook(monkeypatch):
    """Run later checks in a notebook; the list contains everything shown by the single output."""
    shown = []
    handle = SimpleNamespace(update=shown.append)

    def display(what, display_id):
        assert display_id is True
        assert not shown  # later outputs replace the first
        shown.append(what)
        return handle

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(
        "builtins.get_ipython", lambda: type("Shell", (), {"kernel": 1}), raising=False
    )
    return shown


@pytest.mark.slow
def test_a_long_check_shows_its_progress(tmp_path, monkeypatch):
    """One output shows the number of completed queries and then the result."""
    study = load_study("study3")
    asked = study.checks["lane_counts"]
    (tmp_path / study.module).write_text(
        "first = []\n\ndef lane_counts(state, player):\n    first.append(state)\n"
        "    while state != first[0]:\n        pass\n    return 0, 0\n",
        "utf-8",
    )
    monkeypatch.setattr("course.checks.running.process.REPORT_SECONDS", 0)
    shown = in_a_notebook(monkeypatch)
    check(asked.id, tmp_path, BRIEF)
    *told, explanation = shown
    assert re.fullmatch(
        rf"{asked.id}: 1 of {len(asked.cases)} questions answered, "
        r"about \d+ (s|min) left \.\.\.",
        repr(told[-1]),
    )
    assert f"stopped after {BRIEF:g} s of computing time" in repr(explanation).lower()


def test_check_without_the_module_says_where_it_looked(tmp_path, monkeypatch):
    """If the notebook was opened elsewhere, the message names the file and the folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as error:
        check(FIRST.id)
    assert str(error.value) == (
        f"{STUDY.module} is not in {tmp_path.resolve()}: "
        "open the notebook in the folder that contains it"
    )
    with pytest.raises(FileNotFoundError, match="is not in"):
        check(FIRST.id, tmp_path / "nowhere")


@pytest.mark.slow
def test_check_stops_what_does_not_end(tmp_path, capsys):
    """`seconds` limits the module's total time."""
    (tmp_path / STUDY.module).write_text("while True: pass\n", "utf-8")
    assert check(FIRST.id, str(tmp_path), BRIEF) == 0
    assert f"stopped after {BRIEF:g} s of computing time" in capsys.readouterr().out.lower()


@pytest.mark.parametrize(
    ("points", "shown"), [(0.0, "0"), (2.5, "2.5"), (10.0, "10"), (3.33, "3.33")]
)
def test_points_are_shown_as_nbgrader_reads_them(points, shown):
    """The last line of a graded cell must be a number and nothing else."""
    assert repr(Points(points)) == shown
    assert float(repr(Points(points))) == points


@pytest.mark.parametrize("runs", ["autograde", "validate", None])
def test_points_are_shown_where_nbgrader_runs_the_notebook(runs, monkeypatch):
    """Elsewhere the cell has printed them in words, and an empty output would follow."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    if runs:
        monkeypatch.setenv("NBGRADER_EXECUTION", runs)
    data, _ = DisplayFormatter().format(Points(2.5))
    assert data == ({"text/plain": "2.5"} if runs else {})
