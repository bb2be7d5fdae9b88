"""The dimensions that apply to each check, and the values of a case in them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from autograder.doctor.dimensions import arguments, board_games, card_game
from course.checks import Case, Check
from course.checks.positions import read_position
from course.checks.question import texts_of
from sequence.engine.observation import Observation

T = TypeVar("T")
SEVERAL = "positions for one agent"
_SEARCH = ("to move", "value", "legal moves", "tree", "turns")
_BOARD = ("player", "phase", "rules", "locked chips", "corner", "score")
_TURN = (*_BOARD, "actions", "jacks", "draft row", "dead card", "an action ends the game")
# The dimensions of the positions of each question; "search ISUCT" is for one agent only.
BY_QUESTION: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("search", "table", "mixed"), _SEARCH),
    **dict.fromkeys(("deep_limited", "deep_killers", "deep_table", "deep_iterated"), _SEARCH),
    **dict.fromkeys(("lane_counts", "heuristic"), ("to move", "end", "pairs")),
    "is_quiescent": ("to move", "end", "pairs"),
    "priority": ("to move", "legal moves", "pairs"),
    **dict.fromkeys(("step", "bellman", "episode", "self_play", "lane_update"), ("to move",)),
    "lane_kinds": ("to move",),
    "lane_values": ("to move", "end"),
    "mcts_reward": ("end",),
    **dict.fromkeys(("mcts_backup", "mcts_select", "mcts_expand"), ("to move",)),
    **dict.fromkeys(("mcts_simulate", "mcts_flat"), ("to move", "value", "turns")),
    "mcts_tree UCT": ("to move", "value", "legal moves", "turns"),
    **dict.fromkeys(("mcts_ensemble", "mcts_info_step", "mcts_tree ISUCT"),
                    ("rules", "score", "actions", "jacks", "draft row",
                     "an action ends the game")),
    **dict.fromkeys(("places", "line_cost", "cell_score", "evaluate_board", "evaluator_play",
                     "evaluator_draft", "blocking", "simple_score", "line_links", "best_reply",
                     "quick_replies", "sarsa_direction", "sarsa_cells", "sarsa_lines",
                     "sequence_draft"), _BOARD),
    **dict.fromkeys(("evaluator_action", "sequence_reward", "look_ahead", "top_k",
                     "sampled_search", "catalogue", "sarsa_actions", "sarsa_agent",
                     "sarsa_learning"), _TURN),
    "sarsa_explores": ("player", "phase", "score"),
    "sarsa_discards": tuple(name for name in _TURN if name != "corner"),
}  # fmt: skip
# Functions that are called with one position at a time: several in a case are independent.
_FUNCTIONS = frozenset(
    ("places", "line_cost", "cell_score", "evaluate_board", "evaluator_play", "evaluator_draft",
     "simple_score")
)  # fmt: skip
_ALL_VALUES = {**board_games.VALUES, **card_game.VALUES}


class Value(NamedTuple):
    """One value of a dimension: ("to move", "x")."""

    dimension: str
    value: str

    def __str__(self) -> str:
        return ": ".join(self)


def values_of(check: Check, case: Case, options: Iterable[str] = ()) -> frozenset[Value]:
    """Return the values of a case in all dimensions of its check.

    A case with several positions may have several values in one dimension. `options` are the
    arguments that some case of the check sets.
    """
    values = {Value(*pair) for pair in arguments.option_values(case, options)}
    for read, _ in _for_question(check, arguments.BY_QUESTION, []):
        values.update(Value(*pair) for pair in read(case))
    for text in texts_of(case):
        values |= position_values(check, text)
    if "on" in case and check.ask not in _FUNCTIONS:
        values.add(Value(SEVERAL, "one" if len(texts_of(case)) == 1 else "several"))
    return frozenset(values)


def position_values(check: Check, text: str) -> frozenset[Value]:
    """Return the values of one position in the dimensions of a check's positions."""
    return frozenset(
        Value(name, value)
        for name in _for_question(check, BY_QUESTION, ())
        for value in _values(text, name)
    )


def possible_values(check: Check, values: Iterable[Value]) -> list[Value]:
    """Return all values in the dimensions of a check; `values` are the ones that occur in some case.

    For dimensions without a list of values, such as options, these are the values that occur. A
    dimension with a single value is omitted.
    """
    occurring = list(dict.fromkeys(values))
    listed = dict(_listed(check, occurring))
    all_values = [Value(name, value) for name, some in listed.items() for value in some]
    all_values += sorted(value for value in occurring if value not in all_values)
    number = Counter(value.dimension for value in all_values)
    return [value for value in all_values if number[value.dimension] > 1]


def options_of(cases: Iterable[Case]) -> list[str]:
    """Return the options that some of the cases set."""
    return sorted({key for case in cases for key in case if arguments.is_option(key)})


def _listed(check: Check, occurring: Iterable[Value]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the dimensions of a check that have a list of values; those of positions only if some
    position has a value in them.
    """
    for _, dimensions in _for_question(check, arguments.BY_QUESTION, []):
        yield from dimensions.items()
    names = {value.dimension for value in occurring}
    for name in _for_question(check, BY_QUESTION, ()):
        if name in names:
            yield name, _ALL_VALUES[name]


def _for_question(check: Check, table: Mapping[str, T], default: T) -> T:
    """Return the entry for a check's question and agent, or for its question."""
    agent = check.settings.get("agent", "")
    return table.get(f"{check.ask} {agent}", table.get(check.ask, default))


@lru_cache(maxsize=100_000)
def _values(text: str, dimension: str) -> tuple[str, ...]:
    position = _position(text)
    dimensions: Mapping[str, Any] = (
        card_game.DIMENSIONS
        if isinstance(position, Observation)
        else board_games.dimensions_of(position)
    )
    return tuple(dimensions[dimension](position)) if dimension in dimensions else ()


_position = lru_cache(maxsize=100)(read_position)
