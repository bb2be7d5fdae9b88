"""Runs the submission's agent in a game like `course.checks.matches.ladder_agent`, but in a fork."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from course.checks.matches.ladder_agent import hide_builtin_players
from sequence.league.players.inside import answer
from sequence.league.players.specs import Spec

from .isolate import FOLDER


def serve(
    request: dict[str, Any], send: Callable[[dict], None], receive: Callable[[], dict]
) -> None:
    """Load the agent of the requested module, and answer requests until the connection is closed."""
    hide_builtin_players()
    agent = Spec("", str(FOLDER / Path(request["module"]).name), request["agent"])
    answer(agent, request["seed"], send, receive)
