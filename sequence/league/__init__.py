"""A league of Sequence agents, with clocks and warnings, ratings and plots.

May import everything else in `sequence` except the examples and the widgets.

>>> from sequence.league import InProcessPlayer, league
>>> results = league(["Random", "Greedy"], deals=2, seed=1, transport=InProcessPlayer)
>>> [row.agent for row in results.rows]
['Greedy', 'Random']

`python -m sequence.league --help` explains the command line. `play_game` plays one game between two
players over any transport; `sequence.league.players.specs` explains how agents are named.
"""

from sequence.league.game import (
    AgentError,
    Fault,
    IllegalReply,
    Limits,
    PlayedGame,
    Player,
    PlayerExited,
    TimeLimitExceeded,
    play_game,
)
from sequence.league.players.process import ProcessPlayer
from sequence.league.players.specs import LeagueError, Spec
from sequence.league.players.trusted import InProcessPlayer
from sequence.league.records.results import Results
from sequence.league.schedule import league

__all__ = [
    "AgentError",
    "Fault",
    "IllegalReply",
    "InProcessPlayer",
    "LeagueError",
    "Limits",
    "PlayedGame",
    "Player",
    "PlayerExited",
    "ProcessPlayer",
    "Results",
    "Spec",
    "TimeLimitExceeded",
    "league",
    "play_game",
]
