"""The measured part of docs/scale.md: the table, and what follows from the numbers in it.

All numbers in the text are computed from those in the table, as they stand there.
"""

from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- bench scale writes this -->", "<!-- until here -->"
STUDENTS = 100_000  # of the class that is computed
ROWS = {
    "trusted": "computing of the trusted side, s",
    "sandboxes": "computing of the sandboxes, s",
    "dask": "computing of Dask, s",
    "feedback": "computing of the feedback page, s",
    "time": "time, s",
    "gradebook": "in the gradebook, kB",
    "files": "submission, results and what nbgrader keeps, kB on the disk",
    "pages": "feedback page, kB on the disk",
    "sent": "sent to the cluster, kB",
    "received": "received from the cluster, kB",
    "memory": "**peak memory of the trusted side, MB**",
    "sandbox memory": "**peak memory of the sandboxes, MB**",
    "files open": "**files open at once, at most**",
}
Found = Mapping[str, Mapping[str, float]]  # by column and row


def section(found: Found) -> str:
    """The table and the text."""
    return "\n".join([*_table(found), "", *_text(_as_shown(found))])


def read(page: str) -> Found:
    """The numbers in the table of a page."""
    lines = [line.strip("|").split("|") for line in part(page).splitlines() if line[:1] == "|"]
    head, _, *rows = [[cell.strip() for cell in cells] for cells in lines]
    names = {text: name for name, text in ROWS.items()}
    return {
        title: {names[row[0]]: float(row[column].replace(",", "")) for row in rows if row[column]}
        for column, title in enumerate(head)
        if title
    }


def part(page: str) -> str:
    """The measured part of a page."""
    return page.partition(BEGIN)[2].partition(END)[0].strip("\n")


def with_section(page: str, text: str) -> str:
    """The page with another measured part."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"


def _table(found: Found) -> list[str]:
    rows = [
        [text, *(_number(column[name]) if name in column else "" for column in found.values())]
        for name, text in ROWS.items()
    ]
    return [
        f"| | {' | '.join(found)} |",
        "|-|" + "-:|" * len(found),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _as_shown(found: Found) -> Found:
    return {
        title: {name: float(_number(value).replace(",", "")) for name, value in column.items()}
        for title, column in found.items()
    }


def _number(value: float) -> str:
    """Three digits, or all of a greater whole number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _text(found: Found) -> list[str]:
    sizes = [title for title in found if title.endswith(" submissions")]
    few, many = (found[title] for title in (sizes[0], sizes[-1]))
    one, long, cluster = (column for title, column in found.items() if title not in sizes)
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
        f"the computing and {times(many['time'], few['time'])} the time, and the trusted side "
        f"{times(many['memory'], few['memory'])} the memory: it holds results, and no submissions. "
        "A module ten times as long takes "
        f"{times(long['trusted'] + long['sandboxes'], computing)} the computing. Two workers need "
        f"{times(few['time'], one['time'])} the time of one for so few submissions, as each has to "
        "start.",
        "",
        f"By these figures {STUDENTS:,} students who hand in one such study need:",
        "",
        f"* **computing**: {hours(inside)} core-hours in sandboxes, {hours(trusted)} of the "
        f"trusted side, and {hours(few['feedback'])} for feedback, if everybody gets a page; with "
        f"a cluster, as far as {[*found][-1].partition(',')[0]} submissions show, {hours(there)} "
        f"on its machines, with Dask's own work, and {hours(here)} here;",
        f"* **memory**: {_number(each)} MB more of the trusted side for each submission that is "
        "graded at once, and on a cluster that is one for each worker: "
        f"{_number(100 * each / 1e3)} GB for 100 workers;",
        f"* **disk**: {gigabytes(many['gradebook'])} GB in the gradebook and "
        f"{gigabytes(many['files'])} GB in the course folder, and {gigabytes(few['pages'])} GB for "
        "feedback;",
        f"* **network**: {gigabytes(moved)} GB between the grader and the scheduler, and as much "
        f"again between the scheduler and the workers: {_number(8 * moved / 1e3 / here)} Mbit/s "
        "for every core of the grader that is busy.",
        "",
        "**The next bottleneck** is the grader's machine. With a cluster it computes "
        f"{_number(here)} s for each submission, whatever the number of workers: one core cannot "
        f"mark more than {_number(3600 / here)} submissions an hour, which are {hours(here)} hours "
        f"for all on one core and {hours(here / 8)} on eight. One such core keeps "
        f"{_number(there / here)} cores of workers busy; more "
        "would wait. What helps then is a second machine that runs `grade` for other students of "
        "the class, with the gradebook in PostgreSQL and the course folder on a disk that both "
        "share. Behind that comes the gradebook itself, as one writer at a time holds its lock; "
        "how many graders that serves was not measured.",
    ]
