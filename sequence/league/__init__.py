"""A league of Sequence agents: played with clocks and warnings, rated, drawn.

May import all else in `sequence` but the examples and the board that is clicked.

>>> from sequence.league import TrustedPlayer, league
>>> results = league(["Random", "Greedy"], deals=2, seed=1, transport=TrustedPlayer)
>>> [row.agent for row in results.rows]
['Greedy', 'Random']

`python -m sequence.league --help` explains the same on the command line. `play_game` plays one game
between two players, however they are reached; `sequence.league.players.specs` says how agents are
named.
"""

from sequence.league.game import (
    Fault,
    Gone,
    Illegal,
    Late,
    Limits,
    Played,
    Player,
    Raised,
    play_game,
)
from sequence.league.players.process import ProcessPlayer
from sequence.league.players.specs import LeagueError, Spec
from sequence.league.players.trusted import TrustedPlayer
from sequence.league.records.results import Results
from sequence.league.schedule import league

__all__ = [
    "Fault", "Gone", "Illegal", "Late", "LeagueError", "Limits", "Played", "Player",
    "ProcessPlayer", "Raised", "Results", "Spec", "TrustedPlayer", "league", "play_game",
]  # fmt: skip
