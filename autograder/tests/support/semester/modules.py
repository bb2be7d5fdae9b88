"""The modules and notebooks that students submit: the answer, or the answer with one mistake."""

import json
from pathlib import Path
from typing import NamedTuple


class Mistake(NamedTuple):
    """A change of the answer that loses points in one check only; `rules.py` lists the points."""

    old: str
    new: str


MISTAKES = {
    "root not counted": Mistake(
        """
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move)
        return Search(move, value, nodes.visited)""",
        """
        best, best_move = -inf, None
        with NodeCounter() as nodes:
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), state.to_move)
                if value > best:
                    best, best_move = value, move
        return Search(best_move, best, nodes.visited)""",
    ),
    "a move after the end": Mistake(
        """
            return state.utility(player), None
        best_move = None""",
        """
            return state.utility(player), -1
        best_move = None""",
    ),
    "a lane too many": Mistake("return two, one", "return two, one + 1"),
    "root of Type A not counted": Mistake(
        """
        with NodeCounter() as nodes:
            value, move = self.value(state, state.to_move, 0)
        return Search(move, value, nodes.visited)""",
        """
        best, best_move = -inf, None
        with NodeCounter() as nodes:
            for move in state.legal_moves():
                value, _ = self.value(state.after(move), state.to_move, 1)
                if value > best:
                    best, best_move = value, move
        return Search(best_move, best, nodes.visited)""",
    ),
    "a tenth too much": Mistake(
        "return (3 * p2 + p1 - 3 * o2 - o1) / 10",
        "return (3 * p2 + p1 - 3 * o2 - o1 + 1) / 10",
    ),
    "multiples of three": Mistake("% (MOST + 1)", "% MOST"),
}


def module_text(answer: Path, mistake: str, student: str) -> str:
    """Return the text of a module: the answer with this mistake, or without one if it is "".

    The lines around the solutions are removed, and a comment makes it this student's own text.
    """
    text = answer.read_text("utf-8")
    if mistake:
        change = MISTAKES[mistake]
        assert text.count(change.old) == 1, mistake
        text = text.replace(change.old, change.new)
    lines = [line for line in text.splitlines() if "### " not in line]
    return "\n".join([*lines, f"# {student}", ""])


def notebook_with_answer(notebook: str, question: str, answer: str) -> str:
    """Return the text of a released notebook in which one question is answered."""
    content = json.loads(notebook)
    (cell,) = (
        cell
        for cell in content["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == question
    )
    cell["source"] = answer
    return json.dumps(content)
