"""Represents the meaning of code as data, for digests that change only if the code's behaviour
changes.
"""

import ast
from typing import Any

from common.syntax import parse_python

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TYPES = {"annotation", "returns"}


def meaning(text: str) -> list[Any]:
    """Return the syntax tree of Python code as lists, without docstrings and annotations.

    Formatting, comments and the Python version do not matter, and neither do texts that are marked
    with `english`, which returns its argument.
    """
    tree = _Unmarked().visit(parse_python(text))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                first.value.value = ""
    return _plain(tree)


class _Unmarked(ast.NodeTransformer):
    """Removes the calls of `common.messages.english` around texts."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the argument of such a call, and every other call unchanged."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "english" and len(node.args) == 1:
            return node.args[0]
        return node


def _plain(node: Any) -> Any:
    """Return a syntax tree as lists, without empty fields, which differ between Python versions."""
    if isinstance(node, ast.AST):
        named = [pair for pair in ast.iter_fields(node) if pair[0] not in TYPES]
        fields = [(name, _plain(value)) for name, value in named]
        return [type(node).__name__, *(field for field in fields if field[1] not in (None, []))]
    return [_plain(each) for each in node] if isinstance(node, list) else repr(node)
