"""Named wrong answers: edits of the reference answer, each with the sentence that explains it.

Beside them stand wrong modules by people who had only the students' kit ("outsiders"): edits of the
second answer, and what a machine makes of the reference.

May import the public packages only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course.probes import Study, complain_about_keys, load_study, read_table, table_error
from course.probes.questions import QUESTIONS


@dataclass(frozen=True)
class Mutant:
    """One slip. `loses` maps a check's name to the aspects that must lose marks, and no others.

    Aspects that are worth no points are left out when it is loaded.
    """

    name: str
    sentence: str
    loses: Mapping[str, Sequence[str]]
    edits: Sequence[tuple[str, str]]  # (old text, new text), old occurring exactly once
    file: Path  # where it stands

    def apply(self, answer: str) -> str:
        """The wrong answer; raises `StudyTableError` if an edit does not fit the reference."""
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
    """A wrong module by somebody who had only the students' kit: edits of the second answer.

    Its sentence says what is wrong with it. One that is `accepted` gets full marks all the same.
    """

    accepted: bool = False


def load_outsiders(study: Study) -> list[Outsider]:
    """The outsiders' wrong modules for a study; none, where there is no such file."""
    file = mutants_file(study).with_suffix(".outsiders.toml")
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
    """The file of a study's mutants."""
    return study.home / "autograder" / "mutants" / f"{study.name}.toml"


def load_mutants(study: str) -> list[Mutant]:
    """The mutants of "study3", in the order of their file; raises `StudyTableError`."""
    loaded = load_study(study)
    file, checks = mutants_file(loaded), loaded.checks
    mutants: dict[str, Mutant] = {}
    table = read_table(file)
    complain_about_keys(table, {"mutant": list}, file, "at the top")
    for number, entry in enumerate(table["mutant"], 1):
        where = f"mutant {entry.get('name', number) if isinstance(entry, dict) else number}"
        complain_about_keys(
            entry, {"name": str, "sentence": str, "loses": dict, "edit": list}, file, where
        )
        if entry["name"] in mutants:
            raise table_error(file, where, "there are two mutants of this name")
        for edit in entry["edit"]:
            complain_about_keys(edit, {"old": str, "new": str}, file, where)
        loses = {}
        for check, aspects in entry["loses"].items():
            if check not in checks:
                raise table_error(file, where, f"there is no check {check!r}")
            there_are = QUESTIONS[checks[check].ask].aspects
            if not isinstance(aspects, list) or any(a not in there_are for a in aspects):
                raise table_error(
                    file,
                    where,
                    f"what it loses in {check} must be a list of some "
                    f"of {', '.join(there_are)}, but is {aspects!r}",
                )
            if marked := [aspect for aspect in aspects if aspect in checks[check].points]:
                loses[check] = marked
        edits = [(edit["old"], edit["new"]) for edit in entry["edit"]]
        mutants[entry["name"]] = Mutant(entry["name"], entry["sentence"], loses, edits, file)
    return list(mutants.values())
