"""Makes a stub from an answer by replacing every solution region with one `raise
NotImplementedError`.

A region at module level, outside all functions, is removed, because only the answer needs it.
"""

import ast
import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from autograder.errors import UserError
from common.syntax import parse_python

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"  # nbgrader's markers


class SolutionRegionError(UserError):
    """A solution region is unmatched, nested, empty, or in a class and outside its methods."""


def stub(source: str, name: str, keep: Container[str] = ()) -> str:
    """Return the stub of the answer `source`; `name` is the file's name, for the error message.

    Functions in `keep` ("TypeA.search") keep their bodies, as in a half-finished submission.

    >>> print(stub('''def double(n):
    ...     "Twice n."
    ...     ### BEGIN SOLUTION
    ...     return 2 * n
    ...     ### END SOLUTION
    ... ''', "double.py"))
    def double(n):
        "Twice n."
        raise NotImplementedError("double: write this function")
    <BLANKLINE>

    Raises `SolutionRegionError` if a solution region is invalid.
    """
    lines = _lines(source)
    functions = _functions(source)
    result: list[str] = []
    copied = 0  # the number of lines that have been handled
    for start, end in _regions(lines, name):
        result += lines[copied : start - 1]
        copied = end
        if not _indent(lines[end - 1]):  # at module level, where only the answer needs it
            while result and not result[-1].strip():
                result.pop()
            continue
        function = _enclosing_function(functions, start, name)
        if start < function.docstring_line < end:
            raise SolutionRegionError(
                f"{name}, line {function.docstring_line}: the docstring of "
                f"{function.qualified_name} is inside the solution region"
            )
        if function.qualified_name in keep:
            result += lines[start : end - 1]
        else:
            indent = lines[end - 1][: _indent(lines[end - 1])]
            message = f"{function.qualified_name}: write this {function.kind}"
            result.append(f'{indent}raise NotImplementedError("{message}")')
    return "\n".join(result + lines[copied:]) + "\n"


class _Function(NamedTuple):
    """A function of an answer: its lines, and the data for its placeholder in the stub."""

    first_line: int
    last_line: int
    qualified_name: str
    kind: str  # "function" or "method"
    docstring_line: int  # 0 if there is none


def _lines(source: str) -> list[str]:
    return source.removesuffix("\n").split("\n")  # lines as ast counts them: \f does not end a line


def _regions(lines: Sequence[str], name: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first and the last line of each solution region, which are the
    markers.
    """
    start = 0  # the line that opened the current region
    for number, line in enumerate(lines, 1):
        if line.strip() == BEGIN:
            if start:
                raise SolutionRegionError(
                    f"{name}, line {number}: a solution region begins inside that of line {start}"
                )
            start = number
        elif line.strip() == END:
            if not start:
                raise SolutionRegionError(
                    f"{name}, line {number}: a solution region ends without having begun"
                )
            _validate_region(lines[start - 1 : number], f"{name}, line {start}")
            yield start, number
            start = 0
        elif re.search(r"###\s*(BEGIN|END)\b|#\s*(BEGIN|END)\s+SOLUTION", line, re.IGNORECASE):
            raise SolutionRegionError(f"{name}, line {number}: unknown marker {line.strip()}")
    if start:
        raise SolutionRegionError(f"{name}, line {start}: the solution region never ends")


def _validate_region(region: Sequence[str], place: str) -> None:
    if not any(map(_is_code, region[1:-1])):
        raise SolutionRegionError(f"{place}: the solution region is empty")
    indent = _indent(region[-1])
    if _indent(region[0]) != indent or any(
        _indent(line) < indent for line in region if line.strip()
    ):
        raise SolutionRegionError(
            f"{place}: the solution region must be at a single level of indentation"
        )


def solutions(source: str) -> list[str]:
    """Return the text of every solution region, so that released files can be searched for it."""
    return re.findall(rf"{BEGIN}[ \t]*\n(.*?)\n[ \t]*{END}", source, re.DOTALL)


def written_functions(source: str) -> set[str]:
    """Return the qualified names of the functions that students write, that is, those with a
    solution region.
    """
    functions = _functions(source)
    return {
        _enclosing_function(functions, number, "the answer").qualified_name
        for number, line in enumerate(_lines(source), 1)
        if line.strip() == BEGIN and _indent(line)
    }


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _enclosing_function(functions: Sequence[_Function], line: int, name: str) -> _Function:
    enclosing = [f for f in functions if f.first_line <= line <= f.last_line]
    if not enclosing:
        raise SolutionRegionError(
            f"{name}, line {line}: the solution region is not inside a function"
        )
    return enclosing[-1]


def _functions(source: str) -> list[_Function]:
    """Return every function and method of a module, outer ones before inner ones."""
    functions: list[_Function] = []

    def visit(node: ast.AST, path: tuple[str, ...], in_class: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = (*path, child.name)
                is_class = isinstance(child, ast.ClassDef)
                if not is_class:
                    functions.append(
                        _Function(
                            child.lineno,
                            child.end_lineno or child.lineno,
                            ".".join(inner),
                            "method" if in_class else "function",
                            child.body[0].lineno if ast.get_docstring(child) else 0,
                        )
                    )
                visit(child, inner, is_class)
            else:  # an `if`, a `with`: its body belongs to the same function or class
                visit(child, path, in_class)

    visit(parse_python(source), (), False)
    return functions
