"""Tests of the buttons of Sequence's board: redo, hints, values, resigning, seats, hidden cards."""

import json
import random
import re

import pytest

from sequence import Greedy, Random, State
from sequence.agents.beliefs import sample
from sequence.tests.support.clicks import play_by_clicks, put
from sequence.widget import play, replay, watch
from tictactoe.tests.support.boards import buttons, click, lit, status


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_is_shown_depends_on_hidden_cards(seed):
    """If the hidden cards are dealt again, the board, text, values and hint are unchanged."""
    chance = random.Random(seed)
    game = play(against=Random(), seed=seed, values=Greedy().values)
    for _ in range(chance.randrange(3, 9)):
        play_by_clicks(game, chance.choice(tuple(game.state.legal_actions())))
    pages = []
    for state in (game.state, sample(game.state.observation(0), chance)):
        other = put(play(against=Random(), seed=seed, values=Greedy().values), state)
        click(other, "values", "hint")
        pages.append((json.dumps(other.board.content), other._repr_mimebundle_()[0]["text/html"]))
    assert pages[0] == pages[1]
    assert game.state.hand(1) != state.hand(1)


def test_undo_and_redo():
    """Redo restores the same cards and the same answers of the agents."""
    game = play(against=Greedy(), seed=1)
    play_by_clicks(game, game.state.legal_actions()[0])
    play_by_clicks(game, game.state.legal_actions()[0])
    states = list(game.states)
    click(game, "undo", "undo", "redo", "redo")
    assert game.states == states
    click(game, "redo")
    assert status(game) == "There is nothing to redo."


def test_a_hint_is_of_the_own_cards():
    """A hint is the agent's choice for the person's hand, and is not played."""
    game = play(against=Random(1), seed=1)
    click(game, "hint")
    assert status(game).startswith("Hint: Greedy would place ")
    assert len(game.states) == 1
    with pytest.raises(ValueError, match="is not an agent"):
        play(hint=3)


def test_values_are_written_on_cells_and_on_the_row():
    """Each highlighted cell shows the best value of its actions; a selection restricts them."""
    game = play(seed=1, values=Greedy().values)
    click(game, "values")
    worth = game._selection.part_values(Greedy().values(game.state.observation()))
    assert {part for part in worth if part.startswith("cell")} == {
        move for move in lit(game) if move.startswith("cell")
    }
    assert game.board.content["svg"].count('class="value"') == len(worth)
    best = max(Greedy().values(game.state.observation()).values())
    assert max(worth.values()) == best
    click(game, "card 4d")
    assert game.board.content["svg"].count('class="value"') < len(worth)
    assert "values" not in buttons(play(seed=1))


def test_resigning_and_going_on():
    """After resigning, nothing is clickable, hands stay hidden, and only a new game can be started."""
    game = play(seed=1)
    click(game, "resign")
    assert (status(game), lit(game)) == ("You have resigned.", set())
    assert "Hand of player 1" not in game.board.content["alt"]
    off = game.board.content["off"]
    assert off == [name for name, _ in game.board.content["buttons"] if name != "new"]
    assert {"undo", "redo", "hint", "resign"} <= {*off}
    before = game.board.content
    click(game, *off)
    assert game.board.content == before
    click(game, "new")
    assert lit(game) and "off" not in game.board.content


@pytest.mark.parametrize("seed", range(3))
def test_a_hint_is_marked_on_the_board(seed):
    """The card, the cell and the card of the row have a star and "hint" until the hint is played."""
    game = play(against=Random(1), seed=seed)
    click(game, "hint")
    action = Greedy().choose(game.state.observation())
    parts = {
        f"card {action.play_card}",
        f"take {action.draft_card}",
        "cell {},{}".format(*action.coords),
    }
    svg = game.board.content["svg"]
    marked = re.findall(r'data-move="([^"]+)" data-label="[^"]*, hint"', svg)
    assert {*marked} == parts and svg.count('class="hint"') == len(marked)
    play_by_clicks(game, action)
    assert 'class="hint"' not in game.board.content["svg"]


def test_another_seat_has_another_deal():
    """Changing seats starts a new game, so hidden hands are never revealed."""
    game = play(against=Greedy(), seed=1)
    click(game, "seat")
    assert (game.seat, game.seed, list(game.agents)) == (1, 2, [0])
    assert game.states[0] == State.deal(seed=2)
    assert game.state.to_move == 1


def test_labels_begin_with_what_is_written():
    """Labels begin with the printed text such as "K♦", as voice control requires."""
    labels = play(seed=1)._legal_clicks()
    assert labels["card kd"] == "K♦, king of diamonds, in your hand"
    assert labels["cell 2,4"].startswith("4♦, 4 of diamonds: place")
    assert all(label[0] in "23456789KQJA1" for label in labels.values())


def test_a_game_is_watched():
    """Two agents can be watched, and the replay of any game can be played back automatically."""
    shown = watch([Greedy(), Random(1)], seed=2)
    while "auto" in shown.board.content:
        click(shown, shown.board.content["auto"][0])
    assert shown.step == shown.last
    again = replay(shown.states)
    assert "auto" not in again.board.content
    click(again, "play")
    assert again.board.content["auto"] == ("tick 0", 1000)
