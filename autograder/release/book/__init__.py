"""Makes the book: the course as a static site that can be read offline.

Every notebook is run with the reference answers beside it, in a folder that is deleted afterwards.
The pages show what the notebooks show, and no line of the answers: the site is searched for leaks
before it replaces an earlier one. May import the rest of `release` and what lies below it.
"""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import nbformat
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from autograder.release.book.pages import PICTURES, BookError, Chapter, chapter
from autograder.release.book.reference import (
    Reference,
    references,
    write_linked,
    write_packages,
)
from autograder.release.kit import checkout
from autograder.release.leaks import find_leaks
from autograder.release.notebooks import notebook_texts
from autograder.workspace import answer_path
from course.probes import Study, load_study, studies
from course.start import PAGE as START_PAGE

TITLE = "Adversarial search"
CELL_SECONDS = 600  # for one cell, far more than any needs
LIVE = "live"  # the folder of the live course, if there is one
MARK = "made_by_the_book.txt"
MARKED = """`autograder book` made this folder, and the next book replaces it.

Keep nothing of your own here. Without this file the folder is left alone.
"""
FILES = ("book.css", "book.js", "theme.js")
SEARCH_ENGINE = Path(__file__).parent / "minisearch"  # as npm has it, version 7.2.0
INDEX = "search-index.js"  # JSON in a script: pages opened from a folder may not fetch a file
INDEX_BEGINS = "window.bookIndex = "
Tick = Callable[[str], object]  # is told the notebook of each cell that was run


@dataclass(frozen=True)
class Source:
    """One notebook that becomes a chapter."""

    study: Study
    path: Path

    @property
    def name(self) -> str:
        """The notebook's name, without its ending."""
        return self.path.stem

    def read(self) -> NotebookNode:
        """The notebook as it is handed out."""
        return nbformat.read(self.path, as_version=4)


def sources(only: Sequence[str] | None = None) -> list[Source]:
    """The notebooks of all studies in reading order, or `only` those named.

    Raises `BookError` for a name that no notebook has.
    """
    every = [
        Source(study, path.with_suffix(".ipynb"))
        for study in map(load_study, studies())
        for path in notebook_texts(study.folder)
    ]
    unknown = sorted(set(only or ()) - {source.name for source in every})
    if unknown:
        raise BookError(
            f"there is no notebook {', '.join(unknown)}; there are "
            f"{', '.join(source.name for source in every)}"
        )
    missing = [source.path.name for source in every if not source.path.is_file()]
    if missing:
        raise BookError(f"{', '.join(missing)} is missing: run `autograder build`")
    return [source for source in every if only is None or source.name in only]


def count_cells(wanted: Sequence[Source]) -> int:
    """The number of cells to be run for these chapters."""
    return sum(_is_run(cell) for source in wanted for cell in source.read().cells)


def _is_run(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def write_book(
    folder: Path,
    wanted: Sequence[Source],
    tick: Tick = lambda name: None,
    complain: Callable[[str], object] = lambda line: None,
    live: Callable[[Path, Sequence[NotebookNode]], None] | None = None,
) -> Path:
    """Make the book of these notebooks in `folder`; returns its first page.

    An earlier book there is replaced only when the new one has passed the search for leaks.
    `complain` is called with a sentence on anything left out. `live` makes the live course in the
    folder that it is given, from the notebooks that were run, and searches it for leaks; then every
    page has a button that leads there. Raises `BookError`, and `ReleaseError` without a checkout.
    """
    checkout()
    refuse_what_is_no_book(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".book-", dir=folder.parent) as temporary:
        workspace, site = Path(temporary, "workspace"), Path(temporary, "site")
        lay_out(workspace)
        pictures: dict[str, bytes] = {}
        chapters, notebooks = [], []
        for source in wanted:
            done = run(source, workspace / source.study.assignment, tick)
            for number in _wrote_to_stderr(done):
                complain(
                    f"{source.name}.ipynb, cell {number}: what it wrote to stderr is left out "
                    "of the book"
                )
            chapters.append(chapter(source.study, source.name, done, pictures))
            notebooks.append(done)
        _write_site(site, chapters, pictures, is_live=live is not None)
        refuse_leaks(site, Path(temporary, "texts"))
        if live is not None:
            live(site / LIVE, notebooks)
        if folder.exists():
            folder.rename(Path(temporary, "before"))
        site.rename(folder)
    return folder / "index.html"


def refuse_what_is_no_book(folder: Path) -> None:
    """Raise `BookError` if the folder holds something else, which no book may replace."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BookError(f"{folder} is not a folder: name a new one for the book")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BookError(
            f"{folder} is not empty and holds no book, so it is left alone: name another folder"
        )


def lay_out(workspace: Path) -> None:
    """The folder of somebody who has written every module, so that studies find one another's."""
    for study in map(load_study, studies()):
        place = workspace / study.assignment
        place.mkdir(parents=True)
        (place / study.module).write_bytes(answer_path(study).read_bytes())


def run(
    source: Source,
    folder: Path,
    tick: Tick = lambda name: None,
    client: Callable[..., NotebookClient] = NotebookClient,
) -> NotebookNode:
    """Run all cells of the notebook in `folder`; returns the notebook with their outputs.

    Widgets leave a still picture. `client` makes what runs the cells. Raises `BookError` if one
    fails.
    """
    notebook = source.read()
    now = 0

    def begin(cell: NotebookNode, cell_index: int) -> None:
        nonlocal now
        now = cell_index + 1

    running = client(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        store_widget_state=False,
        coalesce_streams=True,  # else it is chance where a long output falls apart
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR", "--HistoryManager.hist_file=:memory:"],
        on_cell_start=begin,
        on_cell_executed=lambda **_: tick(source.name),
    )
    where = f"{source.name}.ipynb, cell"
    try:
        running.execute()
    except CellTimeoutError:
        raise BookError(f"{where} {now}: it did not finish within {CELL_SECONDS} s") from None
    except DeadKernelError:
        raise BookError(f"{where} {now}: it ended the Python process") from None
    except CellExecutionError as error:
        raise BookError(
            f"{where} {now}: with the reference answers every cell must run, but this "
            f"one raised {error.ename}: {error.evalue}"
        ) from None
    return notebook


def _wrote_to_stderr(notebook: NotebookNode) -> list[int]:
    return [
        number
        for number, cell in enumerate(notebook.cells, 1)
        if any(output.get("name") == "stderr" for output in cell.get("outputs", ()))
    ]


def _write_site(
    site: Path, chapters: Sequence[Chapter], pictures: dict[str, bytes], is_live: bool
) -> None:
    environment = Environment(
        loader=PackageLoader("autograder.release.book"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(html=Markup, points=_points)
    contents = [
        (study, [c for c in chapters if c.study == study])
        for study in map(load_study, dict.fromkeys(c.study.name for c in chapters))
    ]
    beside = references()
    pages: list[Chapter | Reference] = [*chapters, *beside]
    order = [("index.html", TITLE), *((one.page, one.title) for one in pages)]
    (site / PICTURES).mkdir(parents=True)

    def write(page: str, template: str, **facts: object) -> None:
        at = [name for name, _ in order].index(page)
        text = environment.get_template(template).render(
            course=TITLE,
            page=page,
            title=order[at][1],
            contents=contents,
            reference=beside,
            before=order[at - 1] if at else None,
            after=order[at + 1] if at + 1 < len(order) else None,
            live=is_live and _live_address(chapters, page),
            **facts,
        )
        (site / page).write_text(text, "utf-8", newline="\n")

    write("index.html", "landing.html", first=order[1])
    for one in chapters:
        write(one.page, "chapter.html", chapter=one)
    for reference in beside:
        write(reference.page, reference.template, **reference.facts)
    write_linked(site)
    write_packages(site)
    for name, content in pictures.items():
        (site / PICTURES / name).write_bytes(content)
    templates = Path(__file__).parent / "templates"
    for name in FILES:
        (site / name).write_bytes((templates / name).read_bytes())
    (site / "minisearch.js").write_text(_search_engine(), "utf-8")
    index = json.dumps(_index(pages))
    (site / INDEX).write_text(f"{INDEX_BEGINS}{index};\n", "utf-8")
    (site / MARK).write_text(MARKED, "utf-8")


def _live_address(chapters: Sequence[Chapter], page: str) -> str:
    """Where the notebook of a page is in the live course; of any other page, the start page."""
    path = next(
        (f"{c.study.assignment}/{c.name}.ipynb" for c in chapters if c.page == page), START_PAGE
    )
    return f"{LIVE}/lab/index.html?path={path}"


def _points(study: Study) -> str:
    """What a study is worth, in words."""
    checks = sum(c.max_points for c in study.checks.values() if not c.extra_credit)
    extra = sum(c.max_points for c in study.checks.values() if c.extra_credit)
    return (
        f"{checks:g} points by checks"
        + (f", {extra:g} of extra credit" if extra else "")
        + f", {sum(study.written.values()):g} by answers in words"
    )


def _index(pages: Sequence[Chapter | Reference]) -> list[dict[str, str]]:
    """What the search looks through: an entry for each section of each page."""
    return [
        {
            "page": f"{one.page}#{section.anchor}",
            "chapter": one.title,
            "title": section.title,
            "text": section.text,
        }
        for one in pages
        for section in one.sections
    ]


def _search_engine() -> str:
    """The script of MiniSearch, its licence on top."""
    script = (SEARCH_ENGINE / "index.js").read_text("utf-8").rpartition("//# sourceMappingURL")[0]
    return f"/*\n{(SEARCH_ENGINE / 'LICENSE.txt').read_text('utf-8')}*/\n{script}"


def refuse_leaks(site: Path, texts: Path) -> None:
    """Raise `BookError` if the site gives an answer away, in its bytes or in what is read there:
    between the letters of a coloured line of code stand tags."""
    texts.mkdir()
    files = sorted(path for path in site.rglob("*") if path.is_file())
    for page in [path for path in files if path.suffix == ".html"]:
        read = texts / page.name
        read.write_text(_text(page.read_text("utf-8")), "utf-8")
        files.append(read)
    leaks = dict.fromkeys(
        leak for study in map(load_study, studies()) for leak in find_leaks(study, files)
    )
    if leaks:
        raise BookError("the book was not written: " + "; ".join(leaks))


def _text(page: str) -> str:
    """What is read on a page, its lines kept."""
    return unescape(re.sub(r"<[^>]+>", "", page))
