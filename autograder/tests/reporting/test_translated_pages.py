"""Feedback pages in the language of the course; the stored results are in English."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autograder import workspace
from autograder.course_folder import CourseFolder
from autograder.grading.run.batch import grade
from autograder.release.own_course.translation import compile_messages
from autograder.reporting.export import read_marks
from autograder.reporting.pages.feedback import write_feedback
from autograder.studies.mutants import load_mutants
from autograder.tests.support.courses.classes import make_course
from course.checks import load_study

pytestmark = pytest.mark.xdist_group("feedback")

STUDY = load_study("study2")
MODULES = workspace.module_texts(STUDY)
MISTAKE = next(m for m in load_mutants("study2") if m.name == "root_not_counted")
CLASS = {
    "ada": MODULES["reference"],
    "cy": MODULES[MISTAKE.name],
    "eve": "raise ValueError('a & b')\n",
}
PO = f"""
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"

msgid "Checks"
msgstr "Prüfungen & Punkte"

msgid "Points"
msgstr "Punkte"

msgid "{{part}} of {{whole}} points"
msgstr "{{part}} von {{whole}} Punkten"

msgid "{{earned}} of {{points}} points"
msgstr "{{earned}} von {{points}} Punkten"

msgid "all correct"
msgstr "alles richtig"

msgid "not all correct"
msgstr "nicht alles richtig"

#, fuzzy
msgid "Likely cause"
msgstr "Vermutung"

msgctxt "name"
msgid "nodes"
msgstr "Knoten"

msgid "{{right}} of {{cases}} right"
msgstr "{{right}} von {{cases}} richtig"

msgid {json.dumps(MISTAKE.sentence)}
msgstr "Die Wurzel wurde nicht gezählt <&>."

msgid "{{name}} (line {{number}} of {{file}})"
msgstr ""

msgid " (line {{number}} of {{name}})"
msgstr " (Zeile {{number}} von {{name}})"
"""


def page_of(folder: CourseFolder, student: str) -> str:
    """The page of a student, without its style."""
    path = folder.root / "feedback" / student / STUDY.assignment / "02_alpha_beta.html"
    return path.read_text("utf-8").partition("</style>")[2]


def results_of(folder: CourseFolder) -> dict[str, str]:
    """All stored results and marks."""
    files = sorted((folder.root / "results").rglob("*.json"))
    return {str(path.relative_to(folder.root)): path.read_text("utf-8") for path in files}


def use_german(folder: CourseFolder, text: str = PO) -> None:
    """Give the course a language and translations."""
    (folder.root / "course.toml").write_text('language = "de"\n', "utf-8")
    (folder.root / "messages").mkdir(exist_ok=True)
    (folder.root / "messages" / "de.po").write_text(text.lstrip(), "utf-8")
    compile_messages(folder)


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> CourseFolder:
    """A class of a German course, graded and with pages."""
    folder = make_course(tmp_path_factory.mktemp("german") / "course", STUDY)
    use_german(folder)
    for student, module in CLASS.items():
        target = folder.submission(STUDY.assignment, student)
        shutil.copytree(folder.release(STUDY.assignment), target)
        (target / STUDY.module).write_text(module, "utf-8")
    assert {each.status for each in grade(folder, STUDY)} == {"graded"}
    assert not any(page.problem for page in write_feedback(folder, STUDY))
    return folder


def test_a_page_is_in_the_language_of_the_course(graded):
    """The summary and the explanation in the notebook are translated and escaped."""
    page = page_of(graded, "cy")
    summary, _, notebook = page.partition("<details>")
    for part in (summary, notebook):
        assert "Die Wurzel wurde nicht gezählt &lt;&amp;&gt;." in part
        assert MISTAKE.sentence not in part
        assert re.search(r"[\d.]+ von [\d.]+ Punkten", part)
        assert "Knoten" in part
    assert "<h2>Prüfungen &amp; Punkte</h2>" in summary
    assert re.search(r"Knoten: \d+ von \d+ richtig", summary)
    assert "nicht alles richtig" in notebook
    assert "alles richtig" in page_of(graded, "ada")
    assert '<html lang="de">' in (
        graded.root / "feedback" / "cy" / STUDY.assignment / "02_alpha_beta.html"
    ).read_text("utf-8")


def test_missing_and_fuzzy_translations_are_english(graded):
    """Such texts are shown as in every course."""
    page = page_of(graded, "cy")
    assert "Likely cause:" in page and "Vermutung" not in page
    assert "<h2>Written answers</h2>" in page


def test_code_and_errors_stay_as_they_are(graded):
    """Only the place of an error is translated."""
    page = page_of(graded, "eve")
    assert f"ValueError: a &amp; b (Zeile 1 von {STUDY.module})" in page
    assert "study2.alpha_beta" in page


def test_marks_and_results_do_not_depend_on_the_language(graded, tmp_path):
    """The stored results are English; a course in English has the same pages as ever."""
    results = results_of(graded)
    assert MISTAKE.sentence in json.loads(results[_result("cy")])["outcomes"][0]["cause"]
    assert not any("Knoten" in text or "gezählt" in text for text in results.values())
    english = CourseFolder.open(shutil.copytree(graded.root, tmp_path / "course"))
    (english.root / "course.toml").unlink()
    assert replace(read_marks(english), folder=graded) == read_marks(graded)
    assert {each.status for each in grade(english, STUDY)} == {"unchanged"}
    write_feedback(english, STUDY)
    page = page_of(english, "cy")
    assert "<h2>Checks</h2>" in page and MISTAKE.sentence in page
    assert "Knoten" not in page and '"de"' not in page


def test_a_new_translation_updates_the_pages(graded, tmp_path):
    """Nothing is graded again; without changes, no page is written."""
    folder = CourseFolder.open(shutil.copytree(graded.root, tmp_path / "course"))
    write_feedback(folder, STUDY)
    assert all(page.unchanged for page in write_feedback(folder, STUDY))
    use_german(folder, PO.replace("alles richtig", "alles gut"))
    assert not any(page.unchanged for page in write_feedback(folder, STUDY))
    assert "alles gut" in page_of(folder, "ada")
    Path(folder.root, "messages", "de.mo").write_bytes(b"damaged")
    assert not any(page.problem for page in write_feedback(folder, STUDY))
    assert "all correct" in page_of(folder, "ada")


def _result(student: str) -> str:
    return str(Path("results", STUDY.assignment, student, "02_alpha_beta.json"))
