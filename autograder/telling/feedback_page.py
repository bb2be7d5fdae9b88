"""Makes a feedback page of a graded notebook: a summary, then the notebook, folded.

nbgrader's command, formgrader's button and our `feedback` all make their pages with it, see
`course_folder.configure`. Its template is `templates/offline_feedback/`.
"""

import contextlib

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.writers import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograder.telling.remembered import remembered

SHOWN = ["text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/latex",
         "text/plain"]  # the first of these that an output has; nothing that would run
DARK = "monokai"  # for code: of Pygments' styles the one that is read most easily on our ground


class FeedbackExporter(HTMLExporter):
    """Exports feedback pages; a class of its own so that it has settings of its own."""

    @property
    def default_config(self):
        """nbconvert's, without outputs that a page would have to run."""
        config = super().default_config
        config.NbConvertBase.display_data_priority = SHOWN
        return config

    def from_notebook_node(self, nb, resources=None, **kw):
        """The page. Its parts are clean HTML, so it is not parsed once more, as HTMLExporter does.
        """
        language = nb.metadata.get("language_info", {})
        lexer = str(language.get("pygments_lexer", language.get("name", "ipython3")))
        resources = self._init_resources(resources)
        resources["colours"] = HtmlFormatter().get_style_defs(".highlight")
        resources["dark_colours"] = HtmlFormatter(style=DARK).get_style_defs(".highlight")
        self.register_filter("highlight_code", lambda source: highlighted(source, lexer))
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


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
