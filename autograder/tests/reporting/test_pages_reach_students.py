"""Feedback through the exchange: each student gets all results, whatever the notebooks' names.

One class submits through nbgrader's exchange, is graded, and fetches its pages.
"""

import json
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

from autograder.commands.exchange import exchange
from autograder.course_folder import CourseFolder
from autograder.errors import UserError
from autograder.grading.run.batch import grade
from autograder.release.assignments import add_students
from autograder.reporting.pages.feedback import write_feedback
from autograder.reporting.pages.page_names import page_names
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.courses.exchange import (
    STUDY,
    fetch_feedback,
    make_student_folder,
    module_text,
    release_to_exchange,
    submit,
)
from autograder.tests.support.needs import need_isolation
from autograder.tests.support.pages.images import DATA, DOT

pytestmark = [
    pytest.mark.xdist_group("feedback"),
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:.*unrecognized arguments:DeprecationWarning", "ignore:unclosed file:ResourceWarning"
    ),
]
LOOP = "    while True:\n        pass\n"
PICTURES = (
    f"**See** <img src='attachment:my tree.png'> and ![t](img/tree.png)\n\n"
    f"![gone](gone.png) ![inline](data:image/png;base64,{DATA})"
)


def notebooks(work: Path) -> list[Path]:
    """The student's notebooks."""
    return sorted(work.glob("*.ipynb"))


def attach(work: Path) -> None:
    """Attach a picture to every written answer, put one next to the notebook and submit a page."""
    (work / "img").mkdir()
    (work / "img" / "tree.png").write_bytes(DOT)
    (work / f"{notebooks(work)[0].stem}.html").write_text("my own page", "utf-8")
    (work / "marks.html").write_text("all points", "utf-8")
    for path in notebooks(work):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell["attachments"] = {"my tree.png": {"image/png": DATA}}
        nbformat.write(notebook, path)


def rename(work: Path) -> None:
    """Rename two notebooks, like a browser's second download."""
    for path in notebooks(work)[:2]:
        path.rename(path.with_name(f"{path.stem} (1) ä & <b>.ipynb"))


def lose(work: Path) -> None:
    """Submit one notebook of three."""
    for path in notebooks(work)[1:]:
        path.unlink()


def lose_all(work: Path) -> None:
    """Submit only the module."""
    for path in notebooks(work):
        path.unlink()


CLASS = {"ann": attach, "ben": rename, "cy": lose, "dee": lose_all}
NAMES = {"ann": ("Ann", "<b>Turing</b>"), "ben": ("Ben", "Zuse")}


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> CourseFolder:
    """A class with all possible feedback in the exchange."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("reach") / "course", STUDY)
    release_to_exchange(folder, STUDY)
    add_students(folder, [(who, *name) for who, name in NAMES.items()])
    stuck = re.sub(
        r"(?m)^def heuristic\(.*\n(?: .*\n|\n)*",
        lambda found: found[0].split("\n")[0] + "\n" + LOOP + "\n\n",
        module_text("lane_counts", "heuristic"),
        count=1,
    )
    assert LOOP in stuck
    for student, change in CLASS.items():
        submit(
            folder,
            make_student_folder(folder.root.parent / student, folder),
            student,
            stuck if student == "cy" else module_text("lane_counts", "heuristic"),
            PICTURES if student == "ann" else "An answer.",
            change=change,
        )
    exchange(folder, STUDY, "collect")
    assert {graded.status for graded in grade(folder, STUDY)} == {"graded"}
    assert not any(page.problem for page in write_feedback(folder, STUDY))
    return folder


@pytest.fixture(scope="module")
def fetched(school) -> dict[str, dict[str, str]]:
    """The files that each student has after fetching, by name; the report must be accurate."""
    with pytest.raises(
        UserError, match=r"students: 3; nothing .* dee: .*no notebook was submitted"
    ):
        exchange(school, STUDY, "release-feedback")
    found = {}
    for student in CLASS:
        student_folder = school.root.parent / student
        fetch_feedback(school, student_folder, student)
        found[student] = {
            path.stem: path.read_text("utf-8")
            for path in (student_folder / STUDY.assignment).glob("feedback/*/*.html")
        }
    return found


def notebook_names(school: CourseFolder) -> list[str]:
    """The names of the study's notebooks."""
    return [path.stem for path in notebooks(school.release(STUDY.assignment))]


def test_each_notebook_that_was_submitted_has_a_page(school, fetched):
    """The page has the name that the student gave the notebook."""
    names = notebook_names(school)
    assert set(fetched["ann"]) == set(names)
    assert set(fetched["ben"]) == {*(f"{name} (1) ä & <b>" for name in names[:2]), names[2]}
    assert set(fetched["cy"]) == {names[0]}
    assert fetched["dee"] == {}


def test_links_lead_to_pages_that_were_fetched(fetched, school):
    """Links between the pages work offline, and each page shows its own notebook's results."""
    for pages in fetched.values():
        for name, page in pages.items():
            links = [unquote(unescape(link)) for link in re.findall(r'href="([^"#:]+)"', page)]
            assert sorted(links) == sorted(f"{other}.html" for other in pages if other != name)
    for student in fetched.keys() - {"dee"}:
        folder = school.root / "feedback" / student / STUDY.assignment
        for page in folder.glob("*.html"):
            for link in re.findall(r'href="([^"#:]+)"', page.read_text("utf-8")):
                assert (folder / unquote(unescape(link))).is_file()


def test_what_was_not_submitted_has_its_checks_on_the_other_pages(school, fetched):
    """The checks count, because they need only the module."""
    (page,) = fetched["cy"].values()
    for name in notebook_names(school)[1:]:
        assert re.search(rf"{name}: \d.* of \d+ \(not submitted", page)
        assert f"{name}.ipynb is missing" in page
    missing = [
        check for check in STUDY.checks.values() if check.id not in page.partition("<details>")[0]
    ]
    assert missing == []


def test_a_page_names_student_study_and_total(school, fetched):
    """They appear as text, and every page has the same total."""
    for student, pages in fetched.items():
        for name, page in pages.items():
            first, last = NAMES.get(student, ("", ""))
            who = f"{escape(f'{first} {last}'.strip())} ({student})" if first else student
            head = page.partition("<h1>")[0]
            assert f"{escape(STUDY.title)}<br>\n{who}</p>" in head
            assert "<b>" not in page.partition("<body>")[2].partition("<details>")[0], name
        totals = {re.search(r"\S+ of \S+ points for all", page)[0] for page in pages.values()}
        assert len(totals) <= 1
    for other in CLASS:
        assert other == "ann" or "Turing" not in "".join(fetched[other].values())


def test_answers_are_shown_with_their_pictures(school, fetched):
    """Attached, separate and embedded pictures are shown below their question; a missing one is
    named.
    """
    page = next(page for page in fetched["ann"].values() if 'class="answer"' in page)
    answer = re.search(r'(?s)<div class="answer">(.*?)</div>', page)[1]
    assert answer.count(f'src="data:image/png;base64,{DATA}"') == 3
    assert "[The picture gone.png (gone) is not shown: there is no such file" in answer
    assert 'class="question"' in page


def test_a_check_that_was_stopped_has_a_cause(fetched):
    """The page gives the limit and, if that case may be shown, the query that was running."""
    (page,) = fetched["cy"].values()
    assert re.search(r"[Ss]topped after \d+ s of computing time", page)
    if why := re.search(r"<strong>Why it was stopped:</strong> (.*?)</p>", page):
        assert re.match(
            r"The limit of .* s of computing time.* was reached while your code computed "
            r"the answer to .*\. Look for a loop",
            unescape(why[1]),
        )


def test_pages_that_students_submit_are_not_given_back(school):
    """They do not appear next to our pages or replace one of them."""
    folder = school.root / "feedback" / "ann" / STUDY.assignment
    assert sorted(path.stem for path in folder.glob("*.html")) == notebook_names(school)
    assert "my own page" not in (folder / f"{notebook_names(school)[0]}.html").read_text("utf-8")


# ---- Names only


def write_notebook(path: Path, *ids: str) -> None:
    """A notebook with these graded cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [
        {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": grade_id}}}
        for grade_id in ids
    ]
    path.write_text(json.dumps({"cells": cells}), "utf-8")


@pytest.mark.parametrize(
    ("submitted", "found"),
    [
        ({"1": "a", "2": "b"}, {"1": "1", "2": "2"}),
        ({"1": "a", "x": "b"}, {"1": "1", "x": "2"}),
        ({"y": "a", "x": "b"}, {"y": "1", "x": "2"}),
        ({"1": "a", "2": "b", "1 copy": "a"}, {"1": "1", "2": "2", "1 copy": "1"}),
        ({"1": "a", "notes": ""}, {"1": "1", "notes": "2"}),
        ({"1": "a", "2": "b", "notes": ""}, {"1": "1", "2": "2", "notes": "1"}),
        ({"2": "b"}, {"2": "2"}),
        ({}, {}),
        ({"deep/1": "a"}, {}),
    ],
)
def test_each_name_has_a_page(tmp_path, submitted, found):
    """A renamed notebook has its own page, a copy has the original's, and notes have any."""
    for name, ids in (("1", "a"), ("2", "b")):
        write_notebook(tmp_path / "release" / f"{name}.ipynb", *ids)
    (tmp_path / "submitted").mkdir()
    for name, ids in submitted.items():
        write_notebook(tmp_path / "submitted" / f"{name}.ipynb", *ids)
    names = page_names(tmp_path / "submitted", tmp_path / "release")
    assert names.pages == found
    for notebook in ("1", "2"):
        page = names.page_for(notebook)
        assert page == notebook if not found else page is None or found[page] == notebook


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"cells": 3}',
        '{"cells": [null]}',
        '{"cells": [{"metadata": {"nbgrader": {"grade_id": []}}}]}',
    ],
)
def test_a_file_that_is_no_notebook_has_a_page(tmp_path, text):
    """The contents of the file do not matter."""
    write_notebook(tmp_path / "release" / "1.ipynb", "a")
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "odd.ipynb").write_text(text, "utf-8")
    assert page_names(tmp_path / "submitted", tmp_path / "release").pages == {"odd": "1"}
