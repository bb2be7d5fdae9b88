"""Finds what the locked cells of a notebook define for its tests; a submission must not change
these definitions.

Functions, classes and values that do not depend on students' code are defined again next to the
tests that run outside. If a locked cell defines a name in another way, a test that needs the name
would have to take its value from the submission, which could redefine it. Such a test runs inside.
Values that depend on students' code, such as `result = solve(3)`, come from the submission.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from autograder.grading.intake.hidden_state import (
    FUNCTIONS,
    IMPORTS,
    STATEFUL_BUILTINS,
    local_module,
    read_by,
    set_by,
)
from common.syntax import SHELL_LINES, parse_python

NOT_REPRODUCIBLE = (
    "it uses {!r}, which a locked cell defines in a way that cannot be repeated outside"
)
BUILTINS = frozenset(vars(builtins)) - STATEFUL_BUILTINS


@dataclass(frozen=True)
class LockedCells:
    """The definitions of locked cells: `helpers` are the statements that are repeated outside;
    `withheld` are the names that no submission may define for a test that runs outside.
    """

    helpers: Sequence[str]
    withheld: frozenset[str]
    repeated: frozenset[str]  # the withheld names that the helpers define
    reads: Mapping[str, frozenset[str]]  # for each global name, the names it depends on

    def not_reproducible(self, tests: Iterable[NotebookNode]) -> dict[str, str]:
        """Return, by grade id, why tests must run inside: they use a name that is not repeated
        outside.
        """
        reasons = {}
        for test in tests:
            nodes = statements(test)
            used = set().union(*map(read_by, nodes)) - set().union(*map(set_by, nodes))
            missing = with_dependencies(used, self.reads) & self.withheld - self.repeated
            if missing:
                reasons[test.metadata.nbgrader.grade_id] = NOT_REPRODUCIBLE.format(min(missing))
        return reasons


def read_locked_cells(cells: Sequence[NotebookNode], folder: Path) -> LockedCells:
    """Return what the locked cells of a solved notebook define; `folder` contains the notebook's
    other files.
    """
    every = [(cell, node) for cell in cells for node in statements(cell)]
    bound = Counter(name for _, node in every for name in set_by(node))
    reads = _dependencies(node for _, node in every)
    student_names = _student_names(every, folder)
    helpers: list[str] = []
    withheld: set[str] = set()
    repeated: set[str] = set()
    for cell, node in every:
        if isinstance(node, IMPORTS) or not _is_locked(cell):
            continue
        names = set_by(node)
        if (
            not isinstance(node, FUNCTIONS)
            and with_dependencies(read_by(node), reads) & student_names
        ):
            continue
        withheld |= names - student_names
        if all(bound[name] == 1 for name in names) and _is_repeatable(node, reads, student_names):
            helpers.append(ast.unparse(node))
            repeated |= names
    return LockedCells(helpers, frozenset(withheld), frozenset(repeated), reads)


def _dependencies(nodes: Iterable[ast.stmt]) -> dict[str, frozenset[str]]:
    """Return, for each global name, the names that are read by the statements that set it."""
    reads: dict[str, frozenset[str]] = {}
    for node in nodes:
        for name in set_by(node):
            reads[name] = reads.get(name, frozenset()) | read_by(node) - {name}
    return reads


def _student_names(every: Iterable[tuple[NotebookNode, ast.stmt]], folder: Path) -> set[str]:
    """Return the names that students can set, either in cells that they may change or in local
    modules.
    """
    return {
        name
        for cell, node in every
        for name in set_by(node)
        if (_is_local(node, folder) if isinstance(node, IMPORTS) else not _cannot_change(cell))
    }


def _is_repeatable(
    node: ast.stmt, reads: Mapping[str, frozenset[str]], student_names: set[str]
) -> bool:
    """Whether a statement can run outside, without the submission and without hidden state."""
    needed = _needed(node)
    return (
        _is_helper(node)
        and ("*" in reads or needed <= reads.keys() | BUILTINS)
        and not with_dependencies(needed, reads) & (student_names | STATEFUL_BUILTINS)
    )


def statements(cell: NotebookNode) -> list[ast.stmt]:
    """Return the statements of a cell; none if it is not Python."""
    if cell.cell_type != "code":
        return []
    try:
        return parse_python(SHELL_LINES.sub("", cell.source)).body
    except SyntaxError:
        return []


def with_dependencies(names: Iterable[str], reads: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the names, and all names that they depend on."""
    seen, waiting = set(), set(names)
    while waiting:
        seen |= waiting
        waiting = {other for name in waiting for other in reads.get(name, ())} - seen
    return seen


def _is_locked(cell: NotebookNode) -> bool:
    """Whether students cannot change a cell, and it is not a test."""
    return _cannot_change(cell) and not cell.metadata.nbgrader.get("grade")


def _cannot_change(cell: NotebookNode) -> bool:
    settings = cell.metadata.get("nbgrader", {})
    return bool(settings.get("locked") and not settings.get("solution"))


def _is_local(node: ast.Import | ast.ImportFrom, folder: Path) -> bool:
    """Whether a statement imports a module that is next to the notebook."""
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
    """Return the names that a statement needs to run, except those in the body of a function or
    class.
    """
    if isinstance(node, FUNCTIONS):
        node = deepcopy(node)
        node.body = [ast.Pass()]
    return read_by(node)
