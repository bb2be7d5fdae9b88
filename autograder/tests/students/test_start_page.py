"""The start page, the overview of a course folder, and the doctor's report on the exchange."""

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jupyterlab import labapp
from jupyterlab.commands import get_app_dir
from jupyterlab_server import settings_utils

from autograder import doctor
from autograder.course_folder import CONFIG_FILE, EXCHANGE, CourseFolder
from autograder.course_folder.table import COURSE_ID
from autograder.dashboard.overview import overview
from autograder.doctor import environment_checks
from autograder.release.derive import COURSE
from autograder.release.leaks import public_files
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from course.check import check
from course.checks import load_study, studies
from course.lab import file_manager
from course.lab import start_page as start_page_module
from course.lab.file_manager import INTERNALS, CourseFiles
from course.lab.progress import ANSWER_STUB, RESULTS_FILE, check_summaries, progress
from course.lab.start_page import (
    CALL,
    LAB_DEFAULTS,
    PAGE,
    PAGE_CLASS,
    WELCOME,
    below,
    has_exchange,
    open_lab,
    start_page,
    submission_cell,
    write_page,
)

STUDY = load_study("study3")
KERNELS = "@jupyterlab/apputils-extension:kernels-settings"


@pytest.fixture
def student_folder(tmp_path) -> Path:
    """A student's folder with one unchanged study."""
    shutil.copytree(
        COURSE / STUDY.assignment,
        tmp_path / STUDY.assignment,
        ignore=shutil.ignore_patterns("[0-9]*.py", "__pycache__", ".*"),
    )
    return tmp_path


@pytest.fixture
def work(student_folder) -> Path:
    """The folder of the study."""
    return student_folder / STUDY.assignment


def write_module(work: Path, *functions: str) -> None:
    """Write the module with the reference's version of these functions."""
    text = stub(answer_path(STUDY).read_text("utf-8"), STUDY.module, keep=list(functions))
    (work / STUDY.module).write_text(text, "utf-8")


def answer_everything(path: Path) -> None:
    """Write something into each answer cell."""
    book = json.loads(path.read_text("utf-8"))
    for cell in book["cells"]:
        cell["source"] = "".join(cell["source"]).replace(ANSWER_STUB, "Because.")
    path.write_text(json.dumps(book), "utf-8")


def test_every_notebook_of_the_course_is_on_the_page():
    """The page for the kit's own folder links every study and notebook in order."""
    page = start_page(COURSE)
    assert [study.name for study, _ in page.studies] == studies()
    assert not page.missing
    shown = page._repr_html_()
    paths = [p.path for _, notebooks in page.studies for p in notebooks]
    assert paths == sorted(
        COURSE.glob("study*/[0-9][0-9]*_*.ipynb"),
        key=lambda path: (studies().index(path.parent.name.partition("_")[0]), path),
    )
    places = [shown.index(f"href='{p.relative_to(COURSE).as_posix()}'") for p in paths]
    assert places == sorted(places)
    assert [
        notebook.path.stem
        for _, notebooks in page.studies
        for notebook in notebooks
        if not notebook.checks
    ] == []


def test_the_points_of_all_notebooks_are_those_of_the_study():
    """Each graded check is in one notebook, with its points."""
    for name in studies():
        study = load_study(name)
        notebooks = progress(COURSE / study.assignment, study)
        assert sum(p.points for p in notebooks) == sum(
            c.max_points for c in study.checks.values() if not c.extra_credit
        )
        assert sum(p.questions for p in notebooks) == len(study.written)


def test_nothing_is_done_at_first(student_folder, work):
    """An unchanged study is not started, its first notebook is next, and other studies are missing."""
    page = start_page(student_folder)
    ((study, notebooks),) = page.studies
    assert study == STUDY
    assert {p.state for p in notebooks} == {"not started"}
    assert page.next == notebooks[0]
    assert [s.name for s in page.missing] == [n for n in studies() if n != STUDY.name]
    assert "9 functions to write" in repr(page)
    assert repr(page).count("next") == 1


def test_a_notebook_is_done_when_all_is_right_and_answered(student_folder, work, capsys):
    """Points come from the checks that were run, and answers from the saved notebook."""
    write_module(work, "lane_counts", "heuristic")
    for name in ("lane_counts", "heuristic"):
        check(f"{STUDY.name}.{name}", work)
    first = progress(work, STUDY)[0]
    assert (first.earned, first.points, first.state) == (5, 5, "in progress")
    answer_everything(first.path)
    page = start_page(student_folder)
    first, second, *_ = page.studies[0][1]
    assert (first.answered, first.questions, first.state) == (2, 2, "done")
    assert page.next == second
    assert "&#10003; done" in page._repr_html_()


def test_what_is_next_and_the_total_stand_on_top(student_folder, work, capsys):
    """Both come before the studies; each study is one line, and the one with the next notebook is
    unfolded.
    """
    shutil.copytree(
        COURSE / "study1_minimax",
        student_folder / "study1_minimax",
        ignore=shutil.ignore_patterns(".*"),
    )
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    page = start_page(student_folder)
    points = sum(p.points for p in page.notebooks)
    assert repr(page).splitlines()[:2] == [
        "Next: 1. Minimax",
        f"0 of 4 notebooks done, 3 of {points:g} points, "
        f"0 of {sum(p.questions for p in page.notebooks)} questions answered",
    ]
    shown = page._repr_html_()
    top, *lines = shown.split("<details")
    assert re.search(r"Next: <a href='study1_minimax/01_minimax.ipynb'>", top)
    assert f"3 of {points:g} points" in top
    assert [line.startswith(" open>") for line in lines] == [True, False]
    assert ["not started, 21 points" in line for line in lines] == [True, False]
    assert "in progress, 3 of 23 points" in lines[1]


def listed(root: Path, path: str = "") -> set[str]:
    """The names that JupyterLab lists in a folder below its root."""
    return {one["name"] for one in opened(root, path)["content"]}


def opened(root: Path, path: str) -> dict[str, Any]:
    """A file or folder, as JupyterLab with this root returns it."""
    file_manager = CourseFiles(root_dir=str(root))
    with closing(file_manager.notary.store):
        return asyncio.run(file_manager.get(path))


def test_lab_lists_no_internals_of_the_course(tmp_path):
    """In any location and from any root, a student sees only the studies and their own files of the
    kit's course; unlisted files can still be opened.
    """
    copy = shutil.copytree(
        COURSE,
        tmp_path / "a folder, mine" / "course",
        ignore=shutil.ignore_patterns("__pycache__", PAGE),
    )
    (copy / "notes.md").touch()
    theirs = {load_study(name).assignment for name in studies()} | {
        "bibliography.md",
        "glossary.md",
        "statistics.md",
        "notes.md",
    }
    assert listed(copy) == listed(copy.parents[1], "a folder, mine/course") == theirs
    assert opened(copy, "check.py")["content"]


def test_files_of_such_names_are_listed_elsewhere(tmp_path):
    """Outside the course's folder, and in its subfolders, a student's `check.py` is an ordinary
    file.
    """
    (tmp_path / "check.py").touch()
    (tmp_path / "plots.py").touch()
    assert listed(tmp_path) == {"check.py", "plots.py"}
    assert "__init__.py" in listed(COURSE, "checks")


def test_an_empty_folder_has_nothing_to_sum_up(tmp_path):
    """There is no next notebook and no total, only a list of missing studies."""
    page = start_page(tmp_path)
    assert "0 of 0" not in repr(page) + page._repr_html_()
    assert "Not yet in this folder" in page._repr_html_()
    assert submission_cell(page) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nbgrader_config.json", '{"Exchange": {"root": "EXCHANGE"}}'),
        ("nbgrader_config.py", "c = get_config()\nc.Exchange.root = 'EXCHANGE'\n"),
    ],
)
def test_the_exchange_is_offered_only_where_it_can_be_used(tmp_path, monkeypatch, name, text):
    """The exchange must be configured in the folder or in Jupyter, and be writable."""
    monkeypatch.setattr(start_page_module, "DEFAULT_EXCHANGE", tmp_path / "none")
    student_folder, jupyter, exchange = (
        tmp_path / part for part in ("student", "jupyter", "exchange")
    )
    for folder in (student_folder, jupyter):
        folder.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(jupyter))
    assert not has_exchange(student_folder)
    for folder in (student_folder, jupyter):
        (folder / name).write_text(text.replace("EXCHANGE", str(exchange)), "utf-8")
        assert not has_exchange(student_folder)
        exchange.mkdir()
        assert has_exchange(student_folder)
        page = start_page(student_folder)
        assert "fetch it" in page._repr_html_()
        assert "Assignment List" in below(page, True)
        assert "Assignment List" not in below(page, False)
        exchange.rmdir()
        (folder / name).unlink()
    (student_folder / name).write_text("{ not a configuration", "utf-8")
    assert not has_exchange(student_folder)


def test_every_file_of_the_course_is_a_students_or_internal():
    """A new module of the package cannot appear in students' lists by mistake."""
    theirs = {
        "bibliography.md",
        "glossary.md",
        "statistics.md",
        PAGE,
        *(load_study(name).assignment for name in studies()),
    }
    there = {path.relative_to(COURSE).parts[0] for path in public_files() if COURSE in path.parents}
    assert there - theirs <= INTERNALS
    assert all((COURSE / name).exists() for name in INTERNALS)


def test_a_notebook_to_read_is_done_when_its_cells_were_run(student_folder):
    """Without checks and questions, it would otherwise always be the next one."""
    study = load_study("study8")
    shutil.copytree(study.folder, student_folder / study.assignment)
    path = student_folder / study.assignment / "16_weights_from_games.ipynb"
    book = json.loads(path.read_text("utf-8"))
    book["cells"] = [cell for cell in book["cells"] if "nbgrader" not in cell["metadata"]]
    path.write_text(json.dumps(book), "utf-8")
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert start_page(student_folder).studies[-1][1][2].state == "not started"
    for cells, state in ((code[:1], "in progress"), (code, "done")):
        for cell in cells:
            cell["execution_count"] = 1
        path.write_text(json.dumps(book), "utf-8")
        assert start_page(student_folder).studies[-1][1][2].state == state
    assert "no checks" in repr(start_page(student_folder))


def test_the_page_marks_points_of_an_earlier_module(student_folder, work, capsys):
    """After a change of the module the points stay, with a remark, until the next check."""
    write_module(work, "lane_counts", "heuristic")
    for name in ("lane_counts", "heuristic"):
        check(f"{STUDY.name}.{name}", work)
    words = "5 of 5, checked before the module's last change"
    assert words not in repr(start_page(student_folder))
    write_module(work, "heuristic")
    assert words in repr(start_page(student_folder))
    check(f"{STUDY.name}.lane_counts", work)
    assert progress(work, STUDY)[0].earned < 5


def test_a_check_that_was_not_run_is_reported(student_folder, work, capsys):
    """The points of one check are not mistaken for those of all."""
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    assert "3 of 5, 1 of 2 checks not yet run" in repr(start_page(student_folder))


@pytest.mark.parametrize("notes", ["", "[", "{}"])
def test_damaged_notes_are_no_notes(student_folder, work, capsys, notes):
    """An unreadable file is ignored, and the next check rewrites it."""
    (work / RESULTS_FILE).write_text(notes, "utf-8")
    assert progress(work, STUDY)[0].earned == 0
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    assert progress(work, STUDY)[0].earned == 3


def test_a_check_needs_no_place_for_its_notes(student_folder, work, capsys):
    """If the folder is read-only, the check still prints its result."""
    (work / RESULTS_FILE).mkdir()  # so that writing fails, also for root
    assert check(f"{STUDY.name}.lane_counts", work) == 0
    assert "not written yet" in capsys.readouterr().out


def test_odd_notebooks_do_not_break_the_page(student_folder, work):
    """A truncated or invalid notebook has a line without points; a missing module is reported."""
    first, second, _ = sorted(work.glob("*.ipynb"))
    first.write_text(first.read_text("utf-8")[:500], "utf-8")
    second.write_text("[]", "utf-8")
    (work / STUDY.module).unlink()
    page = start_page(student_folder)
    assert [p.title for p in page.studies[0][1]][:2] == [first.stem, second.stem]
    assert f"{STUDY.module} is missing" in repr(page)
    assert f"{STUDY.module} is missing" in page._repr_html_()


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "cell_type",
                    "source",
                    "metadata",
                    "nbgrader",
                    "execution_count",
                    "code",
                    "markdown",
                    f"{STUDY.name}.lane_counts",
                    "earned",
                    "points",
                    "module",
                    "full",
                    "matching",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
NOTE = st.fixed_dictionaries(
    {"earned": ANY_JSON, "points": ANY_JSON, "module": ANY_JSON},
    optional=dict.fromkeys(
        ["full", "matching", "slips", "undecided", "evidence", "written"], ANY_JSON
    ),
)
CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown"]), "source": ANY_JSON, "metadata": ANY_JSON}
)


@pytest.mark.slow
@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    notes=ANY_JSON | st.dictionaries(st.just(f"{STUDY.name}.lane_counts"), NOTE),
    notebook=ANY_JSON | st.fixed_dictionaries({"cells": st.lists(CELL, max_size=3)}),
)
def test_no_file_of_a_student_breaks_the_page(student_folder, work, notes, notebook):
    """With any file in the folder, JupyterLab shows the page, as text and as a notebook."""
    (work / RESULTS_FILE).write_text(json.dumps(notes), "utf-8")
    (work / "03_lane_heuristic.ipynb").write_text(json.dumps(notebook), "utf-8")
    check_summaries(work / STUDY.module)
    assert repr(start_page(student_folder))
    assert write_page(student_folder, WELCOME, CALL, start_page(student_folder))
    model = opened(student_folder, PAGE)
    assert (
        f"class='{PAGE_CLASS}'" in model["content"]["cells"][1]["outputs"][0]["data"]["text/html"]
    )


def test_a_page_that_cannot_be_made_says_why(student_folder, monkeypatch):
    """The page opens with an explanation, and is updated when the problem is fixed."""

    def broken(folder):
        raise PermissionError("not <yours>")

    assert write_page(student_folder, WELCOME, CALL, start_page(student_folder))
    monkeypatch.setattr(file_manager, "start_page", broken)
    model = opened(student_folder, PAGE)
    output = model["content"]["cells"][1]["outputs"][0]["data"]
    assert output["text/plain"].startswith("This page cannot be updated: PermissionErr")
    assert "not &lt;yours&gt;" in output["text/html"]
    assert PAGE_CLASS in output["text/html"]


@pytest.mark.parametrize("name", ["a b", "ünï 1%", "it's <b>", "d/e"])
def test_a_page_in_a_folder_of_any_name(tmp_path, name):
    """The script gets the page's path unchanged, and no name can end the script."""
    root = tmp_path / name
    root.mkdir(parents=True)
    assert write_page(root, WELCOME, CALL, start_page(root))
    model = opened(tmp_path, f"{name}/{PAGE}")
    html = model["content"]["cells"][1]["outputs"][0]["data"]["text/html"]
    where = re.search(r"const \{ path, cell \} = (.*);", html)[1]
    assert json.loads(where) == {"path": f"{name}/{PAGE}", "cell": "page"}
    assert html.count("<b>") == 0
    assert html.count("</script>") == 1


def test_the_page_is_a_notebook_with_its_output(student_folder):
    """The output is shown before anything is run, and the page can be rewritten any number of
    times.
    """
    import nbformat

    for _ in range(2):
        assert write_page(student_folder, WELCOME, CALL, start_page(student_folder))
    page = nbformat.read(student_folder / PAGE, as_version=4)
    nbformat.validate(page)
    assert "03_lane_heuristic.ipynb" in page.cells[1].outputs[0].data["text/html"]


@pytest.mark.parametrize("text", ["my own", '{"metadata": {}, "cells": []}', "[]"])
def test_somebody_elses_file_is_left_alone(student_folder, text):
    """A start.ipynb that is not ours stays unchanged."""
    (student_folder / PAGE).write_text(text, "utf-8")
    assert not write_page(student_folder, WELCOME, CALL, start_page(student_folder))
    assert (student_folder / PAGE).read_text("utf-8") == text


def test_notes_and_pages_are_not_handed_out(student_folder, monkeypatch):
    """Files that `check` and `lab` write into the kit's course are not part of the student kit."""
    made = {COURSE / "study1_minimax" / RESULTS_FILE, COURSE / PAGE}
    before = {path for path in made if path.exists()}
    for path in made - before:
        path.write_text("{}", "utf-8")
    try:
        assert not made & set(public_files())
    finally:
        for path in made - before:
            path.unlink()


# ---- The course folder


@pytest.fixture
def folder(tmp_path) -> CourseFolder:
    """A new course folder."""
    return CourseFolder.create(tmp_path / "course")


def test_a_new_course_folder_has_an_exchange(folder):
    """The default exchange is in the folder and valid, and the students' settings name it."""
    assert folder.exchange() == folder.root / EXCHANGE
    assert list(doctor.exchange(folder)) == []
    settings = json.loads(folder.student_settings())
    assert settings["Exchange"]["root"] == str(folder.root / EXCHANGE)
    assert settings["CourseDirectory"]["course_id"] == COURSE_ID


def test_another_exchange_is_a_line_in_the_configuration(folder, tmp_path):
    """The instructor's line below ours takes effect."""
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f'c.Exchange.root = "{tmp_path / "elsewhere"}"\n')
    assert folder.exchange() == tmp_path / "elsewhere"
    (tmp_path / "elsewhere").mkdir()
    assert list(doctor.exchange(folder)) == []


def test_a_missing_exchange_is_reported(folder):
    """The message explains what to do."""
    (folder.root / EXCHANGE).rmdir()
    (sentence,) = doctor.exchange(folder)
    assert f"{folder.root / EXCHANGE} is missing" in sentence
    assert "mkdir -p" in sentence


@pytest.mark.skipif(sys.platform == "win32", reason="there is no chmod")
@pytest.mark.parametrize("name", ["two words", "it's $HOME", "a;b & (c)", "übung"])
def test_the_cure_for_a_missing_exchange_works_as_it_stands(folder, tmp_path, name):
    """For any folder name, the command works in a shell and creates an open, sticky folder."""
    where = tmp_path / name / "exchange"
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f"c.Exchange.root = {str(where)!r}\n")
    (sentence,) = doctor.exchange(folder)
    cure = re.search("run `(.*)`, or set", sentence)[1]
    subprocess.run(["sh", "-c", cure], check=True, cwd=tmp_path)
    assert stat.S_IMODE(where.stat().st_mode) == 0o1777
    assert list(doctor.exchange(folder)) == []


def test_a_read_only_exchange_is_reported(folder, monkeypatch):
    """The message resembles the one for a missing exchange; as root may write anywhere, the system
    call is replaced.
    """
    monkeypatch.setattr(environment_checks.os, "access", lambda path, mode: mode == os.R_OK)
    (sentence,) = doctor.exchange(folder)
    assert f"{folder.root / EXCHANGE} is not writable" in sentence
    assert "chmod" in sentence


def test_the_overview_of_a_new_course_is_empty(folder):
    """Before the first release there is nothing to count, and the page lists what students need."""
    page = overview(folder.root)
    assert page.lines == []
    assert escape(folder.student_settings()) in page._repr_html_()  # it includes the exchange


def test_the_overview_says_what_is_wrong(folder):
    """It shows the doctor's message about the exchange."""
    (folder.root / EXCHANGE).rmdir()
    assert "is missing" in overview(folder.root)._repr_html_()
    assert "is missing" in repr(overview(folder.root))


@pytest.mark.parametrize("before", [None, "elsewhere"])
@pytest.mark.parametrize("theirs", [None, "perCommTarget"])
def test_jupyterlab_handles_clicks_in_the_cells_thread(before, theirs, tmp_path, monkeypatch):
    """JupyterLab opens with this default; the user's own settings and paths still apply."""
    opened = []

    def lab(arguments):
        overrides, _ = settings_utils._get_overrides(str(tmp_path))
        found, _ = settings_utils.get_settings(
            str(tmp_path),
            str(Path(get_app_dir()) / "schemas"),
            str(tmp_path / "user"),
            schema_name=KERNELS,
            overrides=overrides,
        )
        default = found["schema"]["properties"]["commsOverSubshells"]
        assert default["default"] in [choice["const"] for choice in default["oneOf"]]
        opened.append(
            (
                found["settings"].get("commsOverSubshells"),
                default["default"],
                os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep),
                arguments,
            )
        )

    monkeypatch.setattr(labapp, "main", lab)
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    if before:
        monkeypatch.setenv("JUPYTER_CONFIG_PATH", before)
    if theirs:
        plugin, name = KERNELS.split(":")
        path = tmp_path / "user" / plugin / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"commsOverSubshells": theirs}), "utf-8")
    with pytest.raises(SystemExit):
        open_lab(tmp_path, True, ["--no-browser"])
    assert opened == [
        (
            theirs,
            "disabled",
            [str(LAB_DEFAULTS), *filter(None, [before])],
            [
                f"--ServerApp.root_dir={tmp_path}",
                f"--LabApp.default_url=/lab/tree/{PAGE}",
                "--no-browser",
            ],
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        (["--help"], 0, "usage: python3 -m course.lab.start_page [-h] [FOLDER [OPTION ...]]"),
        (["--bogus"], 2, "error: unrecognized arguments: --bogus"),
    ],
)
def test_help_and_unknown_options_start_no_server(tmp_path, arguments, status, shown):
    """The arguments are read before a page is written."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", start_page_module.__name__, *arguments],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == status
    assert shown in (done.stderr if status else done.stdout)
    assert not list(tmp_path.iterdir())


def test_options_after_the_folder_are_passed_to_jupyterlab():
    """They keep their order; without arguments, the folder is the current one."""
    given = ["course", "--port", "9999", "--help-all", "--no-browser"]
    assert list(start_page_module.parse(given)) == given
    assert start_page_module.parse([]) == (".",)
