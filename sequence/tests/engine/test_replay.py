"""Tests of replays: committed games give the same states, and errors name the line."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from sequence import DRAFT, OFFICIAL, Greedy, Random, ReplayError, State, play
from sequence.engine import replay

REPLAYS = Path(__file__).parent / "replays"
GAMES = {
    "draft": (lambda: [Greedy(), Random()], DRAFT, 1),
    "draft_dead_cards": (lambda: [Random(), Random()], DRAFT, 27),
    "official_three_teams": (lambda: [Random()] * 3, OFFICIAL.for_players(3), 8),
}


@pytest.mark.parametrize("name", GAMES)
def test_golden(name):
    """The same agents still play each committed game, and reading it gives the same states."""
    agents, rules, seed = GAMES[name]
    game = play(agents(), seed, rules)
    text = (REPLAYS / f"{name}.txt").read_text()
    assert replay.write(game.states) == text
    assert replay.read(text) == game.states
    assert replay.read(text)[-1].history == game.final.history


def test_golden_games_show_the_rules():
    """The committed games contain trades, forgone trades, all jacks, a pass and a reshuffle."""
    text = "".join((REPLAYS / f"{name}.txt").read_text() for name in GAMES)
    assert all(word in text for word in ("trade", "forgo", "remove jh", "place jd", " pass"))
    assert replay.read((REPLAYS / "official_three_teams.txt").read_text())[-1].reshuffled


@pytest.mark.parametrize(
    "rules", [DRAFT, DRAFT.for_players(4), OFFICIAL, OFFICIAL.for_players(12)], ids=str
)
def test_there_and_back(rules):
    """Reading the replay of any game, even an unfinished one, gives the same states."""
    for seed in range(5):
        game = play([Random()] * rules.players, seed, rules)
        assert replay.read(replay.write(game.states)) == game.states
        assert replay.read(replay.write(game.states[:10])) == game.states[:10]
    assert replay.read(replay.write(game.states[:1])) == game.states[:1]


def test_remarks_and_empty_lines():
    """Empty lines and comments are allowed anywhere."""
    text = (REPLAYS / "draft.txt").read_text()
    assert replay.read(text.replace("\n", "  # a remark\n\n")) == replay.read(text)


BROKEN = {
    "line 1: ": ("sequence replay 1", "sequence replay 2"),
    "line 2: ": ("rules: draft, 2", "rules: draught, 2"),
    "line 2: draft is played by 2 or 4": ("2 players", "3 players"),
    "line 2: 2 players of draft play in 2": ("2 teams", "3 teams"),
    "line 3: there are two copies": ("deck: 9c", "deck: 8d"),
    "line 3: expected 'deck": ("deck:", "cards:"),
    "line 4: player 0 is to move": ("\n0 ", "\n1 "),
    "line 4: 'jump": ("\n0 place", "\n0 jump"),
    "line 4: 'place 8d at \N{ARABIC-INDIC DIGIT ONE},": (
        "\n0 place",
        "\n0 place 8d at \N{ARABIC-INDIC DIGIT ONE},1\n0 place",
    ),
    "line 4: illegal action": ("\n0 place", "\n0 remove"),
    "the actions lead to": ("side 0", "side 1"),
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_replays_name_the_line(message):
    """A text that is not a replay raises ReplayError with the number of the line."""
    old, new = BROKEN[message]
    text = (REPLAYS / "draft.txt").read_text()
    assert old in text
    with pytest.raises(ReplayError, match=r"^line \d+: ") as caught:
        replay.read(text.replace(old, new, 1))
    assert message in str(caught.value)


def test_too_short_and_too_long():
    """Errors report a text that ends early or continues after the result."""
    text = (REPLAYS / "draft.txt").read_text()
    lines = text.splitlines()
    for count in (0, 1, 2, 3, 10):
        with pytest.raises(ReplayError, match=rf"^line {count + 1}: the text ends before"):
            replay.read("\n".join(lines[:count]))
    with pytest.raises(ReplayError, match=rf"^line {len(lines) + 1}: nothing may follow"):
        replay.read(text + "0 pass\n")


def test_byte_order_mark():
    """The byte order mark that some editors write is ignored."""
    text = (REPLAYS / "draft.txt").read_text()
    assert replay.read("\ufeff" + text) == replay.read(text)


def test_actions_after_the_end():
    """An action after the last one is reported as coming after the end of the game."""
    text = (REPLAYS / "draft.txt").read_text()
    with pytest.raises(ReplayError, match=r"^line \d+: the game is over.*'0 pass'$"):
        replay.read(text.replace("result:", "0 pass\nresult:"))


def test_reshuffle_line():
    """Without a row, the seed of the reshuffle is required, and must be a number."""
    text = (REPLAYS / "official_three_teams.txt").read_text()
    with pytest.raises(ReplayError, match="line 4: the seed is a number"):
        replay.read(text.replace("reshuffle: ", "reshuffle: x"))
    with pytest.raises(ReplayError, match="line 4: the seed is a number"):
        replay.read(text.replace("reshuffle: ", "reshuffle: " + "9" * 5_000))
    with pytest.raises(ReplayError, match="line 4: the seed is a number"):
        replay.read(text.replace("reshuffle: ", "reshuffle: \N{ARABIC-INDIC DIGIT ONE}"))
    with pytest.raises(ReplayError, match="line 4: expected 'reshuffle"):
        replay.read(text.replace("reshuffle: ", "again: "))


def test_only_games_from_the_deal_are_written():
    """No replay can be written without states, or for a late start, chosen draws or unnamed rules."""
    state = State.deal(seed=1)
    action = random.Random(1).choice(state.legal_actions())
    with pytest.raises(ValueError, match="at least one state, the one just dealt"):
        replay.write([])
    with pytest.raises(ValueError, match="rule set of draft, official"):
        replay.write([State.deal(replace(DRAFT, heart=False), seed=1)])
    with pytest.raises(ValueError, match="just dealt"):
        replay.write([state.after(action)])
    with pytest.raises(ValueError, match="cannot show"):
        replay.write([state, state.after(action, draw=state.draw_pile[50])])
