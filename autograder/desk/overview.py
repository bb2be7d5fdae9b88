"""The overview of a course folder: the status of each assignment, and links to its report.

`python3 run.py lab my_course` writes a new one and opens it; its one cell shows the buttons
(`autograder.desk.buttons`). formgrader, which is nbgrader's own, is in the menu of the same window.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from autograder.commands.console import complain
from autograder.course_folder import COURSE_ID, STUDENT_FILE, CourseFolder, CourseFolderError
from course.start import PAGE, link, open_lab, table, write_page

WELCOME = """\
# Course overview

<button class="jp-mod-styled jp-mod-accept" data-commandlinker-command="notebook:run-all-cells">
Update and show the buttons</button>

This updates the table and shows buttons below it: set up the course, generate, release, collect,
autograde, mark written answers, export. Outside JupyterLab, click into the cell below and press
Shift + Enter instead. nbgrader's own pages are in the menu *Nbgrader*, *Formgrader*."""
CALL = "from autograder.desk.buttons import desk\n\ndesk()"
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
    """The status of one assignment: how many students are at each step."""

    assignment: str
    exchanged: bool  # students can fetch it
    handed_in: int
    graded: int
    waiting: int  # written answers to be marked
    feedback: int
    report: Path | None


@dataclass(frozen=True)
class Overview:
    """The status of each assignment of a course folder; Jupyter shows it as a table."""

    folder: CourseFolder
    lines: Sequence[Line]
    wrong: Sequence[str]  # with the exchange, or with the names of folders

    def __repr__(self) -> str:
        return "\n".join(
            [
                *(
                    f"{line.assignment}: {line.handed_in} handed in, {line.graded} graded, "
                    f"{line.waiting} waiting for a person, report: {line.report or 'none yet'}"
                    for line in self.lines
                ),
                *self.wrong,
            ]
        )

    def _repr_html_(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield self._table() if self.lines else NO_ASSIGNMENTS
        yield from (
            f"<p><strong>Problem:</strong> {escape(sentence)}</p>" for sentence in self.wrong
        )
        yield (
            f"<details><summary>What students need to fetch and submit in the browser</summary>"
            f"<p>A file {STUDENT_FILE} in the folder that they work in:</p>"
            f"<pre>{escape(self.folder.student_settings())}</pre></details>"
        )

    def _table(self) -> str:
        root = self.folder.root
        return table(
            "Number of students per step.",
            COLUMNS,
            [
                (
                    escape(line.assignment),
                    "yes" if line.exchanged else "no",
                    str(line.handed_in),
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
    """The overview of the course folder at `root`; raises `CourseFolderError` if there is none."""
    from autograder.doctor import exchange  # slow to import, as nbgrader is
    from autograder.telling.export import read_marks

    folder = CourseFolder.open(Path(root))
    try:
        columns = read_marks(folder).columns
    except CourseFolderError:  # nothing has been released yet
        columns = []
    lines, wrong = [], list(exchange(folder))
    for column in columns:
        name = column.assignment
        wrong += folder.misnamed(name).values()
        wrong += filter(None, [column.out_of_date])
        report = folder.root / "reports" / f"{name}.html"
        lines.append(
            Line(
                name,
                (folder.exchange() / COURSE_ID / "outbound" / name).is_dir(),
                len(folder.submitted(name)),
                len(column.marks),
                len(column.waiting),
                len(list(folder.root.glob(f"feedback/*/{name}"))),
                report if report.is_file() else None,
            )
        )
    return Overview(folder, lines, wrong)


def main(root: str, *arguments: str) -> None:
    """Write the overview of a course folder, a new one if it is empty, and open JupyterLab there."""
    try:
        folder = CourseFolder.create(Path(root))
    except CourseFolderError as error:
        complain(f"autograder: {error}")
        sys.exit(2)
    try:
        written = write_page(folder.root, WELCOME, CALL, overview(folder.root), folded=True)
        if written:  # else JupyterLab asks whether its button may run the cell
            NotebookNotary().sign(nbformat.read(folder.root / PAGE, as_version=4))
    except Exception as error:  # JupyterLab is the place to mend what is wrong
        complain(f"cannot write the overview of {folder.root}: {type(error).__name__}: {error}")
        written = False
    open_lab(folder.root, written, arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
