"""The `autograder` command line: one function for each subcommand."""

import autograder.grading.run.fast_imports  # noqa: F401, I001 - before nbformat

import json
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.errors import UserError
from autograder.commands.console import (
    console,
    errors,
    locations_table,
    print_error,
    print_line,
    progress,
    show_dimensions,
    show_findings,
    show_sentences,
)
from autograder.commands.grade_all import grade_all
from autograder.commands.progress import (
    feedback_study,
    grade_study,
    grades_as_json,
    generate_studies,
    print_feedback,
    print_grades,
)
from autograder.commands import course_commands, next_year, people, publishing, similarity
from autograder.commands.options import (
    NEEDS_ATTENTION,
    CoursePath,
    Force,
    Format,
    Isolated,
    Jobs,
    MaximumPenalty,
    OptionalCourse,
    Scheduler,
    Section,
    StudyName,
    Students,
    expand_home,
    maximum_penalty,
    report_errors,
)
from autograder.commands.stopping import exit_status
from autograder.times import course_zone, parse_due, format_due
from common.command_lines import advice, default_folder
from course.checks import Study, load_study, studies

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Generate assignments, grade classes, write feedback and reports.",
)

ANSWERS = ("reference", "second", "stub")  # the modules of a study that are not mutants


@app.command()
def build(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="By default all studies.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file is out of date.")
    ] = False,
    generated_mutants: Annotated[
        bool,
        typer.Option(
            "--generated-mutants",
            help="Also run the generated mutants, for feedback; takes minutes.",
        ),
    ] = False,
    course: OptionalCourse = None,
) -> None:
    """Derive stubs, notebooks, expected replies and node counts from their sources.

    Example: autograder build study3.
    """
    from autograder.release import derive

    with report_errors(), errors.status("") as status:
        if course:
            CourseFolder.open(course)
        if course and study is None:
            raise UserError("with --course, name a study")

        def tick(step: str) -> None:
            status.update(step)

        if check:
            outdated = derive.outdated_files(study, tick)
            for path in outdated:
                print_error(f"out of date: {path}")
            raise typer.Exit(NEEDS_ATTENTION if outdated else 0)
        for path in derive.build(study, tick):
            print_line(f"written: {path}")
    from autograder.doctor.generated_table import stale_checks

    wanted = [load_study(study)] if study else [load_study(name) for name in studies()]
    if generated_mutants:
        for each in wanted:
            run_generated_mutants(each)
    elif stale := [f"{each.name}.{name}" for each in wanted for name in stale_checks(each)]:
        print_error(
            f"feedback on {', '.join(stale)} cannot explain mistakes by generated mutants: run "
            f"{advice('build', '--generated-mutants')}"
        )


def run_generated_mutants(study: Study) -> None:
    """Update the table of the replies of a study's generated mutants."""
    from autograder.doctor.generated_table import write_generated_mutants

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Generated mutants of {study.name}", total=None, note="")
        path = write_generated_mutants(
            study, lambda mutant: bar.update(task, advance=1, note=mutant.description)
        )
    if path:
        print_line(f"written: {path}")


@app.command()
def generate(
    course: CoursePath,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDY", help="By default all studies.", show_default=False),
    ] = None,
    kit: Annotated[
        bool, typer.Option("--kit", help="Only make the archive that students download.")
    ] = False,
    worker: Annotated[
        bool,
        typer.Option("--worker", help="Only make the archive for machines that run submissions."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            help="The archive, .zip or .tar.gz (default: in build/).",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDY",
            help="Discard your edits of this study in source/ (may be repeated).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Generate student versions in the course folder, which is created if necessary.

    Example: autograder generate study3 --course my_course. Files in source/ that you edited are
    replaced only with --replace.
    """
    with report_errors():
        if kit and worker:
            raise UserError("--kit and --worker make different archives: use only one of them")
        folder = CourseFolder.open(course) if (course / CONFIG_FILE).is_file() else None
        if folder:
            course_commands.adapt_studies(folder)
            course_commands.compile_translations(folder)
        wanted = [load_study(name) for name in names or studies()]
        if kit or worker:
            public = course_commands.public_translations(folder, wanted) if folder and kit else None
            make_archive(wanted if kit else None, output, public)
        elif output:
            raise UserError("--output names the archive that --kit or --worker makes: add one")
        else:
            generate_studies(course, wanted, [load_study(name).name for name in replace or []])


def make_archive(
    wanted: list[Study] | None, output: Path | None, translations: bytes | None = None
) -> None:
    """Make the student kit with the `wanted` studies, or the worker kit if that is None."""
    from autograder.release import kit, worker_kit

    path = output or default_folder(f"{worker_kit.NAME if wanted is None else kit.NAME}.zip")
    if output is None:
        path.parent.mkdir(exist_ok=True)
    with errors.status("Making the archive and searching every byte of it for leaks"):
        made = (
            worker_kit.make_worker_kit(path)
            if wanted is None
            else kit.make_kit(wanted, path, translations)
        )
    print_line(
        f"{'worker' if wanted is None else 'student'} kit: {made.path} ({made.files} files, "
        f"SHA-256 {made.digest})"
    )


@app.command()
def grade(
    study: StudyName,
    course: CoursePath,
    *,
    student: Students = None,
    section: Section = None,
    force: Force = False,
    jobs: Jobs = None,
    isolation: Isolated = None,
    scheduler: Scheduler = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each submission's result as JSON.")
    ] = False,
) -> None:
    """Grade the submissions to a study. The exit status is 1 if some need attention.

    Example: autograder grade study3 --section A --course my_course
    """
    with report_errors():
        folder = CourseFolder.open(course)
        student = people.submitters(folder, folder.assignment(study), student, section)
        overrides = {"isolation": isolation and isolation.value, "scheduler": scheduler}
        graded = grade_study(
            folder, folder.assignment(study), student, force=force, jobs=jobs, overrides=overrides
        )
    if as_json:
        print(json.dumps(grades_as_json(graded), indent=1))
    else:
        print_grades(folder, folder.assignment(study), graded, overrides)
    raise typer.Exit(NEEDS_ATTENTION if any(g.needs_a_look for g in graded) else 0)


@app.command()
def feedback(
    study: StudyName,
    course: CoursePath,
    student: Students = None,
    section: Section = None,
    jobs: Jobs = None,
) -> None:
    """Generate feedback pages for all graded students. The exit status is 1 if a page failed.

    Example: autograder feedback study3 --section A --course my_course.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        among = people.submitters(folder, wanted, student, section) if section is not None else None
        complete = print_feedback(
            folder, wanted, feedback_study(folder, wanted, student, jobs, among)
        )
    raise typer.Exit(0 if complete else NEEDS_ATTENTION)


@app.command()
def report(study: StudyName, course: CoursePath, section: Section = None) -> None:
    """Write the report page of an assignment, and the same numbers as CSV.

    Example: autograder report study3 --section A --course my_course writes them for one section.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        folder.require_release(wanted)  # before the slow imports
        from autograder.grading.records.deciding import describe_outdated_results, outdated_results
        from autograder.reporting.report import write_report

        if warning := describe_outdated_results(folder, wanted, outdated_results(folder, wanted)):
            print_error(warning)
        people.update_groups(folder, wanted)
        for path in write_report(folder, wanted, section):
            print_line(f"report: {path}")


@app.command()
def solutions(
    study: StudyName,
    course: Annotated[
        Path | None,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=expand_home,
            show_default=False,
            help="Count this course's mistakes and respect its deadline.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            show_default=False,
            help="The page (default: in a folder solutions/).",
        ),
    ] = None,
    before_deadline: Annotated[
        bool,
        typer.Option("--before-deadline", help="Write it even before the deadline."),
    ] = False,
) -> None:
    """Write a discussion of a study's solutions, to publish after the deadline.

    Example: autograder solutions study3 --course my_course.
    """
    with report_errors():
        folder = CourseFolder.open(course) if course else None
        wanted = load_study(study)
        if output and not output.parent.is_dir():
            raise UserError(f"there is no folder {output.parent}")
        if output and output.is_dir():
            raise UserError(f"{output} is a folder: name a file")
        from autograder.reporting.solutions import write_solutions

        place = folder.root / "solutions" if folder else default_folder("solutions")
        path = output or place / f"{wanted.assignment}.html"
        write_solutions(wanted, path, folder, before_deadline=before_deadline)
        print_line(f"solutions, readable only by you until you publish them: {path}")


@app.command("grade-all")
def grade_all_command(
    study: StudyName,
    course: CoursePath,
    *,
    student: Students = None,
    section: Section = None,
    force: Force = False,
    jobs: Jobs = None,
    isolation: Isolated = None,
    scheduler: Scheduler = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print results, pages and the report as JSON.")
    ] = False,
) -> None:
    """Grade, generate feedback and write the report. The exit status is 1 if some need attention.

    Example: autograder grade-all study3 --section A --course my_course.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        result = grade_all(
            folder,
            folder.assignment(study),
            people.Selection(student, section),
            force=force,
            jobs=jobs,
            overrides={"isolation": isolation and isolation.value, "scheduler": scheduler},
            verbose=not as_json,
        )
    if as_json:
        print(json.dumps(result.to_json(), indent=1))
    raise typer.Exit(NEEDS_ATTENTION if result.needs_a_look else 0)


@app.command()
def plan(
    weeks: Annotated[
        str,
        typer.Argument(
            metavar="WEEKS",
            help="6, 10 or 14, as in docs/teaching; or own, the table [plan] in course.toml.",
            show_default=False,
        ),
    ],
    first_day: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="First day of the first week, for example 2027-01-11.",
            show_default=False,
        ),
    ],
    course: CoursePath,
    roster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            help="Also add this class to the roster.",
            show_default=False,
        ),
    ] = None,
    percent_a_day: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Late penalty, in percent per day or part of a day.",
            show_default=False,
        ),
    ] = None,
    at_most: MaximumPenalty = None,
) -> None:
    """Set up a course by a teaching plan: assignments, due dates, roster and late penalty.

    Example: autograder plan 10 --first-day 2027-01-11 --course my_course.

    Creates the folder if necessary. Assignments that were already generated stay unchanged.
    To move the due dates, run it again with another first day.
    """
    with report_errors():
        from autograder.commands.plan import apply_plan, day_of, due_dates, find_plan
        from autograder.grading.records.late import require_percentages, set_penalty_rule

        begin = day_of(first_day)  # all input is validated before anything is created
        chosen = find_plan(weeks, course)
        due_dates(chosen, begin)
        most = maximum_penalty(percent_a_day, at_most)
        require_percentages(percent_a_day or 0, most)
        students = people.students_in(roster) if roster else []
        folder = CourseFolder.create(course)
        if percent_a_day is not None:
            set_penalty_rule(folder, percent_a_day, most)
        course_commands.adapt_studies(folder)
        apply_plan(folder, chosen, begin)
        if students and roster:
            people.enrol(folder, roster, students)
        print_line(f"{advice('lab', str(folder.root))} opens the course")


@app.command()
def release(study: StudyName, course: CoursePath) -> None:
    """Release a generated assignment into nbgrader's exchange, where students fetch it.

    Example: autograder release study3 --course my_course.
    """
    run_exchange_step("release", study, course)


@app.command()
def collect(
    study: StudyName,
    course: CoursePath,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            callback=expand_home,
            help="An archive of Canvas, Moodle, GitHub Classroom or Gradescope.",
            show_default=False,
        ),
    ] = None,
    system: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="One of canvas, moodle, github, gradescope (default: detected).",
            show_default=False,
        ),
    ] = "",
    times: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            help="A table of times, such as Moodle's grading worksheet.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Collect what students have submitted, through the exchange or in an archive.

    Example: autograder collect study3 --from submissions.zip --course my_course. The exit status is
    1 if something in the archive was not collected.
    """
    if source is None and not (times or system):
        run_exchange_step("collect", study, course)
        return
    with report_errors():
        if source is None:
            raise UserError("--format and --times belong to --from: name the archive as well")
        folder = CourseFolder.open(course)
        from autograder.commands.lms.archives import collect_archive

        complete = collect_archive(folder, folder.assignment(study), source, system, times)
    raise typer.Exit(0 if complete else NEEDS_ATTENTION)


@app.command("release-feedback")
def release_feedback(study: StudyName, course: CoursePath, section: Section = None) -> None:
    """Release the feedback pages into nbgrader's exchange, where students fetch them.

    Example: autograder release-feedback study3 --section A --course my_course.
    """
    run_exchange_step("release-feedback", study, course, section)


def run_exchange_step(step: str, study: str, course: Path, section: str | None = None) -> None:
    """Run a step of nbgrader's exchange, and print its result."""
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        from autograder.commands.exchange import exchange

        students = folder.people().in_section(section) if section is not None else None
        print_line(exchange(folder, wanted, step, students))


@app.command("late-penalties")
def late_penalties(
    study: StudyName,
    course: CoursePath,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Due date (course time), for example '2026-03-02 10:00'.",
            show_default=False,
        ),
    ] = None,
    percent_a_day: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Late penalty, in percent per day or part of a day.",
            show_default=False,
        ),
    ] = None,
    at_most: MaximumPenalty = None,
) -> None:
    """Recalculate late penalties, for example after marking or after a new due date.

    Example: autograder late-penalties study3 --due '2027-03-02 10:00' --course my_course.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        folder.require_release(wanted)
        from autograder.grading.mark_history.changes import PENALTY_CHANGED, recording
        from autograder.grading.records import late as lateness
        from autograder.grading.records.gradebook_reader import require_gradebook

        most = maximum_penalty(percent_a_day, at_most)
        if percent_a_day is not None and due is None:  # may replace a file that cannot be read
            lateness.set_penalty_rule(folder, percent_a_day, most)
        zone = course_zone(folder.config())
        require_gradebook(folder, wanted.assignment)
        when = None if due is None else parse_due(due, zone)  # parsed before anything is changed
        if percent_a_day is not None and due is not None:
            lateness.set_penalty_rule(folder, percent_a_day, most)
        if when:
            print_line(f"due date of {wanted.assignment}: {format_due(when, zone)}")
            lateness.set_due_date(folder, wanted, when)
        people.update_groups(folder, wanted)
        with recording(folder, wanted.assignment, PENALTY_CHANGED):
            penalties = lateness.update_penalties(folder, wanted)
        for late in penalties:
            print_line(lateness.describe_late(wanted.assignment, late))
        for student, why in lateness.unknown_times(folder, wanted).items():
            print_error(
                f"{wanted.assignment}/{student}: the time of submission is unknown, so there "
                f"is no penalty: timestamp.txt: {why}"
            )
        print_line(f"late submissions of {wanted.assignment}: {len(penalties)}")


@app.command()
def export(
    course: CoursePath,
    *,
    kind: Annotated[
        Format, typer.Option("--format", metavar="NAME", help="One of gradebook, canvas, moodle.")
    ] = Format.GRADEBOOK,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDY=COLUMN",
            help="An assignment's column in Canvas, for example study3=12345.",
            show_default=False,
        ),
    ] = None,
    worksheet: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            help="Fill Moodle's grading worksheet of the assignment --study.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(metavar="STUDY", help="The assignment of --worksheet.", show_default=False),
    ] = None,
    section: Section = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=expand_home,
            help="The CSV file, or - for stdout (default: in reports/).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the marks of all assignments as CSV, or fill a grading worksheet.

    Examples: autograder export --format canvas --column study3=12345 --output canvas.csv, and
    autograder export --worksheet Grades.csv --study study3.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        choose_columns(folder, column or [])
        from autograder.reporting import export as exporting

        name = kind.value + exporting.suffix(section)
        if worksheet or study:
            from autograder.commands.lms.worksheets import filled_worksheet

            if section:
                raise UserError("a grading worksheet is filled for all students: omit --section")
            name, text = filled_worksheet(folder, worksheet, study)
        else:
            text = exported_marks(folder, kind, section)
        if output == Path("-"):
            typer.echo(text.encode("utf-8"), nl=False)  # in UTF-8 regardless of the terminal
            return
        path = output or folder.root / "reports" / f"{name}.csv"
        if output is None:
            path.parent.mkdir(exist_ok=True)
        elif not path.parent.is_dir():
            raise UserError(f"there is no folder {path.parent}")
        path.write_text(text, "utf-8", newline="")
        print_line(f"marks for {name}: {path}")


def exported_marks(folder: CourseFolder, kind: str, section: str | None) -> str:
    """Return the marks of the course, or of a section, as CSV, and print warnings about them."""
    from autograder.reporting import export as exporting

    people.update_groups(folder)
    roster = exporting.read_marks(folder)
    if section:
        roster = exporting.in_section(roster, section)
    for warning in exporting.warnings(roster, kind):
        print_error(warning)
    return exporting.export(roster, kind)


def choose_columns(folder: CourseFolder, choices: list[str]) -> None:
    """Remember columns of Canvas's gradebook, each written as STUDY=COLUMN."""
    from autograder.lms.canvas import choose_column

    for choice in choices:
        study, sign, name = choice.partition("=")
        if not sign or not name:
            raise UserError(f"--column {choice!r} must be STUDY=COLUMN, for example study3=12345")
        choose_column(folder, folder.assignment(study).assignment, name)


@app.command()
def doctor(
    study: StudyName,
    course: Annotated[
        Path | None,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=expand_home,
            show_default=False,
            help="Also check this course folder's gradebook and exchange.",
        ),
    ] = None,
    *,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also test kinds of cases, all generated mutants and what they cost, and public "
            "code; takes up to half an hour.",
        ),
    ] = False,
    costs: Annotated[
        bool,
        typer.Option(
            "--costs", help="Also write the table of what each mistake costs; takes minutes."
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="S", help="Random seed of the fresh positions for --all.")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="Run the modules on the workers of this Dask scheduler.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show every module, not only those with problems."),
    ] = False,
) -> None:
    """Verify a study: all modules get the expected marks, mutants cover the stub, nothing leaks.

    Example: autograder doctor study3 --all.
    """
    from autograder import doctor as proofs

    with report_errors(), use_cluster(scheduler):
        around = []
        if course:
            folder = CourseFolder.open(course)
            course_commands.adapt_studies(folder)
            around = [
                *proofs.gradebook(folder),
                *proofs.exchange(folder),
                *proofs.read_by_others(folder),
            ]
        examined = load_study(study)
        coverage, uncovered = proofs.stub_coverage(examined)
        complaints = [*proofs.environment(), *around, *proofs.leaks(examined), *uncovered]
        with progress() as bar:
            task = bar.add_task(f"Examining {examined.name}", total=None, note="")
            findings = proofs.examine(
                examined, lambda finding: bar.update(task, advance=1, note=finding.name)
            )
    show_findings(examined, findings, verbose)
    print_line(coverage)
    with report_errors():
        notes, problems = proofs.examine_variant(examined, findings)
    complaints += problems
    for note in notes:
        print_line(note)
    if course:
        for note in proofs.answers_read_by_others():
            print_line(f"if students use this machine: {note}")
    if everything:
        with report_errors(), use_cluster(scheduler):
            complaints += check_dimensions(examined)
            complaints += check_generated_mutants(examined, seed, verbose)
            complaints += check_public_cases(examined)
            complaints += check_public_code(examined)
    if everything or costs:
        with use_cluster(scheduler):
            complaints += measure_costs(examined, verbose, everything, costs)
    for complaint in complaints:
        print_error(f"problem: {complaint}")
    unexpected = sum(not finding.healthy for finding in findings)
    mutants = sum(finding.name not in ANSWERS for finding in findings)
    verdict = "NOT ready to release" if unexpected or complaints else "ready to release"
    print_line(
        f"{examined.name}: {mutants} mutants, {unexpected} modules not marked as expected, "
        f"{len(complaints)} other problems: {verdict}"
    )
    raise typer.Exit(NEEDS_ATTENTION if unexpected or complaints else 0)


@contextmanager
def use_cluster(scheduler: str | None) -> Iterator[None]:
    """Run modules on a cluster, if one is given; print which of its workers cannot be used."""
    from autograder import workspace
    from autograder.sandbox.cluster import Cluster, ClusterUnavailable

    if scheduler is None:
        yield
        return
    try:
        with closing(Cluster(scheduler, print_error)) as cluster, workspace.use_cluster(cluster):
            yield
    except ClusterUnavailable as error:
        raise UserError(str(error)) from error


def check_dimensions(study: Study) -> list[str]:
    """Print which kinds of cases a study's checks have, and which mutants break each sentence of its
    stub; return a sentence for each gap.
    """
    from autograder.doctor.dimensions import (
        dimension_table,
        direction_problems,
        sentence_directions,
    )
    from autograder.doctor.stub_coverage import sentence_coverage

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Kinds of cases of {study.name}", total=None, note="")
        table = dimension_table(study, progress=lambda name: bar.update(task, advance=1, note=name))
        coverage, _ = sentence_coverage(study)
        directions = sentence_directions(coverage, table)
        problems = [*table.problems, *direction_problems(study, directions)]
    show_sentences(study, directions)
    show_dimensions(table)
    return problems


def check_generated_mutants(study: Study, seed: int, verbose: bool) -> list[str]:
    """Test the generated mutants of a study; return a sentence for each one that survives."""
    from autograder.doctor.mutation_testing import run_mutation_testing

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Generated mutants of {study.name}", total=None, note="")
        proof = run_mutation_testing(
            study, seed, progress=lambda what: bar.update(task, advance=1, note=what)
        )
    print_line(
        f"{study.name}, generated mutants: {proof.generated} made, {proof.killed} killed by a hidden "
        f"position, {len(proof.equivalent)} equivalent (no difference on {proof.fresh_cases} fresh "
        f"cases), {len(proof.survivors)} alive, {proof.seconds:.0f} s"
    )
    if verbose:
        for mutant in proof.equivalent:
            print_line(f"  equivalent, {mutant.name}")
    return [
        f"no hidden position of {alive.check} detects the mutant in line {alive.mutant.line} of the "
        f"answer, {alive.mutant.description}; this case does: {dict(alive.case)}"
        for alive in proof.survivors
    ]


def check_public_cases(study: Study) -> list[str]:
    """Return a sentence for each wrong module that only the public cases of a study detect."""
    from autograder.doctor.mutation_testing import (
        lost_only_in_public_cases,
        outsiders_detected_only_in_public_cases,
    )

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Outsiders' modules of {study.name}", total=None, note="")
        undetected = lost_only_in_public_cases(study) + outsiders_detected_only_in_public_cases(
            study, lambda name: bar.update(task, advance=1, note=name)
        )
    print_line(
        f"{study.name}, wrong modules that public cases detect: the hidden cases miss "
        f"{len(undetected)} losses"
    )
    return undetected


def check_public_code(study: Study) -> list[str]:
    """Grade all public code as answers; return a sentence for each piece of code that earns marks."""
    from autograder.doctor.public_code import find_accidental_answers

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Public code as answers to {study.name}", total=None, note="")
        tried, answered = find_accidental_answers(
            study, lambda name: bar.update(task, advance=1, note=name)
        )
    print_line(
        f"{study.name}, public code: {tried} functions and classes submitted as answers, "
        f"{len(answered)} earn marks"
    )
    return list(map(str, answered))


def measure_costs(study: Study, verbose: bool, everything: bool, write: bool) -> list[str]:
    """Measure what each mistake costs, print a summary, and return the excessive costs.

    If `everything`, all generated mutants are measured, otherwise a sample. All costs are printed
    as a table if `verbose`. The table with the sample is written to its file if `write`.
    """
    from autograder.doctor import mutant_costs

    with report_errors(), progress() as bar:
        task = bar.add_task(f"Costs of mistakes in {study.name}", total=None, note="")
        costs = mutant_costs.mutant_costs(
            study,
            progress=lambda name: bar.update(task, advance=1, note=name),
            everything=everything,
        )
    print_line(
        f"{study.name}, errors carried forward: {sum(not cost.elsewhere for cost in costs)} of "
        f"{len(costs)} mistakes cost nothing outside their own checks"
    )
    if verbose:
        print_line(mutant_costs.costs_table(study, costs))
    if write:
        table = mutant_costs.costs_table(study, [cost for cost in costs if cost.in_table])
        mutant_costs.costs_file(study).write_text(table, "utf-8")
    return [
        f"{cost.name} costs {cost.elsewhere:.2f} of {cost.points:g} points outside its own checks"
        for cost in costs
        if cost.is_excessive
    ]


@app.command("draw-positions")
def draw_positions(
    study: StudyName,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="S",
            help="Random seed (default: a secret one).",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the present positions, and only add missing ones.")
    ] = False,
    course: OptionalCourse = None,
) -> None:
    """Replace the hidden positions of a study with new ones that detect every mutant.

    Example: autograder draw-positions study3 --course my_course.

    Then run `build` and `doctor` for the study. Do this every year, and before you accept
    resubmissions. Each line of the table explains why its position was chosen.
    """
    with report_errors():
        from autograder.doctor.case_selection import as_table, choose_cases
        from autograder.release.own_course.adapted_studies import own_cases_file
        from autograder.studies.hidden_cases import cases_file

        folder = CourseFolder.open(course) if course else None
        chosen = load_study(study)
        drawn = secrets.randbits(32) if seed is None else seed
        with progress() as bar:
            task = bar.add_task(f"Running the mutants of {chosen.name}", total=None, note="")
            choice = choose_cases(
                chosen.name,
                drawn,
                keep=keep,
                progress=lambda what: bar.update(task, advance=1, note=what),
            )
    for chosen_check in choice.checks:
        print_line(f"{chosen.name}.{chosen_check.check.name}: {len(chosen_check.cases)} cases")
    print_line(
        f"{chosen.name}: {choice.mutants} mutants, {len(choice.unseen)} not detected by "
        f"{choice.drawn} fresh cases, {len(choice.once)} detected by a single case; seed {drawn}"
    )
    for missing in choice.missing:
        print_error(f"no fresh case detects the mistake {missing}")
    for value in choice.uncovered:
        print_error(f"no usable case was drawn with this value: {value}")
    if choice.missing:
        print_error(f"{chosen.name}: the positions are unchanged; try another seed")
        raise typer.Exit(NEEDS_ATTENTION)
    root = folder.root if folder else None
    file, build_command = cases_file(chosen), advice("build", chosen.name, course=root)
    if folder and not course_commands.is_own_study(folder, chosen.name):
        file, build_command = own_cases_file(folder, chosen.name), advice("adapt", course=root)
        file.parent.mkdir(exist_ok=True)
    file.write_text(as_table(choice), "utf-8")
    print_line(
        f"written: {file}; now run {build_command}, then "
        f"{advice('doctor', chosen.name, course=root)}"
    )


@app.command()
def book(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            callback=expand_home,
            help="Output folder; an earlier book there is replaced.",
            default_factory=lambda: default_folder("book"),
            show_default="the kit's build/book",
        ),
    ],
    notebook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this notebook (may be repeated).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a static site of the course: every notebook, run with the reference answers.

    Example: autograder book build/book.
    """
    with report_errors():
        from autograder.release import book as site

        wanted = site.sources(notebook)
        with progress() as bar:
            task = bar.add_task("Running", total=site.count_cells(wanted), note=wanted[0].name)
            try:
                page = site.write_book(
                    folder, wanted, lambda name: bar.update(task, advance=1, note=name), print_error
                )
            except KeyboardInterrupt as stop:
                print_error("autograder: stopped; no book was written, an earlier one is unchanged")
                raise typer.Exit(exit_status(stop)) from None
        print_line(f"book: {page}")


@app.command()
def site(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            callback=expand_home,
            help="Output folder; an earlier site there is replaced.",
            default_factory=lambda: default_folder("site"),
            show_default="the kit's build/site",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Only this study (may be repeated).",
            show_default=False,
        ),
    ] = None,
    with_plotting: Annotated[
        bool,
        typer.Option(
            "--with-numpy-from-cdn", help="Fetch numpy and matplotlib from Pyodide's server."
        ),
    ] = False,
) -> None:
    """Make the book with notebooks that run in the browser, without any installation.

    Example: autograder site build/site --study study1.
    """
    with report_errors():
        wanted = [load_study(name) for name in names or studies()]
        from autograder.release import book as pages
        from autograder.release import site as live

        with progress() as bar:
            task = bar.add_task("Running", total=pages.count_cells(live.chapters(wanted)), note="")
            try:
                page = live.write_site(
                    folder,
                    wanted,
                    default_folder("site-cache"),
                    lambda what: bar.update(task, note=what),
                    lambda name: bar.update(task, advance=1, note=name),
                    print_error,
                    options=live.Options(with_plotting),
                )
            except KeyboardInterrupt as stop:
                print_error("autograder: stopped; no site was written, an earlier one is unchanged")
                raise typer.Exit(exit_status(stop)) from None
        print_line(f"site: {page} ({live.megabytes(folder):.0f} MB)")
        print_line(
            "the site needs a web server; to view it locally, run: "
            f"python3 -m http.server --bind 127.0.0.1 --directory {folder}"
        )


@app.command()
def slides(
    output: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            callback=expand_home,
            help="Output folder; earlier decks there are replaced.",
            default_factory=lambda: default_folder("slides"),
            show_default="the kit's build/slides",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDY", help="By default all studies.", show_default=False),
    ] = None,
) -> None:
    """Make slides from the notebooks, run with the reference answers: one deck per study.

    Example: autograder slides study3.
    """
    with report_errors():
        studies_wanted = [load_study(name) for name in names or studies()]
        from autograder.release import book as site
        from autograder.release import slides as decks

        wanted = decks.sources_of(studies_wanted)
        with progress() as bar:
            task = bar.add_task("Running", total=site.count_cells(wanted), note=wanted[0].name)
            made = decks.write_slides(
                output, wanted, lambda name: bar.update(task, advance=1, note=name)
            )
        for path in made:
            print_line(f"slides: {path}")


@app.command()
def demo(
    course: Annotated[
        Path,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=expand_home,
            help="Output folder; an earlier demo there is replaced.",
            default_factory=lambda: default_folder("demo"),
            show_default="the kit's build/demo",
        ),
    ],
    jobs: Jobs = None,
) -> None:
    """Run everything once: generate every assignment, grade a bundled class, write all pages.

    Example: autograder demo --course build/demo.
    """
    with report_errors():
        from autograder.release import demo as bundled

        wanted = [load_study(name) for name in studies()]
        bundled.clear_target(course)
        folder = generate_studies(course, wanted)
        students = bundled.submit_work(folder)
        print_line(f"submissions of {students} students: {folder.root / 'submitted'}")
        from autograder.reporting.report import write_report

        pages: list[Path] = []
        for study in wanted:
            print_grades(folder, study, grade_study(folder, study, jobs=jobs))
            print_feedback(folder, study, feedback_study(folder, study, jobs=jobs))
            pages += write_report(folder, study)
    console.print()
    console.print(
        locations_table(
            [
                ("Gradebook", folder.root / "gradebook.db"),
                ("Feedback", folder.root / "feedback"),
                *(("Report", path) for path in pages if path.suffix == ".html"),
                (
                    "In the browser",
                    f"{advice('lab', str(folder.root)).strip('`')}: an overview with links, and "
                    "formgrader in the menu Nbgrader",
                ),
            ]
        )
    )


if __name__ == "__main__":
    app()


course_commands.add_to(app)
next_year.add_to(app)
people.add_to(app)
publishing.add_to(app)
similarity.add_to(app)
