"""Weights learned from random games: accuracy and strength.

The notebook's own code, with the reference answer of its study, learns and plays. The results are
written to `course/published/weights_from_games.json`, for the notebook.
"""

import ast
import sys
from collections.abc import Callable
from typing import Any

import jupytext

from autograder.benchmarks import Result
from autograder.benchmarks.support.games import as_text, compare_with_progress
from autograder.workspace import load_answer
from common.syntax import SHELL_LINES, parse_python
from course.checks import load_study
from course.published import FOLDER, LearnedWeights
from sequence import Greedy

TABLE = FOLDER / "weights_from_games.json"
STUDY = "study8"
NOTEBOOK = "*_weights_from_games.py"
GAMES = (10, 30, 100, 300, 1_000)  # for training
HELD_OUT = 250
DEALS = 100
FIRST_DEAL = 500
FIRST_GAME = 100_000  # of the training games; differs from the deals of the matches
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
    """Return the functions and classes that the notebook defines, by name."""
    (path,) = load_study(STUDY).folder.glob(NOTEBOOK)
    namespace: dict[str, Any] = {}
    sys.modules["sarsa"] = load_answer(STUDY)
    try:
        for cell in jupytext.read(path).cells:
            if cell.cell_type == "code":
                tree = parse_python(SHELL_LINES.sub("", cell.source))
                body: list[ast.stmt] = [node for node in tree.body if isinstance(node, ONLY)]
                exec(compile(ast.Module(body, []), path.name, "exec"), namespace)
    finally:
        del sys.modules["sarsa"]
    return namespace


def learned(
    code: dict[str, Any],
    name: str,
    games: tuple[int, ...] = GAMES,
    held_out: int = HELD_OUT,
    deals: int = DEALS,
) -> list[LearnedWeights]:
    """Fit the weights of these features to increasing numbers of games, and play with the learned
    weights.
    """
    features: Callable = code[name]
    rows = code["positions"](games[-1] + held_out, features, FIRST_GAME)
    others = rows[rows[:, 0] >= games[-1]]
    entries = []
    for number in games:
        seen = code["split"](rows, number)
        weights = code["fit"](*seen)
        match = compare_with_progress(
            f"{name}, {number:,} games",
            code["Learner"](weights, features),
            Greedy(),
            deals,
            FIRST_DEAL,
        )
        low, high = match.interval
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
                round(match.score, 3),
                round(low, 3),
                round(high, 3),
            )
        )
    return entries
