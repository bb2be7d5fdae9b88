"""The start page, the overview of a course folder, and what the doctor says of the exchange."""

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
from autograder.course_folder import CONFIG_FILE, COURSE_ID, EXCHANGE, CourseFolder
from autograder.desk.overview import overview
from autograder.doctor import surroundings
from autograder.release.derive import COURSE
from autograder.release.leaks import public_files
from autograder.workspace import answer_path
from autograder.workspace.strip import stub
from course import files, start
from course.check import check
from course.files import INTERNALS, CourseFiles
from course.probes import load_study, studies
from course.progress import ANSWER_STUB, NOTES, progress, shown
from course.start import (
    CALL,
    FOLLOWED,
    LAB_DEFAULTS,
    PAGE,
    WELCOME,
    below,
    hand_in_cell,
    has_exchange,
    open_lab,
    start_page,
    write_page,
)

STUDY = load_study("study3")
KERNELS = "@jupyterlab/apputils-extension:kernels-settings"


@pytest.fixture
def desk(tmp_path) -> Path:
    """A student's folder with one study in it, untouched."""
    shutil.copytree(
        COURSE / STUDY.assignment,
        tmp_path / STUDY.assignment,
        ignore=shutil.ignore_patterns("[0-9]*.py", "__pycache__", ".*"),
    )
    return tmp_path


@pytest.fixture
def work(desk) -> Path:
    """The study's folder in it."""
    return desk / STUDY.assignment


def write_module(work: Path, *functions: str) -> None:
    """The module with these functions as the reference has them."""
    text = stub(answer_path(STUDY).read_text("utf-8"), STUDY.module, keep=list(functions))
    (work / STUDY.module).write_text(text, "utf-8")


def answer_everything(path: Path) -> None:
    """Write something into each cell for an answer."""
    book = json.loads(path.read_text("utf-8"))
    for cell in book["cells"]:
        cell["source"] = "".join(cell["source"]).replace(ANSWER_STUB, "Because.")
    path.write_text(json.dumps(book), "utf-8")


def test_every_notebook_of_the_course_is_on_the_page():
    """In the kit's own folder each study and each notebook is found, in order, and linked."""
    page = start_page(COURSE)
    assert [study.name for study, _ in page.found] == studies()
    assert not page.missing
    shown = page._repr_html_()
    paths = [p.path for _, notebooks in page.found for p in notebooks]
    assert paths == sorted(
        COURSE.glob("study*/[0-9][0-9]_*.ipynb"),
        key=lambda path: (studies().index(path.parent.name.partition("_")[0]), path),
    )
    places = [shown.index(f"href='{p.relative_to(COURSE).as_posix()}'") for p in paths]
    assert places == sorted(places)
    assert [
        notebook.path.stem
        for _, notebooks in page.found
        for notebook in notebooks
        if not notebook.checks
    ] == ["11_three_cards", "16_weights_from_games"]


def test_the_points_of_all_notebooks_are_those_of_the_study():
    """Each check that has marks stands in one notebook, with its points."""
    for name in studies():
        study = load_study(name)
        notebooks = progress(COURSE / study.assignment, study)
        assert sum(p.points for p in notebooks) == sum(
            c.max_points for c in study.checks.values() if not c.extra_credit
        )
        assert sum(p.questions for p in notebooks) == len(study.written)


def test_nothing_is_done_at_first(desk, work):
    """An untouched study is not started, its first notebook is next, the others are not here."""
    page = start_page(desk)
    ((study, notebooks),) = page.found
    assert study == STUDY
    assert {p.state for p in notebooks} == {"not started"}
    assert page.next == notebooks[0]
    assert [s.name for s in page.missing] == [n for n in studies() if n != STUDY.name]
    assert "9 places to fill in" in repr(page)
    assert repr(page).count("next") == 1


def test_a_notebook_is_done_when_all_is_right_and_answered(desk, work, capsys):
    """Points come from the checks that were run, answers from the notebook as it is saved."""
    write_module(work, "lane_counts", "heuristic")
    for name in ("lane_counts", "heuristic"):
        check(f"{STUDY.name}.{name}", work)
    first = progress(work, STUDY)[0]
    assert (first.earned, first.points, first.state) == (5, 5, "begun")
    answer_everything(first.path)
    page = start_page(desk)
    first, second, *_ = page.found[0][1]
    assert (first.answered, first.questions, first.state) == (2, 2, "done")
    assert page.next == second
    assert "&#10003; done" in page._repr_html_()


def test_what_is_next_and_the_total_stand_on_top(desk, work, capsys):
    """Both in front of all studies; each study is a line, unfolded where the next notebook is."""
    shutil.copytree(
        COURSE / "study1_minimax", desk / "study1_minimax", ignore=shutil.ignore_patterns(".*")
    )
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    page = start_page(desk)
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
    assert "begun, 3 of 23 points" in lines[1]


def listed(root: Path, path: str = "") -> set[str]:
    """The names that JupyterLab lists in a folder below the one that it was opened in."""
    return {one["name"] for one in opened(root, path)["content"]}


def opened(root: Path, path: str) -> dict[str, Any]:
    """A file or folder, as JupyterLab gets it that was opened in `root`."""
    files = CourseFiles(root_dir=str(root))
    with closing(files.notary.store):
        return asyncio.run(files.get(path))


def test_lab_lists_no_internals_of_the_course(tmp_path):
    """Of the kit's course a student sees the studies and what is their own, wherever it stands and
    from wherever Lab was opened; what is not listed can be opened."""
    copy = shutil.copytree(
        COURSE,
        tmp_path / "a folder, mine" / "course",
        ignore=shutil.ignore_patterns("__pycache__", PAGE),
    )
    (copy / "notes.md").touch()
    theirs = {load_study(name).assignment for name in studies()} | {"bibliography.md", "notes.md"}
    assert listed(copy) == listed(copy.parents[1], "a folder, mine/course") == theirs
    assert opened(copy, "check.py")["content"]


def test_files_of_such_names_are_listed_elsewhere(tmp_path):
    """In a folder that is not the course's, and below it, a student's `check.py` is a file."""
    (tmp_path / "check.py").touch()
    (tmp_path / "plots.py").touch()
    assert listed(tmp_path) == {"check.py", "plots.py"}
    assert "__init__.py" in listed(COURSE, "probes")


def test_an_empty_folder_has_nothing_to_sum_up(tmp_path):
    """Neither a next notebook nor a total: what is not here yet."""
    page = start_page(tmp_path)
    assert "0 of 0" not in repr(page) + page._repr_html_()
    assert "Not in this folder yet" in page._repr_html_()
    assert hand_in_cell(page) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nbgrader_config.json", '{"Exchange": {"root": "EXCHANGE"}}'),
        ("nbgrader_config.py", "c = get_config()\nc.Exchange.root = 'EXCHANGE'\n"),
    ],
)
def test_the_exchange_is_offered_only_where_it_can_be_used(tmp_path, monkeypatch, name, text):
    """Configured in the folder or in Jupyter's own, and a folder that can be written to."""
    monkeypatch.setattr(start, "DEFAULT_EXCHANGE", tmp_path / "none")
    desk, jupyter, exchange = (tmp_path / part for part in ("desk", "jupyter", "exchange"))
    for folder in (desk, jupyter):
        folder.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(jupyter))
    assert not has_exchange(desk)
    for folder in (desk, jupyter):
        (folder / name).write_text(text.replace("EXCHANGE", str(exchange)), "utf-8")
        assert not has_exchange(desk)
        exchange.mkdir()
        assert has_exchange(desk)
        page = start_page(desk)
        assert "fetch it" in page._repr_html_()
        assert "Assignment List" in below(page, True)
        assert "Assignment List" not in below(page, False)
        exchange.rmdir()
        (folder / name).unlink()
    (desk / name).write_text("{ not a configuration", "utf-8")
    assert not has_exchange(desk)


def test_every_file_of_the_course_is_a_students_or_internal():
    """A new module of the package does not come into students' lists by oversight."""
    theirs = {"bibliography.md", PAGE, *(load_study(name).assignment for name in studies())}
    there = {path.relative_to(COURSE).parts[0] for path in public_files() if COURSE in path.parents}
    assert there - theirs <= INTERNALS
    assert all((COURSE / name).exists() for name in INTERNALS)


def test_a_notebook_to_read_is_done_when_its_cells_were_run(desk):
    """It has no checks and no questions, and would be the next one for ever otherwise."""
    study = load_study("study7")
    shutil.copytree(study.folder, desk / study.assignment)
    path = desk / study.assignment / "11_three_cards.ipynb"
    book = json.loads(path.read_text("utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert start_page(desk).found[-1][1][0].state == "not started"
    for cells, state in ((code[:1], "begun"), (code, "done")):
        for cell in cells:
            cell["execution_count"] = 1
        path.write_text(json.dumps(book), "utf-8")
        assert start_page(desk).found[-1][1][0].state == state
    assert "no checks" in repr(start_page(desk))


def test_the_page_tells_when_points_are_of_an_earlier_module(desk, work, capsys):
    """After a change of the module the points stay, with a word about it, until the next check."""
    write_module(work, "lane_counts", "heuristic")
    for name in ("lane_counts", "heuristic"):
        check(f"{STUDY.name}.{name}", work)
    words = "5 of 5, checked before the module's last change"
    assert words not in repr(start_page(desk))
    write_module(work, "heuristic")
    assert words in repr(start_page(desk))
    check(f"{STUDY.name}.lane_counts", work)
    assert progress(work, STUDY)[0].earned < 5


def test_a_check_that_was_not_run_is_told(desk, work, capsys):
    """Points of one check are not taken for those of all."""
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    assert "3 of 5, 1 of 2 checks not run yet" in repr(start_page(desk))


@pytest.mark.parametrize("notes", ["", "[", "{}"])
def test_damaged_notes_are_no_notes(desk, work, capsys, notes):
    """A file that cannot be read counts as none, and the next check writes it anew."""
    (work / NOTES).write_text(notes, "utf-8")
    assert progress(work, STUDY)[0].earned == 0
    write_module(work, "lane_counts")
    check(f"{STUDY.name}.lane_counts", work)
    assert progress(work, STUDY)[0].earned == 3


def test_a_check_needs_no_place_for_its_notes(desk, work, capsys):
    """Where the folder cannot be written to, the check says what it has to say."""
    (work / NOTES).mkdir()  # so that writing fails, for root too
    assert check(f"{STUDY.name}.lane_counts", work) == 0
    assert "not written yet" in capsys.readouterr().out


def test_odd_notebooks_do_not_break_the_page(desk, work):
    """A notebook that is cut off, or is none, has a line without points; a lost module is told."""
    first, second, _ = sorted(work.glob("*.ipynb"))
    first.write_text(first.read_text("utf-8")[:500], "utf-8")
    second.write_text("[]", "utf-8")
    (work / STUDY.module).unlink()
    page = start_page(desk)
    assert [p.title for p in page.found[0][1]][:2] == [first.stem, second.stem]
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
                    "slips",
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
    optional={"full": ANY_JSON, "slips": ANY_JSON},
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
def test_no_file_of_a_student_breaks_the_page(desk, work, notes, notebook):
    """Whatever lies in the folder, JupyterLab shows the page, in words and as a notebook."""
    (work / NOTES).write_text(json.dumps(notes), "utf-8")
    (work / "03_lane_heuristic.ipynb").write_text(json.dumps(notebook), "utf-8")
    shown(work / STUDY.module)
    assert repr(start_page(desk))
    assert write_page(desk, WELCOME, CALL, start_page(desk))
    model = opened(desk, PAGE)
    assert f"class='{FOLLOWED}'" in model["content"]["cells"][1]["outputs"][0]["data"]["text/html"]


def test_a_page_that_cannot_be_made_says_why(desk, monkeypatch):
    """It opens all the same, with one sentence, and follows what is done about it."""

    def broken(folder):
        raise PermissionError("not <yours>")

    assert write_page(desk, WELCOME, CALL, start_page(desk))
    monkeypatch.setattr(files, "start_page", broken)
    model = opened(desk, PAGE)
    output = model["content"]["cells"][1]["outputs"][0]["data"]
    assert output["text/plain"].startswith("This page cannot be brought up to date: PermissionErr")
    assert "not &lt;yours&gt;" in output["text/html"]
    assert FOLLOWED in output["text/html"]


@pytest.mark.parametrize("name", ["a b", "ünï 1%", "it's <b>", "d/e"])
def test_a_page_in_a_folder_of_any_name(tmp_path, name):
    """The script gets the page's path as it is, and nothing in a name ends the script."""
    root = tmp_path / name
    root.mkdir(parents=True)
    assert write_page(root, WELCOME, CALL, start_page(root))
    model = opened(tmp_path, f"{name}/{PAGE}")
    html = model["content"]["cells"][1]["outputs"][0]["data"]["text/html"]
    where = re.search(r"const \{ path, cell \} = (.*);", html)[1]
    assert json.loads(where) == {"path": f"{name}/{PAGE}", "cell": "page"}
    assert html.count("<b>") == 0
    assert html.count("</script>") == 1


def test_the_page_is_a_notebook_with_its_output(desk):
    """It is shown before anything is run, and written anew as often as one likes."""
    import nbformat

    for _ in range(2):
        assert write_page(desk, WELCOME, CALL, start_page(desk))
    page = nbformat.read(desk / PAGE, as_version=4)
    nbformat.validate(page)
    assert "03_lane_heuristic.ipynb" in page.cells[1].outputs[0].data["text/html"]


@pytest.mark.parametrize("text", ["my own", '{"metadata": {}, "cells": []}', "[]"])
def test_somebody_elses_file_is_left_alone(desk, text):
    """A start.ipynb that is not ours stays as it is."""
    (desk / PAGE).write_text(text, "utf-8")
    assert not write_page(desk, WELCOME, CALL, start_page(desk))
    assert (desk / PAGE).read_text("utf-8") == text


def test_notes_and_pages_are_not_handed_out(desk, monkeypatch):
    """What `check` and `lab` leave in the kit's course is no part of what students get."""
    made = {COURSE / "study1_minimax" / NOTES, COURSE / PAGE}
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
    """Its own by default, and nothing is wrong with it; a student's settings name it."""
    assert folder.exchange() == folder.root / EXCHANGE
    assert list(doctor.exchange(folder)) == []
    settings = json.loads(folder.student_settings())
    assert settings["Exchange"]["root"] == str(folder.root / EXCHANGE)
    assert settings["CourseDirectory"]["course_id"] == COURSE_ID


def test_another_exchange_is_a_line_in_the_configuration(folder, tmp_path):
    """What the instructor writes below ours counts."""
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f'c.Exchange.root = "{tmp_path / "elsewhere"}"\n')
    assert folder.exchange() == tmp_path / "elsewhere"
    (tmp_path / "elsewhere").mkdir()
    assert list(doctor.exchange(folder)) == []


def test_a_missing_exchange_is_told(folder):
    """In one sentence, with what to do."""
    (folder.root / EXCHANGE).rmdir()
    (sentence,) = doctor.exchange(folder)
    assert f"{folder.root / EXCHANGE} is missing" in sentence
    assert "mkdir -p" in sentence


@pytest.mark.skipif(sys.platform == "win32", reason="there is no chmod")
@pytest.mark.parametrize("name", ["handed in", "it's $HOME", "a;b & (c)", "übung"])
def test_the_cure_for_a_missing_exchange_works_as_it_stands(folder, tmp_path, name):
    """Whatever its folder is called: typed into a shell, it makes one that is open and sticky."""
    where = tmp_path / name / "exchange"
    with (folder.root / CONFIG_FILE).open("a", encoding="utf-8") as config:
        config.write(f"c.Exchange.root = {str(where)!r}\n")
    (sentence,) = doctor.exchange(folder)
    cure = re.search("run `(.*)`, or set", sentence)[1]
    subprocess.run(["sh", "-c", cure], check=True, cwd=tmp_path)
    assert stat.S_IMODE(where.stat().st_mode) == 0o1777
    assert list(doctor.exchange(folder)) == []


def test_an_exchange_that_nobody_can_write_to_is_told(folder, monkeypatch):
    """As where it is missing; root may write everywhere, so the system's answer is replaced."""
    monkeypatch.setattr(surroundings.os, "access", lambda path, mode: mode == os.R_OK)
    (sentence,) = doctor.exchange(folder)
    assert f"{folder.root / EXCHANGE} is not writable" in sentence
    assert "chmod" in sentence


def test_the_overview_of_a_new_course_is_empty(folder):
    """There is nothing to count before the first release, and it says what students need."""
    page = overview(folder.root)
    assert page.lines == []
    assert escape(folder.student_settings()) in page._repr_html_()  # the exchange is in them


def test_the_overview_says_what_is_wrong(folder):
    """The doctor's sentence about the exchange stands on it."""
    (folder.root / EXCHANGE).rmdir()
    assert "is missing" in overview(folder.root)._repr_html_()
    assert "is missing" in repr(overview(folder.root))


@pytest.mark.parametrize("before", [None, "elsewhere"])
@pytest.mark.parametrize("theirs", [None, "perCommTarget"])
def test_jupyterlab_handles_clicks_in_the_cells_thread(before, theirs, tmp_path, monkeypatch):
    """It is opened with that default; what its user has set, and other places, still count."""
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
