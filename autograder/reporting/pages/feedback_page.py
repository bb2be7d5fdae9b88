"""Renders the feedback page of a graded notebook: a summary, then the collapsed notebook.

nbgrader's command, formgrader's button and our `feedback` all use it; see
`course_folder.configure`. Its template is `templates/offline_feedback/`.
"""

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.writers import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograder.course_folder import CourseFolder
from autograder.reporting.pages.page_names import page_names
from autograder.reporting.pages.render_cache import cache_render
from common.messages import language, translate, use_messages

# An output is shown in the first of these formats that it has; none of them runs code.
DISPLAY_PRIORITY = [
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "text/latex",
    "text/plain",
]
IGNORED_FILES = ["*.html", "*.htm", "*.xhtml"]
DARK_STYLE = "monokai"  # the most readable of Pygments' styles on the page's dark background


class FeedbackExporter(HTMLExporter):
    """Exports feedback pages. This is a separate class so that it has separate settings.

    Each page is also written under the other names that its student uses for the notebook, and HTML
    files of a submission are not copied next to it. Both are done here for every command that
    writes pages, because the exporter is the only hook that has access to nbgrader's converter.
    """

    def __init__(self, config: Config | None = None, parent: Any = None, **options: Any) -> None:
        super().__init__(config=config, parent=parent, **options)
        if isinstance(parent, GenerateFeedback):
            parent.init_assignment = partial(_copy, parent, parent.init_assignment)
            parent.write_single_notebook = partial(_write, parent, parent.write_single_notebook)

    @property
    def default_config(self):
        """nbconvert's defaults, without outputs that run code."""
        config = super().default_config
        config.NbConvertBase.display_data_priority = DISPLAY_PRIORITY
        return config

    def from_notebook_node(self, nb, resources=None, **kw):
        """Render the page. Its parts are sanitised HTML, so the page is not parsed again."""
        info = nb.metadata.get("language_info", {})
        lexer = str(info.get("pygments_lexer", info.get("name", "ipython3")))
        resources = self._init_resources(resources)
        resources["colours"] = HtmlFormatter().get_style_defs(".highlight")
        resources["dark_colours"] = HtmlFormatter(style=DARK_STYLE).get_style_defs(".highlight")
        self.register_filter("highlight_code", lambda source: highlighted(source, lexer))
        self.environment.globals |= {"_": translate, "language": language}
        with use_messages(CourseFolder(Path().resolve()).compiled_translations()):
            return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


def _copy(
    converter: GenerateFeedback, copy: Callable[[str, str], None], assignment: str, student: str
) -> None:
    """Copy the submission next to the pages, except HTML files.

    The settings are restored afterwards, because formgrader continues with them.
    """
    coursedir = converter.coursedir
    ignored = coursedir.ignore
    coursedir.ignore = [*ignored, *IGNORED_FILES]
    try:
        copy(assignment, student)
    finally:
        coursedir.ignore = ignored


def _write(
    converter: GenerateFeedback, write: Callable[[str, Any], None], page: str, resources: Any
) -> None:
    """Write a page under the notebook's name and under the names that the student gave it."""
    write(page, resources)
    where = resources["nbgrader"]
    coursedir = converter.coursedir
    names = page_names(
        CourseFolder(Path(coursedir.root)).submission(where["assignment"], where["student"]),
        Path(coursedir.format_path(coursedir.release_directory, ".", where["assignment"])),
    )
    for name in names.aliases(where["notebook"]):
        write(page, {**resources, "unique_key": name})


class FeedbackWriter(GenerateFeedback):
    """nbgrader's converter, used for many students so that the templates are compiled only once."""

    def __init__(self, config: Config) -> None:
        super().__init__(coursedir=CourseDirectory(config=config), config=config)
        self.force = True
        self.writer = FilesWriter(parent=self, config=self.config)
        self.exporter = self.exporter_class(parent=self, config=self.config)
        for step in self.preprocessors:
            self.exporter.register_preprocessor(step)

    def start(self) -> None:
        """Write the pages of the student selected in `coursedir`."""
        self.init_notebooks()
        with contextlib.chdir(self.coursedir.root):
            self.convert_notebooks()


@cache_render
def highlighted(source: str, lexer: str) -> str:
    """Return code as highlighted HTML."""
    return Highlight2HTML(pygments_lexer=lexer)(source)
