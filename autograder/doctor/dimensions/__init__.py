"""Which kinds of cases the checks of a study have, and which mutants fail on each kind.

A *dimension* is a property of a case, such as the player to move or the number of legal moves; it
has a few values. It is computed from the position and the arguments of a case alone, so no
student's code runs. `values.py` lists the dimensions of each question, and `table.py` counts, for
each value of each dimension of a check, the public cases, the hidden cases and fresh ones.

**Directions are inferred from losses.** A sentence such as "for the player to move" can be false
for x, for o, or for both. The tables of mutants do not list the direction. Instead, the replies of
each mutant to the hidden cases show it (see `directions.py`). So mutants need no further data, and
a direction cannot be listed incorrectly.

`dimensions.toml` in the staff's folder of a study lists the values that no case can have, and the
sentences that are about one direction only, each with the reason.

May import the rest of `doctor` and the layers below it.
"""

from autograder.doctor.dimensions.directions import (
    SentenceDirections,
    direction_problems,
    sentence_directions,
)
from autograder.doctor.dimensions.table import DimensionTable, Row, dimension_table
from autograder.doctor.dimensions.values import Value, values_of

__all__ = [
    "DimensionTable",
    "Row",
    "SentenceDirections",
    "Value",
    "dimension_table",
    "direction_problems",
    "sentence_directions",
    "values_of",
]
