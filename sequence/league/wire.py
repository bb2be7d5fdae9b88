"""The messages between the league and an agent's process: plain values that JSON can hold.

An observation goes out, an action comes back. The agent is not trusted: nothing that it sends is
ever unpickled or evaluated, and what does not have exactly the form of an action is refused. The
whole history is sent every time, 3 kB and 0.2 ms for both ways at the end of a game; so a process
that was started again knows as much as any other.
"""

import operator
import re
from dataclasses import fields
from functools import cache
from typing import Any

from sequence.board.actions import Action
from sequence.board.layout import SIZE
from sequence.board.rules import RULE_SETS, Rules
from sequence.engine.observation import Observation

MAX_LINE = 10_000  # bytes of an answer; a true one has fewer than a hundred
MAX_SENTENCE = 300  # characters
_FIELDS = tuple(field.name for field in fields(Observation))


class NoAction(ValueError):
    """An agent's answer that does not have the form of an action; the message shows its start."""


def observation_to_plain(observation: Observation) -> dict[str, Any]:
    """The observation as a dictionary for JSON; `observation_from_plain` is the reverse.

    Raises ValueError for rules that are not those of a named rule set.
    """
    rules = observation.rules
    if not _is_named(rules):
        raise ValueError(f"only the rule sets {', '.join(RULE_SETS)} can be sent, not {rules!r}")
    return {field: getattr(observation, field) for field in _FIELDS} | {
        "rules": (rules.name, rules.players, rules.teams)
    }


def observation_from_plain(plain: dict[str, Any]) -> Observation:
    """The observation from such a dictionary, equal to the one that was sent."""
    history = tuple(
        [Action(kind, play, draft, tuple(coords)) for kind, play, draft, coords in plain["history"]]
    )
    return Observation(
        **plain
        | {
            "rules": _rules(*plain["rules"]),
            "sequences": tuple(plain["sequences"]),
            "chip_masks": tuple(plain["chip_masks"]),
            "history": history,
        }
    )


@cache
def _is_named(rules: Rules) -> bool:
    return rules.is_named


@cache
def _rules(name: str, players: int, teams: int) -> Rules:
    return RULE_SETS[name].for_players(players, teams)


def action_to_plain(answer: Any) -> list[Any]:
    """An agent's answer as kind, played card, drafted card and cell: three strings and two numbers.

    Whole numbers of any type will do for the cell, numpy's too. Raises `NoAction`, also for a cell
    off the board.
    """
    try:
        kind, play, draft, coords = answer
        words = [kind, play, draft]
        cell = [operator.index(number) for number in coords]
    except Exception as error:  # whatever the answer's own methods raise
        raise NoAction(_no_action(answer)) from error
    if not (
        all(isinstance(word, str) for word in words)
        and len(cell) in (0, 2)
        and all(number in range(SIZE) for number in cell)
    ):
        raise NoAction(_no_action(answer))
    return [*(str(word) for word in words), cell]


def action_from_plain(plain: Any) -> Action:
    """The action that a process sent, legal or not. Raises `NoAction`."""
    if not isinstance(plain, list):
        raise NoAction(_no_action(plain))
    kind, play, draft, coords = action_to_plain(plain)
    return Action(kind, play, draft, tuple(coords))


def _no_action(answer: Any) -> str:
    try:
        shown = f"{answer!r:.80}"
    except Exception:  # its own __repr__ is broken
        shown = f"something of type {type(answer).__name__}"
    return f"answered {shown}, which is not an action"


def clean(text: str) -> str:
    """A text from outside, made fit for a sentence: one line, not too long, no control codes.

    Addresses of objects are left out, as they differ from run to run.
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    words = " ".join(printable.split())
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", words)[:MAX_SENTENCE]
