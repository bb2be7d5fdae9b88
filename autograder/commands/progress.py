"""Releases, grades and writes feedback with a progress bar, then a line for each result."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.assignment_names import name_problem
from autograder.commands.console import complain, progress, say
from autograder.course_folder import CourseFolder
from autograder.errors import Refused
from autograder.grading.batch import grade
from autograder.grading.deciding import out_of_date, out_of_date_in_words
from autograder.grading.ledger import Graded
from autograder.grading.needed import limits_in_words
from autograder.grading.where import AS_CONFIGURED, Where, config_for
from autograder.telling.feedback import Feedback, write_feedback
from course.probes import Study
from sequence.league.clock import factor, told


def release_studies(course: Path, wanted: list[Study]) -> CourseFolder:
    """Release each study with a progress bar; returns the course folder."""
    from autograder.release.assignments import release  # slow to import

    folder = CourseFolder.create(course)
    with progress() as bar:
        task = bar.add_task("Releasing", total=len(wanted), note="")
        for study in wanted:
            bar.update(task, note=study.assignment)
            inside: dict[str, list[str]] = {}

            def note(notebook: str, test: str, inside: dict[str, list[str]] = inside) -> None:
                inside.setdefault(notebook, []).append(test)

            where = release(folder, study, note)
            bar.advance(task)
            say(f"released {study.assignment}: {where}")
            for notebook, tests in inside.items():
                say(
                    f"{notebook}: decided inside the submission's process, where they can be "
                    f"fooled, because they need live objects: {', '.join(tests)}"
                )
    return folder


def grade_study(
    folder: CourseFolder,
    study: Study,
    students: list[str] | None = None,
    *,
    force: bool = False,
    jobs: int | None = None,
    where: Where = AS_CONFIGURED,
) -> list[Graded]:
    """Grade with a progress bar: how many are done, the rate, the time left, and failures."""
    if problem := name_problem(study.assignment):
        complain(problem)  # a course that has graded it already may go on
    total = len(set(students) if students else folder.submitted(study.assignment))
    with progress() as bar, _cluster(folder, where) as slots:
        task = bar.add_task(
            f"Grading {study.name}",
            total=total,
            note="testing the checks on the reference and the stub",
        )
        failures = look = 0

        def done(result: Graded) -> None:
            nonlocal failures, look
            failures += result.status == "fault"
            look += result.needs_a_look
            bar.update(task, advance=1, note=f"{failures} failed, {look} need a look")

        return grade(
            folder,
            study,
            students,
            force=force,
            where=where,
            done=done,
            note=complain,
            jobs=jobs or slots,
        )


@contextmanager
def _cluster(folder: CourseFolder, where: Where) -> Iterator[int | None]:
    """How many submissions a cluster, if there is one, runs at once; says within the block which of
    its workers are not used, and when it is away. Raises `Refused` if none can be used."""
    config = config_for(folder, where).GradingStep
    if where.get("scheduler") and config.get("isolation") == "process":
        raise Refused(
            "a cluster runs submissions in sandboxes, and without isolation they run "
            "here: choose one of --scheduler and --isolation process"
        )
    if not (scheduler := config.get("scheduler")) or config.get("isolation") == "process":
        yield None
        return
    from autograder.sandbox.cluster import PATIENCE, ClusterGone, terms  # slow to import
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.watch import watched

    with ExitStack() as opened:
        try:
            slots = opened.enter_context(
                watched(
                    scheduler, terms(Limits()), complain, config.get("cluster_seconds", PATIENCE)
                )
            )
        except ClusterGone as error:
            raise Refused(str(error)) from error
        yield slots


def tell_grades(
    folder: CourseFolder, study: Study, graded: list[Graded], where: Where = AS_CONFIGURED
) -> None:
    """Print a line for each problem, the limits of time, and how many were graded."""
    for result in graded:
        for problem in result.problems:
            complain(f"{study.assignment}/{result.student}: {problem}")
    if factor() != 1:
        complain(f"{study.assignment}: {told(factor())}")
    count = {
        status: sum(g.status == status for g in graded)
        for status in ("graded", "unchanged", "nothing to grade", "fault", "left")
    }
    if count["left"]:
        complain(
            f"{study.assignment}: grading stopped, as everybody would meet the same fault: "
            f"{count['left']} submissions are left for the same command later"
        )
    if count["graded"] and (limits := limits_in_words(folder, study, config_for(folder, where))):
        say(f"{study.assignment}: {limits}")
    say(f"{study.assignment}: " + ", ".join(f"{n} {s}" for s, n in count.items() if n))


def grades_as_json(graded: list[Graded]) -> list[dict[str, Any]]:
    """Each submission's result as plain data."""
    return [asdict(result) | {"needs_a_look": result.needs_a_look} for result in graded]


def feedback_study(
    folder: CourseFolder, study: Study, students: list[str] | None = None, jobs: int | None = None
) -> list[Feedback]:
    """Write feedback pages with a progress bar."""
    with progress() as bar:
        task = bar.add_task(f"Feedback {study.name}", total=None, note="")
        return write_feedback(
            folder,
            study,
            students,
            jobs,
            done=lambda page: bar.update(task, advance=1, note=page.student),
        )


def tell_feedback(folder: CourseFolder, study: Study, pages: list[Feedback]) -> bool:
    """Print a line for each page that is missing, and how many there are; whether there are all."""
    failed = [page for page in pages if page.problem]
    for page in failed:
        complain(f"{study.assignment}/{page.student}: no feedback: {page.problem}")
    if said := out_of_date_in_words(study, out_of_date(folder, study)):
        complain(said)
    same = sum(page.unchanged for page in pages)
    say(
        f"feedback for {len(pages) - len(failed)} students on {study.assignment}"
        + (f", {same} unchanged" if same else "")
        + f": {folder.root / 'feedback'}"
    )
    return not failed
