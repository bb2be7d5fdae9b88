"""Converts an executed notebook into slides.

Each heading starts a slide with the first paragraph below it, a list or definition that follows the
paragraph, and the first figure. Each further figure gets a slide with the text before it, and each
question gets a slide. The remaining text is added to the notes.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode

from autograder.release.book.pages import BookError, Renderer, alternative_texts, markdown
from autograder.release.notebooks import check_id

MAX_WORDS = 45  # in a paragraph
MAX_ITEMS, MAX_ITEM_WORDS = 6, 28
MAX_LINES = 16  # of code or printed output
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*_(])")
IMAGE = re.compile(r'<img\b[^>]*\bsrc="data:image/[^>]*>', re.DOTALL)
QUESTION = re.compile(r"^\*\*Question\.\*\*\s*")
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)  # answers that readers can expand
KINDS = {
    ">": "quote",
    "|": "table",
    "<": "html",
    "```": "fence",
}  # by first character
_highlight = Highlight2HTML(pygments_lexer="ipython3")


@dataclass(frozen=True)
class Slide:
    """One slide; all fields except the title are HTML."""

    title: str
    level: int = 2  # level of the heading; 1 is a notebook's title
    text: str = ""
    figure: str = ""
    code: str = ""
    notes: str = ""


@dataclass
class Section:
    """The contents below a heading: Markdown blocks, figures and code, in order."""

    title: str
    level: int
    pieces: list[tuple[str, str]] = field(default_factory=list)  # (kind, text)


def cut(name: str, notebook: NotebookNode) -> Iterator[Slide]:
    """Yield the slides of the notebook `name`; raises `BookError` for a picture without a
    description.
    """
    for section in sections_of(name, notebook):
        yield from slides_of(section)


def sections_of(name: str, notebook: NotebookNode) -> list[Section]:
    """Return the notebook's sections, divided by its headings, without setup and check cells.

    The paragraph before the cell of an answer is a question.
    """
    sections: list[Section] = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            if sections and sections[-1].pieces[-1:] and sections[-1].pieces[-1][0] == "paragraph":
                sections[-1].pieces[-1] = ("question", sections[-1].pieces[-1][1])
        elif cell.cell_type == "markdown":
            for kind, text in blocks(cell.source):
                if kind == "heading":
                    sections.append(Section(text.lstrip("# "), len(text) - len(text.lstrip("#"))))
                elif sections:
                    sections[-1].pieces.append((kind, text))
        elif cell.cell_type == "code" and sections and not check_id(cell):
            sections[-1].pieces += _figures_or_code(cell, f"{name}.ipynb, cell {number}")
    return sections


def blocks(source: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds and texts of the blocks of a Markdown cell, without collapsed ones."""
    for block in re.split(r"\n\s*\n", FOLDED.sub("", source).strip()):
        lines = block.split("\n")
        while lines and lines[0].startswith("#"):  # a heading needs no blank line after it
            yield "heading", lines.pop(0)
        yield from _block("\n".join(lines))


def _block(block: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of a block without headings; nothing if the block is empty."""
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


def _figures_or_code(cell: NotebookNode, where: str) -> Iterator[tuple[str, str]]:
    """Yield the figures of a code cell, or its code and printed output if it has no figures."""
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
    if len(code.split("\n")) + len(printed.split("\n")) > MAX_LINES:
        code = ""  # the text explains the output
    if printed and len(printed.split("\n")) <= MAX_LINES:
        yield "code", f"{code}\0{printed}"


def slides_of(section: Section) -> Iterator[Slide]:
    """Yield the slides of a section; the notes of the first slide contain the remaining text."""
    pieces = section.pieces
    lead = _lead(pieces)
    used = set(lead)
    first, figures = _first_slide(section, lead)
    further = []
    for at in figures:
        before = _before(pieces, at, used)
        used.update(before)
        further.append(Slide(section.title, 3, _html([pieces[i] for i in before]), pieces[at][1]))
    further += [_question_slide(text) for kind, text in pieces if kind == "question"]
    notes = "\n\n".join(
        text
        for i, (kind, text) in enumerate(pieces)
        if i not in used and kind not in ("question", "figure", "code", "html")
    )
    yield replace(first, notes=markdown(notes, Renderer()) if notes else "")
    yield from further


def _first_slide(section: Section, lead: Sequence[int]) -> tuple[Slide, list[int]]:
    """Return the slide of the heading, and the indices of the figures that are left for other
    slides.
    """
    pieces = section.pieces
    slide = Slide(section.title, section.level, _html([pieces[i] for i in lead]))
    figures = [i for i, (kind, _) in enumerate(pieces) if kind == "figure"]
    code = [text for kind, text in pieces if kind == "code"]
    fits = all(len(pieces[i][1].split()) <= 2 * MAX_WORDS for i in lead)
    if figures and fits:
        slide = replace(slide, figure=pieces[figures.pop(0)][1])
    elif code and not figures:
        slide = replace(slide, code=_code(code[0]))
    return slide, figures


def _question_slide(text: str) -> Slide:
    return Slide("Question", 3, markdown(QUESTION.sub("", text), Renderer()))


def _lead(pieces: Sequence[tuple[str, str]]) -> list[int]:
    """Return the indices of the first paragraph, of a block that belongs to it, and of the first
    quotation.
    """
    first = next((i for i, (kind, _) in enumerate(pieces) if kind == "paragraph"), None)
    lead = [] if first is None else [first]
    after = 0 if first is None else first + 1
    if after < len(pieces) and pieces[after][0] in ("list", "table", "fence", "quote"):
        lead.append(after)
    quote = next((i for i, (kind, _) in enumerate(pieces) if kind == "quote"), None)
    return sorted({*lead, *([] if quote is None else [quote])})


def _before(pieces: Sequence[tuple[str, str]], figure: int, used: set[int]) -> list[int]:
    """Return the index of the paragraph or list before a figure, unless another slide uses it."""
    for i in range(figure - 1, -1, -1):
        kind = pieces[i][0]
        if kind == "figure" or i in used:
            return []
        if kind in ("paragraph", "list"):
            return [i]
    return []


def _html(pieces: Sequence[tuple[str, str]]) -> str:
    """Return shortened pieces as HTML."""
    return markdown("\n\n".join(short(kind, text) for kind, text in pieces), Renderer())


def short(kind: str, text: str) -> str:
    """Return the first complete sentences of a text that fit on a slide.

    >>> short("paragraph", "One sentence. Then " + "word " * 50 + "end.")
    'One sentence.'
    """
    if kind == "paragraph":
        return _sentences(text, MAX_WORDS)
    if kind == "list":
        items = re.split(r"\n(?=(?:[*+-]|\d+\.) )", text)
        return "\n".join(_sentences(item, MAX_ITEM_WORDS) for item in items[:MAX_ITEMS])
    return text


def _sentences(text: str, max_words: int) -> str:
    kept: list[str] = []
    for sentence in SENTENCE.split(" ".join(text.split())):
        if kept and sum(len(s.split()) for s in [*kept, sentence]) > max_words:
            break
        kept.append(sentence)
    if len(kept) > 1 and not kept[-1].rstrip('*_`)"').endswith((".", "?", "!", ":")):
        kept.pop()  # the sentence continues in the next block
    return " ".join(kept)


def _code(text: str) -> str:
    source, printed = text.split("\0")
    highlighted = _highlight(source) if source else ""
    return f'{highlighted}<div class="printed"><pre>{html.escape(printed)}</pre></div>'
