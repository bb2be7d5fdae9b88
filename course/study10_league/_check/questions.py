"""The question of the league: how strong the student's agent is, and whether it plays legally."""

from collections.abc import Iterator, Mapping
from typing import Any

from course.checks.question import Part, Question


def _match(
    module,
    *,
    against: str,
    agent: str,
    rates: list[float],
    deals: int,
    seed: int,
    random: float = 0.0,
) -> Iterator[Part]:
    """This is never called, because `course.checks.matches.match` plays the games."""
    raise RuntimeError("a match is played by course.checks.matches.match")


def _described(case: Mapping[str, Any]) -> str:
    return f"MyAgent() against {case['against']}, at most {case['deals']} deals from both seats"


QUESTIONS = {
    "match": Question(
        _match,
        ("strength", "legal"),
        _described,
        {"legal": "no action was late, illegal or raised an error"},
        details=("strength",),
        shares=("strength",),
        is_match=True,
    )
}
