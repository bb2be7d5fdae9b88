"""The variants of a study: parameters with other values than the kit's, and all texts that follow.

A staff folder's `variants.toml` lists the parameters of a study, and the places in its files that
depend on them:

```
valid = "divisor > 3 * pair_weight + 1"      # an expression; every variant must satisfy it

[parameters.pair_weight]
meaning = "the weight of a lane with two marks"
kit = 3                                      # the value in the kit's study
values = [6, 7]                              # the values of variants
affects = { heuristic = ["value"] }          # what last year's answer loses

[[edit]]
file = ["heuristic.py", "mutants.toml"]      # in the staff's or the public folder
text = "({pair_weight} * p2 + p1) / {divisor}"
times = "all"                                # default: the text occurs once

[[edit]]
file = "03_lane_heuristic.py"
when = "divisor != 10"                       # default: always
old = "So, strictly speaking, ten is too small."
new = "So {divisor} is large enough."
```

An expression in braces is replaced by its value (`{{` and `}}` are braces). A `text` is written with
the kit's values in the kit's files. Line breaks in the files may differ from those in an edit. An
edit whose text does not occur as often as stated is an error, so a change of the kit cannot leave a
variant half made.
"""

import ast
import itertools
import json
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from autograder.studies.hidden_cases import expected_file, hidden_study
from autograder.studies.mutants import ANOTHER_YEAR, UNEXPOSED, load_mutants, mutants_file
from common.syntax import parse_python
from course.checks import (
    Check,
    Observation,
    Study,
    load_expected,
    read_table,
    table_error,
    validate_keys,
)
from course.checks.marking.comparison import credit
from course.checks.study_paths import CHECKS, use_studies

FILE = "variants.toml"
RECORD = "variant.json"  # in a variant's staff folder: its values and those of other years
OF_THE_KIT = ("outsiders.toml", "generated_mutants.json", "costs.md", "costs.toml")
ALL = "all"
Value = int | float | str
Values = Mapping[str, Value]
EXPRESSION = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
ALLOWED = (
    ast.List, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant,
    ast.Name, ast.Load, ast.Call, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
FUNCTIONS = {"round": round, "abs": abs, "max": max, "min": min}


class Parameter(NamedTuple):
    """A number or a word of a study that a course may change."""

    meaning: str
    kit: Value
    values: Sequence[Value]
    affects: Mapping[str, Sequence[str]]  # the aspects of checks that depend on it


class Edit(NamedTuple):
    """A text in some files of a study, and the text that replaces it in a variant."""

    files: Sequence[str]
    old: str
    new: str
    when: str
    times: int | str


class _Place(NamedTuple):
    start: int
    end: int
    new: str


@dataclass(frozen=True)
class VariantTable:
    """The content of a study's `variants.toml`; without a file, there are no parameters."""

    file: Path
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    edits: Sequence[Edit] = ()
    valid: str = "True"

    @property
    def kit(self) -> dict[str, Value]:
        """The values of the kit's study."""
        return {name: parameter.kit for name, parameter in self.parameters.items()}

    def variants(self) -> list[dict[str, Value]]:
        """Return all variants. In each variant, every parameter differs from the kit's."""
        values = [parameter.values for parameter in self.parameters.values()]
        variants = [
            dict(zip(self.parameters, chosen, strict=True)) for chosen in itertools.product(*values)
        ]
        return [variant for variant in variants if variant and self.evaluate(self.valid, variant)]

    def draw(self, seed: str, study: str, used: Sequence[Values] = ()) -> dict[str, Value] | None:
        """Return the variant that belongs to a seed; None if there is none.

        If possible, it is one that was not `used`.
        """
        variants = self.variants()
        unused = [variant for variant in variants if variant not in used]
        return random.Random(f"{seed}: {study}").choice(unused or variants) if variants else None

    def complete(self, variant: Mapping[str, Any], file: Path, where: str) -> dict[str, Value]:
        """Return a variant of a course's table `file` with the kit's value of all other parameters.

        Raises `StudyTableError`.
        """
        for name, value in variant.items():
            if name not in self.parameters:
                raise table_error(
                    file,
                    where,
                    f"there is no parameter {name!r}; there are {', '.join(self.parameters)}"
                    if self.parameters
                    else "this study has no variants",
                )
            parameter = self.parameters[name]
            if value != parameter.kit and value not in parameter.values:
                choices = ", ".join(map(repr, [parameter.kit, *parameter.values]))
                raise table_error(file, where, f"{name} = {value!r} must be one of {choices}")
        complete = {**self.kit, **variant}
        if complete != self.kit and not self.evaluate(self.valid, complete):
            raise table_error(
                file, where, f"{described(complete)} is not possible: {self.valid} must hold"
            )
        return complete

    def affected(self, first: Values, second: Values) -> dict[str, list[str]]:
        """Return the aspects of checks in which the answers to two variants differ."""
        aspects: defaultdict[str, list[str]] = defaultdict(list)
        for name, parameter in self.parameters.items():
            if first[name] != second[name]:
                for check, names in parameter.affects.items():
                    aspects[check] += [each for each in names if each not in aspects[check]]
        return dict(aspects)

    def evaluate(self, expression: str, values: Values) -> Any:
        """Return the value of an expression of parameters; raises `StudyTableError`."""
        try:
            match parse_python(expression.strip()).body:
                case [ast.Expr(value=tree)]:
                    names: dict[str, Any] = {"__builtins__": {}, **FUNCTIONS, **values}
                    return eval(compile(ast.Expression(_allowed(tree)), FILE, "eval"), names)
            raise ValueError("it must be one expression")
        except (SyntaxError, ValueError, NameError, TypeError, ArithmeticError) as error:
            raise table_error(self.file, f"the expression {expression!r}", str(error)) from error

    def rendered(self, text: str, values: Values) -> str:
        """Return a text in which each expression in braces is replaced by its value."""

        def value_of(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            expression, _, form = match[1].partition(":")
            return format(self.evaluate(expression, values), form)

        return EXPRESSION.sub(value_of, text)

    def apply(self, name: str, text: str, values: Values) -> str:
        """Return the text of the file `name` of the kit's study in a variant.

        Raises `StudyTableError` if a text does not occur as often as stated.
        """
        places: list[_Place] = []
        for edit in self.edits:
            if name in edit.files and self.evaluate(edit.when, values):
                places += self._places(edit, name, text, values)
        places.sort()
        for first, second in itertools.pairwise(places):
            if second.start < first.end:
                both = f"{text[first.start : first.end]!r} and {text[second.start : second.end]!r}"
                raise table_error(self.file, name, f"two edits overlap: {both}")
        for start, end, new in reversed(places):
            text = text[:start] + new + text[end:]
        return text

    def _places(self, edit: Edit, name: str, text: str, values: Values) -> Iterator[_Place]:
        old, new = self.rendered(edit.old, self.kit), self.rendered(edit.new, values)
        words = r"(\s+(?:#\s+)?)".join(map(re.escape, old.split()))
        matches = list(
            re.finditer(rf"{_edge(old.strip()[0])}{words}{_edge(old.strip()[-1])}", text)
        )
        if (len(matches) != edit.times) if edit.times != ALL else not matches:
            must = "at least once" if edit.times == ALL else f"{edit.times} times"
            raise table_error(
                self.file, name, f"{old!r} occurs {len(matches)} times, but must occur {must}"
            )
        if new == old:
            return
        for match in matches:
            if len(new.split()) == len(old.split()):  # keep the line breaks
                parts = zip(new.split(), [*match.groups(), ""], strict=True)
                yield _Place(*match.span(), "".join(itertools.chain(*parts)))
                continue
            line = text.rfind("\n", 0, match.start()) + 1
            comment = "# " if text[line : line + 1] == "#" else ""
            yield _Place(*match.span(), new.strip("\n").replace("\n", f"\n{comment}"))


def _edge(character: str) -> str:
    """A pattern that does not match within a number or a word that this character is part of."""
    return r"\b" if character.isalnum() else ""


def _allowed(tree: ast.expr) -> ast.expr:
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise ValueError(f"{type(node).__name__} is not allowed")
    return tree


def variants_file(study: Study) -> Path:
    """Return the file that lists the parameters of a study."""
    return study.staff_folder / FILE


def read_variants(study: Study) -> VariantTable:
    """Return the parameters of a study and its edits; raises `StudyTableError`."""
    file = variants_file(study)
    if not file.is_file():
        return VariantTable(file)
    table = {"valid": "True", **read_table(file)}
    validate_keys(table, {"valid": str, "parameters": dict, "edit": list}, file, "at the top")
    parameters = {
        name: _parameter(entry, file, name, study) for name, entry in table["parameters"].items()
    }
    edits = [_edit(entry, file, number) for number, entry in enumerate(table["edit"], 1)]
    return VariantTable(file, parameters, edits, table["valid"])


def _parameter(entry: Any, file: Path, name: str, study: Study) -> Parameter:
    where = f"parameters.{name}"
    keys: dict[str, type] = {"meaning": str, "values": list, "affects": dict}
    validate_keys({k: v for k, v in entry.items() if k != "kit"}, keys, file, where)
    for check, aspects in entry["affects"].items():
        if check not in study.checks:
            raise table_error(file, where, f"there is no check {check!r}")
        for aspect in aspects:
            if aspect not in study.checks[check].points:
                raise table_error(file, where, f"{check} has no aspect {aspect!r}")
    if "kit" not in entry or entry["kit"] in entry["values"]:
        raise table_error(file, where, "`kit` must be the kit's value, which is not in `values`")
    return Parameter(**entry)


def _edit(entry: Any, file: Path, number: int) -> Edit:
    table = {"when": "True", "times": 1, **entry}
    if "text" in table:
        table["old"] = table["new"] = table.pop("text")
    files = table.get("file")
    table["file"] = [files] if isinstance(files, str) else files
    keys: dict[str, type] = {"file": list, "old": str, "new": str, "when": str}
    where = f"edit {number}"
    validate_keys({k: v for k, v in table.items() if k != "times"}, keys, file, where)
    if table["times"] != ALL and type(table["times"]) is not int:
        raise table_error(file, where, f"`times` must be a number or {ALL!r}")
    return Edit(table["file"], table["old"], table["new"], table["when"], table["times"])


def described(values: Values) -> str:
    """Return a variant as text: 'pair_weight 6, divisor 20'."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in values.items())


def value_text(value: Value) -> str:
    """Return a value as text, with quotes around words."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def make_variant(
    study: Study, home: Path, table: VariantTable, values: Values, others: Sequence[Values]
) -> None:
    """Change a copy of a study's folders in `home` into a variant.

    The answers to the `others` become known mistakes. Files about the kit's own answers are
    removed. Raises `StudyTableError` if an edit does not fit the study.
    """
    for name in dict.fromkeys(name for edit in table.edits for name in edit.files):
        path = home / _kit_file(study, table, name).relative_to(study.home)
        path.write_text(table.apply(name, path.read_text("utf-8"), values), "utf-8")
    staff = home / study.staff_folder.relative_to(study.home)
    for name in OF_THE_KIT:
        (staff / name).unlink(missing_ok=True)
    shutil.rmtree(staff / "outsiders", ignore_errors=True)
    mutants = home / mutants_file(study).relative_to(study.home)
    entries = read_table(mutants)
    entries["mutant"] += answers_of_other_years(study, table, values, others)
    mutants.write_text(tomli_w.dumps(entries), "utf-8")
    record = {"values": values, "others": others}
    (staff / RECORD).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    with use_studies(home):
        answer = (staff / study.module).read_text("utf-8")
        for mutant in load_mutants(study.name):
            mutant.apply(answer)


def answer_to(study: Study, table: VariantTable, values: Values) -> str:
    """Return the reference answer to a variant of the kit's study."""
    name = study.module
    answer = (study.staff_folder / name).read_text("utf-8")
    return table.apply(name, answer, values)


def _kit_file(study: Study, table: VariantTable, name: str) -> Path:
    for folder in (study.staff_folder, study.folder, study.folder / CHECKS.parent):
        if (path := folder / name).is_file():
            return path
    raise table_error(table.file, "edit", f"there is no file {name!r} in the study's folders")


def answers_of_other_years(
    study: Study, table: VariantTable, values: Values, others: Sequence[Values]
) -> list[dict[str, Any]]:
    """Return known mistakes, as entries of mutants.toml: the reference answers to other variants.

    The sentence states only what is true of a module with these replies, because students see it.
    """
    answer, mutants = answer_to(study, table, values), []
    for number, other in enumerate(others, 1):
        differing = [name for name in table.parameters if values[name] != other[name]]
        numbers = "; ".join(
            f"{table.parameters[name].meaning} is {value_text(values[name])}, not "
            f"{value_text(other[name])}"
            for name in differing
        )
        mutants.append(
            {
                "name": ANOTHER_YEAR if number == 1 else f"{ANOTHER_YEAR}_{number}",
                "sentence": "These are the replies to another year's version of this study. In "
                f"this version, {numbers}.",
                "loses": table.affected(values, other),
                "breaks": [],
                "edit": [{"old": answer, "new": answer_to(study, table, other)}],
            }
        )
    return mutants


def update_losses(study: Study) -> None:
    """Write which aspects each known mistake loses in a variant into the copy's mutants.toml.

    The losses are measured in the derived files. Raises `StudyTableError` if last year's answer
    loses nothing in a check that depends on the variant.
    """
    hidden = hidden_study(study.name)
    expected, mistakes = load_expected(expected_file(hidden), hidden.checks.values())
    observed = {mistake.name: mistake.observed for mistake in mistakes}
    file = mutants_file(study)
    table = {"untested": {}, **read_table(file)}
    unexposed: list[str] = []
    for entry in table["mutant"]:
        replies = observed[entry["name"]]
        lost = {name: _lost(hidden.checks[name], expected[name], replies[name]) for name in replies}
        lost = {name: aspects for name, aspects in lost.items() if aspects}
        if entry["name"].startswith(ANOTHER_YEAR):
            for check in entry["loses"].keys() - lost.keys():
                raise table_error(
                    study.staff_folder / RECORD,
                    check,
                    "its hidden positions do not distinguish this variant from another year's: "
                    "choose other values, or add hidden positions",
                )
        elif entry["loses"] and not lost:
            unexposed += entry.get("breaks", [])
            entry["breaks"] = []
        entry["loses"] = lost
    if unexposed:
        table["untested"][UNEXPOSED] = list(dict.fromkeys(unexposed))
    file.write_text(tomli_w.dumps(table), "utf-8")


def _lost(
    check: Check, expected: Sequence[Observation], replies: Sequence[Observation | None]
) -> list[str]:
    pairs = list(zip(expected, replies, strict=True))
    return [
        aspect
        for aspect in check.points
        if any(credit(check.ask, right, reply or {}, aspect) < 1 for right, reply in pairs)
    ]


def read_record(study: Study) -> tuple[Values, list[Values]] | None:
    """Return the values of a course's variant and those of other years; None for other studies."""
    try:
        record = json.loads((study.staff_folder / RECORD).read_text("utf-8"))
    except FileNotFoundError:
        return None
    return record["values"], record["others"]
