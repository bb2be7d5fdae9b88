"""Derives what instructors' pages in `docs/teaching/` say of a study's points, hours and slips.

People write the pages; between two marks stands what follows from the study's tables, notebooks,
answer and mutants. `build` renews it, so that no page is out of date after an edit or renumbering.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import jupytext

from autograder.errors import Refused
from autograder.mutants import Mutant, load_mutants
from autograder.release.notebooks import notebook_texts
from autograder.workspace import answer_path
from autograder.workspace.strip import solutions
from course.probes import Study, load_study, studies
from course.probes.questions import MATCHES

BEGIN, END = "<!-- derived by `autograder build`: begin -->", "<!-- derived: end -->"
PLACE = Path("docs", "teaching")
WORDS_A_MINUTE = 100  # of a notebook's text: technical prose, read once, its cells run
MINUTES_A_LINE = 5  # of the reference's solution: to think, write, run the check and mend
MINUTES_A_QUESTION = 25  # to try something, think, and write ten lines
QUICK, SLOW = 0.75, 1.5  # the quick and the slow student, as multiples of that
SHOWN = 3  # slips of a check on a page: those that cost most


class TeachingError(Refused):
    """A page has no place for what is derived."""


def short_name(study: Study) -> str:
    """What a study is called without its number: "type_a" of "study3_type_a"."""
    return study.assignment.partition("_")[2]


def page_of(study: Study) -> Path:
    """The page for those who teach a study."""
    return study.home / PLACE / f"{short_name(study)}.md"


def teaching_pages(study: Study) -> Iterator[tuple[Path, str]]:
    """Path and text of a study's page, if it has one: an instructor's own study need not."""
    path = page_of(study)
    if path.is_file():
        yield path, filled(path, facts(study))


def overview(home: Path) -> Iterator[tuple[Path, str]]:
    """Path and text of the folder's first page, with a line for each study that has a page."""
    path = home / PLACE / "README.md"
    if path.is_file():
        wanted = [study for study in map(load_study, studies()) if page_of(study).is_file()]
        yield (
            path,
            filled(
                path,
                [
                    "| study | notebooks | points by checks | in words | extra credit | hours, estimated |",
                    "|-|-|-|-|-|-|",
                    *map(_row, wanted),
                ],
            ),
        )


def filled(path: Path, lines: Iterable[str]) -> str:
    """The text of a page with these lines between its marks; raises `TeachingError`."""
    text = path.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise TeachingError(f"{path}: there must be a line {BEGIN} and after it a line {END}")
    return "\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"])


def hours(study: Study) -> tuple[int, int]:
    """How many hours a study takes, by an estimate: a quick and a slow student, whole hours.

    Without the code, where an agent of the student's own is played against others: as long as one
    likes.
    """
    minutes = words(study) / WORDS_A_MINUTE + len(study.written) * MINUTES_A_QUESTION
    if not is_open(study):
        minutes += lines_to_write(study) * MINUTES_A_LINE
    return math.floor(minutes * QUICK / 60) or 1, math.ceil(minutes * SLOW / 60)


def is_open(study: Study) -> bool:
    """Whether a study asks for an agent of the student's own, marked by games."""
    return all(check.ask in MATCHES for check in study.checks.values())


def words(study: Study) -> int:
    """The words in the texts of a study's notebooks, code left out."""
    return sum(
        len(cell.source.split())
        for path in notebook_texts(study.folder)
        for cell in jupytext.read(path, fmt="py:percent").cells
        if cell.cell_type == "markdown"
    )


def lines_to_write(study: Study) -> int:
    """The lines of the reference that students write, without blank ones and comments."""
    return sum(
        bool(line.strip()) and not line.strip().startswith("#")
        for region in solutions(answer_path(study).read_text("utf-8"))
        for line in region.splitlines()
    )


def facts(study: Study) -> Iterator[str]:
    """What follows from a study's files, as lines of Markdown."""
    found = load_mutants(study.name)
    filled_in = _and(f"*{name}*" for name in _notebooks(study))
    yield (
        f"**{study.title}.** {study.max_points:g} points, {_hours(study)} (estimated), "
        f"{_size(study)}. Notebooks: {filled_in}. Students fill `{study.module}`."
    )
    yield ""
    yield "| check | points | known slips | a slip here also costs marks in |"
    yield "|-|-|-|-|"
    for check in study.checks.values():
        own = slips_of(study, check.name, found)
        others = [
            name
            for name in study.checks
            if name != check.name and any(name in mutant.loses for mutant in own)
        ]
        extra = ", extra credit" if check.extra_credit else ""
        yield (
            f"| {check.name} | {check.max_points:g}{extra} | {len(own)} | "
            f"{', '.join(others) or 'no other'} |"
        )
    yield ""
    yield f"Written questions: {', '.join(f'{name} ({n:g})' for name, n in study.written.items())}."
    if not found:
        return
    yield ""
    yield "### What students get wrong"
    yield ""
    yield (
        f"The kit knows {len(found)} slips and what each of them replies. These cost most, at "
        f"most {SHOWN} a check; all stand in `autograder/mutants/{study.name}.toml`. The points "
        "are those of all checks that go wrong; marking what is right given an earlier slip "
        "gives some of them back. How often a slip is made is not known here: the report of "
        "your class counts it."
    )
    for check in study.checks.values():
        own = sorted(slips_of(study, check.name, found), key=lambda m: -cost(study, m))
        if own:
            yield ""
            yield f"**{check.name}**"
            yield ""
            yield from (
                f"* {mutant.sentence} (up to {_points(cost(study, mutant))})"
                for mutant in own[:SHOWN]
            )


def slips_of(study: Study, check: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """The mutants whose first check to lose marks is this one: that is where the slip was made."""
    return [
        mutant
        for mutant in mutants
        if next((name for name in study.checks if name in mutant.loses), None) == check
    ]


def cost(study: Study, mutant: Mutant) -> float:
    """The points of all that a mutant gets wrong, before errors are carried forward."""
    return sum(
        study.checks[check].points[aspect]
        for check, aspects in mutant.loses.items()
        for aspect in aspects
    )


def _row(study: Study) -> str:
    checks = sum(c.max_points for c in study.checks.values() if not c.extra_credit)
    extra = sum(c.max_points for c in study.checks.values() if c.extra_credit)
    cells = (
        f"[{study.title}]({page_of(study).name})",
        _and(_notebooks(study)),
        f"{checks:g}",
        f"{sum(study.written.values()):g}",
        f"{extra:g}" if extra else "",
        _hours(study),
    )
    return f"| {' | '.join(cells)} |"


def _hours(study: Study) -> str:
    low, high = hours(study)
    return f"{low} to {high} hours" + (", and the agent" if is_open(study) else "")


def _size(study: Study) -> str:
    read = f"about {round(words(study), -2):,} words to read"  # no news at every edit
    return read if is_open(study) else f"{read} and {lines_to_write(study)} lines to write"


def _notebooks(study: Study) -> list[str]:
    return [re.sub(r"^\d+_", "", path.stem) for path in notebook_texts(study.folder)]


def _points(number: float) -> str:
    return f"{number:g} point" + ("" if number == 1 else "s")


def _and(items: Iterable[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
