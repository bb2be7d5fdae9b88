"""Cuts a notebook that has been run into slides.

A heading begins a slide: it takes the first paragraph below it, with the list or the definition
that follows, and the first figure. Each further figure has a slide with the sentences that lead to
it, and so has each question. All that is left out goes into the notes.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode

from autograder.release.book.pages import BookError, Renderer, alternative_texts, markdown
from autograder.release.notebooks import check_id

MOST_WORDS = 45  # of a paragraph: what is read while somebody speaks
MOST_ITEMS, ITEM_WORDS = 6, 28
MOST_LINES = 16  # of code or of what it prints
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*_(])")
IMAGE = re.compile(r'<img\b[^>]*\bsrc="data:image/[^>]*>', re.DOTALL)
QUESTION = re.compile(r"^\*\*Question\.\*\*\s*")
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)  # answers that the reader opens
KINDS = {">": "quote", "|": "table", "<": "html", "```": "fence"}  # how they begin
_highlight = Highlight2HTML(pygments_lexer="ipython3")


@dataclass(frozen=True)
class Slide:
    """One screen: all but the title is HTML."""

    title: str
    level: int = 2  # of the heading: 1 begins a notebook
    text: str = ""
    figure: str = ""
    code: str = ""
    notes: str = ""


@dataclass
class Section:
    """What stands below a heading: pieces of Markdown, figures and code in their order."""

    title: str
    level: int
    pieces: list[tuple[str, str]] = field(default_factory=list)  # (kind, text)


def cut(name: str, notebook: NotebookNode) -> Iterator[Slide]:
    """The slides of the notebook `name`; raises `BookError` for a picture without a description."""
    for section in sections(name, notebook):
        yield from slides_of(section)


def sections(name: str, notebook: NotebookNode) -> list[Section]:
    """The notebook by its headings. Cells that prepare or check are left out; what stands before an
    answer's cell is a question."""
    found: list[Section] = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            if found and found[-1].pieces[-1:] and found[-1].pieces[-1][0] == "paragraph":
                found[-1].pieces[-1] = ("question", found[-1].pieces[-1][1])
        elif cell.cell_type == "markdown":
            for kind, text in blocks(cell.source):
                if kind == "heading":
                    found.append(Section(text.lstrip("# "), len(text) - len(text.lstrip("#"))))
                elif found:
                    found[-1].pieces.append((kind, text))
        elif cell.cell_type == "code" and found and not check_id(cell):
            found[-1].pieces += _shown(cell, f"{name}.ipynb, cell {number}")
    return found


def blocks(source: str) -> Iterator[tuple[str, str]]:
    """The blocks of a Markdown cell, each with its kind; what is folded away is left out."""
    for block in re.split(r"\n\s*\n", FOLDED.sub("", source).strip()):
        lines = block.split("\n")
        while lines and lines[0].startswith("#"):  # a heading needs no blank line after it
            yield "heading", lines.pop(0)
        yield from _block("\n".join(lines))


def _block(block: str) -> Iterator[tuple[str, str]]:
    """A block without headings and its kind; nothing, where it is empty."""
    if not block:
        return
    if QUESTION.match(block):
        yield "question", block
    elif re.match(r"(?:[*+-]|\d+\.) ", block):
        yield "list", block
    else:
        yield (
            next((kind for mark, kind in KINDS.items() if block.startswith(mark)), "paragraph"),
            block,
        )


def _shown(cell: NotebookNode, where: str) -> Iterator[tuple[str, str]]:
    """The figures that a code cell shows, or, without any, its code with what it printed."""
    if cell.source.startswith("%load_ext") or not cell.outputs:
        return
    rich = "".join(o.data["text/html"] for o in cell.outputs if "text/html" in o.get("data", {}))
    if any(not alt for alt in alternative_texts(rich)):
        raise BookError(f"{where} shows a picture without an alternative text")
    if images := IMAGE.findall(rich):
        yield from (("figure", re.sub(r' style="[^"]*"', "", image)) for image in images)
        return
    printed = "".join(
        o.text
        if o.output_type == "stream" and o.name == "stdout"
        else o.get("data", {}).get("text/plain", "")
        for o in cell.outputs
    )
    code, printed = cell.source.strip(), printed.strip("\n")
    if len(code.split("\n")) + len(printed.split("\n")) > MOST_LINES:
        code = ""  # what it prints is what the text speaks of
    if printed and len(printed.split("\n")) <= MOST_LINES:
        yield "code", f"{code}\0{printed}"


def slides_of(section: Section) -> Iterator[Slide]:
    """The slides of a section; the first one has what is left out of them as its notes."""
    pieces = section.pieces
    used: set[int] = set()
    lead = _lead(pieces)
    used.update(lead)
    figures = [i for i, (kind, _) in enumerate(pieces) if kind == "figure"]
    code = next((i for i, (kind, _) in enumerate(pieces) if kind == "code"), None)
    first = Slide(section.title, section.level, _html([pieces[i] for i in lead]))
    if figures and not [i for i in lead if len(pieces[i][1].split()) > 2 * MOST_WORDS]:
        first = replace(first, figure=pieces[figures.pop(0)][1])
    elif code is not None and not figures:
        first = replace(first, code=_code(pieces[code][1]))
    further = []
    for at in figures:
        before = _before(pieces, at, used)
        used.update(before)
        further.append(Slide(section.title, 3, _html([pieces[i] for i in before]), pieces[at][1]))
    for i, (kind, text) in enumerate(pieces):
        if kind == "question":
            used.add(i)
            further.append(Slide("Question", 3, markdown(QUESTION.sub("", text), Renderer())))
    rest = [
        text
        for i, (kind, text) in enumerate(pieces)
        if i not in used and kind not in ("figure", "code", "html")
    ]
    yield replace(first, notes=markdown("\n\n".join(rest), Renderer()) if rest else "")
    yield from further


def _lead(pieces: Sequence[tuple[str, str]]) -> list[int]:
    """The first paragraph, what belongs to it, and the first definition: a quotation."""
    first = next((i for i, (kind, _) in enumerate(pieces) if kind == "paragraph"), None)
    found = [] if first is None else [first]
    after = 0 if first is None else first + 1
    if after < len(pieces) and pieces[after][0] in ("list", "table", "fence", "quote"):
        found.append(after)
    quote = next((i for i, (kind, _) in enumerate(pieces) if kind == "quote"), None)
    return sorted({*found, *([] if quote is None else [quote])})


def _before(pieces: Sequence[tuple[str, str]], figure: int, used: set[int]) -> list[int]:
    """The paragraph or list just before a figure, unless a slide has it already."""
    for i in range(figure - 1, -1, -1):
        kind = pieces[i][0]
        if kind == "figure" or i in used:
            return []
        if kind in ("paragraph", "list"):
            return [i]
    return []


def _html(pieces: Sequence[tuple[str, str]]) -> str:
    """These pieces, cut short, as HTML."""
    return markdown("\n\n".join(short(kind, text) for kind, text in pieces), Renderer())


def short(kind: str, text: str) -> str:
    """The whole sentences at the beginning of a text that a slide has room for.

    >>> short("paragraph", "One sentence. Then " + "word " * 50 + "end.")
    'One sentence.'
    """
    if kind == "paragraph":
        return _sentences(text, MOST_WORDS)
    if kind == "list":
        items = re.split(r"\n(?=(?:[*+-]|\d+\.) )", text)
        return "\n".join(_sentences(item, ITEM_WORDS) for item in items[:MOST_ITEMS])
    return text


def _sentences(text: str, most: int) -> str:
    kept: list[str] = []
    for sentence in SENTENCE.split(" ".join(text.split())):
        if kept and sum(len(s.split()) for s in [*kept, sentence]) > most:
            break
        kept.append(sentence)
    if len(kept) > 1 and not kept[-1].rstrip('*_`)"').endswith((".", "?", "!", ":")):
        kept.pop()  # it goes on in what stands below
    return " ".join(kept)


def _code(text: str) -> str:
    source, printed = text.split("\0")
    shown = _highlight(source) if source else ""
    return f'{shown}<div class="printed"><pre>{html.escape(printed)}</pre></div>'
