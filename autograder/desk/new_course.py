"""Opens another course folder in a JupyterLab of its own, as `python3 run.py lab FOLDER` does.

It ends an hour after its last page has been closed.
"""

import os
import secrets
import shlex
import socket
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

from autograder.errors import Refused

PATIENCE = 180  # seconds for JupyterLab to start, on a busy machine too
IDLE = 3600  # seconds without an open page after which it ends
LOG = "jupyterlab.log"  # in the course folder


class Lab(NamedTuple):
    """A running JupyterLab: its port on this machine, the page to open, and its process."""

    port: int
    path: str
    process: subprocess.Popen


def start_lab(root: Path) -> Lab:
    """Start JupyterLab on a course folder, and wait until it answers.

    Raises `Refused`, with the command to type instead, if it does not, or if the browser is on
    another machine and cannot reach it.
    """
    instead = f"open the course with `python3 run.py lab {shlex.quote(str(root))}`"
    if "JUPYTERHUB_USER" in os.environ:
        raise Refused(f"on a hub, {instead}")
    port, token = _free_port(), secrets.token_urlsafe(32)
    arguments = [
        sys.executable,
        "-P",
        "-m",
        "autograder.desk.overview",
        str(root),
        "--no-browser",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.shutdown_no_activity_timeout={IDLE}",
        f"--MappingKernelManager.cull_idle_timeout={IDLE}",
    ]
    if hasattr(os, "geteuid") and not os.geteuid():
        arguments.append("--allow-root")  # as the server of this notebook was
    with (root / LOG).open("w") as log:
        process = subprocess.Popen(  # the token is not shown in the list of processes
            arguments,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"JUPYTER_TOKEN": token},
        )
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        if _answers(port, token):
            return Lab(port, f"lab?token={token}", process)
        time.sleep(0.2)
    process.terminate()
    raise Refused(f"JupyterLab did not start (see {root / LOG}); {instead}")


def _answers(port: int, token: str) -> bool:
    request = Request(
        f"http://127.0.0.1:{port}/api/status", headers={"Authorization": f"token {token}"}
    )
    try:
        with urlopen(request, timeout=5) as answer:
            return answer.status == HTTPStatus.OK
    except (URLError, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
