"""An instructor's work in formgrader, from the first release to the feedback, by mouse clicks."""

import pytest

from autograder.benchmarks.support.browser.harness import serve
from autograder.commands.plan import PLANS
from autograder.course_folder import CourseFolder
from autograder.course_folder.table import COURSE_ID
from autograder.dashboard.buttons import STOPPED
from autograder.database import db_url
from autograder.gradebook import Gradebook
from autograder.grading.mark_history.changes import read_changes
from autograder.grading.run.batch import grade
from autograder.release.assignments import add_students
from autograder.release.notebooks import answer_id
from autograder.reporting.gradebook import marks_of, open_gradebook, students_of
from autograder.reporting.report import write_report
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.courses.exchange import (
    NOTEBOOK,
    STUDY,
    fetch_feedback,
    make_student_folder,
    submit,
)
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.pages.axe import GRAVE, findings
from autograder.workspace import answer_path
from course.checks import load_study, studies
from course.lab.start_page import PAGE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
ADA = "ada"
QUESTION = answer_id("why-ten")
COMMENT = "Well said, and the largest count is named."
SHOW = "Update and show the buttons"
DUE = "2027-03-01 10:00 UTC"


def test_an_instructor_grades_in_formgrader(browser, tmp_path):
    """Generate, release, collect, autograde, mark an answer, generate and release feedback."""
    need_isolation()
    course = make_course(tmp_path / "course", *map(load_study, studies()))
    student_folder = make_student_folder(tmp_path / "student", course)
    add_students(course, [(ADA, "Ada", "Lovelace")])
    mistake = next(m for m in load_mutants(STUDY.name) if m.name == "diagonals_missed")
    module = mistake.apply(answer_path(STUDY).read_text("utf-8"))
    with serve(course.root, tmp_path) as server:
        form = open_formgrader(browser, server)
        for name in studies():
            row_of(form, load_study(name).assignment).wait_for()

        click(form, STUDY.assignment, "assign", "Successfully created the student version")
        click(form, STUDY.assignment, "release", "Successfully released")
        browser.screenshot("instructor-assignments")
        assert (course.exchange() / COURSE_ID / "outbound" / STUDY.assignment).is_dir()
        submit(course, student_folder, ADA, module, "Because a win is worth more than any count.")
        click(form, STUDY.assignment, "collect", "Successfully collected")
        assert (course.submission(STUDY.assignment, ADA) / STUDY.module).read_text() == module

        row_of(form, STUDY.assignment).locator(".num-submissions a").click()
        click(form, ADA, "autograde", "Successfully autograded")
        browser.screenshot("instructor-submissions")
        clicked = marks(course)
        assert clicked.automatic > 0
        assert clicked.waiting

        mark_by_hand(browser, form)
        browser.wait_until(
            lambda: marks(course).manual == 2 and marks(course).comments,
            "score and comment are not in the gradebook",
        )
        assert (marks(course).comments, last_mark_by_hand(course)) == ([COMMENT], 2)

        form.get_by_role("link", name="Manual Grading").click()
        form.get_by_role("link", name="Manage Assignments").click()
        click(form, STUDY.assignment, "generate-feedback", "Successfully generated feedback")
        click(form, STUDY.assignment, "release-feedback", "Successfully released feedback")
        pages = fetch_feedback(course, student_folder, ADA)
        assert sum(COMMENT in page for page in pages) == 1
        assert any(mistake.sentence in page for page in pages)

        write_report(course, STUDY)
        page = browser.page
        page.get_by_role("tab", name=PAGE).click()
        browser.wait_for_notebook(server, PAGE)
        browser.run_all()
        browser.screenshot("formgrader-overview")
        page.get_by_role("link", name=f"report of {STUDY.assignment}").click()
        report = page.frame_locator(".jp-HTMLViewer iframe").get_by_role("heading", level=1)
        report.wait_for()
        assert report.inner_text() == STUDY.title
        browser.screenshot("instructor-report")
        assert browser.elsewhere == []

    # Our own command gives the same marks for each cell.
    (graded,) = grade(course, STUDY, [ADA], force=True)
    assert graded.status == "graded"
    again = marks(course)
    assert again.cells == clicked.cells | {(NOTEBOOK, QUESTION): 2}
    assert (again.automatic, again.extra) == (clicked.automatic, clicked.extra)


def test_formgrader_refuses_names_and_times_when_they_are_set(browser, tmp_path):
    """*Add new assignment* and the due-date dialog explain the error and change nothing."""
    course = CourseFolder.create(tmp_path / "course")
    browser.page.set_viewport_size({"width": 1366, "height": 768})
    with serve(course.root, tmp_path / "private") as server:
        form = open_formgrader(browser, server)
        for name, better in (("week 7", "week_7"), ("Übung/1", "Ubung_1"), ("week7", "")):
            form.get_by_role("link", name="Add new assignment").click()
            added = form.locator("#add-assignment-modal")
            added.locator("input.name").fill(name)
            added.get_by_role("button", name="Save").click()
            if better:
                refused(browser, form, f"assignment name '{name}' does not", f"example '{better}'")
        row_of(form, "week7").locator(".edit a").click()
        edited = form.locator("#edit-assignment-modal")
        edited.locator(".modal-duedate").fill("2027-03-01T10:00")
        edited.locator(".modal-timezone").fill("CEST")
        edited.get_by_role("button", name="Save").click()
        refused(browser, form, "CEST", "2026-03-02 10:00")
        row_of(form, "week7").wait_for()
        assert form.locator("#main-table tr .edit").count() == 1
    assert [path.name for path in (course.root / "source").iterdir()] == ["week7"]
    with Gradebook(db_url(course)) as book:
        assert [(one.name, one.duedate) for one in book.assignments] == [("week7", None)]


def test_a_course_by_clicking_on_the_overview(browser, tmp_path):
    """The overview sets up a course and takes two assignments through every button, on a laptop.

    Each message appears in view next to its button, and each field belongs to the selected
    assignment. After a kernel restart, a notice replaces the buttons.
    """
    need_isolation()
    course = CourseFolder.create(tmp_path / "spring")
    student_folder = make_student_folder(tmp_path / "student", course)
    page = browser.page
    page.set_viewport_size({"width": 1366, "height": 768})
    with serve(course.root, tmp_path / "private") as server:
        browser.open(server, "")
        browser.wait_for_lab()
        browser.wait_for_notebook(server, PAGE)
        assert not page.locator(".jp-CodeCell .cm-content").locator("visible=true").count()
        page.get_by_role("button", name=SHOW).click()
        press(page, "Set up the course", "Choose the day")
        page.get_by_label("First day").fill("2027-01-11")
        page.get_by_label("First day").press("Tab")
        page.get_by_label("Students").fill(f"id\n{ADA}\n")
        page.get_by_label("Students").press("Tab")
        ready = press(page, "Set up the course", "spring is ready")
        page.locator(".jp-OutputArea").get_by_role("cell", name="study6_evaluator").wait_for()
        require_in_view(ready)
        browser.screenshot("instructor-wizard")
        ready.get_by_role("button", name="Open the course").click()
        page.wait_for_function("() => document.activeElement.tagName === 'SELECT'")

        dates = []
        for study in (load_study("study2"), STUDY):
            page.get_by_label("Assignment").select_option(label=study.title)
            page.get_by_text("generated, not released, 0 submitted").wait_for()
            dates.append(page.get_by_label("Due date").input_value())
            take(browser, course, student_folder, study)
        assert len({*dates, ""}) == 3  # separate files, neither empty
        assert page.locator(".marking").count() == 1
        change_in_mid_run(browser, course)
        found = []
        for theme in ("Light", "Dark"):
            browser.use_theme(theme)
            browser.screenshot(f"overview-{theme.lower()}")
            found += findings(page, ".jp-OutputArea")
        browser.use_theme("Light")
        restart(browser, server)
        page.get_by_role("button", name=SHOW).click()
        page.get_by_role("button", name="Autograde", exact=True).wait_for()
        assert not page.get_by_text(STOPPED).locator("visible=true").count()
    with open_gradebook(course) as gradebook:
        assert [student.id for student in students_of(gradebook)] == [ADA]
    assert {path.name for path in (course.root / "release").iterdir()} == {
        load_study(name).assignment for name in PLANS[6]
    }
    assert [f for f in found if f.impact in GRAVE] == []
    assert browser.elsewhere == []


def press(page, button: str, said: str):
    """Click a button; return its message once it has the expected text next to the button, in view."""
    clicked = page.get_by_role("button", name=button, exact=True).locator("visible=true").first
    clicked.click()
    message = clicked.locator("xpath=following::div[@class='message'][1]")
    message.filter(has_text=said).wait_for()
    require_in_view(message)
    return message


def require_in_view(message) -> None:
    """Wait until a message is completely visible in the notebook window and nothing covers it."""
    message.page.wait_for_function(
        """message => {
        const text = message.querySelector(".message-text").getBoundingClientRect();
        const whole = message.getBoundingClientRect();
        const window = message.closest(".jp-WindowedPanel-outer, .jp-Notebook")
            .getBoundingClientRect();
        const seen = document.elementFromPoint(text.left + 5, text.top + text.height / 2);
        return whole.top >= window.top - 1 && whole.bottom <= window.bottom + 1
            && message.contains(seen);
    }""",
        arg=message.element_handle(),
    )


def take(browser, course, student_folder, study) -> None:
    """Take an assignment through its steps by clicking, including a few steps too early."""
    page = browser.page
    early = press(page, "Collect", "has not been released to students yet. Click Release first.")
    assert early.locator("progress, summary, button").locator("visible=true").count() == 0
    press(page, "Autograde", "There are no submissions")
    press(page, "Mark written answers", "There are no submissions")
    message = press(page, "Release", f"Release {study.title}?")
    message.get_by_role("button", name="Release").click()
    message.get_by_text("Students can now fetch it").wait_for()
    require_in_view(message)
    submit(course, student_folder, ADA, answer_path(study).read_text("utf-8"), "Because.", study)
    press(page, "Collect", "Submissions in total: 1")
    press(page, "Release feedback", "Click Autograde first")
    graded = press(page, "Autograde, feedback and report", "Autograded: 1 of 1")
    assert study.title in graded.inner_text()
    assert graded.locator("progress").evaluate("bar => bar.value === bar.max && bar.max > 0")
    assert not graded.locator("details").evaluate("log => log.open")
    browser.screenshot(f"overview-graded-{study.name}")
    press(page, "Release feedback", f"Release feedback on {study.title}?").get_by_role(
        "button", name="Release feedback"
    ).click()
    page.locator(".message").filter(has_text="is in the exchange").wait_for()
    assert fetch_feedback(course, student_folder, ADA, study)
    page.get_by_label("Due date").fill("next week")
    press(page, "Set due date and late penalty", "2026-03-02 10:00")
    page.get_by_label("Due date").fill(DUE)
    page.get_by_text(DUE).wait_for()
    press(page, "Set due date and late penalty", "Penalties are up to date")
    press(page, "Export", "reports/gradebook.csv")
    page.get_by_role("button", name="Mark written answers").click()
    page.get_by_role("heading", name=f"{study.title}: written answers").wait_for()
    page.locator(".marking article").first.wait_for()
    browser.screenshot(f"overview-marking-{study.name}")


def change_in_mid_run(browser, course) -> None:
    """Selecting another assignment during a command leaves that command's assignment unchanged."""
    page, other = browser.page, load_study("study2")
    page.get_by_role("button", name="Autograde", exact=True).click()
    page.get_by_label("Assignment").select_option(label=other.title)
    page.get_by_role("heading", name=f"{other.title}: written answers").wait_for()
    message = page.locator(".message").filter(has_text="Autograded: 1 of 1")
    message.wait_for()
    assert STUDY.title in message.inner_text()
    page.get_by_label("Assignment").select_option(label=load_study("study6").title)
    page.locator(".message").filter(
        has_text=f"no submissions to {load_study('study6').title}"
    ).wait_for()
    assert not page.locator(".marking").count()
    assert page.get_by_label("Due date").input_value() not in ("", DUE)
    page.get_by_label("Assignment").select_option(label=load_study("study4").title)
    page.get_by_text("not generated yet", exact=True).wait_for()
    assert not page.get_by_label("Due date").input_value()


def restart(browser, server) -> None:
    """After a kernel restart from Lab's menu, only a notice remains of the buttons."""
    page = browser.page
    browser.restart_kernel()
    page.get_by_text(STOPPED).wait_for()
    browser.wait_for_notebook(server, PAGE)
    browser.screenshot("overview-restarted")
    for gone in (".jupyter-widgets-disconnected", ".widget-button", "button.jupyter-button"):
        assert not page.locator(f".jp-OutputArea {gone}").locator("visible=true").count()


def last_mark_by_hand(course: CourseFolder) -> float | None:
    """The last mark of the written answer that the history of marks says was given in formgrader."""
    by_hand = [
        change.items[f"{NOTEBOOK}/{QUESTION}"][1]
        for change in read_changes(course, STUDY.assignment)
        if change.why == "marked by hand in formgrader"
    ]
    return by_hand[-1]


def open_formgrader(browser, server):
    """Open formgrader through Lab's menu; return its frame."""
    browser.open(server, "")
    browser.wait_for_lab()
    browser.wait_for_notebook(server, PAGE)
    browser.command("application:toggle-left-area")  # formgrader needs a wide window
    browser.page.get_by_role("menuitem", name="Nbgrader").click()
    browser.page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    return browser.page.frame_locator("iframe[src*='formgrader']")


def row_of(form, name):
    """The row of an assignment, or of a student's submission, in formgrader's table."""
    return form.locator("#main-table tr").filter(has_text=name)


def click(form, name: str, button: str, success: str) -> None:
    """Click a button in a row, and close the dialog, which must report success."""
    row_of(form, name).locator(f".{button} a").click()
    dialog = form.locator(".modal.in")
    dialog.wait_for()
    assert success in dialog.inner_text()
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="detached")


def refused(browser, form, *said: str) -> None:
    """Close the dialog that explains why something was not saved; the page then reloads."""
    dialog = form.locator("#error-modal.in")
    for words in said:
        dialog.filter(has_text=words).wait_for()
    browser.screenshot("formgrader-refused")
    with browser.page.expect_response("**/formgrader/api/assignments"):
        dialog.get_by_role("button", name="OK").click()


def marks(course):
    """The marks of the single submission in the gradebook."""
    with open_gradebook(course) as gradebook:
        return marks_of(gradebook, STUDY.assignment)[ADA]


def mark_by_hand(browser, form) -> None:
    """Open the written answer in formgrader's gradebook; give two points and a comment."""
    form.get_by_role("link", name="Manual Grading").click()
    form.locator("#main-table").get_by_role("link", name=STUDY.assignment).click()
    form.locator("#main-table").get_by_role("link", name=NOTEBOOK).click()
    form.locator("#main-table").get_by_role("link", name="Submission #1").click()
    # formgrader loads marks and comments after the page, so anything typed earlier is lost.
    form.locator(f"#{QUESTION}_extra_credit[placeholder='0']").wait_for()
    form.locator(f"#{QUESTION}-comment[placeholder]").wait_for()
    score = form.locator(f"#{QUESTION}")
    score.fill("2")
    score.press("Tab")
    comment = form.locator(f"#{QUESTION}-comment")
    comment.fill(COMMENT)
    comment.press("Tab")
    browser.page.wait_for_timeout(1000)  # formgrader scrolls to the next answer
    comment.evaluate("area => area.scrollIntoView({block: 'center'})")
    browser.screenshot("formgrader-marking")
