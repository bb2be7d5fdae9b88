"""Runs the submission's agent in a game: the warm twin of `sequence.league.players.inside`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sequence.league.players.inside import answer
from sequence.league.players.specs import Spec

from .isolate import FOLDER


def serve(request: dict[str, Any], send: Callable[[dict], None],
          receive: Callable[[], dict]) -> None:
    """Load the agent of the module that the request names, and answer until nothing more comes."""
    agent = Spec("", str(FOLDER / Path(request["module"]).name), request["agent"])
    answer(agent, request["seed"], send, receive)
