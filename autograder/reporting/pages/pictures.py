"""Finds the picture to which a text refers: an attachment, a data URI, or a submitted file.

No request is made and no link is followed. The type of a picture is determined by its first bytes,
not by its name or media type. If a picture cannot be shown, the reason is shown instead.
"""

import base64
import binascii
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, unquote_to_bytes

from autograder.reporting.pages.safe_svg import UnsafeSvg, safe_svg
from autograder.sandbox.limits import MAX_BYTES

MAX_PIXELS = 50_000_000  # of one picture; a browser needs four bytes per pixel
MAX_PAGE = 20_000_000  # bytes of all pictures of one page
MAX_PICTURES = 500  # pictures of one page, including missing ones, which need a search
MAX_FILES = 2_000  # of a folder that is searched
MAX_NAME = 100  # characters of a displayed name
SVG = "image/svg+xml"
INLINE = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=%_-]{1000,}")
INLINE_NAME = "attachment:picture in the text "  # not a name that editors use
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class PictureError(Exception):
    """A picture cannot be shown; the message is a clause that states the reason."""


@dataclass
class Budget:
    """The remaining bytes for the pictures of a page, and the number of pictures so far."""

    left: int = MAX_PAGE
    count: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether the message about too many pictures has been shown."""
        return self.count > MAX_PICTURES + 1

    def take(self, size: int) -> None:
        """Use part of the budget; raises `PictureError` if it is exceeded."""
        if size > self.left:
            raise PictureError(
                f"the pictures of one page may have at most {MAX_PAGE:,} bytes together"
            )
        self.left -= size


@dataclass(frozen=True)
class Pictures:
    """The sources of a text's pictures.

    The sources are the cell's attachments (name -> media type -> base64) and the notebook's folder.
    """

    attached: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    budget: Budget = field(default_factory=Budget)

    def uri(self, reference: str) -> str:
        """Return a `data:` URI of the picture that `reference` names; raises `PictureError`."""
        self.budget.count += 1
        if self.budget.count > MAX_PICTURES:
            raise PictureError(
                f"a page shows at most {MAX_PICTURES} pictures, and this page has more"
            )
        content = self._content(reference.strip())
        if len(content) > MAX_BYTES:
            raise PictureError(
                f"it has {len(content):,} bytes, and at most {MAX_BYTES:,} are shown"
            )
        uri = as_uri(content)
        self.budget.take(len(uri))
        return uri

    def _content(self, reference: str) -> bytes:
        scheme, _, rest = reference.partition(":")
        if scheme.lower() == "attachment":
            return _attachment(self.attached, rest)
        if scheme.lower() == "data":
            return _data_uri_content(rest)
        if scheme.lower() in ("http", "https", "ftp") or reference.startswith("//"):
            raise PictureError("it is on another site, and these pages load nothing from the web")
        path = unquote(re.split(r"[?#]", reference)[0]).replace("\\", "/").removeprefix("files/")
        if path.startswith("/") or re.match(r"[A-Za-z][\w+.-]*:", path):
            raise PictureError(
                "its path leads to the computer on which it was written: only files in the folder "
                "of the notebook are submitted"
            )
        if not path:
            raise PictureError("no file is named")
        if self.folder is None:
            raise PictureError(
                "it is not attached to the cell; look for a file of that name next to the notebook"
            )
        return _file(self.folder, [part for part in path.split("/") if part not in ("", ".")])


def attached_to(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pictures that JupyterLab or VS Code has attached to a cell."""
    places = [cell.get("metadata"), cell]
    attachments = [place.get("attachments") for place in places if isinstance(place, Mapping)]
    return {
        name: bundle
        for each in attachments
        if isinstance(each, Mapping)
        for name, bundle in each.items()
    }


def extract_inline_pictures(text: str) -> tuple[str, dict[str, Any]]:
    """Replace inline pictures, which may have millions of characters, with attachments.

    Returns the text with short references, and the attachments.
    """
    lifted: dict[str, Any] = {}

    def lift(match: re.Match[str]) -> str:
        name = f"{INLINE_NAME}{len(lifted) + 1}".removeprefix("attachment:")
        lifted[name] = {"": match[0].partition(",")[2]}
        return f"attachment:{name.replace(' ', '%20')}"

    return INLINE.sub(lift, text), lifted


def as_uri(content: bytes) -> str:
    """Return a picture as a `data:` URI. Raises `PictureError` if the content is not a picture or
    is too large.
    """
    kind = kind_of(content)
    if kind is None:
        raise PictureError(
            "it is not a PNG, JPEG, GIF, WebP, BMP or SVG picture" if content else "it is empty"
        )
    if kind == SVG:
        try:
            content = safe_svg(content, _raster)
        except UnsafeSvg as error:
            raise PictureError(str(error)) from error
    width, height = size_of(content, kind)
    if width * height > MAX_PIXELS:
        raise PictureError(
            f"it has {width:,} by {height:,} pixels, and at most {MAX_PIXELS:,} are shown"
        )
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _raster(address: str) -> str:
    """Return a safe address for a bitmap inside an SVG picture; "" for anything else."""
    try:
        scheme, _, rest = address.strip().partition(":")
        content = _data_uri_content(rest) if scheme.lower() == "data" else b""
        return "" if kind_of(content) == SVG else as_uri(content)
    except PictureError:
        return ""


def kind_of(content: bytes) -> str | None:
    """Return the media type of a picture according to its first bytes; None if browsers do not
    support it.
    """
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
    """Return the width and height in pixels from the header; zeros if they are unknown or limited
    by the format.
    """

    def number(at: int, size: int, order: Literal["big", "little"]) -> int:
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
        return (0, 0)  # VP8 and VP8L have at most 16,383 pixels per side
    if kind == "image/jpeg":
        # The frame header follows segments; each segment has a marker and a length.
        at = 2
        while content[at : at + 1] == b"\xff" and at + 9 < len(content):
            marker = content[at + 1]
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                return number(at + 7, 2, "big"), number(at + 5, 2, "big")
            at += 1 if marker == 0xFF else 2 + max(2, number(at + 2, 2, "big"))
    return (0, 0)


def display_name(reference: str) -> str:
    """Return the displayed name of a picture, on one line and of limited length."""
    scheme, _, rest = reference.strip().partition(":")
    if scheme.lower() == "data":
        return "written out in the text"
    name = unquote(rest if scheme.lower() == "attachment" else reference.strip())
    name = "".join(each if each.isprintable() else "\ufffd" for each in name)
    return name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}..."


def _attachment(attached: Mapping[str, Any], name: str) -> bytes:
    key = _best_match(name, attached)
    if key is None:
        raise PictureError("it is not attached to this cell")
    bundle = attached[key]
    if not isinstance(bundle, Mapping) or not bundle:
        raise PictureError("its attachment is empty")
    # Prefer the scalable format; the actual type is determined later.
    kind = SVG if SVG in bundle else next(iter(bundle))
    data = bundle[kind]
    text = "".join(map(str, data)) if isinstance(data, list) else str(data)
    if kind == SVG and text.lstrip().startswith("<"):  # as some editors write it
        return text.encode("utf-8", "replace")
    return _decoded(text)


def _data_uri_content(rest: str) -> bytes:
    """Return the content of a `data:` URI, which is given without its scheme."""
    head, _, data = rest.partition(",")
    if not head.lower().startswith("image/"):
        raise PictureError("it is not a picture")
    return _decoded(data) if head.lower().rstrip().endswith(";base64") else unquote_to_bytes(data)


def _decoded(text: str) -> bytes:
    if len(text) > 2 * MAX_BYTES:
        raise PictureError(f"it has more than {MAX_BYTES:,} bytes")
    letters = re.sub(r"[^A-Za-z0-9+/]", "", unquote(text).replace("-", "+").replace("_", "/"))
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4))
    except binascii.Error as error:
        raise PictureError("its data are not base64") from error


def _file(folder: Path, parts: list[str]) -> bytes:
    """Return the content of a file below `folder` without following links; raises `PictureError`."""
    missing = "there is no such file among the files that count in the submission"
    if ".." in parts:
        raise PictureError(
            "it is outside the folder of the notebook, and only that folder is submitted"
        )
    for number, part in enumerate(parts, 1):
        entries = {}
        try:
            with os.scandir(folder) as listing:
                for entry in listing:
                    entries[entry.name] = entry
                    if len(entries) > MAX_FILES:
                        raise PictureError("there are too many files in its folder")
            name = None if part.startswith(".") else _best_match(part, entries)
            if name is None:
                raise PictureError(missing)
            entry = entries[name]
            if entry.is_dir(follow_symlinks=False) and number < len(parts):
                folder = Path(entry.path)
                continue
            status = entry.stat(follow_symlinks=False)
            if not entry.is_file(follow_symlinks=False) or status.st_nlink > 1:
                raise PictureError(
                    "it is a link or not a file" if number == len(parts) else missing
                )
            if number < len(parts):
                raise PictureError(missing)
            if status.st_size > MAX_BYTES:
                raise PictureError(
                    f"it has {status.st_size:,} bytes, and at most {MAX_BYTES:,} are shown"
                )
            return Path(entry.path).read_bytes()
        except OSError as error:
            raise PictureError(f"it cannot be read ({error.strerror})") from error
    raise PictureError(missing)


def _best_match(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that matches, either exactly or up to encoding, normal form or
    case.
    """
    known = list(names)
    for form in (str, unquote, _composed, lambda text: _composed(text).casefold()):
        alike = [each for each in known if form(each) == form(name)]
        if len(alike) == 1:
            return alike[0]
    return None


def _composed(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", unquote(name)).split())
