"""What the locked cells of a notebook define for its tests, which a submission must not change.

Functions, classes and values that depend on nothing that students write are made again next to the
tests that run outside. If a locked cell defines a name in another way, a test that needs it would
have to take it from the submission, which could define it again; such a test runs inside. Values
that depend on code of the students, such as `result = solve(3)`, come from the submission.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograder.grading.hidden_state import (
    FUNCTIONS,
    IMPORTS,
    STATEFUL_BUILTINS,
    local_module,
    read_by,
    set_by,
)
from course.probes.syntax import FOR_THE_SHELL, parsed

UNREPEATABLE = "it uses {!r}, which a locked cell defines in a way that is not repeated outside"
BUILTINS = frozenset(vars(builtins)) - STATEFUL_BUILTINS


@dataclass(frozen=True)
class LockedCells:
    """The statements that are made again outside (`helpers`), and the names that no submission may
    define for a test that runs there (`withheld`)."""

    helpers: Sequence[str]
    withheld: frozenset[str]
    repeated: frozenset[str]  # of these names, those that the helpers define
    reads: Mapping[str, frozenset[str]]  # by a global name, what it depends on

    def unrepeatable(self, tests: Iterable[NotebookNode]) -> dict[str, str]:
        """Why tests must run inside, by grade id, as they use a name that is not made again."""
        found = {}
        for test in tests:
            nodes = statements(test)
            used = set().union(*map(read_by, nodes)) - set().union(*map(set_by, nodes))
            if stuck := sorted(reached(used, self.reads) & self.withheld - self.repeated):
                found[test.metadata.nbgrader.grade_id] = UNREPEATABLE.format(stuck[0])
        return found


def read_locked_cells(cells: Sequence[NotebookNode], folder: Path) -> LockedCells:
    """What the locked cells of a solved notebook define, whose other files are in `folder`."""
    every = [(cell, node) for cell in cells for node in statements(cell)]
    bound = Counter(name for _, node in every for name in set_by(node))
    reads: dict[str, frozenset[str]] = {}
    for _, node in every:
        for name in set_by(node):
            reads[name] = reads.get(name, frozenset()) | read_by(node) - {name}
    theirs = {
        name
        for cell, node in every
        for name in set_by(node)
        if (_is_local(node, folder) if isinstance(node, IMPORTS) else not _cannot_change(cell))
    }
    helpers, withheld, repeated = [], set(), set()
    for node in (node for cell, node in every if _is_locked(cell)):
        if isinstance(node, IMPORTS):
            continue
        names, used = set_by(node), reached(read_by(node), reads)
        if not isinstance(node, FUNCTIONS) and used & theirs:
            continue
        withheld |= names - theirs
        needed = _needed(node)
        if (
            _is_helper(node)
            and all(bound[name] == 1 for name in names)
            and ("*" in reads or needed <= reads.keys() | BUILTINS)
            and not reached(needed, reads) & (theirs | STATEFUL_BUILTINS)
        ):
            helpers.append(ast.unparse(node))
            repeated |= names
    return LockedCells(helpers, frozenset(withheld), frozenset(repeated), reads)


def statements(cell: NotebookNode) -> list[ast.stmt]:
    """The statements of a cell; none if it is not Python."""
    if cell.cell_type != "code":
        return []
    try:
        return parsed(FOR_THE_SHELL.sub("", cell.source)).body
    except SyntaxError:
        return []


def reached(names: Iterable[str], reads: Mapping[str, Iterable[str]]) -> set[str]:
    """The names, and all that they depend on."""
    found, left = set(), set(names)
    while left:
        found |= left
        left = {other for name in left for other in reads.get(name, ())} - found
    return found


def _is_locked(cell: NotebookNode) -> bool:
    """Whether students cannot change a cell, and it is no test."""
    return _cannot_change(cell) and not cell.metadata.nbgrader.get("grade")


def _cannot_change(cell: NotebookNode) -> bool:
    settings = cell.metadata.get("nbgrader", {})
    return bool(settings.get("locked") and not settings.get("solution"))


def _is_local(node: ast.Import | ast.ImportFrom, folder: Path) -> bool:
    """Whether a statement imports a module that lies next to the notebook."""
    if isinstance(node, ast.Import):
        return any(local_module(alias.name, folder) for alias in node.names)
    return bool(node.level or (node.module and local_module(node.module, folder)))


def _is_helper(node: ast.stmt) -> bool:
    """Whether a statement defines a function or a class, or names a value."""
    return (
        isinstance(node, (ast.FunctionDef, ast.ClassDef))
        or (
            isinstance(node, ast.Assign)
            and all(isinstance(target, ast.Name) for target in node.targets)
        )
        or (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.value is not None
        )
    )


def _needed(node: ast.stmt) -> set[str]:
    """The names without which a statement fails: not those in the body of a function or a class."""
    if isinstance(node, FUNCTIONS):
        node = deepcopy(node)
        node.body = [ast.Pass()]
    return read_by(node)
