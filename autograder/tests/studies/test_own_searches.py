"""A notebook finds the searches that students wrote in earlier studies."""

import random
import shutil
from statistics import fmean

import pytest

from autograder.workspace import answer_path, load_answer
from course.checks import load_study
from course.checks.positions import read_position
from course.own_searches import RandomPlay, own_searches
from sequence import example
from sequence.agents.beliefs import sample

GAME = read_position("xox_o_x__")


def test_without_other_studies_there_is_random_play(tmp_path, monkeypatch):
    """Its value is the mean over all continuations."""
    monkeypatch.chdir(tmp_path)
    assert list(own_searches(GAME)) == ["random play"]


def test_modules_next_to_the_folder_are_used(tmp_path, monkeypatch):
    """The agent that is written is found; the stub of the other study is not."""
    for name in ("study1", "study2"):
        study = load_study(name)
        folder = tmp_path / study.folder.name
        folder.mkdir()
        source = answer_path(study) if name == "study1" else study.folder / study.module
        shutil.copy(source, folder / study.module)
    here = tmp_path / load_study("study7").folder.name
    here.mkdir()
    monkeypatch.chdir(here)
    found = own_searches(GAME)
    assert list(found) == ["random play", "Minimax"]
    assert found["Minimax"].search(GAME).move in GAME.legal_moves()


def test_random_play_on_a_sampled_state():
    """The value is the mean over all ends, for the player to move; only the root counts as a node."""
    game = load_answer("study7").TopK(sample(example("1/20"), random.Random(1)), 2, 2)
    ends = [
        child.after(reply)
        for child in map(game.after, game.legal_moves())
        for reply in child.legal_moves()
    ]
    found = RandomPlay().search(game)
    assert (found.move, found.nodes) == (None, 1)
    assert found.value == pytest.approx(fmean(end.utility(game.to_move) for end in ends))
