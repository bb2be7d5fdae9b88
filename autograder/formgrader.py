"""Makes formgrader show why a new assignment or a due date is rejected.

formgrader's page sends a new assignment to the server and ignores the response. If the server
rejects it, the table keeps a row without an assignment. After this module has been imported, the
server responds with a sentence, and the page shows it.
"""

import json
from functools import wraps
from pathlib import Path
from typing import Any

from nbgrader.server_extensions.formgrader.apihandlers import AssignmentHandler
from nbgrader.server_extensions.formgrader.handlers import ManageAssignmentsHandler

from autograder.errors import UserError

SCRIPT = Path(__file__).with_suffix(".js")
_put, _render = AssignmentHandler.put, ManageAssignmentsHandler.render


@wraps(_put)
def _put_or_explain(self: AssignmentHandler, assignment_id: str) -> None:
    try:
        _put(self, assignment_id)
    except UserError as error:
        self.set_status(400)
        self.finish(json.dumps({"error": str(error)}))


@wraps(_render)
def _render_with_script(self: ManageAssignmentsHandler, name: str, **values: Any) -> str:
    script = f"<script>\n{SCRIPT.read_text('utf-8')}</script>\n"
    return _render(self, name, **values).replace("</head>", f"{script}</head>", 1)


AssignmentHandler.put = _put_or_explain
ManageAssignmentsHandler.render = _render_with_script
