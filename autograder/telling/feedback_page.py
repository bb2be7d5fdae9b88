"""Makes a feedback page of a graded notebook: a summary, then the notebook, folded.

nbgrader's command, formgrader's button and our `feedback` all make their pages with it, see
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

from autograder.telling.page_names import page_names
from autograder.telling.remembered import remembered

# The first of these that an output has is shown; none of them runs.
SHOWN = [
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
NOT_COPIED = ["*.html", "*.htm", "*.xhtml"]
DARK = "monokai"  # for code: of Pygments' styles the one that is read most easily on our ground


class FeedbackExporter(HTMLExporter):
    """Exports feedback pages; a separate class so that it has separate settings.

    Each page is also written under the other names by which its student looks for it, and pages
    that students handed in are not copied next to it. Of the hooks of nbgrader's converter only the
    exporter meets the converter, so both are done here for every command that makes pages.
    """

    def __init__(self, config: Config | None = None, parent: Any = None, **options: Any) -> None:
        super().__init__(config=config, parent=parent, **options)
        if isinstance(parent, GenerateFeedback):
            parent.init_assignment = partial(_copy, parent, parent.init_assignment)
            parent.write_single_notebook = partial(_write, parent, parent.write_single_notebook)

    @property
    def default_config(self):
        """nbconvert's, without outputs that a page would have to run."""
        config = super().default_config
        config.NbConvertBase.display_data_priority = SHOWN
        return config

    def from_notebook_node(self, nb, resources=None, **kw):
        """The page. Its parts are clean HTML, so it is not parsed once more, as HTMLExporter does."""
        language = nb.metadata.get("language_info", {})
        lexer = str(language.get("pygments_lexer", language.get("name", "ipython3")))
        resources = self._init_resources(resources)
        resources["colours"] = HtmlFormatter().get_style_defs(".highlight")
        resources["dark_colours"] = HtmlFormatter(style=DARK).get_style_defs(".highlight")
        self.register_filter("highlight_code", lambda source: highlighted(source, lexer))
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


def _copy(
    converter: GenerateFeedback, copy: Callable[[str, str], None], assignment: str, student: str
) -> None:
    """Copy what was handed in to the pages, except pages; formgrader goes on with the same
    settings, so they are restored."""
    places = converter.coursedir
    ignored = places.ignore
    places.ignore = [*ignored, *NOT_COPIED]
    try:
        copy(assignment, student)
    finally:
        places.ignore = ignored


def _write(
    converter: GenerateFeedback, write: Callable[[str, Any], None], page: str, resources: Any
) -> None:
    """Write a page under the notebook's name, and under those that the student gave it."""
    write(page, resources)
    where = resources["nbgrader"]
    places = converter.coursedir
    names = page_names(
        Path(places.format_path(places.submitted_directory, where["student"], where["assignment"])),
        Path(places.format_path(places.release_directory, ".", where["assignment"])),
    )
    for name in names.also(where["notebook"]):
        write(page, {**resources, "unique_key": name})


class FeedbackWriter(GenerateFeedback):
    """nbgrader's converter, for one student after the other: its templates are compiled once."""

    def __init__(self, config: Config) -> None:
        super().__init__(coursedir=CourseDirectory(config=config), config=config)
        self.force = True
        self.writer = FilesWriter(parent=self, config=self.config)
        self.exporter = self.exporter_class(parent=self, config=self.config)
        for step in self.preprocessors:
            self.exporter.register_preprocessor(step)

    def start(self) -> None:
        """Write the pages of the student whom `coursedir` names."""
        self.init_notebooks()
        with contextlib.chdir(self.coursedir.root):
            self.convert_notebooks()


@remembered
def highlighted(source: str, lexer: str) -> str:
    """Code as HTML, in colours."""
    return Highlight2HTML(pygments_lexer=lexer)(source)
