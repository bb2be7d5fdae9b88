"""Checks your own module: `check("study3.type_a")` runs the public questions of that check.

The saved module runs in a separate process, so endless loops are stopped and the notebook's
variables do not change. Marks are based on other positions of the same kind.

At a terminal, `python3 run.py check study3` runs all checks of a study. The exit status is 0 if all
checks have full marks on the public positions (extra credit does not count), 1 if one of them does
not, and 2 if a study, check or module cannot be found.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from common.clock import speed_factor
from common.command_lines import program
from common.messages import english, translate
from common.progress import LiveLine
from course.checks import Check, StudyTableError, UnknownCheck, load_check, load_study, studies
from course.checks.marking.diagnosis import other_checks
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import Outcome, mark_against_file
from course.checks.replies import Replies
from course.checks.running.newer_python import explain_replies, grading_version, warning
from course.lab.live_modules import MissingModule
from course.lab.progress import check_summaries, record_outcome

if sys.platform == "emscripten":  # in a browser
    from course.checks.running.in_process import query_module
else:
    from course.checks.running.process import query_module

NOT_FULL, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses at a terminal


NEAR_LIMIT = 1 / 4  # share of the time limit at which a warning is shown


class Points(float):
    """Points on the public positions; nbgrader reads them as the partial credit of the cell.

    Notebooks do not display them separately, because the first line of the explanation states them.
    """

    def __repr__(self) -> str:
        return f"{float(self):g}"

    def _ipython_display_(self) -> None:
        if "NBGRADER_EXECUTION" in os.environ:
            raise NotImplementedError  # so that IPython displays them like any number


class Explanation:
    """An outcome that is displayed as HTML in a notebook and as text elsewhere."""

    def __init__(self, outcome: Outcome, warning: str = "") -> None:
        self.outcome = outcome
        self.warning = warning  # a warning about grading, in one sentence

    def __repr__(self) -> str:
        title, warning = translate("Warning"), translate(self.warning)
        return as_text(self.outcome) + (f"\n\n{title}: {warning}" if warning else "")

    def _repr_html_(self) -> str:
        title, warning = escape(translate("Warning")), escape(translate(self.warning))
        return as_html(self.outcome) + (
            f"<p><strong>{title}:</strong> {warning}</p>" if warning else ""
        )


def check(check_id: str, folder: str | Path = ".", seconds: float | None = None) -> Points | None:
    """Run the public questions of a check and show where to look.

    Returns the points earned on the public positions, or None if the check is for extra credit.
    `folder` contains the module. `seconds` limits the module's total computing time; the default is
    the limit of grading, which is 2 for most checks. The load of the machine does not count.

    Raises `UnknownCheck` (a ValueError) for an unknown name and `MissingModule` (a
    FileNotFoundError) if the module is not in the folder.
    """
    definition = load_check(check_id)
    study = load_study(definition.study)
    module = Path(folder) / study.module
    if not module.is_file():
        raise MissingModule(
            translate(
                f"{module.name} is not in {Path(folder).resolve()}: open the notebook in the folder "
                "that contains it"
            )
        )
    line = LiveLine()
    explanation = explain_check(
        definition,
        module,
        seconds,
        lambda text: line.update(f"{definition.id}: {translate(text)} ..."),
    )
    line.finish(explanation)
    outcome = explanation.outcome
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and outcome.earned < outcome.points:
        print(as_text(outcome), file=sys.stderr)  # the only output that nbgrader's Validate shows
    return None if definition.extra_credit else Points(outcome.earned)


def explain_check(
    definition: Check,
    module: Path,
    seconds: float | None = None,
    progress: Callable[[str], object] = lambda text: None,
) -> Explanation:
    """Run the public questions of a check on a module, and save the result for the start page.

    `seconds` is the limit that `check` has, and `progress` is called with a text while they run.
    """
    study = load_study(definition.study)
    replies = query_module(module, definition, seconds, report_progress=progress)
    source = module.read_bytes()
    replies = explain_replies(replies, source, english("this is Python"))
    outcome = mark_against_file(
        definition,
        replies,
        study.expected_file,
        other_checks(definition.id, [c.id for c in study.checks.values()], check_summaries(module)),
    )
    record_outcome(module, outcome)
    limit = definition.time_limit if seconds is None else seconds
    warnings = warning(source, grading_version()), _time_warning(replies, limit)
    return Explanation(outcome, ". ".join(filter(None, warnings)))


def _time_warning(replies: Replies, limit: float) -> str:
    """A warning that the code came close to the time limit; empty if it did not."""
    computed = replies.computed / speed_factor()
    if replies.stopped or computed < NEAR_LIMIT * limit:
        return ""
    return english(
        f"your code computed for {computed:.1f} s. The limit is {limit:g} s, also in grading, where "
        "the positions may take longer"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks that the arguments name; return the exit status."""
    options = _argument_parser().parse_args(arguments)
    try:
        chosen = [check for name in options.names for check in _checks_of(name)]
        for check in chosen:
            _module_of(check, options.folder)  # so that nothing is run if a later module is missing
        outcomes = [_check_at_terminal(check, options.folder).outcome for check in chosen]
    except (UnknownCheck, MissingModule, StudyTableError) as error:
        print(f"check: {translate(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    required = [outcome for outcome in outcomes if not outcome.extra_credit]
    earned, points = (
        sum(outcome.earned for outcome in required),
        sum(outcome.points for outcome in required),
    )
    full = sum(outcome.full for outcome in required)
    print(
        translate(
            f"{full} of {len(required)} checks have full marks: {earned:g} of {points:g} points on "
            "the public positions"
        )
    )
    return 0 if full == len(required) else NOT_FULL


def _argument_parser() -> argparse.ArgumentParser:
    called_as = f"{program()} check"
    parser = argparse.ArgumentParser(
        prog=called_as,
        description="Run the public questions of checks on your module, as the notebooks do.",
        epilog=f"Example: {called_as} study3 study2.alpha_beta. The exit status is 0 if all checks "
        "have full marks (extra credit does not count), else 1; for unknown names, it is 2.",
    )
    parser.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help=f"a study ({studies()[0]} to {studies()[-1]}) or one of its checks",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="the folder that contains the module (default: the current folder if it contains "
        "the module, else the study's folder in course/)",
    )
    return parser


def _checks_of(name: str) -> list[Check]:
    return [load_check(name)] if "." in name else [*load_study(name).checks.values()]


def _module_of(check: Check, folder: Path | None) -> Path:
    """The module that the check runs; raises `MissingModule`."""
    study = load_study(check.study)
    places = [folder] if folder else [Path(), study.folder]
    for place in places:
        if (place / study.module).is_file():
            return place / study.module
    raise MissingModule(english(f"{study.module} is not in {places[-1].resolve()}"))


def _check_at_terminal(check: Check, folder: Path | None) -> Explanation:
    line = LiveLine()
    explanation = explain_check(
        check,
        _module_of(check, folder),
        progress=lambda text: line.update(f"{check.id}: {translate(text)} ..."),
    )
    line.finish(f"{explanation!r}\n")
    return explanation


if __name__ == "__main__":
    sys.exit(main())
