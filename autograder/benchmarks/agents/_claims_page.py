"""Generates the page of claims from the table `claims.toml` and the numbers in `claims.json`."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from course.published import node_counts, richer_states

TABLE = Path(__file__).with_name("claims.toml")
NUMBERS = TABLE.with_suffix(".json")
PAGE = Path(__file__).parents[3] / "docs" / "teaching" / "claims.md"
HEAD = """\
# The sources' claims and our results

The course is based on five texts. Their authors list the advantages and disadvantages of their
agents, and improvements that they planned. This page compares their statements with measurements,
so that you can discuss them in class. Some statements are confirmed, others are not, and most
become more interesting with a number.

`python3 run.py bench claims` plays the games and writes this page. Every deal is played from both
seats, a tie counts half, and the intervals are Wilson's at 95 %. All numbers except the times are
the same on every machine.
"""


def page(numbers: Mapping[str, float]) -> str:
    """Return the page; raises KeyError for a number that was not measured."""
    values = _with_intervals(numbers) | _node_counts() | _richer_states()
    lines = [HEAD]
    for source in tomllib.loads(TABLE.read_text("utf-8"))["source"]:
        lines += [
            f"## {source['name']}",
            "",
            source["of"],
            "",
            "| | claim | true? | result | where |",
            "|-|-|-|-|-|",
        ]
        lines += [
            f"| {claim['kind']} | {claim['says']} | **{claim['verdict']}** | "
            f"{_spaced(claim['result'].format(**values))} | {claim['where']} |"
            for claim in source["claim"]
        ]
        lines.append("")
    return "\n".join(lines)


def _richer_states() -> dict[str, float | str]:
    """Return the results of `research/richer_state.py`, with texts for intervals."""
    return {one.name: one.score for one in richer_states()} | {
        f"{one.name}_interval": f"{one.low:.2f} to {one.high:.2f}" for one in richer_states()
    }


def _spaced(text: str) -> str:
    """Return the text with a space before each percent sign, as everywhere in the guides."""
    return re.sub(r"(\d)%", r"\1 %", text)


def measured() -> Mapping[str, float]:
    """Return the numbers of the last complete run."""
    return json.loads(NUMBERS.read_text("utf-8"))


def _with_intervals(numbers: Mapping[str, float]) -> dict[str, float | str]:
    """Return the numbers, with texts such as "0.34 to 0.40" for intervals."""
    return dict(numbers) | {
        f"{name}_interval": f"{numbers[f'{name}_low']:.2f} to {numbers[f'{name}_high']:.2f}"
        for name in [key.removesuffix("_low") for key in numbers if key.endswith("_low")]
    }


def _node_counts() -> dict[str, int]:
    """Return the nodes of searches from the empty board and from all boards with one mark, from the
    published counts.
    """
    totals = node_counts()["totals"]
    return {f"{name}_nodes": counts[0] for name, counts in totals.items()} | {
        f"{name}_ply1": counts[1] for name, counts in totals.items()
    }
