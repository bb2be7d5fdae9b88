"""Makes slides: one deck per study, from the text and the figures of its notebooks.

Slides have no separate source. Each heading of a notebook starts a slide, and the text below it is
shortened. A deck is one self-contained file. May import `release.book` and the layers below it.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from autograder.release.book import Source, refuse_leaks, run, sources, write_workspace
from autograder.release.book.pages import BookError, Renderer, markdown
from autograder.release.slides.cut import Slide, cut
from course.checks import Study, load_study

TEMPLATES = Path(__file__).parent / "templates"
Tick = Callable[[str], object]  # called with the notebook after each cell


def sources_of(wanted: Sequence[Study]) -> list[Source]:
    """Return the notebooks of these studies in reading order."""
    names = {study.name for study in wanted}
    return [source for source in sources() if source.study.name in names]


def write_slides(
    folder: Path, wanted: Sequence[Source], tick: Tick = lambda name: None
) -> list[Path]:
    """Write the decks of these notebooks' studies into `folder`; return the decks' files.

    Notebooks are run with the reference answers. Earlier decks are replaced only if all new ones
    pass the search for leaks; other files in the folder are not changed. Raises `BookError`.
    """
    if folder.exists() and not folder.is_dir():
        raise BookError(f"{folder} is not a folder: name another one for the slides")
    folder.mkdir(parents=True, exist_ok=True)
    decks: dict[str, list[Slide]] = {}
    with tempfile.TemporaryDirectory(prefix=".slides-", dir=folder) as temporary:
        workspace, site = Path(temporary, "workspace"), Path(temporary, "site")
        write_workspace(workspace)
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
    """Return a deck as HTML, with its style and script."""
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
    """Return a title's Markdown as HTML; a number at its beginning does not start a list."""
    return Markup(markdown(re.sub(r"^(\d+)\.", r"\1\\.", title), Renderer()))
