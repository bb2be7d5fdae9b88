"""Runs a notebook's cells as nbgrader does, in a separate kernel without a sandbox.

This is used with `--isolation=process`, on machines that cannot isolate submissions.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, default
from traitlets.config import Config

from autograder.sandbox.client import JobResult
from common.clock import POLL_SECONDS, Clock, CpuMeter, WaitBudget, speed_factor, wall_clock_limit
from common.messages import english


def run_in_kernel(
    nb: NotebookNode,
    cells: list[NotebookNode],
    folder: Path,
    cell_seconds: float,
    config: Config,
    waiting: WaitBudget | None = None,
) -> JobResult:
    """Run `cells` of the notebook in nbgrader's kernel, in `folder`.

    The run ends at a cell that computes for more than `cell_seconds`, or that waits when the
    waiting time is used up.
    """
    most = wall_clock_limit(cell_seconds) * speed_factor()
    step = _Kernel(config=config, timeout=max(1, round(2 * most)))  # our own limit is reached first
    step.seconds, step.waiting = cell_seconds, waiting
    step.ran, step.wanted = JobResult([None] * len(cells), [None] * len(cells)), cells
    step.preprocess(nb, {"metadata": {"path": str(folder)}})
    return step.ran


class _Kernel(Execute):
    interrupt_on_timeout = Bool(False)
    ran: JobResult
    wanted: list[NotebookNode]
    seconds: float
    waiting: WaitBudget | None

    @default("shutdown_kernel")
    def _shutdown_kernel(self) -> str:
        return "immediate"  # so that no shutdown code of a student's kernel runs

    def preprocess_cell(self, cell, resources, index):
        """Run one cell, unless it is a check, or an earlier one has ended the run."""
        number = next((n for n, wanted in enumerate(self.wanted) if wanted is cell), None)
        if number is None or self.ran.stopped:
            return cell, resources
        late: list[str] = []
        try:
            with _watched(CpuMeter(self.km.provisioner.pid), self.seconds, late, self.waiting):
                cell, resources = super().preprocess_cell(cell, resources, index)
            self.ran.outputs[number] = cell.outputs
            self.ran.counts[number] = cell.execution_count
        except CellTimeoutError:
            late.append(f"{self.timeout:g} s")
        except DeadKernelError:
            self.ran.stopped = english("a cell ended the Python process")
        if late and self.waiting and late[0] == self.waiting.reason:
            self.ran.stopped = late[0]
        elif late:
            self.ran.late[number] = late[0]
            self.ran.stopped = english(f"a cell above did not finish within {late[0]}")
        return cell, resources


def _kill_family(pid: int) -> None:
    """Kill a process and its descendants, which might otherwise never end."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in (*process.children(recursive=True), process):
            with suppress(psutil.Error):
                member.kill()


@contextmanager
def _watched(
    meter: CpuMeter, seconds: float, late: list[str], waiting: WaitBudget | None = None
) -> Iterator[None]:
    """Kill the process when its computing or waiting time is over, and append the limit to `late`."""
    clock, done = Clock(meter, seconds), threading.Event()

    def watch() -> None:
        waited: tuple[float, float] | None = None
        while not done.wait(POLL_SECONDS):
            meter.refresh()
            within = clock.limit_text if clock.is_over else None
            if waiting is not None:
                before, waited = waited, waiting.record(meter, waited)
                if before and waited and waiting.is_over:
                    within = waiting.reason
            if within is not None:
                late.append(within)
                _kill_family(meter.pid)
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
