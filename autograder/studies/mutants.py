"""Named wrong answers, which are edits of the reference answer. Each has a sentence that explains
the mistake.

There are also wrong modules by people who had only the student kit ("outsiders"). They are stored
as edits of the independent solution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.checks import Study, load_study, read_table, table_error, validate_keys
from course.checks.questions import QUESTIONS

ANOTHER_YEAR = "another_year"  # begins the names of answers to another year's version of a study
# Reasons in [untested] of a course's own version.
LEFT_OUT = "the course leaves out its check"
UNEXPOSED = "no hidden position of this variant shows the mistake"


@dataclass(frozen=True)
class Mutant:
    """One mistake. `loses` maps a check's name to exactly those aspects that must lose marks.

    Aspects without points are omitted when the mutant is loaded.
    """

    name: str
    sentence: str
    loses: Mapping[str, Sequence[str]]
    edits: Sequence[tuple[str, str]]  # (old text, new text); the old text occurs exactly once
    file: Path  # the file that defines the mutant
    breaks: Sequence[str] = ()  # the sentences of the stub: "lane_counts: Returns the pair"

    def apply(self, answer: str) -> str:
        """Return the wrong answer; raises `StudyTableError` if an edit does not fit the reference."""
        for old, new in self.edits:
            if answer.count(old) != 1:
                raise table_error(
                    self.file,
                    f"mutant {self.name}",
                    "the text to replace must "
                    f"occur once in the answer, but {old!r} occurs "
                    f"{answer.count(old)} times",
                )
            answer = answer.replace(old, new)
        return answer


@dataclass(frozen=True)
class Outsider(Mutant):
    """A wrong module by a person who had only the student kit, stored as edits of the independent
    solution.

    Its sentence describes the mistake. An `accepted` module gets full marks in spite of the
    mistake.
    """

    accepted: bool = False


def load_outsiders(study: Study) -> list[Outsider]:
    """Return the outsiders' wrong modules for a study; none if there is no file of them."""
    file = study.staff_folder / "outsiders.toml"
    if not file.is_file():
        return []
    return [
        Outsider(
            entry["name"],
            entry["wrong"],
            {},
            [(edit["old"], edit["new"]) for edit in entry["edit"]],
            file,
            entry.get("accepted", False),
        )
        for entry in read_table(file)["module"]
    ]


def mutants_file(study: Study) -> Path:
    """Return the file of a study's mutants."""
    return study.staff_folder / "mutants.toml"


def load_mutants(study: str) -> list[Mutant]:
    """Return the mutants of a study, such as "study3", in the order of their file. Raises
    `StudyTableError`.
    """
    loaded = load_study(study)
    file, checks = mutants_file(loaded), loaded.checks
    mutants: dict[str, Mutant] = {}
    for number, entry in enumerate(_read(file)["mutant"], 1):
        where = f"mutant {entry.get('name', number) if isinstance(entry, dict) else number}"
        keys = {"name": str, "sentence": str, "loses": dict, "edit": list, "breaks": list}
        if isinstance(entry, dict):
            entry.setdefault("breaks", [])
        validate_keys(entry, keys, file, where)
        _validate_quotations(entry["breaks"], file, where)
        if entry["name"] in mutants:
            raise table_error(file, where, "there are two mutants of this name")
        for edit in entry["edit"]:
            validate_keys(edit, {"old": str, "new": str}, file, where)
        loses = {}
        for check, aspects in entry["loses"].items():
            if check not in checks:
                raise table_error(file, where, f"there is no check {check!r}")
            known_aspects = QUESTIONS[checks[check].ask].aspects
            if not isinstance(aspects, list) or any(a not in known_aspects for a in aspects):
                raise table_error(
                    file,
                    where,
                    f"what it loses in {check} must be a list of some "
                    f"of {', '.join(known_aspects)}, but is {aspects!r}",
                )
            if marked := [aspect for aspect in aspects if aspect in checks[check].points]:
                loses[check] = marked
        edits = [(edit["old"], edit["new"]) for edit in entry["edit"]]
        mutants[entry["name"]] = Mutant(
            entry["name"], entry["sentence"], loses, edits, file, entry["breaks"]
        )
    return list(mutants.values())


def load_untested(study: Study) -> Mapping[str, Sequence[str]]:
    """Return the sentences of the stub that no mutant can break, by the reason."""
    return _read(mutants_file(study))["untested"]


def _read(file: Path) -> dict[str, Any]:
    table = {"untested": {}, **read_table(file)}
    validate_keys(table, {"mutant": list, "untested": dict}, file, "at the top")
    validate_keys(table["untested"], dict.fromkeys(table["untested"], list), file, "untested")
    for reason, quotations in table["untested"].items():
        _validate_quotations(quotations, file, f"untested, {reason!r}")
    return table


def _validate_quotations(quotations: Sequence[Any], file: Path, where: str) -> None:
    for quotation in quotations:
        if not isinstance(quotation, str) or ": " not in quotation:
            raise table_error(
                file,
                where,
                f"a sentence of the stub must be quoted as 'function: phrase', not as {quotation!r}",
            )
