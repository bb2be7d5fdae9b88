"""nbgrader's Validate with time limits: `python -m course.lab.validate` answers one request.

The request is a line of JSON on standard input: the notebook's path, nbgrader's settings and the
file for the result. The process ends when standard input is closed, so it never outlives the server
that started it.
"""

# ruff: noqa: E402 - one line must precede the import of nbformat

import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# This saves seconds, and nbformat does not need the module for notebooks.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # which Python allows

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.nbgraderformat import SchemaTooNewError, SchemaTooOldError
from nbgrader.validator import Validator
from traitlets import Any as AnyTrait
from traitlets.config import Config

from common.clock import POLL_SECONDS, CpuMeter, speed_factor
from course.checks import UnknownCheck, load_check
from course.lab.progress import CHECK_CALL

CELL_SECONDS = 10  # seconds of computing time, as in grading; each check adds its own limit
MAX_CELL_SECONDS = 60  # seconds of computing time, including the checks in the cell
NOTEBOOK_SECONDS = 120  # seconds of computing time, for all cells
WAITING_SECONDS = 30  # seconds without computing
STOPPED = "Stopped"  # the name of the error in the cell at which the kernel was stopped
NOT_RUN = "The cells below were not run."


class CellLimits(NamedTuple):
    """The limits of one cell: computing time, the notebook's remaining time, and waiting time."""

    cell: float
    notebook: float
    waiting: float


class Watch:
    """Monitors a kernel while it runs one cell, and kills it if the cell takes too long."""

    def __init__(self, pid: int, limits: CellLimits) -> None:
        self.problem: str | None = None  # why the kernel was killed
        self.spent = 0.0  # seconds of computing time
        self._meter, self._limits = CpuMeter(pid), limits
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Watch":
        """Start watching."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        self._meter.refresh()
        computed, queued = self._meter.seconds(), self._meter.queued_seconds()
        start, scale = time.monotonic(), speed_factor()
        while not self._ended.wait(POLL_SECONDS):
            self._meter.refresh()
            self.spent = self._meter.seconds() - computed
            passed = time.monotonic() - start - (self._meter.queued_seconds() - queued)
            self.problem = _problem(self.spent / scale, passed / scale, self._limits)
            if self.problem:
                self._kill()
                return

    def _kill(self) -> None:
        for process in reversed(self._meter.processes):
            with contextlib.suppress(Exception):  # it has ended, or belongs to another user
                process.kill()


def _problem(spent: float, passed: float, limits: CellLimits) -> str | None:
    """Why a cell that has computed for `spent` of `passed` seconds must be stopped, or None."""
    if spent > limits.cell:
        return (
            f"This cell ran too long: Validate stopped it after {limits.cell:g} seconds of "
            "computing time. Does it contain a loop or a recursion that never ends?"
        )
    if spent > limits.notebook:
        return (
            f"Validate stopped at this cell, because the notebook had used {NOTEBOOK_SECONDS} "
            "seconds of computing time."
        )
    if passed - spent > limits.waiting:
        return (
            f"This cell ran too long: Validate stopped it after it had waited for "
            f"{limits.waiting:g} seconds without computing."
        )
    return None


def seconds_of(source: str) -> float:
    """The limit of a cell's computing time: the normal limit, plus that of each check in the cell."""
    allowed = float(CELL_SECONDS)
    for _, name in CHECK_CALL.findall(source):
        with contextlib.suppress(UnknownCheck):  # the cell itself reports it
            allowed += load_check(name).time_limit
    return min(allowed, MAX_CELL_SECONDS)


class Execute(preprocessors.Execute):
    """nbgrader's `Execute`, which also stops at the first cell that takes too long or whose kernel
    dies. The cells below it have no output."""

    stopped = AnyTrait(None, help="The error that was added to a cell when the run was stopped.")
    spent = AnyTrait(0.0, help="Seconds of computing time of the cells so far.")

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, unless the run was stopped at an earlier one."""
        if self.stopped:
            return cell, resources
        limits = CellLimits(seconds_of(cell.source), NOTEBOOK_SECONDS - self.spent, WAITING_SECONDS)
        with Watch(self.km.provisioner.pid, limits) as watch:
            try:
                result: tuple[NotebookNode, dict[str, Any]]
                result = super().preprocess_cell(cell, resources, index)
                return result
            except DeadKernelError:
                self.stopped = NotebookNode(output_type="error", ename=STOPPED)
            finally:
                self.spent += watch.spent
        why = watch.problem or "The kernel died while it ran this cell."
        self.stopped.evalue = f"{why} {NOT_RUN}"
        # One sentence per line, because nbgrader's dialog does not wrap lines.
        self.stopped.traceback = re.sub(r"(?<=[.?]) ", "\n", self.stopped.evalue).splitlines()
        cell.outputs = [self.stopped]
        return cell, resources

    def _get_timeout(self, cell: NotebookNode | None) -> None:
        """Disable the limit of nbclient, which measures wall time."""


class TimedValidator(Validator):
    """nbgrader's `Validator` with our `Execute`; it also reports the cell at which it stopped."""

    preprocessors = [preprocessors.CheckCellMetadata, preprocessors.ClearOutput, Execute]

    def _get_failed_cells(self, nb: NotebookNode) -> list[NotebookNode]:
        stopped = [
            cell
            for cell in nb.cells
            if cell.cell_type == "code"
            and any(output.get("ename") == STOPPED for output in cell.outputs)
        ]
        return stopped + [cell for cell in super()._get_failed_cells(nb) if cell not in stopped]


def validate(notebook: Path, config: Config) -> dict[str, Any]:
    """The reply to nbgrader's button: "success", and "value" with the failed cells or the problem."""
    if not notebook.is_file():
        return _failure(f"There is no notebook {notebook.name}: save it, then validate again.")
    try:
        return {"success": True, "value": TimedValidator(config=config).validate(str(notebook))}
    except SchemaTooOldError:
        return _failure(
            f"{notebook.name} uses an old version of nbgrader's metadata. Make a copy, "
            f"then run: nbgrader update {notebook.name}"
        )
    except SchemaTooNewError:
        return _failure(
            f"{notebook.name} uses a newer version of nbgrader's metadata: update "
            "nbgrader to validate it."
        )
    except NoSuchKernel as error:
        return _failure(
            f"{notebook.name} needs the kernel {error.name!r}, which is not installed: "
            "choose another with Kernel > Change Kernel, save, then validate again."
        )
    except Exception as error:
        message = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return _failure(
            f"{notebook.name} could not be validated ({type(error).__name__}): {message}"
        )


def _failure(sentence: str) -> dict[str, Any]:
    return {"success": False, "value": sentence}


def main(lines: Iterator[str]) -> None:
    """Answer the single request in `lines`."""
    request = json.loads(next(lines))
    threading.Thread(target=_end_with_server, args=(lines,), daemon=True).start()
    answer = validate(Path(request["notebook"]), Config(request["config"]))
    Path(request["result"]).write_text(json.dumps(answer), "utf-8")


def _end_with_server(lines: Iterator[str]) -> None:
    """Wait until standard input is closed, then kill this process and all its descendants."""
    for _ in lines:
        pass
    meter = CpuMeter(os.getpid())
    meter.refresh()
    for process in reversed(meter.processes):  # this process last
        with contextlib.suppress(Exception):
            process.kill()


if __name__ == "__main__":
    main(iter(sys.stdin.readline, ""))
