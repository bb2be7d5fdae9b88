"""Tests of the league: its schedule, results and files, and resuming it."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from sequence import DRAFT, OFFICIAL, Greedy, Random, State
from sequence.engine import replay
from sequence.league import (
    InProcessPlayer,
    LeagueError,
    Limits,
    Results,
    league,
    play_game,
    progress,
)
from sequence.league.__main__ import main
from sequence.league.players.specs import spec, specs
from sequence.league.records.journal import Journal
from sequence.league.schedule import deal_seed, game_seed, pairings

BAD = Path(__file__).parent / "agents" / "bad.py"
TRUSTED = partial(league, seed=1, transport=InProcessPlayer)
TIMED = {"times.csv", "games.jsonl"}


def files(folder):
    """The contents of all files in a league's folder, except the times."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in TIMED
    }


def games(results):
    """The contents of a league's records, except the times."""
    return [
        (
            *record.key,
            record.winner,
            record.forfeit,
            record.sequences,
            record.actions,
            record.warnings,
        )
        for record in results.records
    ]


def test_schedule():
    """Every pair plays each deal from both seats, and all pairs play the same deals."""
    agents = specs(["Greedy", "Random", "third=Random"])
    found = [game.key for game in pairings(agents, 2)]
    assert len(found) == len(set(found)) == 2 * 3 * 2
    assert {(deal, *reversed(names)) for deal, names in found} == {
        (deal, *names) for deal, names in found
    }
    assert len({deal_seed(seed, deal) for seed in range(5) for deal in range(5)}) == 25


def test_names_of_replays():
    """Replays have unique names that are not too long, whatever the agents' names are."""
    agents = specs(
        [
            "li=Random",
            "li_wei=Random",
            "wei_chen=Random",
            "chen=Random",
            "a" * 300 + "=Random",
            "\N{CJK UNIFIED IDEOGRAPH-674E}" * 99 + "=Random",
        ]
    )
    games = [*pairings(agents, 2)]
    assert len({game.name for game in games}) == len(games)
    assert len({game_seed(1, game) for game in games}) == len(games)
    assert max(len(f"{game.name}.txt".encode()) for game in games) <= 255


def test_same_deals(tmp_path):
    """All replays of a deal begin with the same cards."""
    TRUSTED(["Greedy", "Random", "third=Random"], deals=2, out=tmp_path)
    decks = {}
    for path in (tmp_path / "replays").iterdir():
        start = replay.read(path.read_text())[0]
        decks.setdefault(path.name[:4], set()).add(start)
    assert {deal: len(starts) for deal, starts in decks.items()} == {"0001": 1, "0002": 1}


def test_results():
    """The table counts wins, ties and losses of each agent, and is displayed everywhere."""
    results = TRUSTED([Random, Greedy, partial(Random, seed=3)], deals=5)
    assert results.rows[0].agent == "Greedy"
    assert {row.agent for row in results.rows} == {"Greedy", "Random", "Random(seed=3)"}
    for row in results.rows:
        assert row.wins + row.ties + row.losses == 20
        assert row.low <= row.score <= row.high
        assert min(row.mean, row.p99, row.first) > 0
    assert sum(row.wins - row.losses for row in results.rows) == 0
    assert "Random(seed=3)" in str(results)
    assert results._repr_html_().count("<tr>") == 4
    assert repr(results) == "<Results of 30 games between Random, Greedy, Random(seed=3)>"
    assert json.loads(results.as_json())["table"][0]["agent"] == "Greedy"


def test_names_are_escaped():
    """Names with HTML or rich markup are displayed unchanged."""
    results = TRUSTED(["a[b]<i>=Random", "Greedy"], deals=1)
    assert "a[b]<i>" in str(results)
    assert "a[b]&lt;i&gt;" in results._repr_html_()


def test_pictures():
    """The heat map has a number for each pairing, and opposite numbers add up to 100."""
    results = TRUSTED(["Random", "Greedy", "second=Greedy"], deals=2)
    numbers = [text.get_text() for text in results.heat_map().axes[0].texts]
    assert len(numbers) == 6
    assert sum(map(int, numbers)) == 300
    labels = [label.get_text() for label in results.plot().axes[0].get_yticklabels()]
    assert labels == [row.agent for row in results.rows]
    assert results.plot()._repr_png_().startswith(b"\x89PNG")


def test_same_league_same_bytes(tmp_path):
    """The same league writes the same files again, even with two jobs; another seed does not."""
    agents = ["Random", "Greedy", f"{BAD}:Raises"]
    first = TRUSTED(agents, deals=2, seed=4, out=tmp_path / "a")
    second = TRUSTED(agents, deals=2, seed=4, out=tmp_path / "b", jobs=2)
    assert games(first) == games(second)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert {
        "table.csv",
        "results.json",
        "ratings.png",
        "ratings.svg",
        "pairings.png",
        "pairings.svg",
        "settings.json",
    } < set(files(tmp_path / "a"))
    assert games(TRUSTED(agents, deals=2, seed=5)) != games(first)


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
def test_processes_play_the_same_games():
    """Agents in processes, with one or two games at a time, play the same games as trusted agents."""
    agents = ["Random", "Greedy"]
    here = TRUSTED(agents, deals=1)
    assert games(league(agents, deals=1, seed=1, action=60)) == games(here)
    assert games(league(agents, deals=1, seed=1, jobs=2, action=60)) == games(here)


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
def test_a_bad_agent_costs_only_itself(tmp_path):
    """A bad agent loses all its games, and the others' games are the same as without it."""
    alone = TRUSTED(["Random", "Greedy"], deals=1)
    results = league(
        ["Random", "Greedy", f"{BAD}:Dies"], deals=1, seed=1, out=tmp_path, warnings=2, action=60
    )
    assert [game for game in games(results) if "Dies" not in game[1]] == games(alone)
    last = results.rows[-1]
    assert (last.agent, last.losses, last.forfeits, last.warnings) == ("Dies", 4, 4, 8)
    assert len(results.warnings) == 8
    assert "Dies ended its process (exit status 3)" in results.warnings[0]
    text = (tmp_path / "replays" / "0001+Dies+Random.txt").read_text()
    assert "# Dies has used up its warnings and forfeits the game\n" in text
    assert "unfinished" in text
    assert len(replay.read(text)) < 20


@pytest.mark.content(inputs=["common", "sequence", "tictactoe"])
@pytest.mark.slow
def test_all_bad_agents(tmp_path):
    """A league in which all agents are bad still ends."""
    names = ["Raises", "Nonsense", "Unprintable", "Passes", "Leaves", "Dies", "Hoards", "Spins"]
    results = league(
        [*(f"{BAD}:{name}" for name in names), "Random"],
        deals=1,
        seed=1,
        out=tmp_path,
        action=0.5,
        memory=300,
        jobs=2,
    )
    assert results.rows[0].agent == "Random"
    assert len(results.records) == 9 * 8
    assert len(list((tmp_path / "replays").iterdir())) == 9 * 8


@pytest.mark.parametrize("trusted", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_going_on_after_a_kill(trusted, tmp_path):
    """A league that was killed continues where it stopped, and ends with the same files."""
    agents = ["Random", "Greedy", "second=Greedy"]
    command = [
        *agents,
        "--deals",
        "12" if trusted else "2",
        "--seed",
        "2",
        "--action",
        "60",
        *(["--trusted"] if trusted else []),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "sequence.league", *command, "--out", str(tmp_path / "a")],
        stdout=subprocess.DEVNULL,
    )
    journal = tmp_path / "a" / "games.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = journal.read_bytes()
    assert not (tmp_path / "a" / "table.csv").exists()
    assert main([*command, "--out", str(tmp_path / "a")]) == 0
    assert journal.read_bytes().startswith(done[: done.rindex(b"\n") + 1])
    assert main([*command, "--out", str(tmp_path / "b")]) == 0
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_line_that_was_cut_off(tmp_path):
    """A game whose line is incomplete is played again; a finished league plays no games."""
    first = TRUSTED(["Random", "Greedy"], deals=2, out=tmp_path)
    journal = tmp_path / "games.jsonl"
    whole = journal.read_text()
    assert TRUSTED(["Random", "Greedy"], deals=2, out=tmp_path).records == first.records
    assert journal.read_text() == whole
    journal.write_text(whole[:-40])
    again = TRUSTED(["Random", "Greedy"], deals=2, out=tmp_path)
    assert games(again) == games(first)
    assert journal.read_text().startswith(whole[: whole.rindex("{")])
    assert len(journal.read_text().splitlines()) == 4


def test_a_folder_of_another_league(tmp_path):
    """Other settings, a changed agent file and a damaged journal are rejected."""
    file = tmp_path / "mine.py"
    file.write_text(BAD.read_text())
    agents, folder = ["Random", f"{file}:Counts"], tmp_path / "out"
    TRUSTED(agents, deals=2, out=folder)
    for changed in ({"deals": 1}, {"seed": 2}, {"warnings": 4}):
        with pytest.raises(LeagueError, match=r"another|other settings \((deals|seed|limits)\)"):
            TRUSTED(agents, **{"deals": 2, "out": folder} | changed)
    file.write_text(BAD.read_text() + "\n")
    with pytest.raises(LeagueError, match=r"other settings \(agents\)"):
        TRUSTED(agents, deals=2, out=folder)


def test_a_module_that_has_changed(tmp_path, monkeypatch):
    """When a league is resumed, the file of an agent that is given by its module is also compared."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "league_pack").mkdir()
    file = tmp_path / "league_pack" / "mine.py"
    file.write_text(BAD.read_text())
    agents = ["Random", "league_pack.mine:Counts"]
    TRUSTED(agents, deals=1, out=tmp_path / "out")
    file.write_text(BAD.read_text() + "\n")
    with pytest.raises(LeagueError, match=r"other settings \(agents\)"):
        TRUSTED(agents, deals=1, out=tmp_path / "out")


def test_more_deals(tmp_path):
    """A league with more deals continues one with fewer, and gives the same files."""
    TRUSTED(["Random", "Greedy"], deals=1, seed=3, out=tmp_path / "a")
    first = (tmp_path / "a" / "games.jsonl").read_bytes()
    TRUSTED(["Random", "Greedy"], deals=3, seed=3, out=tmp_path / "a")
    TRUSTED(["Random", "Greedy"], deals=3, seed=3, out=tmp_path / "b")
    assert (tmp_path / "a" / "games.jsonl").read_bytes().startswith(first)
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_seed_that_nobody_knows(tmp_path, capsys):
    """Without a seed, a new one is drawn and printed; the folder keeps it for resuming."""
    command = ["Random", "Greedy", "--trusted", "--deals", "1"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    seed = json.loads((tmp_path / "settings.json").read_text())["seed"]
    assert f"league: seed {seed}\n" in capsys.readouterr().err
    assert TRUSTED(["Random", "Greedy"], deals=2, seed=None, out=tmp_path).seed == seed
    others = {TRUSTED(["Random", "Greedy"], deals=1, seed=None).seed for _ in range(3)}
    assert len(others | {seed}) == 4
    assert max(others) > 2**100


GAME = {
    "deal": 1,
    "agents": ["Random", "Greedy"],
    "winner": 0,
    "forfeit": None,
    "sequences": [2, 0],
    "actions": 9,
    "warnings": [],
    "seconds": [[0.1], [0.1]],
}


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b"7",
        b"\xff\xfe",
        b'"\xe4"',
        *(
            json.dumps(GAME | wrong).encode()
            for wrong in (
                {"winner": 7},
                {"winner": "0"},
                {"winner": []},
                {"forfeit": 2},
                {"deal": "1"},
                {"agents": ["Random"]},
                {"sequences": 2},
                {"sequences": [1]},
                {"seconds": [["1"], []]},
                {"warnings": [[0, 1]]},
                {"warnings": [[2, 1, "late"]]},
                {"more": 1},
            )
        ),
    ],
)
def test_broken_journals(line, tmp_path):
    """The error names the line of the journal that is not a game."""
    (tmp_path / "settings.json").write_text('{"deals": 1, "seed": 1}')
    (tmp_path / "games.jsonl").write_bytes(json.dumps(GAME).encode() + b"\n" + line + b"\n")
    with pytest.raises(LeagueError, match=r"^line 2 of .* is not a game$"):
        Journal(tmp_path, {"deals": 1, "seed": 1})


@pytest.mark.parametrize("text", [b"[]", b"7", b"{", b"\xff", b"{}", b'{"deals": 1, "seed": "x"}'])
def test_broken_settings(text, tmp_path):
    """A file that does not contain a league's settings is reported."""
    (tmp_path / "settings.json").write_bytes(text)
    with pytest.raises(LeagueError, match=r"settings.json does not contain a league's settings$"):
        TRUSTED(["Random", "Greedy"], deals=1, out=tmp_path)


def test_folders_that_do_not_fit(tmp_path, monkeypatch):
    """Other games, games without settings and a full disk raise LeagueError."""
    TRUSTED(["Random", "Greedy"], deals=1, seed=1, out=tmp_path / "a")
    with (tmp_path / "a" / "games.jsonl").open("a") as file:
        file.write(json.dumps(GAME | {"agents": ["Random", "Somebody"]}) + "\n")
    with pytest.raises(LeagueError, match="contains games of another league"):
        TRUSTED(["Random", "Greedy"], deals=1, seed=1, out=tmp_path / "a")
    (tmp_path / "a" / "settings.json").unlink()
    with pytest.raises(LeagueError, match="cannot be a league's folder"):
        TRUSTED(["Random", "Greedy"], deals=1, seed=1, out=tmp_path / "a")
    for owner, name in ((Journal, "_write"), (Results, "write")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full_disk)
            with pytest.raises(LeagueError, match=r"cannot be written.*No space left"):
                TRUSTED(["Random", "Greedy"], deals=1, out=tmp_path / name)


def full_disk(*_args):
    """Writing raises the error of a full disk."""
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"deals": 2.5}, "deals must be a whole number from 1, not 2.5"),
        ({"deals": "3"}, "deals must be a whole number from 1, not '3'"),
        ({"jobs": None}, "jobs must be a whole number from 1, not None"),
        ({"seed": "x"}, "the seed must be a whole number from 0, not 'x'"),
        ({"rules": None}, "one of the rule sets draft, official, not with None"),
        ({"rules": replace(DRAFT, heart=False)}, "one of the rule sets"),
        ({"rules": DRAFT.for_players(4)}, "by two players"),
        ({"action": "1"}, "the limit action must be"),
        ({"agents": "Random"}, "agents must be a list"),
        ({"agents": 3}, "agents must be a list"),
        ({"agents": ["a\nb=Random", "Greedy"]}, "some of it is not printable"),
    ],
)
def test_wrong_arguments(arguments, sentence):
    """Invalid arguments are rejected with an explanation."""
    with pytest.raises(LeagueError, match=sentence):
        TRUSTED(**{"agents": ["Random", "Greedy"]} | arguments)


def test_transports_without_a_name():
    """A transport may be any callable."""
    results = league(["Random", "Greedy"], deals=1, transport=partial(InProcessPlayer))
    assert len(results.records) == 2


def test_agents_that_cannot_be_made(capsys):
    """An agent that cannot be loaded is reported before the first game."""
    TRUSTED(["Random", "ISMCTS(iterations=0)"], deals=1)
    assert re.fullmatch(
        r"warning: ISMCTS\(iterations=0\) could not be loaded: ValueError: iterations must "
        r"be a whole number from 1, not 0; it will forfeit its games\n"
        r"(league: this machine needs .*\n)?",
        capsys.readouterr().err,
    )


def test_progress_without_a_terminal(capsys, monkeypatch):
    """Without a terminal, lines report the progress: first soon, then less often."""
    clock = iter([0, 1, 2, 100, 109, 112])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.show_progress(900, 312) as advance:
        for _ in range(5):
            advance()
    assert capsys.readouterr().err == (
        "314 of 900 games, about 10 min left\n315 of 900 games, about 5 h left\n"
        "317 of 900 games, about 4 h left\nrating ...\n"
    )


def test_progress_in_a_notebook(capsys, monkeypatch):
    """In a notebook, the lines are normal output, not the red of standard error."""
    shell = SimpleNamespace(kernel=None)
    monkeypatch.setattr("builtins.get_ipython", lambda: shell, raising=False)
    progress.print_line("rating ...")
    assert capsys.readouterr() == ("rating ...\n", "")
    monkeypatch.setattr("builtins.get_ipython", lambda: None)
    progress.print_line("rating ...")  # IPython in a terminal is not a notebook
    assert capsys.readouterr() == ("", "rating ...\n")


def test_progress_on_a_terminal():
    """On a terminal, a bar counts the games."""
    text = io.StringIO()
    with progress.show_progress(3, 1, Console(file=text, force_terminal=True, width=60)) as advance:
        advance()
    assert "games" in text.getvalue()
    assert "2/3" in text.getvalue()


UNKNOWN = {
    "there is no module 'no'": ["Random", "no:Agent"],
    "sequence has no class State with a method choose": ["Random", "State"],
    "Random(sed=3) cannot be created: got an unexpected": ["Random", "sequence:Random(sed=3)"],
    "classes with a method choose (Raises, Nonsense, ": ["Random", str(BAD)],
}
WRONG = {
    "a league needs at least two agents": ["Random"],
    "two agents are called 'Random'": ["Random", "Random"],
    "there is no file 'no.py'": ["Random", "no.py"],
    "the limit action must be above 0": ["Random", "Greedy", "--action", "0"],
    "deals must be a whole number from 1, not 0": ["Random", "Greedy", "--deals", "0"],
    "the limit first must be above 0, at most 86,400": ["Random", "Greedy", "--first", "1e12"],
    "the limit memory must be": ["Random", "Greedy", "--memory", "99999999999999"],
    "does not end in .py": ["Random", str(BAD.parents[2] / "engine" / "replays" / "draft.txt")],
    "cannot be a league's folder": ["Random", "Greedy", "--out", str(BAD)],
}


@pytest.mark.parametrize(
    ("sentence", "options"),
    [
        *((sentence, ["--trusted"]) for sentence in [*UNKNOWN, *WRONG]),
        *((sentence, []) for sentence in UNKNOWN),
    ],
)
def test_wrong_commands(sentence, options, capsys):
    """Invalid commands are rejected with one sentence and exit status 2."""
    assert main([*(UNKNOWN | WRONG)[sentence], *options]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_agents_that_no_process_can_make():
    """Objects, classes of a notebook and arguments that are not plain values are rejected."""
    with pytest.raises(LeagueError, match="every game creates a new one"):
        league([Random(), Greedy])
    mine = type("Mine", (Random,), {"__module__": "__main__"})
    with pytest.raises(LeagueError, match="defined in a notebook or a script"):
        league([mine, Greedy])
    with pytest.raises(LeagueError, match="plain values"):
        league([partial(Random, seed=object), Greedy])
    assert TRUSTED([mine, Greedy], deals=1).agents == ("Mine", "Greedy")


def test_command(capsys, tmp_path):
    """The command prints the table, and the warnings on standard error."""
    assert (
        main(
            [
                "Random",
                "bad=" + f"{BAD}:Raises",
                "--trusted",
                "--deals",
                "1",
                "--rules",
                "official",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    shown = capsys.readouterr()
    assert "0-0-2" in shown.out
    assert shown.err.count("warning: deal 1") == 6
    assert main(["Random", "bad=" + f"{BAD}:Raises", "--trusted", "--deals", "2"]) == 0
    assert capsys.readouterr().err.endswith("league: and 2 more warnings, see results.json\n")
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    assert "my_agent.py" in capsys.readouterr().out


def test_games_have_two_sides():
    """A game with one or three sides, or with a missing player, is rejected."""
    players = [InProcessPlayer(spec(Random)) for _ in range(3)]
    with pytest.raises(ValueError, match="two sides"):
        play_game(players, State.deal())
    with pytest.raises(ValueError, match="two sides"):
        play_game(players, State.deal(OFFICIAL.for_players(3)))


def test_four_players():
    """`play_game` also plays games of pairs; a player with too many warnings loses for both."""
    agents = [spec(Random), spec(Random), spec(f"{BAD}:Raises"), spec(Random)]
    played = play_game(
        [InProcessPlayer(agent) for agent in agents],
        State.deal(DRAFT.for_players(4)),
        limits=Limits(warnings=2),
    )
    assert (played.forfeit, played.winner) == (2, 1)
