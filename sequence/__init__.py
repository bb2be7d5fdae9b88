"""Sequence, the second game: cards, hidden hands and chance.

`sequence.board.rules` holds the rules (two rule sets, as data), and `sequence.engine.state` applies
them, on the bitboards of `sequence.board.layout` and `sequence.board.chips` and the piles of
`sequence.board.cards`. Agents get an `Observation` and answer with an `Action`
(`sequence.board.actions`); what they can conclude about the cards they do not see is in
`sequence.agents.beliefs`. `sequence.play` plays one game, `sequence.compare` the same deals from
both seats, `sequence.league` many games between agents in processes of their own;
`sequence.engine.replay` writes and reads games, and `sequence.examples` has positions to think
about. The given agents are `Random`, `Greedy`, `ISMCTS` and `FittedLookAhead`.
`sequence.pictures.view` draws positions; `sequence.widget` has boards to click on. May import
`tictactoe`.

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
    "DRAFT", "FORGO", "ISMCTS", "LINES", "OFFICIAL", "PASS", "TABLE", "Action", "Agent",
    "Comparison", "FittedLookAhead", "Game", "Greedy", "IllegalAction", "LegalActions",
    "Observation", "Random", "ReplayError", "Rules", "State", "card_at", "cells_with", "compare",
    "example", "play", "sketch",
]  # fmt: skip
# Imported when they are first used, so that a process that never uses them does not hold their
# code: graded agents run without them.
GIVEN = {
    "FittedLookAhead": "sequence.agents.fitted",
    "Greedy": "sequence.agents.greedy",
    "ISMCTS": "sequence.agents.ismcts",
}


def __getattr__(name: str) -> Any:
    """The given player of that name."""
    if name not in GIVEN:
        raise AttributeError(f"module 'sequence' has no attribute {name!r}")
    globals()[name] = getattr(import_module(GIVEN[name]), name)
    return globals()[name]
