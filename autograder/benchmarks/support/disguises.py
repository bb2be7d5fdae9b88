"""Disguises a copied module, as a student might before submitting it: the code still does the same.

Each disguise is a transformation of the syntax tree. All of them also drop the comments and change
the formatting.
"""

import ast
import builtins
from collections.abc import Callable, Collection
from itertools import groupby

from common.syntax import parse_python

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WORDS = [
    "pos", "res", "cur", "node", "val", "data", "item", "tmp", "info", "aux", "out", "chosen", "side",
    "seq", "start", "low_end",
]  # fmt: skip
LINES = ["checked = True", "notes = []", "assert isinstance(1, int)", "str(None)"]
DOCSTRING = "Written on my own."
DEAD = """
if len("abc") > 3:
    attempts = [n * n for n in range(7)]
    attempts.sort()
"""
UNUSED = """
def sanity(numbers, unused=None):
    total = 0
    for number in numbers:
        if number is not None and number != unused:
            total += number
    return total / (len(numbers) or 1)
"""


def disguise(text: str, how: str, fixed: Collection[str] = ()) -> str:
    """Return a module in one of the DISGUISES. The functions and methods in `fixed` keep their
    names.
    """
    tree = parse_python(text)
    DISGUISES[how](tree, fixed)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def rename(tree: ast.Module, fixed: Collection[str]) -> None:
    """Rename variables, parameters and functions."""
    kept = {*fixed, "self", *dir(builtins), *_imported(tree), *_keywords(tree)}
    functions = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS) and not node.name.startswith("__")
    } - kept
    names = sorted(functions | (_variables(tree) - kept))
    new = {
        name: f"{WORDS[number % len(WORDS)]}{number // len(WORDS) or ''}"
        for number, name in enumerate(names)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                node.id = new.get(node.id, node.id)
            case ast.arg():
                node.arg = new.get(node.arg, node.arg)
            case ast.Attribute(attr=name) if name in functions:
                node.attr = new[name]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                node.name = new.get(name, name)
            case ast.Global() | ast.Nonlocal():
                node.names = [new.get(name, name) for name in node.names]


def _variables(tree: ast.Module) -> set[str]:
    stored = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _imported(tree: ast.Module) -> set[str]:
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _keywords(tree: ast.Module) -> set[str]:
    """The names of keyword arguments and of attributes of classes, which cannot change alone."""
    keywords = {n.arg for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg}
    return keywords | {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        )
        if isinstance(target, ast.Name)
    }


def reorder(tree: ast.Module, fixed: Collection[str]) -> None:
    """Reverse the order of the methods of each class, and of functions that follow each other."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if _is_movable(each)]
            node.body = [methods.pop() if _is_movable(each) else each for each in node.body]
    runs = (list(run) for _, run in groupby(tree.body, _is_movable))
    tree.body = [each for run in runs for each in (reversed(run) if _is_movable(run[0]) else run)]


def _is_movable(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) and not node.decorator_list


def add_lines(tree: ast.Module, fixed: Collection[str]) -> None:
    """Add one line in the middle of each function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    for number, node in enumerate(functions):
        line = _statement(LINES[number % len(LINES)])
        node.body.insert((len(node.body) + 1) // 2, line)


def change_loops(tree: ast.Module, fixed: Collection[str]) -> None:
    """Write `for` loops without `else` as `while` loops."""
    number = 0
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            changed: list[ast.stmt] = []
            for statement in block:
                if isinstance(statement, ast.For) and not statement.orelse:
                    number += 1
                    changed += _while(statement, number)
                else:
                    changed.append(statement)
            setattr(node, name, changed)


def _while(loop: ast.For, number: int) -> list[ast.stmt]:
    items, index = f"items{number}", f"index{number}"
    first = _statement(f"{items} = list(None)")
    first.value.args = [loop.iter]  # type: ignore[attr-defined]
    second = _statement(f"{index} = 0")
    head = f"while {index} < len({items}):"
    whole = _statement(f"{head}\n    x = {items}[{index}]\n    {index} += 1")
    whole.body[0].targets = [loop.target]  # type: ignore[attr-defined]
    whole.body += loop.body  # type: ignore[attr-defined]
    return [first, second, whole]


def change_docstrings(tree: ast.Module, fixed: Collection[str]) -> None:
    """Replace all docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            if ast.get_docstring(node) is not None:
                node.body.pop(0)
            node.body.insert(0, ast.Expr(ast.Constant(DOCSTRING)))


def add_dead_code(tree: ast.Module, fixed: Collection[str]) -> None:
    """Add an unused function, and code that never runs to each longer function."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and len(node.body) > 2:
            node.body.insert(1, _statement(DEAD))
    tree.body += parse_python(UNUSED).body


def all_at_once(tree: ast.Module, fixed: Collection[str]) -> None:
    """Apply all other disguises."""
    for apply in (change_loops, add_lines, add_dead_code, change_docstrings, reorder, rename):
        apply(tree, fixed)


def _statement(text: str) -> ast.stmt:
    return parse_python(text).body[0]


DISGUISES: dict[str, Callable[[ast.Module, Collection[str]], None]] = {
    "other names": rename,
    "functions reordered": reorder,
    "a line added to each function": add_lines,
    "other loops": change_loops,
    "other docstrings, no comments": change_docstrings,
    "dead code": add_dead_code,
    "all of these": all_at_once,
}


def reword(text: str, every: int) -> str:
    """Return a written answer with one of `every` words replaced, and its sentences reversed.

    >>> reword("One two three. Four five six.", 3)
    'Four five indeed. One two indeed.'
    """
    sentences = [sentence for sentence in text.replace("\n", " ").split(". ") if sentence]
    words = [
        [
            "indeed" if number % every == every - 1 else word.strip(".")
            for number, word in enumerate(sentence.split())
        ]
        for sentence in reversed(sentences)
    ]
    return " ".join(f"{' '.join(each)}." for each in words)
