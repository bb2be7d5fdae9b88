"""Play Sequence against agents by clicking in JupyterLab, watch games, and step through them.

    from sequence.widget import play, replay, watch
    play(against=Greedy())

What else there is to explore has a module of its own: `scores` on all cells with their weights as
knobs, `replies` to an action, a `hidden_hand` that comes to light, `rays` that are read.

May import everything else in `sequence` but the league; nothing there imports this package.
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
from sequence.widget.steps import Replay

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

    `against` is one agent for all the other seats, or one for each of them in the order of the
    seats; by default `Greedy`. You sit in `seat`. `seed` deals the cards and seeds the agents as
    `sequence.play` does. `hint` is the agent that is asked for hints, by default `Greedy`.
    `values` says what the legal actions of an observation are worth, as `Greedy().values` does:
    they can be written on the cells and cards.

    Raises ValueError for a seat that the rules do not have, for something that is not an agent, and
    for a wrong number of agents.
    """
    return Play(against, seat, seed, rules, hint, values)


def replay(game: Game | str | Path | Sequence[State]) -> Replay:
    """Step through a game: what `sequence.play` returns, a replay's text or file, or the states.

    Raises `ReplayError` for a text that is not a replay, OSError for a file that cannot be read,
    and ValueError if there are no states.
    """
    return Replay(game)


def watch(agents: Sequence[Agent], seed: int = 0, rules: Rules = DRAFT) -> Replay:
    """Let agents play a game, as `sequence.play` does, and watch it at a pace, with all hands open."""
    shown = Replay(play_game(agents, seed, rules))
    shown.click("play")
    return shown
