"""Packs what is handed in of a study into one zip file: the module, the notebooks, the pictures.

    from course.hand_in import hand_in
    hand_in("study3")

The file is written next to the study's folder, and the output has a link to download it. In a live
course, whose files are in the browser's storage, the link is how work comes out of it.
"""

import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote

from course.probes import Study, load_study, modules
from course.progress import NOTEBOOKS, markdown_cells, progress, to_write
from course.start import KERNEL

LINK = "data:application/zip;base64,"
MOST_IN_LINK = 2_000_000  # bytes of an archive that the notebook itself holds
PICTURES = {".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
MENTIONED = re.compile(  # a picture in Markdown, as ![](a.png), ![](<a b.png>) or <img src="a.png">
    r"""!\[[^\]]*\]\(\s*(?:<([^>]+)>|([^)\s]+))|<img\b[^>]*?\bsrc=["']([^"']+)"""
)
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|/|#)", re.IGNORECASE)
IN_GRADING = "NBGRADER_EXECUTION"


@dataclass(frozen=True)
class Packed:
    """A study's files in one archive: a link in a notebook, words elsewhere."""

    study: Study
    names: tuple[str, ...]
    data: bytes
    path: Path | None = None  # where it was written, if it was
    saved: tuple[float, ...] = ()  # when each file was saved, in seconds since 1970
    warnings: tuple[str, ...] = ()  # what to look at before handing it in

    @property
    def name(self) -> str:
        """The archive's name."""
        return f"{self.study.assignment}.zip"

    def __repr__(self) -> str:
        where = f"\nWritten to {self.path}" if self.path else ""
        warnings = "".join(f"\nBefore you hand it in: {warning}" for warning in self.warnings)
        return f"{self.name}, {len(self.data):,} bytes, with {self._files()}{where}{warnings}"

    def _repr_html_(self) -> str:
        where = f" It is also in <code>{escape(str(self.path))}</code>." if self.path else ""
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        below = f"<p>Before you hand it in:</p><ul>{warnings}</ul>" if warnings else ""
        return (
            f'<p><a download="{self.name}" href="{self._address()}">Download {self.name}</a>, '
            f"with {escape(self._files())}.{where}</p>{below}"
        )

    def _address(self) -> str:
        """What the link leads to: the archive itself, or its file if it is large."""
        if self.path and len(self.data) > MOST_IN_LINK:
            return quote(Path(os.path.relpath(self.path)).as_posix())
        return f"{LINK}{base64.b64encode(self.data).decode()}"

    def _files(self) -> str:
        ages = [f" (saved {_ago(moment)})" for moment in self.saved] or [""] * len(self.names)
        return ", ".join(f"{name}{age}" for name, age in zip(self.names, ages, strict=True))


def hand_in(study: str = "", folder: str | Path = ".") -> Packed | None:
    """What is handed in of a study, as one archive; without a name, of the study of this folder.

    `folder` is that of the study, or the one that holds all of them. The archive is written next to
    the study's folder as well. Something that is missing in the work is a warning, not an error.
    While a notebook is graded or validated, nothing is packed. Raises `UnknownCheck` (a ValueError)
    for an unknown name, and FileNotFoundError if the module is not there.
    """
    if IN_GRADING in os.environ:
        print("Nothing is packed while a notebook is graded or validated.")
        return None
    folder = Path(folder).resolve()
    chosen = load_study(study or _study_of(folder))
    place = folder if folder.name == chosen.assignment else folder / chosen.assignment
    if not (place / chosen.module).is_file():
        place = folder.parent / chosen.assignment  # called in the folder of another study
    if not (place / chosen.module).is_file():
        raise FileNotFoundError(
            f"{chosen.module} of {chosen.assignment} is not in {folder}: "
            "name the folder that holds it"
        )
    notebooks = sorted(place.glob(NOTEBOOKS))
    pictures, missing = _pictures(place, notebooks)
    files = [place / chosen.module, *notebooks, *pictures]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = path.relative_to(place).as_posix()
            archive.writestr(f"{chosen.assignment}/{name}", _tidied(path))
    warnings = [*_warnings(place, chosen, notebooks), *missing, *_unsaved(folder, place, notebooks)]
    path = place.parent / f"{chosen.assignment}.zip"
    written = sys.platform != "emscripten" and _write(path, packed.getvalue())
    return Packed(
        chosen,
        tuple(path.relative_to(place).as_posix() for path in files),
        packed.getvalue(),
        path if written else None,
        tuple(path.stat().st_mtime for path in files),
        tuple(warnings),
    )


def _write(path: Path, data: bytes) -> bool:
    """Write the archive, whole or not at all; whether that worked."""
    try:
        with tempfile.TemporaryDirectory(prefix=".hand-in-", dir=path.parent) as temporary:
            whole = Path(temporary, path.name)
            whole.write_bytes(data)
            whole.replace(path)
    except OSError:
        return False
    return True


def _ago(moment: float) -> str:
    """How long ago that was, in words."""
    minutes = max(0, int(time.time() - moment)) // 60
    for number, unit in (
        (minutes // (24 * 60), "day"),
        (minutes // 60, "hour"),
        (minutes, "minute"),
    ):
        if number:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


# ---- What belongs to it, and what is still to be done


def _pictures(place: Path, notebooks: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The pictures in the study's folder and the files that text cells show; a sentence for each
    that is not there. Files outside of the folder are not packed."""
    found = {path for path in place.iterdir() if path.suffix.lower() in PICTURES}
    missing = []
    for notebook in notebooks:
        for name in sorted({name for text in markdown_cells(notebook) for name in _shown(text)}):
            path = place / name
            with contextlib.suppress(OSError, ValueError):
                if path.is_file() and path.resolve().is_relative_to(place.resolve()):
                    found.add(path)
                    continue
            missing.append(
                f"{name}, which {notebook.name} shows, is not in the folder "
                f"{place.name}: put it there, or the marker cannot see it"
            )
    inside = {path for path in found if path.is_file() and not path.is_symlink()}
    return sorted(inside), missing


def _shown(text: str) -> Iterator[str]:
    """The files that the Markdown text shows as pictures, by their relative names."""
    for match in MENTIONED.finditer(text):
        name = next(filter(None, match.groups()))
        if not ELSEWHERE.match(name):
            yield unquote(name)


def _warnings(place: Path, study: Study, notebooks: Sequence[Path]) -> Iterator[str]:
    """What is not written, not answered or not checked."""
    if left := to_write(place / study.module):
        yield f"{study.module} has {left} place{'s' if left > 1 else ''} to fill in"
    if not notebooks:
        yield f"there is no notebook in the folder {place.name}"
    for p in progress(place, study):
        if not p.cells and not p.questions:
            yield f"{p.path.name} cannot be read as a notebook"
        if left := p.questions - p.answered:
            yield (
                f"{p.path.name} has {left} of {p.questions} "
                f"question{'s' if p.questions > 1 else ''} without an answer"
            )
        if p.unchecked:
            yield f"{p.path.name}: not checked yet: {', '.join(p.unchecked)}"
        if p.changed:
            yield f"{study.module} has changed since the checks in {p.path.name} were run"


def _unsaved(folder: Path, place: Path, notebooks: Sequence[Path]) -> Iterator[str]:
    """A sentence if the cell that is running was never saved in a notebook of the study."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell.user_ns.get("In", [""])[-1].strip() if shell else ""
    if (
        cell
        and folder == place
        and not any(
            json.dumps(line)[1:-1] in path.read_text("utf-8", "replace")
            for line in cell.splitlines()[-1:]
            for path in notebooks
        )
    ):
        yield "the cell that you ran is not in a saved notebook: save all, then run it again"


def _study_of(folder: Path) -> str:
    if folder.name not in modules():
        raise FileNotFoundError('say which study you hand in: hand_in("study3")')
    return folder.name


def _tidied(path: Path) -> bytes:
    """The file; a notebook without the archives that were made in it, or each would hold the last,
    and for the kernel that it was handed out for: a browser's has another name."""
    data = path.read_bytes()
    if path.suffix != ".ipynb":
        return data
    try:
        notebook = json.loads(data)
        kernel = notebook["metadata"].get("kernelspec", KERNEL)["name"]
        if kernel == KERNEL["name"] and LINK.encode() not in data:
            return data
        notebook["metadata"]["kernelspec"] = KERNEL
        for cell in notebook["cells"]:
            if "outputs" in cell:
                cell["outputs"] = [
                    output for output in cell["outputs"] if LINK not in json.dumps(output)
                ]
    except (ValueError, KeyError, TypeError):  # for whoever marks it to see
        return data
    return json.dumps(notebook, indent=1).encode()
