"""Builds the book: the course as a static site that can be read offline.

Every notebook is run with the reference answers in a temporary folder. The pages contain the
notebooks and their outputs, but no line of the answers. The site is searched for leaks before it
replaces an earlier one. May import the rest of `release` and the layers below it.
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

from autograder.release.book.execution import execute
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
from common.command_lines import advice
from course.checks import Study, load_study, studies
from course.lab.start_page import PAGE as START_PAGE

TITLE = "Adversarial search"
CELL_SECONDS = 600  # time limit for one cell, far more than any cell needs
LIVE = "live"  # the folder of the live course, if there is one
MARK = "made_by_the_book.txt"
MARK_TEXT = """The command `book` made this folder, and the next book replaces it.

Do not store your own files here. Without this file, the folder is not replaced.
"""
FILES = ("book.css", "book.js", "theme.js")
SEARCH_ENGINE = Path(__file__).parent / "minisearch"  # unchanged from npm, version 7.2.0
INDEX = "search-index.js"  # JSON in a script, because pages opened from disk cannot fetch files
INDEX_BEGINS = "window.bookIndex = "
Tick = Callable[[str], object]  # called with the notebook after each cell


@dataclass(frozen=True)
class Source:
    """One notebook that becomes a chapter."""

    study: Study
    path: Path

    @property
    def name(self) -> str:
        """The notebook's name without its extension."""
        return self.path.stem

    def read(self) -> NotebookNode:
        """Return the notebook in the form that students receive."""
        return nbformat.read(self.path, as_version=4)


def sources(only: Sequence[str] | None = None) -> list[Source]:
    """Return the notebooks of all studies in reading order, or `only` the named ones.

    Raises `BookError` for an unknown name.
    """
    notebooks = [
        Source(study, path.with_suffix(".ipynb"))
        for study in map(load_study, studies())
        for path in notebook_texts(study.folder)
    ]
    unknown = sorted(set(only or ()) - {source.name for source in notebooks})
    if unknown:
        raise BookError(
            f"there is no notebook {', '.join(unknown)}; there are "
            f"{', '.join(source.name for source in notebooks)}"
        )
    missing = [source.path.name for source in notebooks if not source.path.is_file()]
    if missing:
        raise BookError(f"{', '.join(missing)} is missing: run {advice('build')}")
    return [source for source in notebooks if only is None or source.name in only]


def count_cells(wanted: Sequence[Source]) -> int:
    """Return the number of cells to be run for these chapters."""
    return sum(_is_run(cell) for source in wanted for cell in source.read().cells)


def _is_run(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


def write_book(
    folder: Path,
    wanted: Sequence[Source],
    tick: Tick = lambda name: None,
    warn: Callable[[str], object] = lambda line: None,
    live: Callable[[Path, Sequence[NotebookNode]], None] | None = None,
) -> Path:
    """Build the book of these notebooks in `folder`; return its first page.

    An earlier book is replaced only if the new one passes the search for leaks. `warn` is called
    with a message on omitted output. `live`, if given, builds the live course from the executed
    notebooks in a folder and searches it for leaks; every page then has a button that opens it.
    Raises `BookError`, and `GenerationError` without a checkout.
    """
    checkout()
    require_replaceable(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".book-", dir=folder.parent) as temporary:
        workspace, site = Path(temporary, "workspace"), Path(temporary, "site")
        write_workspace(workspace)
        pictures: dict[str, bytes] = {}
        chapters, notebooks = [], []
        for source in wanted:
            done = run(source, workspace / source.study.assignment, tick)
            for number in _wrote_to_stderr(done):
                warn(f"{source.name}.ipynb, cell {number}: its output to stderr is not in the book")
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


def require_replaceable(folder: Path) -> None:
    """Raise `BookError` if the folder contains anything but a book."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise BookError(f"{folder} is not a folder: name a new one for the book")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise BookError(f"{folder} is not empty and does not contain a book: name another folder")


def write_workspace(workspace: Path) -> None:
    """Write all reference modules into study folders from which studies can import each other."""
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
    """Run all cells of the notebook in `folder`; return the notebook with their outputs.

    Each widget is replaced by a static picture. `client` creates the client that runs the cells.
    Raises `BookError` if a cell fails.
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
        coalesce_streams=True,  # otherwise, long outputs are split at random places
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR", "--HistoryManager.hist_file=:memory:"],
        on_cell_start=begin,
        on_cell_executed=lambda **_: tick(source.name),
    )
    where = f"{source.name}.ipynb, cell"
    try:
        execute(running)
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
    reference_pages = references([one.page for one in chapters])
    pages: list[Chapter | Reference] = [*chapters, *reference_pages]
    order = [("index.html", TITLE), *((one.page, one.title) for one in pages)]
    (site / PICTURES).mkdir(parents=True)

    def write(page: str, template: str, **facts: object) -> None:
        at = [name for name, _ in order].index(page)
        text = environment.get_template(template).render(
            course=TITLE,
            page=page,
            title=order[at][1],
            contents=contents,
            reference=reference_pages,
            before=order[at - 1] if at else None,
            after=order[at + 1] if at + 1 < len(order) else None,
            live=is_live and _live_address(chapters, page),
            **facts,
        )
        (site / page).write_text(text, "utf-8", newline="\n")

    write("index.html", "landing.html", first=order[1])
    for one in chapters:
        write(one.page, "chapter.html", chapter=one)
    for reference in reference_pages:
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
    (site / MARK).write_text(MARK_TEXT, "utf-8")


def _live_address(chapters: Sequence[Chapter], page: str) -> str:
    """Return the address of a page's notebook in the live course, or of the start page."""
    path = next(
        (f"{c.study.assignment}/{c.name}.ipynb" for c in chapters if c.page == page), START_PAGE
    )
    return f"{LIVE}/lab/index.html?path={path}"


def _points(study: Study) -> str:
    """Return a phrase that states the points of a study."""
    checks = sum(c.max_points for c in study.checks.values() if not c.extra_credit)
    extra = sum(c.max_points for c in study.checks.values() if c.extra_credit)
    return (
        f"{checks:g} points for checks"
        + (f", {extra:g} extra credit" if extra else "")
        + f", {sum(study.written.values()):g} for written answers"
    )


def _index(pages: Sequence[Chapter | Reference]) -> list[dict[str, str]]:
    """Return the search index, which has an entry for each section of each page."""
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
    """Return the script of MiniSearch with its licence at the top."""
    script = (SEARCH_ENGINE / "index.js").read_text("utf-8").rpartition("//# sourceMappingURL")[0]
    return f"/*\n{(SEARCH_ENGINE / 'LICENSE.txt').read_text('utf-8')}*/\n{script}"


def refuse_leaks(site: Path, texts: Path) -> None:
    """Raise `BookError` if the site's bytes or its visible text give an answer away.

    The text is searched separately, because tags divide the lines of highlighted code.
    """
    texts.mkdir()
    files = sorted(path for path in site.rglob("*") if path.is_file())
    for page in [path for path in files if path.suffix == ".html"]:
        text = texts / page.name
        text.write_text(visible_text(page.read_text("utf-8")), "utf-8")
        files.append(text)
    leaks = dict.fromkeys(
        leak for study in map(load_study, studies()) for leak in find_leaks(study, files)
    )
    if leaks:
        raise BookError("the book was not written: " + "; ".join(leaks))


def visible_text(page: str) -> str:
    """Return the visible text of a page, with its line breaks."""
    return unescape(re.sub(r"<[^>]+>", "", page))
