"""Imports once everything that submissions use, then forks a process for every job.

Four kinds of processes take part. The more a process has imported, the longer a fork of it takes,
so all except the jobs exist twice: once with IPython and numpy, and once as a light process without
them.

    outside                  with IPython and numpy               light
    -------                  ----------------------               -----
    `launch.fork_server`     template  - requests light parent -> light template
                               | fork per client                    | fork per request
    `client.Sandbox` ------> parent  ------ forwards jobs ------> light parent
                               | fork per job                       | fork per job
    `client.Job` ----------> job: "cells" or "tests"              job: "questions" or "agent"

The templates exist only if there is a fork server. Otherwise the first process is itself the
parent of its only client, and imports IPython and numpy for the first job that needs them.

Run as `python -m inside.zygote UID CONTROL [LISTENER]`. CONTROL is a socket to the trusted side;
LISTENER is the listening socket of a fork server, and each client that connects to it gets its own
parent. A template runs no jobs itself.

Each message to a parent is a job `{"kind": ..., "light": ..., "limits": ..., "absent": [...]}` with
the socket through which the trusted side talks to the job's process; `absent` lists public modules
that this process must not find. It must not find data files of the same name either. The rest of
the request goes directly to the job's process, because every later job would inherit what the
parent knows. The parent replies with `{"started": true}` and a pidfd. When the job has ended, the
parent sends the bytes of an `End`, which it does not keep either.
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
_end = End()  # of the running job; reset to zero before the next one
LIGHT_JOBS = {"questions": questions.answer, "agent": agents.serve}


def main() -> None:
    """Run jobs, one at a time, until the trusted side has closed the connection."""
    uid, *sockets = map(int, sys.argv[1:])
    control, *listener = (socket.socket(fileno=descriptor) for descriptor in sockets)
    if select.select([control], [], [], 0)[0]:  # the trusted side ended before bwrap watched it
        return
    questions.warm_up()
    isolation = isolate.IsolationConfig(uid)
    _freeze_heap()
    light = _fork_light_process(isolation, control, *listener)
    if listener:
        _all_jobs()
        control = _fork_parents(control, listener[0], isolation)
        light = _request_light_parent(light, isolation)
    if not light.recv(1 << 16):
        sys.exit("the light parent has ended")
    _run_jobs(control, isolation, light)


@cache
def _all_jobs() -> Mapping[str, Callable]:
    """Import everything that jobs use; return the functions for all kinds of jobs."""
    from . import cells, external_tests

    cells.warm_up()
    _freeze_heap()
    return LIGHT_JOBS | {"cells": cells.run, "tests": external_tests.run}


def _freeze_heap() -> None:
    """Keep a child's garbage collector from touching, and thereby copying, all existing objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a child lives too briefly for frequent collections


# ---- parents


def _run_jobs(
    control: socket.socket,
    isolation: isolate.IsolationConfig,
    light: socket.socket | None = None,
) -> None:
    """Run the jobs that arrive at `control` until it is closed.

    Light jobs are forwarded to `light`, which is None if this process is itself the light parent.
    """
    control.sendmsg([b'{"ready": true}'])
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            return
        job = json.loads(message)
        if light and job["light"]:
            if not _forward(message, descriptors[0], control, light):
                return
            continue
        jobs = _all_jobs() if light else LIGHT_JOBS
        connection = socket.socket(fileno=descriptors[0])
        isolation.prepare()
        pid = os.fork()
        if pid == 0:
            if light:
                light.close()
            _run_job(isolation, control, connection, job, jobs[job["kind"]])
        connection.close()
        pidfd = os.pidfd_open(pid)
        socket.send_fds(control, [b'{"started": true}'], [pidfd])
        if control.fileno() in select.select([pidfd, control.fileno()], [], [])[0]:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)  # the trusted side has ended
            return
        os.close(pidfd)
        _report_end(control, pid)


def _report_end(control: socket.socket, pid: int) -> None:
    """Wait for a job's end and report it, leaving no trace in memory for the next job."""
    while _libc.wait4(pid, ctypes.byref(_end), 0, ctypes.byref(_end, End.user.offset)) < 0:
        if ctypes.get_errno() != errno.EINTR:
            raise ChildProcessError(ctypes.get_errno(), "the process of a job does not exist")
    control.send(_end)
    ctypes.memset(ctypes.byref(_end), 0, ctypes.sizeof(_end))


def _forward(message: bytes, connection: int, control: socket.socket, light: socket.socket) -> bool:
    """Forward a job to the light parent and its two replies back; return False if either side has
    ended.
    """
    socket.send_fds(light, [message], [connection])
    os.close(connection)
    if control in select.select([light, control], [], [])[0]:  # the light parent ends as well
        return False
    reply, descriptors, _, _ = socket.recv_fds(light, 1 << 16, 1)
    if not reply:
        return False
    socket.send_fds(control, [reply], descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    if control in select.select([light, control], [], [])[0] or not light.recv_into(_end):
        return False
    control.send(_end)
    ctypes.memset(ctypes.byref(_end), 0, ctypes.sizeof(_end))
    return True


# ---- light parents and templates


def _fork_light_process(
    isolation: isolate.IsolationConfig, control: socket.socket, *listener: socket.socket
) -> socket.socket:
    """Fork the light parent, or the light template if there is a fork server; return the socket to
    it.
    """
    ours, theirs = _socketpair()
    if os.fork():
        theirs.close()
        return ours
    for other in (ours, control, *listener):
        other.close()
    _run_jobs(_fork_light_parents(theirs, isolation) if listener else theirs, isolation)
    os._exit(0)


def _fork_light_parents(
    requests: socket.socket, isolation: isolate.IsolationConfig
) -> socket.socket:
    """Fork a light parent for each request, which contains a user id and a socket.

    The function returns in each forked process, with its socket. Ends the template when `requests`
    is closed.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the template does not wait for its children
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1 << 16, 1)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            isolation.uid = json.loads(message)
            return socket.socket(fileno=descriptors[0])
        os.close(descriptors[0])


def _request_light_parent(
    template: socket.socket, isolation: isolate.IsolationConfig
) -> socket.socket:
    """Request a light parent from the light template; return the socket to it."""
    ours, theirs = _socketpair()
    with theirs, template:
        socket.send_fds(template, [json.dumps(isolation.uid).encode()], [theirs.fileno()])
    return ours


def _socketpair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _fork_parents(
    control: socket.socket, listener: socket.socket, isolation: isolate.IsolationConfig
) -> socket.socket:
    """Fork a parent for each client that connects to `listener`.

    The function returns in each forked process, with the socket to the client. Ends the template
    when the trusted side has ended.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the template does not wait for its children
    while control not in select.select([control, listener], [], [])[0]:
        client, _ = listener.accept()
        isolation.uid += 1
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            listener.close()
            return client
        client.close()
    sys.exit()


# ---- jobs


def _run_job(
    isolation: isolate.IsolationConfig,
    control: socket.socket,
    connection: socket.socket,
    job: dict,
    run: Callable,
) -> None:
    """Isolate this process, run the job, and exit without running any exit handlers."""
    try:
        control.close()
        try:
            request = isolation.enter(
                connection,
                job["limits"],
                [
                    path
                    for name in job["absent"]
                    for path in PUBLIC.glob(f"{name.replace('.', '/')}.*")
                ],
            )
        except BaseException as error:
            send(connection, {"fault": f"{type(error).__name__}: {error}"})
            os._exit(1)
        if "numpy.random" in sys.modules:  # Python's own generator is seeded after each fork
            sys.modules["numpy.random"].seed()
        send(connection, {"ready": True})  # from here on, errors are attributed to the submission
        run(request, lambda frame: send(connection, frame), lambda: receive(connection))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
