"""Named wrong answers: edits of the reference answer, each with the sentence that explains it."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Mutant:
    """One slip. `loses` maps a check's name to the aspects that must lose marks, and no others."""

    name: str
    sentence: str
    loses: Mapping[str, Sequence[str]]
    edits: Sequence[tuple[str, str]]  # (old text, new text), old occurring exactly once

    def apply(self, answer: str) -> str:
        """The wrong answer; raises ValueError if an edit does not fit the reference any more."""
        for old, new in self.edits:
            if answer.count(old) != 1:
                raise ValueError(f"mutant {self.name}: the text to replace must occur once in the "
                                 f"answer, it occurs {answer.count(old)} times:\n{old}")
            answer = answer.replace(old, new)
        return answer


def load_mutants(study: str) -> list[Mutant]:
    """The mutants of "study3", in the order of their file."""
    data = tomllib.loads((HERE / f"{study}.toml").read_text("utf-8"))
    mutants = [Mutant(m["name"], m["sentence"], m["loses"],
                      [(edit["old"], edit["new"]) for edit in m["edit"]]) for m in data["mutant"]]
    names = [mutant.name for mutant in mutants]
    if len(set(names)) != len(names):
        raise ValueError(f"{study}.toml names a mutant twice")
    return mutants
