"""The overview of a course folder: the status of each assignment, and links to its report.

`python3 run.py lab my_course` writes the overview as a notebook and opens it; the notebook's only
cell shows the buttons (`autograder.dashboard.buttons`). nbgrader's formgrader is in the menu of the
same window.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbformat.sign import NotebookNotary

from autograder.commands.console import print_error
from autograder.course_folder import STUDENT_FILE, CourseFolder, CourseFolderError
from course.lab.start_page import PAGE, link, open_lab, parse_lab_arguments, table, write_page

if TYPE_CHECKING:
    from autograder.reporting.export import Column

WELCOME = """\
# Course overview

<button class="jp-mod-styled jp-mod-accept" data-commandlinker-command="notebook:run-all-cells">
Update and show the buttons</button>

This updates the table and shows buttons below it: set up the course, generate, release, collect,
autograde, mark written answers, export. Outside JupyterLab, click into the cell below and press
Shift + Enter instead. nbgrader's own pages are in the menu *Nbgrader*, *Formgrader*."""
CALL = "from autograder.dashboard.buttons import dashboard\n\ndashboard()"
COLUMNS = (
    "Assignment",
    "Released",
    "Submitted",
    "Graded",
    "To be marked",
    "Feedback pages",
    "Report",
)
NO_ASSIGNMENTS = (
    "<p>There are no assignments yet. Set up a course below, or choose an assignment "
    "and click <em>Generate</em>.</p>"
)


@dataclass(frozen=True)
class Line:
    """The status of one assignment, including how many students are at each step."""

    assignment: str
    released: bool  # students can fetch it
    submitted: int
    graded: int
    waiting: int  # submissions with written answers that must still be marked
    feedback: int
    report: Path | None


@dataclass(frozen=True)
class SectionLine:
    """The status of one assignment in one section."""

    assignment: str
    section: str
    submitted: int
    graded: int
    waiting: int


@dataclass(frozen=True)
class Overview:
    """The status of each assignment of a course folder; Jupyter shows it as a table."""

    folder: CourseFolder
    lines: Sequence[Line]
    sections: Sequence[SectionLine]  # empty without sections
    problems: Sequence[str]  # problems with the exchange or with the names of folders

    def __repr__(self) -> str:
        return "\n".join(
            [
                *(
                    f"{line.assignment}: {line.submitted} submitted, {line.graded} graded, "
                    f"{line.waiting} to be marked, report: {line.report or 'none yet'}"
                    for line in self.lines
                ),
                *self.problems,
            ]
        )

    def _repr_html_(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> Iterator[str]:
        if name := self.folder.course_name():
            yield f"<p><strong>{escape(name)}</strong></p>"
        yield self._table() if self.lines else NO_ASSIGNMENTS
        if self.sections:
            yield f"<details><summary>By section</summary>{self._section_table()}</details>"
        yield from (
            f"<p><strong>Problem:</strong> {escape(sentence)}</p>" for sentence in self.problems
        )
        yield (
            f"<details><summary>What students need to fetch and submit in the browser</summary>"
            f"<p>A file {STUDENT_FILE} in the folder that they work in:</p>"
            f"<pre>{escape(self.folder.student_settings())}</pre></details>"
        )

    def _section_table(self) -> str:
        return table(
            "Number of students per section.",
            ("Assignment", "Section", "Submitted", "Graded", "To be marked"),
            [
                (
                    escape(line.assignment),
                    escape(line.section),
                    str(line.submitted),
                    str(line.graded),
                    str(line.waiting),
                )
                for line in self.sections
            ],
        )

    def _table(self) -> str:
        root = self.folder.root
        return table(
            "Number of students per step.",
            COLUMNS,
            [
                (
                    escape(line.assignment),
                    "yes" if line.released else "no",
                    str(line.submitted),
                    str(line.graded),
                    str(line.waiting),
                    str(line.feedback),
                    link(root, line.report, f"report of {line.assignment}")
                    if line.report
                    else "none",
                )
                for line in self.lines
            ],
        )


def overview(root: str | Path = ".") -> Overview:
    """Return the overview of the course folder at `root`; raises `CourseFolderError` if there is
    none.
    """
    from autograder.doctor import exchange  # slow to import, as nbgrader is
    from autograder.reporting.export import read_marks

    folder = CourseFolder.open(Path(root))
    try:
        columns = read_marks(folder).columns
    except CourseFolderError:  # nothing has been generated yet
        columns = []
    lines, problems = [], list(exchange(folder))
    for column in columns:
        name = column.assignment
        problems += folder.skipped(name).values()
        problems += filter(None, [column.out_of_date])
        report = folder.root / "reports" / f"{name}.html"
        lines.append(
            Line(
                name,
                (folder.exchange() / folder.course_id() / "outbound" / name).is_dir(),
                len(folder.submitted(name)),
                len(column.marks),
                len(column.waiting),
                sum(
                    folder.people().is_active(path.parent.name)
                    for path in folder.root.glob(f"feedback/*/{name}")
                ),
                report if report.is_file() else None,
            )
        )
    return Overview(folder, lines, list(_section_lines(folder, columns)), problems)


def _section_lines(folder: CourseFolder, columns: "Iterable[Column]") -> Iterator[SectionLine]:
    """Yield the status of each assignment in each section of the roster."""
    people = folder.people()
    for column in columns:
        submitted = folder.submitted(column.assignment)
        for section in people.names("section"):
            students = set(people.in_section(section))
            yield SectionLine(
                column.assignment,
                section,
                len(students & submitted.keys()),
                len(students & column.marks.keys()),
                len(students & {*column.waiting}),
            )


def main(root: str, *arguments: str) -> None:
    """Write the overview of a course folder, creating the course in an empty folder, and open it."""
    try:
        folder = CourseFolder.create(Path(root))
    except CourseFolderError as error:
        print_error(f"autograder: {error}")
        sys.exit(2)
    try:
        written = write_page(folder.root, WELCOME, CALL, overview(folder.root), folded=True)
        if written:  # otherwise, JupyterLab asks for permission to run the cell
            with closing(NotebookNotary()) as notary:
                notary.sign(nbformat.read(folder.root / PAGE, as_version=4))
    except Exception as error:  # the instructor can fix it in JupyterLab
        print_error(f"cannot write the overview of {folder.root}: {type(error).__name__}: {error}")
        written = False
    open_lab(folder.root, written, arguments)


def parse(argv: Sequence[str] | None = None) -> tuple[str, *tuple[str, ...]]:
    """Return the course folder and JupyterLab's options; prints the help, or an error, and exits."""
    return parse_lab_arguments(
        "python3 -m autograder.dashboard.overview",
        "the overview of a course folder",
        "the course folder; a missing or empty one is set up",
        argv,
    )


if __name__ == "__main__":
    main(*parse())
