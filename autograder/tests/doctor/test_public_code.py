"""No public code is an answer: it is submitted under every name that the checks call."""

import pytest

from autograder import workspace
from autograder.doctor import public_code
from autograder.doctor.public_code import PublicDefinition, find_accidental_answers
from autograder.tests.support.needs import need_isolation
from course.checks import load_study, studies


@pytest.fixture
def only(monkeypatch):
    """Make these the only public definitions."""

    def only(*found: PublicDefinition) -> None:
        monkeypatch.setattr(public_code, "_public_definitions", lambda excluded: list(found))

    return only


def test_a_public_answer_is_detected(only):
    """It may have another name, and be in a notebook or a guide."""
    need_isolation()
    answer = (
        workspace.answer_path(load_study("study3"))
        .read_text("utf-8")
        .replace("def lane_counts", "def numbers_of_lanes")
        .replace("lane_counts(", "numbers_of_lanes(")
    )
    only(
        PublicDefinition("numbers_of_lanes", "a guide", range(2, 3), answer),
        PublicDefinition("TypeA", "a notebook", None, answer),
    )
    _, found = find_accidental_answers(load_study("study3"))
    assert {
        (answered.definition.name, answered.target, answered.outcome.full) for answered in found
    } >= {("numbers_of_lanes", "lane_counts", True), ("TypeA", "TypeA", True)}
    assert str(found[0]).startswith("numbers_of_lanes of a guide, submitted as lane_counts, earns")


def test_code_that_cannot_be_loaded_is_tried_once(only, monkeypatch):
    """It is not tried under other names; other public answers are still detected."""
    need_isolation()
    answer = workspace.answer_path(load_study("study3")).read_text("utf-8")
    found = answer.replace("class TypeA:", "class Other:")
    assert found != answer
    fails = "import nowhere\nclass First: pass\nclass Second: pass\n"
    asked, run_checks = [], workspace.run_checks

    def watched(study, text, **how):
        asked.append(fails in text)
        return run_checks(study, text, **how)

    monkeypatch.setattr(workspace, "run_checks", watched)
    monkeypatch.setattr(workspace, "max_parallel", lambda: 1)
    only(
        PublicDefinition("First", "a notebook", None, fails),
        PublicDefinition("Second", "a notebook", None, fails),
        PublicDefinition("Other", "a guide", None, found),
    )
    tried, answered = find_accidental_answers(load_study("study3"))
    assert sum(asked) == 1
    assert asked.count(False) == tried / 3 > 1  # a third is the other's
    assert {(each.definition.name, each.target) for each in answered} >= {("Other", "TypeA")}


def test_all_public_code_is_searched():
    """This covers packages, notebooks, guides and the other studies' stubs, but not a study's own
    stub.
    """
    found = {(one.name, one.file) for one in public_code._public_definitions("study3_type_a")}
    assert found >= {
        ("Random", "games/players.py"),
        ("Coin", "study9_mcts/18_hidden_cards.ipynb"),
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


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_doing_nothing_earns_nothing(name, only):
    """Tested are an object that accepts every call, and functions that return a constant or an
    argument.
    """
    need_isolation()
    only(
        PublicDefinition("Idle", "nowhere", None, IDLE),
        *(
            PublicDefinition(
                function,
                "nowhere",
                range(9),
                f"{IDLE}\ndef {function}(*given, **named): return {value}\n",
            )
            for function, value in ANSWERS.items()
        ),
    )
    _, answered = find_accidental_answers(load_study(name))
    assert list(map(str, answered)) == []


@pytest.mark.content
@pytest.mark.slow
@pytest.mark.parametrize("name", ["study1", "study2", "study3"])
def test_no_public_code_is_an_answer(name):
    """No function or class that students receive earns more than a guess. `doctor --all` verifies the
    other studies."""
    need_isolation()
    tried, answered = find_accidental_answers(load_study(name))
    assert tried > 50
    assert list(map(str, answered)) == []
