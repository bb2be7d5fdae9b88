"""A Jupyter server extension: Validate in a process of its own, and kernels with a clean start.

nbgrader's own handler validates in the server's thread, where an endless loop blocks the whole
server, and it sets `NBGRADER_EXECUTION` for the server, where a failure leaves it to every kernel
that is started later.
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

EXECUTING = ("NBGRADER_EXECUTION", "NBGRADER_VALIDATING")  # what nbgrader sets while it runs cells
MARK = "COURSE_VALIDATION"  # in the environment of everything that one Validate starts
AT_ONCE = 4  # Validates that run at the same time; more of them wait
MOST_SECONDS = 600  # for a whole Validate, on however busy a machine
WATCH = 0.1  # seconds between two looks at the process
STARTED = "course.validate"
Settings = Mapping[str, Mapping[str, Any]]


def _load_jupyter_server_extension(app: Any) -> None:
    """Take over the Validate button of this server."""
    handlers.ValidateAssignmentHandler.post = handlers.web.authenticated(_post)
    handlers.ValidateAssignmentHandler.on_connection_close = _on_connection_close
    start_clean(app.kernel_manager)


def start_clean(kernels: Any) -> None:
    """Let `kernels`, a manager of kernels, start each without nbgrader's variables."""
    start = kernels.start_kernel

    def start_kernel(*arguments: Any, env: Mapping[str, str] | None = None, **options: Any) -> Any:
        env = clean(os.environ if env is None else env)
        return start(*arguments, env=env, **options)

    kernels.start_kernel = start_kernel


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables that nbgrader sets while it runs cells."""
    return {name: value for name, value in environment.items() if name not in EXECUTING}


# ---- The handler's methods


async def _post(self: handlers.ValidateAssignmentHandler) -> None:
    """Validate a notebook; other requests are answered meanwhile."""
    path = self.get_argument("path", None) or (self.get_json_body() or {}).get("path", "")
    root = Path(self.root_dir).resolve()
    target = (root / path).resolve()
    if not target.is_relative_to(root):
        raise handlers.web.HTTPError(403, "Access denied: path outside allowed directory")
    self.gone = threading.Event()
    config = self.load_config()
    answer = await asyncio.get_running_loop().run_in_executor(
        _threads, validate, target, config, self.gone
    )
    if not self.gone.is_set():
        self.finish(json.dumps(answer))


def _on_connection_close(self: handlers.ValidateAssignmentHandler) -> None:
    """The tab was closed: nobody waits for the answer."""
    if gone := getattr(self, "gone", None):
        gone.set()


_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="validate")


# ---- The process


def validate(notebook: Path, config: Settings, gone: threading.Event) -> dict[str, Any]:
    """What `course.validate` answers about a notebook; returns early when `gone` is set.

    Nothing that was started for it is left when it returns.
    """
    settings = {name: config[name] for name in ("Validator", "Execute") if name in config}
    mark = uuid4().hex
    with tempfile.TemporaryDirectory(prefix="validate-") as temporary:
        result, log = Path(temporary, "result.json"), Path(temporary, "log")
        request = {"notebook": str(notebook), "config": settings, "result": str(result)}
        try:
            with log.open("wb") as written:
                ended = _run(json.dumps(request, default=str), mark, written, gone)
            if result.is_file():
                reply: dict[str, Any] = json.loads(result.read_text("utf-8"))
                return reply
            said = log.read_text("utf-8", "replace").strip().splitlines()
        finally:
            end_all(mark)
    why = (": " + said[-1]) if ended and said else ""
    return {
        "success": False,
        "value": (
            f"Validate ended before it had a result{why}. Restart JupyterLab and try again."
            if ended
            else f"Validate was stopped after {MOST_SECONDS / 60:g} minutes: run the cells of the "
            "notebook one by one to find out which of them takes so long."
        ),
    }


def _run(request: str, mark: str, log: Any, gone: threading.Event) -> bool:
    """Run one request; whether its process ended before the time was up."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", STARTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        text=True,
        encoding="utf-8",
        env=clean(os.environ) | {MARK: mark},
    )
    stdin = process.stdin
    assert stdin is not None, "it is a pipe"
    try:
        with contextlib.suppress(BrokenPipeError):  # its log says why
            stdin.write(request + "\n")
            stdin.flush()
        for _ in range(int(MOST_SECONDS / WATCH)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(WATCH)
                return True
            if gone.is_set():
                return False
        return False
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(BrokenPipeError):
            stdin.close()


def end_all(mark: str) -> None:
    """Kill every process whose environment has this mark, and what they start meanwhile."""
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
