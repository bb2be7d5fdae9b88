"""The warm parent: imports what submissions use once, then forks a process for every job.

Run as `python -m inside.zygote UID CONTROL [DOOR]`. CONTROL is a socket to the trusted side. Each
message on it is a job `{"kind": ..., "light": ..., "limits": ..., "absent": [...]}` with the socket
on which the child talks; `absent` names public modules that the child must not find, nor data files
of the same name. What the job is about goes to the child alone: the parent never knows of it, as
every later child would inherit what it knows. The answers are `{"started": true}` with a pidfd, and
the bytes of an `End`, of which the parent keeps nothing either. At DOOR, a listening socket, others
ask for warm parents of their own, which are forked from this one; it then does no jobs itself.

A fork takes longer the more its parent has imported. So a warm parent is two processes: light
jobs, which need neither notebooks nor numpy, are passed on to a twin that has imported neither.
Where there is no door, the parent itself imports them for the first job that does.
"""

import ctypes
import errno
import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import tictactoe

from . import agents, isolate, questions
from .frames import End, receive, send

PUBLIC = Path(tictactoe.__file__).parents[1]  # the folder of the public packages
_libc = ctypes.CDLL(None, use_errno=True)
_end = End()  # of the job that runs, and zero again before the next one
LIGHT = {"questions": questions.answer, "agent": agents.serve}


def main() -> None:
    """Serve jobs, one at a time, until the trusted side is gone."""
    uid, *sockets = map(int, sys.argv[1:])
    control, *door = (socket.socket(fileno=descriptor) for descriptor in sockets)
    if select.select([control], [], [], 0)[0]:  # the trusted side ended before bwrap watched it
        return
    questions.warm_up()
    walls = isolate.Walls(uid)
    _settle()
    twin = _light_twin(walls, control, *door)
    if door:
        _jobs()
        control = _visitor(control, door[0], walls)
        twin = _twin_of_ones_own(twin, walls)
    if not twin.recv(1 << 16):
        sys.exit("the light twin has ended")
    _serve(control, walls, twin)


@cache
def _jobs() -> Mapping[str, Callable]:
    """All kinds of jobs, with all imported that they use."""
    from . import cells, tests

    cells.warm_up()
    _settle()
    return LIGHT | {"cells": cells.run, "tests": tests.run}


def _settle() -> None:
    """Keep a child's collector from touching, and thereby copying, all that is there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a child lives too briefly for frequent collections


def _serve(control: socket.socket, walls: isolate.Walls, twin: socket.socket | None = None) -> None:
    """Do the jobs that come at `control` until nobody is there; the twin, if any, does light ones."""
    control.sendmsg([b'{"ready": true}'])
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            return
        job = json.loads(message)
        if twin and job["light"]:
            if not _passed_on(message, descriptors[0], control, twin):
                return
            continue
        jobs = _jobs() if twin else LIGHT
        talk = socket.socket(fileno=descriptors[0])
        walls.prepare()
        pid = os.fork()
        if pid == 0:
            if twin:
                twin.close()
            _child(walls, control, talk, job, jobs[job["kind"]])
        talk.close()
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [b'{"started": true}'], [pidfd])
        if (
            control.fileno() in select.select([pidfd, control.fileno()], [], [])[0]
        ):  # the trusted side is gone
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return
        os.close(pidfd)
        _report_end(control, pid)


def _report_end(control: socket.socket, pid: int) -> None:
    """Wait for a job's end and report it, without a trace for the next job in this memory."""
    while _libc.wait4(pid, ctypes.byref(_end), 0, ctypes.byref(_end, End.user.offset)) < 0:
        if ctypes.get_errno() != errno.EINTR:
            raise ChildProcessError(ctypes.get_errno(), "a job's process is not there")
    control.send(_end)
    ctypes.memset(ctypes.byref(_end), 0, ctypes.sizeof(_end))


def _passed_on(message: bytes, talk: int, control: socket.socket, twin: socket.socket) -> bool:
    """Pass a job on to the twin, and its two answers back; whether both sides are still there."""
    socket.send_fds(twin, [message], [talk])
    os.close(talk)
    if control in select.select([twin, control], [], [])[0]:  # the twin notices and ends, too
        return False
    answer, descriptors, _, _ = socket.recv_fds(twin, 1 << 16, 1)
    if not answer:
        return False
    socket.send_fds(control, [answer], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    if control in select.select([twin, control], [], [])[0] or not twin.recv_into(_end):
        return False
    control.send(_end)
    ctypes.memset(ctypes.byref(_end), 0, ctypes.sizeof(_end))
    return True


def _light_twin(
    walls: isolate.Walls, control: socket.socket, *door: socket.socket
) -> socket.socket:
    """Fork a twin that does the light jobs; returns the socket to it.

    Where there is a door, it forks one of those for each who asks there.
    """
    ours, theirs = _pair()
    if os.fork():
        theirs.close()
        return ours
    for other in (ours, control, *door):
        other.close()
    _serve(_asked(theirs, walls) if door else theirs, walls)
    os._exit(0)


def _asked(asking: socket.socket, walls: isolate.Walls) -> socket.socket:
    """Fork a process for each who asks, with a user and a socket; returns there, with the socket.

    Ends this process when nobody is left who could ask.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are forked
    while True:
        message, descriptors, _, _ = socket.recv_fds(asking, 1 << 16, 1)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asking.close()
            walls.uid = json.loads(message)
            return socket.socket(fileno=descriptors[0])
        os.close(descriptors[0])


def _twin_of_ones_own(twins: socket.socket, walls: isolate.Walls) -> socket.socket:
    """Ask for a light twin; returns the socket to it."""
    ours, theirs = _pair()
    with theirs, twins:
        socket.send_fds(twins, [json.dumps(walls.uid).encode()], [theirs.fileno()])
    return ours


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


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


def _child(
    walls: isolate.Walls, control: socket.socket, talk: socket.socket, job: dict, do: Callable
) -> None:
    """Go behind the walls, do the job, and leave without running what was registered for exit."""
    try:
        control.close()
        try:
            request = walls.enter(
                talk,
                job["limits"],
                [
                    path
                    for name in job["absent"]
                    for path in PUBLIC.glob(f"{name.replace('.', '/')}.*")
                ],
            )
        except BaseException as error:
            send(talk, {"fault": f"{type(error).__name__}: {error}"})
            os._exit(1)
        if "numpy.random" in sys.modules:  # Python's own generator is seeded after each fork
            sys.modules["numpy.random"].seed()
        send(talk, {"ready": True})  # from here on, what goes wrong is the submission's doing
        do(request, lambda frame: send(talk, frame), lambda: receive(talk))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
