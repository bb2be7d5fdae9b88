"""Reads what nbgrader's gradebook holds of submissions: the truth that a ledger must match.

In SQL: nbgrader, whose classes say the same, takes a second to import, and a command waits for it.
"""

from collections import defaultdict
from operator import attrgetter

from sqlalchemy import Row, text

from autograder.database import engine

Booked = dict[str, list[float | None]]
OF_NOTEBOOKS = """
    FROM assignment a
    JOIN submitted_assignment s ON s.assignment_id = a.id
    JOIN submitted_notebook sn ON sn.assignment_id = s.id
    JOIN notebook n ON sn.notebook_id = n.id"""
OF_WHOM = """
    WHERE a.name = :assignment
        AND (CAST(:student AS VARCHAR(128)) IS NULL OR s.student_id = :student)"""
GRADES = f"""
    SELECT s.student_id AS student, n.name AS notebook, c.name AS cell, g.auto_score AS automatic,
        g.manual_score AS manual, g.extra_credit AS extra, g.needs_manual_grade AS waits,
        coalesce(gc.max_score, tc.max_score) AS points
    {OF_NOTEBOOKS}
    JOIN grade g ON g.notebook_id = sn.id
    JOIN base_cell c ON g.cell_id = c.id
    LEFT JOIN grade_cells gc ON gc.id = c.id
    LEFT JOIN task_cells tc ON tc.id = c.id
    {OF_WHOM}"""
IN_ORDER = attrgetter("notebook", "cell")  # here: each database has an order of its own


def booked(db_url: str, assignment: str, student: str | None = None) -> dict[str, Booked]:
    """The automatic points and the extra credit of each cell, by notebook and cell, of everybody
    or of one student.

    Points that people give are theirs to change; these are only ours.
    """
    found: dict[str, Booked] = defaultdict(dict)
    with engine(db_url).connect() as gradebook:
        grades = gradebook.execute(text(GRADES), {"assignment": assignment, "student": student})
        for grade in sorted(grades, key=IN_ORDER):
            found[grade.student] |= ours(grade)
    return dict(found)


def ours(grade: Row) -> Booked:
    """What one of `GRADES` says that is ours."""
    return {f"{grade.notebook}/{grade.cell}": [grade.automatic, grade.extra]}


def holds(found: Booked, claimed: Booked) -> bool:
    """Whether a gradebook still has what a ledger claims; other extra credit is a person's."""
    return found.keys() == claimed.keys() and all(
        points == ours and (extra is None) <= (our_extra is None)
        for (points, extra), (ours, our_extra) in ((found[c], claimed[c]) for c in found))
