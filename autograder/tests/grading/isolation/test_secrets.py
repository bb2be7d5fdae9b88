"""A module cannot disclose hidden cases on its own page.

A module can read everything sent to its process, and can include it in its replies. Therefore the
page shows only replies of a process that received no hidden case except the one that is shown.
"""

import base64
import re

import pytest

from autograder import workspace
from autograder.grading.verdict import judging, reply_collection
from autograder.grading.verdict.answer_key import load_answer_key
from autograder.grading.verdict.reply_collection import SubmissionContext, TimeLimits
from autograder.grading.verdict.verdict import decide
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.tests.support.needs import need_isolation
from course.checks import load_expected, load_study
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import TOO_SLOW, Outcome

CELLS = re.compile(r"[xo_]{9}")
NUMBER = re.compile(r"\d{30,}")
WORD = re.compile(r"[A-Za-z0-9+/=]{24,}")
SPY = '''

def seen():
    """All boards that the process was sent."""
    import re, sys
    texts, frame = [], sys._getframe()
    while frame:
        texts += [repr(frame.f_locals[name]) for name in ("cases", "request")
                  if name in frame.f_locals]
        frame = frame.f_back
    return " ".join(sorted(set(re.findall("[xo_]{9}", " ".join(texts)))))


def hidden():
    """The same in other letters."""
    import base64
    return base64.b64encode(seen().encode()).decode()
'''
MODULES = {
    "raises": "def search(self, *_):\n    raise ValueError(seen())\n",
    "raises in other letters": "def search(self, *_):\n    raise ValueError(hidden())\n",
    "named so": "def search(self, *_):\n    raise type(seen(), (Exception,), {})()\n",
    "as a move": "def search(self, *_):\n    return seen(), 0, 1\n",
    "as a number": "def search(self, *_):\n"
    "    return 0, int.from_bytes(seen()[:400].encode()), 1\n",
    "keeps": "KEPT = []\n\n\ndef search(self, state, *_):\n    KEPT.append(seen())\n"
    "    raise ValueError(max(KEPT, key=len))\n",
    "not loaded": "def search(self, *_):\n    pass\n\n\nraise ImportError(seen())\n",
}


@pytest.fixture(autouse=True)
def _isolated():
    need_isolation()


def decided(name: str, check: str, text: str, explaining: float = 20) -> Outcome:
    """The outcome of a module with this source."""
    key = load_answer_key(hidden_cases.hidden_study(name))
    return decide(
        SubmissionContext(key),
        key.study.checks[check],
        lambda study, asked, seconds: workspace.run_check(study, text, asked, seconds),
        TimeLimits(None, 20, explaining),
    )


def page(body: str) -> tuple[str, str | None]:
    """The complete page of study 1's first check, and the board of its shown case."""
    study = load_study("study1")
    text = (
        workspace.answer_path(study).read_text("utf-8")
        + SPY
        + "\n\n"
        + body
        + "\n\nMinimax.search = search\n"
    )
    outcome = decided("study1", "minimax", text)
    text = as_text(outcome) + as_html(outcome) + repr(outcome.to_json())
    return text, outcome.case["question"]["on"]


def boards_in(text: str) -> set[str]:
    """The hidden boards that can be read in a text, in any notation used here."""
    for number in NUMBER.findall(text):
        text += int(number).to_bytes(4000, "big").decode("latin-1")
    for word in WORD.findall(text):
        text += base64.b64decode(word + "=" * (-len(word) % 4)).decode("latin-1")
    hidden = {case["on"] for case in hidden_cases.hidden_study("study1").checks["minimax"].cases}
    return hidden & set(CELLS.findall(text))


@pytest.mark.parametrize("name", MODULES)
def test_a_page_discloses_no_hidden_case_except_the_shown_one(name):
    """Whatever a module replies, its page contains at most the board that is shown."""
    text, shown = page(MODULES[name])
    assert boards_in(text) <= {shown}


@pytest.mark.parametrize("name", MODULES)
def test_without_the_protection_they_come_out(name, monkeypatch):
    """The modules above disclose several boards if their first replies are shown."""
    monkeypatch.setattr(judging, "redacted", lambda outcome, *_: outcome)
    text, _ = page(MODULES[name])
    assert len(boards_in(text)) > 1


ORACLE = """
import gc, importlib.util, pathlib, types
import tictactoe

path = pathlib.Path(tictactoe.__file__).with_name("solver.py")
spec = importlib.util.spec_from_file_location("mine", path)
module = importlib.util.module_from_spec(spec)
try:
    spec.loader.exec_module(module)
except ImportError:
    pass
things = [thing for thing in gc.get_objects() if isinstance(thing, (
    types.ModuleType, types.FunctionType)) and thing is not module and "solver" in str(thing)]
raise ValueError(f"{sorted(set(vars(module)) & {'value', 'values'})} and {len(things)} things in "
                 f"memory and {list(path.parent.glob('__pycache__/*'))}")
"""


def test_the_oracle_is_nowhere():
    """A checked module finds `tictactoe.solver` neither on disk, nor compiled, nor in memory; a
    notebook's cells have it.
    """
    check = hidden_cases.hidden_study("study1").checks["minimax"]
    with Sandbox(SandboxLimits()) as sandbox:
        said = sandbox.run_check({"minimax.py": ORACLE.encode()}, "minimax.py", check, 20).broken
        assert said.startswith("ValueError: [] and 0 things in memory and []")
        ran = sandbox.run_cells(
            {}, ["from tictactoe.solver import value\nprint(value.__name__)"], 20, 20, 20
        )
    assert ran.outputs[0][0]["text"] == "value\n"


def test_expected_values_that_depend_on_other_cases_are_not_shown(monkeypatch):
    """If a process with only one case has no values, the reference's are shown."""
    study = load_study("study3")
    text = workspace.module_texts(study)["block_not_seen"]

    assert decided("study3", "priority", text).carried_from
    monkeypatch.setattr(reply_collection, "expected_in_isolation", lambda *_: None)
    outcome = decided("study3", "priority", text)
    hidden = hidden_cases.hidden_study("study3")
    expected, _ = load_expected(hidden_cases.expected_file(hidden), hidden.checks.values())
    right = expected["priority"][outcome.case["number"]]
    assert outcome.carried_from and not outcome.full
    assert outcome.case["expected"] == {name: right[name] for name in outcome.case["expected"]}


@pytest.mark.slow
def test_a_module_that_never_ends_on_one_case_gets_a_message():
    """The time limit applies to the explanation, and no further marks are lost."""
    study = load_study("study1")
    waits = """
def search(self, *_):
    import sys
    frame = sys._getframe()
    while "cases" not in frame.f_locals:
        frame = frame.f_back
    while len(frame.f_locals["cases"]) == 1:
        pass
    return 0, 0, 0
"""
    text = workspace.answer_path(study).read_text("utf-8") + waits + "\n\nMinimax.search = search\n"
    outcome = decided("study1", "minimax", text, explaining=1)
    assert outcome.problem == TOO_SLOW
    assert not outcome.stopped
    assert 0 < outcome.earned < outcome.points
