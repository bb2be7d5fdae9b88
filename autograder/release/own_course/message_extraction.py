"""Finds the messages for students in the code, in the templates and in the studies' tables.

In the code, these are the arguments of `english`, `translate` and `translate_plural`. An f-string
becomes a format string whose fields have the names of the values: `f"{len(moves)} moves"` becomes
"{moves} moves". Each branch of a conditional expression is a separate message, and constants of the
same module are part of the text.
"""

import ast
import itertools
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter

from jinja2.ext import babel_extract

from autograder.studies.mutants import load_mutants
from common.messages import NAME
from common.syntax import parse_python
from course.checks import Study
from course.checks.questions import QUESTIONS
from course.checks.study_paths import KIT, PUBLIC, study_roots

PUBLIC_PACKAGES = ("common", "tictactoe", "sequence", "course")
TEMPLATES = Path("autograder", "reporting", "templates", "offline_feedback")
FUNCTIONS = ("english", "translate", "translate_plural")
WITHOUT_MESSAGES = {"tests", "benchmarks", "studies", "outsiders", "__pycache__"}
STUDY_FOLDER = re.compile(r"study\d+_")
PLAIN = {"resolve", "upper"}  # methods that do not change what a value is
MAX_FORMS = 64  # messages of one expression with several conditions

Part = tuple[bool, str]  # whether it is the name of a field, and the name or the text


@dataclass(frozen=True)
class Message:
    """A message and what is known about it."""

    text: str
    place: str  # a file, relative to the kit or the course
    plural: str = ""
    context: str = ""
    is_sentence: bool = False  # whether it is recognised in texts that are displayed
    is_public: bool = True  # whether the kit for students contains it

    @property
    def key(self) -> tuple[str, str]:
        """The context and the text, which identify a message."""
        return self.context, self.text


def messages_of(studies: Iterable[Study]) -> dict[tuple[str, str], Message]:
    """Return all messages of the kit and of these studies, by key, in the order of their places.

    Those of other studies, which may not be released yet, are left out.
    """
    studies = list(studies)
    messages: dict[tuple[str, str], Message] = {}
    for message in itertools.chain(
        _code_messages({study.assignment for study in studies}),
        _template_messages(),
        _table_messages(studies),
    ):
        former = messages.setdefault(message.key, message)
        if former is not message:
            messages[message.key] = replace(
                former,
                plural=former.plural or message.plural,
                is_sentence=former.is_sentence or message.is_sentence,
                is_public=former.is_public or message.is_public,
            )
    return messages


def _code_messages(assignments: Container[str]) -> Iterator[Message]:
    for home in study_roots():
        for path in _modules(home):
            place = path.relative_to(home)
            if any(map(STUDY_FOLDER.match, place.parts)) and not any(
                part in assignments for part in place.parts
            ):
                continue
            is_public = place.parts[0] in PUBLIC_PACKAGES
            for message in module_messages(path.read_text("utf-8"), place.as_posix()):
                yield replace(message, is_public=is_public)


def _modules(home: Path) -> Iterator[Path]:
    """Yield the modules that can have messages; outside the kit, only those with questions."""
    if home != KIT:
        yield from sorted((home / PUBLIC).glob("study*/_check/*.py"))
        return
    for package in (*PUBLIC_PACKAGES, "autograder"):
        for path in sorted((home / package).rglob("*.py")):
            folders = path.relative_to(home).parts[:-1]
            in_study = any(map(STUDY_FOLDER.match, folders)) and "_check" not in folders
            excluded = WITHOUT_MESSAGES - ({"studies"} if len(folders) < 3 else set())
            if not in_study and not excluded & {*folders}:  # autograder/studies/*.py has messages
                yield path


def module_messages(code: str, place: str) -> Iterator[Message]:
    """Yield the messages in the text of a module."""
    if not any(f"{name}(" in code for name in FUNCTIONS):
        return
    tree = parse_python(code)
    constants = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="translate_plural"), args=[singular, plural, *_]):
                for one, many in zip(
                    _forms(singular, constants), _forms(plural, constants), strict=True
                ):
                    yield Message(one, place, plural=many)
            case ast.Call(func=ast.Name(id="english" | "translate"), args=[text]):
                for form in _forms(text, constants):
                    yield Message(form, place, is_sentence=not node.keywords)


def _forms(node: ast.expr, constants: Mapping[str, ast.expr]) -> list[str]:
    """Return the messages that an expression can be; none if it has no text of its own."""
    forms = []
    for parts in _alternatives(node, constants, {}):
        if any(not is_field and text.strip() for is_field, text in parts):
            is_format = isinstance(node, ast.Constant)
            forms.append("".join(_format_part(*part, is_format) for part in parts))
    return forms


def _format_part(is_field: bool, text: str, is_format: bool) -> str:
    if is_field:
        return f"{{{text}}}"
    return text if is_format else text.replace("{", "{{").replace("}", "}}")


def _alternatives(
    node: ast.expr, constants: Mapping[str, ast.expr], names: dict[str, str]
) -> list[list[Part]]:
    """Return the possible texts of an expression as parts; `names` are those of the fields so far."""
    match node:
        case ast.Constant(value=str(text)):
            return [[(False, text)]]
        case ast.JoinedStr(values=values):
            return _product(values, constants, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
            return _product([left, right], constants, names)
        case ast.FormattedValue(value=value):
            return _alternatives(value, constants, names)
        case ast.IfExp(body=body, orelse=orelse):
            return _alternatives(body, constants, names) + _alternatives(orelse, constants, names)
        case ast.Call(func=ast.Name(id="english"), args=[text]):
            return _alternatives(text, constants, names)
        case ast.Name(id=name) if name.isupper() and _is_text(constants.get(name)):
            return _alternatives(constants[name], constants, names)
    return [[(True, _field(node, names))]]


def _is_text(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="english")):
            return True
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_text(left) or _is_text(right)
    return False


def _product(
    nodes: Sequence[ast.expr], constants: Mapping[str, ast.expr], names: dict[str, str]
) -> list[list[Part]]:
    choices = [_alternatives(node, constants, names) for node in nodes]
    return [
        [part for parts in chosen for part in parts]
        for chosen in itertools.islice(itertools.product(*choices), MAX_FORMS)
    ]


def _field(node: ast.expr, names: dict[str, str]) -> str:
    """Return the name of a field: that of the value, with a number if another value has this name."""
    expression = ast.dump(node)
    if expression not in names:
        name = re.sub(r"\W", "", (_name(node) or "value").strip("_").lower()) or "value"
        taken, numbers = {*names.values()}, itertools.count(2)
        unique = name
        while unique in taken:
            unique = f"{name}_{next(numbers)}"
        names[expression] = unique
    return names[expression]


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(value=value) | ast.UnaryOp(operand=value) | ast.Starred(value=value):
            return _name(value)
        case ast.Constant(value=str(name)) if name.isidentifier():
            return name
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[]) if method in PLAIN:
            return _name(value)
        case ast.Call(func=function, args=arguments):
            return next(filter(None, map(_name, reversed(arguments))), "") or _name(function)
        case ast.BinOp(left=left, right=right):
            return _name(left) or _name(right)
        case ast.GeneratorExp(generators=[first, *_]) | ast.ListComp(generators=[first, *_]):
            return _name(first.iter)
    return ""


def _template_messages() -> Iterator[Message]:
    for path in sorted((KIT / TEMPLATES).glob("*.j2")):
        place = path.relative_to(KIT).as_posix()
        with path.open("rb") as template:
            for _, _, texts, _ in babel_extract(template, ["_"], [], {}):
                text = texts[0] if isinstance(texts, tuple) else texts  # None for each field
                if text:
                    is_sentence = not isinstance(texts, tuple)
                    yield Message(text, place, is_sentence=is_sentence, is_public=False)


def _table_messages(studies: Iterable[Study]) -> Iterator[Message]:
    """Yield the titles, the names of aspects, how to read their values, and the sentences about
    known mistakes.
    """
    for study in studies:
        for check in study.checks.values():
            for text in QUESTIONS[check.ask].reading.values():
                yield _literal(text, f"course/{study.assignment}/_check/checks.toml")
        place = f"course/{study.assignment}/_check"
        yield _literal(study.title, f"{place}/checks.toml")
        for check in study.checks.values():
            for aspect in check.points:
                yield Message(aspect, f"{place}/checks.toml", context=NAME)
        data = json.loads(study.expected_file.read_text("utf-8"))
        for mistake in data["mistakes"]:
            yield _literal(mistake["sentence"], f"{place}/expected.json")
        place = f"autograder/studies/{study.assignment}/mutants.toml"
        for mutant in load_mutants(study.name):
            yield _literal(mutant.sentence, place, is_public=False)


def _literal(text: str, place: str, is_public: bool = True) -> Message:
    """Return the message for a text of a table, which has no fields."""
    escaped = text.replace("{", "{{").replace("}", "}}")
    return Message(escaped, place, is_sentence=True, is_public=is_public)


def own_text(message: str) -> str:
    """Return a message without its fields."""
    return "".join(literal for literal, *_ in Formatter().parse(message))
