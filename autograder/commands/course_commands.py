"""The commands with which a course folder owns its course."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from autograder.commands.console import print_error, print_line, progress
from autograder.commands.options import NEEDS_ATTENTION, CoursePath, report_errors
from autograder.course_folder import CourseFolder
from common.command_lines import advice
from course.checks import Study, load_study, studies
from course.checks.study_paths import use_studies


def add_to(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command()(adapt)
    app.command()(upgrade)
    app.command("new-study")(new_study)


def adapt(
    course: CoursePath,
    messages: Annotated[
        bool,
        typer.Option(
            "--messages", help="Write the messages for students into messages/LANGUAGE.po."
        ),
    ] = False,
    replace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STUDY",
            help="Discard your edits of this study's files (may be repeated).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Apply the course's own table, course.toml, to the studies of the kit.

    Example: autograder adapt --course my_course. Points, checks and questions left out, hidden
    positions, known mistakes and texts of notebooks change only in the course folder. The course's
    translations, messages/LANGUAGE.po, are compiled. `generate` does the same before it generates
    assignments. Files of these studies that you edited are replaced only with --replace.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        if not adapt_studies(folder, [name.partition("_")[0] for name in replace or []]):
            print_line(f"the studies of {folder.root} are up to date")
        if messages:  # after the studies, because they have messages too
            write_messages(folder)
        if summary := compile_translations(folder):
            print_line(summary)


def upgrade(course: CoursePath) -> None:
    """Show what this version of the kit changes for a course. Nothing is changed.

    Example: autograder upgrade --course my_course, with the new kit, before you use it for the
    course. It compares every assignment that was generated with the present studies, tries the
    course's own table, and lists the files of the course folder that the new version cannot use
    unchanged. The exit status is 1 if something changes.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        from autograder.course_folder.outdated_files import outdated_files
        from autograder.release.own_course import upgrade as upgrading
        from autograder.release.own_course.adapted_studies import Adaptation

        adaptation = Adaptation(folder)
        outdated, problems = adaptation.outdated(), adaptation.problems()
        for problem in problems:
            print_error(f"problem: {problem}")
        for name, reason in outdated.items():
            print_line(
                f"{name}: this course's own version must be made again, because {reason}; "
                f"{advice('adapt', course=folder.root)} does so"
            )
        differing = upgrading.changes(folder, adaptation.preview)
        for name, sentences in differing.items():
            for sentence in sentences:
                print_line(f"{name}: {sentence}")
            print_line(
                f"{name}: {advice('generate', name, course=folder.root)} makes the new version, and "
                f"{advice('grade', name, course=folder.root)} updates the marks"
            )
        for assignment in (unknown := upgrading.not_recorded(folder)):
            print_line(
                f"{assignment}: an earlier version of the kit generated it, so its differences are "
                "unknown; generate it again to be sure"
            )
        adapted = {*adaptation.studies, *outdated}
        files = [*outdated_files(folder, adapted), *outdated_translations(folder)]
        for sentence in files:
            print_line(sentence)
        is_current = not (outdated or problems or differing or unknown or files)
        if is_current:
            print_line(f"{folder.root}: nothing changes")
    raise typer.Exit(0 if is_current else NEEDS_ATTENTION)


def new_study(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name, for example nim.", show_default=False)
    ],
    course: CoursePath,
) -> None:
    """Write a small working study into the course folder, which is created if necessary.

    Example: autograder new-study nim --course my_course. It has an answer with solution regions, a
    notebook, a question, cases, known mistakes and a test; edit them, then run build and doctor.
    """
    with report_errors():
        from autograder.release.own_course.new_study import new_study as write_study
        from autograder.release.own_course.new_study import require_name

        require_name(name)  # before the folder is created
        folder = CourseFolder.create(course)
        with progress() as bar:
            task = bar.add_task("Building", total=None, note="")
            study = write_study(folder, name, lambda step: bar.update(task, note=step))
        print_line(f"{study.title}: {study.folder} (public) and {study.staff_folder} (staff)")
        print_line(f"after an edit: {advice('build', study.name, course=folder.root)}")
        print_line(f"to verify it: {advice('doctor', study.name, course=folder.root)}")
        print_line(f"to generate it: {advice('generate', study.name, course=folder.root)}")


def is_own_study(folder: CourseFolder, study: str) -> bool:
    """Whether the instructor wrote or copied a study for this course, so that `adapt` does not make
    it.
    """
    with use_studies():
        if study not in studies():
            return True
    from autograder.release.own_course.adapted_studies import Adaptation  # slow to import

    return Adaptation(folder).is_own(study)


def write_messages(folder: CourseFolder) -> None:
    """Write the file for translators, and print how much of it is translated."""
    from autograder.release.own_course.translation import update_messages

    print_line(str(update_messages(folder)))


def outdated_translations(folder: CourseFolder) -> Iterator[str]:
    """Yield a sentence if the file for translators does not have the present messages."""
    from babel.messages.pofile import read_po

    from autograder.release.own_course.message_extraction import messages_of
    from autograder.release.own_course.translation import TranslationError

    if (file := folder.translations()) is None:
        return
    try:
        public_translations(folder, [])  # validates the file
    except TranslationError as error:
        yield str(error)
        return
    with file.open("rb") as lines:
        entries = {
            (entry.context or "", *([entry.id] if isinstance(entry.id, str) else entry.id))
            for entry in read_po(lines)
            if entry.id
        }
    present = messages_of([load_study(name) for name in studies()]).values()
    messages = {(each.context, *filter(None, (each.text, each.plural))) for each in present}
    if messages != entries:
        yield (
            f"{file.relative_to(folder.root)} does not have the messages of this version (new: "
            f"{len(messages - entries)}, no longer used: {len(entries - messages)}); "
            f"{advice('adapt', '--messages', course=folder.root)} updates it"
        )


def compile_translations(folder: CourseFolder) -> str:
    """Compile the course's translations; return how many there are, or "" for a course in English."""
    if folder.translations() is None:
        return ""
    from autograder.release.own_course.translation import compile_messages

    return str(compile_messages(folder))


def public_translations(folder: CourseFolder, wanted: Sequence[Study]) -> bytes | None:
    """Return the compiled translations for the kit of these studies; None for a course in English."""
    if folder.translations() is None:
        return None
    from autograder.release.own_course import translation

    return translation.public_translations(folder, wanted)


def adapt_studies(folder: CourseFolder, replace: Sequence[str] = ()) -> list[str]:
    """Make the course's versions of studies that are out of date, and those to `replace`; return the
    names of these studies.
    """
    from autograder.release.own_course.adapted_studies import Adaptation  # slow to import

    adaptation = Adaptation(folder)
    for name, files in adaptation.kept().items():
        if name not in replace:
            print_line(
                f"{name}: course.toml no longer changes this study, but its version in "
                f"{adaptation.home} is kept, because you edited {', '.join(files)}; "
                f"{advice('adapt', '--replace', name, course=folder.root)} removes it"
            )
    if not (adaptation.outdated() or replace):
        return []
    with progress() as bar:
        task = bar.add_task("Adapting", total=None, note="")
        updated = adaptation.update(lambda step: bar.update(task, note=step), replace)
    CourseFolder.open(folder.root)  # this process uses the new versions
    for name in updated:
        if name not in adaptation.studies:
            print_line(f"{name}: the kit's study is used again")
            continue
        print_line(
            f"{name}: this course's version is in {adaptation.home}; "
            f"{advice('doctor', name, course=folder.root)} verifies it"
        )
    return updated
