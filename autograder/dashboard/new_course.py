"""Opens another course folder in a separate JupyterLab, as `python3 run.py lab FOLDER` does.

This JupyterLab ends an hour after its last page has been closed.
"""

import os
import secrets
import socket
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

from autograder.errors import UserError
from common.command_lines import advice

START_SECONDS = 180  # seconds for JupyterLab to start, even on a busy machine
IDLE_SECONDS = 3600  # seconds without an open page after which JupyterLab ends
LOG = "jupyterlab.log"  # in the course folder


class Lab(NamedTuple):
    """A running JupyterLab: its port on this machine, the page to open, and its process."""

    port: int
    path: str
    process: subprocess.Popen


def start_lab(root: Path) -> Lab:
    """Start JupyterLab on a course folder, and wait until it responds.

    Raises `UserError` if JupyterLab does not respond, or if the browser is on another machine and
    cannot reach it. The message contains the command to enter instead.
    """
    instead = f"open the course with {advice('lab', str(root))}"
    if "JUPYTERHUB_USER" in os.environ:
        raise UserError(f"on a hub, {instead}")
    port, token = _free_port(), secrets.token_urlsafe(32)
    arguments = [
        sys.executable,
        "-P",
        "-m",
        "autograder.dashboard.overview",
        str(root),
        "--no-browser",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.shutdown_no_activity_timeout={IDLE_SECONDS}",
        f"--MappingKernelManager.cull_idle_timeout={IDLE_SECONDS}",
    ]
    if hasattr(os, "geteuid") and not os.geteuid():
        arguments.append("--allow-root")  # this notebook's server was started with it
    with (root / LOG).open("w") as log:
        process = subprocess.Popen(  # the list of processes does not show the token
            arguments,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"JUPYTER_TOKEN": token},
        )
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        if _answers(port, token):
            return Lab(port, f"lab?token={token}", process)
        time.sleep(0.2)
    process.terminate()
    raise UserError(f"JupyterLab did not start (see {root / LOG}); {instead}")


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
