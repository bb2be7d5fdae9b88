"""Packs a study's module, notebooks and pictures into one zip file for submission.

    from course.submission import make_submission
    make_submission("study3")

The archive is written next to the study's folder, and the output contains a link to download it. In
a live course, where files are in the browser's storage, the link is the only way to get it.
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

from course.checks import Study, load_study, modules
from course.lab.progress import NOTEBOOKS, count_stubs, markdown_cells, progress
from course.lab.start_page import KERNEL

LINK = "data:application/zip;base64,"
MAX_LINK_BYTES = 2_000_000  # larger archives are not embedded in the notebook
PICTURES = {".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}
PICTURE_LINK = (
    re.compile(  # a picture in Markdown, such as ![](a.png), ![](<a b.png>) or <img src="a.png">
        r"""!\[[^\]]*\]\(\s*(?:<([^>]+)>|([^)\s]+))|<img\b[^>]*?\bsrc=["']([^"']+)"""
    )
)
NOT_LOCAL = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|/|#)", re.IGNORECASE)
IN_GRADING = "NBGRADER_EXECUTION"


@dataclass(frozen=True)
class Submission:
    """A study's files in one archive; displayed as a link in a notebook and as text elsewhere."""

    study: Study
    names: tuple[str, ...]
    data: bytes
    path: Path | None = None  # the file, if it could be written
    saved: tuple[float, ...] = ()  # modification time of each file, in seconds since 1970
    warnings: tuple[str, ...] = ()  # problems to fix before submitting

    @property
    def name(self) -> str:
        """The archive's name."""
        return f"{self.study.assignment}.zip"

    def __repr__(self) -> str:
        where = f"\nWritten to {self.path}" if self.path else ""
        warnings = "".join(f"\nBefore you submit: {warning}" for warning in self.warnings)
        return f"{self.name}, {len(self.data):,} bytes, with {self._files()}{where}{warnings}"

    def _repr_html_(self) -> str:
        where = f" It is also in <code>{escape(str(self.path))}</code>." if self.path else ""
        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        below = f"<p>Before you submit:</p><ul>{warnings}</ul>" if warnings else ""
        return (
            f'<p><a download="{self.name}" href="{self._address()}">Download {self.name}</a>, '
            f"with {escape(self._files())}.{where}</p>{below}"
        )

    def _address(self) -> str:
        """The target of the link: the archive itself, or its file if it is large."""
        if self.path and len(self.data) > MAX_LINK_BYTES:
            return quote(Path(os.path.relpath(self.path)).as_posix())
        return f"{LINK}{base64.b64encode(self.data).decode()}"

    def _files(self) -> str:
        ages = [f" (saved {_ago(moment)})" for moment in self.saved] or [""] * len(self.names)
        return ", ".join(f"{name}{age}" for name, age in zip(self.names, ages, strict=True))


def make_submission(study: str = "", folder: str | Path = ".") -> Submission | None:
    """Pack a study for submission; if no name is given, the study in `folder`.

    `folder` is the study's folder or the one that contains all studies. The archive is also written
    next to the study's folder. Incomplete work causes a warning, not an error. While a notebook is
    graded or validated, no archive is made. Raises `UnknownCheck` (a ValueError) for an unknown
    name, and FileNotFoundError if the module is missing.
    """
    if IN_GRADING in os.environ:
        print("No archive is made while a notebook is graded or validated.")
        return None
    folder = Path(folder).resolve()
    selected = load_study(study or _study_in(folder))
    place = folder if folder.name == selected.assignment else folder / selected.assignment
    if not (place / selected.module).is_file():
        place = folder.parent / selected.assignment  # when called in the folder of another study
    if not (place / selected.module).is_file():
        raise FileNotFoundError(
            f"{selected.module} of {selected.assignment} is not in {folder}: "
            "pass the folder that contains it"
        )
    notebooks = sorted(place.glob(NOTEBOOKS))
    pictures, missing = _pictures(place, notebooks)
    files = [place / selected.module, *notebooks, *pictures]
    archive_bytes = io.BytesIO()
    with zipfile.ZipFile(archive_bytes, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = path.relative_to(place).as_posix()
            archive.writestr(f"{selected.assignment}/{name}", _cleaned(path))
    warnings = [
        *_warnings(place, selected, notebooks),
        *missing,
        *_unsaved(folder, place, notebooks),
    ]
    path = place.parent / f"{selected.assignment}.zip"
    written = sys.platform != "emscripten" and _write(path, archive_bytes.getvalue())
    return Submission(
        selected,
        tuple(path.relative_to(place).as_posix() for path in files),
        archive_bytes.getvalue(),
        path if written else None,
        tuple(path.stat().st_mtime for path in files),
        tuple(warnings),
    )


def _write(path: Path, data: bytes) -> bool:
    """Write the archive completely or not at all; return whether it was written."""
    try:
        with tempfile.TemporaryDirectory(prefix=".submission-", dir=path.parent) as temporary:
            complete = Path(temporary, path.name)
            complete.write_bytes(data)
            complete.replace(path)
    except OSError:
        return False
    return True


def _ago(moment: float) -> str:
    """The time since `moment`, in words."""
    minutes = max(0, int(time.time() - moment)) // 60
    for number, unit in (
        (minutes // (24 * 60), "day"),
        (minutes // 60, "hour"),
        (minutes, "minute"),
    ):
        if number:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


# ---- Contents and warnings


def _pictures(place: Path, notebooks: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The pictures in the study's folder and those shown in Markdown cells, and one sentence for
    each missing picture. Files outside the folder are not packed.
    """
    pictures = {path for path in place.iterdir() if path.suffix.lower() in PICTURES}
    missing = []
    for notebook in notebooks:
        for name in sorted(
            {name for text in markdown_cells(notebook) for name in _linked_pictures(text)}
        ):
            path = place / name
            with contextlib.suppress(OSError, ValueError):
                if path.is_file() and path.resolve().is_relative_to(place.resolve()):
                    pictures.add(path)
                    continue
            missing.append(
                f"{name}, which {notebook.name} shows, is not in the folder {place.name}: move it "
                "there, or graders cannot see it"
            )
    inside = {path for path in pictures if path.is_file() and not path.is_symlink()}
    return sorted(inside), missing


def _linked_pictures(text: str) -> Iterator[str]:
    """The relative names of the files that a Markdown text shows as pictures."""
    for match in PICTURE_LINK.finditer(text):
        name = next(filter(None, match.groups()))
        if not NOT_LOCAL.match(name):
            yield unquote(name)


def _warnings(place: Path, study: Study, notebooks: Sequence[Path]) -> Iterator[str]:
    """A sentence for each part that is not implemented, not answered or not checked."""
    if left := count_stubs(place / study.module):
        yield f"{study.module} has {left} function{'s' if left > 1 else ''} left to write"
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
            yield f"{p.path.name}: not yet checked: {', '.join(p.unchecked)}"
        if p.changed:
            yield f"{study.module} has changed since the checks in {p.path.name} were run"


def _unsaved(folder: Path, place: Path, notebooks: Sequence[Path]) -> Iterator[str]:
    """A warning if the running cell is not in a saved notebook of the study."""
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
        yield "the cell that you ran is not in a saved notebook: save all files, then run it again"


def _study_in(folder: Path) -> str:
    if folder.name not in modules():
        raise FileNotFoundError('name the study that you want to submit: make_submission("study3")')
    return folder.name


def _cleaned(path: Path) -> bytes:
    """The content of a file. In notebooks, earlier archives are removed from the outputs, and the
    kernel's name is reset, because a browser uses another one."""
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
    except (ValueError, KeyError, TypeError):  # keep the file unchanged for the grader
        return data
    return json.dumps(notebook, indent=1).encode()
