"""Tests of agents in separate processes: faults cost only the agent itself, and only warnings."""

import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from common import clock
from sequence import DRAFT, OFFICIAL, Action, Greedy, Random, State, play
from sequence.engine import replay
from sequence.league import (
    AgentError,
    IllegalReply,
    InProcessPlayer,
    LeagueError,
    Limits,
    PlayerExited,
    ProcessPlayer,
    TimeLimitExceeded,
    play_game,
)
from sequence.league.players.specs import parse, spec
from sequence.league.protocol import (
    InvalidAction,
    action_from_plain,
    action_to_plain,
    clean,
    observation_from_plain,
    observation_to_plain,
)

BAD = Path(__file__).parent / "agents" / "bad.py"
LIMITS = Limits(first=60, action=60, memory=300)  # no agent is late on a busy machine
IMPATIENT = replace(LIMITS, action=0.5)
START = State.deal(seed=3)


def bad(name):
    """The bad agent with this name."""
    return parse(f"{BAD}:{name}")


def against_random(agent, start=START, limits=LIMITS, transport=ProcessPlayer):
    """A game of the agent, as player 0, against a random player in this process."""
    return play_game(
        [transport(agent, limits), InProcessPlayer(spec(Random), limits)],
        start,
        seed=5,
        limits=limits,
    )


FAULTS = {
    "Raises": r"raised ValueError: no idea \(line \d+ of bad.py\)",
    "Nonsense": "answered 3, which is not an action",
    "Unprintable": "answered something of type Unprintable, which is not an action",
    "Passes": r"played \('pass', '', '', \(\)\), which is not among the \d+ legal actions",
    "Elsewhere": r"answered Action\(kind='place', .*, which is not an action",
    "Endless": "answered something of type Action, which is not an action",
    "Deserts": r"raised Desertion \(line \d+ of bad.py\)",
    "Leaves": "raised SystemExit: enough",
}
DEADLY = {
    "Dies": r"ended its process \(exit status 3\)",
    "Signals": r"ended its process \(killed by signal \d+\)",
    "Hoards": "raised MemoryError",
    "Hangs": "did not answer within 1.5 s, nearly all of them spent waiting",
    "Spins": "did not answer within 0.5 s of computing time",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAULTS, *DEADLY])
def test_what_costs_a_warning(name, monkeypatch):
    """Each fault gives a warning with its own sentence, and the third warning forfeits the game.

    Faults that do not concern the process have the same cost for an agent in this process.
    """
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", -3.5)  # seconds of waiting
    played = against_random(bad(name), limits=IMPATIENT if name in ("Hangs", "Spins") else LIMITS)
    assert played.forfeit == 0
    assert played.winner == 1
    assert [warned.player for warned in played.warnings] == [0, 0, 0]
    for warned in played.warnings:
        assert re.match((FAULTS | DEADLY)[name], warned.sentence), warned.sentence
    assert not played.states[-1].is_terminal()
    assert replay.read(replay.write(played.states)) == played.states
    if name in FAULTS:
        here = against_random(bad(name), transport=InProcessPlayer)
        assert (here.warnings, here.states) == (played.warnings, played.states)


@pytest.mark.parametrize("name", ["Prints", "Peeks"])
def test_what_costs_nothing(name):
    """Printing does not disturb the answers, and the process does not contain the full state."""
    played = against_random(bad(name))
    assert played.warnings == ()
    assert played.states[-1].is_terminal()


def test_peeking_would_be_seen():
    """The search for the full state finds it in the league's own process, where it is."""
    played = against_random(bad("Peeks"), transport=InProcessPlayer)
    assert "I see it all" in played.warnings[0].sentence


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Keeps", "Floods"])
def test_what_ends_badly(name):
    """Memory that is not released and floods of answers cost warnings, and the game continues."""
    played = against_random(bad(name), limits=IMPATIENT)
    assert played.warnings
    assert {warned.player for warned in played.warnings} == {0}


def test_replaced_actions_are_legal_and_seeded():
    """With enough warnings, the game is played to its end; replacements depend on the seed."""
    limits = replace(LIMITS, warnings=1000)
    first, again = (against_random(bad("Raises"), limits=limits) for _ in range(2))
    assert first.states == again.states
    assert first.states[-1].is_terminal()
    assert len(first.warnings) == first.movers.count(0)


def test_agents_that_live_keep_their_memory():
    """After an illegal answer, the agent continues; after a lost process, it is a new one."""
    kept = against_random(bad("Counts(after=3)"))
    assert [warned.sentence for warned in kept.warnings] == ["answered 3, which is not an action"]
    player = ProcessPlayer(bad("Counts(after=1)"))
    for _ in range(2):
        player.begin(0, 60)
        with pytest.raises(IllegalReply, match="answered 1,"):
            player.ask(START.observation(), 60)
        player.end()
    player.end()


PONDERS = """
import subprocess, sys, threading
import sequence

def spin():
    while True: pass

class Ponders(sequence.Random):
    def __init__(self):
        super().__init__()
        if {inside}:
            threading.Thread(target=spin, daemon=True).start()
        else:
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("inside", [True, False], ids=["a thread", "a process"])
def test_who_thinks_on_does_so_on_its_own_clock(inside, tmp_path):
    """Computing while the opponent thinks counts towards the time of the next action."""
    (tmp_path / "ponders.py").write_text(PONDERS.format(inside=inside), "utf-8")
    player = ProcessPlayer(parse(str(tmp_path / "ponders.py")), LIMITS)
    try:
        player.begin(0, 600)
        process = psutil.Process(player._process.pid)
        player.ask(START.observation(), 600)

        def computed():
            family = [process, *process.children()]
            return sum(sum(member.cpu_times()[:2]) for member in family)

        before, end = computed(), time.monotonic() + 300
        while (opponents := computed() - before) < 3:
            assert time.monotonic() < end
            time.sleep(0.1)
        player.ask(START.observation(), 600)
        assert player.spent > opponents - 0.1  # both are rounded
        spent = player.spent
        with pytest.raises(TimeLimitExceeded):
            player.ask(START.observation(), 1e-6)
        assert player.spent < spent  # no time counts twice
    finally:
        player.end()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "raise OSError('no weights')",
            r"could not be loaded: OSError: no weights \(line 1 of my.py\)",
        ),
        ("import os; os._exit(1)", r"ended its process \(exit status 1\)"),
        ("import no_such_module", "could not be loaded: ModuleNotFoundError"),
        ("class A", "could not be loaded: SyntaxError"),
        ("while True: pass", "could not be loaded within 1 s"),
    ],
)
def test_loading(text, sentence, tmp_path):
    """Faults while an agent is loaded cost a warning, like those of an action."""
    file = tmp_path / "my.py"
    file.write_text(text)
    limits = replace(LIMITS, first=1 if "within" in sentence else 60, warnings=1)
    played = against_random(parse(f"{file}:A"), limits=limits)
    assert played.forfeit == 0
    assert re.match(sentence, played.warnings[0].sentence)


class Stuck(InProcessPlayer):
    """A player that is late with its second answer, and then with loading again."""

    begun = asked = 0

    def begin(self, seed, seconds):
        """Begin; only the first call succeeds."""
        self.begun += 1
        if self.begun > 1:
            raise TimeLimitExceeded
        super().begin(seed, seconds)

    def ask(self, observation, seconds):
        """Answer; only the first call succeeds."""
        self.asked += 1
        if self.asked > 1:
            raise TimeLimitExceeded
        return super().ask(observation, seconds)


def test_loading_again():
    """The warning about late reloading states the time limit for it."""
    played = play_game([Stuck(spec(Random)), InProcessPlayer(spec(Random))], START)
    assert [warned.sentence for warned in played.warnings] == [
        "did not answer within 1 s of computing time",
        *["could not be loaded again within 15 s of computing time"] * 2,
    ]


GLOBAL = """
import random
import numpy as np

class A:
    def choose(self, observation):
        return observation.legal_actions()[random.randrange(3) + np.random.randint(2)]
"""


@pytest.mark.parametrize("transport", [ProcessPlayer, InProcessPlayer])
def test_global_numbers_are_seeded(transport, tmp_path):
    """Agents that use the global generators of random and numpy repeat their games."""
    file = tmp_path / "mine.py"
    file.write_text(GLOBAL)
    seen = [State.deal(seed=seed).observation() for seed in range(10)]

    def answers(seed):
        player = transport(parse(str(file)), replace(LIMITS, memory=2048))
        player.begin(seed, 60)
        try:
            return [player.ask(observation, 60) for observation in seen]
        finally:
            player.end()

    assert answers(2**40 + 1) == answers(2**40 + 1) != answers(2)


def test_limits_that_the_machine_does_not_take():
    """If the limits of a process cannot be set, no agent is blamed."""
    limits = Limits()
    object.__setattr__(limits, "memory", 10**14)
    player = ProcessPlayer(spec(Random), limits)
    with pytest.raises(LeagueError, match="this machine cannot set the limits"):
        player.begin(0, 60)
    player.end()


@pytest.mark.parametrize(
    "limits",
    [
        {"action": float("inf")},
        {"action": float("nan")},
        {"first": 1e12},
        {"action": 0},
        {"action": "1"},
        {"memory": 99_999_999_999_999},
        {"warnings": 2.5},
        {"cpu": -1},
    ],
)
def test_wrong_limits(limits):
    """Limits are numbers above 0 that a clock and a process can enforce."""
    with pytest.raises(ValueError, match=f"the limit {next(iter(limits))} must be "):
        Limits(**limits)


@pytest.mark.slow
def test_exceptions_of_a_player(monkeypatch):
    """A process player distinguishes late, ended, failing and illegal answers."""
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 0.0)  # seconds of waiting
    seen = State.deal(seed=3).after(START.legal_actions()[0])
    seen = seen.after(seen.legal_actions()[0]).observation()
    for name, fault in {
        "Hangs": TimeLimitExceeded,
        "Dies": PlayerExited,
        "Raises": AgentError,
        "Nonsense": IllegalReply,
    }.items():
        player = ProcessPlayer(bad(name))
        player.begin(1, 60)
        with pytest.raises(fault):
            player.ask(seen, 0.3 if name == "Hangs" else 60)
        player.end()


def test_the_end_of_a_process(tmp_path):
    """An agent's children end with it, and it ends when the league closes its pipe."""
    file = tmp_path / "starter.py"
    file.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time;"
        "time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "class A:\n    def choose(self, seen): pass\n"
    )
    player = ProcessPlayer(parse(str(file)))
    player.begin(0, 60)
    player.end()
    assert ends(int((tmp_path / "pid").read_text()))
    orphan = ProcessPlayer(spec(Random))
    orphan.begin(0, 60)
    process = orphan._process
    orphan._requests.put(None)
    assert process.wait(60) == 0
    orphan.end()


def ends(pid):
    """Whether a process ends within a minute; a zombie counts as ended."""
    for _ in range(1200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    "rules", [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(9)], ids=str
)
def test_wire(rules):
    """Observations and actions are unchanged after being sent to a process and back."""
    for state in play([Greedy()] * rules.players, 1, rules).states[::7]:
        for player in range(rules.players):
            seen = state.observation(player)
            sent = json.loads(json.dumps(observation_to_plain(seen)))
            assert observation_from_plain(sent) == seen
            assert hash(observation_from_plain(sent)) == hash(seen)
        for action in state.legal_actions()[:20]:
            assert action_from_plain(json.loads(json.dumps(action_to_plain(action)))) == action


@pytest.mark.parametrize(
    "plain",
    [
        None,
        3,
        "place",
        {},
        [],
        ["place", "2s", "2d"],
        ["place", 2, "2d", [0, 1]],
        [1, 2, 3, 4],
        ["place", "2s", "2d", [0, 10]],
        ["place", "2s", "2d", [-1, 0]],
        ["place", "2s", "2d", [0]],
        ["place", "2s", "2d", [0, 1, 2]],
        ["place", "2s", "2d", ["0", "1"]],
        ["place", "2s", "2d", [0.0, 1.0]],
        ["place", "2s", "2d", None],
        [["place"], "2s", "2d", [0, 1]],
    ],
)
def test_no_actions(plain):
    """Replies that are not actions are reported as such."""
    with pytest.raises(InvalidAction, match="which is not an action"):
        action_from_plain(plain)


def test_answers_of_other_types():
    """An answer need not be an `Action`: a tuple with numpy's numbers is also accepted."""
    import numpy as np

    answer = ("place", np.str_("2s"), "2d", np.array([0, 1]))
    assert action_from_plain(action_to_plain(answer)) == Action("place", "2s", "2d", (0, 1))


def test_own_rules_are_not_sent():
    """Rules that are not a named rule set are rejected, not mistaken for other rules."""
    with pytest.raises(ValueError, match="only the rule sets draft, official"):
        observation_to_plain(State.deal(replace(DRAFT, heart=False)).observation())


def test_sentences_are_clean():
    """Agents' texts are shortened, without line breaks, control codes and addresses."""
    assert clean("a\x1b[31m\n b <X at 0x7f12345678>") == "a [31m b <X at 0x...>"
    assert len(clean("x" * 10_000)) == 300


SPECS = {
    "Greedy": ("Greedy", "sequence", "Greedy", ()),
    "sequence.agents.players:Random(seed=3)": (
        "Random(seed=3)",
        "sequence.agents.players",
        "Random",
        (("seed", 3),),
    ),
    f"{BAD}:Dies": ("Dies", str(BAD), "Dies", ()),
    f"me={BAD}:Counts(after=(1, 'a=b'))": ("me", str(BAD), "Counts", (("after", (1, "a=b")),)),
    f"{BAD}": ("bad", str(BAD), "", ()),
}


@pytest.mark.parametrize("text", SPECS)
def test_specs(text):
    """Specifications are read from texts, and reading the text of one gives an equal specification."""
    found = parse(text)
    assert (found.name, found.where, found.cls, found.options) == SPECS[text]
    again = parse(found.text)
    assert (again.where, again.cls, again.options) == SPECS[text][1:]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py", "there is no file 'nowhere.py'"),
        ("no-module:Class", "neither a module nor a file"),
        ("Random(seed=open)", "not of the form name=value"),
        ("Random(seed=)", "not of the form name=value"),
        ("Random(seed=1, seed=2)", "each name once"),
        ("Random(a=1, **{'seed': 2})", "not of the form name=value"),
        ("Random(a=1, *[2])", "not of the form name=value"),
        (
            f"{Path(__file__).parents[1] / 'engine' / 'replays' / 'draft.txt'}",
            "does not end in .py",
        ),
        ("", "names no agent"),
    ],
)
def test_wrong_texts(text, message):
    """A text that names no agent is rejected with a sentence, before anything is imported."""
    with pytest.raises(LeagueError, match=message):
        parse(text)


def test_folders_with_parentheses(tmp_path):
    """Parentheses in a folder's name are not taken for arguments."""
    folder = tmp_path / "copy (1)"
    folder.mkdir()
    (folder / "a.py").write_text("")
    assert parse(f"{folder}/a.py:A(b=1)").where == f"{folder}/a.py"
    assert parse(f"{folder}/a.py").where == f"{folder}/a.py"
