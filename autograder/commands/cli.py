"""The `autograder` command line: one function for each subcommand."""

import autograder.grading.quick_start  # noqa: F401, I001 - before nbformat

import json
import secrets
import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from traitlets import TraitError

from autograder.course_folder import CONFIG_FILE, CourseFolder, nfc
from autograder.errors import Refused, in_words, of_the_machine
from autograder.commands.console import (
    complain,
    console,
    errors,
    lose_no_letter,
    progress,
    say,
    show_findings,
    where_table,
)
from autograder.commands.evening import whole_evening
from autograder.commands.progress import (
    feedback_study,
    grade_study,
    grades_as_json,
    release_studies,
    tell_feedback,
    tell_grades,
)
from autograder.commands.stopping import exit_status, stoppable
from autograder.times import course_zone, parse_due, show_due
from course.probes import Study, StudyTableError, UnknownCheck, load_study, studies

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Release assignments, grade classes, write feedback and reports.",
)

BAD_INPUT, NEEDS_A_LOOK = 2, 1  # exit statuses
ANSWERS = ("reference", "second", "stub")  # the modules of a study that are no mutants
KIT = Path(__file__).parents[2]


def kit_folder(name: str) -> Path:
    """A folder under `build/`: that of the checkout if there is one, else the current folder's."""
    return (KIT if (KIT / "pyproject.toml").is_file() else Path()) / "build" / name


class Isolation(StrEnum):
    """Where submissions run."""

    SANDBOX = "sandbox"
    PROCESS = "process"


class Format(StrEnum):
    """The formats that marks are exported in."""

    GRADEBOOK = "gradebook"
    CANVAS = "canvas"
    MOODLE = "moodle"


def at_home(path: Path | None) -> Path | None:
    """A path in which ~ is the home folder: a shell leaves it in `--course=~/course`."""
    try:
        return path and path.expanduser()
    except RuntimeError:
        raise typer.BadParameter(f"there is no home folder {path.parts[0]}") from None


StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A study, like study3 or study3_type_a.", show_default=False
    ),
]
CoursePath = Annotated[
    Path,
    typer.Option(
        "--course",
        "-c",
        metavar="FOLDER",
        callback=at_home,
        help="The nbgrader course folder.",
        default_factory=lambda: kit_folder("course"),
        show_default="the kit's build/course",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, help="How many at once; by default one per core, or worker.", show_default=False
    ),
]
Students = Annotated[
    list[str] | None,
    typer.Option(
        "--student",
        callback=lambda names: names and [nfc(name) for name in names],
        help="Only this student; may be given several times.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Grade unchanged submissions again, too.")]
Isolated = Annotated[
    Isolation | None,
    typer.Option(
        "--isolation",
        metavar="WHERE",
        help="Sandbox or process; by default as configured.",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Use Dask's workers; ADDRESS is like tcp://host:8786.",
        show_default=False,
    ),
]


@contextmanager
def told() -> Iterator[None]:
    """Report bad input and refusals in one sentence, and exit with a non-zero status."""
    lose_no_letter()
    try:
        with stoppable():
            yield
    except (Refused, UnknownCheck, StudyTableError) as error:
        complain(f"autograder: {error}")
        raise typer.Exit(BAD_INPUT) from None
    except TraitError as error:
        complain(
            f"autograder: the course's {CONFIG_FILE} has a setting of a wrong kind: "
            f"{' '.join(str(error).split())}"
        )
        raise typer.Exit(BAD_INPUT) from None
    except Exception as error:
        if of_the_machine(error) is None:
            raise
        complain(f"autograder: {in_words(error)}")
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # a terminal that was closed shows nothing
            complain(
                "autograder: stopped; finished work is kept, "
                "and the same command continues from there"
            )
        raise typer.Exit(exit_status(stop)) from None


@app.command()
def build(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="By default all studies.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if a file is out of date.")
    ] = False,
    machine: Annotated[
        bool,
        typer.Option(
            "--machine", help="Also ask the mutants made by machine, for feedback: some minutes."
        ),
    ] = False,
) -> None:
    """Derive stubs, notebooks, expected replies and node counts from their sources."""
    from autograder.release import derive

    with told(), errors.status("") as status:

        def tick(step: str) -> None:
            status.update(step)

        if check:
            stale = [
                path
                for path, text in derive.derived_files(study, tick)
                if not path.exists() or path.read_text("utf-8") != text
            ]
            for path in stale:
                complain(f"out of date: {path}")
            raise typer.Exit(NEEDS_A_LOOK if stale else 0)
        for path in derive.build(study, tick):
            say(f"written: {path}")
    from autograder.doctor.machine_table import stale_checks

    wanted = [load_study(study)] if study else [load_study(name) for name in studies()]
    if machine:
        for each in wanted:
            ask_machine_mutants(each)
    elif stale := [f"{each.name}.{name}" for each in wanted for name in stale_checks(each)]:
        complain(
            f"feedback names no machine-made slips in {', '.join(stale)} until `autograder "
            "build --machine` has run"
        )


def ask_machine_mutants(study: Study) -> None:
    """Write what is out of date in the table of what a study's machine-made mutants reply."""
    from autograder.doctor.machine_table import write_machine_table

    with told(), progress() as bar:
        task = bar.add_task(f"Mutants of {study.name} by machine", total=None, note="")
        path = write_machine_table(
            study, lambda mutant: bar.update(task, advance=1, note=mutant.what)
        )
    if path:
        say(f"written: {path}")


@app.command()
def release(
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
            callback=at_home,
            help="The archive, a .zip or .tar.gz; by default in build/.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Release assignments into the course folder, which is created if it does not exist."""
    with told():
        wanted = [load_study(name) for name in names or studies()]
        if kit and worker:
            raise Refused("--kit and --worker make two archives: give one of them at a time")
        if kit or worker:
            release_archive(wanted if kit else None, output)
        elif output:
            raise Refused("--output names the archive that --kit or --worker makes: add one")
        else:
            release_studies(course, wanted)


def release_archive(wanted: list[Study] | None, output: Path | None) -> None:
    """Make the student kit with the studies that are `wanted`, or without any the worker kit, and
    say where it is."""
    from autograder.release import kit, worker_kit

    path = output or kit_folder(f"{worker_kit.NAME if wanted is None else kit.NAME}.zip")
    if output is None:
        path.parent.mkdir(exist_ok=True)
    with errors.status("Making the archive and searching every byte of it for leaks"):
        made = worker_kit.make_worker_kit(path) if wanted is None else kit.make_kit(wanted, path)
    say(
        f"{'worker' if wanted is None else 'student'} kit: {made.path} ({made.files} files, "
        f"SHA-256 {made.digest})"
    )


@app.command()
def grade(
    study: StudyName,
    course: CoursePath,
    *,
    student: Students = None,
    force: Force = False,
    jobs: Jobs = None,
    isolation: Isolated = None,
    scheduler: Scheduler = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each submission's result as JSON.")
    ] = False,
) -> None:
    """Grade the submissions to a study. Exit status 1 if some need a look."""
    with told():
        folder = CourseFolder.open(course)
        where = {"isolation": isolation and isolation.value, "scheduler": scheduler}
        graded = grade_study(
            folder, folder.assignment(study), student, force=force, jobs=jobs, where=where
        )
    if as_json:
        print(json.dumps(grades_as_json(graded), indent=1))
    else:
        tell_grades(folder, folder.assignment(study), graded, where)
    raise typer.Exit(NEEDS_A_LOOK if any(g.needs_a_look for g in graded) else 0)


@app.command()
def feedback(
    study: StudyName, course: CoursePath, student: Students = None, jobs: Jobs = None
) -> None:
    """Write the feedback pages of everybody who has been graded. Exit status 1 if some failed."""
    with told():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        whole = tell_feedback(folder, wanted, feedback_study(folder, wanted, student, jobs))
    raise typer.Exit(0 if whole else NEEDS_A_LOOK)


@app.command()
def report(study: StudyName, course: CoursePath) -> None:
    """Write the report page of an assignment, and the same numbers as CSV."""
    with told():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        folder.require_release(wanted)  # at once: what comes next is slow to import
        from autograder.grading.deciding import out_of_date, out_of_date_in_words
        from autograder.telling.report import write_report

        if said := out_of_date_in_words(wanted, out_of_date(folder, wanted)):
            complain(said)
        for path in write_report(folder, wanted):
            say(f"report: {path}")


@app.command()
def solutions(
    study: StudyName,
    course: Annotated[
        Path | None,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=at_home,
            show_default=False,
            help="A course: its mistakes are counted, its deadline holds.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=at_home,
            show_default=False,
            help="The page; by default in a folder solutions/.",
        ),
    ] = None,
    before_deadline: Annotated[
        bool, typer.Option("--before-deadline", help="Make it although students may still hand in.")
    ] = False,
) -> None:
    """Write a discussion of a study's solutions, to hand out after the deadline."""
    with told():
        wanted = load_study(study)
        folder = CourseFolder.open(course) if course else None
        if output and not output.parent.is_dir():
            raise Refused(f"there is no folder {output.parent}")
        if output and output.is_dir():
            raise Refused(f"{output} is a folder: name a file")
        from autograder.telling.solutions import write_solutions

        place = folder.root / "solutions" if folder else kit_folder("solutions")
        path = output or place / f"{wanted.assignment}.html"
        write_solutions(wanted, path, folder, before_deadline=before_deadline)
        say(f"solutions, which only you can read until you hand them out: {path}")


@app.command()
def evening(
    study: StudyName,
    course: CoursePath,
    *,
    student: Students = None,
    force: Force = False,
    jobs: Jobs = None,
    isolation: Isolated = None,
    scheduler: Scheduler = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print results, pages and the report as JSON.")
    ] = False,
) -> None:
    """Grade, write feedback and write the report, in one go. Exit status 1 if some need a look."""
    with told():
        folder = CourseFolder.open(course)
        found = whole_evening(
            folder,
            folder.assignment(study),
            student,
            force=force,
            jobs=jobs,
            where={"isolation": isolation and isolation.value, "scheduler": scheduler},
            tell=not as_json,
        )
    if as_json:
        print(json.dumps(found.to_json(), indent=1))
    raise typer.Exit(NEEDS_A_LOOK if found.needs_a_look else 0)


@app.command()
def roster(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=at_home,
            help="A CSV file with a column id, and names if you like.",
        ),
    ],
    course: CoursePath,
) -> None:
    """Put a class on the roster of a course folder, which is created if it does not exist."""
    with told():
        found = class_of(file)
        enrol(CourseFolder.create(course), found)


def class_of(file: Path) -> list[dict[str, str]]:
    """The students that a file lists; refused if there is no such file, or no class in it."""
    from autograder.commands.roster import load_roster

    if not file.is_file():
        raise Refused(f"there is no file {file}")
    return load_roster(file)


def enrol(folder: CourseFolder, students: list[dict[str, str]]) -> None:
    """Put students on the course's roster, and say how many."""
    from autograder.commands.roster import add_roster

    add_roster(folder, students)
    say(f"put on the roster of {folder.root}, or brought up to date there: {len(students)}")


@app.command()
def plan(
    weeks: Annotated[
        int,
        typer.Argument(
            metavar="WEEKS", help="6, 10 or 14, as in docs/teaching.", show_default=False
        ),
    ],
    first_day: Annotated[
        str,
        typer.Option(
            metavar="DATE",
            help="The day on which the first week begins, like 2027-01-11.",
            show_default=False,
        ),
    ],
    course: CoursePath,
    roster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=at_home,
            help="Also put this class on the roster.",
            show_default=False,
        ),
    ] = None,
    percent_a_day: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Late work loses so many percent a day begun.", show_default=False
        ),
    ] = None,
    at_most: Annotated[float, typer.Option(metavar="P", help="Percent at most.")] = 100,
) -> None:
    """Set a course up by a teaching plan: releases and due dates, the class and the late rule.

    The folder is made if need be. Studies that were released stay as they are.
    Run it again with another day, and the due dates move.
    """
    with told():
        from autograder.commands.plan import day_of, due_dates, follow
        from autograder.grading.late import require_percentages, set_rule

        begin = day_of(first_day)  # all that is given is looked at before anything is made
        due_dates(weeks, begin)
        require_percentages(percent_a_day or 0, at_most)
        found = class_of(roster) if roster else []
        folder = CourseFolder.create(course)
        if percent_a_day is not None:
            set_rule(folder, percent_a_day, at_most)
        follow(folder, weeks, begin)
        if found:
            enrol(folder, found)
        say(f"`python3 run.py lab {shlex.quote(str(folder.root))}` opens the course")


@app.command("hand-out")
def hand_out(study: StudyName, course: CoursePath) -> None:
    """Put a released assignment into nbgrader's exchange, where students fetch it."""
    take_step("hand-out", study, course)


@app.command()
def collect(study: StudyName, course: CoursePath) -> None:
    """Collect what students have submitted through nbgrader's exchange."""
    take_step("collect", study, course)


@app.command("hand-back")
def hand_back(study: StudyName, course: CoursePath) -> None:
    """Return the feedback pages to students through nbgrader's exchange."""
    take_step("hand-back", study, course)


def take_step(step: str, study: str, course: Path) -> None:
    """Take a step of nbgrader's exchange, and say what came of it."""
    with told():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        from autograder.commands.exchange import exchange

        say(exchange(folder, wanted, step))


@app.command()
def late(
    study: StudyName,
    course: CoursePath,
    due: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Due, like '2026-03-02 10:00' in the course's time zone.",
            show_default=False,
        ),
    ] = None,
    percent_a_day: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Percent of the score for each day begun.", show_default=False
        ),
    ] = None,
    at_most: Annotated[float, typer.Option(metavar="P", help="Percent at most.")] = 100,
) -> None:
    """Work out the penalties of late submissions again: after marking, and after a new due date."""
    with told():
        folder = CourseFolder.open(course)
        wanted = folder.assignment(study)
        folder.require_release(wanted)
        from autograder.grading import late as lateness

        if percent_a_day is not None and not due:  # it may replace a file that cannot be read
            lateness.set_rule(folder, percent_a_day, at_most)
        zone = course_zone(folder.config())
        when = parse_due(due, zone) if due else None  # before anything is changed
        if percent_a_day is not None and due:
            lateness.set_rule(folder, percent_a_day, at_most)
        if when:
            say(f"due date of {wanted.assignment}: {show_due(when, zone)}")
            lateness.set_due(folder, wanted, when)
        found = lateness.work_out(folder, wanted)
        for student, seconds, penalty in found:
            say(
                f"{wanted.assignment}/{student}: {seconds / 3600:.1f} hours late, "
                f"{penalty:g} points off"
            )
        for student, why in lateness.unknown_times(folder, wanted).items():
            complain(
                f"{wanted.assignment}/{student}: the time of submission is unknown, so there "
                f"is no penalty: timestamp.txt: {why}"
            )
        say(f"late submissions of {wanted.assignment}: {len(found)}")


@app.command()
def export(
    course: CoursePath,
    kind: Annotated[
        Format, typer.Option("--format", metavar="NAME", help="One of gradebook, canvas, moodle.")
    ] = Format.GRADEBOOK,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=at_home,
            help="The CSV file, - for stdout; by default in reports/.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the marks of all assignments as CSV."""
    with told():
        folder = CourseFolder.open(course)
        from autograder.telling import export as exporting

        roster = exporting.read_marks(folder)
        text = exporting.export(roster, kind)
        for warning in exporting.warnings(roster):
            complain(warning)
        if output == Path("-"):
            typer.echo(text.encode("utf-8"), nl=False)  # whatever the terminal's letters are
            return
        path = output or folder.root / "reports" / f"{kind}.csv"
        if output is None:
            path.parent.mkdir(exist_ok=True)
        elif not path.parent.is_dir():
            raise Refused(f"there is no folder {path.parent}")
        path.write_text(text, "utf-8", newline="")
        say(f"marks for {kind}: {path}")


@app.command()
def doctor(
    study: StudyName,
    course: Annotated[
        Path | None,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=at_home,
            show_default=False,
            help="Also check that this course folder's gradebook and exchange work.",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also make mutants by machine and try all that is given: minutes."
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="S", help="Draws the fresh positions for --all.")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="A Dask scheduler, whose workers run the staff's modules.",
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show every module, not only those that are wrong."),
    ] = False,
) -> None:
    """Verify a study: modules get the marks that they should, promises are asked; no leaks."""
    from autograder import doctor as proofs

    with told(), asking_on(scheduler):
        examined = load_study(study)
        around = []
        if course:
            folder = CourseFolder.open(course)
            around = [
                *proofs.gradebook(folder),
                *proofs.exchange(folder),
                *proofs.read_by_others(folder),
            ]
        promised, broken = proofs.broken_promises(examined)
        complaints = [*proofs.environment(), *around, *proofs.leaks(examined), *broken]
        with progress() as bar:
            task = bar.add_task(f"Examining {examined.name}", total=None, note="")
            findings = proofs.examine(
                examined, lambda finding: bar.update(task, advance=1, note=finding.name)
            )
    show_findings(examined, findings, verbose)
    say(promised)
    if course:
        for note in proofs.answers_read_by_others():
            say(f"if students use this machine: {note}")
    if everything:
        with told(), asking_on(scheduler):
            complaints += [*by_machine(examined, seed, verbose), *by_given(examined)]
            show_carried(examined, verbose)
    for complaint in complaints:
        complain(f"problem: {complaint}")
    sick = sum(not finding.healthy for finding in findings)
    mutants = sum(finding.name not in ANSWERS for finding in findings)
    verdict = "NOT ready to release" if sick or complaints else "ready to release"
    say(
        f"{examined.name}: {mutants} mutants, {sick} modules not marked as expected, "
        f"{len(complaints)} other problems: {verdict}"
    )
    raise typer.Exit(NEEDS_A_LOOK if sick or complaints else 0)


@contextmanager
def asking_on(scheduler: str | None) -> Iterator[None]:
    """Ask modules on a cluster, if one is named; says which of its workers are not used."""
    from autograder import workspace
    from autograder.sandbox.cluster import Cluster, ClusterGone

    if scheduler is None:
        yield
        return
    try:
        with closing(Cluster(scheduler, complain)) as cluster, workspace.asking_on(cluster):
            yield
    except ClusterGone as error:
        raise Refused(str(error)) from error


def by_machine(study: Study, seed: int, verbose: bool) -> list[str]:
    """Put the machine's mutants of a study to the proof; returns a sentence for each that lives."""
    from autograder.doctor.by_machine import prove_by_machine

    with told(), progress() as bar:
        task = bar.add_task(f"Mutants of {study.name} by machine", total=None, note="")
        proof = prove_by_machine(
            study, seed, done=lambda what: bar.update(task, advance=1, note=what)
        )
    say(
        f"{study.name}, by machine: {proof.made} mutants made, {proof.killed} seen by a hidden "
        f"position, {len(proof.equivalent)} equivalent (the same on {proof.fresh} fresh cases), "
        f"{len(proof.alive)} alive, {proof.seconds:.0f} s"
    )
    if verbose:
        for mutant in proof.equivalent:
            say(f"  equivalent, {mutant.name}")
    return [
        f"no hidden position of {alive.check} sees line {alive.mutant.line} of the answer with "
        f"{alive.mutant.what}; this case does: {dict(alive.case)}"
        for alive in proof.alive
    ]


def by_given(study: Study) -> list[str]:
    """Hand in all that students are given; returns a sentence for each thing that earns marks."""
    from autograder.doctor.given import given_answers

    with told(), progress() as bar:
        task = bar.add_task(f"What is given, as answers to {study.name}", total=None, note="")
        tried, answered = given_answers(study, lambda name: bar.update(task, advance=1, note=name))
    say(
        f"{study.name}, what is given: {tried} functions and classes handed in as answers, "
        f"{len(answered)} earn marks"
    )
    return list(map(str, answered))


def show_carried(study: Study, verbose: bool) -> None:
    """Say which mutants get marks back because they are right given their slip."""
    from autograder.doctor.proof import carried_marks

    with told(), progress() as bar:
        task = bar.add_task(f"Errors carried forward in {study.name}", total=None, note="")
        found = carried_marks(study, lambda name: bar.update(task, advance=1, note=name))
    back = sum(carried.earned - carried.plain for carried in found)
    say(f"{study.name}, errors carried forward: {len(found)} mutants get {back:.1f} points back")
    for carried in found if verbose else ():
        say(
            f"  {carried.name}: {carried.earned:g} of {carried.points:g} points, "
            f"{carried.plain:g} without"
        )


@app.command()
def positions(
    study: StudyName,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="S",
            help="Draws them; without one, a seed that nobody knows.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the present ones, and add only what they lack.")
    ] = False,
) -> None:
    """Draw other hidden positions, which see every mutant, and write them in place of the old.

    Then run `build` and `doctor` for the study. Do this every year, and before you accept
    resubmissions. Each line of the table says what its position is there for.
    """
    with told():
        from autograder.doctor.choose import as_table, choose_cases
        from autograder.verdicts import cases_file

        chosen = load_study(study)
        drawn = secrets.randbits(32) if seed is None else seed
        with progress() as bar:
            task = bar.add_task(f"Asking the mutants of {chosen.name}", total=None, note="")
            choice = choose_cases(
                chosen.name,
                drawn,
                keep=keep,
                done=lambda what: bar.update(task, advance=1, note=what),
            )
    for found in choice.checks:
        say(f"{chosen.name}.{found.check.name}: {len(found.cases)} cases")
    say(
        f"{chosen.name}: {choice.mutants} mutants, {len(choice.unseen)} that {choice.drawn} fresh "
        f"cases do not see, {len(choice.once)} that one case alone sees; seed {drawn}"
    )
    for missing in choice.missing:
        complain(f"no fresh case shows the slip {missing}")
    if choice.missing:
        complain(f"{chosen.name}: the positions were left as they are; try another seed")
        raise typer.Exit(NEEDS_A_LOOK)
    file = cases_file(chosen)
    file.write_text(as_table(choice), "utf-8")
    say(f"written: {file}; now run `autograder build {chosen.name}`, then `doctor`")


@app.command()
def book(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            callback=at_home,
            help="Where to put it; an earlier book there is replaced.",
            default_factory=lambda: kit_folder("book"),
            show_default="the kit's build/book",
        ),
    ],
    notebook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this notebook; may be given several times.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make the course into a static site: every notebook, run with the reference answers."""
    with told():
        from autograder.release import book as site

        wanted = site.sources(notebook)
        with progress() as bar:
            task = bar.add_task("Running", total=site.count_cells(wanted), note=wanted[0].name)
            try:
                page = site.write_book(
                    folder, wanted, lambda name: bar.update(task, advance=1, note=name), complain
                )
            except KeyboardInterrupt as stop:
                complain("autograder: stopped; no book was written, an earlier one is unchanged")
                raise typer.Exit(exit_status(stop)) from None
        say(f"book: {page}")


@app.command()
def site(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            callback=at_home,
            help="Where to put it; an earlier site there is replaced.",
            default_factory=lambda: kit_folder("site"),
            show_default="the kit's build/site",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Only this study; may be given several times.",
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
    """Make the book a live course, too: its notebooks run in the browser, with no installing."""
    with told():
        wanted = [load_study(name) for name in names or studies()]
        from autograder.release import book as pages
        from autograder.release import site as live

        with progress() as bar:
            task = bar.add_task("Running", total=pages.count_cells(live.chapters(wanted)), note="")
            try:
                page = live.write_site(
                    folder,
                    wanted,
                    kit_folder("site-cache"),
                    lambda what: bar.update(task, note=what),
                    lambda name: bar.update(task, advance=1, note=name),
                    complain,
                    with_plotting=with_plotting,
                )
            except KeyboardInterrupt as stop:
                complain("autograder: stopped; no site was written, an earlier one is unchanged")
                raise typer.Exit(exit_status(stop)) from None
        say(f"site: {page} ({live.megabytes(folder):.0f} MB)")
        say(
            "a live course must be served; to look at it: "
            f"python3 -m http.server --bind 127.0.0.1 --directory {folder}"
        )


@app.command()
def slides(
    output: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            callback=at_home,
            help="Where to put the decks; earlier ones are replaced.",
            default_factory=lambda: kit_folder("slides"),
            show_default="the kit's build/slides",
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDY", help="By default all studies.", show_default=False),
    ] = None,
) -> None:
    """Make slides from the notebooks, run with the reference answers: one deck a study."""
    with told():
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
            say(f"slides: {path}")


@app.command()
def demo(
    course: Annotated[
        Path,
        typer.Option(
            "--course",
            "-c",
            metavar="FOLDER",
            callback=at_home,
            help="Where to put it; an earlier demo is replaced.",
            default_factory=lambda: kit_folder("demo"),
            show_default="the kit's build/demo",
        ),
    ],
    jobs: Jobs = None,
) -> None:
    """Run everything once: release every assignment, grade a bundled class, write all pages."""
    with told():
        from autograder.commands import demo as bundled

        wanted = [load_study(name) for name in studies()]
        bundled.make_way(course)
        folder = release_studies(course, wanted)
        students = bundled.hand_in(folder)
        say(f"{students} students handed in: {folder.root / 'submitted'}")
        from autograder.telling.report import write_report

        pages = []
        for study in wanted:
            tell_grades(folder, study, grade_study(folder, study, jobs=jobs))
            tell_feedback(folder, study, feedback_study(folder, study, jobs=jobs))
            pages += write_report(folder, study)
    console.print()
    console.print(
        where_table(
            [
                ("Gradebook", folder.root / "gradebook.db"),
                ("Feedback", folder.root / "feedback"),
                *(("Report", path) for path in pages if path.suffix == ".html"),
                (
                    "In the browser",
                    f"python3 run.py lab {folder.root}: an overview with links, and "
                    "formgrader in the menu Nbgrader",
                ),
            ]
        )
    )


if __name__ == "__main__":
    app()
