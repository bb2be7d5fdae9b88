"""Mutants by machine: small changes of the reference, one at a time, anywhere in its solution.

The hand-written mutants (`autograder/mutants/`) are slips that somebody thought of. These are the
rest: every operator below is applied at every place inside a solution region. The operators are
the usual ones of mutation testing (DeMillo, Lipton and Sayward 1978; the names follow Mothra's),
and two for what students of search get wrong: memory that outlives its question, and the other
player.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from autograder.workspace.strip import BEGIN, END
from course.probes.syntax import parsed

COMPARED = {  # each comparison, and what it is taken for
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
REPLACED = {
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
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "heappop": "min"}
OTHER_PLAYER = {"x": "o", "o": "x"}
DROPPED = {  # statements that are left out, and how students are told so
    ast.Expr: "a call is missing",
    ast.Assign: "an assignment is missing",
    ast.AugAssign: "something is not added up",
    ast.Break: "a `break` is missing",
    ast.Continue: "a `continue` is missing",
    ast.Raise: "an error is not raised",
}
Change = tuple[str, str, Callable[[], None], Callable[[], None]]  # what, slip, do it, undo it


@dataclass(frozen=True)
class MachineMutant:
    """One change of the answer: `what` in a few words, `line` in the answer, the whole `text`.

    `name` says both, and tells it from all others of the same answer: "line 3: + becomes - (2)".
    `slip` says it to students, without a word of the answer but an operator: "`<` where `<=`
    belongs". `function` is where it is: "Minimax.value".
    """

    what: str
    slip: str
    function: str
    line: int
    text: str
    name: str


def machine_mutants(answer: str) -> list[MachineMutant]:
    """Every mutant of the answer, in the order of its lines; each text once."""
    tree = parsed(answer)
    inside = _solution_lines(answer)
    seen, found, alike = {ast.unparse(tree)}, [], Counter()
    for node, names, function in _nodes(tree):
        if getattr(node, "lineno", 0) not in inside:
            continue
        for what, slip, change, undo in _changes(node, names):
            change()
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            undo()
            if text not in seen:
                seen.add(text)
                name = f"line {node.lineno}: {what}"
                alike[name] += 1
                found.append(
                    MachineMutant(
                        what,
                        slip,
                        function,
                        node.lineno,
                        text,
                        name + (f" ({alike[name]})" if alike[name] > 1 else ""),
                    )
                )
    return sorted(found, key=lambda mutant: mutant.line)


def _solution_lines(answer: str) -> set[int]:
    lines, inside = set(), False
    for number, line in enumerate(answer.split("\n"), 1):
        inside = (inside or line.strip() == BEGIN) and line.strip() != END
        if inside:
            lines.add(number)
    return lines


def _nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, list[str], str]]:
    """Every node with the names of the innermost function's parameters and variables, and the
    outermost function or method that it is in, or else the class."""

    def visit(
        node: ast.AST, names: list[str], place: list[str], in_function: bool
    ) -> Iterator[tuple[ast.AST, list[str], str]]:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not in_function:
            place = [*place, node.name]
            in_function = isinstance(node, ast.FunctionDef)
        yield node, names, ".".join(place)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            names = sorted({*names, *_bound(node)})
        for child in ast.iter_child_nodes(node):
            yield from visit(child, names, place, in_function)

    yield from visit(tree, [], [], False)


def _bound(function: ast.AST) -> set[str]:
    found = {arg.arg for arg in ast.walk(function) if isinstance(arg, ast.arg)}
    found |= {
        name.id
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    return found - {"self", "_"}


def _set(target: object, field: str, new: object, what: str, slip: str) -> Change:
    old = getattr(target, field)
    return what, slip, lambda: setattr(target, field, new), lambda: setattr(target, field, old)


def _put(items: list, index: int, new: list, what: str, slip: str) -> Change:
    old = list(items)

    def change() -> None:
        items[index : index + 1] = new

    def undo() -> None:
        items[:] = old

    return what, slip, change, undo


def _changes(node: ast.AST, names: list[str]) -> Iterator[Change]:
    yield from _of_expression(node, names)
    yield from _of_signs(node)
    yield from _of_statement(node)
    yield from _of_blocks(node)


def _of_expression(node: ast.AST, names: list[str]) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for new in COMPARED[type(operator)]:
                yield _put(node.ops, index, [new()], *_becomes(operator, new()))
    elif isinstance(node, (ast.BinOp, ast.AugAssign)):
        for new in REPLACED.get(type(node.op), ()):
            yield _set(node, "op", new(), *_becomes(node.op, new()))
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _set(node, "op", other, *_becomes(node.op, other))
        for index, value in enumerate(node.values):
            yield _put(
                node.values,
                index,
                [],
                f"{ast.unparse(value)!r} is not asked",
                f"one of the conditions that `{_name(node.op)}` joins is missing",
            )
    elif isinstance(node, ast.IfExp):
        yield _set(
            node,
            "test",
            ast.UnaryOp(ast.Not(), node.test),
            "the condition is turned round",
            "a condition is the wrong way round",
        )
    elif isinstance(node, ast.Constant):
        yield from (
            _set(
                node, "value", new, f"{node.value!r} becomes {new!r}", _wrong_value(node.value, new)
            )
            for new in _other_values(node.value)
        )
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from (
            _set(
                node,
                "id",
                new,
                f"{node.id} becomes {new}",
                f"`{new}` stands where `{node.id}` belongs"
                if node.id in TWINS
                else "another variable stands in the place of the right one",
            )
            for new in _other_names(node.id, names)
        )
    elif isinstance(node, ast.Call) and len(node.args) >= 2:
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield _set(
            node,
            "args",
            swapped,
            f"{ast.unparse(node)!r} with its arguments swapped",
            "the first two arguments of a call are swapped",
        )
    elif isinstance(node, ast.comprehension):
        for index, condition in enumerate(node.ifs):
            yield _put(
                node.ifs,
                index,
                [],
                f"without 'if {ast.unparse(condition)}'",
                "items that a condition leaves out are kept",
            )


def _becomes(right: ast.AST, wrong: ast.AST) -> tuple[str, str]:
    return (
        f"{_name(right)} becomes {_name(wrong)}",
        f"`{_name(wrong)}` stands where `{_name(right)}` belongs",
    )


def _wrong_value(right: object, wrong: object) -> str:
    if isinstance(right, bool):
        return f"`{wrong}` stands where `{right}` belongs"
    if isinstance(right, int):
        return f"a number is one too {'large' if wrong > right else 'small'}"
    if isinstance(right, float):
        return f"a number is too {'large' if wrong > right else 'small'}"
    return "one player is taken for the other"


def _of_signs(node: ast.AST) -> Iterator[Change]:
    """A sign or a `not` is a node of its own, which the one around it drops."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.UnaryOp):
            yield _set(node, field, value.operand, *_without(value.op))
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, ast.UnaryOp):
                yield _put(value, index, [item.operand], *_without(item.op))


def _without(operator: ast.AST) -> tuple[str, str]:
    return f"without {_name(operator)}", f"`{_name(operator)}` is missing before a value"


def _of_statement(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If):
        yield _set(
            node,
            "test",
            ast.Constant(True),
            f"always 'if {ast.unparse(node.test)}'",
            "what belongs under an `if` is always done",
        )
        yield _set(
            node,
            "test",
            ast.Constant(False),
            f"never 'if {ast.unparse(node.test)}'",
            "what belongs under an `if` is never done",
        )
        if node.orelse:
            yield _set(node, "orelse", [], "without the else", "an `else` is missing")
    elif isinstance(node, ast.For):
        backwards = ast.Call(
            ast.Name("reversed", ast.Load()),
            [ast.Call(ast.Name("list", ast.Load()), [node.iter], [])],
            [],
        )
        yield _set(
            node,
            "iter",
            backwards,
            f"{ast.unparse(node.iter)!r} backwards",
            "a loop runs backwards",
        )
    elif (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and ast.unparse(node.targets[0]).startswith("self.")
    ):
        name = node.targets[0].attr
        target, shared = (
            parsed(text).body[0].value
            for text in (
                f"type(self).{name}",
                f"vars(type(self)).get({name!r}, {ast.unparse(node.value)})",
            )
        )
        target.ctx = ast.Store()
        old = node.targets, node.value

        def change() -> None:
            node.targets, node.value = [target], shared

        def undo() -> None:
            node.targets, node.value = old

        yield (
            f"self.{name} is shared by all",
            "all objects of the class share what each needs for itself",
            change,
            undo,
        )


def _of_blocks(node: ast.AST) -> Iterator[Change]:
    """Statements left out."""
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        for index, statement in enumerate(block if isinstance(block, list) else ()):
            if isinstance(statement, tuple(DROPPED)) and not _is_docstring(statement):
                yield _put(
                    block,
                    index,
                    [ast.Pass()],
                    f"without {ast.unparse(statement)!r}",
                    DROPPED[type(statement)],
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


def _other_names(name: str, names: list[str]) -> list[str]:
    """The twin of a built-in function; of a variable its two neighbours among the function's."""
    if name in TWINS:
        return [TWINS[name]]
    if name not in names or len(names) < 2:
        return []
    place = names.index(name)
    return list(dict.fromkeys(names[(place + step) % len(names)] for step in (1, -1)))


def _name(operator: ast.AST) -> str:
    """How Python writes an operator."""
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
