"""Runs the submission's agent in a game: the warm twin of `course.probes.ladder_agent`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from course.probes.ladder_agent import hide_given_players
from sequence.league.players.inside import answer
from sequence.league.players.specs import Spec

from .isolate import FOLDER


def serve(
    request: dict[str, Any], send: Callable[[dict], None], receive: Callable[[], dict]
) -> None:
    """Load the agent of the module that the request names, and answer until nothing more comes."""
    hide_given_players()
    agent = Spec("", str(FOLDER / Path(request["module"]).name), request["agent"])
    answer(agent, request["seed"], send, receive)
