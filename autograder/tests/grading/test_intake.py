"""Intake: whatever is handed in, the marks need only the module, and each problem is one sentence.

Every test takes in a small submission to a made-up study and compares it before and after.
"""

import copy
import json
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

import nbformat
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.grading import handed_in as taking
from autograder.grading.handed_in import MAX_BYTES, MAX_NOTEBOOK, look_at, look_through
from autograder.grading.intake import take_in
from autograder.release.notebooks import build_notebook
from autograder.tests.support.intake import (
    FIRST,
    LOST,
    MODULE,
    NOTEBOOKS,
    RELEASED,
    SECOND,
    STUDY,
    Desk,
    answered,
    checked,
    desk_result,
    places,
)

symlinks = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")


# ---- What is in order


def test_a_faultless_submission_has_no_problems(desk):
    """Module and notebooks come through as they are, with nothing to tell."""
    intake = desk.take_in()
    assert (intake.problems, intake.gradable) == ((), True)
    assert (desk.staged / "module.py").read_text("utf-8") == MODULE
    for name, text in NOTEBOOKS.items():
        assert desk.notebook(name) == nbformat.reads(text, as_version=4)


def test_what_a_student_wrote_comes_through(desk):
    """Written answers, new cells and outputs are the student's own, and stay."""

    def edit(data):
        data["cells"][2]["source"] = "Because *ten* is a lot. Ça va?"
        data["cells"].append(
            {"cell_type": "markdown", "id": "mine", "metadata": {"my": "own"}, "source": "A note."}
        )

    desk.edit(edit)
    assert desk.take_in().problems == ()
    cells = desk.notebook().cells
    assert cells[2].source == "Because *ten* is a lot. Ça va?"
    assert (cells[3].source, cells[3].metadata) == ("A note.", {"my": "own"})


def test_side_files_are_taken_with_their_folders(desk):
    """Other files come along at the same place, whatever script their names are in."""
    names = ["helper.py", "data/table.csv", "ångström/подсказка 1.txt", "図.png", "a b/c'd.txt"]
    for name in names:
        (desk.submission / name).parent.mkdir(exist_ok=True)
        (desk.submission / name).write_bytes(name.encode())
    assert desk.take_in().problems == ()
    assert [(desk.staged / name).read_bytes() for name in names] == [n.encode() for n in names]


def test_hidden_files_are_left_out(desk):
    """Checkpoints and the like are not taken, and not worth a word."""
    for name in (".DS_Store", ".ipynb_checkpoints/01_first-checkpoint.ipynb", "sub/.secret"):
        (desk.submission / name).parent.mkdir(exist_ok=True)
        (desk.submission / name).write_text("{}", "utf-8")
    assert desk.take_in() == desk_result()
    assert {p.name for p in desk.staged.rglob("*")} == {"module.py", *NOTEBOOKS}


# ---- Nothing to grade


@pytest.mark.parametrize(
    "names", [(), (".hidden",), (".ipynb_checkpoints/01_first.ipynb",), ("folder/",)]
)
def test_an_empty_submission_is_nothing_to_grade(desk, names):
    """A folder without any visible file is not graded, and the reason is told."""
    shutil.rmtree(desk.submission)
    desk.submission.mkdir()
    for name in names:
        path = desk.submission / name
        (path if name.endswith("/") else path.parent).mkdir(exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    intake = desk.take_in()
    assert intake.problems == ("the folder is empty: nothing was handed in",)
    assert not intake.gradable
    assert not desk.staged.exists()


def test_a_submission_that_is_a_file_is_nothing_to_grade(desk):
    """A file in the place of the folder is told of."""
    shutil.rmtree(desk.submission)
    desk.submission.write_text("zip", "utf-8")
    intake = take_in(look_through(desk.submission), STUDY, desk.release, desk.staged)
    assert not intake.gradable
    assert "the submission is not a folder" in intake.problems


@symlinks
def test_a_submission_that_is_a_link_is_nothing_to_grade(desk, tmp_path):
    """A link to somebody else's folder is not followed."""
    link = tmp_path / "link"
    link.symlink_to(desk.submission, target_is_directory=True)
    intake = take_in(look_through(link), STUDY, desk.release, desk.staged)
    assert not intake.gradable
    assert "the submission is not a folder" in intake.problems


# ---- The module


def test_a_missing_module_costs_only_its_checks(desk):
    """Without the module the notebooks are still graded."""
    (desk.submission / "module.py").unlink()
    assert desk.take_in() == desk_result("module.py is missing: its checks get no marks")


@pytest.mark.parametrize("name", ["my_module.py", "module-final.py"])
def test_a_renamed_module_is_hinted_at(desk, name):
    """A file that is probably meant is named, but not guessed."""
    (desk.submission / "module.py").rename(desk.submission / name)
    if (desk.submission / "module.py").exists():
        pytest.skip("this file system does not tell these names apart")
    assert desk.take_in() == desk_result(
        f"module.py is missing: its checks get no marks; if {name!r} is meant, rename it "
        "and grade again"
    )
    assert not (desk.staged / "module.py").exists()


def test_the_hint_says_in_which_folder_the_module_is(desk):
    """A module that lies one folder too deep is named with that folder."""
    (desk.submission / "study99").mkdir()
    (desk.submission / "module.py").rename(desk.submission / "study99" / "module.py")
    [problem] = desk.take_in().problems
    assert "study99/module.py" in problem.replace("\\\\", "/")


@pytest.mark.parametrize(
    "content",
    [
        MODULE.encode("utf-16"),
        MODULE.encode("utf-16-le"),
        "# é\n".encode("latin-1"),
        b"\xff\xfe",
        b"# coding: no-such-encoding\n",
        b"# coding: rot13\n",
        b"# coding: hex\n",
        b"# coding: utf-16\n",
        b"x = 1\n\0",
        b"# coding: ascii\n# \xc3\xa9\n",
    ],
    ids=[
        "utf-16",
        "utf-16-le",
        "latin-1",
        "bom",
        "unknown",
        "rot13",
        "hex",
        "declared-utf-16",
        "nul",
        "not-ascii",
    ],
)
def test_a_module_that_python_cannot_read_is_told_of(desk, content):
    """A wrong encoding is told in one sentence; the rest of the submission is graded."""
    (desk.submission / "module.py").write_bytes(content)
    intake = desk.take_in()
    assert intake.gradable
    [problem] = intake.problems
    assert problem.startswith("module.py is not UTF-8 text: Python cannot read it (")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbfx = 1\n",
        "x = 'é'\n".encode(),
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = 1\r\n",
        b"def f(:\n",
        b"x = 1",
    ],
)
def test_a_module_that_python_can_read_is_no_problem(desk, content):
    """A byte order mark, a declared encoding and even wrong syntax are the check's affair."""
    (desk.submission / "module.py").write_bytes(content)
    assert desk.take_in() == desk_result()
    assert (desk.staged / "module.py").read_bytes() == content


def test_a_module_whose_encoding_takes_hours_holds_nobody_up(desk):
    """What Python would read for hours is left to the check, which has a limit of time."""
    (desk.submission / "module.py").write_bytes(b"# coding: punycode\nx-" + b"b" * 4_000_000)
    assert desk.take_in() == desk_result()


@symlinks
def test_a_module_that_is_a_link_is_missing(desk, tmp_path):
    """A link is not followed, not even to a good module."""
    target = tmp_path / "elsewhere.py"
    (desk.submission / "module.py").rename(target)
    (desk.submission / "module.py").symlink_to(target)
    assert desk.take_in() == desk_result(
        "module.py is a link and was ignored: only real files count",
        "module.py is missing: its checks get no marks",
    )
    assert not (desk.staged / "module.py").exists()


def test_a_module_that_is_a_folder_is_missing(desk):
    """A folder with the module's name is not the module."""
    (desk.submission / "module.py").unlink()
    (desk.submission / "module.py").mkdir()
    assert desk.take_in() == desk_result("module.py is missing: its checks get no marks")


# ---- The notebooks


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not valid JSON (line 1, column 1)"),
        (b"not json", "is not valid JSON (line 1, column 1)"),
        (FIRST.encode()[:40], "is not valid JSON (line"),
        (b"<<<<<<< HEAD\n{}\n", "is not valid JSON (line 1"),
        (b"[]", "is not a valid notebook"),
        (b"null", "is not a valid notebook"),
        (b"42", "is not a valid notebook"),
        (b'"text"', "is not a valid notebook"),
        (b"{}", "is not a valid notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5}', "is not a valid notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": {}}', "is not a valid"),
        (b"[" * 100_000, "is not"),
        (b'{"a":' * 100_000, "is not"),
        (b"1" * 5_000, "is not"),
        (FIRST.encode("utf-16")[:-31], "is not valid UTF-16 text"),
        (b"\xff\xfe not JSON \xe9", "is not"),
        (b'{"cells": "\xe9"', "is not UTF-8 text (byte 11)"),
    ],
    ids=range(17),
)
def test_a_notebook_that_cannot_be_read_is_replaced(desk, content, why):
    """The released notebook stands in, so the checks are marked all the same."""
    (desk.submission / "01_first.ipynb").write_bytes(content)
    intake = desk.take_in()
    assert intake.gradable
    [problem] = intake.problems
    assert problem.startswith(f"01_first.ipynb {why}")
    assert problem.endswith(LOST)
    assert len(problem) < 400
    assert desk.notebook() == nbformat.reads(FIRST, as_version=4)


@pytest.mark.parametrize("name", ["01_first.ipynb", "renamed.ipynb"])
def test_a_notebook_that_was_saved_on_windows_is_the_same(desk, name):
    """Neither a byte order mark nor Windows line ends cost an answer, under any name."""
    desk.edit(lambda data: data["cells"][2].update(source="Mine."))
    text = json.dumps(json.loads((desk.submission / "01_first.ipynb").read_text("utf-8")), indent=1)
    (desk.submission / "01_first.ipynb").rename(desk.submission / name)
    (desk.submission / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert not [problem for problem in desk.take_in().problems if LOST in problem]
    assert desk.notebook().cells[2].source == "Mine."
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_a_missing_notebook_is_replaced(desk):
    """A notebook that was not handed in is told of, and the other one is taken."""
    (desk.submission / "01_first.ipynb").unlink()
    assert desk.take_in() == desk_result(f"01_first.ipynb is missing: {LOST}")
    assert desk.notebook() == nbformat.reads(FIRST, as_version=4)


def test_a_notebook_that_is_only_read_need_not_be_handed_in(desk):
    """It has nothing that is marked: the released one stands in, and nobody is told."""
    to_read = build_notebook("# %% [markdown]\n# Read this.\n\n# %%\n1 + 1\n", "00_read", STUDY)
    (desk.release / "00_read.ipynb").write_text(to_read, "utf-8")
    assert desk.take_in() == desk_result()
    assert desk.notebook("00_read.ipynb") == nbformat.reads(to_read, as_version=4)


def test_the_module_alone_can_be_graded(desk):
    """A submission of nothing but the module still gets its marks."""
    for name in NOTEBOOKS:
        (desk.submission / name).unlink()
    assert desk.take_in() == desk_result(*(f"{name} is missing: {LOST}" for name in NOTEBOOKS))


def test_a_renamed_notebook_is_taken_in_its_place(desk):
    """A notebook under another name is known by its cells."""
    desk.edit(answered)
    (desk.submission / "01_first.ipynb").rename(desk.submission / "01_first (1).ipynb")
    assert desk.take_in() == desk_result(
        "01_first.ipynb is missing, but '01_first (1).ipynb' holds its cells and is used instead"
    )
    assert desk.notebook().cells[2].source == "My answer."


def test_both_notebooks_may_be_renamed(desk):
    """Each of two renamed notebooks is taken for the one whose cells it holds."""
    desk.edit(answered)
    (desk.submission / "01_first.ipynb").rename(desk.submission / "b.ipynb")
    (desk.submission / "02_second.ipynb").rename(desk.submission / "a.ipynb")
    assert desk.take_in() == desk_result(
        *(
            f"{name}.ipynb is missing, but '{other}.ipynb' holds its cells and is used instead"
            for name, other in (("01_first", "b"), ("02_second", "a"))
        )
    )
    assert desk.notebook().cells[2].source == "My answer."


def test_a_copy_next_to_the_original_is_ignored_and_reported(desk):
    """The exact name counts; a copy with other contents is named."""
    shutil.copy(desk.submission / "01_first.ipynb", desk.submission / "01_first-Copy1.ipynb")
    desk.edit(answered)
    assert desk.take_in() == desk_result(
        "'01_first-Copy1.ipynb' was also submitted and was ignored: '01_first.ipynb' counts"
    )
    assert desk.notebook().cells[2].source == "My answer."
    assert not (desk.staged / "01_first-Copy1.ipynb").exists()


def test_a_renamed_notebook_that_cannot_be_read_is_missing(desk):
    """Bytes under another name are not guessed at."""
    (desk.submission / "01_first.ipynb").rename(desk.submission / "other.ipynb")
    (desk.submission / "other.ipynb").write_bytes(b"\xff")
    assert desk.take_in() == desk_result(f"01_first.ipynb is missing: {LOST}")


def test_a_notebook_that_is_a_folder_is_missing(desk):
    """A folder with a notebook's name does not stop the intake, whatever lies in it."""
    (desk.submission / "01_first.ipynb").unlink()
    (desk.submission / "01_first.ipynb").mkdir()
    (desk.submission / "01_first.ipynb" / "note.txt").write_text("hello", "utf-8")
    intake = desk.take_in()
    assert intake.gradable
    assert f"01_first.ipynb is missing: {LOST}" in intake.problems
    assert desk.notebook() == nbformat.reads(FIRST, as_version=4)


def version_3(name):
    """A released notebook in nbformat 3, as an old program would save it."""
    notebook = nbformat.convert(nbformat.reads(NOTEBOOKS[name], as_version=4), 3)
    return nbformat.writes(notebook, version=3)


def test_an_old_notebook_is_converted(desk):
    """A notebook in format 3 is taken, with its answer."""
    old = version_3("01_first.ipynb").replace("*Write here.*", "My answer.")
    assert "My answer." in old
    (desk.submission / "01_first.ipynb").write_text(old, "utf-8")
    assert desk.take_in().problems == ()
    assert desk.notebook().cells[2].source == "My answer."
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_cells_without_ids_are_taken(desk):
    """A notebook of format 4.5 without cell ids, as some programs save it, is no problem."""
    desk.edit(lambda data: [cell.pop("id") for cell in data["cells"]])
    desk.edit(answered)
    assert desk.take_in().problems == ()
    assert desk.notebook().cells[2].source == "My answer."


def test_a_notebook_before_cell_ids_is_taken(desk):
    """A notebook of format 4.4, which has no cell ids, is no problem."""

    def edit(data):
        data["nbformat_minor"] = 4
        for cell in data["cells"]:
            del cell["id"]

    desk.edit(edit)
    desk.edit(answered)
    assert desk.take_in().problems == ()
    assert desk.notebook().cells[2].source == "My answer."


def test_a_cell_is_put_back_into_a_notebook_before_cell_ids(desk):
    """A released cell, which has an id, goes into a notebook of format 4.4, which has none."""

    def edit(data):
        data["nbformat_minor"] = 4
        del data["cells"][1]
        for cell in data["cells"]:
            del cell["id"]

    desk.edit(edit)
    assert desk.take_in() == desk_result(PUT_BACK)
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_text_that_is_not_unicode_is_taken_or_told_of(desk):
    """Half a character in a cell, which JSON can write and UTF-8 cannot, stops nothing."""

    def edit(data):
        data["cells"][2]["source"] = "My answer \ud83d"

    desk.edit(edit)
    assert desk.take_in().gradable


def test_a_bad_notebook_says_nothing_on_the_terminal(desk, capfd):
    """What is wrong is told by the intake, not by libraries on the way."""
    desk.edit(lambda data: data["cells"][0].pop("source"))
    [problem] = desk.take_in().problems
    assert problem.startswith("01_first.ipynb did not follow the notebook format")
    assert capfd.readouterr() == ("", "")


# ---- Graded cells


PUT_BACK = "01_first.ipynb: the cell check-study99-one was deleted; it was put back at the end"


@pytest.mark.parametrize(("index", "grade_id"), [(1, "check-study99-one"), (2, "answer-why")])
def test_a_deleted_cell_is_put_back(desk, index, grade_id):
    """A check or an answer that was deleted is there again, and the grader hears of it."""
    desk.edit(lambda data: data["cells"].pop(index))
    assert desk.take_in() == desk_result(PUT_BACK.replace("check-study99-one", grade_id))
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_a_notebook_without_cells_is_filled_up(desk):
    """Where all cells were deleted all graded ones are put back, each told of."""
    desk.edit(lambda data: data["cells"].clear())
    assert len(desk.take_in().problems) == 2
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize("new_id", [True, False])
def test_a_duplicated_cell_is_told_of(desk, new_id):
    """A copied check is told of, whether or not the copy has an id of its own."""

    def edit(data):
        twin = copy.deepcopy(data["cells"][1])
        twin["id"] = "twin" if new_id else twin["id"]
        data["cells"].append(twin)

    desk.edit(edit)
    assert desk.take_in() == desk_result(
        "01_first.ipynb: the cell check-study99-one occurs 2 times; the last one counts"
    )
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]
    assert "nbgrader" in desk.notebook().cells[-1].metadata


ONCE = "*Write here.*"  # what the release says where the answer goes


@pytest.mark.parametrize(("sources", "counting", "which"), [
    (("Mine.", ONCE), 0, "the last one with an answer in it"),
    (("Mine.", f" {ONCE}\n", ""), 0, "the last one with an answer in it"),
    (("First.", "Second.", ONCE), 1, "the last one with an answer in it"),
    ((ONCE, "Mine."), 1, "the last one"), (("First.", "Second."), 1, "the last one"),
    ((ONCE, ONCE), 1, "the last one"), ((ONCE, ""), 1, "the last one"),
])  # fmt: skip
def test_of_copied_answers_the_last_written_one_counts(desk, sources, counting, which):
    """A copy that was left as it was released does not take the place of an answer."""

    def edit(data):
        twins = [
            copy.deepcopy(data["cells"][2]) | {"id": f"twin{number}", "source": source}
            for number, source in enumerate(sources)
        ]
        data["cells"][2:3] = twins

    desk.edit(edit)
    assert desk.take_in() == desk_result(
        f"01_first.ipynb: the cell answer-why occurs {len(sources)} times; {which} counts"
    )
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]
    assert ["nbgrader" in cell.metadata for cell in desk.notebook().cells[2:]] == [
        number == counting for number in range(len(sources))
    ]


def test_of_copied_checks_the_last_one_counts(desk):
    """A check holds no answer, so one that was written over has no claim to be the one."""

    def edit(data):
        data["cells"].append(copy.deepcopy(data["cells"][1]) | {"id": "twin"})
        data["cells"][1]["source"] = "1 + 1"

    desk.edit(edit)
    assert desk.take_in() == desk_result(
        "01_first.ipynb: the cell check-study99-one occurs 2 times; the last one counts"
    )
    assert "nbgrader" in desk.notebook().cells[-1].metadata


CHANGES = {
    "points": {"points": 1000},
    "points as text": {"points": "many"},
    "unlocked": {"locked": False},
    "not graded": {"grade": False},
    "a solution": {"solution": True},
    "a task": {"task": True},
    "old schema": {"schema_version": 1},
    "new schema": {"schema_version": 99},
    "schema as text": {"schema_version": "three"},
    "extra": {"checksum": "0", "cell_type": "raw"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("index", [1, 2])
def test_tampered_metadata_is_put_right(desk, change, index):
    """Points, locks and the rest are the release's, whatever the submission says."""
    desk.edit(lambda data: data["cells"][index]["metadata"]["nbgrader"].update(change))
    assert desk.take_in().problems == ()
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "text",
        [],
        {},
        {"grade_id": None},
        {"grade_id": ["a"]},
        {"grade_id": "check-study99-none", "grade": True},
    ],
    ids=repr,
)
def test_metadata_that_is_none_counts_as_a_deleted_cell(desk, value):
    """A cell whose nbgrader metadata names no released cell loses it, and the cell is put back."""
    desk.edit(lambda data: data["cells"][1]["metadata"].update(nbgrader=value))
    assert desk.take_in() == desk_result(PUT_BACK)
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]
    assert len(desk.notebook().cells) == 4


def test_a_made_up_graded_cell_counts_nothing(desk):
    """A new cell that calls itself graded loses that metadata."""
    made_up = new_code_cell(
        "1",
        id="new",
        metadata={
            "nbgrader": {
                "grade": True,
                "grade_id": "bonus",
                "locked": False,
                "points": 100,
                "schema_version": 3,
                "solution": False,
                "task": False,
            }
        },
    )
    desk.edit(lambda data: data["cells"].append(made_up))
    assert desk.take_in().problems == ()
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_a_cell_of_another_notebook_counts_nothing(desk):
    """The second notebook's check in the first notebook is not a check there."""
    stray = json.loads(SECOND)["cells"][1]
    desk.edit(lambda data: data["cells"].append(stray))
    assert desk.take_in().problems == ()
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize("index", [1, 2])
def test_a_graded_cell_of_another_type_is_acceptable_to_nbgrader(desk, index):
    """A check turned into prose, or an answer into code, does not stop the grading."""
    kinds = {"code": new_markdown_cell, "markdown": new_code_cell}

    def edit(data):
        old = data["cells"][index]
        data["cells"][index] = kinds[old["cell_type"]](
            old["source"], id=old["id"], metadata=old["metadata"]
        )

    desk.edit(edit)
    assert desk.take_in().gradable
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize(
    "tags", [["skip-execution"], ["raises-exception", "mine"], "text", 7], ids=repr
)
def test_tags_are_taken_off(desk, tags):
    """Tags can keep a cell from being run, so none gets through, and none stops the intake."""

    def edit(data):
        for cell in data["cells"]:
            cell["metadata"]["tags"] = tags

    desk.edit(edit)
    assert desk.take_in().gradable
    assert not any("tags" in cell.metadata for cell in desk.notebook().cells)


# ---- Files that are not taken


@symlinks
@pytest.mark.parametrize("target", ["secret.txt", "secret", "nowhere", "submitted", "/"])
def test_links_are_not_taken(desk, tmp_path, target):
    """A link, to a file or a folder, outside or in a circle, is told of and never followed."""
    (tmp_path / "secret").mkdir()
    for path in (tmp_path / "secret.txt", tmp_path / "secret" / "key.txt"):
        path.write_text("secret", "utf-8")
    (desk.submission / "link").symlink_to(tmp_path / target)
    assert desk.take_in() == desk_result("link is a link and was ignored: only real files count")
    assert {p.name for p in desk.staged.rglob("*")} == {"module.py", *NOTEBOOKS}


STAFFS = ["gradebook.db", "source/study99/module.py", "results/study99/bob/submission.json"]


def link_to_staffs(desk, root, name) -> None:
    """Make module.py of the submission a hard link to a file of the course."""
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("secret", "utf-8")
    (desk.submission / "module.py").unlink()
    (desk.submission / "module.py").hardlink_to(target)


@pytest.mark.parametrize("name", STAFFS)
def test_a_hard_link_to_a_file_of_the_course_is_not_taken(desk, tmp_path, name):
    """A solution or the gradebook under another name is reported and not read."""
    link_to_staffs(desk, tmp_path, name)
    intake = desk.take_in()
    assert intake.problems[0].startswith("module.py is a hard link to a file of the course")
    assert not (desk.staged / "module.py").exists()


def test_without_the_look_at_the_course_a_solution_would_be_taken(desk, tmp_path, monkeypatch):
    """The same link earns the marks of the solution if the course's files are not known."""
    monkeypatch.setattr(taking, "STAFFS", ())
    link_to_staffs(desk, tmp_path, STAFFS[1])
    desk.take_in()
    assert (desk.staged / "module.py").read_text("utf-8") == "secret"


def test_a_hard_link_to_an_answer_of_the_kit_is_not_taken(desk, tmp_path, monkeypatch):
    """The answers need not be in the course folder."""
    monkeypatch.setattr(taking, "ANSWERS", tmp_path / "answers")
    link_to_staffs(desk, tmp_path, "answers/module.py")
    assert desk.take_in().problems[0].startswith("module.py is a hard link to a file of the course")


@pytest.mark.parametrize("place", ["backup", "bob"])
def test_a_submission_that_shares_its_files_is_taken(desk, tmp_path, place):
    """A backup by `cp -al`, or a classmate's link to a file, costs nobody their marks."""

    def digest() -> str:
        return taking.fingerprint(look_at(desk.submission, STUDY, desk.release))

    alone, before = desk.take_in(), digest()
    for path in [path for path in desk.submission.rglob("*") if path.is_file()]:
        copy = tmp_path / place / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.hardlink_to(path)
    desk.staged = tmp_path / "again"
    assert desk.take_in() == alone
    assert (desk.staged / "module.py").read_text("utf-8") == MODULE
    assert digest() == before


def test_a_name_that_would_steer_a_terminal_is_told_safely(desk):
    """Control characters in a file's name are shown as escapes, on one line."""
    (desk.submission / "a\x1b[2J\nb.txt").symlink_to("nowhere")
    (problem,) = desk.take_in().problems
    assert problem.isprintable()


@symlinks
def test_a_notebook_that_is_a_link_is_replaced(desk, tmp_path):
    """A link to somebody else's notebook earns nothing."""
    elsewhere = tmp_path / "elsewhere.ipynb"
    (desk.submission / "01_first.ipynb").rename(elsewhere)
    (desk.submission / "01_first.ipynb").symlink_to(elsewhere)
    assert desk.take_in() == desk_result(
        "01_first.ipynb is a link and was ignored: only real files count",
        f"01_first.ipynb is missing: {LOST}",
    )
    assert desk.notebook() == nbformat.reads(FIRST, as_version=4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe", "module.py", "01_first.ipynb", "timestamp.txt"])
def test_a_named_pipe_does_not_stop_the_intake(desk, name):
    """Opening a pipe would wait for ever, so a pipe is not opened."""
    (desk.submission / name).unlink(missing_ok=True)
    os.mkfifo(desk.submission / name)
    assert desk.take_in().gradable
    assert name in NOTEBOOKS or not (desk.staged / name).exists()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no such sockets")
def test_a_socket_does_not_stop_the_intake(desk, monkeypatch):
    """A socket is no regular file and is left out."""
    monkeypatch.chdir(desk.submission)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert desk.take_in().gradable
    assert not (desk.staged / "socket").exists()


def grow(path, size=MAX_BYTES + 1):
    """Make a file that large, without writing it all."""
    with path.open("ab") as file:
        file.truncate(size)


@pytest.mark.parametrize("name", ["data.bin", "module.py"])
def test_a_file_that_is_too_large_is_not_taken(desk, name):
    """One byte too many is too many, and the sentence has the numbers."""
    grow(desk.submission / name)
    problems = desk.take_in().problems
    assert problems[0] == (
        f"{name} has 5,000,001 bytes and was ignored: at most 5,000,000 are allowed"
    )
    assert len(problems) == (2 if name == "module.py" else 1)
    assert not (desk.staged / name).exists()


def test_a_file_of_just_the_limit_is_taken(desk):
    """The limit itself is allowed."""
    grow(desk.submission / "data.bin", MAX_BYTES)
    assert desk.take_in() == desk_result()
    assert (desk.staged / "data.bin").stat().st_size == MAX_BYTES


@pytest.mark.parametrize("name", ["01_first.ipynb", "renamed.ipynb"])
@pytest.mark.parametrize("room", ["metadata", "outputs"])
def test_a_notebook_whose_size_is_not_in_its_text_is_taken(desk, name, room):
    """Outputs and metadata do not count towards the limit, and large outputs are left out."""

    def edit(data):
        data["cells"][2]["source"] = "My answer."
        padding = {"padding": "x" * MAX_BYTES}
        if room == "metadata":
            data["metadata"] = padding
        else:
            data["cells"][1]["outputs"] = [
                {"output_type": "display_data", "metadata": padding, "data": {"text/plain": "x"}}
            ]

    desk.edit(edit)
    (desk.submission / "01_first.ipynb").rename(desk.submission / name)
    problems = desk.take_in().problems
    assert any("its outputs were left out" in each for each in problems) == (room == "outputs")
    assert len(problems) == (name != "01_first.ipynb") + (room == "outputs")
    assert desk.notebook().cells[2].source == "My answer."
    assert desk.notebook().cells[1].outputs == []


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (MAX_BYTES, "at most 5,000,000 are allowed without outputs and pictures"),
        (MAX_NOTEBOOK, "bytes and was ignored: at most 20,000,000 are allowed"),
    ],
)
def test_a_notebook_whose_text_is_too_large_is_replaced(desk, size, why):
    """A notebook over the limit is not taken, and the sentences say so."""
    desk.edit(lambda data: data["cells"][0].update(source="x" * size))
    problems = desk.take_in().problems
    assert why in problems[0]
    assert problems[-1].endswith(LOST)
    assert desk.notebook() == nbformat.reads(FIRST, as_version=4)


# ---- The time


@pytest.mark.parametrize(
    "text",
    ["2031-02-03 04:05:06 UTC", "2031-02-03 04:05:06.123456 UTC", "2031-02-03T04:05:06+02:00\n"],
)
def test_a_timestamp_is_taken(desk, text):
    """A time as nbgrader writes it goes on to nbgrader."""
    (desk.submission / "timestamp.txt").write_text(text, "utf-8")
    assert desk.take_in() == desk_result()
    assert (desk.staged / "timestamp.txt").read_text("utf-8") == text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"yesterday",
        b"\xff\xfe",
        b"99999999999999999999",
        b"2031-02-30 00:00:00 UTC",
        b"\0",
        b"a b c",
        b"2031-02-03 04:05:06 99999999",
        b"2031-02-03 04:05:06 XYZ",
        b"0001-01-01 0:0 +14:00",
        b"nan",
        b"1e400",
        b"2031-02-03 04:05:06 ../../etc",
        b"2031-02-03 04:05 \0",
    ],
)
def test_a_timestamp_that_holds_no_time_is_left_out(desk, content):
    """A time that cannot be read, here or by nbgrader later, does not stop the grading."""
    (desk.submission / "timestamp.txt").write_bytes(content)
    (problem,) = desk.take_in().problems
    assert problem.startswith("timestamp.txt: ")
    assert problem.endswith("the time of submission is unknown, and there is no late penalty")
    kept = desk.staged / "timestamp.txt"  # what nbgrader may have written identifies the submission
    assert kept.exists() == (content[4:5] == b"-" and b"\0" not in content)


@pytest.mark.parametrize(
    ("text", "zone", "known"),
    [
        ("2031-07-03 04:05:06.123456 PDT", "America/Los_Angeles", True),
        ("2031-07-03 04:05:06.123456 PDT", "UTC", False),
        ("2031-07-03 04:05:06.123456 +0545", "UTC", True),
        ("2031-07-03 04:05:06", "Europe/Berlin", True),
        ("2031-10-26 02:30:00.123456 CEST", "Europe/Berlin", True),
        ("2031-10-26 02:30:00", "Europe/Berlin", False),
    ],
)
def test_a_timestamp_is_read_in_the_courses_time_zone(desk, text, zone, known):
    """An abbreviation that nbgrader writes counts where it is the course's own."""
    (desk.submission / "timestamp.txt").write_text(text, "utf-8")
    intake = take_in(
        look_at(desk.submission, STUDY, desk.release),
        STUDY,
        desk.release,
        desk.staged,
        ZoneInfo(zone),
    )
    assert (not intake.problems) == known
    assert (desk.staged / "timestamp.txt").read_text("utf-8") == text


# ---- Fingerprints


def fingerprint(folder):
    """The digest of everything in a folder."""
    return taking.fingerprint(look_through(folder))


def test_the_fingerprint_stays_while_nothing_changes(desk):
    """Times and modes do not matter, and neither does where the folder lies."""
    before = fingerprint(desk.submission)
    os.utime(desk.submission / "module.py", (0, 0))
    (desk.submission / "module.py").chmod(0o444)
    assert fingerprint(desk.submission) == before
    desk.submission = desk.submission.rename(desk.submission.with_name("moved"))
    assert fingerprint(desk.submission) == before


EDITS = {
    "content": lambda folder: (folder / "module.py").write_bytes(b"x"),
    "emptied": lambda folder: (folder / "module.py").write_bytes(b""),
    "renamed": lambda folder: (folder / "module.py").rename(folder / "Module2.py"),
    "deleted": lambda folder: (folder / "module.py").unlink(),
    "added": lambda folder: (folder / "new.txt").touch(),
    "hidden": lambda folder: (folder / ".new").touch(),
    "folder": lambda folder: (folder / "new").mkdir(),
    "deep": lambda folder: ((folder / "a").mkdir(), (folder / "a" / "b").touch()),
    "unicode": lambda folder: (folder / "é\u0301").touch(),
    "notebook": lambda folder: (folder / "01_first.ipynb").write_text(SECOND, "utf-8"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_the_fingerprint_changes_with_the_submission(desk, edit):
    """Any change of names or contents is a new submission."""
    before = fingerprint(desk.submission)
    edit(desk.submission)
    assert fingerprint(desk.submission) != before


def test_a_huge_file_is_not_read(desk):
    """Of a file that is too large to be taken in, the size is enough, however large it is."""
    prints = {fingerprint(desk.submission)}
    for size in (1 << 36, 1 << 35):
        grow(desk.submission / "data.bin", size)
        prints.add(fingerprint(desk.submission))
    assert len(prints) == 3


@symlinks
def test_the_fingerprint_tells_links_files_and_folders_apart(desk):
    """A link, an empty file and a folder of the same name are three submissions."""
    path = desk.submission / "thing"
    prints = {fingerprint(desk.submission)}
    path.touch()
    prints.add(fingerprint(desk.submission))
    path.unlink()
    path.mkdir()
    prints.add(fingerprint(desk.submission))
    path.rmdir()
    path.symlink_to("nowhere")
    prints.add(fingerprint(desk.submission))
    assert len(prints) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")
def test_names_that_are_not_unicode_are_taken(desk):
    """A file name of arbitrary bytes is copied and counts in the fingerprint."""
    before = fingerprint(desk.submission)
    name = os.fsdecode(b"caf\xe9.txt")
    (desk.submission / name).touch()
    assert fingerprint(desk.submission) != before
    assert desk.take_in() == desk_result()
    assert (desk.staged / name).exists()


def test_problems_can_be_written_as_text(desk):
    """Problems go into reports in UTF-8, so a name of arbitrary bytes is made readable there."""
    if sys.platform != "linux":
        pytest.skip("other file systems refuse such names")
    grow(desk.submission / os.fsdecode(b"caf\xe9.txt"))
    [problem] = desk.take_in().problems
    assert b"caf" in problem.encode("utf-8")


TREES = st.dictionaries(
    st.sampled_from(["a", "b", "ab", "a b", "é"]), st.binary(max_size=3), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(TREES, TREES)
def test_fingerprints_are_equal_just_for_equal_submissions(one, two):
    """Two folders have the same fingerprint if, and only if, they hold the same files."""
    with tempfile.TemporaryDirectory() as root:
        prints = []
        for name, tree in (("one", one), ("two", two)):
            folder = Path(root) / name
            folder.mkdir()
            for file, content in tree.items():
                (folder / file).write_bytes(content)
            prints.append(fingerprint(folder))
    assert (prints[0] == prints[1]) == (one == two)


# ---- Anything at all


def take_in_bytes(name, content):
    """The problems of a submission with this file in it; the submission stays as it is."""
    with tempfile.TemporaryDirectory() as root:
        desk = Desk(Path(root))
        (desk.submission / name).write_bytes(content)
        intake = desk.take_in()
    assert intake.gradable
    return intake.problems


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_may_be_handed_in_as_a_notebook(content):
    """No bytes stop the intake; these are never a notebook, so the problem is told once."""
    [problem] = take_in_bytes("01_first.ipynb", content)
    assert problem.endswith(LOST)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_may_be_handed_in_as_the_module(content):
    """No bytes stop the intake, and the module's text is the check's affair."""
    assert len(take_in_bytes("module.py", content)) <= 1


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)))
def test_any_bytes_may_be_handed_in_as_the_time(content):
    """No bytes stop the intake: at worst the time is unknown."""
    assert len(take_in_bytes("timestamp.txt", content)) <= 1


PLAIN = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(), max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


PLACES = [path for path in places(json.loads(FIRST)) if path]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), PLAIN)
@example(("nbformat",), 3)
@example(("nbformat",), 2)
@example(("nbformat",), 1)
@example(("nbformat_minor",), -1)
@example(("cells", 1, "id"), None)
def test_any_value_anywhere_in_a_notebook_may_be_wrong(place, value):
    """Whatever a program wrote in some place of the notebook, the intake goes on."""
    data = json.loads(FIRST)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    problems = take_in_bytes("01_first.ipynb", json.dumps(data).encode())
    assert all("01_first.ipynb" in problem for problem in problems)
