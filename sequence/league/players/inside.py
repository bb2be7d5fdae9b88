"""The agent's process, which loads one agent and sends one JSON line for each line received.

Run as `python -P -m sequence.league.players.inside`. The first line contains the agent, its seed
and its limits; every other line is an observation. Answers are written to the original standard
output. The agent's own output is redirected to standard error, so that it cannot be mistaken for an
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

from common.errors import describe
from sequence.league.players.specs import LeagueError, Spec, make_seeded, parse
from sequence.league.protocol import InvalidAction, action_to_plain, clean, observation_from_plain

MEGABYTE = 1024 * 1024
Plain = dict[str, Any]  # the content of a line of JSON


def main() -> None:
    """Answer each line of input until it ends."""
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
    """Create the agent, then send its answer to each observation until there are no more."""
    try:
        made = make_seeded(agent, seed)
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
        except InvalidAction as error:
            reply = {"nonsense": str(error)}
        except BaseException as error:  # even sys.exit() fails only this action
            reply = {"error": clean(describe(error))}
        send(reply)


def limit(memory: float, cpu: float) -> None:
    """Limit this process permanently: `memory` is MB of address space, `cpu` seconds of CPU time.

    Only Linux enforces both; elsewhere, the league's clock is the only limit.
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
    """Receive the requests; exit as soon as the league ends, even if the agent is busy."""
    for line in requests:
        inbox.put(json.loads(line))
    os._exit(0)


if __name__ == "__main__":
    main()
