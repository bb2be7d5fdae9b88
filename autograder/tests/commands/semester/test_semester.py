"""A semester with two sections, 60 students and Canvas, as an instructor runs it.

The instructor writes tables and runs commands; nothing else happens, except that a teaching assistant
marks written answers on the overview's page in JupyterLab. Every step of the calendar is a function.
In the end, the marks in the file for Canvas are those of `rules.py`.
"""

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder.tests.support.courses.marking import mark_in_lab
from autograder.tests.support.needs import need, need_isolation
from autograder.tests.support.semester import rules
from autograder.tests.support.semester.canvas_files import (
    Student,
    read_marks,
    write_gradebook,
    write_submissions,
    write_times,
)
from autograder.tests.support.semester.modules import module_text, notebook_with_answer
from common.command_lines import KIT
from course.checks.study_paths import VARIABLE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("semester")]

COURSE = "my_course"
TABLE = """
name = "Games, spring 2027"
id = "games_2027"

[study3]
leave_out = ["type_a_plus", "why-ten"]
points = { lane_counts = { one = 2 }, whose-move = 3 }

[plan]
study1 = 2
study3 = 4
study2 = 6
study11 = "2027-03-05 18:00"

[late]
percent = 10
per = "day"
grace_minutes = 15
at_most = 40
free_days = 2

[attempts]
counts = "best"
"""
DUE = {
    "study1": datetime(2027, 1, 24, 23, 59),
    "study3": datetime(2027, 2, 7, 23, 59),
    "study2": datetime(2027, 2, 21, 23, 59),
    "study11": datetime(2027, 3, 5, 18, 0),
}
ASSIGNMENTS = {
    "study1": "study1_minimax",
    "study2": "study2_alpha_beta",
    "study3": "study3_type_a",
    "study11": "study11_nim",
}
MODULES = {
    "study1": "minimax.py",
    "study2": "alphabeta.py",
    "study3": "heuristic.py",
    "study11": "nim.py",
}
COLUMNS = {  # the columns in Canvas with their points; the instructor chooses that of study 11
    f"Study {number}: {title} (880{number})": points
    for number, title, points in (
        (1, "Minimax", rules.FULL["study1"] + rules.WRITTEN["study1"]),
        (2, "Alpha-beta", rules.FULL["study2"] + rules.WRITTEN["study2"]),
        (3, "Type A", rules.FULL["study3"] + rules.WRITTEN["study3"]),
    )
} | {"Homework on Nim (8811)": rules.FULL["study11"] + rules.WRITTEN["study11"]}
COLUMN_OF = dict(zip(("study1", "study2", "study3", "study11"), COLUMNS, strict=True))
STUDENTS = {
    student.id: student
    for student in (
        Student(number, "Section A" if number <= 30 else "Section B") for number in range(1, 62)
    )
}
LATE_ADDER = "s61"
NEXT = "course_2028"
NEXT_STUDENTS = [Student(number, "Section A") for number in range(71, 83)]
NOTEBOOK, QUESTION = "03_lane_heuristic.ipynb", "answer-whose-move"
REMARKED = f"    03_lane_heuristic/{QUESTION}: 1 -> 3"  # in the history of s02's marks


class Term:
    """A folder with the instructor's files, and the kit that is in use."""

    def __init__(self, home: Path) -> None:
        self.home, self.kit, self.course = home, KIT, home / COURSE

    def run(self, *arguments: str, status: int = 0, course: str = COURSE) -> str:
        """Run a command with this exit status in the folder, and return its output."""
        environment = {**os.environ, "PYTHONPATH": str(self.kit), "COLUMNS": "500"}
        environment["TZ"] = "Europe/Berlin"
        environment.pop(VARIABLE, None)
        command = [sys.executable, "-P", "-m", "autograder", *arguments, "--course", course]
        done = subprocess.run(
            command, cwd=self.home, env=environment, capture_output=True, text=True, check=False
        )
        output = done.stdout + done.stderr
        assert done.returncode == status, f"{' '.join(arguments)}\n{output}"
        return output

    def answer(self, study: str, course: str = COURSE) -> Path:
        """Return the path of the answer to a study, in the course or else in the kit."""
        path = Path("autograder", "studies", ASSIGNMENTS[study], MODULES[study])
        own = self.home / course / "studies" / path
        return own if own.is_file() else self.kit / path

    def collect(self, study: str, attempt: int = 1, without: str = "", status: int = 0) -> str:
        """Collect the latest attempts, up to this number, from Canvas with their times."""
        latest = {}
        for student, attempts in rules.attempts_at(study).items():
            if student != without:
                latest[student] = attempts[min(attempt, len(attempts)) - 1]
        files = {
            STUDENTS[student]: self._files(study, student, own.mistake)
            for student, own in latest.items()
        }
        times = {
            STUDENTS[student]: f"{DUE[study] + timedelta(hours=own.hours):%Y-%m-%d %H:%M}"
            for student, own in latest.items()
        }
        archive = write_submissions(self.home / "submissions.zip", files)
        table = write_times(self.home / "times.csv", times)
        return self.run(
            "collect", study, "--from", str(archive), "--times", str(table), status=status
        )

    def _files(self, study: str, student: str, mistake: str) -> Mapping[str, str]:
        files = self.notebooks(study)
        files[MODULES[study]] = module_text(self.answer(study), mistake, student)
        if study == "study3" and student in rules.ANSWERS:
            text = files[NOTEBOOK]
            files[NOTEBOOK] = notebook_with_answer(text, QUESTION, f"The mover, says {student}.")
        return files

    def notebooks(self, study: str, course: str = COURSE) -> dict[str, str]:
        """Return the released notebooks of a study, without answers."""
        released = self.home / course / "release" / ASSIGNMENTS[study]
        return {path.name: path.read_text("utf-8") for path in released.glob("*.ipynb")}

    def mark(self, points: Mapping[str, float]) -> None:
        """Mark these students' answers to a question of study 3 in JupyterLab."""
        named = {STUDENTS[student].full_name: number for student, number in points.items()}
        cell = Path(NOTEBOOK).stem, QUESTION
        mark_in_lab(self.course, self.home / "lab", "study3", cell, named)

    def rows(self, study: str, course: str = COURSE) -> dict[str, dict[str, str]]:
        """Return the rows of the report's table, by student."""
        path = self.home / course / "reports" / f"{ASSIGNMENTS[study]}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture
def term(tmp_path: Path) -> Iterator[Term]:
    """An empty folder; the checkout must be the same afterwards."""
    need_isolation()
    before = changes_of_checkout()
    yield Term(tmp_path)
    assert changes_of_checkout() == before


def changes_of_checkout() -> str:
    """Return what git prints about the checkout of the kit; skip the test without git."""
    command = ["git", "-C", str(KIT), "status", "--porcelain", "--untracked-files=all"]
    need((KIT / ".git").exists() and bool(shutil.which("git")), "this kit is no git checkout")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_semester_by_commands_only(term: Term) -> None:
    """The final marks are those of the rules, and the checkout of the kit is unchanged."""
    january_sets_up_the_course(term)
    january_grants_extensions_in_advance(term)
    week_2_collects_study_1(term)
    week_4_collects_second_attempts(term)
    week_4_updates_the_roster(term)
    week_5_collects_study_3(term)
    week_6_answers_a_regrade_request(term)
    week_6_upgrades_the_kit(term)
    week_8_grades_the_other_studies(term)
    march_returns_the_marks_to_canvas(term)
    next_year_draws_a_variant(term)
    next_year_recognises_old_answers(term)


def january_sets_up_the_course(term: Term) -> None:
    """The roster comes from Canvas, and everything else from the course's table."""
    first = [STUDENTS[f"s{number:02}"] for number in range(1, 61)]
    roster = write_gradebook(term.home / "canvas.csv", first, COLUMNS)
    assert "added: 60 " in term.run("roster", str(roster))
    pair = term.home / "pair.csv"
    pair.write_text("id,group\ns11,pair\ns12,pair\n", "utf-8")
    assert "groups: 1; students in the largest: 2" in term.run("roster", str(pair))
    (term.course / "course.toml").write_text(TABLE, "utf-8")
    term.run("new-study", "nim")
    term.run("adapt")
    planned = term.run("plan", "own", "--first-day", "2027-01-11")
    for study, due in DUE.items():
        assert f"{ASSIGNMENTS[study]} is due {due:%Y-%m-%d %H:%M}" in planned
    notebooks = "".join(
        path.read_text("utf-8") for path in term.course.glob("release/study3_type_a/*.ipynb")
    )
    assert "study3.type_a" in notebooks
    assert "study3.type_a_plus" not in notebooks
    assert "answer-why-ten" not in notebooks


def january_grants_extensions_in_advance(term: Term) -> None:
    """To students before anything is submitted, and to a section."""
    term.run("extend", "study1", "--student", "s05", "--days", "2")
    term.run("extend", "study3", "--student", "s11", "--days", "2")
    term.run("extend", "study3", "--section", "Section B", "--until", "2027-02-10 23:59")
    assert len(term.run("extend").splitlines()) == 3


def week_2_collects_study_1(term: Term) -> None:
    """All students submit; one of a pair submits for both."""
    assert "submissions: 59, new: 59" in term.collect("study1", without=LATE_ADDER)
    term.run("grade-all", "study1")
    page = term.course / "feedback" / "s04" / "study1_minimax" / "01_minimax.html"
    assert "Free late days: 2 of 2 used" in page.read_text("utf-8")


def week_4_collects_second_attempts(term: Term) -> None:
    """The newer archive has all submissions; one is of a student who is not on the roster."""
    collected = term.collect("study1", attempt=2, status=1)
    assert "submissions: 59, new: 0, replaced: 3, unchanged: 56; not collected: 1" in collected
    assert "no student on the roster has this name or number" in collected
    term.run("grade-all", "study1")


def week_4_updates_the_roster(term: Term) -> None:
    """A student has dropped the course, and another one has joined it."""
    present = [student for name, student in STUDENTS.items() if name != rules.DROPPED]
    roster = write_gradebook(term.home / "canvas.csv", present, COLUMNS)
    shown = term.run("roster", str(roster), "--dry-run")
    assert "added: 1 (s61)" in shown
    assert "missing from the file: 1 (s60)" in shown
    assert "dropped: s60" in term.run("roster", str(roster), "--drop-missing")
    term.run("extend", "study1", "--student", LATE_ADDER, "--days", "14")


def week_5_collects_study_3(term: Term) -> None:
    """The late adder's study 1 is graded as well, and written answers are marked."""
    assert "dropped the course" in term.collect("study1", attempt=2)
    term.run("grade", "study1")
    term.collect("study3")
    term.run("grade-all", "study3")
    term.mark(rules.ANSWERS)
    assert "s13: 72.0 hours late, 2.55 points deducted" in term.run("late-penalties", "study3")


def week_6_answers_a_regrade_request(term: Term) -> None:
    """The open request is in the report's review list; the mark is changed, the history has both
    values, and the student's page has the request and its answer.
    """
    student = ("study3", "--student", "s02")
    term.run("regrade", *student, "--request", "My answer is complete.")
    assert "not answered yet" in term.run("regrade")
    term.run("report", "study3")
    report = (term.course / "reports" / "study3_type_a.html").read_text("utf-8")
    review = report.partition('<section id="review">')[2].partition("</section>")[0]
    assert "not answered yet: My answer is complete." in review
    term.mark({"s02": 3})
    answered = term.run("regrade", *student, "--answer", "It is: 2 more points.")
    assert "the mark was 22.5 and is 24.5 points" in answered
    assert REMARKED in term.run("history", *student)
    term.run("feedback", *student)
    pages = term.course / "feedback" / "s02" / "study3_type_a"
    page = (pages / NOTEBOOK).with_suffix(".html").read_text("utf-8")
    assert "My answer is complete." in page
    assert "It is: 2 more points. (the mark was 22.5 and is 24.5 points)" in page


def week_6_upgrades_the_kit(term: Term) -> None:
    """The new kit has other points; the course sees them first, and keeps its manual marks and the
    history of all marks.
    """
    history = term.run("history", "study3", "--student", "s02")
    new = term.home / "new_kit"
    omitted = shutil.ignore_patterns(".*", "build", "dist", "__pycache__")
    shutil.copytree(KIT, new, ignore=omitted)
    checks = new / "course" / "study3_type_a" / "_check" / "checks.toml"
    text = checks.read_text("utf-8")
    changed = text.replace("value = 3, nodes = 4, at_min = 1", "value = 3, nodes = 5, at_min = 1")
    assert changed != text
    checks.write_text(changed, "utf-8")
    assert "nothing changes" in term.run("upgrade")
    term.kit = new
    shown = term.run("upgrade", status=1)
    assert "study3: this course's own version must be made again" in shown
    assert "type_a: 11 points (move 2, value 3, nodes 5, at_min 1) instead of 10 points" in shown
    term.run("generate", "study3")
    term.run("grade-all", "study3")
    assert REMARKED in history
    assert term.run("history", "study3", "--student", "s02").startswith(history)
    assert "nothing changes" in term.run("upgrade")


def week_8_grades_the_other_studies(term: Term) -> None:
    """Study 2, to which both of the pair have submitted, and the study that the instructor wrote."""
    term.collect("study2")
    graded = term.run("grade-all", "study2", status=1)
    assert "several members of group pair have submitted (s11, s12)" in graded
    term.collect("study11")
    term.run("grade-all", "study11")


def march_returns_the_marks_to_canvas(term: Term) -> None:
    """Canvas's own columns are filled with the marks of the rules."""
    exported = term.home / "marks.csv"
    column = COLUMN_OF["study11"]
    arguments = ["--format", "canvas", "--column", f"study11={column}", "--output", str(exported)]
    assert "possible points" not in term.run("export", *arguments)
    rows, marks = read_marks(exported)
    present = [student for name, student in STUDENTS.items() if name != rules.DROPPED]
    assert sorted(rows) == sorted(student.row() for student in present)
    for study, name in COLUMN_OF.items():
        expected = rules.final_marks(study)
        found = {student: own[name] for student, own in marks.items()}
        assert found == pytest.approx({student: expected.get(student) for student in found})
    term.run("export", "--section", "Section B", "--output", str(exported))
    with exported.open(encoding="utf-8", newline="") as file:
        students = [row["student"] for row in csv.DictReader(file)]
    assert students == [f"s{number}" for number in range(31, 62) if number != 60]


def next_year_draws_a_variant(term: Term) -> None:
    """A new folder has last year's table, with another version of study 3."""
    roster = write_gradebook(term.home / "canvas_2028.csv", NEXT_STUDENTS, COLUMNS)
    term.run("roster", str(roster), course=NEXT)
    shutil.copy(term.course / "course.toml", term.home / NEXT)
    drawn = term.run("next-year", "study3", "--seed", "2028", course=NEXT)
    assert "study3: the weight of a lane with two marks is" in drawn
    term.run("adapt", course=NEXT)
    verified = term.run("doctor", "study3", course=NEXT)
    assert "is recognised; it loses" in verified
    term.run("generate", "study3", course=NEXT)


def next_year_recognises_old_answers(term: Term) -> None:
    """Ten of twelve students submit modules of last year, with that year's heuristic.

    Their heuristic is right only in the few positions where H is 0 in every year. All other checks
    earn what they earned last year, because the error is carried forward.
    """
    old = sorted(term.course.glob("submitted/*/study3_type_a/heuristic.py"))
    chosen = [path for path in old if rules.has_usual_heuristic(path.parts[-3])][:10]
    *copying, honest, also_honest = NEXT_STUDENTS
    modules = {
        student: path.read_text("utf-8") for student, path in zip(copying, chosen, strict=True)
    }
    for student in (honest, also_honest):
        modules[student] = module_text(term.answer("study3", NEXT), "", student.id)
    files = {
        student: {**term.notebooks("study3", NEXT), MODULES["study3"]: text}
        for student, text in modules.items()
    }
    archive = write_submissions(term.home / "submissions.zip", files)
    term.run("collect", "study3", "--from", str(archive), course=NEXT)
    term.run("grade-all", "study3", course=NEXT)
    rows = term.rows("study3", NEXT)
    for student, path in zip(copying, chosen, strict=True):
        row = rows[student.id]
        heuristic = float(row["study3.heuristic.value"])
        assert heuristic < rules.HEURISTIC / 4
        last_year = rules.module_points("study3", path.parts[-3])
        expected = last_year - rules.HEURISTIC + heuristic
        assert float(row["score"]) == pytest.approx(expected, abs=0.01)
        assert "the answer to another year's version of the study: study3" in row["suspicious"]
    for student in (honest, also_honest):
        assert float(rows[student.id]["score"]) == rules.FULL["study3"]
        assert "another year" not in rows[student.id]["suspicious"]
