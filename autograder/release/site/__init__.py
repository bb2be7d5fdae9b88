"""Builds the live site: the book, with a button on each page that opens the notebook.

The live course is JupyterLite: Python runs in the student's browser, which also stores the work. The
site is one static folder and needs no other server, unless plotting packages are loaded from
Pyodide's server. May import the rest of `release` and the layers below it.
"""

import json
import re
import zipfile
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from autograder.release.book import Source, require_replaceable, sources, write_book
from autograder.release.book.pages import EMBEDDED, alternative_texts
from autograder.release.kit import Member, contents, find_all_leaks
from autograder.release.notebooks import check_id, notebook_texts
from autograder.release.site.fetch import Fetched, SiteError, fetch
from autograder.release.site.live import build_live
from autograder.release.site.wheels import KIT_NAME, pyodide_server
from course.checks import Study
from course.lab.prerendered import FILE, key

PRERENDERED_FILE = f"course/lab/{FILE.name}"
NUMPY = re.compile(r"\b(?:numpy|playouts)\b")  # a cell that matches needs numpy
BY_MATPLOTLIB = b"matplotlib.org"  # appears in matplotlib's pictures
Report = Callable[[str], object]


class Options(NamedTuple):
    """Options of the live course: whether it loads numpy and matplotlib from Pyodide's server, and
    the translations of the course's kit.
    """

    with_plotting: bool = False
    translations: bytes | None = None


DEFAULTS = Options()


def chapters(wanted: Iterable[Study]) -> list[Source]:
    """Return the notebooks of these studies."""
    return sources([path.stem for study in wanted for path in notebook_texts(study.folder)])


def write_site(
    folder: Path,
    wanted: Sequence[Study],
    cache: Path,
    report: Report = lambda what: None,
    tick: Report = lambda name: None,
    warn: Report = lambda line: None,
    *,
    options: Options = DEFAULTS,
) -> Path:
    """Build the live site of these studies in `folder`; return its first page.

    An earlier site is replaced only if the new one passes the search for leaks. Downloads are
    stored in `cache`. `report` is called with each step, `tick` with the notebook after each cell,
    `warn` with messages on omitted output. Raises `SiteError` or another `UserError`.
    """
    require_replaceable(folder)
    kit = contents(wanted, options.translations)
    fetched = fetch(cache, lambda what: report(f"fetching {what}"))

    def live(target: Path, notebooks: Sequence[NotebookNode]) -> None:
        report("building the live course")
        drawn = json.dumps(prerendered_outputs(notebooks), indent=0).encode()
        build_live(
            target,
            wanted,
            {**kit, PRERENDERED_FILE: drawn},
            fetched,
            pyodide_server(fetched.pyodide) if options.with_plotting else None,
        )
        report("searching for leaks in every byte that was not downloaded")
        refuse_leaks(target, fetched)

    return write_book(folder, chapters(wanted), tick, warn, live)


def megabytes(folder: Path) -> float:
    """Return the size of all files in a folder in megabytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def prerendered_outputs(notebooks: Iterable[NotebookNode]) -> dict[str, dict[str, list]]:
    """Return the stored outputs of cells, by the cells' keys.

    These are the "pictures" of matplotlib, as alternative text and SVG, and the "outputs", as HTML,
    of all cells in notebooks that need numpy.
    """
    pictures: dict[str, list[tuple[str, str]]] = {}
    outputs: dict[str, list[str]] = {}
    for notebook in notebooks:
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        needs_numpy = any(NUMPY.search(cell.source) for cell in cells)
        for cell in cells:
            pages = [page for page in map(_as_html, cell.outputs) if page]
            plots = [plot for page in pages for plot in _matplotlib_pictures(page)]
            if plots:
                pictures[key(cell.source)] = plots
            if needs_numpy and pages and not check_id(cell):
                outputs[key(cell.source)] = pages
    return {"pictures": pictures, "outputs": outputs}


def _as_html(output: NotebookNode) -> str:
    data = output.get("data", {})
    plain = output.get("text") if output.get("name") == "stdout" else data.get("text/plain")
    return data.get("text/html") or (f"<pre>{escape(plain)}</pre>" if plain else "")


def _matplotlib_pictures(page: str) -> Iterator[tuple[str, str]]:
    for image in EMBEDDED.finditer(page):
        svg = b64decode(image[2])
        if BY_MATPLOTLIB in svg:
            (text,) = alternative_texts(image[0])
            yield text, svg.decode()


# ---- The search for leaks


def refuse_leaks(site: Path, fetched: Fetched) -> None:
    """Raise `SiteError` if the live course contains anything that students must not see.

    Every file is searched, including those in our own wheel, except unchanged downloads.
    """
    known = fetched.digests()
    ours = [
        member
        for path in sorted(site.rglob("*"))
        if path.is_file()
        for member in _members(path, site)
        if sha256(member.data).digest() not in known
    ]
    if leaks := find_all_leaks(ours):
        raise SiteError("the site was not written: " + "; ".join(leaks))


def _members(path: Path, site: Path) -> Iterator[Member]:
    """Yield the file, or its members if it is our own wheel."""
    data, name = path.read_bytes(), path.relative_to(site).as_posix()
    if path.name.startswith(KIT_NAME):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for inside in archive.namelist():
                yield Member(f"{name}/{inside}", archive.read(inside))
    else:
        yield Member(name, data)
