"""Makes nbgrader create its gradebook without a subprocess and accept only usable names of
assignments.

nbgrader records the version of the schema in each new gradebook. To find the version, it runs
`alembic heads`, which takes three seconds of computing time; importing this module makes it call
alembic directly.

nbgrader also accepts any name for a new assignment, although some names fail later. After this
module has been imported, such names are rejected when the assignment is created.
"""

from functools import cache, wraps
from typing import Any

from nbgrader import api
from nbgrader.api import Gradebook, SubmittedAssignment
from nbgrader.dbutil import ALEMBIC_DIR

from autograder.assignment_names import name_problem
from autograder.errors import UserError

__all__ = ["Gradebook", "SubmittedAssignment", "schema_version"]


@cache
def schema_version() -> str:
    """Return the newest revision of nbgrader's schema, as `alembic heads` prints it."""
    from alembic.script import ScriptDirectory  # takes a quarter of a second

    return ScriptDirectory(ALEMBIC_DIR).get_heads()[0]


api.get_alembic_version = schema_version
_add_assignment = Gradebook.add_assignment


@wraps(_add_assignment)
def _add_well_named(self: Gradebook, name: str, **values: Any) -> api.Assignment:
    if problem := name_problem(name):
        raise UserError(problem)
    return _add_assignment(self, name, **values)


Gradebook.add_assignment = _add_well_named
