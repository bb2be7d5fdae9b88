"""The warm parent: imports what submissions use once, then forks a process for every job.

Run as `python -m inside.zygote UID CONTROL [DOOR]`. CONTROL is a socket to the trusted side. Each
message on it is a job `{"kind": ..., "limits": ...}` with the socket on which the child talks. The
answers are `{"started": true}` with a pidfd, and `{"ended": wait status, "cpu": seconds}`.
At DOOR, a listening socket, others ask for warm parents of their own, which are forked from this
one; it then does no jobs itself.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path

import tictactoe

from . import agents, cells, isolate, questions, tests
from .frames import receive, send

# Notebooks use the oracle, so that it is public; a module that is asked is to search by itself.
WITHOUT = [Path(tictactoe.__file__).with_name("solver.py")]
NOTEBOOKS = ("cells", "tests")
JOBS = {"cells": cells.run, "tests": tests.run, "questions": questions.answer,
        "agent": agents.serve}


def main() -> None:
    """Serve jobs, one at a time, until the trusted side is gone."""
    uid, *sockets = map(int, sys.argv[1:])
    control, *door = (socket.socket(fileno=descriptor) for descriptor in sockets)
    cells.warm_up()
    questions.warm_up()
    walls = isolate.Walls(uid)
    gc.collect()
    gc.freeze()  # so that a child's collector does not touch, and thereby copy, all of it
    gc.set_threshold(50_000, 20, 20)  # a child lives too briefly for frequent collections
    if door:
        control = _visitor(control, *door, walls)
    control.sendmsg([b'{"ready": true}'])
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            return
        job = json.loads(message)
        talk = socket.socket(fileno=descriptors[0])
        walls.prepare()
        pid = os.fork()
        if pid == 0:
            _child(walls, control, talk, job)
        talk.close()
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [b'{"started": true}'], [pidfd])
        if control in select.select([pidfd, control], [], [])[0]:  # the trusted side is gone
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return
        os.close(pidfd)
        _, status, usage = os.wait4(pid, 0)
        control.sendmsg([json.dumps(
            {"ended": status, "cpu": round(usage.ru_utime + usage.ru_stime, 3)}).encode()])


def _visitor(control: socket.socket, door: socket.socket, walls: isolate.Walls) -> socket.socket:
    """Fork a warm parent for each who comes to the door; returns there, with the socket to them.

    Ends this process when the trusted side is gone.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are forked
    while control not in select.select([control, door], [], [])[0]:
        visitor, _ = door.accept()
        walls.uid += 1
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            door.close()
            return visitor
        visitor.close()
    sys.exit()


def _child(walls: isolate.Walls, control: socket.socket, talk: socket.socket, job: dict) -> None:
    """Go behind the walls, do the job, and leave without running what was registered for exit."""
    try:
        control.close()
        try:
            request = walls.enter(talk, job["limits"], () if job["kind"] in NOTEBOOKS else WITHOUT)
        except BaseException as error:
            send(talk, {"fault": f"{type(error).__name__}: {error}"})
            os._exit(1)
        send(talk, {"ready": True})  # from here on, what goes wrong is the submission's doing
        JOBS[job["kind"]](request, lambda frame: send(talk, frame), lambda: receive(talk))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
