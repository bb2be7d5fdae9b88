"""Generates a part of docs/scale.md: the table of measurements and the text derived from it.

All numbers in the text are computed from the rounded numbers in the table.
"""

from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"
BEGIN, END = "<!-- bench scale writes this -->", "<!-- until here -->"
STUDENTS = 100_000  # in the extrapolated class
ROWS = {
    "trusted": "CPU time of the trusted side, s",
    "sandboxes": "CPU time of the sandboxes, s",
    "dask": "CPU time of Dask, s",
    "feedback": "CPU time of the feedback page, s",
    "time": "time, s",
    "gradebook": "in the gradebook, kB",
    "files": "submission, results and nbgrader's files, kB on disk",
    "pages": "feedback page, kB on disk",
    "sent": "sent to the cluster, kB",
    "received": "received from the cluster, kB",
    "memory": "**peak memory of the trusted side, MB**",
    "sandbox memory": "**peak memory of the sandboxes, MB**",
    "files open": "**peak number of open files**",
}
Measurements = Mapping[str, Mapping[str, float]]  # the numbers by column and row


def section(measurements: Measurements) -> str:
    """Return the table and the text."""
    return "\n".join([*_table(measurements), "", *_text(_rounded(measurements))])


def read(page: str) -> Measurements:
    """Return the numbers in the table of a page."""
    lines = [line.strip("|").split("|") for line in part(page).splitlines() if line[:1] == "|"]
    head, _, *rows = [[cell.strip() for cell in cells] for cells in lines]
    names = {text: name for name, text in ROWS.items()}
    return {
        title: {names[row[0]]: float(row[column].replace(",", "")) for row in rows if row[column]}
        for column, title in enumerate(head)
        if title
    }


def part(page: str) -> str:
    """Return the generated part of a page."""
    return page.partition(BEGIN)[2].partition(END)[0].strip("\n")


def with_section(page: str, text: str) -> str:
    """Return the page with a new generated part."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"


def _table(measurements: Measurements) -> list[str]:
    rows = [
        [
            text,
            *(_number(column[name]) if name in column else "" for column in measurements.values()),
        ]
        for name, text in ROWS.items()
    ]
    return [
        f"| | {' | '.join(measurements)} |",
        "|-|" + "-:|" * len(measurements),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _rounded(measurements: Measurements) -> Measurements:
    return {
        title: {name: float(_number(value).replace(",", "")) for name, value in column.items()}
        for title, column in measurements.items()
    }


def _number(value: float) -> str:
    """Return three significant digits, or all digits of a larger whole number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _text(measurements: Measurements) -> list[str]:
    sizes = [title for title in measurements if title.endswith(" submissions")]
    few, many = (measurements[title] for title in (sizes[0], sizes[-1]))
    one, long, cluster = (column for title, column in measurements.items() if title not in sizes)
    computing = few["trusted"] + few["sandboxes"]
    trusted, inside = many["trusted"], many["sandboxes"]
    moved = cluster["sent"] + cluster["received"]
    here, there = cluster["trusted"], cluster["sandboxes"] + cluster["dask"]
    each = few["memory"] - one["memory"]

    def times(now: float, before: float) -> str:
        return f"{_number(now / before)} times"

    def hours(seconds: float) -> str:
        return _number(STUDENTS * seconds / 3600)

    def gigabytes(kilobytes: float) -> str:
        return _number(STUDENTS * kilobytes / 1e6)

    return [
        f"From {sizes[0]} to {sizes[-1]}, a submission takes {times(trusted + inside, computing)} "
        f"the CPU time and {times(many['time'], few['time'])} the elapsed time, and the trusted side "
        f"{times(many['memory'], few['memory'])} the memory, because it stores results and no "
        "submissions. A module ten times as long takes "
        f"{times(long['trusted'] + long['sandboxes'], computing)} the CPU time. For so few "
        f"submissions, two workers need {times(few['time'], one['time'])} the time of one, because "
        "each of them has to start.",
        "",
        f"According to these figures, {STUDENTS:,} submissions of one such study need:",
        "",
        f"* **CPU time**: {hours(inside)} core-hours in sandboxes, {hours(trusted)} for the trusted "
        f"side, and {hours(few['feedback'])} for feedback, if all students get a page; with a "
        f"cluster, based on {[*measurements][-1].partition(',')[0]} submissions, {hours(there)} on "
        f"its machines, including Dask, and {hours(here)} on the grader's machine;",
        f"* **memory**: {_number(each)} MB more for the trusted side for each submission that is "
        "graded simultaneously, and on a cluster that is one for each worker: "
        f"{_number(100 * each / 1e3)} GB for 100 workers;",
        f"* **disk**: {gigabytes(many['gradebook'])} GB in the gradebook and "
        f"{gigabytes(many['files'])} GB in the course folder, and {gigabytes(few['pages'])} GB for "
        "feedback;",
        f"* **network**: {gigabytes(moved)} GB between the grader and the scheduler, and the same "
        f"amount between the scheduler and the workers: {_number(8 * moved / 1e3 / here)} Mbit/s "
        "for every busy core of the grader.",
        "",
        "**The next bottleneck** is the grader's machine. With a cluster it needs "
        f"{_number(here)} s of CPU time for each submission, for any number of workers: one core "
        f"cannot mark more than {_number(3600 / here)} submissions an hour, which makes "
        f"{hours(here)} hours in total on one core and {hours(here / 8)} on eight. One such core "
        f"keeps {_number(there / here)} cores of workers busy; more "
        "would be idle. In that case, add a second machine that runs `grade` for other students of "
        "the class, with the gradebook in PostgreSQL and the course folder on a shared "
        "disk. The next limit is the gradebook itself, which has one writer at a time; the number of "
        "graders that it can serve was not measured.",
    ]
