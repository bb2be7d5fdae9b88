"""Sanitises students' text and output for feedback pages and for formgrader.

In formgrader an instructor's browser can change marks, so a page must not run a student's code.
nbgrader's templates call these two filters by the names of nbconvert's own filters; see
`course_folder.configure`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
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
from autograder.reporting.pages.pictures import (
    Budget,
    PictureError,
    Pictures,
    attached_to,
    display_name,
    extract_inline_pictures,
)
from autograder.reporting.pages.render_cache import cache_render

HIDDEN_BEGIN, HIDDEN_END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"  # nbgrader's
TAGS = bleach.ALLOWED_TAGS | {
    "br", "caption", "dd", "del", "details", "div", "dl", "dt", "figcaption", "figure", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "img", "ins", "kbd", "p", "pre", "s", "samp", "small", "span",
    "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "var",
}  # fmt: skip
ATTRIBUTES = {  # no classes and ids, because the surrounding page uses them
    "*": ["style", "title", "lang", "dir"], "ol": ["start"],
    "a": lambda _tag, name, value: name == "href" and re.match("https?://|mailto:|#", value),
    "th": ["scope", "colspan", "rowspan"], "td": ["colspan", "rowspan"],
    "img": lambda _tag, name, value: (
        name in ("alt", "width", "height", "style")
        or (name == "src" and value.startswith("data:image/"))),  # no requests
}  # fmt: skip
# CSS functions that are allowed. Others, such as url() and image(), may request a resource.
FUNCTIONS = {"calc", "clamp", "hsl", "hsla", "max", "min", "rgb", "rgba"}
PLAIN = {"dimension", "hash", "ident", "literal", "number", "percentage", "string", "whitespace"}


class _Styles(CSSSanitizer):
    """Keeps only those declarations of a style that request no resources."""

    def sanitize_css(self, style: str) -> str:
        """Return the remaining declarations, serialised from the parsed style."""
        return "; ".join(
            declaration.serialize()
            for declaration in parse_declaration_list(
                style, skip_comments=True, skip_whitespace=True
            )
            if declaration.type == "declaration"
            and declaration.lower_name in self.allowed_css_properties
            and all(map(_is_local, declaration.value))
        )


def _is_local(token: Any) -> bool:
    if token.type == "function":
        return token.lower_name in FUNCTIONS and all(map(_is_local, token.arguments))
    return token.type in PLAIN


STYLES = _Styles(
    allowed_css_properties=ALLOWED_CSS_PROPERTIES
    | {"max-width", "border", "border-collapse", "margin", "padding"}
)
STYLE_SHEET = re.compile(r"<style\b[^>]*>.*?</style\s*>", re.DOTALL | re.IGNORECASE)
NO_ALTERNATIVE = "a picture without a description"
OUTPUT = "an output of this cell"


class HideTests(NbGraderPreprocessor):
    """Removes hidden tests, which nbgrader restores for grading, from students' pages.

    After a hidden test has run, any output of the submission's process may reveal it: printed text,
    displayed objects and even the name of an exception. Such output is removed.
    """

    def preprocess(self, nb, resources):
        """Remove the regions of hidden tests, and all outputs after the first of them."""
        has_run = False
        for cell in nb.cells:
            is_hidden = HIDDEN_BEGIN in cell.source
            if is_hidden:
                cell.source = f"{_without_hidden(cell.source)}\n# hidden tests were here"
                has_run |= cell.cell_type == "code"
            if has_run and cell.get("outputs") and check_id(cell) is None:
                failed = any(output.output_type == "error" for output in cell.outputs)
                if is_hidden:
                    notice = FAILED if failed else ""
                else:
                    notice = FAILED_LATER if failed else OUTPUT_REMOVED
                cell.outputs = [new_output("stream", text=notice)] if notice else []
        return nb, resources


FAILED = "A hidden test failed."
FAILED_LATER = "This cell failed. Its output is not shown, because hidden tests ran above."
OUTPUT_REMOVED = "The output of this cell is not shown, because hidden tests ran above."


def _without_hidden(source: str) -> str:
    lines, hidden = [], False
    for line in source.splitlines():
        hidden |= HIDDEN_BEGIN in line
        if not hidden:
            lines.append(line)
        hidden &= HIDDEN_END not in line
    return "\n".join(lines)


class _PictureFilter(Filter):
    """Embeds each picture, or replaces it with the reason why it is not shown."""

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
            except PictureError as error:
                if not self._pictures.budget.is_silent:
                    yield from _placeholder(address, data.get((None, "alt"), ""), str(error))
                continue
            data.setdefault((None, "alt"), NO_ALTERNATIVE)
            yield token


def _placeholder(address: str, alternative: str, reason: str) -> Iterator[dict[str, Any]]:
    """Yield a sentence to show instead of a picture."""
    what = f" ({alternative:.200})" if alternative.strip() else ""
    text = f"[The picture {display_name(address)}{what} is not shown: {reason}.]"
    yield {"type": "StartTag", "namespace": None, "name": "em", "data": {}}
    yield {"type": "Characters", "data": text}
    yield {"type": "EndTag", "namespace": None, "name": "em", "data": {}}


class _Cleaner(bleach.Cleaner):
    """Sanitises HTML and embeds its pictures."""

    walker: Callable[..., Any]

    def __init__(self, pictures: Pictures) -> None:
        super().__init__(
            tags=TAGS,
            attributes=ATTRIBUTES,
            css_sanitizer=STYLES,
            protocols=bleach.ALLOWED_PROTOCOLS | {"data"},
        )
        walk = self.walker
        self.walker = lambda tree: _PictureFilter(
            walk(tree), pictures
        )  # applied before bleach's own filter


class _Renderer(IPythonRenderer):
    """Leaves the source of a picture unchanged for `_PictureFilter`."""

    def _embed_image_or_attachment(self, src: str) -> str:
        return src


# CommonMark treats this syntax as text, but other editors show the picture.
PICTURE_WITH_SPACES = (
    r"!\[(?P<spaced_alt>[^\]\n]{0,500})\]\([ \t]*(?P<spaced_src>"
    r"(?:[^()<>\n\"\s]|\([^()<>\n\"\s]{0,100}\)){1,300}[ \t]"
    r"(?:[^()<>\n\"]|\([^()<>\n\"]{0,100}\)){1,300}\.\w{2,5})[ \t]*\)"
)


def _parse_picture_with_spaces(_inline: Any, match: re.Match[str], state: Any) -> int:
    """Recognise a picture whose name has spaces and is not in angle brackets."""
    state.append_token(
        {
            "type": "image",
            "attrs": {"url": match["spaced_src"]},
            "children": [{"type": "text", "raw": match["spaced_alt"]}],
        }
    )
    return match.end()


def _html_of(text: str) -> str:
    """Return Markdown as HTML that is not sanitised yet."""
    markdown = MarkdownWithMath(renderer=_Renderer(escape=False, exclude_anchor_links=True))
    markdown.inline.register(
        "picture", PICTURE_WITH_SPACES, _parse_picture_with_spaces, before="link"
    )
    return markdown.render(text)


@pass_context
def clean_output(context: Context, page: str | bytes) -> str:
    """Return the sanitised HTML of an output; its pictures may be files next to the notebook.

    For an SVG picture, nbconvert's templates pass the bytes.
    """
    if isinstance(page, bytes):
        page = f'<img src="data:image/svg+xml,{quote(page)}" alt="{OUTPUT}">'
    return clean(page, _pictures_of(context, {}))


@pass_context
def markdown(context: Context, text: str) -> str:
    """Return Markdown as sanitised HTML; pictures are attachments or files next to the notebook."""
    cell = context.get("cell") or {}  # a grader's comment has no cell
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
    """Return Markdown as sanitised HTML, with pictures from these attachments and this folder.

    `budget` is the budget of the page if the text is only a part of it. Text that cannot be
    rendered is shown as plain text.
    """
    try:
        return _in_html(text, Pictures(attached or {}, folder, budget or Budget()))
    except (RecursionError, ValueError, TypeError, AttributeError):  # for example nested too deeply
        return code_of(text)


def code_of(text: str) -> str:
    """Return plain text as HTML."""
    return f"<pre>{escape(text)}</pre>"


def clean(page: object, pictures: Pictures | None = None) -> str:
    """Return HTML without scripts, requests, classes and ids."""
    text = str(page)
    return _cleaned(text, pictures) if pictures and _needs_files(text) else _clean(text)


def _in_html(text: str, pictures: Pictures) -> str:
    short, lifted = extract_inline_pictures(text)
    if not lifted and not _needs_files(text):
        return _markdown(text)
    attached = {**pictures.attached, **lifted}
    return _cleaned(_html_of(short), Pictures(attached, pictures.folder, pictures.budget))


def _needs_files(text: str) -> bool:
    """Whether a text may show a picture, so that rendering depends on more than the text."""
    return "![" in text or "<img" in text.lower()


@cache_render
def _markdown(text: str) -> str:
    return _clean(_html_of(text))


@cache_render
def _clean(text: str) -> str:
    return _cleaned(text, Pictures())


def _cleaned(text: str, pictures: Pictures) -> str:
    # The rules of a style sheet would be shown as text.
    return _Cleaner(pictures).clean(STYLE_SHEET.sub("", text))
