"""Recognises agents that are given players: those are opponents in the ladder, not answers.

In the agent's process they are absent (`course.probes.ladder_agent`). Two other ways are left: an
agent that plays as one does, however it was written, and code that was copied from one. Nothing
recognises an agent that rewrites a given player step by step and changes a tenth of what it does.

`ISMCTS` and `FittedLookAhead` are recognised by their code only. They draw random numbers, and
`ISMCTS` stops by the clock, so that it plays the same action as another `ISMCTS` in five to six of
ten decisions only, and `FittedLookAhead` with another seed in about two thirds. A look-ahead plays
the action of `ISMCTS` in three to four of ten, and a student who grows a tree with the ideas of
study 9 and the quick player may come closer: no limit between the two would spare all honest
agents.
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

from course.probes.syntax import parsed
from sequence import GIVEN, Greedy
from sequence.agents.worth import best_action
from sequence.league.game import Played

SAME = 0.9  # of the actions: other agents play at most two thirds as any of these would
LEAST = 100  # actions before that is judged
COPIED = 0.5  # of a player's code
# Characters of an agent's code that can be compared: over twenty times those of a given player. To
# read as many, Python needs seconds, and nothing would stop it.
COMPARED = 200_000

Form = tuple[Any, ...]  # the kinds of a function's nodes, and the numbers of its names

BY_TURNS = "one or another given player"
# What these play is decided by what they see.
PLAYERS = {
    "Greedy": lambda state: Greedy().choose(state.observation()),
    "the quick player of sequence.agents.worth": best_action,
}


class Likeness:
    """Counts how often an agent's actions are those that a given player would play."""

    def __init__(self) -> None:
        self.actions = 0
        self.same: Counter[str] = Counter()

    def add(self, played: Played, seat: int) -> None:
        """Look at one game; actions with no choice, and those played after a warning, are left out."""
        warned = {warning.action for warning in played.warnings}
        for number, state in enumerate(played.states[:-1]):
            if state.to_move == seat and number not in warned and len(state.legal_actions()) > 1:
                self.actions += 1
                action = played.states[number + 1].history[-1]
                same = [name for name, choose in PLAYERS.items() if choose(state) == action]
                self.same.update(same + [BY_TURNS] * bool(same))

    @property
    def player(self) -> str | None:
        """The given player that this agent is, if it is one."""
        if self.actions < LEAST:
            return None
        return next(
            (name for name in (*PLAYERS, BY_TURNS) if self.same[name] >= SAME * self.actions), None
        )


def code_of(sources: Iterable[str]) -> list[str]:
    """The modules that may hold functions: a table of weights has none, however long it is."""
    return [text for text in sources if "def" in text]


def copied_player(sources: Iterable[str]) -> str | None:
    """The given player whose code, more than half of it, is in these modules.

    Only the form of functions is compared: names, comments, types and numbers may differ.
    """
    found: Counter[Form] = Counter()
    longest = max(len(form) for functions in _given().values() for form in functions)
    for source in sources:
        found |= _functions(source, longest)
    for name, functions in _given().items():
        if _size(functions & found) > COPIED * _size(functions):
            return name
    return None


def _size(functions: Counter[Form]) -> int:
    return sum(len(form) * number for form, number in functions.items())


@cache
def _given() -> dict[str, Counter[Form]]:
    """The functions of each given player, whose module is not imported for that."""
    specs = {name: find_spec(module) for name, module in GIVEN.items()}
    return {
        name: _functions(Path(spec.origin).read_text("utf-8"))
        for name, spec in specs.items()
        if spec and spec.origin
    }


def _functions(source: str, longest: int = sys.maxsize) -> Counter[Form]:
    """The form of each function in a module, but of longer ones; none if it cannot be read."""
    try:
        tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Counter()
    forms = (_form(node, longest) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return Counter(form for form in forms if form)


def _form(function: ast.FunctionDef, longest: int) -> Form:
    """The kinds of a function's nodes, with its names numbered as they come.

    Empty where that is longer than `longest`: a hundred functions, one in another, would have the
    innermost looked at a hundred times.
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
        if not isinstance(node, ast.arg):  # which has nothing below it but a type
            nodes += islice(
                (
                    child
                    for child in ast.iter_child_nodes(node)
                    if child is not getattr(node, "annotation", None)
                ),
                longest,
            )
    return tuple(form)
