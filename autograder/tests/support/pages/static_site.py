"""Reads a folder of static pages as a browser would: resources, links and text."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"),
         ("object", "data"), ("embed", "src"), ("use", "href"), ("video", "src"),
         ("audio", "src"), ("img", "srcset"), ("form", "action")}  # fmt: skip
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)  # how an external URL begins


@dataclass
class Page:
    """A page: its links and resources, its ids, and the alternative text of its pictures."""

    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    alts: list[str | None] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)


def read_page(path: Path) -> Page:
    """The contents of a page."""
    page = Page()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            for name, value in attrs:
                if (tag, name) in LOADS:  # <link rel="next"> too: Firefox fetches it
                    page.loads.append(value)
                if name == "href" and tag in ("a", "link"):
                    page.links.append(value)
                if name == "id":
                    page.ids.append(value)
                if name == "style":
                    page.styles.append(value)
            if tag == "img":
                page.alts.append(dict(attrs).get("alt"))

    Reader().feed(path.read_text("utf-8"))
    return page


def read_site(site: Path) -> dict[str, Page]:
    """Every page by its name."""
    return {path.name: read_page(path) for path in sorted(site.glob("*.html"))}


def outside(site: Path) -> list[str]:
    """Every external URL that a page, a style or a picture of the site would load."""
    found = [url for page in read_site(site).values() for url in page.loads if OUTSIDE.match(url)]
    styles = [style for page in read_site(site).values() for style in page.styles]
    styles += [
        path.read_text("utf-8")
        for path in sorted(site.rglob("*"))
        if path.suffix in (".css", ".svg", ".html")
    ]
    for style in styles:
        found += [
            url for url in re.findall(r"url\(\s*['\"]?([^)'\"]*)", style) if OUTSIDE.match(url)
        ]
        found += re.findall(r"@import[^;]*", style)
    for picture in site.rglob("*.svg"):
        found += [
            url
            for url in re.findall(r"(?:href|src)=\"([^\"]*)\"", picture.read_text("utf-8"))
            if OUTSIDE.match(url)
        ]
    return [url for url in found if not url.startswith("data:")]


def broken_links(site: Path) -> list[str]:
    """Every link and resource whose target file, or place in a page, does not exist."""
    pages = read_site(site)
    broken = []
    for name, page in pages.items():
        for url in {*page.links, *page.loads}:
            if OUTSIDE.match(url):
                continue
            file, _, anchor = unquote(url).partition("#")
            target = file or name
            if not (site / target).is_file() or (anchor and anchor not in pages[target].ids):
                broken.append(f"{name}: {url}")
    return sorted(broken)
