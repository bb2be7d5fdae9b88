"""Weights learned from random games: how they predict and play.

The notebook's own code learns and plays, with the reference answer of its study. The results are
written to `course/recorded/weights_from_games.json`, which the notebook shows.
"""

import ast
import sys
from collections.abc import Callable
from typing import Any

import jupytext

from autograder.benchmarks import Result
from autograder.benchmarks._games import as_text, watched
from autograder.workspace import load_answer
from course.probes import load_study
from course.probes.syntax import FOR_THE_SHELL, parsed
from course.recorded import FOLDER, LearnedWeights
from sequence import Greedy

TABLE = FOLDER / "weights_from_games.json"
STUDY = "study8"
NOTEBOOK = "*_weights_from_games.py"
GAMES = (10, 30, 100, 300, 1_000)  # to learn from
HELD_OUT = 250
DEALS = 100
FIRST_DEAL = 500
FIRST_GAME = 100_000  # of those to learn from, far from the deals of the matches
ONLY = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def run() -> list[Result]:
    """Learn, play all matches and write the table; takes about six minutes on an idle core."""
    code = definitions()
    entries = [entry for name in ("lines", "patterns") for entry in learned(code, name)]
    TABLE.write_text(as_text(entries), "utf-8")
    return [
        Result(
            f"{entry.features}, {entry.games:,} games",
            entry.score,
            f"of {entry.matches} games",
            peer="Greedy",
        )
        for entry in entries
    ]


def definitions() -> dict[str, Any]:
    """What the notebook defines: the names of its functions and classes."""
    (path,) = load_study(STUDY).folder.glob(NOTEBOOK)
    found: dict[str, Any] = {}
    sys.modules["sarsa"] = load_answer(STUDY)
    try:
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "code":
                tree = parsed(FOR_THE_SHELL.sub("", cell.source))
                body: list[ast.stmt] = [node for node in tree.body if isinstance(node, ONLY)]
                exec(compile(ast.Module(body, []), path.name, "exec"), found)
    finally:
        del sys.modules["sarsa"]
    return found


def learned(
    code: dict[str, Any],
    name: str,
    games: tuple[int, ...] = GAMES,
    held_out: int = HELD_OUT,
    deals: int = DEALS,
) -> list[LearnedWeights]:
    """Fit these features to more and more games, and play with what was learned."""
    features: Callable = code[name]
    rows = code["positions"](games[-1] + held_out, features, FIRST_GAME)
    others = rows[rows[:, 0] >= games[-1]]
    entries = []
    for number in games:
        seen = code["split"](rows, number)
        weights = code["fit"](*seen)
        found = watched(
            f"{name}, {number:,} games",
            code["Learner"](weights, features),
            Greedy(),
            deals,
            FIRST_DEAL,
        )
        low, high = found.interval
        loss_seen, loss_held_out = (
            round(float(code["loss"](weights, *of)), 3)
            for of in (seen, (others[:, 1:-1], others[:, -1]))
        )
        entries.append(
            LearnedWeights(
                name,
                number,
                loss_seen,
                loss_held_out,
                2 * deals,
                round(found.score, 3),
                round(low, 3),
                round(high, 3),
            )
        )
    return entries
