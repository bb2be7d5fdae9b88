"""A Jupyter server extension that runs Validate in a separate process and cleans kernels'
environments.

nbgrader's own handler validates in the server's thread, where an endless loop blocks the server. It
also sets `NBGRADER_EXECUTION` in the server's environment, and, after a failure, all kernels that
are started later inherit it.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from nbgrader.server_extensions.validate_assignment import handlers

from common.clock import POLL_SECONDS

EXECUTING = ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING")  # what nbgrader sets while it runs cells
MARK = "COURSE_VALIDATION"  # an environment variable in all processes that one Validate starts
MAX_PARALLEL = 4  # maximum number of simultaneous runs; others wait
MAX_SECONDS = 600  # wall time of one run
MODULE = "course.lab.validate"
Settings = Mapping[str, Mapping[str, Any]]


def _load_jupyter_server_extension(app: Any) -> None:
    """Replace the handler of the Validate button."""
    handlers.ValidateAssignmentHandler.post = handlers.web.authenticated(_post)
    handlers.ValidateAssignmentHandler.on_connection_close = _on_connection_close
    clean_kernel_starts(app.kernel_manager)


def clean_kernel_starts(kernels: Any) -> None:
    """Make a kernel manager start each kernel without nbgrader's variables."""
    start = kernels.start_kernel

    def start_kernel(*arguments: Any, env: Mapping[str, str] | None = None, **options: Any) -> Any:
        env = clean_environment(os.environ if env is None else env)
        return start(*arguments, env=env, **options)

    kernels.start_kernel = start_kernel


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables that nbgrader sets while it runs cells."""
    return {name: value for name, value in environment.items() if name not in EXECUTING}


# ---- The handler's methods


async def _post(self: handlers.ValidateAssignmentHandler) -> None:
    """Validate a notebook without blocking other requests."""
    path = self.get_argument("path", None) or (self.get_json_body() or {}).get("path", "")
    root = Path(self.root_dir).resolve()
    target = (root / path).resolve()
    if not target.is_relative_to(root):
        raise handlers.web.HTTPError(403, "Access denied: path outside allowed directory")
    self.cancelled = threading.Event()
    config = self.load_config()
    answer = await asyncio.get_running_loop().run_in_executor(
        _executor, validate, target, config, self.cancelled
    )
    if not self.cancelled.is_set():
        self.finish(json.dumps(answer))


def _on_connection_close(self: handlers.ValidateAssignmentHandler) -> None:
    """Cancel the run: the tab was closed, so the reply is no longer needed."""
    if cancelled := getattr(self, "cancelled", None):
        cancelled.set()


_executor = ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="validate")


# ---- The process


def validate(notebook: Path, config: Settings, cancelled: threading.Event) -> dict[str, Any]:
    """The reply of `course.lab.validate` for a notebook; returns early when `cancelled` is set.

    When it returns, all processes that were started have ended.
    """
    settings = {name: config[name] for name in ("Validator", "Execute") if name in config}
    mark = uuid4().hex
    with tempfile.TemporaryDirectory(prefix="validate-") as temporary:
        result, log = Path(temporary, "result.json"), Path(temporary, "log")
        request = {"notebook": str(notebook), "config": settings, "result": str(result)}
        try:
            with log.open("wb") as written:
                ended = _run(json.dumps(request, default=str), mark, written, cancelled)
            if result.is_file():
                reply: dict[str, Any] = json.loads(result.read_text("utf-8"))
                return reply
            output = log.read_text("utf-8", "replace").strip().splitlines()
        finally:
            end_all(mark)
    reason = (": " + output[-1]) if ended and output else ""
    return {
        "success": False,
        "value": (
            f"Validate ended without a result{reason}. Restart JupyterLab and try again."
            if ended
            else f"Validate was stopped after {MAX_SECONDS / 60:g} minutes: run the notebook's "
            "cells one by one to find the one that takes too long."
        ),
    }


def _run(request: str, mark: str, log: Any, cancelled: threading.Event) -> bool:
    """Run one request; return whether its process ended before the time was up."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        text=True,
        encoding="utf-8",
        env=clean_environment(os.environ) | {MARK: mark},
    )
    stdin = process.stdin
    assert stdin is not None, "it is a pipe"
    try:
        with contextlib.suppress(BrokenPipeError):  # the log states the reason
            stdin.write(request + "\n")
            stdin.flush()
        for _ in range(int(MAX_SECONDS / POLL_SECONDS)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)
                return True
            if cancelled.is_set():
                return False
        return False
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(BrokenPipeError):
            stdin.close()


def end_all(mark: str) -> None:
    """Kill all processes that have this mark in their environment, until none are left."""
    while marked := [process for process in psutil.process_iter() if _is_marked(process, mark)]:
        for process in marked:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(marked, 1)


def _is_marked(process: psutil.Process, mark: str) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        return bool(
            process.environ().get(MARK) == mark
            and process.is_running()
            and process.status() != psutil.STATUS_ZOMBIE
        )
    return False
