"""The `autograder` command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from course.probes import Study, StudyTableError, UnknownCheck, load_study, studies

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Release assignments, grade classes, write feedback and reports.")
console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)

BAD_INPUT, NEEDS_A_LOOK = 2, 1  # exit statuses
StudyName = Annotated[str, typer.Argument(
    metavar="STUDY", help="A study, like study3 or study3_type_a.", show_default=False)]
CoursePath = Annotated[Path, typer.Option(
    "--course", "-c", metavar="FOLDER", help="The nbgrader course folder.")]
Jobs = Annotated[int | None, typer.Option(
    min=1, help="How many submissions at once; one per core unless given.", show_default=False)]
DEFAULT_COURSE = Path("build/course")


@contextmanager
def told() -> Iterator[None]:
    """Tell bad input and failed releases in one sentence, with a non-zero exit status."""
    from autograder.course_folder import CourseFolderError
    from autograder.grade import GradingError
    from autograder.notebooks import NotebookError
    from autograder.release import ReleaseError
    from autograder.strip import SolutionRegionError

    try:
        yield
    except (UnknownCheck, CourseFolderError, GradingError, NotebookError, ReleaseError,
            SolutionRegionError, StudyTableError, PermissionError, NotADirectoryError,
            FileExistsError) as error:
        errors.print(f"autograder: {error}", markup=False, highlight=False)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        errors.print("autograder: stopped; what was finished is kept, "
                     "the same command goes on from there")
        raise typer.Exit(130) from None


def progress() -> Progress:
    """A bar with rate and time left; a log of lines where nobody watches."""
    return Progress(SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
                    MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
                    TextColumn("{task.fields[note]}"), console=errors,
                    disable=not errors.is_terminal)


@app.command()
def build(study: Annotated[str | None, typer.Argument(
              metavar="STUDY", help="All studies unless given.", show_default=False)] = None,
          check: Annotated[bool, typer.Option(
              "--check", help="Change nothing; fail if a file is not fresh.")] = False) -> None:
    """Derive stubs, notebooks, expected replies and node counts from their sources."""
    from autograder import derive

    with told(), errors.status("") as status:
        def tick(step: str) -> None:
            status.update(step)

        if check:
            stale = [path for path, text in derive.derived_files(study, tick)
                     if not path.exists() or path.read_text("utf-8") != text]
            for path in stale:
                errors.print(f"not fresh: {path}", markup=False)
            raise typer.Exit(NEEDS_A_LOOK if stale else 0)
        for path in derive.build(study, tick):
            console.print(f"written: {path}", markup=False, highlight=False)


@app.command()
def release(names: Annotated[list[str] | None, typer.Argument(
                metavar="STUDY", help="All studies unless given.", show_default=False)] = None,
            course: CoursePath = DEFAULT_COURSE) -> None:
    """Release assignments into the course folder, which is made if it is not there."""
    with told():
        wanted = [load_study(name) for name in names or studies()]
        release_studies(course, wanted)


def release_studies(course: Path, wanted: list[Study]):
    """Release each study with progress; returns the course folder."""
    from autograder.course_folder import CourseFolder
    from autograder.release import release as release_one

    folder = CourseFolder.create(course)
    with progress() as bar:
        task = bar.add_task("Releasing", total=len(wanted), note="")
        for study in wanted:
            bar.update(task, note=study.assignment)
            where = release_one(folder, study)
            bar.advance(task)
            console.print(f"released {study.assignment}: {where}", markup=False, highlight=False)
    return folder


@app.command()
def grade(study: StudyName, course: CoursePath = DEFAULT_COURSE,
          student: Annotated[list[str] | None, typer.Option(
              help="Only this student; may be given several times.", show_default=False)] = None,
          force: Annotated[bool, typer.Option(
              "--force", help="Grade again what has not changed.")] = False,
          jobs: Jobs = None) -> None:
    """Grade the submissions to a study. Exit status 1 if some need a look."""
    from autograder.course_folder import CourseFolder

    with told():
        folder = CourseFolder.open(course)
        graded = grade_study(folder, folder.assignment(study), student, force, jobs)
    raise typer.Exit(NEEDS_A_LOOK if any(g.needs_a_look for g in graded) else 0)


def grade_study(folder, study: Study, students=None, force=False, jobs=None):
    """Grade with progress, and say in one line each what needs a look."""
    from autograder.grade import grade as grade_class

    submitted = folder.submitted(study.assignment)
    with progress() as bar:
        task = bar.add_task(f"Grading {study.name}", total=len(students or submitted),
                            note="proving the checks on the reference and the stub")
        look = 0

        def done(result) -> None:
            nonlocal look
            look += result.needs_a_look
            bar.update(task, advance=1, note=f"{look} to look at")

        graded = grade_class(folder, study, students, force=force, jobs=jobs, done=done)
    for result in graded:
        for problem in result.problems:
            errors.print(f"{study.assignment}/{result.student}: {problem}",
                         markup=False, highlight=False)
    count = {status: sum(g.status == status for g in graded)
             for status in ("graded", "unchanged", "nothing to grade", "fault")}
    console.print(f"{study.assignment}: " + ", ".join(f"{n} {s}" for s, n in count.items() if n),
                  highlight=False)
    return graded


@app.command()
def feedback(study: StudyName, course: CoursePath = DEFAULT_COURSE,
             student: Annotated[list[str] | None, typer.Option(
                 help="Only this student; may be given several times.",
                 show_default=False)] = None, jobs: Jobs = None) -> None:
    """Write the feedback pages of everybody who has been graded."""
    from autograder.course_folder import CourseFolder

    with told():
        folder = CourseFolder.open(course)
        feedback_study(folder, folder.assignment(study), student, jobs)


def feedback_study(folder, study: Study, students=None, jobs=None) -> None:
    """Write feedback pages with progress."""
    from autograder.feedback import write_feedback

    with progress() as bar:
        task = bar.add_task(f"Feedback {study.name}", total=None, note="")
        pages = write_feedback(folder, study, students, jobs,
                               done=lambda s: bar.update(task, advance=1, note=s))
    console.print(f"feedback of {len(pages)} students to {study.assignment}: "
                  f"{folder.root / 'feedback'}", markup=False, highlight=False)


@app.command()
def report(study: StudyName, course: CoursePath = DEFAULT_COURSE) -> None:
    """Write the report page of an assignment, and the same numbers as CSV."""
    from autograder.course_folder import CourseFolder
    from autograder.report import write_report

    with told():
        folder = CourseFolder.open(course)
        for path in write_report(folder, folder.assignment(study)):
            console.print(f"report: {path}", markup=False, highlight=False)


@app.command()
def doctor(study: StudyName,
           verbose: Annotated[bool, typer.Option(
               "--verbose", "-v", help="Show every module, not only those that are wrong."
           )] = False) -> None:
    """Prove a study: reference full, stub none, mutants what they should lose, nothing leaked."""
    from autograder import doctor as proofs

    with told():
        examined = load_study(study)
        complaints = [*proofs.environment(), *proofs.leaks(examined)]
        with progress() as bar:
            task = bar.add_task(f"Examining {examined.name}", total=None, note="")
            findings = proofs.examine(examined,
                                      lambda f: bar.update(task, advance=1, note=f.name))
    console.print(_findings_table(examined, findings, verbose))
    for complaint in complaints:
        errors.print(f"wrong: {complaint}", markup=False, highlight=False)
    sick = sum(not finding.healthy for finding in findings)
    mutants = len(findings) - 2
    verdict = "NOT ready to release" if sick or complaints else "ready to release"
    console.print(f"{examined.name}: {mutants} mutants, {sick} modules not marked as they should "
                  f"be, {len(complaints)} other complaints: {verdict}", highlight=False)
    raise typer.Exit(NEEDS_A_LOOK if sick or complaints else 0)


def _findings_table(study: Study, findings, verbose: bool) -> Table:
    table = Table(title=study.title, title_justify="left", caption_justify="left",
                  caption=None if verbose else "Mutants that are as they should be: -v shows them.")
    for column in ("module", "points", "loses", "as it should"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        if verbose or not finding.healthy or finding.name in ("reference", "stub"):
            loses = "; ".join(f"{c}: {', '.join(a)}" for c, a in finding.loses.items()) or "nothing"
            verdict = "yes" if finding.healthy else (
                "no, it should lose " + ("; ".join(f"{c}: {', '.join(a)}" for c, a in
                                                   finding.should_lose.items()) or "nothing")
                if finding.loses != finding.should_lose else "no, feedback cannot name the slip")
            table.add_row(finding.name, f"{finding.earned:g} of {finding.points:g}", loses, verdict)
    return table


@app.command()
def demo(course: Annotated[Path, typer.Option(
        "--course", "-c", metavar="FOLDER", help="Where to put it; made anew."
        )] = Path("build/demo"), jobs: Jobs = None) -> None:
    """The whole way once: release every assignment, grade a bundled class, write all pages."""
    from autograder import demo as bundled

    with told():
        wanted = [load_study(name) for name in studies()]
        bundled.make_way(course)
        folder = release_studies(course, wanted)
        students = bundled.hand_in(folder)
        console.print(f"{students} students handed in: {folder.root / 'submitted'}",
                      markup=False, highlight=False)
        from autograder.report import write_report

        pages = []
        for study in wanted:
            grade_study(folder, study, jobs=jobs)
            feedback_study(folder, study, jobs=jobs)
            pages += write_report(folder, study)
    console.print()
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for what, where in [("Gradebook", folder.root / "gradebook.db"),
                        ("Feedback", folder.root / "feedback"),
                        *(("Report", path) for path in pages if path.suffix == ".html"),
                        ("Formgrader", f"python3 run.py lab {course}, then menu Nbgrader")]:
        table.add_row(what, str(where))
    console.print(table)


if __name__ == "__main__":
    app()
