"""What a module learns of the hidden cases does not come out on its own page.

A module can read whatever its process was sent, and can put it into whatever it replies. So the
page shows only what a process replied that knew no hidden case but the one that is shown anyway.
"""

import base64
import re

import pytest

from autograder import verdicts, workspace
from autograder.grading import verdict
from autograder.grading.verdict import Seconds, decide
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import Limits
from autograder.tests.support.needs import need_isolation
from course.probes import load_expected, load_study
from course.probes.explain import as_html, as_text
from course.probes.outcome import TOO_SLOW

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


def page(body: str) -> tuple[str, str | None]:
    """The page of study 1's first check, all of it, and the board of the case that it shows."""
    study = load_study("study1")
    text = (
        workspace.answer_path(study).read_text("utf-8")
        + SPY
        + "\n\n"
        + body
        + "\n\nMinimax.search = search\n"
    )
    outcome = decide(
        "study1.minimax",
        lambda module, asked, seconds: workspace.ask(study, text, asked, seconds),
        Seconds(None, 20, 20),
    )
    text = as_text(outcome) + as_html(outcome) + repr(outcome.to_json())
    return text, outcome.case["asked"]["on"]


def boards_in(text: str) -> set[str]:
    """The hidden boards that can be read in a text, in any of the letters used here."""
    for number in NUMBER.findall(text):
        text += int(number).to_bytes(4000, "big").decode("latin-1")
    for word in WORD.findall(text):
        text += base64.b64decode(word + "=" * (-len(word) % 4)).decode("latin-1")
    hidden = {case["on"] for case in verdicts.hidden_study("study1").checks["minimax"].cases}
    return hidden & set(CELLS.findall(text))


@pytest.mark.parametrize("name", MODULES)
def test_a_page_tells_of_no_hidden_case_but_the_one_that_it_shows(name):
    """Whatever a module says, and however: at most the shown board can be found in it."""
    text, shown = page(MODULES[name])
    assert boards_in(text) <= {shown}


@pytest.mark.parametrize("name", MODULES)
def test_without_the_protection_they_come_out(name, monkeypatch):
    """The modules above do tell several boards where their first replies are shown."""
    monkeypatch.setattr(verdict, "as_alone", lambda outcome, *_: outcome)
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
    """A module that is asked finds `tictactoe.solver` neither by path, nor compiled, nor in memory;
    a notebook's cells have it."""
    check = verdicts.hidden_study("study1").checks["minimax"]
    with Sandbox(Limits()) as sandbox:
        said = sandbox.ask({"minimax.py": ORACLE.encode()}, "minimax.py", check, 20).broken
        assert said.startswith("ValueError: [] and 0 things in memory and []")
        ran = sandbox.run_cells(
            {}, ["from tictactoe.solver import value\nprint(value.__name__)"], 20, 20, 20
        )
    assert ran.outputs[0][0]["text"] == "value\n"


def test_what_is_right_given_all_that_was_asked_is_not_shown(monkeypatch):
    """Where a process that knows one case has no values of its own, the reference's are shown."""
    study = load_study("study3")
    text = workspace.module_texts(study)["block_not_seen"]

    def shown():
        return decide(
            "study3.priority",
            lambda module, asked, seconds: workspace.ask(study, text, asked, seconds),
            Seconds(None, 20, 20),
        )

    assert shown().given
    monkeypatch.setattr(verdict, "right_alone", lambda *_: None)
    outcome = shown()
    hidden = verdicts.hidden_study("study3")
    expected, _ = load_expected(verdicts.expected_file(hidden), hidden.checks.values())
    right = expected["priority"][outcome.case["number"]]
    assert outcome.given and not outcome.full
    assert outcome.case["expected"] == {name: right[name] for name in outcome.case["expected"]}


@pytest.mark.slow
def test_who_never_ends_when_asked_one_case_is_told_so():
    """That costs the time of an explanation, and no more marks than the other replies."""
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
    outcome = decide(
        "study1.minimax",
        lambda module, asked, seconds: workspace.ask(study, text, asked, seconds),
        Seconds(None, 20, 1),
    )
    assert outcome.problem == TOO_SLOW
    assert not outcome.stopped
    assert 0 < outcome.earned < outcome.points
