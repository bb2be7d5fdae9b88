"""The question of the league: which opponents the student's agent beats, and how cleanly."""

from collections.abc import Iterator, Mapping
from typing import Any

from course.probes.question import Part, Question


def _match(module, against: str, deals: int, seed: int, agent: str = "") -> Iterator[Part]:
    """Never asked inside: `course.probes.match` plays it, where the opponents are."""
    raise RuntimeError("a match is played, not asked")
    yield


def _described(case: Mapping[str, Any]) -> str:
    return (f"MyAgent() against {case['against']}, {case['deals']} deals from both seats "
            f"(seed {case['seed']})")


QUESTIONS = {"match": Question(_match, ("beaten", "legal"), _described, {
    "legal": "no action was late, illegal or raised an error"}, details=("beaten",), is_match=True)}
