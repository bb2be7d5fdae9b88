"""The start page of a student's folder, which shows the next notebook and the progress.

`python3 run.py lab` rewrites it and opens it. Without run.py, `python -m course.lab.start_page
FOLDER` opens JupyterLab with it, and `start_page()` in any notebook shows it.
"""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from course.checks import Study, load_study, studies
from course.lab.progress import NotebookProgress, count_stubs, progress

PAGE = "start.ipynb"
CONFIG = "nbgrader_config"
DEFAULT_EXCHANGE = Path("/usr/local/share/nbgrader/exchange")  # nbgrader's default
# Defaults for JupyterLab: clicks on widgets are handled in the thread that runs the cells, because
# few students' agents are thread-safe.
LAB_DEFAULTS = Path(__file__).parents[1] / "jupyter"
STUDENTS = (
    LAB_DEFAULTS / "students"
)  # only for students; hides internal files and instructor panels
NO_EXCHANGE = LAB_DEFAULTS / "no_exchange"  # hides the menu to fetch and submit assignments
MADE_BY = "adversarial_search"  # in the metadata of a page that may be overwritten
WELCOME = """\
# Start here

This page is updated when you save a file or run a check. If it is not, for example outside
JupyterLab, click on the lines below and press Shift + Enter."""
HOW = """\
## How to work on a study

1. Open the next notebook, read it from the top, and run its cells as you go (Shift + Enter).
2. When it asks for code, write it in the module in the same folder, and save the module; the
  notebook reloads it.
3. Run the `check(...)` cells: they show which replies are correct and where to look.
4. Write your answers to the questions in the notebook.
5. Submit: save everything, then run the last cell of the study's last notebook. It packs your work
  into one file, which you submit as your course requires."""
SUBMIT = """ Or submit in JupyterLab: menu *Nbgrader*, *Assignment List*, *Submit*."""
MAKE_SUBMISSION = """

The cell below does the same. Enter the name of your study in it and press Shift + Enter."""
PAGE_CLASS = "start-page"  # the class of the element that `live_progress.js` updates
CALL = "from course.lab.start_page import start_page\n\nstart_page()"
STATE_HTML = {"done": "&#10003; done", "in progress": "in progress", "not started": "not started"}
LEFT = "style='text-align:left'"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class StartPage:
    """The progress in a folder, displayed as HTML in a notebook and as text elsewhere."""

    root: Path
    studies: Sequence[tuple[Study, Sequence[NotebookProgress]]]
    missing: Sequence[Study]  # studies that are not in the folder
    can_fetch: bool = False  # whether they can be fetched from nbgrader's exchange

    @property
    def next(self) -> NotebookProgress | None:
        """The first notebook that is not done."""
        return next((p for p in self.notebooks if p.state != "done"), None)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return "\n".join([f"<div class='{PAGE_CLASS}'>", *_page(self), "</div>"])

    @property
    def notebooks(self) -> list[NotebookProgress]:
        """The progress in every notebook, in reading order."""
        return [p for _, notebooks in self.studies for p in notebooks]

    def _lines(self) -> Iterator[str]:
        if self.next:
            yield f"Next: {self.next.title}"
        if self.studies:
            yield _total(self.notebooks)
        for study, notebooks in self.studies:
            yield f"{study.title}: {_module_words(self.root, study)}"
            for p in notebooks:
                mark = "next" if p == self.next else ""
                yield (
                    f"  {mark:<5}{p.title}: {p.state}; {_points(p) or 'no checks'}"
                    f"{'; ' + _answers(p) if p.questions else ''}"
                )
        for study in self.missing:
            yield f"{study.title}: not yet in this folder"


def start_page(folder: str | Path = ".") -> StartPage:
    """The start page of a folder that contains the studies' folders."""
    root = Path(folder)
    all_studies = [load_study(name) for name in studies()]
    here = [study for study in all_studies if (root / study.assignment).is_dir()]
    missing = [study for study in all_studies if study not in here]
    if sys.platform == "emscripten":  # in a live course, in which no study is fetched later
        missing = []
    return StartPage(
        root,
        [(study, progress(root / study.assignment, study)) for study in here],
        missing,
        bool(missing) and has_exchange(root),
    )


def has_exchange(root: Path) -> bool:
    """Whether nbgrader's exchange is available to a user who opens JupyterLab in `root`.

    The exchange is a writable folder that is configured in `root` or in one of Jupyter's folders,
    or is at nbgrader's default location.
    """
    if sys.platform == "emscripten":
        return False
    from jupyter_core.paths import jupyter_config_path

    exchange = DEFAULT_EXCHANGE
    places: list[str | Path] = [*reversed(jupyter_config_path()), root]
    for place in places:  # the last configuration counts
        exchange = _configured(Path(place)) or exchange
    return exchange.is_dir() and os.access(exchange, os.W_OK | os.X_OK)


def _configured(place: Path) -> Path | None:
    """The exchange in nbgrader's configuration in this folder; None if it is not configured."""
    from traitlets.config import JSONFileConfigLoader, PyFileConfigLoader

    exchange = None
    for name, loader in (
        (f"{CONFIG}.py", PyFileConfigLoader),
        (f"{CONFIG}.json", JSONFileConfigLoader),
    ):
        if (place / name).is_file():
            with contextlib.suppress(
                Exception
            ):  # JupyterLab reports the error when nbgrader reads it
                root = loader(name, path=str(place)).load_config().Exchange.get("root")
                exchange = Path(root).expanduser() if isinstance(root, str) else exchange
    return exchange


def _points(p: NotebookProgress) -> str:
    """The points on public positions, in words; empty if there are no checks."""
    if not p.checks:
        return ""
    if len(p.unchecked) == len(p.checks):
        return f"not yet checked, {p.points:g} points"
    left = f", {len(p.unchecked)} of {len(p.checks)} checks not yet run" if p.unchecked else ""
    changed = ", checked before the module's last change" if p.changed else ""
    return f"{p.earned:g} of {p.points:g}{left}{changed}"


def _answers(p: NotebookProgress) -> str:
    return f"{p.answered} of {p.questions} questions answered"


def _total(notebooks: Sequence[NotebookProgress]) -> str:
    """The progress in all notebooks, in words."""
    done = sum(p.state == "done" for p in notebooks)
    return f"{done} of {len(notebooks)} notebooks done, {_sums(notebooks)}"


def _study_state(notebooks: Sequence[NotebookProgress]) -> str:
    """The state of a study and the points earned, as HTML."""
    states = {p.state for p in notebooks}
    state = states.pop() if len(states) == 1 else "in progress"
    if state == "not started":
        return f"{STATE_HTML[state]}, {sum(p.points for p in notebooks):g} points"
    return f"{STATE_HTML[state]}, {_sums(notebooks)}"


def _sums(notebooks: Sequence[NotebookProgress]) -> str:
    earned, points = sum(p.earned for p in notebooks), sum(p.points for p in notebooks)
    answered = sum(p.answered for p in notebooks)
    questions = sum(p.questions for p in notebooks)
    return f"{earned:g} of {points:g} points, {answered} of {questions} questions answered"


def _module_words(root: Path, study: Study) -> str:
    left = count_stubs(root / study.assignment / study.module)
    if left is None:
        return f"{study.module} is missing"
    return f"{study.module}, " + (
        f"{left} function{'s' if left > 1 else ''} to write" if left else "all functions written"
    )


def _page(page: StartPage) -> Iterator[str]:
    """The page as HTML that untrusted notebooks can show: the next notebook, the total, and an
    entry for each study with its notebooks. Only the entry with the next notebook is expanded.
    """
    if page.next:
        yield (
            f"<p style='font-size:1.2em'><strong>Next: "
            f"{link(page.root, page.next.path, page.next.title)}</strong></p>"
        )
    elif page.studies:
        yield "<p style='font-size:1.2em'><strong>Everything in this folder is done.</strong></p>"
    if page.studies:
        yield (
            f"<p>So far: {_total(page.notebooks)}. Points are for the public positions; marks "
            "are based on other positions of the same kind.</p>"
        )
    for study, notebooks in page.studies:
        expanded = " open" if page.next in notebooks else ""
        yield (
            f"<details{expanded}><summary><strong>{escape(study.title)}</strong>: "
            f"{_study_state(notebooks)}</summary>"
        )
        yield table(
            f"You write {_module_link(page.root, study)}.",
            ("Notebook", "State", "Points and questions"),
            [_row(page, p) for p in notebooks],
        )
        yield "</details>"
    if page.missing:
        fetch = (
            " Once released, fetch it: menu <em>Nbgrader</em>, <em>Assignment List</em>, "
            "<em>Fetch</em>."
            if page.can_fetch
            else ""
        )
        yield (
            "<p>Not yet in this folder: "
            f"{', '.join(escape(study.title) for study in page.missing)}.{fetch}</p>"
        )


def _row(page: StartPage, p: NotebookProgress) -> Sequence[str]:
    mark = "<strong>next:</strong> " if p == page.next else ""
    return (
        link(page.root, p.path, p.title),
        mark + STATE_HTML[p.state],
        (escape(_points(p)) or "no checks") + (f"<br>{_answers(p)}" if p.questions else ""),
    )


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose cells contain HTML; in a narrow window, the table scrolls instead of the page."""
    heads = "".join(f"<th scope='col' {LEFT}>{column}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td {LEFT}>{cell}</td>" for cell in cells) + "</tr>" for cells in rows
    )
    return (
        f"<div style='overflow-x:auto'><table><caption {LEFT}>{caption}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def link(root: Path, path: Path, text: str) -> str:
    """A link to a file below `root`; JupyterLab opens it in a tab."""
    return f"<a href='{quote(path.relative_to(root).as_posix())}'>{escape(text)}</a>"


def _module_link(root: Path, study: Study) -> str:
    path = root / study.assignment / study.module
    words = _module_words(root, study)
    if not path.is_file():
        return escape(words)
    name, comma, rest = words.partition(",")
    return link(root, path, name) + comma + escape(rest)


class HtmlPage(Protocol):
    """An object that a notebook displays as HTML."""

    def _repr_html_(self) -> str: ...


def write_page(
    root: Path,
    welcome: str,
    call: str,
    page: HtmlPage,
    below: str = "",
    last: str = "",
    *,
    folded: bool = False,
) -> bool:
    """Write `start.ipynb` with the output of its code cell; return whether it was written.

    The code cell is collapsed if `folded` is set or if there is a text `below` it; `last` is the
    source of another code cell below this text. An existing file that was not created here is not
    changed.
    """
    path = root / PAGE
    if path.exists() and not _is_ours(path):
        return False
    output = render_output(page._repr_html_(), repr(page))
    metadata = {"jupyter": {"source_hidden": True}} if below or folded else {}
    cells = [
        {"cell_type": "markdown", "id": "welcome", "metadata": {}, "source": welcome},
        {
            "cell_type": "code",
            "id": "page",
            "metadata": metadata,
            "execution_count": 1,
            "source": call,
            "outputs": [output],
        },
    ]
    if below:
        cells.append({"cell_type": "markdown", "id": "below", "metadata": {}, "source": below})
    if last:
        cells.append(
            {
                "cell_type": "code",
                "id": "last",
                "metadata": {},
                "execution_count": None,
                "source": last,
                "outputs": [],
            }
        )
    notebook = {
        "cells": cells,
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": KERNEL,
            "language_info": {"name": "python"},
            MADE_BY: "start page",
        },
    }
    try:
        path.write_text(json.dumps(notebook, indent=1) + "\n", "utf-8")
    except OSError:
        return False
    return True


def render_output(html: str, text: str) -> dict[str, Any]:
    """The output of the page's only code cell, in the notebook format."""
    return {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/html": html, "text/plain": text},
    }


def _is_ours(path: Path) -> bool:
    try:
        return MADE_BY in json.loads(path.read_text("utf-8"))["metadata"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def open_lab(
    root: Path, page: bool, arguments: Sequence[str], defaults: Sequence[Path] = (LAB_DEFAULTS,)
) -> None:
    """Run JupyterLab with `root` as its root folder and open the start page, if there is one.

    The user's settings take precedence over those in the folders `defaults`.
    """
    from jupyterlab.labapp import main as lab

    places = [*map(str, defaults), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, places))
    start = [f"--LabApp.default_url=/lab/tree/{PAGE}"] if page else []
    sys.exit(lab([f"--ServerApp.root_dir={root}", *start, *arguments]))


def parse_lab_arguments(
    prog: str,
    page: str,
    folder_help: str,
    argv: Sequence[str] | None = None,
    default: str | None = None,
) -> tuple[str, *tuple[str, ...]]:
    """Return the folder and JupyterLab's options; prints the help, or an error, and exits.

    The folder is required unless there is a `default`.
    """
    folder = "FOLDER [OPTION ...]" if default is None else "[FOLDER [OPTION ...]]"
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"%(prog)s [-h] {folder}",
        description=f"Open JupyterLab at {page}.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        nargs=None if default is None else "?",
        default=default,
        help=folder_help,
    )
    options = parser.add_argument(
        "options",
        metavar="OPTION",
        nargs=argparse.REMAINDER,
        help="an option of JupyterLab, for example --no-browser; --help-all lists them",
    )
    options.required = False  # otherwise Python 3.11 lists it among the missing arguments
    arguments = parser.parse_args(argv)
    if not arguments.folder:
        parser.error("the name of the folder is empty")
    if {"-h", "--help"} & {*arguments.options}:  # after the folder, argparse ignores them
        parser.print_help()
        parser.exit()
    return arguments.folder, *arguments.options


def parse(argv: Sequence[str] | None = None) -> tuple[str, *tuple[str, ...]]:
    """Return the folder and JupyterLab's options; prints the help, or an error, and exits."""
    return parse_lab_arguments(
        "python3 -m course.lab.start_page",
        "the start page of a folder",
        "the folder with your studies (default: the current folder)",
        argv,
        default=".",
    )


def main(folder: str = ".", *arguments: str) -> None:
    """Write the start page of a folder and open JupyterLab there."""
    root = Path(folder).resolve()
    page, exchange = start_page(root), has_exchange(root)
    written = write_page(root, WELCOME, CALL, page, below(page, exchange), submission_cell(page))
    open_lab(
        root, written, arguments, (LAB_DEFAULTS, STUDENTS, *(() if exchange else (NO_EXCHANGE,)))
    )


def below(page: StartPage, exchange: bool) -> str:
    """The text below the start page."""
    return HOW + (SUBMIT if exchange else "") + (MAKE_SUBMISSION if page.studies else "")


def submission_cell(page: StartPage) -> str:
    """The source of the cell that packs the next study for submission."""
    if not page.studies:
        return ""
    study = next(
        (study for study, notebooks in page.studies if page.next in notebooks), page.studies[0][0]
    )
    return f'from course.submission import make_submission\n\nmake_submission("{study.name}")'


if __name__ == "__main__":
    main(*parse())
