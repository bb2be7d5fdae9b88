"""The replies to one check, and how they are read from what a process wrote."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from course.probes import Observation

SECONDS = 10.0  # of computing, for one check; the reference needs less than two
SILENT = 1.0  # seconds until it is told, for the first time and again, how many are answered
MAX_SAID = 500  # characters of one error


@dataclass(frozen=True)
class Replies:
    """The replies to one check: one observation per case, None where there was none.

    `broken` says why the module could not be loaded, `stopped` why the process ended before all
    cases were answered; both None if all went well. `seconds` is the wall time of the process,
    `computed` its computing time, 0 where that is not measured. `said` tells how each match went,
    where the check is games.
    """

    observations: tuple[Observation | None, ...]
    broken: str | None = None
    stopped: str | None = None
    seconds: float = field(default=0.0, compare=False)
    said: tuple[str, ...] = ()
    computed: float = field(default=0.0, compare=False)


def _is_observation(data: dict[str, Any]) -> bool:
    """Whether this is one of our own replies, and not something a module wrote in its place."""
    observation = data.get("observation")
    errors = observation.get("errors", {}) if isinstance(observation, dict) else None
    return isinstance(errors, dict) and all(isinstance(text, str) for text in errors.values())


def read_replies(lines: Iterable[Any], cases: int, stopped: str | None, seconds: float) -> Replies:
    """Read the replies from a process's lines; what does not fit the schema is not an answer."""
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
        stopped = "the process ended before it had answered"
    return Replies(tuple(observations), None, stopped, seconds)


def _one_line(text: object) -> str:
    """A message from a module, shortened and put on one line."""
    return f"{' '.join(str(text).split()):.{MAX_SAID}}"


def parsed(line: str | bytes) -> Any:
    """The value of a line of JSON; None if it is cut off, or not ours."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
