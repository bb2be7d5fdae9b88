"""Rewrites an SVG picture so that it contains no scripts and makes no requests.

Only drawing elements and attributes are kept. References must stay within the picture, and a picture
whose references multiply is rejected, because a browser would draw every copy.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from xml.parsers.expat import ExpatError, ParserCreate
from xml.sax.saxutils import escape, quoteattr

MAX_DRAWN = 200_000  # elements, counted each time they are drawn
MAX_DEPTH = 60  # of nested elements, and of chains of references
NAMESPACE = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
NAMES = {
    "xlink:href": "href",
    "http://www.w3.org/XML/1998/namespace space": "xml:space",
    f"{XLINK} href": "href",
}
ELEMENTS = {
    "svg", "g", "defs", "symbol", "use", "title", "desc", "path", "rect", "circle", "ellipse",
    "line", "polyline", "polygon", "text", "tspan", "textPath", "style", "image", "marker",
    "pattern", "clipPath", "mask", "linearGradient", "radialGradient", "stop", "filter", "feBlend",
    "feColorMatrix", "feComposite", "feFlood", "feGaussianBlur", "feMerge", "feMergeNode",
    "feOffset", "a", "switch",
}  # fmt: skip
REFERENCE = re.compile(r"url\(\s*[\"']?#([^)\"']*)[\"']?\s*\)")
EXTERNAL = re.compile(
    r"url\s*\((?!\s*[\"']?#)|@import|\\|image-set|javascript:|"
    r"\b(?:src|image|element|cross-fade|expression)\s*\(",
    re.IGNORECASE,
)


class UnsafeSvg(Exception):
    """The picture is rejected; the message is a clause that states the reason."""


def safe_svg(content: bytes, raster: Callable[[str], str]) -> bytes:
    """Return the picture with only its drawing elements; raises `UnsafeSvg`.

    `raster` returns a safe address for an embedded picture, or "" to remove it.
    """
    copy = _Copy(raster)
    parser = ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = copy.start, copy.end
    parser.CharacterDataHandler = copy.text
    parser.EntityDeclHandler = _refuse_entities
    try:
        parser.Parse(content, True)
    except (ExpatError, ValueError, LookupError) as error:
        raise UnsafeSvg(f"it is not valid SVG ({error})") from error
    copy.require_bounded()
    return "".join(copy.written).encode("utf-8", "replace")


def _refuse_entities(*_declaration: object) -> None:
    raise UnsafeSvg("it is an SVG picture that declares entities")


class _Copy:
    """Copies the drawing elements that an XML parser reads."""

    def __init__(self, raster: Callable[[str], str]) -> None:
        self.written: list[str] = []
        self._raster = raster
        self._skipped = 0  # depth inside an element that is removed
        self._open: list[tuple[str, str]] = []  # elements and their ids
        self._css = ""
        self._sizes: dict[str, int] = defaultdict(
            int
        )  # number of elements below an id; "" is the root
        self._refers: dict[str, list[str]] = defaultdict(list)  # ids referenced below an id

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Copy the start tag of an element, or start to skip the element."""
        element = name.removeprefix(f"{NAMESPACE} ")
        if not self._open and element != "svg":
            raise UnsafeSvg("it is not an SVG picture")
        if len(self._open) == MAX_DEPTH:
            raise UnsafeSvg("it is an SVG picture that is nested too deeply")
        kept = dict(_kept(element, attributes, self._raster))
        if self._skipped or element not in ELEMENTS or (element == "image" and "href" not in kept):
            self._skipped += 1
            return
        self._open.append((element, kept.get("id", "")))
        self._count_references(kept)
        self._write_start_tag(element, kept)

    def _count_references(self, attributes: dict[str, str]) -> None:
        """Record the references of the innermost open element for all elements around it."""
        references = [one for value in attributes.values() for one in REFERENCE.findall(value)]
        if attributes.get("href", "").startswith("#"):
            references.append(attributes["href"][1:])
        for owner in {"", *(element_id for _, element_id in self._open)}:
            self._sizes[owner] += 1
            self._refers[owner] += references

    def _write_start_tag(self, element: str, attributes: dict[str, str]) -> None:
        if len(self._open) == 1:
            attributes = {"xmlns": NAMESPACE, "xmlns:xlink": XLINK} | attributes
        written = "".join(
            f" {'xlink:href' if key == 'href' else key}={quoteattr(value)}"
            for key, value in attributes.items()
        )
        self.written.append(f"<{element}{written}>")

    def end(self, _name: str) -> None:
        """Copy the end tag of an element, or end a skipped one."""
        if self._skipped:
            self._skipped -= 1
            return
        element, _ = self._open.pop()
        if element == "style":
            if not (EXTERNAL.search(self._css) or "url" in self._css.lower()):
                self.written.append(escape(self._css))
            self._css = ""
        self.written.append(f"</{element}>")

    def text(self, text: str) -> None:
        """Copy characters; a style sheet is collected until it is complete."""
        if self._skipped or not self._open:
            return
        if self._open[-1][0] == "style":
            self._css += text
        else:
            self.written.append(escape(text))

    def require_bounded(self) -> None:
        """Raise `UnsafeSvg` if references multiply the number of drawn elements."""
        drawn: dict[str, int] = {}
        inside: set[str] = set()

        def count(owner: str) -> int:
            if owner in inside or len(inside) > MAX_DEPTH:
                raise UnsafeSvg("it is an SVG picture whose parts refer to each other endlessly")
            if owner not in drawn:
                inside.add(owner)
                drawn[owner] = self._sizes.get(owner, 0) + sum(
                    map(count, self._refers.get(owner, ()))
                )
                inside.remove(owner)
            return drawn[owner]

        if count("") > MAX_DRAWN:
            raise UnsafeSvg("it is an SVG picture that draws too many elements")


def _kept(
    element: str, attributes: dict[str, str], raster: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yield the attributes of an element without event handlers and external references."""
    for name, value in attributes.items():
        key = NAMES.get(name, name)
        if key == "href":
            is_internal = value.startswith("#") and element != "a"
            if target := raster(value) if element == "image" else value if is_internal else "":
                yield key, target
        elif not (
            key.startswith("on") or " " in key or key.startswith("xmlns") or EXTERNAL.search(value)
        ):
            yield key, value
