"""Written answers never make a student's or a marker's browser contact another host.

`test_marking` opens the marking view of the overview, with answers that try the same.
"""

import json
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder.benchmarks.support.browser.harness import serve
from autograder.course_folder import CourseFolder
from autograder.database import db_url
from autograder.grading.run.batch import grade
from autograder.release.assignments import add_students, generate_assignment
from autograder.reporting.pages.feedback import write_feedback
from autograder.tests.support.needs import need_isolation
from course.checks import load_study

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
STUDY = load_study("study2")
NOTEBOOK = "02_alpha_beta"
HOST = "http://x.invalid"
FETCHING = [
    f'<p style="cursor: url({HOST}/1), auto; background: url({HOST}/2)">Text</p>',
    f"<p style=\"background-image: image-set('{HOST}/3' 1x); color: red\">Text</p>",
    f'<p style="cursor: \\75 rl({HOST}/4); border-image: url({HOST}/5)">Text</p>',
    f'<img src="{HOST}/6"><img srcset="{HOST}/7 1x"><picture><source srcset="{HOST}/8"></picture>',
    f"![A picture]({HOST}/9)",
    f'<svg><image href="{HOST}/10"/><use href="{HOST}/11#a"/></svg>',
    f"<style>@import url({HOST}/12); p {{ background: url({HOST}/13) }}</style>",
    f'<link rel="stylesheet" href="{HOST}/14"><link rel="icon" href="{HOST}/15">',
    f'<iframe src="{HOST}/16"></iframe><object data="{HOST}/17"></object><embed src="{HOST}/18">',
    f'<video src="{HOST}/19" poster="{HOST}/20"></video><audio src="{HOST}/21" autoplay></audio>',
    f'<script src="{HOST}/22"></script><input type="image" src="{HOST}/23">',
    f'<table background="{HOST}/24"><tr><td style="list-style: url({HOST}/25)">Text</table>',
    f'<base href="{HOST}/26/"><img src="picture.png">',
    f'<meta http-equiv="refresh" content="0; url={HOST}/27">',
]
ANSWER = "\n\n".join([*FETCHING, "The end of the answer."])


def test_no_page_asks_another_host(browser, tmp_path):
    """The feedback page and formgrader's marking page show the answer and load nothing."""
    need_isolation()
    course = CourseFolder.create(tmp_path / "course")
    generate_assignment(course, STUDY)
    add_students(course, [("ada", "Ada", "Lovelace")])
    submit(course)
    grade(course, STUDY)
    write_feedback(course, STUDY)
    pages = sorted(course.root.glob(f"feedback/ada/{STUDY.assignment}/*.html"))
    assert pages
    for path in pages:
        browser.page.goto(path.as_uri(), wait_until="load")
        assert "The end of the answer." in browser.page.content()
    with Gradebook(db_url(course)) as gradebook:
        number = gradebook.find_submission_notebook(NOTEBOOK, STUDY.assignment, "ada").id
    with serve(course.root, tmp_path) as server:
        browser.open(server, f"formgrader/submissions/{number}/")
        browser.page.get_by_text("The end of the answer.").first.wait_for()
        browser.page.wait_for_load_state("networkidle")
    assert browser.elsewhere == []


def test_uncleaned_they_would(browser, tmp_path):
    """Each of these answers contacts another host if a page contains it unchanged."""
    for number, text in enumerate(text for text in FETCHING if not text.startswith("!")):
        path = tmp_path / f"{number}.html"
        path.write_text(f"<!DOCTYPE html><body>{text}", "utf-8")
        browser.elsewhere.clear()
        browser.page.goto(path.as_uri(), wait_until="commit")
        browser.wait_until(lambda: browser.elsewhere, f"nothing was fetched for {text}")


def submit(course: CourseFolder) -> None:
    """Submit a study in which Ada's answer to every question is `answer`."""
    work = shutil.copytree(
        course.release(STUDY.assignment), course.submission(STUDY.assignment, "ada")
    )
    for path in work.glob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown" and cell["metadata"].get("nbgrader", {}).get(
                "solution"
            ):
                cell["source"] = ANSWER
        path.write_text(json.dumps(notebook), "utf-8")
