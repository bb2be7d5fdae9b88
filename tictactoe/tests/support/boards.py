"""Boards in a notebook: clicks on them, as a page sends them, and what they show."""

import xml.etree.ElementTree as ET


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


def status(game):
    """The line below the picture."""
    return game.board.shown["status"]
