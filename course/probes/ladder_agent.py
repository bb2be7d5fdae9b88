"""The agent's process in the ladder: that of the league, but without the given players.

Run as `python -P -m course.probes.ladder_agent`, and then as `sequence.league.players.inside`.
"""

import sys
from types import ModuleType
from typing import NoReturn

import sequence.agents.ismcts
from sequence.league.players import inside
from sequence.league.players.process import ProcessPlayer

ABSENT = ("Greedy", "ISMCTS")  # from `sequence`, and where they are defined
WHY = ("the given players Greedy and ISMCTS are opponents in the ladder, not building blocks: "
       "write MyAgent without them")


class LadderPlayer(ProcessPlayer):
    """A player whose agent lives in such a process."""

    module = "course.probes.ladder_agent"


def main() -> None:
    """Hide the given players, then answer every line until the input ends."""
    hide_given_players()
    inside.main()


def hide_given_players() -> None:
    """Make every import of a given player fail, for good, with a sentence that says why."""
    players = sequence.agents.players
    sequence.agents.ismcts = ModuleType("sequence.agents.ismcts")
    sequence.agents.ismcts.__all__ = ABSENT  # so that `import *` asks for them, and fails
    sys.modules["sequence.agents.ismcts"] = sequence.agents.ismcts
    sequence.__all__ = [name for name in sequence.__all__ if name not in ABSENT]
    for module in (sequence, players):
        for name in ABSENT:
            vars(module).pop(name, None)
    for module in (sequence, players):
        module.__getattr__ = _absent_if_given
    sequence.agents.ismcts.__getattr__ = _absent


def _absent(name: str) -> NoReturn:
    """What a module of given players answers to a name that it does not have."""
    raise AttributeError(name) if name.startswith("__") else ImportError(WHY)


def _absent_if_given(name: str) -> NoReturn:
    """The same for a module that has other things too."""
    raise ImportError(WHY) if name in ABSENT else AttributeError(
        f"module 'sequence' has no attribute {name!r}")


if __name__ == "__main__":
    main()
