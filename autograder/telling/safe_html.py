"""Makes what students wrote safe to show in feedback pages and in formgrader.

There, where an instructor's browser may change marks, a page must not run what a student wrote.
nbgrader's templates call these two filters by the names of nbconvert's own, see
`course_folder.configure`.
"""

import re
from collections.abc import Mapping
from html import escape

import bleach
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from bleach.html5lib_shim import Filter
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.release.notebooks import check_id
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
STYLES = CSSSanitizer(allowed_css_properties=ALLOWED_CSS_PROPERTIES | {
    "max-width", "border", "border-collapse", "margin", "padding"})
STYLE_SHEET = re.compile(r"<style\b[^>]*>.*?</style\s*>", re.DOTALL | re.IGNORECASE)
NO_ALTERNATIVE = "a picture without a description"


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


class _WithAlternatives(Filter):
    """Gives pictures without an alternative text one."""

    def __iter__(self):
        for token in super().__iter__():
            if token.get("name") == "img":
                token["data"].setdefault((None, "alt"), NO_ALTERNATIVE)
            yield token


_cleaner = bleach.Cleaner(tags=TAGS, attributes=ATTRIBUTES, css_sanitizer=STYLES,
                          protocols=bleach.ALLOWED_PROTOCOLS | {"data"},
                          filters=[_WithAlternatives])


def clean(page: object) -> str:
    """HTML without anything that a browser would run, fetch, or take for the page's own."""
    return _clean(page.decode("utf-8", "replace") if isinstance(page, bytes) else str(page))


@remembered
def _clean(text: str) -> str:
    return _cleaner.clean(STYLE_SHEET.sub("", text))  # else its rules would be read as text


@pass_context
def markdown(context, text: str) -> str:
    """Markdown as clean HTML; its pictures are those attached to the cell."""
    attached = context.get("cell", {}).get("attachments", {})  # a grader's comment has no cell
    return _with_pictures(text, attached) if attached else _markdown(text)


def markdown_of(text: str, attached: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Markdown from a cell with these attachments as clean HTML; what cannot be laid out, however
    it was written, is shown as it was typed."""
    try:
        return _with_pictures(text, attached) if attached else _markdown(text)
    except (RecursionError, ValueError, TypeError, AttributeError):  # nested too deep, for one
        return code_of(text)


def code_of(text: str) -> str:
    """A text as it was typed, as HTML."""
    return f"<pre>{escape(text)}</pre>"


@remembered
def _markdown(text: str) -> str:
    return _with_pictures(text, {})


def _with_pictures(text: str, attached: Mapping[str, Mapping[str, str]]) -> str:
    renderer = IPythonRenderer(escape=False, attachments=attached, exclude_anchor_links=True)
    try:
        return clean(MarkdownWithMath(renderer=renderer).render(text))
    except InvalidNotebook:  # it names a picture that is not attached
        return clean(f"<pre>{escape(text)}</pre>")
