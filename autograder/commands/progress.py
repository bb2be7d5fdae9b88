"""Generates assignments, grades, and generates feedback, each with a progress bar and one line per
result.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.assignment_names import name_problem
from autograder.commands.console import print_error, print_line, progress
from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.records.deciding import describe_outdated_results, outdated_results
from autograder.grading.records.ledger import Graded
from autograder.grading.records.reference_timing import describe_time_limits
from autograder.grading.run.batch import grade
from autograder.grading.run.execution_overrides import (
    NO_OVERRIDES,
    ExecutionOverrides,
    config_with_overrides,
)
from autograder.reporting.pages.feedback import Feedback, write_feedback
from common.clock import scaling_notice, speed_factor
from common.command_lines import advice, join
from course.checks import Study


def generate_studies(
    course: Path, wanted: list[Study], replace: Sequence[str] = ()
) -> CourseFolder:
    """Generate the student version of each study with a progress bar; return the course folder.

    Raises `UserError` if edited source files would be lost, except those of the studies to `replace`.
    """
    from autograder.release.assignments import generate_assignment  # slow to import

    folder = CourseFolder.create(course)
    for study in wanted:
        if study.name not in replace:
            _refuse_edited_source(folder, study)
    with progress() as bar:
        task = bar.add_task("Generating", total=len(wanted), note="")
        for study in wanted:
            bar.update(task, note=study.assignment)
            inside: dict[str, list[str]] = {}

            def note(notebook: str, test: str, inside: dict[str, list[str]] = inside) -> None:
                inside.setdefault(notebook, []).append(test)

            path = generate_assignment(folder, study, note)
            bar.advance(task)
            print_line(f"generated {study.assignment}: {path}")
            for notebook, tests in inside.items():
                print_line(
                    f"{notebook}: these tests need live objects, so they run in the submission's own "
                    f"process, where it can fake their results: {', '.join(tests)}"
                )
    return folder


def _refuse_edited_source(folder: CourseFolder, study: Study) -> None:
    from autograder.release.own_course.upgrade import edited_source

    if files := edited_source(folder, study):
        nbgrader = join(["nbgrader", "generate_assignment", study.assignment, "--force"])
        raise UserError(
            f"{study.name} cannot be generated without losing your work: in {folder.root / 'source'}, "
            f"you edited {', '.join(files)}. To make the student version of these files, run "
            f"`{nbgrader}` in {folder.root}. To replace them, run "
            f"{advice('generate', study.name, '--replace', study.name, course=folder.root)}"
        )


def grade_study(
    folder: CourseFolder,
    study: Study,
    students: list[str] | None = None,
    *,
    force: bool = False,
    jobs: int | None = None,
    overrides: ExecutionOverrides = NO_OVERRIDES,
) -> list[Graded]:
    """Grade with a progress bar that shows the rate, the time left and the number of failures."""
    if problem := name_problem(study.assignment):
        print_error(problem)  # a course that has already graded the study may continue
    total = len(set(students) if students else folder.submitted(study.assignment))
    with progress() as bar, _cluster(folder, overrides) as slots:
        task = bar.add_task(
            f"Grading {study.name}",
            total=total,
            note="testing the checks on the reference and the stub",
        )
        failures = attention = 0

        def done(result: Graded) -> None:
            nonlocal failures, attention
            failures += result.status == "fault"
            attention += result.needs_a_look
            bar.update(task, advance=1, note=f"{failures} failed, {attention} need attention")

        return grade(
            folder,
            study,
            students,
            force=force,
            overrides=overrides,
            done=done,
            note=print_error,
            jobs=jobs or slots,
        )


@contextmanager
def _cluster(folder: CourseFolder, overrides: ExecutionOverrides) -> Iterator[int | None]:
    """Yield how many submissions the configured cluster runs in parallel, or None without a cluster.

    Within the block, messages report which workers cannot be used, and when the connection is lost.
    Raises `UserError` if no worker can be used.
    """
    config = config_with_overrides(folder, overrides).GradingStep
    if overrides.get("scheduler") and config.get("isolation") == "process":
        raise UserError(
            "a cluster runs submissions in sandboxes, but --isolation process runs them on this "
            "machine: use only one of --scheduler and --isolation process"
        )
    if not (scheduler := config.get("scheduler")) or config.get("isolation") == "process":
        yield None
        return
    from autograder.sandbox.cluster import (
        MAX_OUTAGE_SECONDS,
        ClusterUnavailable,
        worker_requirements,
    )  # slow to import
    from autograder.sandbox.limits import SandboxLimits
    from autograder.sandbox.watch import watch_cluster

    with ExitStack() as opened:
        try:
            slots = opened.enter_context(
                watch_cluster(
                    scheduler,
                    worker_requirements(SandboxLimits()),
                    print_error,
                    config.get("cluster_seconds", MAX_OUTAGE_SECONDS),
                )
            )
        except ClusterUnavailable as error:
            raise UserError(str(error)) from error
        yield slots


def print_grades(
    folder: CourseFolder,
    study: Study,
    graded: list[Graded],
    overrides: ExecutionOverrides = NO_OVERRIDES,
) -> None:
    """Print one line per problem, the time limits, and how many submissions were graded."""
    for result in graded:
        for problem in result.problems:
            print_error(f"{study.assignment}/{result.student}: {problem}")
    count = {
        status: sum(g.status == status for g in graded)
        for status in ("graded", "unchanged", "nothing to grade", "fault", "left")
    }
    if count["graded"] and speed_factor() != 1:
        print_error(f"{study.assignment}: {scaling_notice(speed_factor())}")
    if count["left"]:
        print_error(
            f"{study.assignment}: grading stopped at an error that affects all submissions; "
            f"{count['left']} submissions remain: run the same command again later"
        )
    if count["graded"] and (
        limits := describe_time_limits(folder, study, config_with_overrides(folder, overrides))
    ):
        print_line(f"{study.assignment}: {limits}")
    print_line(f"{study.assignment}: " + ", ".join(f"{n} {s}" for s, n in count.items() if n))


def grades_as_json(graded: list[Graded]) -> list[dict[str, Any]]:
    """Return each submission's result as plain data."""
    return [asdict(result) | {"needs_a_look": result.needs_a_look} for result in graded]


def feedback_study(
    folder: CourseFolder,
    study: Study,
    students: list[str] | None = None,
    jobs: int | None = None,
    section: Collection[str] | None = None,
) -> list[Feedback]:
    """Generate feedback pages with a progress bar, by default for all graded students.

    `section` has the students of a section, of whom some may not have been graded.
    """
    with progress() as bar:
        task = bar.add_task(f"Feedback {study.name}", total=None, note="")
        return write_feedback(
            folder,
            study,
            students,
            jobs,
            done=lambda page: bar.update(task, advance=1, note=page.student),
            section=section,
        )


def print_feedback(folder: CourseFolder, study: Study, pages: list[Feedback]) -> bool:
    """Print one line per missing page, and the number of pages; return whether no page is missing."""
    failed = [page for page in pages if page.problem]
    for page in failed:
        print_error(f"{study.assignment}/{page.student}: no feedback: {page.problem}")
    if warning := describe_outdated_results(folder, study, outdated_results(folder, study)):
        print_error(warning)
    same = sum(page.unchanged for page in pages)
    print_line(
        f"feedback for {len(pages) - len(failed)} students on {study.assignment}"
        + (f", {same} unchanged" if same else "")
        + f": {folder.root / 'feedback'}"
    )
    return not failed
