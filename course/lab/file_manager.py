"""JupyterLab's view of the course, which hides internal modules and updates the start page."""

import json
from asyncio import to_thread
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from course.lab.start_page import CALL, PAGE_CLASS, render_output, start_page

SCRIPT = Path(__file__).with_name("live_progress.js")

# Files that students do not need. They are only hidden, and can still be opened by name.
INTERNALS = frozenset(
    {
        "__init__.py",
        "check.py",
        "checks",
        "greedy_agent.py",
        "jupyter",
        "lab",
        "notebook.py",
        "own_searches.py",
        "plots.py",
        "published",
        "py.typed",
        "stub_errors.py",
        "submission.py",
    }
)
CHECK_TABLES = "_check"  # the folder in each study that `check` reads


class CourseFiles(AsyncLargeFileManager):
    """JupyterLab's file manager with two differences.

    It hides `INTERNALS` in any folder that contains them all, that is, in the course or a copy.
    It also updates start pages when they are opened, and adds a script that keeps them up to date
    while they are visible.
    """

    async def get(
        self, path: str, content: bool = True, *arguments: Any, **options: Any
    ) -> dict[str, Any]:
        """A file or a folder, in the format of the Contents API."""
        model: dict[str, Any] = await super().get(path, content, *arguments, **options)
        if content and model["type"] == "directory":
            model["content"] = _visible(model["content"])
        if content and model["type"] == "notebook":
            folder = Path(self._get_os_path(path)).parent
            for cell in model["content"]["cells"]:
                if cell["cell_type"] == "code" and cell["source"] == CALL and "id" in cell:
                    await to_thread(_update, cell, path, folder)
        return model


def _visible(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries of a folder that students see."""
    is_course = {entry["name"] for entry in entries} >= INTERNALS
    hidden = {CHECK_TABLES} | (INTERNALS if is_course else set())
    return [entry for entry in entries if entry["name"] not in hidden]


def _update(cell: dict[str, Any], path: str, folder: Path) -> None:
    """Give the cell of a start page its current output, and the script that updates it."""
    try:
        page = start_page(folder)
        html, text = page._repr_html_(), repr(page)
    except Exception as error:  # the page must open, whatever the folder contains
        text = f"This page cannot be updated: {type(error).__name__}: {error}"
        html = f"<div class='{PAGE_CLASS}'><p>{escape(text)}</p></div>"
    location = json.dumps({"path": path, "cell": cell["id"]}).replace("<", "\\u003c")
    script = SCRIPT.read_text("utf-8").replace("WHERE", location)
    cell["outputs"] = [render_output(f"{html}\n<script>{script}</script>", text)]
    cell["metadata"]["trusted"] = True  # the whole output was just created here
