"""Makes the book's pages beside the chapters: node counts, guides, sources, the given packages."""

import importlib
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType

import pdoc

from autograder.release.book.pages import (
    BIBLIOGRAPHY,
    BIBLIOGRAPHY_PAGE,
    Renderer,
    Section,
    find_sections,
    markdown,
    plain,
)
from autograder.release.derive import COURSE
from autograder.release.kit import PAGES, imported, links_in, trees
from course.probes import load_study, studies
from course.recorded import node_counts
from tictactoe import nodes

HOME = COURSE.parent
DOCS = HOME / "docs"
PACKAGES = "packages"  # the folder of the pages on the given modules
GIVEN = ("tictactoe", "sequence", "course")
NAMED = re.compile(rf"\b(?:{'|'.join(GIVEN)})(?:\.\w+)+")
SEARCHES = {  # how the tables of node counts name the searches
    "alpha_beta": "alpha-beta", "type_a": "Type A",
    "type_a_pruned": "Type A with alpha-beta, moves in board order",
    "type_a_plus": "Type A with alpha-beta and move ordering",
}  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """A page to look things up in."""

    page: str  # its file
    title: str
    about: str  # a sentence without its full stop
    sections: tuple[Section, ...]
    template: str = "text.html"
    facts: Mapping[str, object] = field(default_factory=dict)  # for the template


def references() -> list[Reference]:
    """The pages in the order of the contents."""
    rules = _rules_of_counting()
    # The tables are numbers: what can be searched for are the rules.
    found = Section("rules", "The rules of counting", 1, plain(rules))
    counts = Reference(
        "node-counts.html",
        "Node counts",
        "how nodes, depths and ties are counted, and how many nodes each search "
        "visits, to compare your own with",
        (found,),
        "counts.html",
        {"rules": rules, **_counts()},
    )
    abouts = {
        "student.md": "how to work, check and hand in; the keys of the boards",
        "league.md": "how to write an agent for Sequence and have it play",
    }
    return [
        *(_text_page(DOCS / name, f"{Path(name).stem}.html", abouts[name]) for name in PAGES),
        counts,
        _packages_page(),
        _text_page(
            HOME / BIBLIOGRAPHY,
            BIBLIOGRAPHY_PAGE,
            "the sources of the course in full, acknowledgements and licences",
        ),
    ]


def _text_page(path: Path, page: str, about: str) -> Reference:
    """A page of a Markdown file; its links to other guides lead to their pages."""
    text = path.read_text("utf-8")
    for name in PAGES:
        text = text.replace(f"]({name}", f"]({Path(name).stem}.html")
    body = markdown(text, Renderer())
    sections = tuple(find_sections(body))
    return Reference(page, sections[0].title, about, sections, facts={"text": body})


def write_linked(site: Path) -> None:
    """Copy what the guides link to, pictures and examples, to the same places in the site."""
    for name in chain.from_iterable(links_in((DOCS / page).read_text("utf-8")) for page in PAGES):
        if name not in PAGES:
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(DOCS / name, site / name)


# ---- Node counts


def _rules_of_counting() -> str:
    """The docstring of `tictactoe.nodes` as HTML, its example as a Python session."""
    words, prompt, session = nodes.__doc__.partition(">>> ")
    return markdown(f"{words}\n```pycon\n{prompt}{session}```\n", Renderer())


def _counts() -> dict[str, object]:
    """The published node counts as the rows of two tables."""
    found = node_counts()
    boards = {key: counts for key, counts in found.items() if key != "totals"}
    every = sorted(
        {board for counts in boards.values() for board in counts},
        key=lambda board: (-board.count("_"), board.replace("_", "~")),
    )
    return {
        "totals": [(search_name(key), row) for key, row in found["totals"].items()],
        "searches": [search_name(key) for key in boards],
        "boards": [(board, [counts[board] for counts in boards.values()]) for board in every],
    }


def search_name(key: str) -> str:
    """The name of a search in the tables."""
    return SEARCHES.get(key, key.replace("_", " "))


# ---- The given packages


def _packages_page() -> Reference:
    """The given modules with what they are for and what they offer, each with its own page."""
    renderer, lines = (
        Renderer(),
        [
            "# The given packages",
            (
                "What the notebooks and your modules import. `help(...)` says the same in a notebook."
            ),
        ],
    )
    for name, module in documented().items():
        about, _, _ = module.docstring.partition("\n")
        offers = ", ".join(
            f"`{member.name}`"
            for member in module.flattened_own_members
            if member.docstring and not member.name.startswith("_")
        )
        lines += [f"## {name}", f"[{about}]({PACKAGES}/{name.replace('.', '/')}.html)", offers]
    body = markdown("\n\n".join(lines), renderer)
    return Reference(
        "packages.html",
        "The given packages",
        "what modules, classes and functions are there to be used",
        tuple(find_sections(body)),
        facts={"text": body},
    )


def write_packages(site: Path) -> None:
    """Pages on the given modules that are used, made of their docstrings by pdoc."""
    pdoc.render.configure(
        docformat="markdown",
        show_source=False,
        search=False,
        template_directory=Path(__file__).parent / "package_templates",
    )
    for name, module in documented().items():
        path = site / PACKAGES / f"{name.replace('.', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        page = pdoc.render.html_module(module, documented())
        # An example may be wider than its window: the keyboard scrolls what it can reach.
        path.write_text(page.replace("<pre>", '<pre tabindex="0">'), "utf-8", newline="\n")


@cache
def documented() -> Mapping[str, pdoc.doc.Module]:
    """The given modules that notebooks and stubs import, or a guide names, in order."""
    found = {
        name
        for page in PAGES
        for words in NAMED.findall((DOCS / page).read_text("utf-8"))
        for name in _beginnings(words)
    }
    for study in map(load_study, studies()):
        for path in [study.folder / study.module, *study.folder.glob("*.ipynb")]:
            found |= {
                name
                for tree in trees(path.name, path.read_text("utf-8"))
                for name in imported(tree)
            }
    return {
        name: pdoc.doc.Module(_loaded(name))
        for name in sorted(found)
        if name.split(".")[0] in GIVEN and _is_module(name)
    }


def _loaded(name: str) -> ModuleType:
    """The module, with the public names loaded that are imported on first use: pdoc needs them."""
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        getattr(module, public)
    return module


def _beginnings(name: str) -> Iterator[str]:
    """A dotted name, and what it begins with: "a.b.c", "a.b"."""
    while "." in name:
        yield name
        name = name.rpartition(".")[0]


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before its last dot is no package
        return False
