"""Verifies that no public code is an answer.

Every function and class that students receive (in the packages, notebooks, guides and the stubs of
other studies) is submitted under the name that a check calls. None of them may earn marks, apart
from the lucky guesses that a constant would also get.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

from autograder import workspace
from autograder.release.leaks import public_code
from autograder.studies import hidden_cases
from autograder.workspace.strip import stub, written_functions
from common.syntax import parse_python
from course.checks import Check, Study
from course.checks.marking.outcome import Outcome, mark_against_file
from course.checks.questions import MATCHES
from course.checks.running.queries import reply
from course.checks.study_paths import study_roots

SECONDS = 2.0  # for one check; slower code does not count as an answer
MAX_LUCK = 0.34  # share of an aspect's positions that a constant may get right


@dataclass(frozen=True)
class PublicDefinition:
    """A function or class that students receive, and the code that defines or imports it."""

    name: str
    file: str
    arguments: range | None  # numbers of positional arguments; None for a class
    text: str


@dataclass(frozen=True)
class AccidentalAnswer:
    """A public definition that earns marks in a check if it is submitted as `target`."""

    definition: PublicDefinition
    target: str
    outcome: Outcome

    def __str__(self) -> str:
        return (
            f"{self.definition.name} of {self.definition.file}, submitted as {self.target}, earns "
            f"{self.outcome.earned:g} of {self.outcome.points:g} points of "
            f"{self.outcome.check}"
        )


def find_accidental_answers(
    study: Study, progress: Callable[[str], None] = lambda name: None
) -> tuple[int, list[AccidentalAnswer]]:
    """Find modules that earn more than lucky guesses; return the number of modules that were tried,
    and the modules found.

    A text that cannot be loaded is tried only once.
    """
    hidden = hidden_cases.hidden_study(study.name)
    answer = workspace.answer_path(study).read_text("utf-8")
    stub_text = stub(answer, study.module)
    classes, functions = _targets(answer, stub_text)
    jobs = [
        (check, target, definition)
        for check in hidden.checks.values()
        if check.ask not in MATCHES
        for target in sorted(_names_used(study, check) & {*classes, *functions})
        for definition in _public_definitions(study.assignment)
        if (definition.arguments is None and target in classes)
        or (definition.arguments is not None and functions.get(target) in definition.arguments)
    ]

    broken: set[str] = set()  # texts that cannot be loaded

    def attempt(job: tuple[Check, str, PublicDefinition]) -> AccidentalAnswer | None:
        check, target, definition = job
        progress(definition.name)
        if definition.text in broken:
            return None
        text = f"{stub_text}\n\n{definition.text}\n\n{target} = {definition.name}\n"
        (replies,) = workspace.run_checks(
            hidden, text, checks=[check.name], max_seconds=SECONDS
        ).values()
        if replies.broken:
            broken.add(definition.text)
        outcome = mark_against_file(check, replies, hidden_cases.expected_file(hidden))
        lucky = all(a.right <= MAX_LUCK * a.cases for a in outcome.aspects)
        return None if lucky else AccidentalAnswer(definition, target, outcome)

    with ThreadPoolExecutor(workspace.max_parallel()) as pool:
        return len(jobs), [answer for answer in pool.map(attempt, jobs) if answer]


def _targets(answer: str, stub_text: str) -> tuple[set[str], dict[str, int]]:
    """Return the names that students write: classes, and functions with the number of their
    arguments.
    """
    written = written_functions(answer)
    functions = {
        node.name: len(node.args.args) - len(node.args.defaults)
        for node in parse_python(stub_text).body
        if isinstance(node, ast.FunctionDef) and node.name in written
    }
    return {name.split(".")[0] for name in written if "." in name}, functions


class _RecordingModule(ModuleType):
    """A module that records which of its names are looked up from outside."""

    def __getattribute__(self, name: str):
        if not name.startswith("_"):
            vars(self).setdefault("_used", set()).add(name)
        return super().__getattribute__(name)


def _names_used(study: Study, check: Check) -> set[str]:
    """Return the names that a check looks up in the module."""
    module = _RecordingModule("reference")
    vars(module).update(vars(workspace.load_answer(study.name)))
    reply(module, check.ask, {**check.settings, **check.cases[0]})
    return vars(module).get("_used", set())


@cache
def _public_definitions(excluded_assignment: str) -> list[PublicDefinition]:
    """Return all definitions that students receive, except those of this assignment's own stub."""
    definitions: dict[tuple[str, str], PublicDefinition] = {}
    for path, text in public_code():
        if path.suffix != ".py" or path.parent.name != excluded_assignment:
            for definition in _definitions(text, path):
                definitions.setdefault((definition.name, definition.text), definition)
    return list(definitions.values())


def _definitions(text: str, path: Path) -> Iterator[PublicDefinition]:
    """Yield each function and class at module level of a text, with the code that it needs from the
    rest of the text.
    """
    try:
        tree = parse_python(text)
    except SyntaxError:  # the text is an example of an error
        return
    package = _module_name(path)
    statements = [
        node
        for node in tree.body
        if isinstance(
            node,
            (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign),
        )
    ]
    whole_text = ast.unparse(ast.Module([node for node in statements if not _is_local(node)], []))
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__"):
            own = f"from {package} import {node.name}" if package else whole_text
            yield PublicDefinition(
                node.name, f"{path.parent.name}/{path.name}", _arguments(node), own
            )


def _arguments(node: ast.FunctionDef | ast.ClassDef) -> range | None:
    if isinstance(node, ast.ClassDef):
        return None
    positional = len(node.args.posonlyargs) + len(node.args.args)
    return range(
        positional - len(node.args.defaults), positional + 1 if not node.args.vararg else 99
    )


def _module_name(path: Path) -> str | None:
    """Return the name by which students import the file, if they can import it."""
    for root in study_roots():
        if path.is_relative_to(root) and path.suffix == ".py":
            parts = path.relative_to(root).with_suffix("").parts
            if parts[0] in ("common", "course", "sequence", "tictactoe") and "study" not in "".join(
                parts
            ):
                return ".".join(parts).removesuffix(".__init__")
    return None


def _is_local(node: ast.stmt) -> bool:
    """Whether a statement imports a student's own module, which is next to a notebook."""
    return (
        isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] not in _installed()
    )


@cache
def _installed() -> frozenset[str]:
    return frozenset(
        {
            *sys.stdlib_module_names,
            *packages_distributions(),
            "common",
            "course",
            "sequence",
            "tictactoe",
        }
    )
