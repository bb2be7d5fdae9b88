"""The agent's process: loads one agent and answers for it, one JSON line for each line received.

Run as `python -P -m sequence.league.players.inside`. The first line names the agent, its seed and
its limits; every other one is an observation. Answers go to the descriptor that was standard
output; whatever the agent prints goes to standard error, so that it cannot be mistaken for an
answer, and its standard input is empty.
"""

import json
import math
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from sequence.league.players.specs import LeagueError, Spec, begun, parse
from sequence.league.wire import NoAction, action_to_plain, clean, observation_from_plain
from tictactoe.errors import describe

MEGABYTE = 1024 * 1024
Plain = dict[str, Any]  # what a line of JSON holds


def main() -> None:
    """Answer every line until the input ends."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    inbox: queue.SimpleQueue[Plain] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()

    def send(reply: Plain) -> None:
        print(json.dumps(reply), file=replies, flush=True)

    order = inbox.get()
    try:
        limit(order["memory"], order["cpu"])
    except (OSError, OverflowError, ValueError) as error:
        send({"limits": str(error)})
        return
    answer(parse(order["agent"]), order["seed"], send, inbox.get)


def answer(
    agent: Spec, seed: int, send: Callable[[Plain], None], receive: Callable[[], Plain]
) -> None:
    """Make the agent, and send its answer to every observation until no more come."""
    try:
        made = begun(agent, seed)
    except LeagueError as error:
        send({"unknown": str(error)})
        return
    except BaseException as error:
        send({"error": clean(describe(error))})
        return
    send({"ready": True})
    while True:
        observation = observation_from_plain(receive())
        try:
            reply: Plain = {"action": action_to_plain(made.choose(observation))}
        except NoAction as error:
            reply = {"nonsense": str(error)}
        except BaseException as error:  # sys.exit() too is only an error of this action
            reply = {"error": clean(describe(error))}
        send(reply)


def limit(memory: float, cpu: float) -> None:
    """Limit this process, for good: `memory` is MB of address space, `cpu` seconds of CPU time.

    Only Linux enforces both; elsewhere the clock of the league is the limit.
    """
    if sys.platform != "linux":
        return
    import resource

    for kind, wanted in (
        (resource.RLIMIT_AS, int(memory * MEGABYTE)),
        (resource.RLIMIT_CPU, math.ceil(cpu)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (most, most))


def _receive(requests: Iterable[bytes], inbox: queue.SimpleQueue[Plain]) -> None:
    """Take each request; exit at once when the league has ended, whatever the agent is doing."""
    for line in requests:
        inbox.put(json.loads(line))
    os._exit(0)


if __name__ == "__main__":
    main()
