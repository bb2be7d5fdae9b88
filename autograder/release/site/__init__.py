"""Makes the live site: the book, and behind a button on each page the same notebook to work on.

The live course is JupyterLite: Python runs in the student's browser, and work is kept there. The
site is one static folder. Nothing that it shows or runs is asked of anybody else, unless plotting
is to come from Pyodide's server. May import the rest of `release` and what lies below it.
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

from nbformat import NotebookNode

from autograder.release.book import Source, refuse_what_is_no_book, sources, write_book
from autograder.release.book.pages import EMBEDDED, alternative_texts
from autograder.release.kit import Member, contents, find_all_leaks
from autograder.release.notebooks import check_id, notebook_texts
from autograder.release.site.fetch import Fetched, SiteError, fetch
from autograder.release.site.live import build_live
from autograder.release.site.wheels import KIT_NAME, pyodide_server
from course.drawn_before import FILE, key
from course.probes import Study

DRAWN_BEFORE = f"course/{FILE.name}"
NUMPY = re.compile(r"\b(?:numpy|playouts)\b")  # imported by a cell, or by what it imports
BY_MATPLOTLIB = b"matplotlib.org"  # it says so in the pictures that it draws
Tell = Callable[[str], object]


def chapters(wanted: Iterable[Study]) -> list[Source]:
    """The notebooks of these studies."""
    return sources([path.stem for study in wanted for path in notebook_texts(study.folder)])


def write_site(
    folder: Path,
    wanted: Sequence[Study],
    cache: Path,
    tell: Tell = lambda what: None,
    tick: Tell = lambda name: None,
    complain: Tell = lambda line: None,
    *,
    with_plotting: bool = False,
) -> Path:
    """Make the live site of these studies in `folder`; returns its first page.

    An earlier site there is replaced only when the new one has passed the search for leaks. What is
    fetched from registries stays in `cache`. `tell` is told what is being done, `tick` the notebook
    of each cell that was run, `complain` what was left out of the book. `with_plotting`: in the
    live course numpy and matplotlib are fetched from Pyodide's server. Raises `SiteError` or
    another `Refused`.
    """
    refuse_what_is_no_book(folder)
    kit = contents(wanted)
    fetched = fetch(cache, lambda what: tell(f"fetching {what}"))

    def live(target: Path, notebooks: Sequence[NotebookNode]) -> None:
        tell("building the live course")
        drawn = json.dumps(drawn_in(notebooks), indent=0).encode()
        build_live(
            target,
            wanted,
            {**kit, DRAWN_BEFORE: drawn},
            fetched,
            pyodide_server(fetched.pyodide) if with_plotting else None,
        )
        tell("searching every byte that was not fetched for leaks")
        refuse_leaks(target, fetched)

    return write_book(folder, chapters(wanted), tick, complain, live)


def megabytes(folder: Path) -> float:
    """The size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def drawn_in(notebooks: Iterable[NotebookNode]) -> dict[str, dict[str, list]]:
    """What cells showed, by the cells' keys: the "pictures" that matplotlib drew, as words and SVG,
    and the "outputs", as HTML, of all cells of notebooks that need numpy."""
    pictures: dict[str, list[tuple[str, str]]] = {}
    outputs: dict[str, list[str]] = {}
    for notebook in notebooks:
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        needs_numpy = any(NUMPY.search(cell.source) for cell in cells)
        for cell in cells:
            pages = [page for page in map(_as_html, cell.outputs) if page]
            drawn = [found for page in pages for found in _by_matplotlib(page)]
            if drawn:
                pictures[key(cell.source)] = drawn
            if needs_numpy and pages and not check_id(cell):
                outputs[key(cell.source)] = pages
    return {"pictures": pictures, "outputs": outputs}


def _as_html(output: NotebookNode) -> str:
    data = output.get("data", {})
    plain = output.get("text") if output.get("name") == "stdout" else data.get("text/plain")
    return data.get("text/html") or (f"<pre>{escape(plain)}</pre>" if plain else "")


def _by_matplotlib(page: str) -> Iterator[tuple[str, str]]:
    for image in EMBEDDED.finditer(page):
        svg = b64decode(image[2])
        if BY_MATPLOTLIB in svg:
            (words,) = alternative_texts(image[0])
            yield words, svg.decode()


# ---- The search for leaks


def refuse_leaks(site: Path, fetched: Fetched) -> None:
    """Raise `SiteError` if the live course holds what students must not see.

    Every file is searched, and what is inside our own wheel, except what is byte by byte as it was
    fetched: neither we nor a student wrote any of that.
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
    """The file, or what is in it if it is the wheel that we made."""
    data, name = path.read_bytes(), path.relative_to(site).as_posix()
    if path.name.startswith(KIT_NAME):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for inside in archive.namelist():
                yield Member(f"{name}/{inside}", archive.read(inside))
    else:
        yield Member(name, data)
