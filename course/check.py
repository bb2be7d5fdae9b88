"""Check your own module: `check("study3.type_a")` asks it the public questions of that check.

It runs the module as it is saved on disk, in a process of its own, so that an endless loop is
stopped and nothing in the notebook is touched. Marks are given on other positions of the same kind.
"""

import os
import sys
from html import escape
from pathlib import Path

from course.live_modules import MissingModule
from course.probes import load_check, load_study
from course.probes.explain import as_html, as_text
from course.probes.newer_python import explain_replies, grading_version, warning
from course.probes.outcome import Outcome, mark_by_file, others_of
from course.progress import note, shown
from tictactoe.show.time_left import Line

if sys.platform == "emscripten":  # in a browser
    from course.probes.in_process import ask_module
else:
    from course.probes.process import ask_module


class Points(float):
    """Points on the public positions; nbgrader reads them as the partial credit of the cell.

    Other notebooks do not show them once more: the explanation above them begins with them.
    """

    def __repr__(self) -> str:
        return f"{float(self):g}"

    def _ipython_display_(self) -> None:
        if "NBGRADER_EXECUTION" in os.environ:
            raise NotImplementedError  # IPython shows them as any number


class Explanation:
    """An outcome that shows itself as HTML in a notebook and as text elsewhere."""

    def __init__(self, outcome: Outcome, warning: str = "") -> None:
        self.outcome = outcome
        self.warning = warning  # about grading, in a sentence

    def __repr__(self) -> str:
        return as_text(self.outcome) + (f"\n\nWarning: {self.warning}" if self.warning else "")

    def _repr_html_(self) -> str:
        return as_html(self.outcome) + (
            f"<p><strong>Warning:</strong> {escape(self.warning)}</p>" if self.warning else ""
        )


def check(check_id: str, folder: str | Path = ".", seconds: float | None = None) -> Points | None:
    """Run the public questions of a check and show what to look at.

    Returns the points earned on the public positions, for the checks that carry marks; None for
    extra credit. `folder` is where the module lies, `seconds` how long it may compute in all (by
    default 10, or what the study's table says); what else the machine does is not counted.

    Raises `UnknownCheck` (a ValueError) for an unknown name and `MissingModule` (a
    FileNotFoundError) if the folder does not hold the module.
    """
    asked = load_check(check_id)
    study = load_study(asked.study)
    module = Path(folder) / study.module
    if not module.is_file():
        raise MissingModule(
            f"{module.name} is not in {Path(folder).resolve()}: "
            "open the notebook in the folder that holds it"
        )
    line = Line()
    replies = ask_module(
        module, asked, seconds, tell=lambda said: line.tell(f"{asked.id}: {said} ...")
    )
    source = module.read_bytes()
    replies = explain_replies(replies, source, "this is Python")
    outcome = mark_by_file(
        asked,
        replies,
        study.expected_file,
        others_of(asked.id, [c.id for c in study.checks.values()], shown(module)),
    )
    note(module, outcome)
    line.show(Explanation(outcome, warning(source, grading_version())))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and outcome.earned < outcome.points:
        print(as_text(outcome), file=sys.stderr)  # all that nbgrader's Validate shows of a cell
    return None if asked.extra_credit else Points(outcome.earned)
