"""Builds the book's reference pages: guides, node counts, packages, statistics, glossary and
sources.
"""

import importlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
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
    GLOSSARY,
    GLOSSARY_PAGE,
    STATISTICS,
    STATISTICS_PAGE,
    Renderer,
    Section,
    find_sections,
    markdown,
    plain,
)
from autograder.release.derive import COURSE
from autograder.release.kit import PAGES, imported, links_in, trees
from autograder.release.notebooks import notebook_number
from course.checks import load_study, studies
from course.published import node_counts
from tictactoe import nodes

HOME = COURSE.parent
DOCS = HOME / "docs"
PACKAGES = "packages"  # the folder of the pages on the packages
PUBLIC_PACKAGES = ("common", "tictactoe", "sequence", "course")
NOTEBOOK = re.compile(r"\bnotebook\s(\d+[a-z]?)\b")
MODULE_NAME = re.compile(rf"\b(?:{'|'.join(PUBLIC_PACKAGES)})(?:\.\w+)+")
SEARCHES = {  # names of the searches in the tables of node counts
    "alpha_beta": "alpha-beta", "type_a": "Type A",
    "type_a_pruned": "Type A with alpha-beta, moves in board order",
    "type_a_plus": "Type A with alpha-beta and move ordering",
}  # fmt: skip


@dataclass(frozen=True)
class Reference:
    """A reference page."""

    page: str  # its file
    title: str
    about: str  # a sentence without the full stop
    sections: tuple[Section, ...]
    template: str = "text.html"
    facts: Mapping[str, object] = field(default_factory=dict)  # for the template


def references(chapters: Iterable[str]) -> list[Reference]:
    """Return the pages in the order of the table of contents; `chapters` are the pages of the book's
    notebooks.
    """
    rules = _rules_of_counting()
    # The search index contains only the rules, because the tables consist of numbers.
    section = Section("rules", "The rules of counting", 1, plain(rules))
    counts = Reference(
        "node-counts.html",
        "Node counts",
        "how nodes, depths and ties are counted, and how many nodes each search "
        "visits, so that you can compare your own counts",
        (section,),
        "counts.html",
        {"rules": rules, **_counts()},
    )
    numbers = {number: page for page in chapters if (number := notebook_number(page))}
    abouts = {
        "student.md": "how to work, check and submit; the keys of the boards",
        "league.md": "how to write an agent for Sequence and let it play",
    }
    return [
        *(_text_page(DOCS / name, f"{Path(name).stem}.html", abouts[name]) for name in PAGES),
        counts,
        _packages_page(),
        _text_page(
            HOME / STATISTICS,
            STATISTICS_PAGE,
            "how far a score can be trusted: intervals, numbers of games, paired deals",
            numbers,
        ),
        _text_page(
            HOME / GLOSSARY,
            GLOSSARY_PAGE,
            "the terms of the course, each with the notebook that introduces it",
            numbers,
        ),
        _text_page(
            HOME / BIBLIOGRAPHY,
            BIBLIOGRAPHY_PAGE,
            "the sources of the course in full, acknowledgements and licences",
        ),
    ]


def _text_page(
    path: Path, page: str, about: str, notebooks: Mapping[str, str] | None = None
) -> Reference:
    """Return the page of a Markdown file, with links to the pages of other guides.

    `notebooks` maps the numbers of notebooks to their pages: "notebook 8" becomes a link.
    """
    text = path.read_text("utf-8")
    for name in (*PAGES, Path(BIBLIOGRAPHY).name):
        text = text.replace(f"]({name}", f"]({Path(name).stem}.html")

    def link(match: re.Match[str]) -> str:
        target = (notebooks or {}).get(match[1])
        return f"[{match[0]}]({target})" if target else match[0]

    text = NOTEBOOK.sub(link, text)
    body = markdown(text, Renderer())
    sections = tuple(find_sections(body))
    return Reference(page, sections[0].title, about, sections, facts={"text": body})


def write_linked(site: Path) -> None:
    """Copy the pictures and examples to which the guides link; their paths do not change."""
    for name in chain.from_iterable(links_in((DOCS / page).read_text("utf-8")) for page in PAGES):
        if name not in PAGES:
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(DOCS / name, site / name)


# ---- Node counts


def _rules_of_counting() -> str:
    """Return the docstring of `tictactoe.nodes` as HTML, with its example as a Python session."""
    words, prompt, session = nodes.__doc__.partition(">>> ")
    return markdown(f"{words}\n```pycon\n{prompt}{session}```\n", Renderer())


def _counts() -> dict[str, object]:
    """Return the published node counts as the rows of two tables."""
    published = node_counts()
    boards = {key: counts for key, counts in published.items() if key != "totals"}
    every = sorted(
        {board for counts in boards.values() for board in counts},
        key=lambda board: (-board.count("_"), board.replace("_", "~")),
    )
    return {
        "totals": [(search_name(key), row) for key, row in published["totals"].items()],
        "searches": [search_name(key) for key in boards],
        "boards": [(board, [counts[board] for counts in boards.values()]) for board in every],
    }


def search_name(key: str) -> str:
    """Return the name of a search in the tables."""
    return SEARCHES.get(key, key.replace("_", " "))


# ---- The course's packages


def _packages_page() -> Reference:
    """Return a list of the public modules with their purpose and members, linked to their pages."""
    renderer, lines = (
        Renderer(),
        [
            "# The course's packages",
            "The modules that notebooks and your code import. In a notebook, `help(...)` shows the "
            "same text.",
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
        "The course's packages",
        "the modules, classes and functions that you can use",
        tuple(find_sections(body)),
        facts={"text": body},
    )


def write_packages(site: Path) -> None:
    """Write a page for each documented module, generated by pdoc from its docstrings."""
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
        # A wide example scrolls; because it can have the focus, it scrolls with the keyboard as
        # well.
        path.write_text(page.replace("<pre>", '<pre tabindex="0">'), "utf-8", newline="\n")


@cache
def documented() -> Mapping[str, pdoc.doc.Module]:
    """Return, in sorted order, the public modules that notebooks or stubs import or that a guide
    mentions.
    """
    names = {
        name
        for page in PAGES
        for words in MODULE_NAME.findall((DOCS / page).read_text("utf-8"))
        for name in _prefixes(words)
    }
    for study in map(load_study, studies()):
        for path in [study.folder / study.module, *study.folder.glob("*.ipynb")]:
            names |= {
                name
                for tree in trees(path.name, path.read_text("utf-8"))
                for name in imported(tree)
            }
    return {
        name: pdoc.doc.Module(_loaded(name))
        for name in sorted(names)
        if name.split(".")[0] in PUBLIC_PACKAGES and _is_module(name)
    }


def _loaded(name: str) -> ModuleType:
    """Return the module after loading its lazily imported public names, because pdoc needs them."""
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        getattr(module, public)
    return module


def _prefixes(name: str) -> Iterator[str]:
    """Yield a dotted name and its dotted prefixes, such as "a.b.c" and "a.b"."""
    while "." in name:
        yield name
        name = name.rpartition(".")[0]


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is not a package
        return False
