"""Determines the names under which a student's feedback pages are fetched.

nbgrader fetches one page for each notebook in the submission, by the notebook's name in the
submission. The page of a renamed notebook is therefore also written under the name that the student
gave it. The results of a notebook that was not submitted are part of the other pages.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.intake.submission_files import list_files


@dataclass(frozen=True)
class PageNames:
    """The names of pages. `released` are the names of an assignment's notebooks. `pages` maps the
    name of each notebook in a submission to the released notebook whose page is written under that
    name.
    """

    released: tuple[str, ...]
    pages: Mapping[str, str]

    def page_for(self, notebook: str) -> str | None:
        """Return the name of the page that the student can fetch for a notebook; None if there is
        no such page.

        Students who submitted no notebook receive the pages differently, under their usual names.
        """
        if notebook in self.pages or not self.pages:
            return notebook
        return next((name for name, other in self.pages.items() if other == notebook), None)

    def aliases(self, notebook: str) -> list[str]:
        """Return the other names under which the page of a notebook is written."""
        return [name for name, other in self.pages.items() if other == notebook != name]


def page_names(submission: Path, release: Path) -> PageNames:
    """Return the names for one submission; each of its notebooks must have a page.

    A renamed notebook is recognised by its graded cells. A notebook without graded cells gets the
    page of a missing notebook, or else the page of the first notebook.
    """
    released = {path.stem: _graded_ids(path) for path in sorted(release.glob("*.ipynb"))}
    expected = [f"{name}.ipynb" for name in released]
    submitted = {
        path.stem: path
        for path in list_files(submission, expected).files
        if path.parent == submission and path.suffix == ".ipynb" and path.stem.isprintable()
    }  # pages can only be fetched by these names
    pages = {}
    for name, path in sorted(submitted.items()):
        if name in released or not released:
            pages[name] = name
        else:
            ids = _graded_ids(path)
            pages[name] = max(
                released, key=lambda known: (len(released[known] & ids), known not in submitted)
            )
    return PageNames(tuple(released), pages)


def _graded_ids(path: Path) -> set[str]:
    """Return the ids of the graded cells in a notebook file, which may have any content."""
    try:
        cells = json.loads(path.read_bytes().decode("utf-8-sig"))["cells"]
        marked = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
        return {grade_id for grade_id in marked if isinstance(grade_id, str)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()
