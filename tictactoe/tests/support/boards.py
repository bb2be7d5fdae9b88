"""Helpers for boards in a notebook: clicks, as sent by a page, and the displayed content."""

import xml.etree.ElementTree as ET


def click(game, *moves):
    """A function that clicks on the board as the page does."""
    for move in moves:
        game.board._handle_custom_msg({"move": move}, [])


def lit(game):
    """The clickable elements of the displayed picture."""
    root = ET.fromstring(game.board.content["svg"])
    return {element.get("data-move") for element in root.iter() if element.get("data-move")}


def buttons(game):
    """The moves of the buttons."""
    return [move for move, _ in game.board.content["buttons"]]


def status(game):
    """The line below the picture."""
    return game.board.content["status"]
