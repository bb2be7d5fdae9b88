"""The start page of a student's folder: which notebook comes next, and what is done.

`python3 run.py lab` rewrites it and opens it. Without run.py, `python -m course.start FOLDER` opens
JupyterLab with it, and `start_page()` in any notebook shows it.
"""

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

from course.probes import Study, load_study, studies
from course.progress import Progress, progress, to_write

PAGE = "start.ipynb"
CONFIG = "nbgrader_config"
DEFAULT_EXCHANGE = Path("/usr/local/share/nbgrader/exchange")  # nbgrader's own
# JupyterLab's defaults: clicks on widgets are handled in the thread that runs the cells, not in
# another one beside it, which few students' agents are made for.
LAB_DEFAULTS = Path(__file__).parent / "jupyter"
STUDENTS = LAB_DEFAULTS / "students"  # theirs alone: no internals, no instructor's panels
NO_EXCHANGE = LAB_DEFAULTS / "no_exchange"  # without the menu to fetch and submit assignments
MADE_BY = "adversarial_search"  # in the metadata of a page that may be overwritten
WELCOME = """\
# Start here

This page follows what you save and check. Where it does not, as outside JupyterLab, click on the
lines below and press Shift + Enter."""
HOW = """\
## How to go about it

1. Open the next notebook, read it from the top, and run its cells as you go (Shift + Enter).
2. Where it asks for code, open the module beside it and write the code there. Save the module; the
   notebook picks up the change.
3. Run the `check(...)` cells: they say what is right and what to look at.
4. Answer the questions in words, in the notebook.
5. Hand in: save everything, then run the last cell of the study's last notebook. It packs your
   work into one file; hand that in as your course says."""
SUBMIT = """
   Or submit in JupyterLab: menu *Nbgrader*, *Assignment List*, *Submit*."""
HAND_IN = """

The cell below does the same. Put in the name of your study and press Shift + Enter."""
FOLLOWED = "start-page"  # the class of what `follow.js` brings up to date
CALL = "from course.start import start_page\n\nstart_page()"
WORDS = {"done": "&#10003; done", "begun": "begun", "not started": "not started"}
LEFT = "style='text-align:left'"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


@dataclass(frozen=True)
class StartPage:
    """What is done in a folder, and what is next: a page in a notebook, text elsewhere."""

    root: Path
    found: Sequence[tuple[Study, Sequence[Progress]]]
    missing: Sequence[Study]  # not in the folder
    can_fetch: bool = False  # whether those may be fetched from nbgrader's exchange

    @property
    def next(self) -> Progress | None:
        """The first notebook that is not done."""
        return next((p for p in self.notebooks if p.state != "done"), None)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return "\n".join([f"<div class='{FOLLOWED}'>", *_page(self), "</div>"])

    @property
    def notebooks(self) -> list[Progress]:
        """The progress in every notebook, in reading order."""
        return [p for _, notebooks in self.found for p in notebooks]

    def _lines(self) -> Iterator[str]:
        if self.next:
            yield f"Next: {self.next.title}"
        if self.found:
            yield _total(self.notebooks)
        for study, notebooks in self.found:
            yield f"{study.title}: {_module_words(self.root, study)}"
            for p in notebooks:
                mark = "next" if p == self.next else ""
                yield (
                    f"  {mark:<5}{p.title}: {p.state}; {_points(p) or 'no checks'}"
                    f"{'; ' + _answers(p) if p.questions else ''}"
                )
        for study in self.missing:
            yield f"{study.title}: not in this folder yet"


def start_page(folder: str | Path = ".") -> StartPage:
    """The start page of a folder that holds studies, each in its own folder."""
    root = Path(folder)
    every = [load_study(name) for name in studies()]
    here = [study for study in every if (root / study.assignment).is_dir()]
    missing = [study for study in every if study not in here]
    if sys.platform == "emscripten":  # in a live course, where nothing is fetched later
        missing = []
    return StartPage(
        root,
        [(study, progress(root / study.assignment, study)) for study in here],
        missing,
        bool(missing) and has_exchange(root),
    )


def has_exchange(root: Path) -> bool:
    """Whether nbgrader's exchange can be used by whoever opens JupyterLab in `root`: a folder that
    can be written to is configured there or in Jupyter's own folders, or is at nbgrader's default.
    """
    if sys.platform == "emscripten":
        return False
    from jupyter_core.paths import jupyter_config_path

    exchange = DEFAULT_EXCHANGE
    places: list[str | Path] = [*reversed(jupyter_config_path()), root]
    for place in places:  # the last one counts
        exchange = _configured(Path(place)) or exchange
    return exchange.is_dir() and os.access(exchange, os.W_OK | os.X_OK)


def _configured(place: Path) -> Path | None:
    """The exchange that nbgrader's configuration in this folder names, if it names one."""
    from traitlets.config import JSONFileConfigLoader, PyFileConfigLoader

    found = None
    for name, loader in (
        (f"{CONFIG}.py", PyFileConfigLoader),
        (f"{CONFIG}.json", JSONFileConfigLoader),
    ):
        if (place / name).is_file():
            with contextlib.suppress(Exception):  # JupyterLab reports it when nbgrader reads it
                named = loader(name, path=str(place)).load_config().Exchange.get("root")
                found = Path(named).expanduser() if isinstance(named, str) else found
    return found


def _points(p: Progress) -> str:
    """What the checks said on public positions, in words; empty where there are none."""
    if not p.checks:
        return ""
    if len(p.unchecked) == len(p.checks):
        return f"not checked yet, {p.points:g} points"
    left = f", {len(p.unchecked)} of {len(p.checks)} checks not run yet" if p.unchecked else ""
    changed = ", checked before the module's last change" if p.changed else ""
    return f"{p.earned:g} of {p.points:g}{left}{changed}"


def _answers(p: Progress) -> str:
    return f"{p.answered} of {p.questions} questions answered"


def _total(of: Sequence[Progress]) -> str:
    """What is done in all notebooks, in words."""
    done = sum(p.state == "done" for p in of)
    return f"{done} of {len(of)} notebooks done, {_sums(of)}"


def _of_study(of: Sequence[Progress]) -> str:
    """The state of a study's notebooks, and what is done of it; HTML."""
    states = {p.state for p in of}
    state = states.pop() if len(states) == 1 else "begun"
    if state == "not started":
        return f"{WORDS[state]}, {sum(p.points for p in of):g} points"
    return f"{WORDS[state]}, {_sums(of)}"


def _sums(of: Sequence[Progress]) -> str:
    earned, points = sum(p.earned for p in of), sum(p.points for p in of)
    answered, questions = sum(p.answered for p in of), sum(p.questions for p in of)
    return f"{earned:g} of {points:g} points, {answered} of {questions} questions answered"


def _module_words(root: Path, study: Study) -> str:
    left = to_write(root / study.assignment / study.module)
    if left is None:
        return f"{study.module} is missing"
    return f"{study.module}, " + (f"{left} places to fill in" if left else "all filled in")


def _page(page: StartPage) -> Iterator[str]:
    """The page as HTML that notebooks show even before they are trusted: what is next, the total,
    and each study on a line, with its notebooks below it, unfolded where the next one is."""
    if page.next:
        yield (
            f"<p style='font-size:1.2em'><strong>Next: "
            f"{link(page.root, page.next.path, page.next.title)}</strong></p>"
        )
    elif page.found:
        yield "<p style='font-size:1.2em'><strong>Everything in this folder is done.</strong></p>"
    if page.found:
        yield (
            f"<p>So far: {_total(page.notebooks)}. Points are for the public positions; marks "
            "come from other positions of the same kind.</p>"
        )
    for study, notebooks in page.found:
        unfolded = " open" if page.next in notebooks else ""
        yield (
            f"<details{unfolded}><summary><strong>{escape(study.title)}</strong>: "
            f"{_of_study(notebooks)}</summary>"
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
            "<p>Not in this folder yet: "
            f"{', '.join(escape(study.title) for study in page.missing)}.{fetch}</p>"
        )


def _row(page: StartPage, p: Progress) -> Sequence[str]:
    mark = "<strong>next:</strong> " if p == page.next else ""
    return (
        link(page.root, p.path, p.title),
        mark + WORDS[p.state],
        (escape(_points(p)) or "no checks") + (f"<br>{_answers(p)}" if p.questions else ""),
    )


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, all cells of which are HTML already; in a narrow window it is scrolled by itself."""
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


class Shown(Protocol):
    """What a notebook shows as HTML."""

    def _repr_html_(self) -> str: ...


def write_page(
    root: Path,
    welcome: str,
    call: str,
    shown: Shown,
    below: str = "",
    last: str = "",
    *,
    folded: bool = False,
) -> bool:
    """Write `start.ipynb` with the output of its code cell; return whether that worked.

    The call is folded away if `folded` is set or there are words `below` it; `last` is the source
    of a code cell below those words. A file of that name that was made by hand is left alone.
    """
    path = root / PAGE
    if path.exists() and not _is_ours(path):
        return False
    output = put_out(shown._repr_html_(), repr(shown))
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
    page = {
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
        path.write_text(json.dumps(page, indent=1) + "\n", "utf-8")
    except OSError:
        return False
    return True


def put_out(html: str, text: str) -> dict[str, Any]:
    """The output of the page's one code cell, as notebooks keep it."""
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
    """Run JupyterLab with `root` as its root folder, at the start page if there is one.

    The user's own settings take precedence over the folders of `defaults`.
    """
    from jupyterlab.labapp import main as lab

    places = [*map(str, defaults), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, places))
    start = [f"--LabApp.default_url=/lab/tree/{PAGE}"] if page else []
    sys.exit(lab([f"--ServerApp.root_dir={root}", *start, *arguments]))


def main(folder: str = ".", *arguments: str) -> None:
    """Write the start page of a folder and open JupyterLab there."""
    root = Path(folder).resolve()
    page, exchange = start_page(root), has_exchange(root)
    written = write_page(root, WELCOME, CALL, page, below(page, exchange), hand_in_cell(page))
    open_lab(
        root, written, arguments, (LAB_DEFAULTS, STUDENTS, *(() if exchange else (NO_EXCHANGE,)))
    )


def below(page: StartPage, exchange: bool) -> str:
    """The text below the start page."""
    return HOW + (SUBMIT if exchange else "") + (HAND_IN if page.found else "")


def hand_in_cell(page: StartPage) -> str:
    """The source of the cell that packs what is handed in, of the study that is next."""
    if not page.found:
        return ""
    study = next((study for study, of in page.found if page.next in of), page.found[0][0])
    return f'from course.hand_in import hand_in\n\nhand_in("{study.name}")'


if __name__ == "__main__":
    main(*sys.argv[1:])
