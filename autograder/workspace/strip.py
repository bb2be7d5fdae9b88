"""Makes a stub from an answer: every solution region becomes one `raise NotImplementedError`.

A region at the top level of the module, outside all functions, is left out: what only the answer
needs.
"""

import ast
import re
from collections.abc import Container

from autograder.errors import Refused
from course.probes.syntax import parsed

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"  # nbgrader's markers


class SolutionRegionError(Refused):
    """A solution region is unmatched, nested, empty, or in a class and outside its methods."""


def stub(source: str, name: str, keep: Container[str] = ()) -> str:
    """The stub of the answer `source`; `name` is the file's name, for the error message.

    Functions named in `keep` ("TypeA.search") keep their bodies: a half-done submission.

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

    Raises `SolutionRegionError` where a region is not what the release can rely on.
    """
    lines = source.removesuffix("\n").split("\n")  # as ast counts them: \f ends no line
    functions = _functions(source)
    kept, start = [], 0  # `start`: the number of the line that opened the region we are in
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
            if not any(_is_code(body) for body in lines[start : number - 1]):
                raise SolutionRegionError(f"{name}, line {start}: the solution region is empty")
            if any(
                _indent(body) < _indent(line) for body in lines[start - 1 : number] if body.strip()
            ) or _indent(lines[start - 1]) != _indent(line):
                raise SolutionRegionError(
                    f"{name}, line {start}: the solution region must begin, "
                    "run and end at one level of indentation"
                )
            if not _indent(line):  # of the module: only the answer needs it
                start = 0
                while kept and not kept[-1].strip():
                    kept.pop()
                continue
            qualified, kind, doc = _function_around(functions, start, name)
            if start < doc < number:
                raise SolutionRegionError(
                    f"{name}, line {doc}: the docstring of {qualified} is "
                    "inside the solution region"
                )
            if qualified in keep:
                kept += lines[start : number - 1]
            else:
                indent = line[: len(line) - len(line.lstrip())]
                kept.append(f'{indent}raise NotImplementedError("{qualified}: write this {kind}")')
            start = 0
        elif re.search(r"###\s*(BEGIN|END)\b|#\s*(BEGIN|END)\s+SOLUTION", line, re.IGNORECASE):
            raise SolutionRegionError(f"{name}, line {number}: unknown marker {line.strip()}")
        elif not start:
            kept.append(line)
    if start:
        raise SolutionRegionError(f"{name}, line {start}: the solution region never ends")
    return "\n".join(kept) + "\n"


def solutions(source: str) -> list[str]:
    """The text of every solution region, for the search for leaks."""
    return re.findall(rf"{BEGIN}[ \t]*\n(.*?)\n[ \t]*{END}", source, re.DOTALL)


def written_functions(source: str) -> set[str]:
    """The qualified names of the functions that have a solution region: students write them."""
    lines = source.removesuffix("\n").split("\n")
    functions = _functions(source)
    return {
        _function_around(functions, number, "the answer")[0]
        for number, line in enumerate(lines, 1)
        if line.strip() == BEGIN and _indent(line)
    }


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _function_around(
    functions: list[tuple[int, int, str, str, int]], line: int, name: str
) -> tuple[str, str, int]:
    inside = [f for f in functions if f[0] <= line <= f[1]]
    if not inside:
        raise SolutionRegionError(
            f"{name}, line {line}: the solution region is not inside a function"
        )
    return inside[-1][2:]


def _functions(source: str) -> list[tuple[int, int, str, str, int]]:
    """First and last line, qualified name, kind and docstring's line (or 0) of every function."""
    found = []

    def visit(node: ast.AST, path: tuple[str, ...], in_class: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = (*path, child.name)
                is_class = isinstance(child, ast.ClassDef)
                if not is_class:
                    found.append(
                        (
                            child.lineno,
                            child.end_lineno,
                            ".".join(inner),
                            "method" if in_class else "function",
                            child.body[0].lineno if ast.get_docstring(child) else 0,
                        )
                    )
                visit(child, inner, is_class)
            else:  # an `if`, a `with`: what it holds belongs to the same function or class
                visit(child, path, in_class)

    visit(parsed(source), (), False)
    return found
