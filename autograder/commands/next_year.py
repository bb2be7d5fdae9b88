"""The command that draws next year's variants of the studies."""

import re
import tomllib
from collections.abc import Iterator
from typing import Annotated

import tomli_w
import typer

from autograder.commands.console import print_line
from autograder.commands.course_commands import is_own_study
from autograder.commands.options import CoursePath, report_errors
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import StudyChanges, read_course_table
from autograder.errors import UserError
from common.command_lines import advice
from course.checks import Study, load_study, studies
from course.checks.study_paths import use_studies


def add_to(app: typer.Typer) -> None:
    """Add this command to the program."""
    app.command("next-year")(next_year)


def next_year(
    only: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY",
            help="By default all studies that have variants.",
            show_default=False,
        ),
    ] = None,
    *,
    course: CoursePath,
    seed: Annotated[str, typer.Option(metavar="S", help="The same seed draws the same variants.")],
    show: Annotated[bool, typer.Option("--show", help="Only print the variants.")] = False,
) -> None:
    """Draw next year's variants of the studies, so that last year's answers are wrong.

    Example: autograder next-year --seed 2027 --course my_course. The variants are written into the
    course's own table, course.toml; `adapt` then makes the studies, and `doctor` verifies them. The
    variant that the table has is kept as a former one, so its answers are recognised as well. Your
    own versions of studies are skipped.
    """
    with report_errors():
        folder = CourseFolder.open(course)
        drawn = _drawn(folder, seed, only or [])
        for name, (changes, sentences) in drawn.items():
            print_line(f"{name}: {'; '.join(sentences)}")
            if not show:
                _write(folder, name, changes)
        if not show:
            print_line(
                f"written into {read_course_table(folder.root).file}; "
                f"{advice('adapt', course=folder.root)} makes these versions, and "
                f"{advice('doctor', next(iter(drawn)), course=folder.root)} verifies one"
            )


def _drawn(
    folder: CourseFolder, seed: str, only: list[str]
) -> dict[str, tuple[StudyChanges, list[str]]]:
    """Return the changes that make next year's variant of each study, with sentences about them."""
    from autograder.release.own_course.variants import read_variants, value_text  # slow

    table, drawn = read_course_table(folder.root), {}
    for study in _kit_studies(folder, only):
        present, variants = table.studies.get(study.name, StudyChanges()), read_variants(study)
        where = f"{study.name}.variant"
        former = [variants.complete(each, table.file, where) for each in present.former]
        if present.variant:
            former.append(variants.complete(present.variant, table.file, where))
        variant = variants.draw(seed, study.name, former)
        if variant:
            sentences = [
                f"{variants.parameters[name].meaning} is {value_text(value)}, in the kit "
                f"{value_text(variants.parameters[name].kit)}"
                for name, value in variant.items()
            ]
            if variant in former:
                sentences.append("every variant was used before, this one as well")
            others = [each for each in former if each != variant]
            drawn[study.name] = StudyChanges(variant=variant, former=others), sentences
        elif only:
            raise UserError(f"{study.name} has no variants: the kit lists no parameters for it")
    if not drawn:
        raise UserError("no study has variants")
    return drawn


def _kit_studies(folder: CourseFolder, only: list[str]) -> Iterator[Study]:
    """Yield the kit's studies, without those of which the course has the instructor's own version."""
    with use_studies():
        kit = [load_study(name) for name in (only or studies())]
    for study in kit:
        if not is_own_study(folder, study.name):
            yield study
            continue
        own = f"{study.name}: {folder.studies_home} contains your own version"
        if only:
            raise UserError(f"{own}, so `adapt` cannot make a variant of the kit's study")
        print_line(f"{own}, so no variant is drawn")


def _write(folder: CourseFolder, study: str, changes: StudyChanges) -> None:
    """Write the variant of a study into course.toml, without any other change."""
    file = read_course_table(folder.root).file
    text = file.read_text("utf-8") if file.is_file() else ""
    lines = [f"variant = {_inline(changes.variant)}"]
    if changes.former:
        lines.append(f"former = [{', '.join(map(_inline, changes.former))}]")
    new = "\n".join(lines)
    header = re.compile(rf"(?m)^\[{study}\][^\n]*$")
    if table := header.search(text):
        end = re.compile(r"(?m)^\s*\[").search(text, table.end())
        stop = end.start() if end else len(text)
        keys = re.sub(r"(?m)^\s*(?:variant|former)\s*=[^\n]*\n?", "", text[table.end() : stop])
        text = f"{text[: table.end()]}\n{new}\n{keys.lstrip()}{text[stop:]}"
    else:
        first = re.compile(rf"(?m)^\[\[?{study}\.").search(text)
        at = first.start() if first else len(text)
        before = f"{text[:at].rstrip()}\n\n" if text[:at].strip() else ""
        text = f"{before}[{study}]\n{new}\n\n{text[at:]}".rstrip() + "\n"
    try:
        written = tomllib.loads(text).get(study, {}).get("variant") == changes.variant
    except tomllib.TOMLDecodeError:
        written = False
    if not written:
        raise UserError(f"{file} is unchanged: put `{lines[0]}` into its table [{study}] yourself")
    temporary = file.with_suffix(".new")
    temporary.write_text(text, "utf-8")
    temporary.replace(file)


def _inline(values: object) -> str:
    """Return a variant as an inline table of TOML."""
    assert isinstance(values, dict)
    pairs = tomli_w.dumps(values).strip().split("\n")
    return f"{{ {', '.join(pairs)} }}"
