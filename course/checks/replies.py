"""The replies to one check, and how they are read from the output of a process."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from common.messages import english
from course.checks import Observation

SECONDS = 10.0  # of computing for one check of the instructors' own modules
REPORT_SECONDS = 1.0  # seconds between two reports of the number of questions answered
MAX_ERROR_LENGTH = 500  # characters


@dataclass(frozen=True)
class Replies:
    """The replies to one check: one observation per case, or None for a case without a reply.

    `broken` states why the module could not be loaded, `stopped` why the process ended before all
    cases were answered; both are None otherwise. `seconds` is the wall time of the process,
    `computed` its computing time (0 if it is not measured, or too short). `match_notes` has a
    sentence about each match, if the check plays games.
    """

    observations: tuple[Observation | None, ...]
    broken: str | None = None
    stopped: str | None = None
    seconds: float = field(default=0.0, compare=False)
    match_notes: tuple[str, ...] = ()
    computed: float = field(default=0.0, compare=False)


def _is_observation(data: dict[str, Any]) -> bool:
    """Whether `data` has the form of our replies; the module could have written something else."""
    observation = data.get("observation")
    errors = observation.get("errors", {}) if isinstance(observation, dict) else None
    return isinstance(errors, dict) and all(isinstance(text, str) for text in errors.values())


def read_replies(lines: Iterable[Any], cases: int, stopped: str | None, seconds: float) -> Replies:
    """Read the replies from the parsed output lines of a process; all other lines are ignored."""
    observations: list[Observation | None] = [None] * cases
    for data in lines:
        if isinstance(data, dict) and "broken" in data:
            return Replies(tuple(observations), _one_line(data["broken"]), stopped, seconds)
        number = data.get("case") if isinstance(data, dict) else None
        if type(number) is int and number in range(cases) and _is_observation(data):
            observation = observations[number] = data["observation"]
            if "errors" in observation:
                observation["errors"] = {
                    name: _one_line(text) for name, text in observation["errors"].items()
                }
    if stopped is None and None in observations:
        stopped = english("the process ended before it replied")
    return Replies(tuple(observations), None, stopped, seconds)


def _one_line(text: object) -> str:
    """A message from a module, shortened and on one line."""
    return f"{' '.join(str(text).split()):.{MAX_ERROR_LENGTH}}"


def parse_line(line: str | bytes) -> Any:
    """The value of a line of JSON; None if the line is truncated or not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
