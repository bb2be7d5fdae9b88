"""Tests of the built-in players: a random one, and a human whose keyboard input is scripted."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe import Agent, Board, Human, Random, play
from tictactoe.games.players import Resigned

BOARD = Board("x_o_x_o__")  # x to move, open cells 1, 3, 5, 7, 8


class Console:
    """Answers prompts from a list, and records all prompts and messages."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked, self.told = [], []

    def ask(self, question):
        """The next answer of the script."""
        self.asked.append(question)
        return self.answers.pop(0)

    def human(self):
        """A human player with this input and output."""
        return Human(self.ask, self.told.append)


@given(st.integers())
def test_the_same_seed_plays_the_same_game(seed):
    """Two random players with the same seed choose the same moves, and all are legal."""
    games = [play({"x": Random(seed), "o": Random(seed + 1)}) for _ in range(2)]
    assert games[0].moves == games[1].moves
    assert games[0].reason == "played out"


def test_reset_starts_again():
    """After `reset`, the moves are repeated."""
    player = Random(3)
    first = [player.choose(BOARD) for _ in range(20)]
    player.reset(3)
    assert [player.choose(BOARD) for _ in range(20)] == first
    player.reset(4)
    assert [player.choose(BOARD) for _ in range(20)] != first


def test_random_plays_every_legal_move_about_equally_often():
    """In 5,000 choices with a fixed seed, each of five cells is chosen 900 to 1,100 times."""
    player = Random(0)
    chosen = [player.choose(BOARD) for _ in range(5_000)]
    assert set(chosen) == set(BOARD.legal_moves())
    assert all(900 < chosen.count(move) < 1_100 for move in BOARD.legal_moves())


def test_a_human_sees_the_board_and_types_a_cell():
    """The board is shown, the prompt lists player and legal moves, and blanks are ignored."""
    console = Console(" 5 ")
    assert console.human().choose(BOARD) == 5
    assert console.told == [str(BOARD)]
    assert console.asked == ["x to move (1, 3, 5, 7, 8; q resigns): "]


def test_a_human_is_asked_until_the_move_is_legal():
    """A taken cell, a cell that does not exist and a word are quoted, and the prompt is repeated."""
    console = Console("0", "9", "middle", "", "7")
    assert console.human().choose(BOARD) == 7
    assert console.told[1:] == [
        f"{answer!r} is not a legal move." for answer in ("0", "9", "middle", "")
    ]
    assert len(console.asked) == 5


@pytest.mark.parametrize("answer", ["q", "Q", " q "])
def test_a_human_may_resign(answer):
    """The letter q, in either case, raises `Resigned` with the player who gave up."""
    with pytest.raises(Resigned, match="x resigned"):
        Console(answer).human().choose(BOARD)


def test_a_human_uses_the_keyboard_unless_told_otherwise(monkeypatch, capsys):
    """`Human()` uses `input` and `print`."""
    monkeypatch.setattr("sys.stdin", io.StringIO("3\n"))
    assert Human().choose(BOARD) == 3
    assert capsys.readouterr().out == f"{BOARD}\nx to move (1, 3, 5, 7, 8; q resigns): "


@pytest.mark.parametrize("player", [Random(), Human()])
def test_players_are_agents(player):
    """Both players satisfy the protocol `Agent`."""
    assert isinstance(player, Agent)
