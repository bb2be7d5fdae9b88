"""Boards in JupyterLab for playing Sequence, watching games and stepping through them.

    from sequence.widget import play, replay, watch
    play(against=Greedy())

Other interactive pictures are in separate modules: `scores` (of all cells, with options for the
weights), `replies` (to an action), `hidden_hand` (of the opponent) and `rays` (of the board).

May import everything else in `sequence` except the league; nothing there imports this package.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sequence.board.actions import Action
from sequence.board.rules import DRAFT, Rules
from sequence.engine.observation import Observation
from sequence.engine.play import Agent, Game
from sequence.engine.play import play as play_game
from sequence.engine.state import State
from sequence.widget.game import Play
from sequence.widget.replay_steps import Replay

__all__ = ["Play", "Replay", "play", "replay", "watch"]


def play(
    against: Agent | Sequence[Agent] | None = None,
    seat: int = 0,
    seed: int = 0,
    rules: Rules = DRAFT,
    hint: Agent | None = None,
    values: Callable[[Observation], Mapping[Action, float]] | None = None,
) -> Play:
    """Show a board to play on against agents; end a notebook cell with it.

    `against` is one agent for all other seats, or one for each of them in the order of the seats;
    by default `Greedy`. You play in `seat`. `seed` determines the deal and the agents' seeds, as in
    `sequence.play`. `hint` is the agent that gives hints, by default `Greedy`. `values` is a
    function such as `Greedy().values`, which returns the value of each legal action in an
    observation; the values can be shown on the cells and cards.

    Raises ValueError for a seat that the rules do not have, an object that is not an agent, and a
    wrong number of agents.
    """
    return Play(against, seat, seed, rules, hint, values)


def replay(game: Game | str | Path | Sequence[State]) -> Replay:
    """Step through a game, given as a result of `sequence.play`, as a replay's text or file, or as
    states.

    Raises `ReplayError` for a text that is not a replay, OSError for a file that cannot be read,
    and ValueError if there are no states.
    """
    return Replay(game)


def watch(agents: Sequence[Agent], seed: int = 0, rules: Rules = DRAFT) -> Replay:
    """Watch agents play a game, as in `sequence.play`, at an adjustable speed with open hands."""
    board = Replay(play_game(agents, seed, rules))
    board.click("play")
    return board
