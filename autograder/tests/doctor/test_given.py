"""What students are given is no answer: all of it is handed in, under every name that is asked."""

import pytest

from autograder import workspace
from autograder.doctor import given
from autograder.doctor.given import Given, given_answers
from autograder.tests.support.needs import need_isolation
from course.probes import load_study, studies


@pytest.fixture
def only(monkeypatch):
    """Let only these be given."""

    def only(*found: Given) -> None:
        monkeypatch.setattr(given, "_everything", lambda but: list(found))

    return only


def test_an_answer_that_is_given_is_found(only):
    """Under another name too, in a notebook or a guide."""
    need_isolation()
    answer = (
        workspace.answer_path(load_study("study3"))
        .read_text("utf-8")
        .replace("def lane_counts", "def numbers_of_lanes")
        .replace("lane_counts(", "numbers_of_lanes(")
    )
    only(
        Given("numbers_of_lanes", "a guide", range(2, 3), answer),
        Given("TypeA", "a notebook", None, answer),
    )
    _, found = given_answers(load_study("study3"))
    assert {
        (answered.given.name, answered.target, answered.outcome.full) for answered in found
    } >= {("numbers_of_lanes", "lane_counts", True), ("TypeA", "TypeA", True)}
    assert str(found[0]).startswith("numbers_of_lanes of a guide, handed in as lane_counts, earns")


def test_what_cannot_be_loaded_is_tried_once_and_hides_nothing(only, monkeypatch):
    """Its text is not asked again under other names; whatever else is given is still found."""
    need_isolation()
    answer = workspace.answer_path(load_study("study3")).read_text("utf-8")
    found = answer.replace("class TypeA:", "class Other:")
    assert found != answer
    fails = "import nowhere\nclass First: pass\nclass Second: pass\n"
    asked, ask_all = [], workspace.ask_all

    def watched(study, text, **how):
        asked.append(fails in text)
        return ask_all(study, text, **how)

    monkeypatch.setattr(workspace, "ask_all", watched)
    monkeypatch.setattr(workspace, "at_once", lambda: 1)
    only(
        Given("First", "a notebook", None, fails),
        Given("Second", "a notebook", None, fails),
        Given("Other", "a guide", None, found),
    )
    tried, answered = given_answers(load_study("study3"))
    assert sum(asked) == 1
    assert asked.count(False) == tried / 3 > 1  # a third is the other's, under every name
    assert {(each.given.name, each.target) for each in answered} >= {("Other", "TypeA")}


def test_everything_is_looked_through():
    """Packages, notebooks, guides and the other studies' stubs; not a study's own stub."""
    found = {(one.name, one.where) for one in given._everything("study3_type_a")}
    assert found >= {
        ("Random", "games/players.py"),
        ("RandomPlay", "study7_lookahead/13_deeper.ipynb"),
        ("train", "study5_qubic/qlearning.py"),
        ("MyAgent", "docs/my_agent.py"),
    }
    assert ("lane_counts", "study3_type_a/heuristic.py") not in found


IDLE = """
class Idle:
    def __init__(self, *given, **named): pass
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __call__(self, *given, **named): return self
    def __iter__(self): yield self
"""
ANSWERS = {
    "none": "None",
    "zero": "0",
    "one": "1",
    "yes": "True",
    "no": "False",
    "empty": "[]",
    "text": "''",
    "first": "given[0]",
    "last": "given[-1]",
    "all": "list(given)",
    "idle": "Idle()",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_whoever_does_nothing_earns_nothing(name, only):
    """An object that takes every call and does nothing; functions that return a constant, or what
    they were given."""
    need_isolation()
    only(
        Given("Idle", "nowhere", None, IDLE),
        *(
            Given(
                function,
                "nowhere",
                range(9),
                f"{IDLE}\ndef {function}(*given, **named): return {value}\n",
            )
            for function, value in ANSWERS.items()
        ),
    )
    _, answered = given_answers(load_study(name))
    assert list(map(str, answered)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study2", "study3"])
def test_nothing_given_is_an_answer(name):
    """No function and no class that students receive earns more than a guess does; of the other
    studies `doctor --all` says so."""
    need_isolation()
    tried, answered = given_answers(load_study(name))
    assert tried > 50
    assert list(map(str, answered)) == []
