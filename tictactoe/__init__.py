"""Tic-tac-toe for students of adversarial search: states, players, games, and counting nodes.

Imports nothing else from this repository.

>>> from tictactoe import Board, Random, play
>>> print(play({"x": Random(1), "o": Random(2)}))
o wins (played out) after 8 moves: [2, 0, 6, 1, 3, 4, 7, 8]
"""

from tictactoe.contract import Agent, IllegalMove, InvalidBoard, Search, State
from tictactoe.games.board import EMPTY, LANES, Board, opponent
from tictactoe.games.connect_four import ConnectFour
from tictactoe.games.play import Game, Match, match, play
from tictactoe.games.players import Human, Random
from tictactoe.games.qubic import Qubic
from tictactoe.games.tactics import WinOrBlock, winning_cells
from tictactoe.nodes import NodeCounter, Trace, counted

__all__ = [
    "EMPTY",
    "LANES",
    "Agent",
    "Board",
    "ConnectFour",
    "Game",
    "Human",
    "IllegalMove",
    "InvalidBoard",
    "Match",
    "NodeCounter",
    "Qubic",
    "Random",
    "Search",
    "State",
    "Trace",
    "WinOrBlock",
    "counted",
    "match",
    "opponent",
    "play",
    "winning_cells",
]
