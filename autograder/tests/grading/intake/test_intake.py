"""Intake: marks need only the module, and each problem of a submission is one sentence.

Every test processes a small submission to a made-up study and compares it before and after.
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

from autograder.grading.intake import submission_files as taking
from autograder.grading.intake.intake import stage_submission
from autograder.grading.intake.submission_files import (
    MAX_BYTES,
    MAX_NOTEBOOK,
    list_files,
    list_submission,
)
from autograder.release.notebooks import build_notebook
from autograder.tests.support.courses.intake import (
    FIRST,
    LOST,
    MODULE,
    NOTEBOOKS,
    RELEASED,
    SECOND,
    STUDY,
    StagingArea,
    answered,
    checked,
    intake_result,
    places,
)

symlinks = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")


# ---- Valid submissions


def test_a_faultless_submission_has_no_problems(staging):
    """The module and the notebooks are unchanged, and there are no messages."""
    intake = staging.stage()
    assert (intake.problems, intake.gradable) == ((), True)
    assert (staging.staged / "module.py").read_text("utf-8") == MODULE
    for name, text in NOTEBOOKS.items():
        assert staging.notebook(name) == nbformat.reads(text, as_version=4)


def test_what_a_student_wrote_comes_through(staging):
    """Written answers, new cells and outputs are preserved."""

    def edit(data):
        data["cells"][2]["source"] = "Because *ten* is a lot. Ça va?"
        data["cells"].append(
            {"cell_type": "markdown", "id": "mine", "metadata": {"my": "own"}, "source": "A note."}
        )

    staging.edit(edit)
    assert staging.stage().problems == ()
    cells = staging.notebook().cells
    assert cells[2].source == "Because *ten* is a lot. Ça va?"
    assert (cells[3].source, cells[3].metadata) == ("A note.", {"my": "own"})


def test_side_files_are_taken_with_their_folders(staging):
    """Other files keep their relative paths, in any script."""
    names = ["helper.py", "data/table.csv", "ångström/подсказка 1.txt", "図.png", "a b/c'd.txt"]
    for name in names:
        (staging.submission / name).parent.mkdir(exist_ok=True)
        (staging.submission / name).write_bytes(name.encode())
    assert staging.stage().problems == ()
    assert [(staging.staged / name).read_bytes() for name in names] == [n.encode() for n in names]


def test_hidden_files_are_left_out(staging):
    """Checkpoints and other hidden files are skipped without a message."""
    for name in (".DS_Store", ".ipynb_checkpoints/01_first-checkpoint.ipynb", "sub/.secret"):
        (staging.submission / name).parent.mkdir(exist_ok=True)
        (staging.submission / name).write_text("{}", "utf-8")
    assert staging.stage() == intake_result()
    assert {p.name for p in staging.staged.rglob("*")} == {"module.py", *NOTEBOOKS}


# ---- Nothing to grade


@pytest.mark.parametrize(
    "names", [(), (".hidden",), (".ipynb_checkpoints/01_first.ipynb",), ("folder/",)]
)
def test_an_empty_submission_is_nothing_to_grade(staging, names):
    """A folder without visible files is not graded, and the reason is given."""
    shutil.rmtree(staging.submission)
    staging.submission.mkdir()
    for name in names:
        path = staging.submission / name
        (path if name.endswith("/") else path.parent).mkdir(exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    intake = staging.stage()
    assert intake.problems == ("the folder is empty: nothing was submitted",)
    assert not intake.gradable
    assert not staging.staged.exists()


def test_a_submission_that_is_a_file_is_nothing_to_grade(staging):
    """A file instead of the folder is reported."""
    shutil.rmtree(staging.submission)
    staging.submission.write_text("zip", "utf-8")
    intake = stage_submission(
        list_files(staging.submission), STUDY, staging.release, staging.staged
    )
    assert not intake.gradable
    assert "the submission is not a folder" in intake.problems


@symlinks
def test_a_submission_that_is_a_link_is_nothing_to_grade(staging, tmp_path):
    """A link to another student's folder is not followed."""
    link = tmp_path / "link"
    link.symlink_to(staging.submission, target_is_directory=True)
    intake = stage_submission(list_files(link), STUDY, staging.release, staging.staged)
    assert not intake.gradable
    assert "the submission is not a folder" in intake.problems


# ---- The module


def test_a_missing_module_costs_only_its_checks(staging):
    """Without the module the notebooks are still graded."""
    (staging.submission / "module.py").unlink()
    assert staging.stage() == intake_result("module.py is missing: its checks earn no points")


@pytest.mark.parametrize("name", ["my_module.py", "module-final.py"])
def test_a_renamed_module_is_hinted_at(staging, name):
    """The likely file is named, but it is not used on a guess."""
    (staging.submission / "module.py").rename(staging.submission / name)
    if (staging.submission / "module.py").exists():
        pytest.skip("this file system does not tell these names apart")
    assert staging.stage() == intake_result(
        f"module.py is missing: its checks earn no points; if {name!r} is meant, rename it "
        "and grade again"
    )
    assert not (staging.staged / "module.py").exists()


def test_the_hint_says_in_which_folder_the_module_is(staging):
    """The hint names the folder of a module that is one folder too deep."""
    (staging.submission / "study99").mkdir()
    (staging.submission / "module.py").rename(staging.submission / "study99" / "module.py")
    [problem] = staging.stage().problems
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
def test_a_module_that_python_cannot_read_is_reported(staging, content):
    """A wrong encoding is reported, and the rest of the submission is graded."""
    (staging.submission / "module.py").write_bytes(content)
    intake = staging.stage()
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
def test_a_module_that_python_can_read_is_no_problem(staging, content):
    """Byte order marks, declared encodings and even syntax errors are left to the checks."""
    (staging.submission / "module.py").write_bytes(content)
    assert staging.stage() == intake_result()
    assert (staging.staged / "module.py").read_bytes() == content


def test_a_module_whose_encoding_takes_hours_holds_nobody_up(staging):
    """A file that Python would read for hours is left to the check, which has a time limit."""
    (staging.submission / "module.py").write_bytes(b"# coding: punycode\nx-" + b"b" * 4_000_000)
    assert staging.stage() == intake_result()


@symlinks
def test_a_module_that_is_a_link_is_missing(staging, tmp_path):
    """A link is not followed, even if it leads to a valid module."""
    target = tmp_path / "elsewhere.py"
    (staging.submission / "module.py").rename(target)
    (staging.submission / "module.py").symlink_to(target)
    assert staging.stage() == intake_result(
        "module.py is a link and was ignored: only real files count",
        "module.py is missing: its checks earn no points",
    )
    assert not (staging.staged / "module.py").exists()


def test_a_module_that_is_a_folder_is_missing(staging):
    """A folder with the module's name is not the module."""
    (staging.submission / "module.py").unlink()
    (staging.submission / "module.py").mkdir()
    assert staging.stage() == intake_result("module.py is missing: its checks earn no points")


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
def test_a_notebook_that_cannot_be_read_is_replaced(staging, content, why):
    """The released notebook replaces it, so that the checks are marked."""
    (staging.submission / "01_first.ipynb").write_bytes(content)
    intake = staging.stage()
    assert intake.gradable
    [problem] = intake.problems
    assert problem.startswith(f"01_first.ipynb {why}")
    assert problem.endswith(LOST)
    assert len(problem) < 400
    assert staging.notebook() == nbformat.reads(FIRST, as_version=4)


@pytest.mark.parametrize("name", ["01_first.ipynb", "renamed.ipynb"])
def test_a_notebook_that_was_saved_on_windows_is_the_same(staging, name):
    """A byte order mark or Windows line ends lose no answer, under any name."""
    staging.edit(lambda data: data["cells"][2].update(source="Mine."))
    text = json.dumps(
        json.loads((staging.submission / "01_first.ipynb").read_text("utf-8")), indent=1
    )
    (staging.submission / "01_first.ipynb").rename(staging.submission / name)
    (staging.submission / name).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert not [problem for problem in staging.stage().problems if LOST in problem]
    assert staging.notebook().cells[2].source == "Mine."
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_a_missing_notebook_is_replaced(staging):
    """The missing notebook is reported, and the other one is used."""
    (staging.submission / "01_first.ipynb").unlink()
    assert staging.stage() == intake_result(f"01_first.ipynb is missing: {LOST}")
    assert staging.notebook() == nbformat.reads(FIRST, as_version=4)


def test_a_notebook_that_is_only_read_need_not_be_submitted(staging):
    """It has nothing to mark, so the released one replaces it without a message."""
    to_read = build_notebook("# %% [markdown]\n# Read this.\n\n# %%\n1 + 1\n", "00_read", STUDY)
    (staging.release / "00_read.ipynb").write_text(to_read, "utf-8")
    assert staging.stage() == intake_result()
    assert staging.notebook("00_read.ipynb") == nbformat.reads(to_read, as_version=4)


def test_the_module_alone_can_be_graded(staging):
    """A submission that contains only the module still gets its marks."""
    for name in NOTEBOOKS:
        (staging.submission / name).unlink()
    assert staging.stage() == intake_result(*(f"{name} is missing: {LOST}" for name in NOTEBOOKS))


def test_a_renamed_notebook_is_taken_in_its_place(staging):
    """A renamed notebook is recognised by its cells."""
    staging.edit(answered)
    (staging.submission / "01_first.ipynb").rename(staging.submission / "01_first (1).ipynb")
    assert staging.stage() == intake_result(
        "01_first.ipynb is missing, but '01_first (1).ipynb' contains its cells and is used instead"
    )
    assert staging.notebook().cells[2].source == "My answer."


def test_both_notebooks_may_be_renamed(staging):
    """Each of two renamed notebooks is matched by its cells."""
    staging.edit(answered)
    (staging.submission / "01_first.ipynb").rename(staging.submission / "b.ipynb")
    (staging.submission / "02_second.ipynb").rename(staging.submission / "a.ipynb")
    assert staging.stage() == intake_result(
        *(
            f"{name}.ipynb is missing, but '{other}.ipynb' contains its cells and is used instead"
            for name, other in (("01_first", "b"), ("02_second", "a"))
        )
    )
    assert staging.notebook().cells[2].source == "My answer."


@pytest.fixture
def unsplit(staging):
    """A submission from before 01_first was split off: 02_second contains its answer as well."""

    def add_answer(data):
        cell = json.loads(FIRST)["cells"][2]
        data["cells"].append({**cell, "id": "earlier", "source": "My answer."})

    staging.edit(add_answer, "02_second.ipynb")
    return staging


def test_answers_of_a_notebook_that_was_split_are_used(unsplit):
    """The new notebook is missing, and the earlier one contains its answers."""
    (unsplit.submission / "01_first.ipynb").unlink()
    assert unsplit.stage() == intake_result(
        "01_first.ipynb is missing, but its answers are in '02_second.ipynb' and are used"
    )
    assert unsplit.notebook().cells[2].source == "My answer."
    assert {name: checked(unsplit.notebook(name)) for name in NOTEBOOKS} == RELEASED


def test_answers_are_also_taken_if_both_notebooks_are_there(unsplit):
    """An untouched answer in the new notebook is filled in; a written one is kept."""
    assert unsplit.stage() == intake_result(
        "01_first.ipynb: answer-why is unchanged, so the answer in '02_second.ipynb' was taken"
    )
    assert unsplit.notebook().cells[2].source == "My answer."
    shutil.rmtree(unsplit.staged)
    unsplit.edit(lambda data: data["cells"][2].update(source="A later answer."))
    assert unsplit.stage() == intake_result()
    assert unsplit.notebook().cells[2].source == "A later answer."


def test_a_copy_next_to_the_original_is_ignored_and_reported(staging):
    """The exact name is used; a copy with different contents is reported."""
    shutil.copy(staging.submission / "01_first.ipynb", staging.submission / "01_first-Copy1.ipynb")
    staging.edit(answered)
    assert staging.stage() == intake_result(
        "'01_first-Copy1.ipynb' was also submitted and was ignored: '01_first.ipynb' counts"
    )
    assert staging.notebook().cells[2].source == "My answer."
    assert not (staging.staged / "01_first-Copy1.ipynb").exists()


def test_a_renamed_notebook_that_cannot_be_read_is_missing(staging):
    """Unreadable bytes under another name are not used on a guess."""
    (staging.submission / "01_first.ipynb").rename(staging.submission / "other.ipynb")
    (staging.submission / "other.ipynb").write_bytes(b"\xff")
    assert staging.stage() == intake_result(f"01_first.ipynb is missing: {LOST}")


def test_a_notebook_that_is_a_folder_is_missing(staging):
    """Intake handles a folder with a notebook's name and any contents."""
    (staging.submission / "01_first.ipynb").unlink()
    (staging.submission / "01_first.ipynb").mkdir()
    (staging.submission / "01_first.ipynb" / "note.txt").write_text("hello", "utf-8")
    intake = staging.stage()
    assert intake.gradable
    assert f"01_first.ipynb is missing: {LOST}" in intake.problems
    assert staging.notebook() == nbformat.reads(FIRST, as_version=4)


def version_3(name):
    """A released notebook in nbformat 3, as saved by an old program."""
    notebook = nbformat.convert(nbformat.reads(NOTEBOOKS[name], as_version=4), 3)
    return nbformat.writes(notebook, version=3)


def test_an_old_notebook_is_converted(staging):
    """A notebook in format 3 is accepted, with its answer."""
    old = version_3("01_first.ipynb").replace("*Write here.*", "My answer.")
    assert "My answer." in old
    (staging.submission / "01_first.ipynb").write_text(old, "utf-8")
    assert staging.stage().problems == ()
    assert staging.notebook().cells[2].source == "My answer."
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_cells_without_ids_are_taken(staging):
    """A notebook in format 4.5 without cell ids, as some programs save it, is accepted."""
    staging.edit(lambda data: [cell.pop("id") for cell in data["cells"]])
    staging.edit(answered)
    assert staging.stage().problems == ()
    assert staging.notebook().cells[2].source == "My answer."


def test_a_notebook_before_cell_ids_is_taken(staging):
    """A notebook in format 4.4, which has no cell ids, is accepted."""

    def edit(data):
        data["nbformat_minor"] = 4
        for cell in data["cells"]:
            del cell["id"]

    staging.edit(edit)
    staging.edit(answered)
    assert staging.stage().problems == ()
    assert staging.notebook().cells[2].source == "My answer."


def test_a_cell_is_put_back_into_a_notebook_before_cell_ids(staging):
    """A released cell with an id is restored into a notebook in format 4.4, which has no ids."""

    def edit(data):
        data["nbformat_minor"] = 4
        del data["cells"][1]
        for cell in data["cells"]:
            del cell["id"]

    staging.edit(edit)
    assert staging.stage() == intake_result(PUT_BACK)
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_text_that_is_not_unicode_is_accepted_or_reported(staging):
    """A lone surrogate in a cell, valid in JSON but not in UTF-8, does not stop the intake."""

    def edit(data):
        data["cells"][2]["source"] = "My answer \ud83d"

    staging.edit(edit)
    assert staging.stage().gradable


def test_a_bad_notebook_says_nothing_on_the_terminal(staging, capfd):
    """Problems are reported by the intake, not by the libraries it uses."""
    staging.edit(lambda data: data["cells"][0].pop("source"))
    [problem] = staging.stage().problems
    assert problem.startswith("01_first.ipynb did not follow the notebook format")
    assert capfd.readouterr() == ("", "")


# ---- Graded cells


PUT_BACK = "01_first.ipynb: the cell check-study99-one was deleted; it was put back at the end"


@pytest.mark.parametrize(("index", "grade_id"), [(1, "check-study99-one"), (2, "answer-why")])
def test_a_deleted_cell_is_put_back(staging, index, grade_id):
    """A deleted check or answer is restored, and the grader is notified."""
    staging.edit(lambda data: data["cells"].pop(index))
    assert staging.stage() == intake_result(PUT_BACK.replace("check-study99-one", grade_id))
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_a_notebook_without_cells_is_filled_up(staging):
    """If all cells were deleted, every graded cell is restored and reported."""
    staging.edit(lambda data: data["cells"].clear())
    assert len(staging.stage().problems) == 2
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize("new_id", [True, False])
def test_a_duplicated_cell_is_reported(staging, new_id):
    """A copied check is reported, whether or not the copy has its own id."""

    def edit(data):
        twin = copy.deepcopy(data["cells"][1])
        twin["id"] = "twin" if new_id else twin["id"]
        data["cells"].append(twin)

    staging.edit(edit)
    assert staging.stage() == intake_result(
        "01_first.ipynb: the cell check-study99-one occurs 2 times; the last one counts"
    )
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]
    assert "nbgrader" in staging.notebook().cells[-1].metadata


ONCE = "*Write here.*"  # the release's text for where the answer belongs


@pytest.mark.parametrize(("sources", "counting", "which"), [
    (("Mine.", ONCE), 0, "the last one with an answer in it"),
    (("Mine.", f" {ONCE}\n", ""), 0, "the last one with an answer in it"),
    (("First.", "Second.", ONCE), 1, "the last one with an answer in it"),
    ((ONCE, "Mine."), 1, "the last one"), (("First.", "Second."), 1, "the last one"),
    ((ONCE, ONCE), 1, "the last one"), ((ONCE, ""), 1, "the last one"),
])  # fmt: skip
def test_of_copied_answers_the_last_written_one_counts(staging, sources, counting, which):
    """A copy that was left unchanged does not replace an answer."""

    def edit(data):
        twins = [
            copy.deepcopy(data["cells"][2]) | {"id": f"twin{number}", "source": source}
            for number, source in enumerate(sources)
        ]
        data["cells"][2:3] = twins

    staging.edit(edit)
    assert staging.stage() == intake_result(
        f"01_first.ipynb: the cell answer-why occurs {len(sources)} times; {which} counts"
    )
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]
    assert ["nbgrader" in cell.metadata for cell in staging.notebook().cells[2:]] == [
        number == counting for number in range(len(sources))
    ]


def test_of_copied_checks_the_last_one_counts(staging):
    """A check contains no answer, so an overwritten one has no priority."""

    def edit(data):
        data["cells"].append(copy.deepcopy(data["cells"][1]) | {"id": "twin"})
        data["cells"][1]["source"] = "1 + 1"

    staging.edit(edit)
    assert staging.stage() == intake_result(
        "01_first.ipynb: the cell check-study99-one occurs 2 times; the last one counts"
    )
    assert "nbgrader" in staging.notebook().cells[-1].metadata


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
def test_tampered_metadata_is_put_right(staging, change, index):
    """Points, locks and other settings come from the release, whatever the submission has."""
    staging.edit(lambda data: data["cells"][index]["metadata"]["nbgrader"].update(change))
    assert staging.stage().problems == ()
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


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
def test_metadata_that_is_none_counts_as_a_deleted_cell(staging, value):
    """A cell whose nbgrader metadata matches no released cell loses it, and the cell is restored."""
    staging.edit(lambda data: data["cells"][1]["metadata"].update(nbgrader=value))
    assert staging.stage() == intake_result(PUT_BACK)
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]
    assert len(staging.notebook().cells) == 4


def test_a_made_up_graded_cell_counts_nothing(staging):
    """A new cell with grading metadata loses it."""
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
    staging.edit(lambda data: data["cells"].append(made_up))
    assert staging.stage().problems == ()
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_a_cell_of_another_notebook_counts_nothing(staging):
    """The second notebook's check does not count as a check in the first notebook."""
    stray = json.loads(SECOND)["cells"][1]
    staging.edit(lambda data: data["cells"].append(stray))
    assert staging.stage().problems == ()
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize("index", [1, 2])
def test_a_graded_cell_of_another_type_is_acceptable_to_nbgrader(staging, index):
    """A check turned into prose or an answer turned into code does not stop the grading."""
    kinds = {"code": new_markdown_cell, "markdown": new_code_cell}

    def edit(data):
        old = data["cells"][index]
        data["cells"][index] = kinds[old["cell_type"]](
            old["source"], id=old["id"], metadata=old["metadata"]
        )

    staging.edit(edit)
    assert staging.stage().gradable
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


@pytest.mark.parametrize(
    "tags", [["skip-execution"], ["raises-exception", "mine"], "text", 7], ids=repr
)
def test_tags_are_taken_off(staging, tags):
    """Tags can prevent a cell from running, so all are removed, and none stops the intake."""

    def edit(data):
        for cell in data["cells"]:
            cell["metadata"]["tags"] = tags

    staging.edit(edit)
    assert staging.stage().gradable
    assert not any("tags" in cell.metadata for cell in staging.notebook().cells)


# ---- Rejected files


@symlinks
@pytest.mark.parametrize("target", ["secret.txt", "secret", "nowhere", "submitted", "/"])
def test_links_are_not_taken(staging, tmp_path, target):
    """A link to a file or folder, inside or outside or circular, is reported and never followed."""
    (tmp_path / "secret").mkdir()
    for path in (tmp_path / "secret.txt", tmp_path / "secret" / "key.txt"):
        path.write_text("secret", "utf-8")
    (staging.submission / "link").symlink_to(tmp_path / target)
    assert staging.stage() == intake_result("link is a link and was ignored: only real files count")
    assert {p.name for p in staging.staged.rglob("*")} == {"module.py", *NOTEBOOKS}


STAFF_PATHS = ["gradebook.db", "source/study99/module.py", "results/study99/bob/submission.json"]


def link_to_staffs(staging, root, name) -> None:
    """Replace the submission's module.py by a hard link to a file of the course."""
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("secret", "utf-8")
    (staging.submission / "module.py").unlink()
    (staging.submission / "module.py").hardlink_to(target)


@pytest.mark.parametrize("name", STAFF_PATHS)
def test_a_hard_link_to_a_file_of_the_course_is_not_taken(staging, tmp_path, name):
    """A hard link to a solution or the gradebook is reported and not read."""
    link_to_staffs(staging, tmp_path, name)
    intake = staging.stage()
    assert intake.problems[0].startswith("module.py is a hard link to a file of the course")
    assert not (staging.staged / "module.py").exists()


def test_without_the_look_at_the_course_a_solution_would_be_taken(staging, tmp_path, monkeypatch):
    """If the course's files are not known, the same link earns the marks of the solution."""
    monkeypatch.setattr(taking, "STAFF_PATHS", ())
    link_to_staffs(staging, tmp_path, STAFF_PATHS[1])
    staging.stage()
    assert (staging.staged / "module.py").read_text("utf-8") == "secret"


def test_a_hard_link_to_an_answer_of_the_kit_is_not_taken(staging, tmp_path, monkeypatch):
    """The answers may be outside the course folder."""
    monkeypatch.setattr(type(STUDY), "staff_folder", tmp_path / "answers" / "study")
    link_to_staffs(staging, tmp_path, "answers/module.py")
    assert (
        staging.stage().problems[0].startswith("module.py is a hard link to a file of the course")
    )


@pytest.mark.parametrize("place", ["backup", "bob"])
def test_a_submission_that_shares_its_files_is_taken(staging, tmp_path, place):
    """A backup by `cp -al` or a classmate's link to a file does not cost any marks."""

    def digest() -> str:
        return taking.fingerprint(list_submission(staging.submission, STUDY, staging.release))

    alone, before = staging.stage(), digest()
    for path in [path for path in staging.submission.rglob("*") if path.is_file()]:
        copy = tmp_path / place / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.hardlink_to(path)
    staging.staged = tmp_path / "again"
    assert staging.stage() == alone
    assert (staging.staged / "module.py").read_text("utf-8") == MODULE
    assert digest() == before


def test_control_characters_in_a_name_are_escaped(staging):
    """Control characters in a file's name are escaped, on one line."""
    (staging.submission / "a\x1b[2J\nb.txt").symlink_to("nowhere")
    (problem,) = staging.stage().problems
    assert problem.isprintable()


@symlinks
def test_a_notebook_that_is_a_link_is_replaced(staging, tmp_path):
    """A link to another student's notebook earns nothing."""
    elsewhere = tmp_path / "elsewhere.ipynb"
    (staging.submission / "01_first.ipynb").rename(elsewhere)
    (staging.submission / "01_first.ipynb").symlink_to(elsewhere)
    assert staging.stage() == intake_result(
        "01_first.ipynb is a link and was ignored: only real files count",
        f"01_first.ipynb is missing: {LOST}",
    )
    assert staging.notebook() == nbformat.reads(FIRST, as_version=4)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["pipe", "module.py", "01_first.ipynb", "timestamp.txt"])
def test_a_named_pipe_does_not_stop_the_intake(staging, name):
    """Named pipes are not opened, because this would wait for ever."""
    (staging.submission / name).unlink(missing_ok=True)
    os.mkfifo(staging.submission / name)
    assert staging.stage().gradable
    assert name in NOTEBOOKS or not (staging.staged / name).exists()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no such sockets")
def test_a_socket_does_not_stop_the_intake(staging, monkeypatch):
    """A socket is not a regular file and is skipped."""
    monkeypatch.chdir(staging.submission)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert staging.stage().gradable
    assert not (staging.staged / "socket").exists()


def grow(path, size=MAX_BYTES + 1):
    """Create a sparse file of this size."""
    with path.open("ab") as file:
        file.truncate(size)


@pytest.mark.parametrize("name", ["data.bin", "module.py"])
def test_a_file_that_is_too_large_is_not_taken(staging, name):
    """A file one byte above the limit is rejected, and the message has the numbers."""
    grow(staging.submission / name)
    problems = staging.stage().problems
    assert problems[0] == (
        f"{name} has 5,000,001 bytes and was ignored: at most 5,000,000 are allowed"
    )
    assert len(problems) == (2 if name == "module.py" else 1)
    assert not (staging.staged / name).exists()


def test_a_file_of_just_the_limit_is_taken(staging):
    """A file of exactly the limit is accepted."""
    grow(staging.submission / "data.bin", MAX_BYTES)
    assert staging.stage() == intake_result()
    assert (staging.staged / "data.bin").stat().st_size == MAX_BYTES


@pytest.mark.parametrize("name", ["01_first.ipynb", "renamed.ipynb"])
@pytest.mark.parametrize("room", ["metadata", "outputs"])
def test_a_notebook_whose_size_is_not_in_its_text_is_taken(staging, name, room):
    """Outputs and metadata do not count towards the limit, and large outputs are removed."""

    def edit(data):
        data["cells"][2]["source"] = "My answer."
        padding = {"padding": "x" * MAX_BYTES}
        if room == "metadata":
            data["metadata"] = padding
        else:
            data["cells"][1]["outputs"] = [
                {"output_type": "display_data", "metadata": padding, "data": {"text/plain": "x"}}
            ]

    staging.edit(edit)
    (staging.submission / "01_first.ipynb").rename(staging.submission / name)
    problems = staging.stage().problems
    assert any("its outputs were dropped" in each for each in problems) == (room == "outputs")
    assert len(problems) == (name != "01_first.ipynb") + (room == "outputs")
    assert staging.notebook().cells[2].source == "My answer."
    assert staging.notebook().cells[1].outputs == []


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (MAX_BYTES, "at most 5,000,000 are allowed without outputs and pictures"),
        (MAX_NOTEBOOK, "bytes and was ignored: at most 20,000,000 are allowed"),
    ],
)
def test_a_notebook_whose_text_is_too_large_is_replaced(staging, size, why):
    """A notebook above the limit is replaced and reported."""
    staging.edit(lambda data: data["cells"][0].update(source="x" * size))
    problems = staging.stage().problems
    assert why in problems[0]
    assert problems[-1].endswith(LOST)
    assert staging.notebook() == nbformat.reads(FIRST, as_version=4)


# ---- Submission times


@pytest.mark.parametrize(
    "text",
    ["2031-02-03 04:05:06 UTC", "2031-02-03 04:05:06.123456 UTC", "2031-02-03T04:05:06+02:00\n"],
)
def test_a_timestamp_is_taken(staging, text):
    """A time in nbgrader's format is passed on to nbgrader."""
    (staging.submission / "timestamp.txt").write_text(text, "utf-8")
    assert staging.stage() == intake_result()
    assert (staging.staged / "timestamp.txt").read_text("utf-8") == text


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
def test_a_timestamp_that_holds_no_time_is_left_out(staging, content):
    """A time that this kit or nbgrader cannot read does not stop the grading."""
    (staging.submission / "timestamp.txt").write_bytes(content)
    (problem,) = staging.stage().problems
    assert problem.startswith("timestamp.txt: ")
    assert problem.endswith("the time of submission is unknown, and there is no late penalty")
    kept = (
        staging.staged / "timestamp.txt"
    )  # a text that nbgrader may have written identifies the submission
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
def test_a_timestamp_is_read_in_the_courses_time_zone(staging, text, zone, known):
    """An abbreviation that nbgrader writes is read in the course's own time zone."""
    (staging.submission / "timestamp.txt").write_text(text, "utf-8")
    intake = stage_submission(
        list_submission(staging.submission, STUDY, staging.release),
        STUDY,
        staging.release,
        staging.staged,
        ZoneInfo(zone),
    )
    assert (not intake.problems) == known
    assert (staging.staged / "timestamp.txt").read_text("utf-8") == text


# ---- Fingerprints


def fingerprint(folder):
    """The digest of a folder's contents."""
    return taking.fingerprint(list_files(folder))


def test_the_fingerprint_stays_while_nothing_changes(staging):
    """Times, modes and the location of the folder do not matter."""
    before = fingerprint(staging.submission)
    os.utime(staging.submission / "module.py", (0, 0))
    (staging.submission / "module.py").chmod(0o444)
    assert fingerprint(staging.submission) == before
    staging.submission = staging.submission.rename(staging.submission.with_name("moved"))
    assert fingerprint(staging.submission) == before


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
def test_the_fingerprint_changes_with_the_submission(staging, edit):
    """Any change of names or contents makes a new submission."""
    before = fingerprint(staging.submission)
    edit(staging.submission)
    assert fingerprint(staging.submission) != before


def test_a_huge_file_is_not_read(staging):
    """For a file that is too large to be accepted, only the size is used."""
    prints = {fingerprint(staging.submission)}
    for size in (1 << 36, 1 << 35):
        grow(staging.submission / "data.bin", size)
        prints.add(fingerprint(staging.submission))
    assert len(prints) == 3


@symlinks
def test_the_fingerprint_distinguishes_links_files_and_folders(staging):
    """A link, an empty file and a folder with the same name are three different submissions."""
    path = staging.submission / "thing"
    prints = {fingerprint(staging.submission)}
    path.touch()
    prints.add(fingerprint(staging.submission))
    path.unlink()
    path.mkdir()
    prints.add(fingerprint(staging.submission))
    path.rmdir()
    path.symlink_to("nowhere")
    prints.add(fingerprint(staging.submission))
    assert len(prints) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")
def test_names_that_are_not_unicode_are_taken(staging):
    """A file name of arbitrary bytes is copied and is part of the fingerprint."""
    before = fingerprint(staging.submission)
    name = os.fsdecode(b"caf\xe9.txt")
    (staging.submission / name).touch()
    assert fingerprint(staging.submission) != before
    assert staging.stage() == intake_result()
    assert (staging.staged / name).exists()


def test_problems_can_be_written_as_text(staging):
    """Reports are UTF-8, so a name of arbitrary bytes is escaped."""
    if sys.platform != "linux":
        pytest.skip("other file systems refuse such names")
    grow(staging.submission / os.fsdecode(b"caf\xe9.txt"))
    [problem] = staging.stage().problems
    assert b"caf" in problem.encode("utf-8")


TREES = st.dictionaries(
    st.sampled_from(["a", "b", "ab", "a b", "é"]), st.binary(max_size=3), max_size=3
)


@settings(max_examples=60, deadline=None)
@given(TREES, TREES)
def test_fingerprints_are_equal_just_for_equal_submissions(one, two):
    """Two folders have the same fingerprint if and only if they contain the same files."""
    with tempfile.TemporaryDirectory() as root:
        prints = []
        for name, tree in (("one", one), ("two", two)):
            folder = Path(root) / name
            folder.mkdir()
            for file, content in tree.items():
                (folder / file).write_bytes(content)
            prints.append(fingerprint(folder))
    assert (prints[0] == prints[1]) == (one == two)


# ---- Arbitrary input


def take_in_bytes(name, content):
    """The problems of a submission that contains this file; the submission is not changed."""
    with tempfile.TemporaryDirectory() as root:
        staging = StagingArea(Path(root))
        (staging.submission / name).write_bytes(content)
        intake = staging.stage()
    assert intake.gradable
    return intake.problems


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
@example(b"")
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_may_be_submitted_as_a_notebook(content):
    """No bytes stop the intake; as they never form a notebook, the problem is reported once."""
    [problem] = take_in_bytes("01_first.ipynb", content)
    assert problem.endswith(LOST)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_may_be_submitted_as_the_module(content):
    """No bytes stop the intake; the module's text is left to the check."""
    assert len(take_in_bytes("module.py", content)) <= 1


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode)))
def test_any_bytes_may_be_submitted_as_the_time(content):
    """No bytes stop the intake; at worst the time is unknown."""
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
    """Intake handles any value at any place of the notebook."""
    data = json.loads(FIRST)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    problems = take_in_bytes("01_first.ipynb", json.dumps(data).encode())
    assert all("01_first.ipynb" in problem for problem in problems)
