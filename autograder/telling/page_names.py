"""Under which names a student looks for the pages of feedback.

nbgrader fetches one page for each notebook that lies in what was handed in, by its name there. So
the page of a renamed notebook is also written under the name that the student gave it; the results
of a notebook that was not handed in at all are part of the other pages.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.handed_in import look_through


@dataclass(frozen=True)
class PageNames:
    """The names of an assignment's notebooks (`released`), and for each name of a notebook in a
    submission the notebook whose page the student finds there."""

    released: tuple[str, ...]
    found: Mapping[str, str]

    def of(self, notebook: str) -> str | None:
        """The name of the page that the student finds for a notebook; None if there is none.

        Who handed in no notebook gets the pages in another way, under their usual names.
        """
        if notebook in self.found or not self.found:
            return notebook
        return next((name for name, other in self.found.items() if other == notebook), None)

    def also(self, notebook: str) -> list[str]:
        """The other names under which its page is to be written."""
        return [name for name, other in self.found.items() if other == notebook != name]


def page_names(submission: Path, release: Path) -> PageNames:
    """The names for one submission, each notebook of which must have a page.

    A renamed notebook is recognised by the graded cells in it. One without any gets the page of a
    notebook that is missing, or else of the first one.
    """
    released = {path.stem: _graded_ids(path) for path in sorted(release.glob("*.ipynb"))}
    wanted = [f"{name}.ipynb" for name in released]
    handed_in = {
        path.stem: path
        for path in look_through(submission, wanted).files
        if path.parent == submission and path.suffix == ".ipynb" and path.stem.isprintable()
    }  # no page can be asked for by another name
    found = {}
    for name, path in sorted(handed_in.items()):
        if name in released or not released:
            found[name] = name
        else:
            ids = _graded_ids(path)
            found[name] = max(
                released, key=lambda known: (len(released[known] & ids), known not in handed_in)
            )
    return PageNames(tuple(released), found)


def _graded_ids(path: Path) -> set[str]:
    """The ids of the graded cells in the file of a notebook, which may hold anything."""
    try:
        cells = json.loads(path.read_bytes().decode("utf-8-sig"))["cells"]
        marked = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
        return {grade_id for grade_id in marked if isinstance(grade_id, str)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()
