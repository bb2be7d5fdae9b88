"""nbgrader's Validate with time limits: `python -m course.validate` reads one request and ends.

The request is a line of JSON on standard input: the notebook's path, nbgrader's settings and the
file for the result. The process ends early when standard input is closed, so it never outlives the
server that started it.
"""

# ruff: noqa: E402 - one line must come before what imports nbformat

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

# Saves seconds: nbformat needs it for no notebook.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # which Python allows

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbgrader import preprocessors
from nbgrader.nbgraderformat import SchemaTooNewError, SchemaTooOldError
from nbgrader.validator import Validator
from traitlets import Any as AnyTrait
from traitlets.config import Config

from course.probes import UnknownCheck, load_check
from course.probes.replies import SECONDS
from course.progress import CHECK_CALL
from sequence.league.clock import Meter, factor

CELL_SECONDS = 10  # of computing time, as in grading; a check in the cell has its own on top
CELL_MOST = 60  # of computing time, whatever the checks in the cell may take
NOTEBOOK_SECONDS = 120  # of computing time, for all cells
WAITING_SECONDS = 30  # without computing
WATCH = 0.1  # seconds between two looks at the kernel
STOPPED = "Stopped"  # the name of the error in a cell that was running when the kernel was stopped
NOT_RUN = "The cells below it were not run."


class Limits(NamedTuple):
    """How long one cell may take: seconds of computing, what is left for the notebook, waiting."""

    cell: float
    notebook: float
    waiting: float


class Watch:
    """Watches a kernel while it runs one cell, and kills it when the cell takes too long."""

    def __init__(self, pid: int, limits: Limits) -> None:
        self.problem: str | None = None  # why the kernel was killed
        self.spent = 0.0  # seconds of computing time
        self._meter, self._limits = Meter(pid), limits
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
        self._meter.look()
        computed, queued = self._meter.seconds(), self._meter.queued()
        begun, scale = time.monotonic(), factor()
        while not self._ended.wait(WATCH):
            self._meter.look()
            self.spent = self._meter.seconds() - computed
            passed = time.monotonic() - begun - (self._meter.queued() - queued)
            self.problem = _problem(self.spent / scale, passed / scale, self._limits)
            if self.problem:
                self._kill()
                return

    def _kill(self) -> None:
        for process in reversed(self._meter.family):
            with contextlib.suppress(Exception):  # gone, or another user's
                process.kill()


def _problem(spent: float, passed: float, limits: Limits) -> str | None:
    """Why a cell must be stopped that has computed for `spent` of `passed` seconds."""
    if spent > limits.cell:
        return (
            f"This cell ran too long: Validate stopped it after {limits.cell:g} seconds of "
            "computing time. Does it call a loop or a recursion that never ends?"
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
    """The computing time that a cell may use: that of a cell, and of each check that it runs."""
    allowed = float(CELL_SECONDS)
    for _, name in CHECK_CALL.findall(source):
        with contextlib.suppress(UnknownCheck):  # the cell itself reports it
            allowed += load_check(name).seconds or SECONDS
    return min(allowed, CELL_MOST)


class Execute(preprocessors.Execute):
    """nbgrader's `Execute`, which stops the whole run at the first cell that takes too long or
    whose kernel dies. The cells below it are left without output."""

    stopped = AnyTrait(None, help="The error that was added to a cell when the run was stopped.")
    spent = AnyTrait(0.0, help="Seconds of computing time of the cells so far.")

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, unless the run was stopped above it."""
        if self.stopped:
            return cell, resources
        limits = Limits(seconds_of(cell.source), NOTEBOOK_SECONDS - self.spent, WAITING_SECONDS)
        with Watch(self.km.provisioner.pid, limits) as watch:
            try:
                done: tuple[NotebookNode, dict[str, Any]]
                done = super().preprocess_cell(cell, resources, index)
                return done
            except DeadKernelError:
                self.stopped = NotebookNode(output_type="error", ename=STOPPED)
            finally:
                self.spent += watch.spent
        why = watch.problem or "The kernel died while it ran this cell."
        self.stopped.evalue = f"{why} {NOT_RUN}"
        # A sentence on each line, as nbgrader's dialog wraps none.
        self.stopped.traceback = re.sub(r"(?<=[.?]) ", "\n", self.stopped.evalue).splitlines()
        cell.outputs = [self.stopped]
        return cell, resources

    def _get_timeout(self, cell: NotebookNode | None) -> None:
        """No time limit of nbclient's, which counts time on a busy machine."""


class TimedValidator(Validator):
    """nbgrader's `Validator` with our `Execute`; it reports the cell at which it was stopped."""

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
    """The answer to nbgrader's button: "success", and "value" with the cells or the problem."""
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
        words = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return _failure(f"{notebook.name} could not be validated ({type(error).__name__}): {words}")


def _failure(sentence: str) -> dict[str, Any]:
    return {"success": False, "value": sentence}


def main(lines: Iterator[str]) -> None:
    """Answer the one request in `lines`."""
    request = json.loads(next(lines))
    threading.Thread(target=_end_with_server, args=(lines,), daemon=True).start()
    answer = validate(Path(request["notebook"]), Config(request["config"]))
    Path(request["result"]).write_text(json.dumps(answer), "utf-8")


def _end_with_server(lines: Iterator[str]) -> None:
    """Wait until standard input is closed, then end with all that was started."""
    for _ in lines:
        pass
    meter = Meter(os.getpid())
    meter.look()
    for process in reversed(meter.family):  # this process last
        with contextlib.suppress(Exception):
            process.kill()


if __name__ == "__main__":
    main(iter(sys.stdin.readline, ""))
