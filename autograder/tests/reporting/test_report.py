"""The report: suspicious, faulty, slow and late submissions and tests run inside, with the marks."""

import csv
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder import workspace
from autograder.course_folder import CONFIG_FILE, CourseFolder, CourseFolderError, run_quietly
from autograder.database import db_url
from autograder.grading.records.late import update_penalties
from autograder.grading.records.ledger import Graded, current_entry, record_fault
from autograder.grading.run.batch import grade
from autograder.reporting import integrity
from autograder.reporting.integrity import suspicions
from autograder.reporting.report import _late, _node_ratio, write_report
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("report")

STUDY = load_study("study2")
CHECK = STUDY.checks["alpha_beta"]
NOTEBOOK = "02_alpha_beta"
MODULES = workspace.module_texts(STUDY)
MISTAKE = next(m for m in load_mutants("study2") if m.name == "root_not_counted")
OWN = "own_week"
LATE_PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class PointAnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late // 3600


c.AssignLatePenalties.plugin_class = PointAnHour
"""


def submit(folder: CourseFolder, student: str, module: str, study=STUDY) -> Path:
    """Submit a module and the released notebooks."""
    target = folder.root / "submitted" / student / study.assignment
    shutil.copytree(folder.release(study.assignment), target)
    (target / study.module).write_text(module, "utf-8")
    return target


def edit_cells(folder: Path, edit) -> None:
    """Apply `edit` to each cell of the notebook file."""
    path = folder / f"{NOTEBOOK}.ipynb"
    data = json.loads(path.read_text("utf-8"))
    for cell in data["cells"]:
        edit(cell)
    path.write_text(json.dumps(data), "utf-8")


def with_due_date(folder: CourseFolder, due: str) -> None:
    """Give the assignment a due date."""
    place = folder.config().CourseDirectory
    with Gradebook(place.db_url, place.course_id) as book:
        book.update_or_create_assignment(STUDY.assignment, duedate=due)


@pytest.fixture(scope="module")
def course_template(tmp_path_factory) -> CourseFolder:
    """A course folder with study 2 released, shared and never modified."""
    return make_course(tmp_path_factory.mktemp("released") / "course", STUDY)


@pytest.fixture
def course(course_template, tmp_path) -> CourseFolder:
    """A released course without submissions, for one test."""
    return CourseFolder.open(shutil.copytree(course_template.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def school(course_template, tmp_path_factory) -> CourseFolder:
    """A graded class with late submissions, a copied module and a fault, shared and never modified."""
    folder = CourseFolder.open(
        shutil.copytree(course_template.root, tmp_path_factory.mktemp("school") / "course")
    )
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(LATE_PLUGIN)
    with_due_date(folder, "2026-03-02 10:00:00 UTC")
    for student, module, time in [
        ("ada", MODULES["reference"], "2026-03-02 09:00:00 UTC"),
        ("ben", MODULES["reference"] + "\n\n# mine\n", "2026-03-02 13:30:00 UTC"),
        ("cy", MODULES[MISTAKE.name], "2026-03-05 10:00:00 UTC"),
        ("dan", MODULES["stub"], "2026-03-02 10:00:00 UTC"),
    ]:
        (submit(folder, student, module) / "timestamp.txt").write_text(time, "utf-8")
    grade(folder, STUDY)
    submit(folder, "eve", MODULES["reference"])
    record_fault(
        folder.results(STUDY.assignment, "eve"),
        Graded("eve", "fault", ("OSError: the disk is full",)),
    )
    write_report(folder, STUDY)
    return folder


def page_of(folder: CourseFolder, assignment: str = STUDY.assignment) -> str:
    """The report's page."""
    return (folder.root / "reports" / f"{assignment}.html").read_text("utf-8")


def table_of(folder: CourseFolder, assignment: str = STUDY.assignment) -> dict[str, dict]:
    """The rows of the report's CSV, by student."""
    path = folder.root / "reports" / f"{assignment}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def rows_of(page: str, name: str) -> dict[str, list[str]]:
    """The rows of a section's table: the header and the text of the cells."""
    section = re.search(rf'<section id="{name}">(.*?)</section>', page, re.DOTALL)[1]
    return {
        re.sub(r"<[^>]+>", "", head): [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        ]
        for head, row in re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', section, re.DOTALL)
    }


# ---- Suspicious submissions


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("matplotlib.py", "matplotlib.py has the name of an installed module"),
        ("tictactoe.py", "tictactoe.py has the name of an installed module"),
        ("random.py", "random.py has the name of an installed module"),
        ("numpy/__init__.py", "numpy has the name of an installed module"),
        ("sitecustomize.py", "sitecustomize.py would run whenever Python starts"),
        ("helper.py", None),
        ("minimax.py", None),
        ("two words.py", None),
        ("matplotlib.txt", None),
        ("data/numbers.csv", None),
    ],
)
def test_files_that_shadow_modules_are_named(course, name, said):
    """A file or folder that would be imported instead of an installed module is reported."""
    path = submit(course, "ada", MODULES["reference"]) / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert suspicions(course, STUDY) == ({"ada": [said]} if said else {})


def test_links_are_named(course, tmp_path):
    """The target of a link is reported and never opened."""
    (submit(course, "ada", MODULES["reference"]) / "notes.txt").symlink_to("/etc/passwd")
    submit(course, "ben", MODULES["stub"]).rename(tmp_path / "ben")
    (course.root / "submitted" / "ben" / STUDY.assignment).symlink_to(tmp_path / "ben")
    assert suspicions(course, STUDY) == {
        "ada": ["notes.txt is a link to /etc/passwd"],
        "ben": ["the whole submission is a link"],
    }


@pytest.mark.parametrize("what", ["points", "settings", "tags", "lines"])
def test_changed_cells_are_named(course, what):
    """Restored points, settings, tags and locked lines of a check are reported."""

    def change(cell):
        marked = cell["metadata"].get("nbgrader", {})
        if marked.get("grade_id") == CHECK.grade_id:
            marked.update({"points": {"points": 99}, "settings": {"locked": False}}.get(what, {}))
            cell["metadata"].update({"tags": {"tags": ["skip-execution"]}}.get(what, {}))
            cell["source"] = "15.0" if what == "lines" else cell["source"]

    edit_cells(submit(course, "ada", MODULES["reference"]), change)
    assert suspicions(course, STUDY) == {
        "ada": [
            f"{NOTEBOOK}.ipynb: the {what} of the cell {CHECK.grade_id} were changed; "
            "they were restored"
        ]
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "3",
        "[]",
        '{"cells": 3}',
        '{"cells": [3, {}, {"metadata": []}]}',
        '{"cells": [{"metadata": {"nbgrader": {"grade_id": []}}}]}',
        "[" * 100_000,
        json.dumps(
            {"cells": [{"metadata": {"nbgrader": {"grade_id": CHECK.grade_id}}, "source": 3}]}
        ),
    ],
    ids=lambda text: text[-30:],
)
def test_any_notebook_can_be_looked_at(course, text):
    """An unreadable file does not hide the other students' suspicious submissions."""
    path = submit(course, "ada", MODULES["reference"]) / f"{NOTEBOOK}.ipynb"
    path.write_text(text, "utf-8")
    (submit(course, "ben", MODULES["stub"]) / "os.py").touch()
    assert suspicions(course, STUDY)["ben"] == ["os.py has the name of an installed module"]


def test_an_answer_is_no_change(course):
    """Expected changes, in cells and in the module, are not suspicious."""

    def answer(cell):
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = "Because."

    edit_cells(submit(course, "ada", MODULES["reference"]), answer)
    assert suspicions(course, STUDY) == {}


def test_modules_that_are_alike_are_named(course):
    """Comments, blanks and indentation do not matter; stubs and empty modules are ignored."""
    reference = MODULES["reference"]
    spaced = reference.replace("    ", "  ") + "\n\n\n# done on my own\n"
    for student, module in {
        "ada": reference,
        "ben": spaced,
        "cy": MODULES[MISTAKE.name],
        "dan": MODULES["stub"],
        "eve": MODULES["stub"] + "\n# later\n",
        "fay": "",
        "gus": "\n# nothing\n",
        "hal": "def (",
        "ivy": "def (",
    }.items():
        submit(course, student, module)
    same = f"the same {STUDY.module} as "
    assert suspicions(course, STUDY) == {
        "ada": [same + "ben"],
        "ben": [same + "ada"],
        "hal": [same + "ivy"],
        "ivy": [same + "hal"],
    }


LONG = f"x = [{'1,' * 2_480_000}]\n"  # 5 MB, the maximum for a file: 5 million tokens


@pytest.mark.parametrize(
    ("limit", "reads"), [(integrity.MAX_COMPARED_BYTES, False), (len(LONG), True)]
)
def test_a_module_of_megabytes_is_not_read_token_by_token(course, monkeypatch, limit, reads):
    """Only exact copies are found, which the report states; without the limit it is read fully."""
    tokens, tokenize = 0, integrity.tokenize.tokenize

    def counted(readline):
        nonlocal tokens
        for token in tokenize(readline):
            tokens += 1
            yield token
            if tokens > 400_000:  # sufficient
                return

    monkeypatch.setattr(integrity.tokenize, "tokenize", counted)
    monkeypatch.setattr(integrity, "MAX_COMPARED_BYTES", limit)
    for student, module in {"ada": LONG, "ben": LONG, "cy": LONG + "# my own\n"}.items():
        submit(course, student, module)
    found = suspicions(course, STUDY)
    assert (tokens > 200_000) == reads
    if not reads:
        why = (
            f"{STUDY.module} was not compared with other students' modules, except for exact "
            f"copies: it has {{:,}} bytes, more than {limit:,}"
        )
        long = why.format(len(LONG))
        same = f"the same {STUDY.module} as "
        assert found == {
            "ada": [long, same + "ben"],
            "ben": [long, same + "ada"],
            "cy": [why.format(len(LONG) + len("# my own\n"))],
        }


def test_modules_in_any_bytes_are_compared(course):
    """Files that Python cannot parse are compared byte by byte."""
    for student in ("ada", "ben"):
        (submit(course, student, "") / STUDY.module).write_bytes(b"\xff\xfe\0x")
    assert set(suspicions(course, STUDY)) == {"ada", "ben"}


def test_suspicions_are_on_the_page_and_in_the_table(school):
    """They have a section and a column."""
    same = f"the same {STUDY.module} as "
    found = {"ada": f"{same}ben, eve", "ben": f"{same}ada, eve", "eve": f"{same}ada, ben"}
    assert {s: cells[0] for s, cells in rows_of(page_of(school), "suspicious").items()} == found
    assert {
        s: row["suspicious"] for s, row in table_of(school).items() if row["suspicious"]
    } == found


# ---- Internal errors


def test_a_fault_has_a_section_of_its_own(school):
    """The fault is listed there without a mark, and not among the submissions to review."""
    assert rows_of(page_of(school), "internal-errors") == {"eve": ["OSError: the disk is full"]}
    assert rows_of(page_of(school), "review") == {}
    row = table_of(school)["eve"]
    assert (row["status"], row["score"]) == ("fault", "")


def test_a_fault_is_forgotten_when_it_is_graded(course):
    """The fault disappears with the next successful grading."""
    results = course.results(STUDY.assignment, "ada")
    record_fault(results, Graded("ada", "fault", ("why",)))
    assert current_entry(course, STUDY.assignment, "ada")["status"] == "fault"
    record_fault(results, Graded("ada", "graded"))
    assert current_entry(course, STUDY.assignment, "ada")["status"] == "not graded"


# ---- Time, nodes, lateness


def test_time_and_nodes(school):
    """The report has the share of correct counts, and the ratio for the explained one."""
    ((written, middle, slowest, who, limit, stopped, share, ratio),) = rows_of(
        page_of(school), "time"
    ).values()
    assert limit == "2"  # as `grade` reports: the reference needs almost nothing
    assert (written, stopped) == ("3 of 4", "0")
    assert float(middle) <= float(slowest)
    assert who in ("ada", "ben", "cy")
    assert re.fullmatch(r"67 %", share)
    value = float(ratio.partition(" ")[0])
    assert 0.5 < value < 1  # one node too few in a small search
    assert ratio.endswith("(of 1)")


@pytest.mark.parametrize(
    ("expected", "got", "ratio"),
    [
        (10, 20, 2),
        (10, 5, 0.5),
        (10, 10, None),
        (10, None, None),
        (None, 5, None),
        (10, "many", None),
        (10, True, None),
        (10, 10**400, None),
        (10, -3, None),
    ],
)
def test_the_node_ratio_is_of_counts_only(expected, got, ratio):
    """The page can be written whatever a student's code returns as its count."""
    assert _node_ratio({"expected": {"nodes": expected}, "got": {"nodes": got}}) == ratio


def test_the_node_ratio_needs_a_case():
    """Without a wrong count, or in checks without counts, there is no ratio."""
    assert _node_ratio(None) is None
    assert _node_ratio({"expected": {"value": 1}, "got": {"value": 0}}) is None


def test_late_submissions_lose_what_the_plugin_says(school):
    """The penalty is subtracted from the score; the page shows the delay and the penalty."""
    full, mistake = CHECK.max_points, CHECK.max_points - CHECK.points["nodes"]
    assert rows_of(page_of(school), "late") == {
        "ben": ["3.5 hours", "3", f"{full - 3:g}"],
        "cy": ["3.0 days", f"{mistake:g}", "0"],
    }  # never below zero
    table = table_of(school)
    assert [float(table[s]["score"]) for s in ("ada", "ben", "cy", "dan")] == [full, full - 3, 0, 0]
    assert (table["ben"]["seconds_late"], table["ben"]["late_penalty"]) == ("12600", "3.0")
    assert table["ada"]["seconds_late"] == "0"


def test_free_days_have_a_column(tmp_path):
    """The table of late submissions shows the budget, and how many days were used for which
    assignment; the penalty is for the other days.
    """
    weeks = {"week7": (2, 1), "week8": (4, 0)}  # days late, of ada and ben
    folder = CourseFolder.create(tmp_path / "course")
    with Gradebook(db_url(folder)) as book, book.db.no_autoflush:
        for week, days in weeks.items():
            folder.release(week).mkdir(parents=True)
            book.add_assignment(week, duedate=f"2026-03-0{week[-1]} 10:00:00 UTC")
            book.add_notebook("one", week)
            book.add_grade_cell("test", "one", week, max_score=10, cell_type="code")
            for student, late in zip(("ada", "ben"), days, strict=True):
                book.update_or_create_student(student)
                time = f"2026-03-{int(week[-1]) + late:02} 10:00:00 UTC"
                book.add_submission(week, student, timestamp=time)
                book.find_grade("test", "one", week, student).manual_score = 10
                folder.submission(week, student).mkdir(parents=True)
                (folder.submission(week, student) / "timestamp.txt").write_text(time, "utf-8")
                folder.results(week, student).mkdir(parents=True)
                (folder.results(week, student) / "nbgrader.txt").touch()
        book.db.commit()
    (folder.root / "course.toml").write_text("[late]\npercent = 10\nfree_days = 3\n", "utf-8")
    for week in weeks:
        update_penalties(folder, folder.assignment(week))
        write_report(folder, folder.assignment(week))
    ada = "free late days: 3 of 3 used (2 for week7, 1 for week8), 0 left"
    assert rows_of(page_of(folder, "week7"), "late") == {
        "ada": ["2.0 days", "0", "10", ada],
        "ben": ["1.0 days", "0", "10", "free late days: 1 of 3 used (1 for week7), 2 left"],
    }
    assert rows_of(page_of(folder, "week8"), "late") == {"ada": ["4.0 days", "3", "7", ada]}
    heading = '<th scope="col">Free late days</th>'
    assert heading in page_of(folder, "week8")
    (folder.root / "course.toml").write_text("[late]\npercent = 10\n", "utf-8")
    update_penalties(folder, folder.assignment("week8"))
    write_report(folder, folder.assignment("week8"))
    assert rows_of(page_of(folder, "week8"), "late") == {"ada": ["4.0 days", "4", "6"]}
    assert heading not in page_of(folder, "week8")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(40, "40 seconds"), (90, "1.5 minutes"), (7200, "2.0 hours"), (200_000, "2.3 days")],
)
def test_lateness_has_fitting_units(seconds, said):
    """The delay has the usual units."""
    assert _late(seconds) == said


# ---- The page


class Tables(HTMLParser):
    """Collects headers without a scope and duplicate ids, and checks for unclosed tags."""

    void = {"meta", "br", "img"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.no_scope = 0
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Record the tag."""
        found = dict(attrs)
        self.no_scope += tag == "th" and found.get("scope") not in ("row", "col")
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Handle an element without an end tag."""
        assert tag in self.void

    def handle_endtag(self, tag):
        """Each end tag closes the last open tag."""
        assert self.open.pop() == tag


def test_the_page_is_well_made(school):
    """Every header has a scope, every link a target, and every tag is closed."""
    page = page_of(school)
    assert page.startswith("<!DOCTYPE html>")
    seen = Tables(re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))
    assert seen.open == []
    assert seen.no_scope == 0
    assert len(seen.ids) == len(set(seen.ids))
    inside = {link[1:] for link in seen.links if link.startswith("#")}
    assert inside <= set(seen.ids)
    files = {unquote(link) for link in seen.links if not link.startswith("#")}
    assert files == {
        f"../submitted/{s}/{STUDY.assignment}/{STUDY.module}"
        for s in ("ada", "ben", "cy", "dan", "eve")
    }
    assert all((school.root / "reports" / file).is_file() for file in files)


def test_names_lead_to_feedback_once_it_is_there(course):
    """The page is next to the report; links to other files or to pages that we did not write are
    omitted.
    """
    submit(course, "ada lovelace", MODULES["reference"])
    work = submit(course, "ben", MODULES["stub"])
    (work / STUDY.module).unlink()
    (work / STUDY.module).symlink_to("/etc/passwd")
    page = course.root / "feedback" / "ada lovelace" / STUDY.assignment / f"{NOTEBOOK}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>Good.</p>", "utf-8")
    page.with_name("mine.html").write_text("<script>all_points()</script>", "utf-8")
    write_report(course, STUDY)
    everybody = rows_of(page_of(course), "students")
    assert everybody["ada lovelace"][-1] == f"feedback , {STUDY.module}"
    assert everybody["ben"][-1] == "nothing"
    links = Tables(page_of(course)).links
    assert f"../feedback/ada%20lovelace/{STUDY.assignment}/{NOTEBOOK}.html" in links
    assert not any("ben" in link or "mine" in link for link in links)


def test_a_study_that_was_not_released_is_refused(tmp_path):
    """The message explains what to do."""
    folder = CourseFolder.create(tmp_path / "course")
    with pytest.raises(CourseFolderError, match=r"has not been generated in .* run `autogr"):
        write_report(folder, STUDY)


# ---- An instructor's own assignment


def own_notebook() -> nbformat.NotebookNode:
    """A notebook with an answer in code, an assert cell and a written answer."""

    def marks(grade_id, **settings):
        return {
            "nbgrader": {
                "grade": False,
                "locked": False,
                "schema_version": 3,
                "solution": False,
                "task": False,
                "grade_id": grade_id,
            }
            | settings
        }

    return new_notebook(
        cells=[
            new_code_cell(
                "### BEGIN SOLUTION\ntwo = 2\n### END SOLUTION",
                metadata=marks("two", solution=True),
            ),
            new_code_cell(
                "assert two == 2", metadata=marks("test-two", grade=True, locked=True, points=4)
            ),
            new_markdown_cell(
                "Because.", metadata=marks("why", grade=True, solution=True, points=2)
            ),
        ],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
    )


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> CourseFolder:
    """A graded course with the instructor's own assignment."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("own") / "course")
    source = folder.root / "source" / OWN
    source.mkdir(parents=True)
    nbformat.write(own_notebook(), source / "week.ipynb")
    config = folder.config()
    config.CourseDirectory.assignment_id = OWN
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    run_quietly(converter, folder.root / "generate.log")
    for student, answer in {"ada": "two = 2", "ben": "two = 3"}.items():
        target = folder.root / "submitted" / student / OWN
        shutil.copytree(folder.release(OWN), target)
        notebook = nbformat.read(target / "week.ipynb", as_version=4)
        notebook.cells[0].source = answer
        nbformat.write(notebook, target / "week.ipynb")
    grade(folder, folder.assignment(OWN))
    write_report(folder, folder.assignment(OWN))
    return folder


def test_an_own_assignment_has_a_report(own):
    """Points come from the gradebook; the assert cell is listed as decided outside, and the written
    answer as manual.
    """
    page = page_of(own, OWN)
    assert "<dt>Points available</dt><dd>6</dd>" in page
    cells = rows_of(page, "cells")
    assert cells["test-two"][:5] == ["week", "outside", "4", "1 of 2", "1"]
    assert cells["why"][:3] == ["week", "by a grader", "2"]
    assert rows_of(page, "students")["ada"][1] == "4"
    assert 'id="checks"' not in page
    table = table_of(own, OWN)
    assert (table["ada"]["week.test-two"], table["ben"]["week.test-two"]) == ("4.0", "0.0")
    assert table["ada"]["max_score"] == "6.0"


def test_checks_are_not_listed_as_inside(school):
    """A check is decided outside; only written answers are listed as other cells."""
    decided = {cells[1] for cells in rows_of(page_of(school), "cells").values()}
    assert decided == {"by a grader"}
