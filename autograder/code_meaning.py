"""What code does, as data: for digests that change only with the code's behaviour."""

import ast
from typing import Any

from course.probes.syntax import parsed

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
TYPES = {"annotation", "returns"}


def meaning(text: str) -> list[Any]:
    """The syntax tree of Python code as lists, without docstrings and annotations.

    Format, comments and the version of Python make no difference.
    """
    tree = parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                first.value.value = ""
    return _plain(tree)


def _plain(node: Any) -> Any:
    """A syntax tree as lists; fields that are empty differ between versions, and are left out."""
    if isinstance(node, ast.AST):
        named = [pair for pair in ast.iter_fields(node) if pair[0] not in TYPES]
        fields = [(name, _plain(value)) for name, value in named]
        return [type(node).__name__, *(field for field in fields if field[1] not in (None, []))]
    return [_plain(each) for each in node] if isinstance(node, list) else repr(node)
