"""Generated classes for the benchmarks: a course folder with submissions of known kinds."""

import shutil
import sqlite3
from contextlib import closing
from itertools import cycle, islice
from pathlib import Path

from autograder import workspace
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.release.assignments import generate_assignment
from course.checks import load_study

KINDS = 12  # reference, stub and the first mutants of the study
UNUSED = "\n\ndef unused_{0}(state):\n    return state.to_move, {0}\n"


def generated_class(
    root: Path, study_name: str, students: int, db_url: str | None = None, length: int = 1
) -> CourseFolder:
    """Make a course folder with this many submissions of modules of several kinds.

    `db_url` is the address of the gradebook, by default in the folder. `length` is a factor for the
    length of the modules.
    """
    study = load_study(study_name)
    folder = CourseFolder.create(root)
    if db_url:
        with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as file:
            file.write(f"c.CourseDirectory.db_url = {db_url!r}\n")
    generate_assignment(folder, study)
    texts = list(workspace.module_texts(study).values())[:KINDS]
    for number, text in enumerate(islice(cycle(texts), students)):
        target = folder.submission(study.assignment, f"s{number:05}")
        shutil.copytree(folder.release(study.assignment), target)
        (target / study.module).write_text(_longer(text, length), "utf-8")
    return folder


def _longer(text: str, times: int) -> str:
    """Return a module that is made longer by this factor with unused functions."""
    functions = (times - 1) * len(text) // len(UNUSED.format(100))
    return text + "".join(UNUSED.format(number) for number in range(functions))


def booked(folder: CourseFolder) -> list[tuple]:
    """Return the gradebook's data on submissions, sorted and without the random ids of rows."""
    query = """
        SELECT a.name, s.student_id, n.name, c.name, g.auto_score, g.manual_score, g.extra_credit,
               g.needs_manual_grade, s.timestamp, sn.late_submission_penalty
        FROM grade g JOIN base_cell c ON g.cell_id = c.id
        JOIN submitted_notebook sn ON g.notebook_id = sn.id
        JOIN notebook n ON sn.notebook_id = n.id
        JOIN submitted_assignment s ON sn.assignment_id = s.id
        JOIN assignment a ON s.assignment_id = a.id"""
    with closing(sqlite3.connect(folder.root / "gradebook.db")) as database:
        return sorted(map(tuple, database.execute(query)), key=repr)
