"""Converts an executed notebook into a chapter of the book: its page, sections and pictures.

Only static outputs are included: HTML, text, and pictures with a description.
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

from autograder.errors import UserError
from autograder.release.notebooks import check_id, is_folded
from course.checks import Study
from tictactoe.boards.static_snapshot import SNAPSHOT_HINT
from tictactoe.games.pictures import DARK_RULE

PICTURES = "pictures"  # the folder of pictures next to the pages
STATIC_NOTICE = (
    "A static picture. In JupyterLab, it is interactive."  # replaces the notebook's `SNAPSHOT_HINT`
)
BIBLIOGRAPHY, BIBLIOGRAPHY_PAGE = "course/bibliography.md", "bibliography.html"
GLOSSARY, GLOSSARY_PAGE = "course/glossary.md", "glossary.html"
STATISTICS, STATISTICS_PAGE = "course/statistics.md", "statistics.html"
FOLDED_SUMMARY = "The code of this cell"
TEXT_WIDTH = 760  # pixels; wider pictures scroll, others shrink with the window
MIN_SCALE = 0.7  # below this, text in a picture is illegible, so the picture scrolls
PHONE_WIDTH = 480  # pixels; a picture of this width fits a phone when scaled
POINT = 4 / 3  # CSS pixels per point
EXTENSIONS = {"svg+xml": "svg", "png": "png", "jpeg": "jpg"}
EMBEDDED = re.compile(r"<img\b[^>]*\bsrc=\"data:image/(svg\+xml|png|jpeg);base64,([^\"]+)\"[^>]*>")
SVG_SIZE = re.compile(r'<svg\b[^>]*?\swidth="([0-9.]+)(pt|px)?"[^>]*?\sheight="([0-9.]+)(pt|px)?"')
HEADING = re.compile(r'(?=<h[1-6] id=")')
_highlight = Highlight2HTML(pygments_lexer="ipython3")


class BookError(UserError):
    """The book was not built; the message gives the reason."""


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, up to the next heading."""

    anchor: str
    title: str  # plain text
    level: int
    text: str  # plain text for the search


@dataclass(frozen=True)
class Chapter:
    """One notebook's page."""

    study: Study
    name: str  # of the notebook, without its extension
    body: str  # HTML
    teaches: str  # HTML: the beginning of the notebook
    sections: tuple[Section, ...]  # the first one has the title

    @property
    def title(self) -> str:
        """The notebook's own title."""
        return self.sections[0].title if self.sections else self.name

    @property
    def page(self) -> str:
        """The file name of the page."""
        return f"{self.name}.html"


def chapter(
    study: Study, name: str, notebook: NotebookNode, pictures: MutableMapping[str, bytes]
) -> Chapter:
    """Return the page of an executed notebook; its pictures are added to `pictures`, by file name.

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
    """Renders Markdown as nbconvert does, with anchors for the headings."""

    def __init__(self) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.anchors: set[str] = set()

    def heading(self, text: str, level: int, **_attrs: object) -> str:
        """Return a heading with an id that is derived from its text, and has a number if the text
        is not unique.
        """
        words = re.sub(r"[^a-z0-9]+", "-", plain(text).lower()).strip("-") or "section"
        anchor, number = words, 1
        while anchor in self.anchors:
            number += 1
            anchor = f"{words}-{number}"
        self.anchors.add(anchor)
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'


def markdown(text: str, renderer: IPythonRenderer) -> str:
    """Return Markdown as HTML, with tables that scroll in a narrow window."""
    page = MarkdownWithMath(renderer=renderer).render(text)
    return page.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )


def plain(page: str) -> str:
    """Return the text of a piece of HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def _markdown_cell(cell: NotebookNode, renderer: IPythonRenderer) -> str:
    graded = cell.metadata.get("nbgrader", {})
    if graded.get("solution"):
        points = f"{graded['points']:g} point" + ("" if graded["points"] == 1 else "s")
        return f'<p class="answer">Answer this in the notebook, for up to {points}.</p>'
    text = markdown(cell.source, renderer)
    for file, page, title in (
        (BIBLIOGRAPHY, BIBLIOGRAPHY_PAGE, "the {}bibliography{}"),
        (STATISTICS, STATISTICS_PAGE, "{}Results and chance{}"),
    ):
        link = title.format(f'<a href="{page}">', "</a>")
        text = text.replace(f"<code>{file}</code>", link)
    return text


def _code_cell(cell: NotebookNode, where: str, pictures: MutableMapping[str, bytes]) -> str:
    rendered = [_output(output, where, pictures) for output in cell.outputs]
    outputs = "\n".join(
        f'<div class="output" role="group" aria-label="output">{text}</div>'
        for text in rendered
        if text
    )
    kind = "cell check" if check_id(cell) else "cell"
    source = _highlight(cell.source)
    if is_folded(cell):
        source = f"<details><summary>{FOLDED_SUMMARY}</summary>{source}</details>"
    return f'<div class="{kind}" id="cell-{cell.id}">{source}{outputs}</div>'


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
    """Return the HTML of an output, with embedded pictures replaced by links to files."""
    if any(not alt for alt in alternative_texts(page)):
        raise BookError(f"{where} shows a picture without an alternative text")

    def link(image: re.Match) -> str:
        kind, data = image.groups()
        content = base64.b64decode(data)
        name = f"{hashlib.sha256(content).hexdigest()[:16]}.{EXTENSIONS[kind]}"
        pictures[name] = content
        width, height = _size(content) if kind == "svg+xml" else (0, 0)
        fits = width <= TEXT_WIDTH or "max-width:100%;" in image[0]
        size = f' width="{width}" height="{height}"' if width else ""
        min_width = (
            f"min-width:{round(MIN_SCALE * width)}px;" if fits and width > PHONE_WIDTH else ""
        )
        tag = image[0].replace(f"data:image/{kind};base64,{data}", f"{PICTURES}/{name}")
        tag = re.sub("max-width:(none|100%);", min_width, tag).replace(' style=""', "")
        return tag.replace("<img", f'<img class="{"fits" if fits else "scrolls"}"{size}', 1)

    # The book has its own dark theme, and its cells cannot be run.
    return EMBEDDED.sub(link, page.replace(DARK_RULE, "").replace(SNAPSHOT_HINT, STATIC_NOTICE))


def _size(svg: bytes) -> tuple[int, int]:
    """Return the width and height of an SVG picture in pixels; 0 if the picture does not state
    them.
    """
    match = SVG_SIZE.search(svg.decode("utf-8", "replace"))
    if not match:
        return 0, 0
    width, height = (
        round(float(match[i]) * (POINT if match[i + 1] == "pt" else 1)) for i in (1, 3)
    )
    return width, height


def alternative_texts(page: str) -> list[str]:
    """Return the alternative text of each picture in a piece of HTML; "" if it has none."""
    texts = []

    class Images(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag == "img":
                texts.append((dict(attrs).get("alt") or "").strip())

    Images().feed(page)
    return texts


def find_sections(page: str) -> Iterator[Section]:
    """Yield the sections of a chapter, without the text before the first heading."""
    for part in HEADING.split(page):
        match = re.match(r'<h([1-6]) id="([^"]+)">(.*?)</h\1>', part, re.DOTALL)
        if match:
            level, anchor, title = match.groups()
            yield Section(anchor, plain(title), int(level), plain(part[match.end() :]))


def _beginning(page: str) -> str:
    """Return the first paragraph of a notebook, and the list after it if the paragraph ends with a
    colon.
    """
    match = re.search(r"<p>(.*?)</p>\s*(<ul>.*?</ul>)?", page, re.DOTALL)
    if not match:
        return ""
    text, points = match.groups()
    return f"<p>{text}</p>" + (points if points and text.rstrip().endswith(":") else "")
