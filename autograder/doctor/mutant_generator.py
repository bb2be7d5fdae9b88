"""Generates mutants: small changes of the reference, one at a time, anywhere in its solution.

The named mutants (`mutants.toml`) are mistakes that an instructor expects. Generated mutants apply
every operator below at every place in a solution region. Most are the usual operators of mutation
testing (DeMillo, Lipton and Sayward 1978; the names follow Mothra's). Two are typical mistakes of
students who write a search: state that is kept between searches, and the wrong player.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder.workspace.strip import BEGIN, END
from common.messages import english
from common.syntax import parse_python

COMPARISONS = {  # each comparison operator, and its replacements
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
COUNTERPARTS = {"min": "max", "max": "min", "any": "all", "all": "any", "heappop": "min"}
OTHER_PLAYER = {"x": "o", "o": "x"}
REMOVED_STATEMENTS: dict[type[ast.stmt], str] = {  # each with the mistake for students
    ast.Expr: english("a call is missing"),
    ast.Assign: english("an assignment is missing"),
    ast.AugAssign: english("an update such as `+=` is missing"),
    ast.Break: english("a `break` is missing"),
    ast.Continue: english("a `continue` is missing"),
    ast.Raise: english("an error is not raised"),
}
Change = tuple[str, str, Callable[[], None], Callable[[], None]]  # description, mistake, do, undo


@dataclass(frozen=True)
class GeneratedMutant:
    """One change of the answer, in `line`, with the `text` of the whole module.

    `name` consists of the line and the description, and is unique for an answer: "line 3: + becomes
    - (2)". `mistake` is the description for students, which quotes nothing of the answer except
    operators: "`<` is used instead of `<=`". `function` contains the change: "Minimax.value".
    """

    description: str
    mistake: str
    function: str
    line: int
    text: str
    name: str


def generate_mutants(answer: str) -> list[GeneratedMutant]:
    """Return every mutant of the answer, in the order of the lines; no text occurs twice."""
    tree = parse_python(answer)
    solution_lines = _solution_lines(answer)
    texts, mutants = {ast.unparse(tree)}, []
    names: Counter[str] = Counter()
    for node, variables, function in _nodes(tree):
        line = getattr(node, "lineno", 0)
        if line not in solution_lines:
            continue
        for description, mistake, change, undo in _changes(node, variables):
            change()
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            undo()
            if text in texts:
                continue
            texts.add(text)
            name = f"line {line}: {description}"
            names[name] += 1
            if names[name] > 1:
                name += f" ({names[name]})"
            mutants.append(GeneratedMutant(description, mistake, function, line, text, name))
    return sorted(mutants, key=lambda mutant: mutant.line)


def _solution_lines(answer: str) -> set[int]:
    lines, inside = set(), False
    for number, line in enumerate(answer.split("\n"), 1):
        inside = (inside or line.strip() == BEGIN) and line.strip() != END
        if inside:
            lines.add(number)
    return lines


def _nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, list[str], str]]:
    """Yield every node with the parameters and variables of the innermost function that contains
    it, and the name of the outermost function or method, or of the class, that contains it.
    """

    def visit(
        node: ast.AST, variables: list[str], path: list[str], in_function: bool
    ) -> Iterator[tuple[ast.AST, list[str], str]]:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not in_function:
            path = [*path, node.name]
            in_function = isinstance(node, ast.FunctionDef)
        yield node, variables, ".".join(path)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            variables = sorted({*variables, *_bound_names(node)})
        for child in ast.iter_child_nodes(node):
            yield from visit(child, variables, path, in_function)

    yield from visit(tree, [], [], False)


def _bound_names(function: ast.AST) -> set[str]:
    names = {arg.arg for arg in ast.walk(function) if isinstance(arg, ast.arg)}
    names |= {
        name.id
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    return names - {"self", "_"}


def _set_field(target: object, field: str, new: object, description: str, mistake: str) -> Change:
    old = getattr(target, field)
    return (
        description,
        mistake,
        lambda: setattr(target, field, new),
        lambda: setattr(target, field, old),
    )


def _replace_item(items: list, index: int, new: list, description: str, mistake: str) -> Change:
    old = list(items)

    def change() -> None:
        items[index : index + 1] = new

    def undo() -> None:
        items[:] = old

    return description, mistake, change, undo


def _changes(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    yield from _operator_changes(node)
    yield from _value_changes(node, variables)
    yield from _structure_changes(node)
    yield from _unary_operator_changes(node)
    yield from _statement_changes(node)
    yield from _removed_statements(node)


def _operator_changes(node: ast.AST) -> Iterator[Change]:
    """Replace a comparison, arithmetic or logical operator, or remove a condition of an `and` or
    `or`."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for new in COMPARISONS[type(operator)]:
                yield _replace_item(node.ops, index, [new()], *_becomes(operator, new()))
    elif isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other_kind in OPERATORS.get(type(node.op), ()):
            yield _set_field(node, "op", other_kind(), *_becomes(node.op, other_kind()))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _set_field(node, "op", other, *_becomes(node.op, other))
        for index, value in enumerate(node.values):
            yield _replace_item(
                node.values,
                index,
                [],
                f"{ast.unparse(value)!r} is not asked",
                english(f"one of the conditions joined by `{_name(node.op)}` is missing"),
            )


def _value_changes(node: ast.AST, variables: list[str]) -> Iterator[Change]:
    """Replace a constant, a variable or a built-in function."""
    if isinstance(node, ast.Constant):
        for new in _other_values(node.value):
            mistake = _wrong_value(node.value, new)
            yield _set_field(node, "value", new, f"{node.value!r} becomes {new!r}", mistake)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        for new in _other_names(node.id, variables):
            mistake = (
                english(f"`{new}` is used instead of `{node.id}`")
                if node.id in COUNTERPARTS
                else english("a wrong variable is used")
            )
            yield _set_field(node, "id", new, f"{node.id} becomes {new}", mistake)


def _structure_changes(node: ast.AST) -> Iterator[Change]:
    """Negate a condition, swap arguments, or remove the condition of a comprehension."""
    if isinstance(node, ast.IfExp):
        yield _set_field(
            node,
            "test",
            ast.UnaryOp(ast.Not(), node.test),
            "the condition is turned round",
            english("a condition is inverted"),
        )
    elif isinstance(node, ast.Call) and len(node.args) >= 2:
        yield _set_field(
            node,
            "args",
            [node.args[1], node.args[0], *node.args[2:]],
            f"{ast.unparse(node)!r} with its arguments swapped",
            english("the first two arguments of a call are swapped"),
        )
    elif isinstance(node, ast.comprehension):
        for index, condition in enumerate(node.ifs):
            yield _replace_item(
                node.ifs,
                index,
                [],
                f"without 'if {ast.unparse(condition)}'",
                english("items that a condition should exclude are kept"),
            )


def _becomes(right: ast.AST, wrong: ast.AST) -> tuple[str, str]:
    return (
        f"{_name(right)} becomes {_name(wrong)}",
        english(f"`{_name(wrong)}` is used instead of `{_name(right)}`"),
    )


def _wrong_value(right: Any, wrong: Any) -> str:
    if isinstance(right, bool):
        return english(f"`{wrong}` is used instead of `{right}`")
    if isinstance(right, int):
        return english(f"a number is one too {'large' if wrong > right else 'small'}")
    if isinstance(right, float):
        return english(f"a number is too {'large' if wrong > right else 'small'}")
    return english("one player is confused with the other")


def _unary_operator_changes(node: ast.AST) -> Iterator[Change]:
    """Remove a sign or a `not` that is a separate node below this one."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.UnaryOp):
            yield _set_field(node, field, value.operand, *_without(value.op))
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, ast.UnaryOp):
                yield _replace_item(value, index, [item.operand], *_without(item.op))


def _without(operator: ast.AST) -> tuple[str, str]:
    return f"without {_name(operator)}", english(f"`{_name(operator)}` is missing before a value")


def _statement_changes(node: ast.AST) -> Iterator[Change]:
    """Make a condition always or never true, reverse a loop, or share an attribute between all
    objects."""
    if isinstance(node, ast.If):
        yield _set_field(
            node,
            "test",
            ast.Constant(True),
            f"always 'if {ast.unparse(node.test)}'",
            english("the body of an `if` always runs"),
        )
        yield _set_field(
            node,
            "test",
            ast.Constant(False),
            f"never 'if {ast.unparse(node.test)}'",
            english("the body of an `if` never runs"),
        )
        if node.orelse:
            yield _set_field(
                node, "orelse", [], "without the else", english("an `else` is missing")
            )
    elif isinstance(node, ast.For):
        backwards = ast.Call(
            ast.Name("reversed", ast.Load()),
            [ast.Call(ast.Name("list", ast.Load()), [node.iter], [])],
            [],
        )
        yield _set_field(
            node,
            "iter",
            backwards,
            f"{ast.unparse(node.iter)!r} backwards",
            english("a loop runs backwards"),
        )
    elif (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and ast.unparse(node.targets[0]).startswith("self.")
    ):
        name = node.targets[0].attr
        target = ast.Attribute(_expression("type(self)"), name, ast.Store())
        shared = _expression(f"vars(type(self)).get({name!r}, {ast.unparse(node.value)})")
        old = node.targets, node.value

        def change() -> None:
            node.targets, node.value = [target], shared

        def undo() -> None:
            node.targets, node.value = old

        yield (
            f"self.{name} is shared by all",
            english("an attribute is shared by all objects of the class"),
            change,
            undo,
        )


def _expression(text: str) -> ast.expr:
    (statement,) = parse_python(text).body
    if not isinstance(statement, ast.Expr):
        raise ValueError(f"not an expression: {text}")
    return statement.value


def _removed_statements(node: ast.AST) -> Iterator[Change]:
    for field in ("body", "orelse"):
        block: list[ast.stmt] | ast.expr | None = getattr(node, field, None)
        if not isinstance(block, list):  # it belongs to a lambda or a conditional expression
            continue
        for index, statement in enumerate(block):
            if type(statement) in REMOVED_STATEMENTS and not _is_docstring(statement):
                yield _replace_item(
                    block,
                    index,
                    [ast.Pass()],
                    f"without {ast.unparse(statement)!r}",
                    REMOVED_STATEMENTS[type(statement)],
                )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _other_values(value: object) -> list:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 2, value / 2] if value else [1.0]
    return [OTHER_PLAYER[value]] if value in OTHER_PLAYER else []


def _other_names(name: str, variables: list[str]) -> list[str]:
    """Return the counterpart of a built-in function, or the neighbours of a variable in the
    function.
    """
    if name in COUNTERPARTS:
        return [COUNTERPARTS[name]]
    if name not in variables or len(variables) < 2:
        return []
    index = variables.index(name)
    return list(dict.fromkeys(variables[(index + step) % len(variables)] for step in (1, -1)))


def _name(operator: ast.AST) -> str:
    """Return Python's symbol for an operator."""
    one, two = ast.Constant(1), ast.Constant(2)
    if isinstance(operator, ast.cmpop):
        text = ast.unparse(ast.Compare(one, [operator], [two]))
    elif isinstance(operator, ast.operator):
        text = ast.unparse(ast.BinOp(one, operator, two))
    elif isinstance(operator, ast.boolop):
        text = ast.unparse(ast.BoolOp(operator, [one, two]))
    else:
        return {"USub": "-", "Not": "not", "UAdd": "+", "Invert": "~"}[type(operator).__name__]
    return text[1:-1].strip()
