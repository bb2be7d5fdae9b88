"""Finds the picture that a text refers to: attached to its cell, written out in it, or handed in
alongside the notebook.

Nothing is fetched, no link is followed, and the first bytes decide what a picture is, whatever its
name or its media type claims. A picture that is not shown has a reason, which is shown instead.
"""

import base64
import binascii
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from autograder.sandbox.limits import MAX_BYTES
from autograder.telling.safe_svg import UnsafeSvg, safe_svg

MAX_PIXELS = 50_000_000  # of one picture: a browser needs four bytes for each
MAX_PAGE = 20_000_000  # bytes of all pictures of one page
MAX_PICTURES = 500  # of one page, shown or not: for each a folder may be searched
MAX_FILES = 2_000  # of a folder that are looked through
MAX_SHOWN = 100  # characters of a name
SVG = "image/svg+xml"
INLINE = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=%_-]{1000,}")
LIFTED = "attachment:picture in the text "  # a name that no editor gives
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class NotShown(Exception):
    """A picture cannot be shown; the message is a clause that says why."""


@dataclass
class Budget:
    """How many bytes of pictures a page may still show, and how many it has looked for."""

    left: int = MAX_PAGE
    count: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether it has been said that there are too many pictures."""
        return self.count > MAX_PICTURES + 1

    def take(self, size: int) -> None:
        """Raises `NotShown` if that is more than what is left."""
        if size > self.left:
            raise NotShown(f"the pictures of one page may have at most {MAX_PAGE:,} bytes together")
        self.left -= size


@dataclass(frozen=True)
class Pictures:
    """Where the pictures of a text are: in the cell's attachments (name -> media type -> base64)
    and in the folder of the notebook."""

    attached: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    budget: Budget = field(default_factory=Budget)

    def uri(self, reference: str) -> str:
        """A `data:` URI with the picture that `reference`, the source of an image, names.

        Raises `NotShown`.
        """
        self.budget.count += 1
        if self.budget.count > MAX_PICTURES:
            raise NotShown(
                f"a page shows at most {MAX_PICTURES} pictures, and the rest of this "
                "page's are left out"
            )
        content = self._content(reference.strip())
        if len(content) > MAX_BYTES:
            raise NotShown(f"it has {len(content):,} bytes, and at most {MAX_BYTES:,} are shown")
        uri = as_uri(content)
        self.budget.take(len(uri))
        return uri

    def _content(self, reference: str) -> bytes:
        scheme, _, rest = reference.partition(":")
        if scheme.lower() == "attachment":
            return _attachment(self.attached, rest)
        if scheme.lower() == "data":
            return _written_out(rest)
        if scheme.lower() in ("http", "https", "ftp") or reference.startswith("//"):
            raise NotShown("it is on another site, and these pages fetch nothing")
        path = unquote(re.split(r"[?#]", reference)[0]).replace("\\", "/").removeprefix("files/")
        if path.startswith("/") or re.match(r"[A-Za-z][\w+.-]*:", path):
            raise NotShown(
                "its path leads to the computer on which it was written: only files in "
                "the folder of the notebook are handed in"
            )
        if not path:
            raise NotShown("no file is named")
        if self.folder is None:
            raise NotShown(
                "it is not attached to the cell; look for a file of that name next to the notebook"
            )
        return _file(self.folder, [part for part in path.split("/") if part not in ("", ".")])


def attached_to(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pictures that are attached to a cell, where JupyterLab and VS Code write them."""
    places = [cell.get("metadata"), cell]
    found = [place.get("attachments") for place in places if isinstance(place, Mapping)]
    return {
        name: bundle for each in found if isinstance(each, Mapping) for name, bundle in each.items()
    }


def lift_inline(text: str) -> tuple[str, dict[str, Any]]:
    """The text with short names for the pictures that are written out in it, which may have
    millions of characters, and these pictures as attachments."""
    lifted: dict[str, Any] = {}

    def lift(found: re.Match[str]) -> str:
        name = f"{LIFTED}{len(lifted) + 1}".removeprefix("attachment:")
        lifted[name] = {"": found[0].partition(",")[2]}
        return f"attachment:{name.replace(' ', '%20')}"

    return INLINE.sub(lift, text), lifted


def as_uri(content: bytes) -> str:
    """A picture as a `data:` URI. Raises `NotShown` for what is no picture, or too large a one."""
    kind = kind_of(content)
    if kind is None:
        raise NotShown(
            "it is not a PNG, JPEG, GIF, WebP, BMP or SVG picture" if content else "it is empty"
        )
    if kind == SVG:
        try:
            content = safe_svg(content, _raster)
        except UnsafeSvg as error:
            raise NotShown(str(error)) from error
    width, height = size_of(content, kind)
    if width * height > MAX_PIXELS:
        raise NotShown(
            f"it has {width:,} by {height:,} pixels, and at most {MAX_PIXELS:,} are shown"
        )
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _raster(address: str) -> str:
    """A picture inside an SVG picture, which may be one of pixels only; "" for any other."""
    try:
        scheme, _, rest = address.strip().partition(":")
        content = _written_out(rest) if scheme.lower() == "data" else b""
        return "" if kind_of(content) == SVG else as_uri(content)
    except NotShown:
        return ""


def kind_of(content: bytes) -> str | None:
    """The media type of a picture by its first bytes; None if it is none that browsers show."""
    if content.startswith(PNG_SIGNATURE):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content.startswith(b"BM") and content[6:10] == bytes(4):
        return "image/bmp"
    head = content[:2_000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<") and re.search(rb"<(?:[\w.-]{1,20}:)?svg[\s>/]", content[:20_000]):
        return SVG
    return None


def size_of(content: bytes, kind: str) -> tuple[int, int]:
    """Width and height in pixels as the header says; zeros where it does not, or need not."""

    def number(at: int, size: int, order: str) -> int:
        return int.from_bytes(content[at : at + size], order)

    if kind == "image/png":
        return number(16, 4, "big"), number(20, 4, "big")
    if kind == "image/gif":
        return number(6, 2, "little"), number(8, 2, "little")
    if kind == "image/bmp":
        return number(18, 4, "little"), number(22, 4, "little") % (1 << 31)
    if kind == "image/webp":
        if content[12:16] == b"VP8X":
            return number(24, 3, "little") + 1, number(27, 3, "little") + 1
        return (0, 0)  # VP8 and VP8L have at most 16,383 pixels a side
    if kind == "image/jpeg":
        # The frame header follows segments, each with a marker and its length.
        at = 2
        while content[at : at + 1] == b"\xff" and at + 9 < len(content):
            marker = content[at + 1]
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                return number(at + 7, 2, "big"), number(at + 5, 2, "big")
            at += 1 if marker == 0xFF else 2 + max(2, number(at + 2, 2, "big"))
    return (0, 0)


def shown_name(reference: str) -> str:
    """The name of a picture as a page shows it, on one line and not too long."""
    scheme, _, rest = reference.strip().partition(":")
    if scheme.lower() == "data":
        return "written out in the text"
    name = unquote(rest if scheme.lower() == "attachment" else reference.strip())
    name = "".join(each if each.isprintable() else "\ufffd" for each in name)
    return name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]}..."


def _attachment(attached: Mapping[str, Any], name: str) -> bytes:
    key = _alike(name, attached)
    if key is None:
        raise NotShown("it is not attached to this cell")
    bundle = attached[key]
    if not isinstance(bundle, Mapping) or not bundle:
        raise NotShown("its attachment is empty")
    # Of several forms the one that scales; what it is called does not decide what it is.
    kind = SVG if SVG in bundle else next(iter(bundle))
    data = bundle[kind]
    text = "".join(map(str, data)) if isinstance(data, list) else str(data)
    if kind == SVG and text.lstrip().startswith("<"):  # as some editors write it
        return text.encode("utf-8", "replace")
    return _decoded(text)


def _written_out(rest: str) -> bytes:
    """The content of a `data:` URI, without its scheme."""
    head, _, data = rest.partition(",")
    if not head.lower().startswith("image/"):
        raise NotShown("it is not a picture")
    return _decoded(data) if head.lower().rstrip().endswith(";base64") else unquote_to_bytes(data)


def _decoded(text: str) -> bytes:
    if len(text) > 2 * MAX_BYTES:
        raise NotShown(f"it has more than {MAX_BYTES:,} bytes")
    letters = re.sub(r"[^A-Za-z0-9+/]", "", unquote(text).replace("-", "+").replace("_", "/"))
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    except binascii.Error as error:
        raise NotShown("its data are not base64") from error


def _file(folder: Path, parts: list[str]) -> bytes:
    """A file below `folder`, reached without a link. Raises `NotShown`."""
    missing = "there is no such file among those that count in the submission"
    if ".." in parts:
        raise NotShown("it is outside the folder of the notebook, which alone is handed in")
    for number, part in enumerate(parts, 1):
        entries = {}
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    entries[entry.name] = entry
                    if len(entries) > MAX_FILES:
                        raise NotShown("there are too many files in its folder")
            name = None if part.startswith(".") else _alike(part, entries)
            if name is None:
                raise NotShown(missing)
            entry = entries[name]
            if entry.is_dir(follow_symlinks=False) and number < len(parts):
                folder = Path(entry.path)
                continue
            status = entry.stat(follow_symlinks=False)
            if not entry.is_file(follow_symlinks=False) or status.st_nlink > 1:
                raise NotShown("it is a link or not a file" if number == len(parts) else missing)
            if number < len(parts):
                raise NotShown(missing)
            if status.st_size > MAX_BYTES:
                raise NotShown(
                    f"it has {status.st_size:,} bytes, and at most {MAX_BYTES:,} are shown"
                )
            return Path(entry.path).read_bytes()
        except OSError as error:
            raise NotShown(f"it cannot be read ({error.strerror})") from error
    raise NotShown(missing)


def _alike(name: str, names: Iterable[str]) -> str | None:
    """Which of `names` is meant: the same one, or the only one that differs only in how a letter
    is encoded, or in upper and lower case."""
    known = list(names)
    for form in (str, unquote, _composed, lambda text: _composed(text).casefold()):
        alike = [each for each in known if form(each) == form(name)]
        if len(alike) == 1:
            return alike[0]
    return None


def _composed(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", unquote(name)).split())
