"""Generates the points, hours and mistakes on each study's `teaching.md`, and the overview.

The pages are written by hand, except the part between two markers, which is generated from the
study's tables, notebooks, answer and mutants. `build` updates it after edits and renumbering.
"""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import jupytext

from autograder.errors import UserError
from autograder.release.notebooks import NOTEBOOK_NAME, notebook_texts
from autograder.studies.mutants import Mutant, load_mutants
from autograder.workspace import answer_path
from autograder.workspace.strip import solutions
from course.checks import Study, load_study, studies
from course.checks.questions import MATCHES

BEGIN, END = "<!-- derived by `autograder build`: begin -->", "<!-- derived: end -->"
PLACE = Path("docs", "teaching")
WORDS_PER_MINUTE = 100  # for technical text that is read once while running the cells
# Minutes per line of the reference solution: to think, write, run the check and fix mistakes.
MINUTES_PER_LINE = 5
MINUTES_PER_QUESTION = 25  # to experiment, think and write ten lines
FAST_FACTOR, SLOW_FACTOR = 0.75, 1.5  # factors for fast and slow students
MAX_LISTED = 3  # mistakes per check on a page, the most expensive first


class TeachingError(UserError):
    """A page has no markers for the generated part."""


def short_name(study: Study) -> str:
    """Return the name of a study without its number: "type_a" for "study3_type_a"."""
    return study.assignment.partition("_")[2]


def page_of(study: Study) -> Path:
    """Return the path of a study's page for instructors."""
    return study.staff_folder / "teaching.md"


def teaching_pages(study: Study) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of a study's page, if it has one; an instructor's own study may have
    none.
    """
    path = page_of(study)
    if path.is_file():
        yield path, filled(path, facts(study))


def overview(home: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of the overview, with one row for each study that has a page."""
    path = home / PLACE / "README.md"
    if path.is_file():
        listed = [study for study in map(load_study, studies()) if page_of(study).is_file()]
        yield (
            path,
            filled(
                path,
                [
                    "| study | notebooks | points for checks | for written answers | extra credit "
                    "| estimated hours |",
                    "|-|-|-|-|-|-|",
                    *map(_row, listed),
                ],
            ),
        )


def filled(path: Path, lines: Iterable[str]) -> str:
    """Return the text of a page with these lines between its markers; raises `TeachingError`."""
    text = path.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise TeachingError(f"{path}: there must be a line {BEGIN} and a line {END} after it")
    return "\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"])


def hours(study: Study) -> tuple[int, int]:
    """Return the estimated time for a study in whole hours, for a fast and a slow student.

    If students write their own agent, the time for its code is not included.
    """
    minutes = words(study) / WORDS_PER_MINUTE + len(study.written) * MINUTES_PER_QUESTION
    if not is_open(study):
        minutes += lines_to_write(study) * MINUTES_PER_LINE
    return math.floor(minutes * FAST_FACTOR / 60) or 1, math.ceil(minutes * SLOW_FACTOR / 60)


def is_open(study: Study) -> bool:
    """Whether students write their own agent, which is marked by games."""
    return all(check.ask in MATCHES for check in study.checks.values())


def words(study: Study) -> int:
    """Return the number of words in the text cells of a study's notebooks."""
    return sum(
        len(cell.source.split())
        for path in notebook_texts(study.folder)
        for cell in jupytext.read(path, fmt="py:percent").cells
        if cell.cell_type == "markdown"
    )


def lines_to_write(study: Study) -> int:
    """Return the number of the reference's lines that students write, without blank lines and
    comments.
    """
    return sum(
        bool(line.strip()) and not line.strip().startswith("#")
        for region in solutions(answer_path(study).read_text("utf-8"))
        for line in region.splitlines()
    )


def facts(study: Study) -> Iterator[str]:
    """Yield the generated part of a study's page, as lines of Markdown."""
    mutants = load_mutants(study.name)
    notebooks = _and(f"*{name}*" for name in _notebooks(study))
    yield (
        f"**{study.title}.** {study.max_points:g} points, {_hours(study)} (estimated), "
        f"{_size(study)}. Notebooks: {notebooks}. Students complete `{study.module}`."
    )
    yield ""
    yield from _check_table(study, mutants)
    yield ""
    yield f"Written questions: {', '.join(f'{name} ({n:g})' for name, n in study.written.items())}."
    if mutants:
        yield from _common_mistakes(study, mutants)


def _check_table(study: Study, mutants: Sequence[Mutant]) -> Iterator[str]:
    """Yield the table of checks with their points, their known mistakes, and other checks that
    these affect.
    """
    yield "| check | points | known mistakes | these also cost marks in |"
    yield "|-|-|-|-|"
    for check in study.checks.values():
        own = mutants_of_check(study, check.name, mutants)
        others = [
            name
            for name in study.checks
            if name != check.name and any(name in mutant.loses for mutant in own)
        ]
        extra = ", extra credit" if check.extra_credit else ""
        yield (
            f"| {check.name} | {check.max_points:g}{extra} | {len(own)} | "
            f"{', '.join(others) or 'no other check'} |"
        )


def _common_mistakes(study: Study, mutants: Sequence[Mutant]) -> Iterator[str]:
    """Yield the section on mistakes, which lists the most expensive ones of each check."""
    yield ""
    yield "### Common mistakes"
    yield ""
    yield (
        f"The kit has a mutant, an implementation with one mistake, for each of {len(mutants)} "
        "known mistakes, and recognises a mistake by the replies of its mutant. The list below "
        f"has up to {MAX_LISTED} mistakes per check, the most expensive first; "
        "[mutants.toml](mutants.toml) lists every mistake. The points are the total of all checks "
        "that a mistake affects. Some of these points are regained, because an answer that is "
        "correct given an earlier mistake is marked as correct. The report of your class shows "
        "how many students made each mistake."
    )
    for check in study.checks.values():
        own = sorted(mutants_of_check(study, check.name, mutants), key=lambda m: -cost(study, m))
        if own:
            yield ""
            yield f"**{check.name}**"
            yield ""
            yield from (
                f"* {mutant.sentence} (up to {_points(cost(study, mutant))})"
                for mutant in own[:MAX_LISTED]
            )


def mutants_of_check(study: Study, check: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants that first lose marks in this check, because that is where the mistake was
    made.
    """
    return [
        mutant
        for mutant in mutants
        if next((name for name in study.checks if name in mutant.loses), None) == check
    ]


def cost(study: Study, mutant: Mutant) -> float:
    """Return the points that a mutant loses, before errors are carried forward."""
    return sum(
        study.checks[check].points[aspect]
        for check, aspects in mutant.loses.items()
        for aspect in aspects
    )


def _row(study: Study) -> str:
    checks = sum(c.max_points for c in study.checks.values() if not c.extra_credit)
    extra = sum(c.max_points for c in study.checks.values() if c.extra_credit)
    cells = (
        f"[{study.title}]({os.path.relpath(page_of(study), study.home / PLACE)})",
        _and(_notebooks(study)),
        f"{checks:g}",
        f"{sum(study.written.values()):g}",
        f"{extra:g}" if extra else "",
        _hours(study),
    )
    return f"| {' | '.join(cells)} |"


def _hours(study: Study) -> str:
    low, high = hours(study)
    return f"{low} to {high} hours" + (" plus the agent" if is_open(study) else "")


def _size(study: Study) -> str:
    reading = f"about {round(words(study), -2):,} words to read"  # stable under small edits
    return reading if is_open(study) else f"{reading} and {lines_to_write(study)} lines to write"


def _notebooks(study: Study) -> list[str]:
    return [NOTEBOOK_NAME.sub("", path.stem) for path in notebook_texts(study.folder)]


def _points(number: float) -> str:
    return f"{number:g} point" + ("" if number == 1 else "s")


def _and(items: Iterable[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
