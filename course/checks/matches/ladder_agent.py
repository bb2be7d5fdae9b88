"""The agent's process in the ladder: the league's agent process without the built-in players.

Run as `python -P -m course.checks.matches.ladder_agent`. Input and output are those of
`sequence.league.players.inside`.
"""

import sys
from types import ModuleType
from typing import NoReturn

import sequence.agents
from sequence.league.players import inside
from sequence.league.players.process import ProcessPlayer

EXPLANATION = (
    f"is not available to a graded agent: the built-in players {', '.join(sequence.LAZY_PLAYERS)} are "
    "opponents in the ladder, not building blocks"
)


class LadderPlayer(ProcessPlayer):
    """A player whose agent runs in a process of this module."""

    module = "course.checks.matches.ladder_agent"


def main() -> None:
    """Hide the built-in players, then answer each line of input until it ends."""
    hide_builtin_players()
    inside.main()


def hide_builtin_players() -> None:
    """Make every later import of a built-in player fail with a message that states the reason.

    In grading, their files are missing as well (`autograder.sandbox.client`).
    """
    for player, name in sequence.LAZY_PLAYERS.items():
        module = ModuleType(name)
        # `__all__` makes `import *` look up the players, which fails.
        vars(module).update(__all__=[player], __getattr__=_absent)
        sys.modules[name] = module
        setattr(sequence.agents, name.rpartition(".")[2], module)
        vars(sequence).pop(player, None)
    sequence.__all__ = [name for name in sequence.__all__ if name not in sequence.LAZY_PLAYERS]


def _absent(name: str) -> NoReturn:
    """Raise an error when a name is looked up in a hidden module."""
    raise AttributeError(name) if name.startswith("__") else ImportError(f"{name} {EXPLANATION}")


if __name__ == "__main__":
    main()
