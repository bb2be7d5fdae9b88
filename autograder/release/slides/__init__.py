"""Makes slides: one deck a study, from the words and the figures of its notebooks.

Nothing is written for slides alone: a heading begins one, and what follows is cut to what a room
reads. A deck is one file that asks the web for nothing. May import `release.book` and what lies
below it.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.release.book import Source, lay_out, refuse_leaks, run, sources
from autograder.release.book.pages import BookError, Renderer, markdown
from autograder.release.slides.cut import Slide, cut
from course.probes import Study, load_study

TEMPLATES = Path(__file__).parent / "templates"
Tick = Callable[[str], None]  # is told the notebook of each cell that was run


def sources_of(wanted: Sequence[Study]) -> list[Source]:
    """The notebooks of these studies, in reading order."""
    names = {study.name for study in wanted}
    return [source for source in sources() if source.study.name in names]


def write_slides(
    folder: Path, wanted: Sequence[Source], tick: Tick = lambda name: None
) -> list[Path]:
    """Write the decks of these notebooks' studies into `folder`; returns their files.

    Notebooks are run with the reference answers. Earlier decks are replaced when all new ones have
    passed the search for leaks; other files in the folder stay. Raises `BookError`.
    """
    if folder.exists() and not folder.is_dir():
        raise BookError(f"{folder} is not a folder: name another one for the slides")
    folder.mkdir(parents=True, exist_ok=True)
    decks: dict[str, list[Slide]] = {}
    with tempfile.TemporaryDirectory(prefix=".slides-", dir=folder) as temporary:
        workspace, site = Path(temporary, "workspace"), Path(temporary, "site")
        lay_out(workspace)
        site.mkdir()
        for source in wanted:
            done = run(source, workspace / source.study.assignment, tick)
            decks.setdefault(source.study.name, []).extend(cut(source.name, done))
        for name, slides in decks.items():
            study = load_study(name)
            (site / f"{study.assignment}.html").write_text(
                page(study, slides), "utf-8", newline="\n"
            )
        refuse_leaks(site, Path(temporary, "texts"))
        made = sorted(site.iterdir())
        return [path.replace(folder / path.name) for path in made]


def page(study: Study, slides: Sequence[Slide]) -> str:
    """A deck as HTML, with its style and script in it."""
    environment = Environment(
        loader=PackageLoader("autograder.release.slides"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(html=Markup, inline=_inline)
    return environment.get_template("deck.html").render(
        study=study,
        slides=slides,
        css=Markup((TEMPLATES / "slides.css").read_text("utf-8")),
        script=Markup((TEMPLATES / "slides.js").read_text("utf-8")),
    )


def _inline(title: str) -> Markup:
    """A title's Markdown as HTML; a number at its beginning begins no list."""
    return Markup(markdown(re.sub(r"^(\d+)\.", r"\1\\.", title), Renderer()))
