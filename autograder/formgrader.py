"""formgrader shows why a new assignment or a due date is refused.

Its own page sends a new assignment to the server and does not wait for the answer: if the server
refuses it, a row remains in the table that belongs to no assignment. Importing this module lets the
server answer with a sentence, and the page show it.
"""

import json
from functools import wraps
from pathlib import Path
from typing import Any

from nbgrader.server_extensions.formgrader.apihandlers import AssignmentHandler
from nbgrader.server_extensions.formgrader.handlers import ManageAssignmentsHandler

from autograder.errors import Refused

SCRIPT = Path(__file__).with_suffix(".js")
_put, _render = AssignmentHandler.put, ManageAssignmentsHandler.render


@wraps(_put)
def _put_or_explain(self: AssignmentHandler, assignment_id: str) -> None:
    try:
        _put(self, assignment_id)
    except Refused as error:
        self.set_status(400)
        self.finish(json.dumps({"error": str(error)}))


@wraps(_render)
def _render_with_script(self: ManageAssignmentsHandler, name: str, **values: Any) -> str:
    script = f"<script>\n{SCRIPT.read_text('utf-8')}</script>\n"
    return _render(self, name, **values).replace("</head>", f"{script}</head>", 1)


AssignmentHandler.put = _put_or_explain
ManageAssignmentsHandler.render = _render_with_script
