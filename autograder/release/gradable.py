"""Refuses, when an assignment is generated, what cannot be graded or opened in formgrader later."""

import re
import sys
from pathlib import Path
from shlex import quote
from typing import Any

from nbformat import NotebookNode

from autograder.assignment_names import name_problem
from autograder.errors import Refused
from autograder.release.notebooks import NotebookError

KERNELS = {
    "ir": "R",
    "julia": "Julia",
    "octave": "Octave",
    "bash": "Bash",
    "sos": "SoS",
    "xcpp": "C++",
    "gophernotes": "Go",
    "rust": "Rust",
    "java": "Java",
}


def require_python(notebook: NotebookNode, path: Path) -> None:
    """Raise `NotebookError` for a notebook in another language than Python."""
    kernel = notebook.metadata.get("kernelspec", {})
    language = (
        kernel.get("language")
        or notebook.metadata.get("language_info", {}).get("name")
        or _language_of(str(kernel.get("name", "")))
    )
    if str(language).lower() not in ("python", "python3", "ipython"):
        raise NotebookError(
            f"{path.name} is a notebook in {language}: only Python is supported, "
            "so nothing in it can be graded here; choose a Python kernel, or grade "
            "this assignment with nbgrader alone, in another course folder"
        )


def _language_of(kernel: str) -> str:
    """The language of a kernel whose notebook does not name it; environments have any names."""
    found = re.match(r"[a-z]+", kernel.lower())
    return KERNELS.get(found[0] if found else "", "python")


def refusal_of(error: BaseException, assignment: str, course: Path) -> str:
    """What to do next if nbgrader refuses to generate an assignment, or "" if that is unknown."""
    if "Cannot add or remove cells" not in str(error):
        return ""
    return (
        f"{assignment} has been graded, so cells with marks cannot be added or "
        "removed. Either release the new version into a new course folder: `python3 run.py "
        f"release {quote(assignment)} --course {quote(str(course) + '_new')}`. Or remove the "
        "assignment from the gradebook, which deletes all its marks, comments and extensions "
        "and its due date, keeps the submissions, and cannot be undone: "
        f"`(cd {quote(str(course))} && {quote(sys.executable)} -m nbgrader db assignment "
        f"remove {quote(assignment)} --force)`; then release and grade again"
    )


def check(assignment: str, notebook: NotebookNode, path: Path, log: Any) -> None:
    """Raise `Refused` for an assignment or a notebook that cannot be graded; log it as well."""
    try:
        if problem := name_problem(assignment):
            raise Refused(problem)
        require_python(notebook, path)
    except Refused as error:
        log.error("%s", error)  # nbgrader says more, but not at once
        raise
