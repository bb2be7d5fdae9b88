"""Sequence, the second game: cards, hidden hands and chance.

The rules stand in `sequence.rules` (two rule sets, as data) and are played by `sequence.state`, on
the bitboards of `sequence.layout` and `sequence.chips` and the piles of `sequence.cards`. Agents
get an `Observation` and answer with an `Action` (`sequence.actions`); what they may conclude about
the cards they do not see is in `sequence.beliefs`. `sequence.play` plays games, `sequence.league`
many of them between agents in processes of their own; `sequence.replay` writes and reads games, and
`sequence.examples` has positions to think about. The given agents are `Random`, `Greedy` and
`ISMCTS`. `sequence.view` draws, `sequence.widget` is there to be clicked.

>>> from sequence import Greedy, Random, play
>>> print(play([Greedy(), Random()], seed=1))
side 0 wins, 2 to 0 sequences after 31 actions
"""

from sequence.actions import FORGO, PASS, Action, IllegalAction, LegalActions
from sequence.examples import example, sketch
from sequence.ismcts import ISMCTS
from sequence.layout import LINES, TABLE, card_at, cells_with
from sequence.observation import Observation
from sequence.play import Agent, Game, play
from sequence.players import Greedy, Random
from sequence.replay import ReplayError
from sequence.rules import DRAFT, OFFICIAL, Rules
from sequence.state import State

__all__ = [
    "DRAFT", "FORGO", "ISMCTS", "LINES", "OFFICIAL", "PASS", "TABLE", "Action", "Agent", "Game",
    "Greedy", "IllegalAction", "LegalActions", "Observation", "Random", "ReplayError", "Rules",
    "State", "card_at", "cells_with", "example", "play", "sketch",
]  # fmt: skip
