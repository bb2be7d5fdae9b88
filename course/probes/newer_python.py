"""States which Python a module needs, if it is newer than the one that runs or grades it.

Something is stated only on evidence: an error that a missing feature explains, or newer syntax.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from course.probes.newer_syntax import Need, Version, newer_forms
from course.probes.replies import Replies
from course.probes.syntax import parsed, text_of

TABLE = Path(__file__).with_suffix(".toml")
GRADING = Path(__file__).parents[1] / "grading.json"  # {"python": "3.11"}, written by the release
RUNNING: Version = sys.version_info[:2]
CONCRETE = {
    "PosixPath": "Path",
    "WindowsPath": "Path",
    "PurePosixPath": "PurePath",
    "PureWindowsPath": "PurePath",
}
MAX_TEXT = 500_000  # characters of a module that are looked at
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
    """The version that added each of the "modules", "names" and "arguments" of the library."""
    found: dict[str, dict[str, Version]] = {"modules": {}, "names": {}, "arguments": {}}
    for version, kinds in tomllib.loads(TABLE.read_text("utf-8")).items():
        major, minor = map(int, version.split("."))
        for kind, entries in kinds.items():
            found[kind] |= dict.fromkeys(entries, (major, minor))
    return found


def written(version: Version) -> str:
    """A version as people write it."""
    return f"{version[0]}.{version[1]}"


def explain_error(message: str, text: str, runs: str) -> str:
    """The message of an error, "ImportError: ...", with the Python that is needed if it is newer.

    `runs` is what runs the code, before a version: "grading uses Python", "this is Python".
    """
    need = needed_by_error(message, text)
    if need is None:
        return message
    return f"{message}: {need.what} needs Python {written(need.version)}; {runs} {written(RUNNING)}"


def explain_replies(replies: Replies, module: bytes, runs: str) -> Replies:
    """Replies whose errors state which Python the module needs, as `explain_error`."""
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
    """What an error's message, "SyntaxError: ...", shows to need a newer Python than `running`."""
    text = text[:MAX_TEXT]
    kind = message.partition(":")[0]
    needs: list[Need] = []
    if kind in ("SyntaxError", "IndentationError"):
        needs = newer_forms(text)
    elif kind in ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"):
        needs = list(_by_message(message, text))
    return _newest(needs, running)


def _newest(needs: list[Need], than: Version) -> Need | None:
    newer = [need for need in needs if need.version > than]
    return max(newer, key=lambda need: need.version, default=None)


def _by_message(message: str, text: str) -> Iterator[Need]:
    table = _additions()

    def need(kind: str, key: str, what: str) -> Iterator[Need]:
        if key in table[kind]:
            yield Need(table[kind][key], what, 0)

    if found := IMPORT.search(message):
        yield from need("names", f"{found[2]}.{found[1]}", f"`{found[2]}.{found[1]}`")
        yield from need("modules", f"{found[2]}.{found[1]}", f"`{found[2]}.{found[1]}`")
    elif found := NO_MODULE.search(message):
        yield from need("modules", found[1], f"`{found[1]}`")
    elif found := NO_NAME.search(message):
        for kind in ("names", "modules"):
            yield from need(kind, f"{found[1]}.{found[2]}", f"`{found[1]}.{found[2]}`")
    elif found := NO_METHOD.search(message):
        owner = found[1].rpartition(".")[2]
        yield from _of_class("names", f"{CONCRETE.get(owner, owner)}.{found[2]}", text)
    elif found := NO_BUILTIN.search(message):
        yield from need("names", f"builtins.{found[1]}", f"`{found[1]}`")
    elif found := NO_ARGUMENT.search(message):
        function, argument = (found[1], found[2]) if found[1] else (found[4], found[3])
        if not re.search(rf"\bdef {re.escape(function.rpartition('.')[2])}\b", text):
            owner, _, name = function.rpartition(".")
            function = f"{CONCRETE.get(owner, owner)}.{name}" if owner else name
            yield from _of_class(
                "arguments", f"{function.removesuffix('.__init__')} {argument}", text
            )


def _of_class(kind: str, end: str, text: str) -> Iterator[Need]:
    """The entry of this kind that ends so, if the text imports its module and defines no such
    class."""
    owner = end.split(".", maxsplit=1)[0].split(maxsplit=1)[0]
    if re.search(rf"\bclass {re.escape(owner)}\b", text):
        return
    for entry, version in _additions()[kind].items():
        module = entry.removesuffix(end).rstrip(".")
        if entry.endswith(f".{end}") and re.search(rf"\b{re.escape(module)}\b", text):
            what, _, argument = entry.partition(" ")
            yield Need(version, f"`{what}({argument}=...)`" if argument else f"`{what}`", 0)


# ---- What a module will need where it is graded


def grading_version(path: Path = GRADING) -> Version | None:
    """The Python that grading uses, as the course states it; None if it does not."""
    try:
        major, minor = json.loads(path.read_text("utf-8"))["python"].split(".")[:2]
        return int(major), int(minor)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def warning(module: bytes, grading: Version | None, running: Version = RUNNING) -> str:
    """A sentence for students whose module runs here but will not where it is graded; or ""."""
    if grading is None or running <= grading:
        return ""
    text = text_of(module)[:MAX_TEXT]
    need = _newest([*newer_forms(text), *_by_use(text)], grading)
    if need is None:
        return ""
    where = f" (line {need.line})" if need.line else ""
    return (
        f"{need.what}{where} needs Python {written(need.version)}; grading uses "
        f"{written(grading)}, where the module cannot run"
    )


def _by_use(text: str) -> Iterator[Need]:
    """What a module uses of the library's additions, except where it provides for their absence."""
    try:
        tree = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = list(_unguarded(tree))
    imported: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            imported |= {
                each.asname or each.name.split(".")[0]: each.name
                if each.asname
                else each.name.split(".")[0]
                for each in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {
                each.asname or each.name: f"{node.module}.{each.name}" for each in node.names
            }
    rebound = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    } | {node.arg for node in nodes if isinstance(node, ast.arg)}
    for name in rebound:
        imported.pop(name, None)
    table = _additions()
    for node in nodes:
        for kind, used in _used(node, imported):
            if version := table[kind].get(used):
                what, _, argument = used.partition(" ")
                words = f"`{what}({argument}=...)`" if argument else f"`{what}`"
                yield Need(version, words, getattr(node, "lineno", 0))


def _used(node: ast.AST, imported: dict[str, str]) -> Iterator[tuple[str, str]]:
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
    """The full name of what is used, if it is part of what was imported."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, imported)):
        return f"{owner}.{node.attr}"
    return ""


def _unguarded(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below this one except those that run only where they can."""
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
