"""Represents a module as tokens that a disguise leaves unchanged.

Names that an author chooses, comments, docstrings, annotations, imports and the formatting are not
part of these tokens. Loops of all kinds have the same token, operands and keyword arguments have one
order, `x += 1` is `x = x + 1`, and a condition is written without `not`.
"""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import common
import sequence
import tictactoe
from common.syntax import parse_python

MAX_REPAIRS = 20  # lines that do not parse and are left out, in one module
TYPES = {"annotation", "returns", "type_comment", "type_params", "ctx", "kind", "lineno"}
FLIPPED = {"Gt": "Lt", "GtE": "LtE"}
SAME = {"Is": "Eq", "IsNot": "NotEq"}
OPPOSITE = {
    "Eq": "NotEq", "NotEq": "Eq", "Lt": "GtE", "GtE": "Lt", "Gt": "LtE", "LtE": "Gt", "In": "NotIn",
    "NotIn": "In", "Is": "IsNot", "IsNot": "Is",
}  # fmt: skip
SORTED_OPERANDS = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
ATTRIBUTE = re.compile(r"(?:\.|\bdef )([A-Za-z_]\w*)")
BUILTIN_TYPES = (str, bytes, int, float, list, tuple, dict, set, frozenset)


class Token(NamedTuple):
    """A token of the normal form, and the line of the module from which it was made."""

    text: str
    line: int


@dataclass(frozen=True)
class Code:
    """The normal form of a module: one list of tokens for each function, and one for the rest."""

    units: tuple[tuple[Token, ...], ...]
    errors: tuple[tuple[int, str], ...] = ()  # the lines that do not parse, with their text


def normal_form(text: str, vocabulary: Collection[str] = ()) -> Code:
    """Return the normal form of a module. Lines that do not parse are left out.

    Names of attributes and keyword arguments in `vocabulary`, which an author cannot choose, are
    kept.
    """
    tree, errors = _parse(text)
    if tree is None:
        return Code((), errors)
    try:
        return Code(tuple(filter(None, _Units(tree, vocabulary).units())), errors)
    except RecursionError:  # an expression with thousands of levels
        return Code((), errors)


@cache
def given_names() -> frozenset[str]:
    """Return the names of functions and attributes in the packages that students are given, and of
    methods of built-in types.
    """
    packages = (Path(str(package.__file__)).parent for package in (common, sequence, tictactoe))
    return frozenset(name for kind in BUILTIN_TYPES for name in dir(kind)).union(
        *(
            attribute_names(path.read_text("utf-8"))
            for package in packages
            for path in sorted(package.rglob("*.py"))
            if "tests" not in path.parts
        )
    )


def attribute_names(text: str) -> set[str]:
    """Return the names in a text that follow a dot or `def`."""
    return set(ATTRIBUTE.findall(text))


def _parse(text: str) -> tuple[ast.Module | None, tuple[tuple[int, str], ...]]:
    """Return the tree of a module without the lines that do not parse, and these lines."""
    lines = text.splitlines()
    errors: list[tuple[int, str]] = []
    for _ in range(MAX_REPAIRS):
        try:
            return parse_python("\n".join(lines)), tuple(errors)
        except SyntaxError as error:
            number = min(max(error.lineno or 1, 1), len(lines) or 1)
            while number > 1 and not lines[number - 1].strip():
                number -= 1  # a block without statements is reported at the next line
            if not lines or not (bad := lines[number - 1].strip()):
                break
            errors.append((number, bad))
            indent = lines[number - 1].partition(bad)[0]
            placeholder = "def broken():" if bad.endswith(":") else "pass"
            lines[number - 1] = f"{indent}{placeholder}" if bad != placeholder else ""
        except (ValueError, RecursionError, MemoryError):
            break
    return None, tuple(errors)


class _Units:
    """Makes the tokens of a module."""

    def __init__(self, tree: ast.Module, vocabulary: Collection[str]) -> None:
        self._tree, self._vocabulary = tree, vocabulary
        self._kinds = dict(_kinds(tree))
        self._read = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }

    def units(self) -> Iterator[tuple[Token, ...]]:
        """Yield the tokens of each function and method, and of the statements outside them."""
        yield from self._block(self._tree.body)

    def _block(self, body: list[ast.stmt]) -> Iterator[tuple[Token, ...]]:
        rest: list[Token] = []
        for statement in body:
            if isinstance(statement, FUNCTIONS):
                yield tuple(self._node(statement))
            elif isinstance(statement, ast.ClassDef):
                yield from self._block(statement.body)
            else:
                rest += self._node(statement)
        yield tuple(rest)

    def _nodes(self, nodes: Iterable[ast.AST | None]) -> list[Token]:
        return [token for node in nodes if node is not None for token in self._node(node)]

    def _node(self, node: ast.AST) -> list[Token]:
        name = f"_{type(node).__name__.lower()}"
        return getattr(self, name, self._other)(node)

    def _sorted(self, parts: Iterable[list[Token]]) -> list[Token]:
        ordered = sorted(parts, key=lambda tokens: [token.text for token in tokens])
        return [token for part in ordered for token in part]

    def _other(self, node: ast.AST) -> list[Token]:
        """The type of a node, then its children."""
        line = getattr(node, "lineno", 0)
        tokens = [] if isinstance(node, ast.arguments) else [Token(type(node).__name__, line)]
        for name, value in ast.iter_fields(node):
            if name not in TYPES:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST) and not isinstance(child, ast.arg):
                        tokens += self._node(child)
        return tokens

    def _nothing(self, node: ast.AST) -> list[Token]:
        return []

    _import = _importfrom = _pass = _global = _nonlocal = _nothing

    def _expr(self, node: ast.Expr) -> list[Token]:
        return [] if isinstance(node.value, ast.Constant) else self._node(node.value)

    def _name(self, node: ast.Name) -> list[Token]:
        kept = node.id if hasattr(builtins, node.id) else "name"
        return [Token(self._kinds.get(node.id, kept), node.lineno)]

    def _attribute(self, node: ast.Attribute) -> list[Token]:
        name = f".{node.attr}" if node.attr in self._vocabulary else ".name"
        return [Token(name, node.end_lineno or node.lineno), *self._node(node.value)]

    def _constant(self, node: ast.Constant) -> list[Token]:
        text = "text" if isinstance(node.value, str | bytes) else repr(node.value)[:50]
        return [Token(text, node.lineno)]

    def _joinedstr(self, node: ast.JoinedStr) -> list[Token]:
        return [Token("text", node.lineno)]

    def _functiondef(self, node: Any) -> list[Token]:
        head = Token("def", node.lineno)
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        return [*self._nodes(node.decorator_list), head, *self._nodes([*defaults, *node.body])]

    _asyncfunctiondef = _functiondef

    def _lambda(self, node: ast.Lambda) -> list[Token]:
        return [Token("def", node.lineno), Token("Return", node.lineno), *self._node(node.body)]

    def _return(self, node: ast.Return) -> list[Token]:
        if isinstance(value := node.value, ast.IfExp):
            branches = (
                [ast.Return(branch, lineno=branch.lineno)] for branch in (value.body, value.orelse)
            )
            return self._choice(value.test, *branches)
        return [Token("Return", node.lineno), *self._nodes([value])]

    def _if(self, node: ast.If) -> list[Token]:
        return self._choice(node.test, node.body, node.orelse)

    def _ifexp(self, node: ast.IfExp) -> list[Token]:
        return self._choice(node.test, [node.body], [node.orelse])

    def _choice(
        self, test: ast.expr, body: Iterable[ast.AST], orelse: Iterable[ast.AST]
    ) -> list[Token]:
        positive = _positive(test)
        body, orelse = list(body), list(orelse)
        if not any(isinstance(part, ast.Name | ast.Call) for part in ast.walk(test)):
            return self._nodes(orelse)  # probably never true
        if orelse and positive is not None:
            test, body, orelse = positive, orelse, body
        tokens = [Token("If", test.lineno), *self._node(test), *self._nodes(body)]
        return tokens + ([Token("Else", tokens[-1].line), *self._nodes(orelse)] if orelse else [])

    def _for(self, node: Any) -> list[Token]:
        line = getattr(node, "lineno", node.iter.lineno)
        tokens = [Token("Loop", line), *self._node(node.iter), *self._node(node.target)]
        if isinstance(node, ast.comprehension):
            for test in node.ifs:
                tokens += [Token("If", test.lineno), *self._node(test)]
            return tokens
        return tokens + self._nodes([*node.body, *node.orelse])

    _asyncfor = _comprehension = _for

    def _while(self, node: ast.While) -> list[Token]:
        parts = [node.test, *node.body, *node.orelse]
        return [Token("Loop", node.lineno), *self._nodes(parts)]

    def _listcomp(self, node: Any) -> list[Token]:
        return self._nodes([*node.generators, node.elt])

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> list[Token]:
        return self._nodes([*node.generators, node.key, node.value])

    def _assign(self, node: ast.Assign) -> list[Token]:
        target, value = node.targets[0], node.value
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            pairs = zip(target.elts, value.elts, strict=True)
            return [token for one, other in pairs for token in self._assignment([one], other)]
        return self._assignment(node.targets, value)

    def _assignment(self, targets: list[ast.expr], value: ast.expr | None) -> list[Token]:
        unread = all(isinstance(t, ast.Name) and t.id not in self._read for t in targets)
        if value is None or (unread and isinstance(value, ast.Constant)):
            return []  # without effect
        return [Token("Set", targets[0].lineno), *self._nodes(targets), *self._node(value)]

    def _annassign(self, node: ast.AnnAssign) -> list[Token]:
        return self._assignment([node.target], node.value)

    def _namedexpr(self, node: ast.NamedExpr) -> list[Token]:
        return self._assignment([node.target], node.value)

    def _augassign(self, node: ast.AugAssign) -> list[Token]:
        value = ast.BinOp(node.target, node.op, node.value, lineno=node.lineno)
        return self._assignment([node.target], value)

    def _binop(self, node: ast.BinOp) -> list[Token]:
        parts = [self._node(node.left), self._node(node.right)]
        ordered = (
            self._sorted(parts)
            if isinstance(node.op, SORTED_OPERANDS)
            else [token for part in parts for token in part]
        )
        return [Token(type(node.op).__name__, node.lineno), *ordered]

    def _boolop(self, node: ast.BoolOp) -> list[Token]:
        operands = self._sorted(map(self._node, node.values))
        return [Token(type(node.op).__name__, node.lineno), *operands]

    def _unaryop(self, node: ast.UnaryOp) -> list[Token]:
        operand = node.operand
        if (
            isinstance(node.op, ast.Not)
            and isinstance(operand, ast.Compare)
            and len(operand.ops) == 1
        ):
            opposite = OPPOSITE[type(operand.ops[0]).__name__]
            return self._comparison(operand, opposite)
        return self._other(node)

    def _compare(self, node: ast.Compare) -> list[Token]:
        return (
            self._comparison(node, type(node.ops[0]).__name__)
            if len(node.ops) == 1
            else self._other(node)
        )

    def _comparison(self, node: ast.Compare, operator: str) -> list[Token]:
        operator = SAME.get(operator, operator)
        parts = [self._node(node.left), self._node(node.comparators[0])]
        if operator in FLIPPED:
            operator, parts = FLIPPED[operator], parts[::-1]
        ordered = (
            self._sorted(parts)
            if operator in ("Eq", "NotEq")
            else [token for part in parts for token in part]
        )
        return [Token(operator, node.lineno), *ordered]

    def _call(self, node: ast.Call) -> list[Token]:
        keywords = self._sorted(map(self._node, node.keywords))
        return [Token("Call", node.lineno), *self._nodes([node.func, *node.args]), *keywords]

    def _keyword(self, node: ast.keyword) -> list[Token]:
        name = node.arg if node.arg in self._vocabulary else "name"
        return [Token(f"{name}=", node.value.lineno), *self._node(node.value)]


def _positive(test: ast.expr) -> ast.expr | None:
    """Return the condition that `test` negates, if it is written as a negation."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        name = type(test.ops[0]).__name__
        if name in ("NotEq", "NotIn", "IsNot"):
            opposite = getattr(ast, OPPOSITE[name])()
            return ast.Compare(test.left, [opposite], test.comparators, lineno=test.lineno)
    return None


def _kinds(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a module binds with their tokens: the own name of an imported object,
    and otherwise only the kind.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((a.asname or a.name.partition(".")[0], a.name) for a in names)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, "function"
            case ast.ClassDef(name=name):
                yield name, "class"
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, "name"
