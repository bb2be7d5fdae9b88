"""Turns a notebook that has been run into a chapter of the book: its page, sections and pictures.

Only what a page can show by itself is taken from outputs: HTML, text, and described pictures.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from html.parser import HTMLParser

from nbconvert.filters import Highlight2HTML, ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from autograder.errors import Refused
from autograder.release.notebooks import check_id
from course.probes import Study
from tictactoe.games.pictures import DARK_RULE
from tictactoe.show.still import GO_ON

PICTURES = "pictures"  # the folder beside the pages
IN_BOOK = "A still picture: in JupyterLab it can be clicked."  # where a notebook says `GO_ON`
BIBLIOGRAPHY, BIBLIOGRAPHY_PAGE = "course/bibliography.md", "bibliography.html"
TEXT_WIDTH = 760  # pixels: a wider picture is scrolled, any other shrinks with the window
LEAST = 0.7  # of its size: smaller, its words cannot be read, so it is scrolled too
ALWAYS_FITS = 480  # pixels: of these, that much fits a telephone
POINT = 4 / 3  # pixels in a point, as CSS has it
ENDINGS = {"svg+xml": "svg", "png": "png", "jpeg": "jpg"}
EMBEDDED = re.compile(r"<img\b[^>]*\bsrc=\"data:image/(svg\+xml|png|jpeg);base64,([^\"]+)\"[^>]*>")
SVG_SIZE = re.compile(r'<svg\b[^>]*?\swidth="([0-9.]+)(pt|px)?"[^>]*?\sheight="([0-9.]+)(pt|px)?"')
HEADING = re.compile(r'(?=<h[1-6] id=")')
_highlight = Highlight2HTML(pygments_lexer="ipython3")


class BookError(Refused):
    """The book was not made; the message says why."""


@dataclass(frozen=True)
class Section:
    """A heading and the words below it, down to the next one."""

    anchor: str
    title: str  # plain text
    level: int
    text: str  # plain: what the search looks through


@dataclass(frozen=True)
class Chapter:
    """One notebook's page."""

    study: Study
    name: str  # of the notebook, without its ending
    body: str  # HTML
    teaches: str  # HTML: how the notebook begins
    sections: tuple[Section, ...]  # the first one has the title

    @property
    def title(self) -> str:
        """The notebook's own title."""
        return self.sections[0].title if self.sections else self.name

    @property
    def page(self) -> str:
        """The file of the page."""
        return f"{self.name}.html"


def chapter(
    study: Study, name: str, notebook: NotebookNode, pictures: MutableMapping[str, bytes]
) -> Chapter:
    """The page of a notebook that was run; its pictures are added to `pictures`, by file name.

    Raises `BookError` for a picture without an alternative text.
    """
    renderer = Renderer()
    body, words = [], []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "markdown":
            text = _markdown_cell(cell, renderer)
            body.append(text)
            words.append(text)
        elif cell.cell_type == "code":
            where = f"{name}.ipynb, cell {number}"
            body.append(_code_cell(cell, where, pictures))
            words.append(f"<pre>{html.escape(cell.source)}</pre>")
    return Chapter(
        study,
        name,
        "\n".join(body),
        _beginning(words[0] if words else ""),
        tuple(find_sections("\n".join(words))),
    )


class Renderer(IPythonRenderer):
    """nbconvert's rendering of Markdown, with headings that can be linked to by their words."""

    def __init__(self) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.anchors: set[str] = set()

    def heading(self, text: str, level: int, **_attrs: object) -> str:
        """A heading whose id is made of its words, and of a number if others have the same."""
        words = re.sub(r"[^a-z0-9]+", "-", plain(text).lower()).strip("-") or "section"
        anchor, number = words, 1
        while anchor in self.anchors:
            number += 1
            anchor = f"{words}-{number}"
        self.anchors.add(anchor)
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'


def markdown(text: str, renderer: IPythonRenderer) -> str:
    """Markdown as HTML, its tables in boxes that scroll where the window is narrow."""
    page = MarkdownWithMath(renderer=renderer).render(text)
    return page.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )


def plain(page: str) -> str:
    """The text of a piece of HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def _markdown_cell(cell: NotebookNode, renderer: IPythonRenderer) -> str:
    graded = cell.metadata.get("nbgrader", {})
    if graded.get("solution"):
        points = f"{graded['points']:g} point" + ("" if graded["points"] == 1 else "s")
        return f'<p class="answer">Answer this in the notebook, for up to {points}.</p>'
    return markdown(cell.source, renderer).replace(
        f"<code>{BIBLIOGRAPHY}</code>", f'the <a href="{BIBLIOGRAPHY_PAGE}">bibliography</a>'
    )


def _code_cell(cell: NotebookNode, where: str, pictures: MutableMapping[str, bytes]) -> str:
    shown = [_output(output, where, pictures) for output in cell.outputs]
    outputs = "\n".join(
        f'<div class="output" role="group" aria-label="output">{text}</div>'
        for text in shown
        if text
    )
    kind = "cell check" if check_id(cell) else "cell"
    return f'<div class="{kind}" id="cell-{cell.id}">{_highlight(cell.source)}{outputs}</div>'


def _output(output: NotebookNode, where: str, pictures: MutableMapping[str, bytes]) -> str:
    if output.output_type == "stream":
        return f"<pre>{ansi2html(output.text)}</pre>" if output.name == "stdout" else ""
    data = output.get("data", {})
    if "text/html" in data:
        return _with_files(data["text/html"], where, pictures)
    if any(kind.startswith("image/") for kind in data):
        raise BookError(
            f"{where} shows a picture without a description: "
            "end the cell with `course.plots.picture(axes, alt)`"
        )
    return f"<pre>{ansi2html(data['text/plain'])}</pre>" if "text/plain" in data else ""


def _with_files(page: str, where: str, pictures: MutableMapping[str, bytes]) -> str:
    """The HTML of an output, its embedded pictures replaced by links to files."""
    if any(not alt for alt in alternative_texts(page)):
        raise BookError(f"{where} shows a picture without an alternative text")

    def link(found: re.Match) -> str:
        kind, data = found.groups()
        content = base64.b64decode(data)
        name = f"{hashlib.sha256(content).hexdigest()[:16]}.{ENDINGS[kind]}"
        pictures[name] = content
        width, height = _size(content) if kind == "svg+xml" else (0, 0)
        fits = width <= TEXT_WIDTH or "max-width:100%;" in found[0]
        size = f' width="{width}" height="{height}"' if width else ""
        least = f"min-width:{round(LEAST * width)}px;" if fits and width > ALWAYS_FITS else ""
        tag = found[0].replace(f"data:image/{kind};base64,{data}", f"{PICTURES}/{name}")
        tag = re.sub("max-width:(none|100%);", least, tag).replace(' style=""', "")
        return tag.replace("<img", f'<img class="{"fits" if fits else "scrolls"}"{size}', 1)

    # The book has a dark theme of its own, and no cells to run.
    return EMBEDDED.sub(link, page.replace(DARK_RULE, "").replace(GO_ON, IN_BOOK))


def _size(svg: bytes) -> tuple[int, int]:
    """Width and height of an SVG picture in pixels; 0 where it does not say."""
    found = SVG_SIZE.search(svg.decode("utf-8", "replace"))
    if not found:
        return 0, 0
    width, height = (
        round(float(found[i]) * (POINT if found[i + 1] == "pt" else 1)) for i in (1, 3)
    )
    return width, height


def alternative_texts(page: str) -> list[str]:
    """The alternative text of every picture in a piece of HTML; empty where there is none."""
    found = []

    class Images(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag == "img":
                found.append((dict(attrs).get("alt") or "").strip())

    Images().feed(page)
    return found


def find_sections(page: str) -> Iterator[Section]:
    """The sections of a chapter's words; what stands before the first heading is in none."""
    for part in HEADING.split(page):
        found = re.match(r'<h([1-6]) id="([^"]+)">(.*?)</h\1>', part, re.DOTALL)
        if found:
            level, anchor, title = found.groups()
            yield Section(anchor, plain(title), int(level), plain(part[found.end() :]))


def _beginning(page: str) -> str:
    """The first paragraph of a notebook, with the list after it if it ends with a colon."""
    found = re.search(r"<p>(.*?)</p>\s*(<ul>.*?</ul>)?", page, re.DOTALL)
    if not found:
        return ""
    text, points = found.groups()
    return f"<p>{text}</p>" + (points if points and text.rstrip().endswith(":") else "")
