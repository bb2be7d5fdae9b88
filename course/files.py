"""What JupyterLab shows of the course: studies, not the modules that make it run, and a start page
that follows what is done.
"""

import json
from asyncio import to_thread
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from course.start import CALL, FOLLOWED, put_out, start_page

FOLLOW = Path(__file__).with_name("follow.js")

# What students have no use for there. It can be opened all the same, by whoever knows its name.
INTERNALS = frozenset(
    {
        "__init__.py",
        "check.py",
        "drawn_before.py",
        "files.py",
        "follow.js",
        "greedily.py",
        "hand_in.py",
        "imported_names.py",
        "jupyter",
        "live_modules.py",
        "notebook.py",
        "plots.py",
        "probes",
        "progress.py",
        "py.typed",
        "recorded",
        "renewal.py",
        "start.py",
        "unwritten.py",
        "validate.py",
        "validate_server.py",
        "without_numpy.py",
    }
)


class CourseFiles(AsyncLargeFileManager):
    """JupyterLab's own manager of files, with two differences.

    It leaves `INTERNALS` out of the list of a folder that has all of them (the course's, or a copy
    of it). And whoever opens a start page gets it as things stand, with a script that asks for it
    again while it is in sight.
    """

    async def get(
        self, path: str, content: bool = True, *arguments: Any, **options: Any
    ) -> dict[str, Any]:
        """A file or a folder, as the Contents API has it."""
        model: dict[str, Any] = await super().get(path, content, *arguments, **options)
        if model["type"] == "directory" and content and self._is_course(model["content"]):
            model["content"] = [one for one in model["content"] if one["name"] not in INTERNALS]
        if model["type"] == "notebook" and content:
            for cell in model["content"]["cells"]:
                if cell["cell_type"] == "code" and cell["source"] == CALL and "id" in cell:
                    await to_thread(_renew, cell, path, Path(self._get_os_path(path)).parent)
        return model

    def _is_course(self, listed: Iterable[dict[str, Any]]) -> bool:
        return {one["name"] for one in listed} >= INTERNALS


def _renew(cell: dict[str, Any], path: str, folder: Path) -> None:
    """Give the cell of a start page the output of now, and the script that follows it."""
    try:
        page = start_page(folder)
        html, text = page._repr_html_(), repr(page)
    except Exception as error:  # the page has to open whatever lies in the folder
        text = f"This page cannot be brought up to date: {type(error).__name__}: {error}"
        html = f"<div class='{FOLLOWED}'><p>{escape(text)}</p></div>"
    where = json.dumps({"path": path, "cell": cell["id"]}).replace("<", "\\u003c")
    script = FOLLOW.read_text("utf-8").replace("WHERE", where)
    cell["outputs"] = [put_out(f"{html}\n<script>{script}</script>", text)]
    cell["metadata"]["trusted"] = True  # all of it was made here, just now
