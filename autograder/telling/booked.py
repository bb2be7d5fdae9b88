"""Reads what the gradebook says of each cell, with two queries for any number of students.

In SQL: nbgrader, whose classes would say the same, takes a second to import, more than a command
needs that finds nothing to do.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, text

GRADES = """
    SELECT s.student_id, n.name, sn.late_submission_penalty, c.name, g.auto_score, g.manual_score,
           g.extra_credit, g.needs_manual_grade, coalesce(gc.max_score, tc.max_score)
    FROM assignment a JOIN submitted_assignment s ON s.assignment_id = a.id
    JOIN submitted_notebook sn ON sn.assignment_id = s.id
    JOIN notebook n ON sn.notebook_id = n.id
    LEFT JOIN grade g ON g.notebook_id = sn.id
    LEFT JOIN base_cell c ON g.cell_id = c.id
    LEFT JOIN grade_cells gc ON gc.id = c.id
    LEFT JOIN task_cells tc ON tc.id = c.id
    WHERE a.name = :assignment
        AND (CAST(:student AS VARCHAR(128)) IS NULL OR s.student_id = :student)
    ORDER BY s.student_id, n.name, c.name"""
COMMENTS = """
    SELECT s.student_id, n.name, c.name, coalesce(t.manual_comment, t.auto_comment)
    FROM assignment a JOIN submitted_assignment s ON s.assignment_id = a.id
    JOIN submitted_notebook sn ON sn.assignment_id = s.id
    JOIN notebook n ON sn.notebook_id = n.id
    JOIN comment t ON t.notebook_id = sn.id
    JOIN base_cell c ON t.cell_id = c.id
    WHERE a.name = :assignment
        AND (CAST(:student AS VARCHAR(128)) IS NULL OR s.student_id = :student)
    ORDER BY s.student_id, n.name, c.name"""
Booked = dict[str, dict[str, dict[str, Any]]]  # student -> notebook -> what is booked, as JSON


def booked(db_url: str, assignment: str, student: str | None = None) -> Booked:
    """What is booked on everybody's notebooks of an assignment, or on those of one student.

    Of each notebook: the "penalty" for being late, the "marks" of each cell that has points, and
    the "comments" on cells.
    """
    found: Booked = defaultdict(dict)
    wanted = {"assignment": assignment, "student": student}
    with _reading(db_url) as database:
        for who, notebook, penalty, cell, auto, manual, extra, waits, points in database.execute(
                text(GRADES), wanted):
            book = found[who].setdefault(
                notebook, {"penalty": penalty or 0, "marks": {}, "comments": {}})
            if cell is not None:
                given = auto if manual is None else manual
                book["marks"][cell] = {  # without a mark extra credit does not count, for nbgrader
                    "score": 0 if given is None else given + (extra or 0),
                    "points": points or 0, "waits": bool(waits)}
        for who, notebook, cell, said in database.execute(text(COMMENTS), wanted):
            if said:
                found[who][notebook]["comments"][cell] = said
    return dict(found)


@contextmanager
def _reading(db_url: str) -> Iterator[Connection]:
    with _engine(db_url).connect() as connection:
        yield connection


@cache
def _engine(db_url: str) -> Engine:
    return create_engine(db_url, poolclass=NullPool)  # a gradebook may be put in another's place
