"""Recognises agents that are built-in players, which are the ladder's opponents and not answers.

The agent's process does not contain them (`course.checks.matches.ladder_agent`). This module
detects the two remaining ways to use one: playing the same actions, and copying its code. It does
not recognise an agent whose code is rewritten line by line and which changes a tenth of the
actions.

`ISMCTS` and `FittedLookAhead` are recognised only by their code. Both draw random numbers, and the
clock decides when `ISMCTS` stops. Two instances of `ISMCTS` therefore choose the same action in
only 50 to 60 % of all decisions, and two of `FittedLookAhead` with different seeds in about two
thirds. A look-ahead chooses the same action as `ISMCTS` in 30 to 40 %, and a tree search that uses
the ideas of study 9 may come closer, so every threshold would also reject some honest agents.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from common.messages import english
from common.syntax import parse_python
from sequence import LAZY_PLAYERS, Greedy
from sequence.agents.evaluation import best_action
from sequence.league.game import PlayedGame

SAME_ACTIONS = 0.9  # share of equal actions; other agents have at most two thirds
MIN_ACTIONS = 100  # actions to count before they are compared
COPIED_CODE = 0.5  # share of a player's code that counts as a copy
# Maximum number of characters to compare, over twenty times the length of a built-in player.
# Parsing this much takes seconds and cannot be interrupted.
MAX_CODE_LENGTH = 200_000

Form = tuple[Any, ...]  # the types of a function's syntax nodes, and the numbers of its names

SEVERAL_PLAYERS = english("one or another built-in player")
# The players whose action depends only on the observation.
PLAYERS = {
    "Greedy": lambda state: Greedy().choose(state.observation()),
    "the quick player of sequence.agents.evaluation": best_action,
}


class Similarity:
    """Counts how often an agent chooses the action that a built-in player would choose."""

    def __init__(self) -> None:
        self.actions = 0
        self.same: Counter[str] = Counter()

    def add(self, played: PlayedGame, seat: int) -> None:
        """Count the actions of one game, except forced actions and replacements of an illegal one."""
        warned = {warning.action for warning in played.warnings}
        for number, state in enumerate(played.states[:-1]):
            if state.to_move == seat and number not in warned and len(state.legal_actions()) > 1:
                self.actions += 1
                action = played.states[number + 1].history[-1]
                same = [name for name, choose in PLAYERS.items() if choose(state) == action]
                self.same.update(same + [SEVERAL_PLAYERS] * bool(same))

    @property
    def player(self) -> str | None:
        """The built-in player that this agent plays like, or None."""
        if self.actions < MIN_ACTIONS:
            return None
        return next(
            (
                name
                for name in (*PLAYERS, SEVERAL_PLAYERS)
                if self.same[name] >= SAME_ACTIONS * self.actions
            ),
            None,
        )


def code_of(sources: Iterable[str]) -> list[str]:
    """The modules that may contain functions, without long tables of weights."""
    return [text for text in sources if "def" in text]


def copied_player(sources: Iterable[str]) -> str | None:
    """The built-in player that has more than half of its code in these modules, or None.

    Only the structure of functions is compared: names, comments, types and numbers may differ.
    """
    theirs: Counter[Form] = Counter()
    longest = max(len(form) for functions in _builtin_functions().values() for form in functions)
    for source in sources:
        theirs |= _functions(source, longest)
    for name, functions in _builtin_functions().items():
        if _size(functions & theirs) > COPIED_CODE * _size(functions):
            return name
    return None


def _size(functions: Counter[Form]) -> int:
    return sum(len(form) * number for form, number in functions.items())


@cache
def _builtin_functions() -> dict[str, Counter[Form]]:
    """The functions of each built-in player, read without importing its module."""
    specs = {name: find_spec(module) for name, module in LAZY_PLAYERS.items()}
    return {
        name: _functions(Path(spec.origin).read_text("utf-8"))
        for name, spec in specs.items()
        if spec and spec.origin
    }


def _functions(source: str, longest: int = sys.maxsize) -> Counter[Form]:
    """The structure of each function of a module, except longer ones; empty if it cannot be parsed."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Counter()
    forms = (_form(node, longest) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return Counter(form for form in forms if form)


def _form(function: ast.FunctionDef, longest: int) -> Form:
    """The types of a function's nodes, with its names numbered in order of appearance.

    Empty if it is longer than `longest`; without this limit, nested functions would be visited many
    times.
    """
    numbers: dict[str, int] = {}
    nodes: list[ast.AST] = [
        *function.args.args,
        *function.body[ast.get_docstring(function) is not None :],
    ]
    form: list[str | int] = []
    while nodes:
        if len(form) + len(nodes) > longest:
            return ()
        node = nodes.pop()
        form.append(type(node).__name__)
        for name in (getattr(node, field, None) for field in ("id", "arg", "attr")):
            if isinstance(name, str):
                form.append(numbers.setdefault(name, len(numbers)))
        if not isinstance(node, ast.arg):  # a parameter's only child is its type
            nodes += islice(
                (
                    child
                    for child in ast.iter_child_nodes(node)
                    if child is not getattr(node, "annotation", None)
                ),
                longest,
            )
    return tuple(form)
