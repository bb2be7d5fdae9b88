"""Clicks on a board of Sequence, and what can be clicked."""

import xml.etree.ElementTree as ET

from sequence import PASS
from sequence.board.actions import FORGO, TRADE


def click(game, *moves):
    """Click on the board, as the page does."""
    for move in moves:
        game.board._handle_custom_msg({"move": move}, [])


def lit(game):
    """What can be clicked in the picture that is shown."""
    root = ET.fromstring(game.board.shown["svg"])
    return {element.get("data-move") for element in root.iter() if element.get("data-move")}


def buttons(game):
    """The moves of the buttons."""
    return [move for move, _ in game.board.shown["buttons"]]


def put(game, state):
    """Go on from a made-up position."""
    game._history.restart(state)
    game._answer()
    return game


def play_by_clicks(game, action, chosen=False):
    """Click an action together; the card may be chosen already."""
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
