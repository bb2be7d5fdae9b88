"""Makes what students wrote safe to show in feedback pages and in formgrader.

There, where an instructor's browser may change marks, a page must not run what a student wrote.
nbgrader's templates call these two filters by the names of nbconvert's own, see
`course_folder.configure`.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import bleach
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from bleach.html5lib_shim import Filter
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from tinycss2 import parse_declaration_list

from autograder.release.notebooks import check_id
from autograder.telling.pictures import (
    Budget,
    NotShown,
    Pictures,
    attached_to,
    lift_inline,
    shown_name,
)
from autograder.telling.remembered import remembered

HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"  # nbgrader's
TAGS = bleach.ALLOWED_TAGS | {
    "br", "caption", "dd", "del", "details", "div", "dl", "dt", "figcaption", "figure", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "img", "ins", "kbd", "p", "pre", "s", "samp", "small", "span",
    "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "var",
}  # fmt: skip
ATTRIBUTES = {  # no classes and no ids: those of the page around it must not be borrowed
    "*": ["style", "title", "lang", "dir"], "ol": ["start"],
    "a": lambda _tag, name, value: name == "href" and re.match("https?://|mailto:|#", value),
    "th": ["scope", "colspan", "rowspan"], "td": ["colspan", "rowspan"],
    "img": lambda _tag, name, value: (
        name in ("alt", "width", "height", "style")
        or (name == "src" and value.startswith("data:image/"))),  # nothing is fetched
}  # fmt: skip
# Functions that a style may call: all others may name something to fetch, as url() and image() do.
FUNCTIONS = {"calc", "clamp", "hsl", "hsla", "max", "min", "rgb", "rgba"}
PLAIN = {"dimension", "hash", "ident", "literal", "number", "percentage", "string", "whitespace"}


class _Styles(CSSSanitizer):
    """Keeps the declarations of a style that fetch nothing, however they are written."""

    def sanitize_css(self, style: str) -> str:
        """The declarations that are left, in the form in which a parser has read them."""
        return "; ".join(
            declaration.serialize()
            for declaration in parse_declaration_list(
                style, skip_comments=True, skip_whitespace=True
            )
            if declaration.type == "declaration"
            and declaration.lower_name in self.allowed_css_properties
            and all(map(_fetches_nothing, declaration.value))
        )


def _fetches_nothing(token: Any) -> bool:
    if token.type == "function":
        return token.lower_name in FUNCTIONS and all(map(_fetches_nothing, token.arguments))
    return token.type in PLAIN


STYLES = _Styles(
    allowed_css_properties=ALLOWED_CSS_PROPERTIES
    | {"max-width", "border", "border-collapse", "margin", "padding"}
)
STYLE_SHEET = re.compile(r"<style\b[^>]*>.*?</style\s*>", re.DOTALL | re.IGNORECASE)
NO_ALTERNATIVE = "a picture without a description"
OUTPUT = "a picture that this cell put out"


class HideTests(NbGraderPreprocessor):
    """Removes hidden tests, which nbgrader restores for grading, from what students are shown.

    Whatever the submission's own process says once a hidden test has run may tell of it: in what
    it prints and displays, and even in the name of an exception. None of that is shown.
    """

    def preprocess(self, nb, resources):
        """Remove the regions of hidden tests, and all outputs from the first of them on."""
        one_ran = False
        for cell in nb.cells:
            is_hidden = HIDDEN_BEGIN in cell.source
            if is_hidden:
                cell.source = f"{_without_hidden(cell.source)}\n# hidden tests were here"
                one_ran |= cell.cell_type == "code"
            if one_ran and cell.get("outputs") and check_id(cell) is None:
                failed = any(output.output_type == "error" for output in cell.outputs)
                said = (FAILED_LATER if failed else LATER) if not is_hidden else failed and FAILED
                cell.outputs = [new_output("stream", text=said)] if said else []
        return nb, resources


FAILED = "A hidden test failed."
FAILED_LATER = "It failed. What it said is not shown, because hidden tests ran above."
LATER = "What this cell put out is not shown, because hidden tests ran above."


def _without_hidden(source: str) -> str:
    shown, hidden = [], False
    for line in source.splitlines():
        hidden |= HIDDEN_BEGIN in line
        if not hidden:
            shown.append(line)
        hidden &= HIDDEN_END not in line
    return "\n".join(shown)


class _Shown(Filter):
    """Puts each picture into the page, or the reason why it is not shown in its place."""

    def __init__(self, source: Any, pictures: Pictures) -> None:
        super().__init__(source)
        self._pictures = pictures

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for token in super().__iter__():
            if token.get("name") != "img" or token["type"] == "EndTag":
                yield token
                continue
            data = token["data"]
            address = unescape(data.get((None, "src"), ""))
            try:
                data[None, "src"] = self._pictures.uri(address)
            except NotShown as why:
                if not self._pictures.budget.is_silent:
                    yield from _in_place_of(address, data.get((None, "alt"), ""), str(why))
                continue
            data.setdefault((None, "alt"), NO_ALTERNATIVE)
            yield token


def _in_place_of(address: str, alternative: str, why: str) -> Iterator[dict[str, Any]]:
    """A sentence instead of a picture."""
    what = f" ({alternative:.200})" if alternative.strip() else ""
    text = f"[The picture {shown_name(address)}{what} is not shown: {why}.]"
    yield {"type": "StartTag", "namespace": None, "name": "em", "data": {}}
    yield {"type": "Characters", "data": text}
    yield {"type": "EndTag", "namespace": None, "name": "em", "data": {}}


class _Cleaner(bleach.Cleaner):
    """Cleans HTML whose pictures are in these places."""

    def __init__(self, pictures: Pictures) -> None:
        super().__init__(
            tags=TAGS,
            attributes=ATTRIBUTES,
            css_sanitizer=STYLES,
            protocols=bleach.ALLOWED_PROTOCOLS | {"data"},
        )
        walk = self.walker
        self.walker = lambda tree: _Shown(walk(tree), pictures)  # before its own filter


class _Renderer(IPythonRenderer):
    """Leaves the source of a picture as it is written, for `_Shown`."""

    def _embed_image_or_attachment(self, src: str) -> str:
        return src


# CommonMark takes this for text, while other editors show the picture.
WITH_BLANKS = (
    r"!\[(?P<blank_alt>[^\]\n]{0,500})\]\([ \t]*(?P<blank_src>"
    r"(?:[^()<>\n\"\s]|\([^()<>\n\"\s]{0,100}\)){1,300}[ \t]"
    r"(?:[^()<>\n\"]|\([^()<>\n\"]{0,100}\)){1,300}\.\w{2,5})[ \t]*\)"
)


def _parse_with_blanks(_inline: Any, found: re.Match[str], state: Any) -> int:
    """Treat a picture whose name has blanks and is not in angle brackets as a picture."""
    state.append_token(
        {
            "type": "image",
            "attrs": {"url": found["blank_src"]},
            "children": [{"type": "text", "raw": found["blank_alt"]}],
        }
    )
    return found.end()


def _html_of(text: str) -> str:
    """Markdown as HTML that is not clean yet."""
    markdown = MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True))
    markdown.inline.register("picture", WITH_BLANKS, _parse_with_blanks, before="link")
    return markdown.render(text)


@pass_context
def clean_output(context: Context, page: str | bytes) -> str:
    """The HTML of an output, made clean; its pictures may be files alongside the notebook.

    Of an SVG picture nbconvert's templates pass the bytes.
    """
    if isinstance(page, bytes):
        page = f'<img src="data:image/svg+xml,{quote(page)}" alt="{OUTPUT}">'
    return clean(page, _pictures_of(context, {}))


@pass_context
def markdown(context: Context, text: str) -> str:
    """Markdown as clean HTML; its pictures are attached to the cell, or alongside the notebook."""
    cell = context.get("cell") or {}  # a grader's comment has none
    return _in_html(text, _pictures_of(context, cell))


def _pictures_of(context: Context, cell: Mapping[str, Any]) -> Pictures:
    resources = context.get("resources") or {}
    budget = resources.setdefault("pictures", Budget()) if resources else Budget()
    path = resources.get("metadata", {}).get("path")
    return Pictures(attached_to(cell), Path(path) if path else None, budget)


def markdown_of(
    text: str,
    attached: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    budget: Budget | None = None,
) -> str:
    """Markdown from a cell with these attachments, in a notebook in this folder, as clean HTML.

    `budget` is that of a page of which the text is only a part. Text that cannot be rendered,
    however it was written, is shown as it was typed.
    """
    try:
        return _in_html(text, Pictures(attached or {}, folder, budget or Budget()))
    except (RecursionError, ValueError, TypeError, AttributeError):  # nested too deep, for one
        return code_of(text)


def code_of(text: str) -> str:
    """A text as it was typed, as HTML."""
    return f"<pre>{escape(text)}</pre>"


def clean(page: object, pictures: Pictures | None = None) -> str:
    """HTML without anything that a browser would run, fetch, or take for the page's own."""
    text = str(page)
    return _cleaned(text, pictures) if pictures and _needs_files(text) else _clean(text)


def _in_html(text: str, pictures: Pictures) -> str:
    short, lifted = lift_inline(text)
    if not lifted and not _needs_files(text):
        return _markdown(text)
    attached = {**pictures.attached, **lifted}
    return _cleaned(_html_of(short), Pictures(attached, pictures.folder, pictures.budget))


def _needs_files(text: str) -> bool:
    """Whether a text may show a picture, which does not follow from the text alone."""
    return "![" in text or "<img" in text.lower()


@remembered
def _markdown(text: str) -> str:
    return _clean(_html_of(text))


@remembered
def _clean(text: str) -> str:
    return _cleaned(text, Pictures())


def _cleaned(text: str, pictures: Pictures) -> str:
    # A style sheet's rules would be read as text.
    return _Cleaner(pictures).clean(STYLE_SHEET.sub("", text))
