"""Put what a study asks for into one file to download, where files cannot be reached otherwise.

    from course.hand_in import hand_in
    hand_in("study3")

In a live course, whose files are in the browser's storage, this is how work comes out of it.
"""

import base64
import io
import json
import zipfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

from course.probes import Study, load_study, modules
from course.progress import NOTEBOOKS
from course.start import KERNEL

LINK = "data:application/zip;base64,"


@dataclass(frozen=True)
class Packed:
    """A study's module and notebooks in one archive: a link in a notebook, words elsewhere."""

    study: Study
    names: tuple[str, ...]
    data: bytes

    @property
    def name(self) -> str:
        """The archive's name."""
        return f"{self.study.assignment}.zip"

    def __repr__(self) -> str:
        return f"{self.name}, {len(self.data):,} bytes, with {', '.join(self.names)} as saved"

    def _repr_html_(self) -> str:
        link = f"{LINK}{base64.b64encode(self.data).decode()}"
        return (f'<p><a download="{self.name}" href="{link}">Download {self.name}</a>, with '
                f"{escape(', '.join(self.names))} as you last saved them.</p>")


def hand_in(study: str = "", folder: str | Path = ".") -> Packed:
    """What is handed in of a study, as one archive; without a name, of the study of this folder.

    `folder` is that of the study, or the one that holds all of them. Raises `UnknownCheck` (a
    ValueError) for an unknown name, and FileNotFoundError if the module is not there.
    """
    folder = Path(folder).resolve()
    chosen = load_study(study or _study_of(folder))
    place = folder if folder.name == chosen.assignment else folder / chosen.assignment
    if not (place / chosen.module).is_file():
        place = folder.parent / chosen.assignment  # asked from the folder of another study
    if not (place / chosen.module).is_file():
        raise FileNotFoundError(f"{chosen.module} of {chosen.assignment} is not in {folder}: "
                                "name the folder that holds it")
    files = [place / chosen.module, *sorted(place.glob(NOTEBOOKS))]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.writestr(f"{chosen.assignment}/{path.name}", _tidied(path))
    return Packed(chosen, tuple(path.name for path in files), packed.getvalue())


def _study_of(folder: Path) -> str:
    if folder.name not in modules():
        raise FileNotFoundError("say which study you hand in: hand_in(\"study3\")")
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
                cell["outputs"] = [output for output in cell["outputs"]
                                   if LINK not in json.dumps(output)]
    except (ValueError, KeyError, TypeError):  # for whoever marks it to see
        return data
    return json.dumps(notebook, indent=1).encode()
