"""Runs a notebook's cells as nbgrader does, in a kernel of their own without a sandbox.

For `--isolation=process`, on machines that cannot isolate.
"""

from pathlib import Path

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, default
from traitlets.config import Config

from autograder.sandbox.client import Ran


def run_in_kernel(nb: NotebookNode, cells: list[NotebookNode], folder: Path, cell_seconds: float,
                  config: Config) -> Ran:
    """Run `cells` of the notebook in nbgrader's kernel, in `folder`; a cell that does not finish
    in `cell_seconds` is the last."""
    step = _Kernel(config=config, timeout=max(1, round(cell_seconds)))
    step.ran, step.wanted = Ran([None] * len(cells), [None] * len(cells)), cells
    step.preprocess(nb, {"metadata": {"path": str(folder)}})
    return step.ran


class _Kernel(Execute):
    interrupt_on_timeout = Bool(False)
    ran: Ran
    wanted: list[NotebookNode]

    @default("shutdown_kernel")
    def _shutdown_kernel(self) -> str:
        return "immediate"  # nothing that a student's kernel does at its end is wanted

    def preprocess_cell(self, cell, resources, index):
        """Run one cell, unless it is a check, or an earlier one has ended the run."""
        number = next((n for n, wanted in enumerate(self.wanted) if wanted is cell), None)
        if number is None or self.ran.stopped:
            return cell, resources
        try:
            cell, resources = super().preprocess_cell(cell, resources, index)
            self.ran.outputs[number] = cell.outputs
            self.ran.counts[number] = cell.execution_count
        except CellTimeoutError:
            self.ran.late[number] = self.timeout
            self.ran.stopped = f"a cell above did not finish within {self.timeout} s"
        except DeadKernelError:
            self.ran.stopped = "a cell ended the Python process"
        return cell, resources
