"""The ladder of study 8: games decide, and only what an agent plays counts."""

import textwrap

import pytest

from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import Limits
from autograder.tests.needs import need_isolation
from course.probes import Check
from course.probes.match import needed_points
from course.probes.outcome import mark
from course.probes.process import ask_module

CASES = [{"against": "Random", "seed": 1}, {"against": "Greedy", "seed": 2}]
GREEDY = "from sequence import Greedy\n\n\nclass MyAgent(Greedy):\n    pass\n"
STUB = '''
class MyAgent:
    def choose(self, observation):
        raise NotImplementedError("MyAgent.choose: the action to play")
'''
BAD = {
    "raises": ("raise ZeroDivisionError('no')", "raised ZeroDivisionError: no"),
    "answers nonsense": ("return 'the best one'", "which is not an action"),
    "plays what is illegal": ("return ('place', '2s', '2s', (5, 5))", "legal actions"),
    "ends its process": ("import os; os._exit(3)", "ended its process"),
}


def ladder(cases=CASES, deals=4):
    return Check("study8", "ladder", "match", {"deals": deals}, {"beaten": 6, "legal": 2}, False,
                 cases)


def module(tmp_path, text):
    path = tmp_path / "my_agent.py"
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def agent(body):
    return f"class MyAgent:\n    def choose(self, observation):\n        {body}\n"


def test_an_interval_above_one_half_takes_three_wins_of_four_games_in_sixteen():
    """The points that are needed are the fewest whose interval lies above one half."""
    assert [needed_points(games) for games in (4, 8, 16, 32)] == [4, 7, 12, 22]
    with pytest.raises(ValueError, match="at least 4"):
        needed_points(2)


def test_the_weaker_opponent_is_beaten_and_the_equal_one_is_not(tmp_path):
    """Greedy beats Random; against itself it does not, and the games and the interval are told."""
    replies = ask_module(module(tmp_path, GREEDY), ladder())
    assert replies.observations[0] == {"beaten": True, "legal": True}
    equal = replies.observations[1]
    assert (equal["beaten"], equal["legal"]) == (False, True)
    assert "games won (95 % interval of the rate" in equal["errors"]["beaten"]
    assert "7 of 8 are needed" in equal["errors"]["beaten"]


def test_the_sandbox_plays_the_same_games(tmp_path):
    """The student's own check and the grader's come to the same replies."""
    need_isolation()
    path = module(tmp_path, GREEDY)
    with Sandbox(Limits()) as sandbox:
        inside = sandbox.ask({path.name: path.read_bytes()}, path.name, ladder(), 60)
    assert inside == ask_module(path, ladder())


def test_a_stub_is_not_written_yet(tmp_path):
    """Three unanswered actions forfeit the first game, and no other is played."""
    check = ladder()
    outcome = mark(check, ask_module(module(tmp_path, STUB), check),
                   [{"beaten": True, "legal": True}] * 2, [])
    assert outcome.unwritten and outcome.earned == 0


@pytest.mark.parametrize("name", BAD)
def test_what_forfeits_is_told(tmp_path, name):
    """An agent that cannot play loses its rungs, and the first warning says why, inside as well."""
    body, sentence = BAD[name]
    path = module(tmp_path, agent(body))
    replies = ask_module(path, ladder())
    for observation in replies.observations:
        assert not observation["beaten"] and not observation["legal"]
        assert sentence in observation["errors"]["legal"]
    need_isolation()
    with Sandbox(Limits()) as sandbox:
        inside = sandbox.ask({path.name: path.read_bytes()}, path.name, ladder(), 60)
    assert [o["beaten"] or o["legal"] for o in inside.observations] == [False, False]
    assert sentence in inside.observations[0]["errors"]["legal"]


def test_a_module_that_is_not_there_answers_nothing(tmp_path):
    """A missing file is told as for every other check."""
    replies = ask_module(tmp_path / "my_agent.py", ladder())
    assert replies.broken == "my_agent.py is missing"
    assert replies.observations == (None, None)


def test_a_module_that_cannot_be_imported_is_told(tmp_path):
    """An error on import costs warnings with its sentence."""
    replies = ask_module(module(tmp_path, "import nothing_of_the_kind\n"), ladder())
    assert "nothing_of_the_kind" in replies.observations[0]["errors"]["legal"]


def test_time_ends_the_ladder(tmp_path):
    """When the agent has computed too long, a rung that is not decided has no reply, as is said."""
    replies = ask_module(module(tmp_path, GREEDY), ladder(), seconds=0.001)
    assert replies.stopped == "stopped after 0.001 s of computing time"
    assert replies.observations == (None, None)


def test_an_opponent_that_fails_is_nobodys_mark(tmp_path):
    """What goes wrong with an opponent is a fault of the machinery and raised as such."""
    answers = tmp_path / "answers"
    (answers / "study9").mkdir(parents=True)
    (answers / "study9" / "broken.py").write_text(agent("raise KeyError(observation)"), "utf-8")
    cases = [{"against": "a broken one", "seed": 1,
              "agent": "answers/study9/broken.py:MyAgent"}]
    with pytest.raises(RuntimeError, match="the opponent a broken one failed"):
        ask_module(module(tmp_path, GREEDY), ladder(cases), answers=answers)


SPY = '''
import gc
import sys

FOUND = []


class MyAgent:
    def choose(self, observation):
        names = sorted(name for name in sys.modules if name.startswith(("autograder", "answers")))
        states = [thing for thing in gc.get_objects() if type(thing).__name__ in ("State", "Spec")
                  and getattr(thing, "where", "") != __file__]
        if names or any(hasattr(thing, "deck") for thing in states):
            raise RuntimeError(f"seen: {names} {states}")
        try:
            import autograder
        except ImportError:
            return observation.legal_actions()[0]
        raise RuntimeError(f"the autograder can be imported: {autograder}")
'''


def test_an_agent_in_the_sandbox_sees_neither_states_nor_opponents(tmp_path):
    """Nothing of the game but observations is in the agent's process, and no code of the staff."""
    need_isolation()
    with Sandbox(Limits()) as sandbox:
        replies = sandbox.ask({"my_agent.py": SPY.encode()}, "my_agent.py",
                              ladder(CASES[:1], deals=2), 60)
    assert replies.observations[0]["legal"], replies
