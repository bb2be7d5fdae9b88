"""Makes what students wrote safe to show in feedback pages and in formgrader.

There, where an instructor's browser may change marks, a page must not run what a student wrote.
nbgrader's templates call these two filters by the names of nbconvert's own, see
`course_folder.configure`.
"""

import re

import bleach
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.release.notebooks import check_id

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
_cleaner = bleach.Cleaner(tags=TAGS, attributes=ATTRIBUTES, css_sanitizer=STYLES,
                          protocols=bleach.ALLOWED_PROTOCOLS | {"data"})


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


# What nbgrader's feedback template leaves too pale to read: code on grey, links by colour alone.
READABLE = """<style>
.highlight pre, div.input_area { background: #fff; }
.panel-heading a { color: #1d5078; text-decoration: underline; }
div.nbgrader_cell .panel-heading a { color: #fff; }
</style>
"""


class FeedbackExporter(HTMLExporter):
    """Exports feedback pages; a class of its own so that it has settings of its own."""

    def from_notebook_node(self, nb, resources=None, **kw):
        """nbgrader's page, with its language named and with enough contrast for everybody."""
        page, resources = super().from_notebook_node(nb, resources, **kw)
        page = page.replace("<html>", '<html lang="en">', 1)
        return page.replace("</head>", f"{READABLE}</head>", 1), resources


def clean(page: object) -> str:
    """HTML without anything that a browser would run, fetch, or take for the page's own."""
    return _cleaner.clean(page.decode("utf-8", "replace") if isinstance(page, bytes) else str(page))


@pass_context
def markdown(context, text: str) -> str:
    """Markdown as clean HTML; its pictures are those attached to the cell."""
    attached = context.get("cell", {}).get("attachments", {})  # a grader's comment has no cell
    renderer = IPythonRenderer(escape=False, attachments=attached, exclude_anchor_links=True)
    return clean(MarkdownWithMath(renderer=renderer).render(text))
