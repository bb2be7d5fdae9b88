"""Rejects, during generation, assignments that could not be graded or opened in formgrader."""

import re
import sys
from pathlib import Path
from shlex import quote
from typing import Any

from nbformat import NotebookNode

from autograder.assignment_names import name_problem
from autograder.errors import UserError
from autograder.release.notebooks import NotebookError
from common.command_lines import advice

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
    """Raise `NotebookError` for a notebook in a language other than Python."""
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
    """Return the language of a kernel with this name; unknown names are assumed to be Python
    environments.
    """
    match = re.match(r"[a-z]+", kernel.lower())
    return KERNELS.get(match[0] if match else "", "python")


def refusal_of(error: BaseException, assignment: str, course: Path) -> str:
    """Explain what to do next if nbgrader refuses to generate an assignment; "" if that is unknown."""
    if "Cannot add or remove cells" not in str(error):
        return ""
    return (
        f"{assignment} has been graded, so cells with marks cannot be added or "
        "removed. Either generate the new version into a new course folder: "
        f"{advice('generate', assignment, course=Path(f'{course}_new'))}. Or remove the "
        "assignment from the gradebook, which deletes all its marks, comments and extensions "
        "and its due date, keeps the submissions, and cannot be undone: "
        f"`(cd {quote(str(course))} && {quote(sys.executable)} -m nbgrader db assignment "
        f"remove {quote(assignment)} --force)`; then generate and grade again"
    )


def check(assignment: str, notebook: NotebookNode, path: Path, log: Any) -> None:
    """Raise `UserError` for an assignment or a notebook that cannot be graded, and log the error."""
    try:
        if problem := name_problem(assignment):
            raise UserError(problem)
        require_python(notebook, path)
    except UserError as error:
        log.error("%s", error)  # nbgrader reports the error only later
        raise
