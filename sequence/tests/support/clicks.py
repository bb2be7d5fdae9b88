"""Helpers for playing on a Sequence board by clicks, or from a made-up position."""

from sequence import PASS
from sequence.board.actions import FORGO, TRADE
from tictactoe.tests.support.boards import click


def put(game, state):
    """Continue from a made-up position."""
    game._history.restart(state)
    game._let_agents_play()
    return game


def play_by_clicks(game, action, chosen=False):
    """Click the parts of an action; the card may already be selected."""
    before = len(game.states)
    number = len(game.state.history)
    if action in (FORGO, PASS):
        click(game, "forgo" if action == FORGO else "pass")
    elif action.kind == TRADE:
        click(game, f"trade {action.play_card}")
    else:
        clicks = [] if chosen else [f"card {action.play_card}"]
        click(game, *clicks, "cell {},{}".format(*action.coords))
    if action.draft_card and len(game.states) == before:
        click(game, f"take {action.draft_card}")
    assert game.state.history[number] == action
