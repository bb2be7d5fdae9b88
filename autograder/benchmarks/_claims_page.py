"""The page of claims: the table `claims.toml` with the numbers of `claims.json`."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from course.recorded import node_counts

TABLE = Path(__file__).with_name("claims.toml")
NUMBERS = TABLE.with_suffix(".json")
PAGE = Path(__file__).parents[2] / "docs" / "teaching" / "claims.md"
HEAD = """\
# What the sources claim, and what games say

The course grew out of five texts, and their authors say what is good about their agents, what is
not, and what they would do next. Here is each of these statements with what was measured, so that
you can discuss it in class: some turn out as said, others do not, and most are more interesting
once there is a number.

`python3 run.py bench claims` plays the games and writes this page. Every deal is played from both
seats, a tie counts half, and the intervals are Wilson's at 95 %. All but the times are the same
on every machine.
"""


def page(numbers: Mapping[str, float]) -> str:
    """The page; raises KeyError if it names a number that was not measured."""
    found = _with_intervals(numbers) | _node_counts()
    lines = [HEAD]
    for source in tomllib.loads(TABLE.read_text("utf-8"))["source"]:
        lines += [
            f"## {source['name']}",
            "",
            source["of"],
            "",
            "| | it is said | does it hold? | what was found | where |",
            "|-|-|-|-|-|",
        ]
        lines += [
            f"| {claim['kind']} | {claim['says']} | **{claim['verdict']}** | "
            f"{claim['found'].format(**found)} | {claim['where']} |"
            for claim in source["claim"]
        ]
        lines.append("")
    return "\n".join(lines)


def measured() -> Mapping[str, float]:
    """The numbers of the last complete run."""
    return json.loads(NUMBERS.read_text("utf-8"))


def _with_intervals(numbers: Mapping[str, float]) -> dict[str, float | str]:
    """The numbers, and where there is an interval, one in words: "0.34 to 0.40"."""
    return dict(numbers) | {
        f"{name}_interval": f"{numbers[f'{name}_low']:.2f} to {numbers[f'{name}_high']:.2f}"
        for name in [key.removesuffix("_low") for key in numbers if key.endswith("_low")]
    }


def _node_counts() -> dict[str, int]:
    """Nodes from the empty board, and over all boards with one mark, from the published counts."""
    totals = node_counts()["totals"]
    return {f"{name}_nodes": counts[0] for name, counts in totals.items()} | {
        f"{name}_ply1": counts[1] for name, counts in totals.items()
    }
