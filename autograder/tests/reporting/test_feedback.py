"""Feedback pages: their order, when they are rewritten, and the caches they share."""

import json
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Engine, event

from autograder import workspace
from autograder.course_folder import CONFIG_FILE, CourseFolder, run_quietly
from autograder.grading.mark_history.changes import record_changes
from autograder.grading.mark_history.requests import answer_request, enter_request
from autograder.grading.run.batch import grade
from autograder.release.assignments import generate_assignment
from autograder.release.notebooks import answer_id
from autograder.reporting.export import read_marks
from autograder.reporting.pages import feedback
from autograder.reporting.pages.feedback import RECORD, write_feedback
from autograder.reporting.pages.feedback_page import FeedbackWriter
from autograder.reporting.pages.render_cache import MAX_ENTRIES, MAX_LENGTH, cache_render
from autograder.reporting.pages.safe_html import markdown
from autograder.reporting.report import read_class
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("feedback")

STUDY = load_study("study2")
CHECK = STUDY.checks["alpha_beta"]
NOTEBOOK = "02_alpha_beta"
MODULES = workspace.module_texts(STUDY)
MISTAKE = next(m for m in load_mutants("study2") if m.name == "root_not_counted")
ANSWER = answer_id(next(iter(STUDY.written)))
MOST_BYTES = 150_000
DOT = "iVBORw0KGgoA"  # the signature of PNG files
CLASS = {
    "ada": MODULES["reference"],
    "cy": MODULES[MISTAKE.name],
    "dan": MODULES["stub"],
    "eve": "raise ValueError('<script>attack()</script>')\n",
}


def submit(folder: CourseFolder, student: str, module: str) -> None:
    """Submit a module and the released notebook, with text in each answer."""
    target = folder.submission(STUDY.assignment, student)
    shutil.copytree(folder.release(STUDY.assignment), target)
    (target / STUDY.module).write_text(module, "utf-8")
    path = target / f"{NOTEBOOK}.ipynb"
    data = json.loads(path.read_text("utf-8"))
    for cell in data["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = f"An answer by {student}."
    path.write_text(json.dumps(data), "utf-8")


def mark_by_hand(folder: CourseFolder, student: str, points: float, comment: str) -> None:
    """Mark a written answer and comment on it, as formgrader does."""
    where = (ANSWER, NOTEBOOK, STUDY.assignment, student)
    with Gradebook(folder.config().CourseDirectory.db_url) as book:
        mark = book.find_grade(*where)
        mark.manual_score, mark.needs_manual_grade = points, False
        book.find_comment(*where).manual_comment = comment
        book.db.commit()


def page_of(folder: CourseFolder, student: str) -> Path:
    """The page of a student."""
    return folder.root / "feedback" / student / STUDY.assignment / f"{NOTEBOOK}.html"


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> CourseFolder:
    """A graded class with its pages, shared and never modified."""
    folder = make_course(tmp_path_factory.mktemp("graded") / "course", STUDY)
    for student, module in CLASS.items():
        submit(folder, student, module)
    assert {g.status for g in grade(folder, STUDY)} == {"graded"}
    mark_by_hand(folder, "cy", 1, "Nearly: <script>attack()</script> *which* bound?")
    write_feedback(folder, STUDY)
    return folder


@pytest.fixture
def school(graded, tmp_path) -> CourseFolder:
    """A graded class for one test, with its pages in the current location."""
    folder = CourseFolder.open(shutil.copytree(graded.root, tmp_path / "course"))
    write_feedback(folder, STUDY)
    return folder


# ---- Order of the parts


def summary_of(folder: CourseFolder, student: str) -> str:
    """The part of a page above the folded notebook, without its style."""
    body = page_of(folder, student).read_text("utf-8").partition("<body>")[2]
    return body.partition("<details>")[0]


def test_a_page_begins_with_points_and_causes(graded):
    """Check, points, case and cause come before the notebook."""
    summary = summary_of(graded, "cy")
    assert f">{CHECK.id}</a>" in summary
    assert MISTAKE.sentence in summary
    assert re.search(r"nodes: \d+ of \d+ right", summary)
    assert MISTAKE.sentence not in summary_of(graded, "ada")
    assert "all correct" in summary_of(graded, "ada")


def test_written_answers_follow_with_points_and_comments(graded):
    """Points and comments appear as clean HTML below question and answer; unmarked answers say that
    they wait.
    """
    summary = summary_of(graded, "cy")
    assert re.search(rf"{ANSWER}</a></strong>: 1 of {STUDY.written[ANSWER[7:]]:g} points", summary)
    section = summary.partition(f"{ANSWER}</a>")[2].partition("</section>")[0]
    parts = [
        section.index(part)
        for part in (
            '<div class="question">',
            '<div class="answer"><p>An answer by cy.',
            '<div class="comment">',
        )
    ]
    assert parts == sorted(parts)
    assert "<em>which</em> bound?" in summary
    assert "<script>" not in summary
    assert "not marked yet" in summary_of(graded, "ada")


@pytest.mark.parametrize("student", CLASS)
def test_the_notebook_is_folded(graded, student):
    """The submission is in a folded section, and the summary links to its cells."""
    page = page_of(graded, student).read_text("utf-8")
    notebook = page.partition("<details>")[2].partition("</details>\n</main>")[0]
    assert f"An answer by {student}." in notebook
    targets = re.findall(r'href="#(cell-[^"]+)"', summary_of(graded, student))
    assert len(targets) == len(STUDY.checks) + len(STUDY.written)
    assert all(f'id="{target}"' in notebook for target in targets)


@pytest.mark.parametrize("student", CLASS)
def test_pages_are_small(graded, student):
    """A page has one style sheet and at most 150 kB."""
    page = page_of(graded, student).read_text("utf-8")
    assert page.count("<style") == 1
    assert len(page.encode()) <= MOST_BYTES


def test_what_code_says_is_escaped_in_the_summary(graded):
    """An error's text is escaped."""
    summary = summary_of(graded, "eve")
    assert "&lt;script&gt;attack()" in summary
    assert "<script" not in summary


def test_the_points_are_nbgraders(graded):
    """The points at the top are those calculated by nbgrader."""
    with Gradebook(graded.config().CourseDirectory.db_url) as book:
        for student in CLASS:
            notebook = book.find_submission_notebook(NOTEBOOK, STUDY.assignment, student)
            assert f"{notebook.score:g} of {notebook.max_score:g} points" in summary_of(
                graded, student
            )


def test_nbgraders_converter_writes_the_same_page(school):
    """nbgrader's own converter makes the same page as our command."""
    ours = page_of(school, "cy").read_bytes()
    config = school.config()
    config.CourseDirectory.assignment_id = STUDY.assignment
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    run_quietly(converter, school.root / "log")
    assert page_of(school, "cy").read_bytes() == ours


# ---- When a page is written


def edit_page(folder: CourseFolder) -> None:
    """Damage a page."""
    page_of(folder, "cy").write_text("gone", "utf-8")


def edit_notebook(folder: CourseFolder) -> None:
    """Change the graded notebook."""
    path = folder.root / "autograded" / "cy" / STUDY.assignment / f"{NOTEBOOK}.ipynb"
    path.chmod(0o644)
    path.write_text(path.read_text("utf-8").replace("An answer by cy", "Another by cy"), "utf-8")


CHANGES = {
    "a mark": lambda folder: mark_by_hand(folder, "cy", 0, "Nearly."),
    "a comment": lambda folder: mark_by_hand(folder, "cy", 1, "Another one."),
    "a page": edit_page,
    "no page": lambda folder: page_of(folder, "cy").unlink(),
    "no pages": lambda folder: shutil.rmtree(page_of(folder, "cy").parent),
    "the notebook": edit_notebook,
    "the outcome": lambda folder: shutil.copy(
        folder.results(STUDY.assignment, "ada") / f"{NOTEBOOK}.json",
        folder.results(STUDY.assignment, "cy"),
    ),
    "no record": lambda folder: (folder.results(STUDY.assignment, "cy") / RECORD).unlink(),
}


def test_unchanged_pages_are_left_alone(school):
    """A second run writes no page."""
    times = {student: page_of(school, student).stat().st_mtime_ns for student in CLASS}
    assert {page.unchanged for page in write_feedback(school, STUDY)} == {True}
    assert times == {student: page_of(school, student).stat().st_mtime_ns for student in CLASS}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_written_again(school, change):
    """A change of any of a page's inputs rewrites only that student's page."""
    CHANGES[change](school)
    written = write_feedback(school, STUDY)
    assert [page.student for page in written if not page.unchanged] == ["cy"]
    assert MISTAKE.sentence in page_of(school, "cy").read_text("utf-8")
    assert {page.unchanged for page in write_feedback(school, STUDY)} == {True}


def test_a_regrade_request_is_on_the_page(school):
    """The page has the request until it is answered, then also the answer and both marks; the other
    students' pages are unchanged.
    """
    record_changes(school, STUDY.assignment, "marked")
    enter_request(school, STUDY.assignment, "cy", "my <bound> is right.")
    write_feedback(school, STUDY)
    assert "not answered yet: my &lt;bound&gt; is right." in summary_of(school, "cy")
    mark_by_hand(school, "cy", 2, "Yes.")
    record_changes(school, STUDY.assignment, "marked")
    request = answer_request(school, STUDY.assignment, "cy", "It is.")
    written = write_feedback(school, STUDY)
    assert [page.student for page in written if not page.unchanged] == ["cy"]
    summary = summary_of(school, "cy")
    assert "my &lt;bound&gt; is right." in summary
    assert "not answered yet" not in summary
    marks = f"the mark was {request.mark:g} and is {request.mark + 1:g} points"
    assert f"It is. ({marks})" in summary


def test_what_cannot_be_read_costs_its_owner_alone(school):
    """Damaged outcomes of one student are reported, and the other pages are unchanged."""
    (school.results(STUDY.assignment, "cy") / f"{NOTEBOOK}.json").write_text("{", "utf-8")
    for _ in range(2):
        written = {page.student: page for page in write_feedback(school, STUDY)}
        assert "damaged" in written.pop("cy").problem
        assert {page.unchanged for page in written.values()} == {True}


def test_a_place_that_cannot_be_written_is_reported_once(school):
    """A file with the name of the pages' folder is reported once, not for each student."""
    shutil.rmtree(school.root / "feedback")
    (school.root / "feedback").touch()
    told = []
    with pytest.raises(OSError, match=re.escape(str(school.root / "feedback"))):
        write_feedback(school, STUDY, done=told.append)
    assert not told
    (school.root / "feedback").unlink()
    assert not any(page.problem for page in write_feedback(school, STUDY))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["*a **b", "[[[[", "|a|b|\n|-|-|\n", "<b><table>"])
def test_a_text_that_takes_for_ever_costs_its_owner_alone(school, monkeypatch, text):
    """Rendering is stopped with a message; all other students have a page."""
    monkeypatch.setattr(feedback, "CPU_SECONDS", 4)
    (path,) = (school.root / "autograded" / "ada" / STUDY.assignment).glob("*.ipynb")
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"].insert(
        0, {"cell_type": "markdown", "id": "odd", "metadata": {}, "source": text * 200_000}
    )
    path.write_text(json.dumps(notebook), "utf-8")
    pages = {page.student: page for page in write_feedback(school, STUDY)}
    assert not any(page.problem for student, page in pages.items() if student != "ada")
    problem = pages["ada"].problem
    assert problem is None or problem.startswith("stopped after 4 s of computing time")


def test_another_configuration_writes_all(school):
    """Settings may change any page."""
    with (school.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write("c.FeedbackExporter.exclude_markdown = True\n")
    assert {page.unchanged for page in write_feedback(school, STUDY)} == {False}
    notebook = page_of(school, "cy").read_text("utf-8").partition("<details>")[2]
    assert "An answer by cy." not in notebook


# ---- Shared caches


def write_in_order(folder: CourseFolder, students) -> dict[str, bytes]:
    """Write pages one after the other in this process, and return them."""
    config = folder.config()
    config.CourseDirectory.assignment_id = STUDY.assignment
    writer = FeedbackWriter(config)
    for student in students:
        writer.coursedir.student_id = student
        run_quietly(writer, folder.root / "log")
    return {student: page_of(folder, student).read_bytes() for student in students}


def test_no_page_depends_on_those_before_it(school):
    """The pages are the same in any order, because cached values depend only on the text."""
    pages = {student: page_of(school, student).read_bytes() for student in CLASS}
    assert write_in_order(school, list(CLASS)) == pages
    assert write_in_order(school, list(CLASS)[::-1]) == pages


def test_pictures_stay_with_their_cell():
    """The same Markdown shows the pictures attached to its cell, or only text if there are none."""
    text = "![dot](attachment:dot.png)"
    cells = [
        {},
        {"attachments": {"dot.png": {"image/png": f"{DOT}AAAA"}}},
        {"attachments": {"dot.png": {"image/png": f"{DOT}BBBB"}}},
    ]
    for first in range(3):
        for cell in cells[first:] + cells[:first]:
            shown = markdown({"cell": cell}, text)
            for other in ("AAAA", "BBBB"):
                assert (other in shown) == (other in str(cell))
            assert ("dot.png (dot) is not shown: it is not attached" in shown) == (not cell)


def test_what_is_remembered_is_bounded():
    """Long texts are not cached, and the number of short ones is limited."""
    seen = []
    shout = cache_render(lambda text, end: seen.append(text) or text.upper() + end)
    for text, times in (("a" * MAX_LENGTH, 1), ("b" * (MAX_LENGTH + 1), 3)):
        assert [shout(text, "!") for _ in range(3)] == [text.upper() + "!"] * 3
        assert seen.count(text) == times
    assert shout("a" * MAX_LENGTH, "?")[-1] == "?"
    for number in range(MAX_ENTRIES):
        shout(str(number), "!")
    shout("a" * MAX_LENGTH, "!")
    assert seen.count("a" * MAX_LENGTH) == 3


# ---- Run time of commands


def queries(work) -> int:
    """Count the statements sent to the gradebook within the block."""
    sent = []

    def note(*arguments) -> None:
        sent.append(arguments[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return len(sent)


@pytest.mark.slow
def test_queries_do_not_grow_with_the_class(graded, tmp_path):
    """The report and the export send as many queries for four students as for one."""
    one = CourseFolder.create(tmp_path / "one")
    generate_assignment(one, STUDY)
    submit(one, "ada", CLASS["ada"])
    grade(one, STUDY)
    for work in (lambda folder: read_class(folder, STUDY), read_marks):
        assert queries(partial(work, one)) == queries(partial(work, graded)) <= 6


@pytest.mark.parametrize("command", ["grade study2", "feedback study2", "export"])
def test_nothing_to_do_starts_nothing(school, command):
    """A command without work imports no nbgrader and starts no worker."""
    code = (
        "import sys, multiprocessing.forkserver as server\n"
        "from autograder.commands.cli import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print('nbgrader' in sys.modules, server._forkserver._forkserver_pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *command.split(), "-c", str(school.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "False None"
