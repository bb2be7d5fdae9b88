"""nbgrader's `Execute` step, replaced: checks are decided out here, from what the module replies.

The notebook's cells run in nbgrader's kernel as before. A cell that only calls `check(...)` is not
run: its module is asked the hidden questions in a process of its own, and the verdict is written
as the cell's outcome, where nbgrader's own step reads the marks.
"""

import json
from pathlib import Path

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool, Float, Integer, default

from autograder import verdicts
from autograder.notebooks import check_id
from course.check import run_check
from course.probes.explain import as_html, as_text
from course.probes.outcome import Outcome
from course.probes.process import SECONDS

AFTER_TIMEOUT = 2.0  # seconds for further checks of a submission that was stopped once


class GradingStep(Execute):
    """Runs a submission's notebook and marks its checks."""

    timeout = Integer(10, allow_none=True, help="Seconds for one cell.").tag(config=True)
    interrupt_on_timeout = Bool(False, help="A cell that does not end takes its kernel with it."
                                ).tag(config=True)
    probe_seconds = Float(SECONDS, help="Seconds for one check.").tag(config=True)

    @default("shutdown_kernel")
    def _shutdown_kernel(self) -> str:
        return "immediate"  # nothing that a student's kernel does at its end is wanted

    def preprocess(self, nb, resources, km=None):
        """Run the cells; `resources["outcomes"]` gets the outcome of every check."""
        resources["outcomes"] = []
        resources["stopped"] = None
        nb, resources = super().preprocess(nb, resources, km)
        return nb, resources

    def preprocess_cell(self, cell, resources, index):
        """Run one cell, or write the verdict of the check that it calls."""
        asked = check_id(cell)
        if asked is not None and cell.metadata.get("nbgrader", {}).get("grade"):
            outcome = self._mark(asked, resources)
            resources["outcomes"].append(outcome)
            cell.outputs, cell.execution_count = outputs(outcome), None
            return cell, resources
        if cell.cell_type == "code" and resources["stopped"]:
            cell.outputs = [_error("NotRun", f"not run: {resources['stopped']}")]
            return cell, resources
        try:
            return super().preprocess_cell(cell, resources, index)
        except CellTimeoutError:
            resources["stopped"] = f"a cell above did not end within {self.timeout} s"
            cell.outputs.append(_error("CellTimeoutError", f"stopped after {self.timeout} s"))
        except DeadKernelError:
            resources["stopped"] = "a cell above ended the Python process"
            cell.outputs.append(_error("DeadKernelError", "this cell ended the Python process"))
        return cell, resources

    def _mark(self, asked: str, resources) -> Outcome:
        study = verdicts.hidden_study(asked.split(".", maxsplit=1)[0])
        check = next(c for c in study.checks.values() if c.id == asked)
        module = Path(resources["metadata"]["path"]) / study.module
        once_stopped = any(o.stopped for o in resources["outcomes"])
        seconds = min(self.probe_seconds, AFTER_TIMEOUT) if once_stopped else self.probe_seconds
        return run_check(check, module, verdicts.expected_file(study), seconds)


class SaveOutcomes(NbGraderPreprocessor):
    """Keeps what the checks saw, and books extra credit, which nbgrader has no cell outcome for."""

    def preprocess(self, nb, resources):
        """Write `results/{assignment}/{student}/{notebook}.json` in the course folder."""
        where = resources["nbgrader"]
        path = Path("results", where["assignment"], where["student"], f"{where['notebook']}.json")
        outcomes = resources["outcomes"]
        ours = _booked_by_us(path)
        extra = {o.check: o.earned for o in outcomes if o.extra_credit}
        data = {"stopped": resources["stopped"],
                "outcomes": [outcome.to_json() for outcome in outcomes]}
        # A run killed between these steps must not take its own number for a person's.
        write_json(path, data | {"booked": {
            check: [*ours.get(check, []), earned] for check, earned in extra.items()}})
        with Gradebook(where["db_url"]) as gradebook:
            for check, earned in extra.items():
                self._book(gradebook, where, check, earned, ours.get(check, []))
        write_json(path, data | {"booked": {check: [earned] for check, earned in extra.items()}})
        return nb, resources

    def _book(self, gradebook: Gradebook, where, check: str, earned: float,
              ours: list[float]) -> None:
        """Set the extra credit unless a person has given another one than ours."""
        study, name = check.split(".")
        grade_id = verdicts.hidden_study(study).checks[name].grade_id
        grade = gradebook.find_grade(grade_id, where["notebook"], where["assignment"],
                                     where["student"])
        if grade.extra_credit is None or grade.extra_credit in (*ours, earned):
            grade.extra_credit = earned
            gradebook.db.commit()
        else:
            self.log.warning("%s: extra credit %s was given by hand and stays", grade_id,
                             grade.extra_credit)


def outputs(outcome: Outcome) -> list:
    """The outcome as a cell's outputs: the explanation, then the points as nbgrader reads them."""
    text, page = as_text(outcome), as_html(outcome)
    shown = new_output("display_data", {"text/plain": text, "text/html": page})
    if outcome.extra_credit:  # the cell has no points of its own
        return [shown]
    return [shown, new_output("execute_result", {"text/plain": f"{outcome.earned:g}"})]


def write_json(path: Path, data: object) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    part.replace(path)


def _booked_by_us(path: Path) -> dict[str, list[float]]:
    """The extra credit of each check that an earlier run booked, or was about to book."""
    return json.loads(path.read_text("utf-8"))["booked"] if path.exists() else {}


def _error(name: str, text: str):
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
