"""Published node counts of every search, to compare your own counts with."""

import json
from pathlib import Path
from typing import Any


def node_counts() -> dict[str, Any]:
    """How many nodes each search visits, the root included; a new dictionary at every call.

    `["minimax"]` and `["alpha_beta"]` map every board with at most two marks, as text, to its
    count. `["totals"]` maps "minimax", "alpha_beta", "type_a", "type_a_pruned" (Type A with
    alpha-beta in board order) and "type_a_plus" to nine numbers: the sum over all non-terminal
    boards with 0, 1, ... 8 marks.

    >>> node_counts()["minimax"]["_________"]
    549946
    """
    counts: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return counts
