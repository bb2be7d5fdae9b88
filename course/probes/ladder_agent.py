"""The agent's process in the ladder: that of the league, but without the given players.

Run as `python -P -m course.probes.ladder_agent`, and then as `sequence.league.players.inside`.
"""

import sys
from types import ModuleType
from typing import NoReturn

import sequence.agents
from sequence.league.players import inside
from sequence.league.players.process import ProcessPlayer

WHY = (
    f"is not available to a graded agent: the given players {', '.join(sequence.GIVEN)} are "
    "opponents in the ladder, not building blocks"
)


class LadderPlayer(ProcessPlayer):
    """A player whose agent lives in such a process."""

    module = "course.probes.ladder_agent"


def main() -> None:
    """Hide the given players, then answer every line until the input ends."""
    hide_given_players()
    inside.main()


def hide_given_players() -> None:
    """Make every import of a given player fail, for good, with a message that states the reason.

    In grading, their files are absent as well (`autograder.sandbox.client`).
    """
    for player, name in sequence.GIVEN.items():
        module = ModuleType(name)
        # With `__all__`, `import *` looks the player up, and fails.
        vars(module).update(__all__=[player], __getattr__=_absent)
        sys.modules[name] = module
        setattr(sequence.agents, name.rpartition(".")[2], module)
        vars(sequence).pop(player, None)
    sequence.__all__ = [name for name in sequence.__all__ if name not in sequence.GIVEN]


def _absent(name: str) -> NoReturn:
    """Fail to look up a name in a hidden module."""
    raise AttributeError(name) if name.startswith("__") else ImportError(f"{name} {WHY}")


if __name__ == "__main__":
    main()
