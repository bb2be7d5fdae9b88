"""Reports that a module needs a newer Python than the one that runs or grades it.

A version is reported only on evidence: newer syntax, or an error that a missing feature explains.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from common.messages import english
from common.syntax import parse_python, text_of
from course.checks.replies import Replies
from course.checks.running.newer_syntax import Need, Version, newer_forms

TABLE = Path(__file__).with_suffix(".toml")
GRADING = Path(__file__).parents[2] / "grading.json"  # {"python": "3.11"}, written by the release
RUNNING: Version = sys.version_info[:2]
CONCRETE = {
    "PosixPath": "Path",
    "WindowsPath": "Path",
    "PurePosixPath": "PurePath",
    "PureWindowsPath": "PurePath",
}
MAX_TEXT = 500_000  # characters of a module that are analysed
GUARDS = {
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "Exception",
    "BaseException",
    "NameError",
    "TypeError",
}
IMPORT = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
NO_MODULE = re.compile(r"No module named '([\w.]+)'")
NO_NAME = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
NO_METHOD = re.compile(r"(?:type object )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
NO_BUILTIN = re.compile(r"name '(\w+)' is not defined")
NO_ARGUMENT = re.compile(
    r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'"
    r"|'(\w+)' is an invalid keyword argument for ([\w.]+)\(\)"
)


@cache
def _additions() -> dict[str, dict[str, Version]]:
    """For the "modules", "names" and "arguments" of the library, the versions that added them."""
    additions: dict[str, dict[str, Version]] = {"modules": {}, "names": {}, "arguments": {}}
    for version, kinds in tomllib.loads(TABLE.read_text("utf-8")).items():
        major, minor = map(int, version.split("."))
        for kind, entries in kinds.items():
            additions[kind] |= dict.fromkeys(entries, (major, minor))
    return additions


def version_text(version: Version) -> str:
    """A version as text, such as "3.12"."""
    return f"{version[0]}.{version[1]}"


def explain_error(message: str, text: str, runs: str) -> str:
    """An error message, "ImportError: ...", followed by the required Python if it is newer.

    `runs` is the text before the version that runs the code: "grading uses Python", "this is
    Python".
    """
    need = needed_by_error(message, text)
    if need is None:
        return message
    return english(
        f"{message}: {need.what} needs Python {version_text(need.version)}; "
        f"{runs} {version_text(RUNNING)}"
    )


def explain_replies(replies: Replies, module: bytes, runs: str) -> Replies:
    """The replies with `explain_error` applied to each error."""
    if not replies.broken and not any(seen and "errors" in seen for seen in replies.observations):
        return replies
    explained = partial(explain_error, text=text_of(module), runs=runs)
    if replies.broken:
        return replace(replies, broken=explained(replies.broken))
    observations = tuple(
        {**seen, "errors": {name: explained(text) for name, text in seen["errors"].items()}}
        if seen and "errors" in seen
        else seen
        for seen in replies.observations
    )
    return replace(replies, observations=observations)


def needed_by_error(message: str, text: str, running: Version = RUNNING) -> Need | None:
    """The feature that causes an error, "SyntaxError: ...", if `running` does not have it."""
    text = text[:MAX_TEXT]
    kind = message.partition(":")[0]
    needs: list[Need] = []
    if kind in ("SyntaxError", "IndentationError"):
        needs = newer_forms(text)
    elif kind in ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"):
        needs = list(_needs_by_message(message, text))
    return _newest(needs, running)


def _newest(needs: list[Need], than: Version) -> Need | None:
    newer = [need for need in needs if need.version > than]
    return max(newer, key=lambda need: need.version, default=None)


def _needs_by_message(message: str, text: str) -> Iterator[Need]:
    table = _additions()

    def need(kind: str, key: str, what: str) -> Iterator[Need]:
        if key in table[kind]:
            yield Need(table[kind][key], what, 0)

    if match := IMPORT.search(message):
        yield from need("names", f"{match[2]}.{match[1]}", f"`{match[2]}.{match[1]}`")
        yield from need("modules", f"{match[2]}.{match[1]}", f"`{match[2]}.{match[1]}`")
    elif match := NO_MODULE.search(message):
        yield from need("modules", match[1], f"`{match[1]}`")
    elif match := NO_NAME.search(message):
        for kind in ("names", "modules"):
            yield from need(kind, f"{match[1]}.{match[2]}", f"`{match[1]}.{match[2]}`")
    elif match := NO_METHOD.search(message):
        owner = match[1].rpartition(".")[2]
        yield from _class_additions("names", f"{CONCRETE.get(owner, owner)}.{match[2]}", text)
    elif match := NO_BUILTIN.search(message):
        yield from need("names", f"builtins.{match[1]}", f"`{match[1]}`")
    elif match := NO_ARGUMENT.search(message):
        function, argument = (match[1], match[2]) if match[1] else (match[4], match[3])
        if not re.search(rf"\bdef {re.escape(function.rpartition('.')[2])}\b", text):
            owner, _, name = function.rpartition(".")
            function = f"{CONCRETE.get(owner, owner)}.{name}" if owner else name
            yield from _class_additions(
                "arguments", f"{function.removesuffix('.__init__')} {argument}", text
            )


def _class_additions(kind: str, end: str, text: str) -> Iterator[Need]:
    """The entry of this kind whose name ends with `end`, if the text imports its module and does
    not define a class of that name.
    """
    owner = end.split(".", maxsplit=1)[0].split(maxsplit=1)[0]
    if re.search(rf"\bclass {re.escape(owner)}\b", text):
        return
    for entry, version in _additions()[kind].items():
        module = entry.removesuffix(end).rstrip(".")
        if entry.endswith(f".{end}") and re.search(rf"\b{re.escape(module)}\b", text):
            yield Need(version, _described(entry), 0)


# ---- The Python that a module needs in grading


def grading_version(path: Path = GRADING) -> Version | None:
    """The Python that grading uses, as stored with the course; None if it is not stored."""
    try:
        major, minor = json.loads(path.read_text("utf-8"))["python"].split(".")[:2]
        return int(major), int(minor)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def warning(module: bytes, grading: Version | None, running: Version = RUNNING) -> str:
    """A warning for a module that runs here but not in grading; "" for all other modules."""
    if grading is None or running <= grading:
        return ""
    text = text_of(module)[:MAX_TEXT]
    need = _newest([*newer_forms(text), *_used_additions(text)], grading)
    if need is None:
        return ""
    where = english(f" (line {need.line})" if need.line else "")
    return english(
        f"{need.what}{where} needs Python {version_text(need.version)}; grading uses "
        f"{version_text(grading)}, where the module cannot run"
    )


def _used_additions(text: str) -> Iterator[Need]:
    """The additions to the library that a module uses without a fallback."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = list(_unguarded(tree))
    imported = _imported_names(nodes)
    additions = _additions()
    for node in nodes:
        for kind, entry in _used_entries(node, imported):
            if version := additions[kind].get(entry):
                yield Need(version, _described(entry), getattr(node, "lineno", 0))


def _described(entry: str) -> str:
    """An entry of the table as Python code: "`random.binomialvariate`", "`f(argument=...)`"."""
    name, _, argument = entry.partition(" ")
    return f"`{name}({argument}=...)`" if argument else f"`{name}`"


def _imported_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """The names that a module imports and never rebinds, and the full name of each."""
    imported: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                imported[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for name in _bound_names(nodes):
        imported.pop(name, None)
    return imported


def _bound_names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The names that assignments, loops and parameters bind."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _used_entries(node: ast.AST, imported: dict[str, str]) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from (("modules", each.name) for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield "modules", node.module
        for each in node.names:
            yield "names", f"{node.module}.{each.name}"
            yield "modules", f"{node.module}.{each.name}"
    elif isinstance(node, ast.Attribute) and (name := _dotted(node, imported)):
        yield "names", name
    elif isinstance(node, ast.Call) and (name := _dotted(node.func, imported)):
        yield from (("arguments", f"{name} {keyword.arg}") for keyword in node.keywords)


def _dotted(node: ast.AST, imported: dict[str, str]) -> str:
    """The full name of an expression, if it starts with an imported name; "" otherwise."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, imported)):
        return f"{owner}.{node.attr}"
    return ""


def _unguarded(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below this one, except code that has a fallback for older versions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.If, ast.IfExp)) and any(
            name in ast.dump(child.test) for name in ("version_info", "hasattr", "TYPE_CHECKING")
        ):
            continue
        if isinstance(child, ast.Try) and any(map(_catches, child.handlers)):
            continue
        yield child
        yield from _unguarded(child)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(each, ast.Name) and each.id in GUARDS for each in ast.walk(handler.type))
