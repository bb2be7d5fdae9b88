"""The messages between the league and an agent's process, which are plain values for JSON.

An observation is sent, and an action comes back. The agent is not trusted: nothing that it sends is
ever unpickled or evaluated, and anything that does not have exactly the form of an action is
rejected. The complete history is sent every time, so a restarted process is not at a disadvantage.
At the end of a game, an exchange takes 3 kB and 0.2 ms for both directions together.
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

MAX_LINE = 10_000  # bytes of an answer; a valid answer has fewer than a hundred
MAX_SENTENCE = 300  # characters
_FIELDS = tuple(field.name for field in fields(Observation))


class InvalidAction(ValueError):
    """An agent's answer does not have the form of an action; the message quotes its beginning."""


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
    """The observation from such a dictionary; it equals the one that was sent."""
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

    The cell's numbers may be of any integer type, including numpy's. Raises `InvalidAction`, also
    for a cell off the board.
    """
    try:
        kind, play, draft, coords = answer
        words = [kind, play, draft]
        cell = [operator.index(number) for number in coords]
    except Exception as error:  # any error that the answer's own methods raise
        raise InvalidAction(_invalid_action_text(answer)) from error
    if not (
        all(isinstance(word, str) for word in words)
        and len(cell) in (0, 2)
        and all(number in range(SIZE) for number in cell)
    ):
        raise InvalidAction(_invalid_action_text(answer))
    return [*(str(word) for word in words), cell]


def action_from_plain(plain: Any) -> Action:
    """The action that a process sent, which may be illegal. Raises `InvalidAction`."""
    if not isinstance(plain, list):
        raise InvalidAction(_invalid_action_text(plain))
    kind, play, draft, coords = action_to_plain(plain)
    return Action(kind, play, draft, tuple(coords))


def _invalid_action_text(answer: Any) -> str:
    try:
        excerpt = f"{answer!r:.80}"
    except Exception:  # the object's own __repr__ raises an error
        excerpt = f"something of type {type(answer).__name__}"
    return f"answered {excerpt}, which is not an action"


def clean(text: str) -> str:
    """Text from an agent, cleaned for use in a sentence: one short line without control codes.

    Memory addresses of objects are removed, because they differ between runs.
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    words = " ".join(printable.split())
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", words)[:MAX_SENTENCE]
