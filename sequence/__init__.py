"""Sequence, the second game: cards, hidden hands and chance.

`sequence.board.rules` holds the rules (two rule sets, as data), and `sequence.engine.state` applies
them, on the bitboards of `sequence.board.layout` and `sequence.board.chips` and the piles of
`sequence.board.cards`. Agents get an `Observation` and return an `Action`
(`sequence.board.actions`); `sequence.agents.beliefs` contains what they can conclude about hidden
cards. `sequence.play` plays one game, `sequence.compare` plays deals from both seats, and
`sequence.league` plays many games between agents in separate processes; `sequence.engine.replay`
writes and reads games, and `sequence.examples` has positions to think about. The kit's agents are
`Random`, `Greedy`, `ISMCTS` and `FittedLookAhead`. `sequence.pictures.view` draws positions;
`sequence.widget` has boards to click on. May import `tictactoe`.

>>> from sequence import Greedy, Random, play
>>> print(play([Greedy(), Random()], seed=1))
side 0 wins, 2 to 0 sequences after 31 actions
"""

from importlib import import_module
from typing import Any

from sequence.agents.players import Random
from sequence.board.actions import FORGO, PASS, Action, IllegalAction, LegalActions
from sequence.board.layout import LINES, TABLE, card_at, cells_with
from sequence.board.rules import DRAFT, OFFICIAL, Rules
from sequence.engine.compare import Comparison, compare
from sequence.engine.observation import Observation
from sequence.engine.play import Agent, Game, play
from sequence.engine.replay import ReplayError
from sequence.engine.state import State
from sequence.examples import example, sketch

__all__ = [
    "DRAFT",
    "FORGO",
    "ISMCTS",
    "LINES",
    "OFFICIAL",
    "PASS",
    "TABLE",
    "Action",
    "Agent",
    "Comparison",
    "FittedLookAhead",
    "Game",
    "Greedy",
    "IllegalAction",
    "LegalActions",
    "Observation",
    "Random",
    "ReplayError",
    "Rules",
    "State",
    "card_at",
    "cells_with",
    "compare",
    "example",
    "play",
    "sketch",
]
# These are imported on first use, so that processes that do not use them do not contain their code,
# to which graded agents must have no access.
LAZY_PLAYERS = {
    "FittedLookAhead": "sequence.agents.fitted",
    "Greedy": "sequence.agents.greedy",
    "ISMCTS": "sequence.agents.ismcts",
}


def __getattr__(name: str) -> Any:
    """Import one of the kit's players when it is first used."""
    if name not in LAZY_PLAYERS:
        raise AttributeError(f"module 'sequence' has no attribute {name!r}")
    globals()[name] = getattr(import_module(LAZY_PLAYERS[name]), name)
    return globals()[name]
