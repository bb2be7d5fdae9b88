"""Reads what nbgrader's gradebook holds of one submission: the truth that a ledger must match."""

from nbgrader.api import Gradebook, MissingEntry

Booked = dict[str, list[float | None]]


def booked(db_url: str, assignment: str, student: str) -> Booked:
    """The automatic points and the extra credit of each cell, by notebook and cell.

    Points that people give are theirs to change; these are only ours.
    """
    with Gradebook(db_url) as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return {}
        return {f"{notebook.name}/{grade.name}": [grade.auto_score, grade.extra_credit]
                for notebook in submission.notebooks for grade in notebook.grades}


def holds(found: Booked, claimed: Booked) -> bool:
    """Whether a gradebook still has what a ledger claims; other extra credit is a person's."""
    return found.keys() == claimed.keys() and all(
        points == ours and (extra is None) <= (our_extra is None)
        for (points, extra), (ours, our_extra) in ((found[c], claimed[c]) for c in found))
