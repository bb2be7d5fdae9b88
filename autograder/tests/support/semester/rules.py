"""The work of the semester, and the marks that the course's rules give for it, written by hand.

The rules: the last minute of a due date is 23:59. Late work loses 10 % per day or part of a day, at
most 40 %; 15 minutes are not late. Each student has two free days in the term. They are used in the
order of the due dates, but not if they do not help. The best attempt counts.
"""

from collections.abc import Sequence
from typing import NamedTuple

# Points of the checks. In study 3, the course raises `lane_counts` from 1.5 to 2 points for lanes with
# one mark, and leaves out `type_a_plus`; the new kit raises the nodes of `type_a` from 4 to 5 points.
FULL = {
    "study1": 10 + 6 + 5,
    "study2": 15,
    "study3": (1.5 + 2) + 2 + 3 + (2 + 3 + 5 + 1) + 5,
    "study11": 4,
}
WRITTEN = {"study1": 8, "study2": 10, "study3": 3 + 4 * 2, "study11": 2}
LOSES = {
    "": 0,
    "root not counted": 3,
    "a move after the end": 1,
    "a lane too many": 2,
    "root of Type A not counted": 5,
    "a tenth too much": 2,
    "multiples of three": 2,
}
MISTAKES = {
    "study1": ["", "root not counted", "a move after the end"],
    "study2": ["", "a move after the end"],
    "study3": ["", "a lane too many", "root of Type A not counted", "a tenth too much"],
    "study11": ["", "multiples of three"],
}
SUBMIT = {  # the numbers of the students who submit something, besides those in CASES
    "study1": range(1, 61),
    "study2": range(1, 9),
    "study3": [*range(14, 20), *range(32, 40)],
    "study11": range(1, 11),
}
HEURISTIC = 2  # the points for `heuristic` in study 3, the check that next year's variant changes
DAY = 24.0


class Attempt(NamedTuple):
    """A module with a mistake ("" for none), and the time in hours after the due date."""

    mistake: str = ""
    hours: float = -2


class Case(NamedTuple):
    """What a student submits for a study, and the mark that counts at the end of the term."""

    student: str
    study: str
    mark: float
    attempts: Sequence[Attempt] = (Attempt(),)


ROOT = "root not counted"
CASES = [
    # Two days late, and both are free.
    Case("s03", "study1", 21, [Attempt("", 2 * DAY - 1)]),
    # Three days late, of which two are free.
    Case("s04", "study1", 21 * 0.9, [Attempt("", 3 * DAY - 1)]),
    # An extension of two days, given in advance; free days are left for study 3.
    Case("s05", "study1", 21, [Attempt("", 1.5 * DAY)]),
    Case("s05", "study3", 24.5, [Attempt("", 2 * DAY)]),
    # Ten minutes are not late, sixteen are.
    Case("s06", "study1", 21, [Attempt("", 1 / 6)]),
    Case("s06", "study3", 24.5 * 0.9, [Attempt("", 2 * DAY + 16 / 60)]),
    # A week late: at most 40 %. Free days would not help, so study 3 gets them.
    Case("s07", "study1", 21 * 0.6, [Attempt("", 7 * DAY)]),
    Case("s07", "study3", 24.5, [Attempt("", DAY)]),
    # The second attempt is three days late, and better all the same.
    Case("s08", "study1", 21 * 0.9, [Attempt(ROOT), Attempt("", 3 * DAY)]),
    # The second attempt is worse.
    Case("s09", "study1", 21, [Attempt(), Attempt(ROOT, -1)]),
    # The second attempt is correct, but so late that the first one counts.
    Case("s10", "study1", 21 - 3, [Attempt(ROOT), Attempt("", 6 * DAY)]),
    # A pair: s11 submits study 1, and s12 study 3, three days late. For study 3, s11 has two more
    # days, and a free one; s12 has only the two free ones.
    Case("s11", "study1", 21 - 3, [Attempt(ROOT)]),
    Case("s12", "study1", 21 - 3, []),
    Case("s11", "study3", 24.5, []),
    Case("s12", "study3", 24.5 * 0.9, [Attempt("", 3 * DAY)]),
    # The pair submits study 2 twice, and the better attempt counts for both.
    Case("s11", "study2", 15, [Attempt("", -3)]),
    Case("s12", "study2", 15, [Attempt("a move after the end")]),
    # Written answers: both have 3 points of 3 in the end, s02 after a regrade request.
    Case("s01", "study3", 24.5 + 3),
    Case("s02", "study3", 24.5 - 2 + 3, [Attempt("a tenth too much")]),
    # Section B has three more days for study 3; s13 is in section A, and has 2 points for an answer.
    Case("s13", "study3", (24.5 + 2) * 0.9, [Attempt("", 3 * DAY)]),
    Case("s31", "study3", 24.5, [Attempt("", 3 * DAY)]),
    # Four days late, one of them free, if the section's three days are counted.
    Case("s40", "study3", 24.5 - 2, [Attempt("a lane too many", 4 * DAY)]),
    # A late adder, who has two weeks more for study 1.
    Case("s61", "study1", 21 - 1, [Attempt("a move after the end", 10 * DAY)]),
    Case("s61", "study3", 24.5 - 5, [Attempt("root of Type A not counted")]),
]
DROPPED = "s60"
ANSWERS = {"s01": 3, "s02": 1, "s13": 2}  # of 3 points for a written answer to study 3, at first


def usual_mistake(number: int, study: str) -> str:
    """Return the mistake in the module of a student who is in no case."""
    mistakes = MISTAKES[study]
    return mistakes[number % len(mistakes)]


def attempts_at(study: str) -> dict[str, Sequence[Attempt]]:
    """Return the attempts of all students who submit something."""
    attempts: dict[str, Sequence[Attempt]] = {
        f"s{number:02}": [Attempt(usual_mistake(number, study))] for number in SUBMIT[study]
    }
    attempts |= {case.student: case.attempts for case in CASES if case.study == study}
    return {student: own for student, own in attempts.items() if own}


def final_marks(study: str) -> dict[str, float]:
    """Return the marks of a study at the end of the term; other students have none."""
    marks = {
        f"s{number:02}": FULL[study] - LOSES[usual_mistake(number, study)]
        for number in SUBMIT[study]
    }
    marks |= {case.student: case.mark for case in CASES if case.study == study}
    return {student: mark for student, mark in marks.items() if student != DROPPED}


def module_points(study: str, student: str) -> float:
    """Return the points of a student's last module, before a penalty."""
    return FULL[study] - LOSES[attempts_at(study)[student][-1].mistake]


def has_usual_heuristic(student: str) -> bool:
    """Whether a student's module has the right heuristic and the right counts."""
    mistake = attempts_at("study3")[student][-1].mistake
    return mistake in ("", "root of Type A not counted")
