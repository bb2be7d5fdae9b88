"""The ladder of study 10: games decide the marks, and only an agent's actions count."""

import random
import statistics
import textwrap
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import ClassVar

import pytest

import sequence.agents.fitted
import sequence.agents.greedy
import sequence.agents.ismcts
from autograder.course_folder import CourseFolder
from autograder.sandbox.client import Sandbox, SandboxPlayer
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.needs import need_isolation
from autograder.workspace import answers_folder, module_texts
from common.syntax import text_of
from course.checks import Check, load_study
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import mark
from course.checks.matches import builtin_players as looking
from course.checks.matches.builtin_players import MAX_CODE_LENGTH, Similarity, copied_player
from course.checks.matches.match import LIMITS, TOO_LONG, _redacted_warning, play_ladder
from course.checks.matches.win_rate_scoring import ERROR, MIN_DEALS, PRECISION, Rate
from course.checks.replies import Replies
from course.checks.running.process import query_module
from sequence import DRAFT, FittedLookAhead, Greedy, State, play
from sequence.league.game import play_game
from sequence.league.players.specs import Spec, parse
from sequence.league.players.trusted import InProcessPlayer

RUNG = {"agent": "Random", "rates": [0.1, 0.6]}
CASES = [
    {**RUNG, "against": "Random", "seed": 1},
    {**RUNG, "against": "Greedy", "agent": "Greedy", "seed": 2},
]
EXAMPLE = Path(__file__).parents[4].joinpath("docs", "my_agent.py").read_text("utf-8")
QUICK = """
import random

from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action


class MyAgent:
    def choose(self, observation):
        return best_action(sample(observation, random.Random(1)))
"""
STUB = """
class MyAgent:
    def choose(self, observation):
        raise NotImplementedError("MyAgent.choose: the action to play")
"""
BAD = {
    "raises": ("raise ZeroDivisionError('no')", "raised ZeroDivisionError: no"),
    "answers nonsense": ("return 'the best one'", "which is not an action"),
    "plays what is illegal": ("return ('place', '2s', '2s', (5, 5))", "legal actions"),
    "ends its process": ("import os; os._exit(3)", "ended its process"),
}


def ladder(cases=CASES, deals=2):
    return Check(
        "study10",
        "ladder",
        "match",
        {"deals": deals},
        {"strength": 6, "legal": 2},
        False,
        cases,
        seconds=3600,
    )


def module(tmp_path, text):
    path = tmp_path / "my_agent.py"
    path.write_text(textwrap.dedent(text), "utf-8")
    return path


def agent(body):
    return f"class MyAgent:\n    def choose(self, observation):\n        {body}\n"


def results(rate, rng):
    """Results of unlimited deals: the mean of two games, each won with this probability."""
    while True:
        yield (int(rng.random() < rate) + int(rng.random() < rate)) / 2


def seen(rate, deals, rng):
    """The estimate for an agent that wins at this rate."""
    found = Rate(0.1, 0.6, deals)
    for result in islice(results(rate, rng), deals):
        if found.is_known:
            break
        found.add(result)
    return found


def test_a_share_grows_with_the_rate_of_wins():
    """Without an early stop the share is linear between the two bounds."""
    found = Rate(0.1, 0.6, 4)
    for result in (0.5, 0.0, 0.5, 0.5):
        assert not found.is_known
        found.add(result)
    assert found.is_known and not found.is_clear
    assert found.share == pytest.approx((0.375 - 0.1) / 0.5)


@pytest.mark.parametrize(("result", "share"), [(1.0, 1.0), (0.0, 0.0)])
def test_what_is_clear_ends_early(result, share):
    """An agent that wins or loses every game is recognised long before all deals are played."""
    found = Rate(0.1, 0.6, 1000)
    while not found.is_known:
        found.add(result)
    assert found.share == share and found.deals < 100


@pytest.mark.parametrize("rate", [0.15, 0.35, 0.55])
def test_a_share_is_known_as_well_as_it_says(rate):
    """For any rate, agents of that strength nearly always get about the same share."""
    rng = random.Random(f"precision {rate}")
    found = [seen(rate, 240, rng) for _ in range(200)]
    assert statistics.pstdev(rung.share for rung in found) < 1.15 * PRECISION
    assert statistics.mean(rung.share for rung in found) == pytest.approx(
        (rate - 0.1) / 0.5, abs=0.015
    )
    assert min(rung.deals for rung in found) >= MIN_DEALS


def test_the_test_errs_as_seldom_as_it_says():
    """At the bound, only about `ERROR` of the agents are judged to be beyond it."""
    rng = random.Random("rates")
    for bound in (0.1, 0.6):
        wrong = sum(seen(bound, 200, rng).is_clear for _ in range(1000))
        assert wrong <= 25  # ten are expected on average; more than 25 occurs once in 30,000 runs
    assert ERROR == 0.01


@pytest.mark.parametrize(("floor", "ceiling", "deals"), [(0, 0.5, 9), (0.5, 0.5, 9), (0.2, 0.5, 0)])
def test_a_rung_that_cannot_be_measured_is_refused(floor, ceiling, deals):
    """Reversed bounds and a ladder without deals are mistakes in the table."""
    with pytest.raises(ValueError, match="a rung needs"):
        Rate(floor, ceiling, deals)


@pytest.mark.slow
def test_points_grow_with_the_games_that_are_won(tmp_path):
    """The example agent beats Random and loses to Greedy; the message has the games and the bounds."""
    check = ladder()
    path = module(tmp_path, EXAMPLE)
    replies = query_module(path, check)
    assert [o["strength"] for o in replies.observations] == [1.0, 0.0]
    assert all(o["legal"] for o in replies.observations)
    assert "points from 10% to 60%" in replies.match_notes[1]
    outcome = mark(check, replies, [{"strength": 1.0, "legal": True}] * 2, [])
    assert outcome.earned == 5
    for words in (as_text(outcome), as_html(outcome)):
        assert "Against Greedy: " in words and "ositions right" not in words
    assert query_module(path, check) == replies


class Onlooker(InProcessPlayer):
    """Records the cards that are dealt."""

    hands: ClassVar[list] = []

    def ask(self, observation, seconds):
        if not observation.history:
            self.hands.append(observation.hand)
        return super().ask(observation, seconds)


def hands(secret):
    """The hands of the first player in the first deals of a ladder."""
    Onlooker.hands.clear()
    play_ladder(ladder(CASES[:1], deals=4), lambda: Onlooker(parse("Random")), 3600, secret=secret)
    return tuple(Onlooker.hands)


def test_cards_come_from_the_secret_and_are_new_in_every_deal():
    """The same secret deals the same cards and another one different cards; the numbers in the
    table are public.
    """
    first = hands("one")
    assert len(set(first)) == len(first) >= 2
    assert hands("one") == first
    assert not set(hands("two")) & set(first)


WORD = "qqqq"
TELLTALES = {
    "message": f"raise ValueError('{WORD}')",
    "name": f"raise type('{WORD}', (Exception,), {{}})()",
    "stub": f"raise NotImplementedError('{WORD}')",
    "answer": f"return '{WORD}'",
    "action": f"return ('{WORD}', '', '', ())",
    "exit": f"raise SystemExit('{WORD}')",
    "group": f"raise ExceptionGroup('{WORD}', [ValueError('{WORD}')])",
    "lines": f"raise ValueError('(line 1 of {WORD}.py)\\n (line 2 of {WORD}.py)')",
    "assert": f"assert False, '{WORD}'",
    "key": f"return {{}}['{WORD}']",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TELLTALES)
def test_an_agent_discloses_no_secret_cards(tmp_path, name):
    """The output of an agent in a graded ladder, where it sees secret cards, is not shown; in the
    student's own ladder it is.
    """
    path = module(tmp_path, agent(TELLTALES[name]))
    for secret in ("", "secret"):
        replies = query_module(path, ladder(), secret=secret)
        outcome = mark(ladder(), replies, [{"strength": 1.0, "legal": True}] * 2, [])
        told = as_text(outcome) + as_html(outcome) + repr(outcome.to_json())
        assert (WORD in told) == (not secret)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "raised ZeroDivisionError: no (line 4 of my_agent.py)",
            "raised ZeroDivisionError (line 4 of my_agent.py)",
        ),
        ("raised ZeroDivisionError", "raised ZeroDivisionError"),
        (
            "raised Mine: no (line 4 of my_agent.py)",
            "raised a custom error (line 4 of my_agent.py)",
        ),
        ("raised ZeroDivisionError: no (line 9 of my_agent.py)", "raised ZeroDivisionError"),
        ("raised ZeroDivisionError: no (line 0 of my_agent.py)", "raised ZeroDivisionError"),
        ("raised ZeroDivisionError: no (line 999999 of my_agent.py)", "raised ZeroDivisionError"),
        ("ended its process", "ended its process"),
    ],
)
def test_what_is_shown_of_a_warning_is_enough_to_find_it(said, shown):
    """The message has the kind of a built-in error, and the line if it exists in the module."""
    assert _redacted_warning(said, 8) == shown


@pytest.mark.parametrize("line", [3, 700, 123_456])
def test_a_line_that_the_module_does_not_have_discloses_nothing(tmp_path, line):
    """The line number of code compiled by the agent could encode cards."""
    text = agent(f"exec(compile('\\n' * {line - 1} + '1 / 0', __file__, 'exec'))")
    replies = query_module(module(tmp_path, text), ladder(), secret="secret")
    said = replies.observations[0]["errors"]["legal"]
    assert said.startswith("raised ZeroDivisionError")
    assert (f"line {line} " in said) == (line <= len(text.splitlines()))


def test_a_share_earns_its_part():
    """Half of the way between the bounds earns half of the points."""
    seen = [{"strength": 0.5, "legal": True}, {"strength": 7, "legal": True}]
    check = ladder()
    outcome = mark(check, Replies(tuple(seen)), [{"strength": 1.0, "legal": True}] * 2, [])
    assert [aspect.earned for aspect in outcome.aspects] == [4.5, 2]


@pytest.mark.slow
def test_the_sandbox_plays_the_same_games(tmp_path):
    """The student's check and the grader's have the same replies."""
    need_isolation()
    path = module(tmp_path, EXAMPLE)
    with Sandbox(SandboxLimits()) as sandbox:
        inside = sandbox.run_check({path.name: path.read_bytes()}, path.name, ladder(), 3600)
    assert inside == query_module(path, ladder())


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "from sequence import ISMCTS\n\n\nclass MyAgent(ISMCTS):\n    pass\n",
        "from sequence.agents.ismcts import *\n\n\nclass MyAgent(ISMCTS):\n    pass\n",
        "import sequence\n\n\nclass MyAgent(sequence.Greedy):\n    pass\n",
        "from sequence.agents.greedy import Greedy\n\n\nclass MyAgent(Greedy):\n    pass\n",
        "from sequence import FittedLookAhead\n\n\nclass MyAgent(FittedLookAhead):\n    pass\n",
    ],
)
def test_given_players_cannot_be_imported(tmp_path, source):
    """An agent that returns or wraps a built-in player gets a message with the reason, also inside."""
    path = module(tmp_path, source)
    replies = query_module(path, ladder())
    assert "opponents in the ladder, not building blocks" in str(replies.observations[0]["errors"])
    assert all(o["strength"] == 0 and not o["legal"] for o in replies.observations)
    need_isolation()
    with Sandbox(SandboxLimits()) as sandbox:
        assert sandbox.run_check({path.name: source.encode()}, path.name, ladder(), 3600) == replies


def test_the_rest_of_the_game_is_there(tmp_path):
    """Everything except the built-in players can be imported, also with a star import."""
    body = """
    from sequence import *
    from sequence import Random
    from sequence.agents.beliefs import sample
    from sequence.agents.evaluation import best_action, chances, ranked


    class MyAgent:
        def choose(self, observation):
            return observation.legal_actions()[0]
    """
    replies = query_module(module(tmp_path, body), ladder(CASES[:1], deals=1))
    assert replies.observations[0]["legal"]


@pytest.mark.slow
def test_who_plays_as_a_given_player_earns_only_legal_play(tmp_path):
    """The fast player of simulated games would beat Random; its actions identify it."""
    replies = query_module(module(tmp_path, QUICK), ladder(deals=5))
    for observation in replies.observations:
        assert (observation["strength"], observation["legal"]) == (0, True)
        assert "plays like the quick player" in observation["errors"]["strength"]


BY_TURNS = """
import random

from sequence.agents.beliefs import sample
from sequence.agents.evaluation import best_action


class MyAgent:
    def choose(self, observation):
        if observation.deck_size % 2:
            return best_action(sample(observation, random.Random(1)))
        return Greedy().choose(observation)
"""


def similarity_of(agent: Spec, deals: int) -> Similarity:
    """The similarity of an agent's play after this many deals against Greedy, from both seats."""
    similarity = Similarity()
    for deal in range(deals):
        for seat in (0, 1):
            players = [InProcessPlayer(spec, timed=False) for spec in (agent, parse("Greedy"))]
            similarity.add(
                play_game(
                    players[::-1] if seat else players, State.deal(DRAFT, 7000 + deal), deal, LIMITS
                ),
                seat,
            )
    return similarity


def test_who_plays_as_given_players_by_turns_is_recognised(tmp_path):
    """Alternating between built-in players is no answer either."""
    path = module(tmp_path, "from sequence import Greedy\n" + BY_TURNS)
    similarity = similarity_of(parse(f"{path}:MyAgent"), 4)
    assert similarity.player == looking.SEVERAL_PLAYERS
    assert max(similarity.same[name] for name in looking.PLAYERS) < 0.9 * similarity.actions


ANSWERS = answers_folder(load_study("study10"))
HONEST = [
    f"{ANSWERS}/study10_league/my_agent.py:MyAgent",
    f"{Path(__file__).parents[4]}/docs/my_agent.py:MyAgent",
    *(
        f"{ANSWERS}/{folder}/{file}:{agent}"
        for folder, first, agent in (
            ("study6_evaluator", "evaluator.py", "Evaluator"),
            ("study7_lookahead", "lookahead.py", "LookAhead(cards='known')"),
            ("study8_sarsa", "sarsa.py", "SarsaAgent"),
        )
        for file in (first, "independent_solution.py")
    ),
    f"{ANSWERS}/study9_mcts/mcts.py:SequenceUCT",
    "Random",
    "sequence.agents.ismcts:ISMCTS(iterations=30)",
    "FittedLookAhead",
]


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.parametrize("text", HONEST, ids=lambda text: "-".join(Path(text).parts[-2:]))
def test_no_other_agent_is_taken_for_a_given_player(text):
    """The reference and the agents of all other studies resemble none in actions or code."""
    agent = parse(text)
    similarity = similarity_of(agent, 5)
    assert similarity.actions > looking.MIN_ACTIONS
    assert similarity.player is None
    assert max(similarity.same.values(), default=0) < 0.75 * similarity.actions
    if agent.is_file:
        assert copied_player([Path(agent.where).read_text("utf-8")]) is None


@pytest.mark.slow
def test_a_player_that_draws_samples_cannot_be_recognised_by_its_play():
    """FittedLookAhead with another seed plays the same action in about two thirds of its turns."""
    found = []
    for seed in range(4):
        states = play([FittedLookAhead(), Greedy()], seed).states
        for before, after in list(pairwise(states))[::2]:
            if len(before.legal_actions()) > 1:
                other = FittedLookAhead(seed=100 + seed).choose(before.observation())
                found.append(other == after.history[-1])
    assert len(found) > 50
    assert 0.5 < statistics.mean(found) < 0.8 < looking.SAME_ACTIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "name"),
    [
        (sequence.agents.ismcts, "ISMCTS"),
        (sequence.agents.greedy, "Greedy"),
        (sequence.agents.fitted, "FittedLookAhead"),
    ],
)
def test_copied_code_is_recognised(tmp_path, given, name):
    """Other names, numbers and comments do not hide a copy, nor does additional code."""
    text = Path(given.__file__).read_text("utf-8")
    for old, new in (("actions", "moves"), ("worth", "value"), ("0.15", "0.2"), (name, "MyAgent")):
        text = text.replace(old, new)
    assert copied_player(["x = 1", text]) == name
    path = module(
        tmp_path, Path(given.__file__).read_text("utf-8").replace(f"class {name}", "class MyAgent")
    )
    weights = Path(given.__file__).with_suffix(".toml")
    if weights.exists():
        path.with_suffix(".toml").write_bytes(weights.read_bytes())
    replies = query_module(path, ladder(deals=1))
    assert [(o["strength"], o["legal"]) for o in replies.observations] == [(0, True)] * 2
    assert f"the code of {name} is in this agent" in replies.match_notes[1]


def test_other_code_is_nobodys_copy():
    """The reference, the example agent and unreadable files are not taken for built-in players."""
    texts = [module_texts(load_study("study10"))["reference"], EXAMPLE, QUICK, "class (:", "\0"]
    assert copied_player(texts) is None


@pytest.mark.slow
def test_a_copy_is_recognised_in_every_encoding(tmp_path):
    """Byte order marks, Windows line ends and encodings do not hide a copy, inside as well."""
    text = (
        Path(sequence.agents.greedy.__file__)
        .read_text("utf-8")
        .replace("class Greedy", "class MyAgent")
        .replace("\n", "\r\n")
    )
    named = f"# coding: latin-1\r\nmöglich = 1\r\n{text}"
    need_isolation()
    with Sandbox(SandboxLimits()) as sandbox:
        for data in (b"\xef\xbb\xbf" + text.encode(), named.encode("latin-1")):
            path = tmp_path / "my_agent.py"
            path.write_bytes(data)
            for replies in (
                query_module(path, ladder(CASES[:1], deals=1)),
                sandbox.run_check({path.name: data}, path.name, ladder(CASES[:1], deals=1), 3600),
            ):
                assert [(o["strength"], o["legal"]) for o in replies.observations] == [(0, True)]
                assert "the code of Greedy is in this agent" in replies.match_notes[1]


@pytest.mark.parametrize(
    "data",
    [
        "x = 'é'".encode(),
        b"# coding: latin-1\nx = '\xe9'",
        b"\xef\xbb\xbfx = '\xc3\xa9'",
        b"# coding: cp1252\nx = '\xe9'",
    ],
)
def test_a_text_is_as_python_reads_it(data):
    """Byte order marks and declared encodings are respected; any bytes give some text."""
    assert text_of(data).endswith("x = 'é'")
    for name in (b"hex", b"rot13", b"utf-16", b"undefined", b"idna", b"no-such"):
        assert isinstance(text_of(b"# coding: " + name + b"\n\xff\0"), str)


def test_an_encoding_that_takes_hours_is_not_read():
    """A submission may declare any encoding without delaying the run."""
    data = b"# coding: PunyCode\nx-" + b"b" * 5_000_000
    assert text_of(data) == data.decode()


def test_a_long_table_costs_nothing(tmp_path):
    """A module without functions may have any length, and the agent's marks do not change."""
    path = module(tmp_path, EXAMPLE)
    alone = query_module(path, ladder(CASES[:1], deals=1))
    (tmp_path / "table.py").write_text(
        "TABLE = [\n" + "    0,\n" * MAX_CODE_LENGTH + "]\n", "utf-8"
    )
    beside = query_module(path, ladder(CASES[:1], deals=1))
    assert (beside.observations, beside.match_notes) == (alone.observations, alone.match_notes)


@pytest.mark.parametrize("place", ["before", "behind", "in pieces", "beside"])
def test_a_copy_cannot_hide_among_code(tmp_path, place):
    """Code that is too long to compare earns the points for legal play, wherever the length is."""
    text = (
        Path(sequence.agents.greedy.__file__)
        .read_text("utf-8")
        .replace("class Greedy", "class MyAgent")
    )
    assert 20 * len(text) < MAX_CODE_LENGTH
    padding = "# nothing\n" * (MAX_CODE_LENGTH // 10)
    text = {"before": padding + text, "behind": f"{text}\n{padding}"}.get(place, text)
    path = module(tmp_path, text)
    pieces = {"beside": 1, "in pieces": 20}.get(place, 0)
    for number in range(pieces):
        (tmp_path / f"more{number}.py").write_text(
            f"def f(): pass\n{padding[: len(padding) // pieces]}", "utf-8"
        )
    replies = query_module(path, ladder(CASES[:1], deals=1))
    assert [(o["strength"], o["legal"]) for o in replies.observations] == [(0, True)]
    assert replies.match_notes[1] == replies.observations[0]["errors"]["strength"] == TOO_LONG


@pytest.mark.parametrize(
    "source",
    [
        "-" * 100_000 + "1",
        "x" + ".x" * 90_000,
        "(" * 1_000,
        "not " * 40_000 + "x",
        "x = 1" + "+1" * 90_000,
    ],
    ids=["signs", "attributes", "brackets", "nots", "sums"],
)
def test_code_that_is_too_deep_is_nobodys_copy(source):
    """Whatever Python raises for an unsuitable module, the others are compared."""
    text = Path(sequence.agents.ismcts.__file__).read_text("utf-8")
    assert copied_player([source]) is None
    assert copied_player([source, text]) == "ISMCTS"


def test_functions_in_functions_are_looked_at_once(monkeypatch):
    """The work is linear in the size of the module, however deeply functions are nested."""
    depth, wide = 90, 10_000
    text = "".join(" " * n + "def f():\n" for n in range(depth)) + " " * depth + "a," * wide
    looked_at, children = [], looking.ast.iter_child_nodes

    def counted(node):
        for child in children(node):
            looked_at.append(child)
            yield child

    monkeypatch.setattr(looking.ast, "iter_child_nodes", counted)
    assert copied_player([text]) is None
    assert len(looked_at) < depth * wide / 5


def test_the_secret_of_a_course_is_made_once(tmp_path):
    """Every course draws its own secret and keeps it; only its owner may read the file."""
    first, second = (CourseFolder.create(tmp_path / name) for name in ("one", "two"))
    assert first.secret() == first.secret() != second.secret()
    assert len(first.secret()) == 64
    assert (tmp_path / "one" / "secret").stat().st_mode & 0o077 == 0


def test_a_stub_is_not_written_yet(tmp_path):
    """Three unanswered actions forfeit a game, and only the first deal is played."""
    check = ladder()
    outcome = mark(
        check,
        query_module(module(tmp_path, STUB), check),
        [{"strength": 1.0, "legal": True}] * 2,
        [],
    )
    assert outcome.not_implemented and outcome.earned == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_the_reason_for_forfeiting_is_reported(tmp_path, name):
    """An agent that cannot play loses its rungs, and the first warning gives the reason, inside as
    well.
    """
    body, sentence = BAD[name]
    path = module(tmp_path, agent(body))
    replies = query_module(path, ladder())
    for observation in replies.observations:
        assert not observation["strength"] and not observation["legal"]
        assert sentence in observation["errors"]["legal"]
    need_isolation()
    with Sandbox(SandboxLimits()) as sandbox:
        inside = sandbox.run_check({path.name: path.read_bytes()}, path.name, ladder(), 3600)
    assert [o["strength"] or o["legal"] for o in inside.observations] == [False, False]
    assert sentence in inside.observations[0]["errors"]["legal"]


@pytest.mark.slow
def test_who_thinks_on_inside_does_so_on_its_own_clock():
    """A thread that computes during the opponent's turn is charged to the next action."""
    need_isolation()
    source = (
        agent("return observation.legal_actions()[0]")
        + """
import threading
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
"""
    )
    with Sandbox(SandboxLimits()) as sandbox:
        player = SandboxPlayer(sandbox, {"my_agent.py": source.encode()}, "my_agent.py")
        try:
            player.begin(0, 600)
            seen = State.deal(seed=3).observation()
            player.ask(seen, 600)
            meter, end = player._job.meter, time.monotonic() + 300
            before = meter.seconds()
            while (opponents := meter.seconds() - before) < 3:
                assert time.monotonic() < end
                time.sleep(0.1)
            player.ask(seen, 600)
            assert player.spent > opponents - 0.1
        finally:
            player.end()


def test_a_module_that_is_not_there_answers_nothing(tmp_path):
    """A missing file is reported as for every other check."""
    replies = query_module(tmp_path / "my_agent.py", ladder())
    assert replies.broken == "my_agent.py is missing"
    assert replies.observations == (None, None)


def test_a_module_that_cannot_be_imported_is_reported(tmp_path):
    """An import error is reported as a warning with its message."""
    replies = query_module(module(tmp_path, "import nothing_of_the_kind\n"), ladder())
    assert "nothing_of_the_kind" in replies.observations[0]["errors"]["legal"]


def test_time_ends_the_ladder(tmp_path):
    """If the agent has used its time, a rung without a deal has no reply, and this is reported."""
    replies = query_module(module(tmp_path, EXAMPLE), ladder(), seconds=-1)
    assert replies.stopped == "stopped after -1 s of computing time"
    assert replies.observations == (None, None)


def test_an_opponent_that_fails_is_nobodys_mark(tmp_path):
    """An opponent's failure is raised as an internal error."""
    answers = tmp_path / "answers"
    (answers / "study99").mkdir(parents=True)
    (answers / "study99" / "broken.py").write_text(agent("raise KeyError(observation)"), "utf-8")
    cases = [
        {**RUNG, "against": "a broken one", "seed": 1, "agent": "studies/study99/broken.py:MyAgent"}
    ]
    with pytest.raises(RuntimeError, match="the opponent a broken one failed"):
        query_module(module(tmp_path, EXAMPLE), ladder(cases), answers=answers)


SPY = """
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
"""


def test_an_agent_in_the_sandbox_sees_neither_states_nor_opponents(tmp_path):
    """The agent's process contains only observations of the game, and no staff code."""
    need_isolation()
    with Sandbox(SandboxLimits()) as sandbox:
        replies = sandbox.run_check(
            {"my_agent.py": SPY.encode()}, "my_agent.py", ladder(CASES[:1], deals=1), 3600
        )
    assert replies.observations[0]["legal"], replies
