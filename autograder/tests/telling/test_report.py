"""The report: what is suspicious, faulty, slow, late or decided inside, beside the marks."""

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
from autograder.grading.batch import grade
from autograder.grading.ledger import Graded, note_fault, standing
from autograder.mutants import load_mutants
from autograder.release.assignments import release
from autograder.telling import integrity
from autograder.telling.integrity import suspicions
from autograder.telling.report import _late, _node_ratio, write_report
from course.probes import load_study

pytestmark = pytest.mark.xdist_group("report")

STUDY = load_study("study2")
CHECK = STUDY.checks["alpha_beta"]
NOTEBOOK = "02_alpha_beta"
MODULES = workspace.module_texts(STUDY)
SLIP = next(m for m in load_mutants("study2") if m.name == "root_not_counted")
OWN = "own_week"
LATE_PLUGIN = """
from nbgrader.plugins import LateSubmissionPlugin


class PointAnHour(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late // 3600


c.AssignLatePenalties.plugin_class = PointAnHour
"""


def hand_in(folder: CourseFolder, student: str, module: str, study=STUDY) -> Path:
    """Hand in a module and the released notebooks."""
    target = folder.root / "submitted" / student / study.assignment
    shutil.copytree(folder.release(study.assignment), target)
    (target / study.module).write_text(module, "utf-8")
    return target


def edit_cells(folder: Path, edit) -> None:
    """Apply `edit` to each cell of the notebook as it stands in the file."""
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
def released(tmp_path_factory) -> CourseFolder:
    """A course folder with study 2 released; nobody changes it."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("released") / "course")
    release(folder, STUDY)
    return folder


@pytest.fixture
def course(released, tmp_path) -> CourseFolder:
    """A released course of one's own, without submissions."""
    return CourseFolder.open(shutil.copytree(released.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def school(released, tmp_path_factory) -> CourseFolder:
    """A graded class with late submissions, a copied module and a fault; nobody changes it."""
    folder = CourseFolder.open(
        shutil.copytree(released.root, tmp_path_factory.mktemp("school") / "course")
    )
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(LATE_PLUGIN)
    with_due_date(folder, "2026-03-02 10:00:00 UTC")
    for student, module, time in [
        ("ada", MODULES["reference"], "2026-03-02 09:00:00 UTC"),
        ("ben", MODULES["reference"] + "\n\n# mine\n", "2026-03-02 13:30:00 UTC"),
        ("cy", MODULES[SLIP.name], "2026-03-05 10:00:00 UTC"),
        ("dan", MODULES["stub"], "2026-03-02 10:00:00 UTC"),
    ]:
        (hand_in(folder, student, module) / "timestamp.txt").write_text(time, "utf-8")
    grade(folder, STUDY)
    hand_in(folder, "eve", MODULES["reference"])
    note_fault(
        folder.results(STUDY.assignment, "eve"),
        Graded("eve", "fault", ("OSError: the disk is full",)),
    )
    write_report(folder, STUDY)
    return folder


def page_of(folder: CourseFolder, assignment: str = STUDY.assignment) -> str:
    """The report's page."""
    return (folder.root / "reports" / f"{assignment}.html").read_text("utf-8")


def table_of(folder: CourseFolder, assignment: str = STUDY.assignment) -> dict[str, dict]:
    """The report's CSV, by student."""
    path = folder.root / "reports" / f"{assignment}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def rows_of(page: str, name: str) -> dict[str, list[str]]:
    """The rows of a section's table: the row's head, and the text of its cells."""
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
    """A file or folder that would be imported in the place of something installed is told."""
    path = hand_in(course, "ada", MODULES["reference"]) / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert suspicions(course, STUDY) == ({"ada": [said]} if said else {})


def test_links_are_named(course, tmp_path):
    """A link says where it leads, and nothing behind it is looked at."""
    (hand_in(course, "ada", MODULES["reference"]) / "notes.txt").symlink_to("/etc/passwd")
    hand_in(course, "ben", MODULES["stub"]).rename(tmp_path / "ben")
    (course.root / "submitted" / "ben" / STUDY.assignment).symlink_to(tmp_path / "ben")
    assert suspicions(course, STUDY) == {
        "ada": ["notes.txt is a link to /etc/passwd"],
        "ben": ["the whole submission is a link"],
    }


@pytest.mark.parametrize("what", ["points", "settings", "tags", "lines"])
def test_changed_cells_are_named(course, what):
    """Points, settings, tags and the locked lines of a check: what was put back is told."""

    def change(cell):
        marked = cell["metadata"].get("nbgrader", {})
        if marked.get("grade_id") == CHECK.grade_id:
            marked.update({"points": {"points": 99}, "settings": {"locked": False}}.get(what, {}))
            cell["metadata"].update({"tags": {"tags": ["skip-execution"]}}.get(what, {}))
            cell["source"] = "15.0" if what == "lines" else cell["source"]

    edit_cells(hand_in(course, "ada", MODULES["reference"]), change)
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
    """Whatever a file holds, the others' suspicions are told."""
    path = hand_in(course, "ada", MODULES["reference"]) / f"{NOTEBOOK}.ipynb"
    path.write_text(text, "utf-8")
    (hand_in(course, "ben", MODULES["stub"]) / "os.py").touch()
    assert suspicions(course, STUDY)["ben"] == ["os.py has the name of an installed module"]


def test_an_answer_is_no_change(course):
    """What students are asked to write, in cells and in the module, is not suspicious."""

    def answer(cell):
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = "Because."

    edit_cells(hand_in(course, "ada", MODULES["reference"]), answer)
    assert suspicions(course, STUDY) == {}


def test_modules_that_are_alike_are_named(course):
    """Comments, blanks and depth of indents make no difference; stubs and blanks are nobody's."""
    reference = MODULES["reference"]
    spaced = reference.replace("    ", "  ") + "\n\n\n# done on my own\n"
    for student, module in {
        "ada": reference,
        "ben": spaced,
        "cy": MODULES[SLIP.name],
        "dan": MODULES["stub"],
        "eve": MODULES["stub"] + "\n# later\n",
        "fay": "",
        "gus": "\n# nothing\n",
        "hal": "def (",
        "ivy": "def (",
    }.items():
        hand_in(course, student, module)
    same = f"the same {STUDY.module} as "
    assert suspicions(course, STUDY) == {
        "ada": [same + "ben"],
        "ben": [same + "ada"],
        "hal": [same + "ivy"],
        "ivy": [same + "hal"],
    }


LONG = f"x = [{'1,' * 2_480_000}]\n"  # 5 MB, as much as a file may have: 5 million tokens


@pytest.mark.parametrize(("limit", "reads"), [(integrity.COMPARED, False), (len(LONG), True)])
def test_a_module_of_megabytes_is_not_read_token_by_token(course, monkeypatch, limit, reads):
    """Only its exact copies are found, and the report says so; without the limit it is all read."""
    tokens, tokenize = 0, integrity.tokenize.tokenize

    def counted(readline):
        nonlocal tokens
        for token in tokenize(readline):
            tokens += 1
            yield token
            if tokens > 400_000:  # enough to know
                return

    monkeypatch.setattr(integrity.tokenize, "tokenize", counted)
    monkeypatch.setattr(integrity, "COMPARED", limit)
    for student, module in {"ada": LONG, "ben": LONG, "cy": LONG + "# my own\n"}.items():
        hand_in(course, student, module)
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
    """What Python cannot read is compared byte by byte."""
    for student in ("ada", "ben"):
        (hand_in(course, student, "") / STUDY.module).write_bytes(b"\xff\xfe\0x")
    assert set(suspicions(course, STUDY)) == {"ada", "ben"}


def test_suspicions_are_on_the_page_and_in_the_table(school):
    """They have a section of their own and a column."""
    same = f"the same {STUDY.module} as "
    found = {"ada": f"{same}ben, eve", "ben": f"{same}ada, eve", "eve": f"{same}ada, ben"}
    assert {s: cells[0] for s, cells in rows_of(page_of(school), "suspicious").items()} == found
    assert {
        s: row["suspicious"] for s, row in table_of(school).items() if row["suspicious"]
    } == found


# ---- Faults


def test_a_fault_has_a_section_of_its_own(school):
    """It is told there, with no mark, and not among those who need a look."""
    assert rows_of(page_of(school), "faults") == {"eve": ["OSError: the disk is full"]}
    assert rows_of(page_of(school), "look") == {}
    row = table_of(school)["eve"]
    assert (row["status"], row["score"]) == ("fault", "")


def test_a_fault_is_forgotten_when_it_is_graded(course):
    """The note goes with the next grade."""
    results = course.results(STUDY.assignment, "ada")
    note_fault(results, Graded("ada", "fault", ("why",)))
    assert standing(course, STUDY.assignment, "ada")["status"] == "fault"
    note_fault(results, Graded("ada", "graded"))
    assert standing(course, STUDY.assignment, "ada")["status"] == "not graded"


# ---- Time, nodes, lateness


def test_time_and_nodes(school):
    """The share of counts that are right, and how far off the explained one is."""
    ((written, middle, slowest, who, limit, stopped, share, ratio),) = rows_of(
        page_of(school), "time"
    ).values()
    assert limit == "2"  # as `grade` says: the reference needs next to nothing
    assert (written, stopped) == ("3 of 4", "0")
    assert float(middle) <= float(slowest)
    assert who in ("ada", "ben", "cy")
    assert re.fullmatch(r"67 %", share)
    value = float(ratio.partition(" ")[0])
    assert 0.5 < value < 1  # one node too few, of a small search
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
    """Whatever a student's code replies as its count, the page can be written."""
    assert _node_ratio({"expected": {"nodes": expected}, "got": {"nodes": got}}) == ratio


def test_the_node_ratio_needs_a_case():
    """Where all was right, or the check asks for no nodes, there is none."""
    assert _node_ratio(None) is None
    assert _node_ratio({"expected": {"value": 1}, "got": {"value": 0}}) is None


def test_late_submissions_lose_what_the_plugin_says(school):
    """The penalty is taken off the score; the page says how late and how much."""
    full, slip = CHECK.max_points, CHECK.max_points - CHECK.points["nodes"]
    assert rows_of(page_of(school), "late") == {
        "ben": ["3.5 hours", "3", f"{full - 3:g}"],
        "cy": ["3.0 days", f"{slip:g}", "0"],
    }  # never below nothing
    table = table_of(school)
    assert [float(table[s]["score"]) for s in ("ada", "ben", "cy", "dan")] == [full, full - 3, 0, 0]
    assert (table["ben"]["seconds_late"], table["ben"]["late_penalty"]) == ("12600", "3.0")
    assert table["ada"]["seconds_late"] == "0"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(40, "40 seconds"), (90, "1.5 minutes"), (7200, "2.0 hours"), (200_000, "2.3 days")],
)
def test_lateness_is_told_in_fitting_units(seconds, said):
    """As people would say it."""
    assert _late(seconds) == said


# ---- The page


class Tables(HTMLParser):
    """Collects heads without a scope and ids that occur twice, and checks what is open."""

    void = {"meta", "br", "img"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.no_scope = 0
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Note the tag."""
        found = dict(attrs)
        self.no_scope += tag == "th" and found.get("scope") not in ("row", "col")
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """An element without an end."""
        assert tag in self.void

    def handle_endtag(self, tag):
        """Each tag ends the last one that was opened."""
        assert self.open.pop() == tag


def test_the_page_is_well_made(school):
    """Every head has a scope, every link leads somewhere, and every tag is closed."""
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
    """The module is next to it; a link to another file, or a page that we did not write, is not
    offered."""
    hand_in(course, "ada lovelace", MODULES["reference"])
    work = hand_in(course, "ben", MODULES["stub"])
    (work / STUDY.module).unlink()
    (work / STUDY.module).symlink_to("/etc/passwd")
    page = course.root / "feedback" / "ada lovelace" / STUDY.assignment / f"{NOTEBOOK}.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>Good.</p>", "utf-8")
    page.with_name("mine.html").write_text("<script>all_points()</script>", "utf-8")
    write_report(course, STUDY)
    everybody = rows_of(page_of(course), "everybody")
    assert everybody["ada lovelace"][-1] == f"feedback , {STUDY.module}"
    assert everybody["ben"][-1] == "nothing"
    links = Tables(page_of(course)).links
    assert f"../feedback/ada%20lovelace/{STUDY.assignment}/{NOTEBOOK}.html" in links
    assert not any("ben" in link or "mine" in link for link in links)


def test_a_study_that_was_not_released_is_refused(tmp_path):
    """The sentence says what to do."""
    folder = CourseFolder.create(tmp_path / "course")
    with pytest.raises(CourseFolderError, match=r"has not been released in .* run `autogr"):
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
    """A graded course with an assignment of the instructor's own."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("own") / "course")
    source = folder.root / "source" / OWN
    source.mkdir(parents=True)
    nbformat.write(own_notebook(), source / "week.ipynb")
    config = folder.config()
    config.CourseDirectory.assignment_id = OWN
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    run_quietly(converter, folder.root / "release.log")
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
    """Points come from the gradebook; the assert cell is told to be decided outside, and the
    written answer by a person."""
    page = page_of(own, OWN)
    assert "<dt>Points available</dt><dd>6</dd>" in page
    cells = rows_of(page, "cells")
    assert cells["test-two"][:5] == ["week", "outside", "4", "1 of 2", "1"]
    assert cells["why"][:3] == ["week", "by a person", "2"]
    assert rows_of(page, "everybody")["ada"][1] == "4"
    assert 'id="checks"' not in page
    table = table_of(own, OWN)
    assert (table["ada"]["week.test-two"], table["ben"]["week.test-two"]) == ("4.0", "0.0")
    assert table["ada"]["max_score"] == "6.0"


def test_checks_are_not_said_to_be_inside(school):
    """A check is decided outside; only written answers are among the other cells."""
    decided = {cells[1] for cells in rows_of(page_of(school), "cells").values()}
    assert decided == {"by a person"}
