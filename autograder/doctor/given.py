"""Proves that nothing that students are given is an answer.

Every function and class that they receive - in the packages, the notebooks, the guides and the
other studies' stubs - is handed in under the name that a check asks for. None may earn a mark,
except by a chance that a constant has too.
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

from autograder import verdicts, workspace
from autograder.release.leaks import public_files
from autograder.workspace.strip import stub, written_functions
from course.probes import Check, Study
from course.probes.ask import reply
from course.probes.homes import homes
from course.probes.outcome import Outcome, mark_by_file
from course.probes.questions import MATCHES
from course.probes.syntax import FOR_THE_SHELL, parsed

SECONDS = 2.0  # for one check: what takes longer is no answer to a question of a study
BY_CHANCE = 0.34  # of an aspect's positions: a number, or a yes, may be right here and there
IN_TEXT = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Given:
    """One function or class that students are given, and how a module gets hold of it."""

    name: str
    where: str  # its file
    arguments: range | None  # how many a function takes by position; None for a class
    text: str  # that defines it


@dataclass(frozen=True)
class Answered:
    """What is given answers a check: handed in as `target` it earns marks."""

    given: Given
    target: str
    outcome: Outcome

    def __str__(self) -> str:
        return (
            f"{self.given.name} of {self.given.where}, handed in as {self.target}, earns "
            f"{self.outcome.earned:g} of {self.outcome.points:g} points of "
            f"{self.outcome.check}"
        )


def given_answers(
    study: Study, done: Callable[[str], None] = lambda name: None
) -> tuple[int, list[Answered]]:
    """How many modules there are to try, and those that earn more than chance gives.

    A text that cannot be loaded is no answer to any check, and is tried once.
    """
    hidden = verdicts.hidden_study(study.name)
    answer = workspace.answer_path(study).read_text("utf-8")
    bare = stub(answer, study.module)
    classes, functions = _targets(answer, bare)
    tried = [
        (check, target, given)
        for check in hidden.checks.values()
        if check.ask not in MATCHES
        for target in sorted(_names_asked(study, check) & {*classes, *functions})
        for given in _everything(study.assignment)
        if (given.arguments is None and target in classes)
        or (given.arguments is not None and functions.get(target) in given.arguments)
    ]

    broken: set[str] = set()  # texts that cannot be loaded, whatever is asked then

    def attempt(job: tuple[Check, str, Given]) -> Answered | None:
        check, target, given = job
        done(given.name)
        if given.text in broken:
            return None
        text = f"{bare}\n\n{given.text}\n\n{target} = {given.name}\n"
        (replies,) = workspace.ask_all(hidden, text, checks=[check.name], most=SECONDS).values()
        if replies.broken:
            broken.add(given.text)
        outcome = mark_by_file(check, replies, verdicts.expected_file(hidden))
        lucky = all(a.right <= BY_CHANCE * a.asked for a in outcome.aspects)
        return None if lucky else Answered(given, target, outcome)

    with ThreadPoolExecutor(workspace.at_once()) as pool:
        return len(tried), [found for found in pool.map(attempt, tried) if found]


def _targets(answer: str, bare: str) -> tuple[set[str], dict[str, int]]:
    """What students write: classes, and functions with the number of their arguments."""
    written = written_functions(answer)
    functions = {
        node.name: len(node.args.args) - len(node.args.defaults)
        for node in parsed(bare).body
        if isinstance(node, ast.FunctionDef) and node.name in written
    }
    return {name.split(".")[0] for name in written if "." in name}, functions


class _Watched(ModuleType):
    """A module that remembers which of its names were asked for from outside."""

    def __getattribute__(self, name: str):
        if not name.startswith("_"):
            vars(self).setdefault("_asked", set()).add(name)
        return super().__getattribute__(name)


def _names_asked(study: Study, check: Check) -> set[str]:
    """The names that a check's questions look up in the module."""
    module = _Watched("reference")
    vars(module).update(vars(workspace.load_answer(study.name)))
    reply(module, check.ask, {**check.settings, **check.cases[0]})
    return vars(module).get("_asked", set())


@cache
def _everything(but: str) -> list[Given]:
    """All that students are given, except with the assignment `but`'s own stub."""
    found = {}
    for path in public_files():
        if "tests" in path.parts or path.name.startswith("test_"):
            continue
        own = path.suffix == ".py" and path.parent.name == but
        for text in [] if own else _code_of(path):
            for given in _definitions(text, path):
                found.setdefault((given.name, given.text), given)
    return list(found.values())


def _code_of(path: Path) -> Iterable[str]:
    if path.suffix == ".py" and not re.match(r"\d\d_", path.name):  # else a notebook's text form
        return [path.read_text("utf-8")]
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        return [FOR_THE_SHELL.sub("", code)]
    return IN_TEXT.findall(path.read_text("utf-8")) if path.suffix == ".md" else []


def _definitions(text: str, path: Path) -> Iterator[Given]:
    """Each function and class at the top of a text, with all that the text defines beside it."""
    try:
        tree = parsed(text)
    except SyntaxError:  # an example of something wrong
        return
    package = _module_name(path)
    kept = [
        node
        for node in tree.body
        if isinstance(
            node,
            (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign),
        )
    ]
    beside = ast.unparse(ast.Module([node for node in kept if not _is_local(node)], []))
    for node in kept:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__"):
            own = f"from {package} import {node.name}" if package else beside
            yield Given(node.name, f"{path.parent.name}/{path.name}", _arguments(node), own)


def _arguments(node: ast.FunctionDef | ast.ClassDef) -> range | None:
    if isinstance(node, ast.ClassDef):
        return None
    most = len(node.args.posonlyargs) + len(node.args.args)
    return range(most - len(node.args.defaults), most + 1 if not node.args.vararg else 99)


def _module_name(path: Path) -> str | None:
    """The dotted name by which students import the file, if they can."""
    for root in homes():
        if path.is_relative_to(root) and path.suffix == ".py":
            parts = path.relative_to(root).with_suffix("").parts
            if parts[0] in ("course", "sequence", "tictactoe") and "study" not in "".join(parts):
                return ".".join(parts).removesuffix(".__init__")
    return None


def _is_local(node: ast.stmt) -> bool:
    """Whether a statement imports a module that lies beside a notebook: a student's own."""
    return (
        isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] not in _installed()
    )


@cache
def _installed() -> frozenset[str]:
    return frozenset(
        {*sys.stdlib_module_names, *packages_distributions(), "course", "sequence", "tictactoe"}
    )
