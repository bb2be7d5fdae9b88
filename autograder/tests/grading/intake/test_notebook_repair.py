"""Invalid notebooks, files with other names or in archives, and answers in other cells.

Whatever an editor or a student did, the written answer reaches the marker or is reported.
"""

import copy
import io
import json
import stat
import warnings
import zipfile

import nbformat
import pytest

from autograder.grading.intake.submission_files import MAX_ALL, MAX_ENTRIES
from autograder.tests.support.courses.intake import (
    FIRST,
    LOST,
    MODULE,
    RELEASED,
    answered,
    checked,
    intake_result,
)

MINE = "My answer."
ENTRY = b"PK\x01\x02\x14\x03\x14\x00"  # the start of an entry in a zip file's directory


# ---- Notebooks that violate the format


def outputs(*found):
    """An edit that gives the check these outputs."""
    return lambda data: data["cells"][1].update(outputs=list(found))


def everywhere(**values):
    """An edit that sets the same keys in each cell."""
    return lambda data: [cell.update(copy.deepcopy(values)) for cell in data["cells"]]


REPAIRS = {
    "outputs of Markdown": lambda d: d["cells"][2].update(execution_count=None, outputs=[]),
    "transient": outputs(
        {
            "output_type": "display_data",
            "data": {"text/plain": "x"},
            "metadata": {},
            "transient": {"display_id": "1"},
        }
    ),
    "no execution counts": lambda d: d["cells"][1].pop("execution_count"),
    "no outputs": lambda d: d["cells"][1].pop("outputs"),
    "no metadata": lambda d: d["cells"][0].pop("metadata"),
    "null metadata": lambda d: d["cells"][0].update(metadata=None),
    "null outputs": lambda d: d["cells"][1].update(outputs=None),
    "stream without a name": outputs({"output_type": "stream", "text": "hello"}),
    "error without a traceback": outputs({"output_type": "error", "ename": "X", "evalue": "y"}),
    "output without a type": outputs({"data": {}}),
    "output of no kind": outputs(None, 7, "x"),
    "output of format 3": outputs({"output_type": "pyout", "text": ["1"]}),
    "count as text": lambda d: d["cells"][1].update(execution_count="3"),
    "attachments of code": lambda d: d["cells"][1].update(attachments={}),
    "broken attachments": lambda d: d["cells"][2].update(attachments=[1]),
    "invalid ids": lambda d: [c.update(id=f"cell.{n}") for n, c in enumerate(d["cells"])],
    "empty ids": everywhere(id=""),
    "long ids": everywhere(id="x" * 65),
    "number ids": everywhere(id=7.5),
    "unknown keys": everywhere(block_group="1", deepnote={"a": 1}),
    "odd tags and names": lambda d: d["cells"][2]["metadata"].update(tags="x", name=3, jupyter=1),
    "null source": lambda d: d["cells"][0].update(source=None),
    "source as numbers": lambda d: d["cells"][0].update(source=[1, None, "x"]),
    "cell type": lambda d: d["cells"][2].update(cell_type="Markdown"),
    "other cell type": lambda d: d["cells"][2].update(cell_type="text"),
    "SQL cell": lambda d: d["cells"][0].update(cell_type="sql"),
    "cell that is none": lambda d: d["cells"].insert(0, None),
}


@pytest.mark.parametrize("edit", REPAIRS.values(), ids=REPAIRS)
@pytest.mark.parametrize("name", ["01_first.ipynb", "mine.ipynb"])
def test_what_the_format_forbids_is_repaired(staging, edit, name):
    """The answer is kept, nbgrader accepts the notebook, and one sentence reports the repair."""
    staging.edit(answered)
    staging.edit(edit)
    (staging.submission / "01_first.ipynb").rename(staging.submission / name)
    problems = staging.stage().problems
    assert [each for each in problems if "did not follow the notebook format" in each]
    assert not [each for each in problems if LOST in each]
    assert MINE in [cell.source for cell in staging.notebook().cells]
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


SILENT = {
    "twin ids": everywhere(id="twin"),
    "null ids": everywhere(id=None),
    "minor too high": lambda d: d.update(nbformat_minor=9),
    "minor as text": lambda d: d.update(nbformat_minor="5"),
    "format too high": lambda d: d.update(nbformat=5),
    "no format": lambda d: (d.pop("nbformat"), d.pop("nbformat_minor")),
    "no metadata": lambda d: d.pop("metadata"),
    "metadata as text": lambda d: d.update(metadata=""),
    "keys of the notebook": lambda d: d.update(deepnote={}, application="x"),
    "not a number": lambda d: d["metadata"].update(score=float("nan")),
}


@pytest.mark.parametrize("edit", SILENT.values(), ids=SILENT)
def test_what_no_cell_needs_is_repaired_without_a_word(staging, edit):
    """Ids, versions and the notebook's own metadata are replaced in any case."""
    staging.edit(answered)
    staging.edit(edit)
    assert staging.stage() == intake_result()
    assert staging.notebook().cells[2].source == MINE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_another_encoding_is_read_and_reported(staging, encoding):
    """Answers survive an editor that does not write UTF-8."""
    staging.edit(lambda data: data["cells"][2].update(source="Réponse"))
    path = staging.submission / "01_first.ipynb"
    text = json.dumps(json.loads(path.read_text("utf-8")), ensure_ascii=False)
    path.write_bytes(text.encode(encoding))
    [problem] = staging.stage().problems
    assert "UTF-8" in problem
    assert staging.notebook().cells[2].source == "Réponse"


@pytest.mark.parametrize(
    ("spoil", "kept"),
    [
        (lambda text: text + "\n}garbage", True),
        (lambda text: text + text, True),
        (lambda text: text[: text.index("My answer.") + 4], False),
        (lambda text: text[:-5], True),
        (lambda text: text[:-30], True),
        (lambda text: text.replace('"nbformat"', "<<<<<<< HEAD"), True),
    ],
)
def test_a_damaged_notebook_keeps_the_cells_before_the_damage(staging, spoil, kept):
    """A truncated file, or one with text after its end, loses only the damaged part."""
    path = staging.submission / "01_first.ipynb"
    data = json.loads(path.read_text("utf-8"))
    answered(data)
    data = {"cells": data["cells"], **data}
    path.write_text(spoil(json.dumps(data, indent=1)), "utf-8")
    problems = staging.stage().problems
    assert problems[0].startswith(
        ("01_first.ipynb is damaged (line ", "01_first.ipynb has text after its end (line ")
    )
    assert (MINE in [cell.source for cell in staging.notebook().cells]) == kept
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_a_notebook_of_format_3_that_nbformat_cannot_convert_keeps_its_text(staging):
    """If the conversion fails, the sources are used without outputs."""
    with warnings.catch_warnings(action="ignore"):
        old = nbformat.convert(nbformat.reads(FIRST, as_version=4), 3)
    for cell in old.worksheets[0].cells:
        if cell.cell_type == "markdown" and "Write" in cell.source:
            cell.source = MINE
    old.worksheets[0].cells[1].outputs = [7]
    (staging.submission / "01_first.ipynb").write_text(json.dumps(old), "utf-8")
    assert LOST not in str(staging.stage().problems)
    assert staging.notebook().cells[2].source == MINE
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


# ---- Other names and locations


@pytest.mark.parametrize(
    "name",
    [
        "module (1).py",
        "Module.py",
        "module.PY",
        "module.py.txt",
        "MODULE.py.txt",
        "module-Copy1.py",
        "module copy.py",
        "module - Kopie.py",
        "module - Copy (2).py",
        "study99/module.py",
        "a/b/module.py",
        "study99_test/module (2).py",
    ],
)
def test_a_module_with_another_name_is_used_and_reported(staging, name):
    """Only one file can be meant."""
    (staging.submission / name).parent.mkdir(parents=True, exist_ok=True)
    (staging.submission / "module.py").rename(staging.submission / name)
    if (staging.submission / "module.py").exists():
        pytest.skip("this file system does not distinguish these names")
    assert staging.stage() == intake_result(
        f"module.py is missing, but {name!r} was found and is used instead"
    )
    assert (staging.staged / "module.py").read_text("utf-8") == MODULE


def test_the_exact_name_counts_and_the_other_one_is_named(staging):
    """A second version is ignored with a message; an identical copy needs none."""
    (staging.submission / "module (1).py").write_text("other = 1\n", "utf-8")
    (staging.submission / "module (2).py").write_text(MODULE, "utf-8")
    assert staging.stage() == intake_result(
        "'module (1).py' was also submitted and was ignored: 'module.py' counts"
    )
    assert (staging.staged / "module.py").read_text("utf-8") == MODULE


def test_of_two_different_copies_none_is_guessed(staging):
    """Both are reported, and no module is used."""
    (staging.submission / "module.py").rename(staging.submission / "module (1).py")
    (staging.submission / "module (2).py").write_text("other = 1\n", "utf-8")
    assert staging.stage() == intake_result(
        "module.py is missing: its checks earn no points; 'module (1).py' and 'module (2).py' "
        "differ, so rename the one that is meant and grade again"
    )
    assert not (staging.staged / "module.py").exists()


def test_a_checkpoint_is_named(staging):
    """An editor's checkpoint is not a submission, but the instructor may want to read it."""
    folder = staging.submission / ".ipynb_checkpoints"
    folder.mkdir()
    (staging.submission / "module.py").rename(folder / "module-checkpoint.py")
    (staging.submission / "01_first.ipynb").rename(folder / "01_first-checkpoint.ipynb")
    assert staging.stage() == intake_result(
        "module.py is missing: its checks earn no points; "
        "'.ipynb_checkpoints/module-checkpoint.py' contains an earlier version",
        f"01_first.ipynb is missing: {LOST}; "
        "'.ipynb_checkpoints/01_first-checkpoint.ipynb' contains an earlier version",
    )


@pytest.mark.parametrize(
    "name",
    [
        "01_first (1).ipynb",
        "01_first(1).ipynb",
        "01_first-Copy1.ipynb",
        "01_First.ipynb",
        "01_first.IPYNB",
        "01_first.ipynb.txt",
        "01_first.ipynb.json",
        "deep/01_first.ipynb",
        "a/b/other.ipynb",
    ],
)
def test_a_notebook_with_another_name_is_used_and_reported(staging, name):
    """A notebook is found by its name or its cells, also in subfolders."""
    staging.edit(answered)
    (staging.submission / name).parent.mkdir(parents=True, exist_ok=True)
    (staging.submission / "01_first.ipynb").rename(staging.submission / name)
    assert staging.stage() == intake_result(
        f"01_first.ipynb is missing, but {name!r} contains its cells and is used instead"
    )
    assert staging.notebook().cells[2].source == MINE


def test_a_copy_is_used_if_the_original_cannot_be_read(staging):
    """An empty file with the correct name does not hide the copy."""
    staging.edit(answered)
    (staging.submission / "01_first.ipynb").rename(staging.submission / "01_first (1).ipynb")
    (staging.submission / "01_first.ipynb").touch()
    assert staging.stage() == intake_result(
        "01_first.ipynb is not valid JSON (line 1, column 1), but '01_first (1).ipynb' contains its "
        "cells and is used instead"
    )
    assert staging.notebook().cells[2].source == MINE


# ---- Archives


def pack(staging, name="work.zip", inside="", extra=()):
    """Replace the submission by an archive that contains it and additional members."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(staging.submission.iterdir()):
            archive.write(path, f"{inside}{path.name}")
            path.unlink()
        for member, content in extra:
            archive.writestr(member, content)
    (staging.submission / name).write_bytes(data.getvalue())


@pytest.mark.parametrize("inside", ["", "study99_test/", "a/b c/"])
@pytest.mark.parametrize("name", ["work.zip", "Work.ZIP"])
def test_a_zip_file_is_unpacked(staging, inside, name):
    """The module, the notebooks and the modules that it imports are extracted."""
    staging.edit(answered)
    (staging.submission / "helper.py").write_text("x = 1\n", "utf-8")
    pack(
        staging, name, inside, [("__MACOSX/._module.py", b"\0"), (f"{inside}.hidden/module.py", "")]
    )
    problems = staging.stage().problems
    assert problems[0] == (
        f"module.py is missing, but '{name}/{inside}module.py' was found and is used instead"
    )
    assert len(problems) == 3
    assert (staging.staged / "module.py").read_text("utf-8") == MODULE
    assert (staging.staged / "helper.py").exists()
    assert staging.notebook().cells[2].source == MINE


def link(name):
    """An archive member that is a symbolic link."""
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return member, "/etc/passwd"


@pytest.mark.parametrize(
    "member",
    [
        ("../module.py", "evil = 1"),
        ("/module.py", "evil = 1"),
        ("a/../../module.py", "evil = 1"),
        ("C:/module.py", "evil = 1"),
        ("..\\module.py", "evil = 1"),
        link("module.py"),
        link("a/module.py"),
        ("inner.zip", b"PK"),
        ("module.py/", ""),
        ("a" * 600 + "/module.py", ""),
    ],
    ids=lambda member: str(member)[:30],
)
def test_odd_members_of_a_zip_file_do_no_harm(staging, member, tmp_path):
    """No name escapes from the staged folder, and no link is created."""
    (staging.submission / "module.py").unlink()
    pack(staging, extra=[member])
    outside = {path for path in tmp_path.rglob("*") if staging.staged not in path.parents}
    assert staging.stage().gradable
    assert {
        path for path in tmp_path.rglob("*") if staging.staged not in path.parents
    } == outside | {staging.staged}
    assert not [path for path in staging.staged.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda data: data[:50], "cannot be unpacked ("),
        (lambda data: b"", "cannot be unpacked ("),
        (
            lambda data: data.replace(ENTRY + b"\x00", ENTRY + b"\x01"),  # its flag
            "is encrypted and was not unpacked",
        ),
    ],
)
def test_a_zip_file_that_cannot_be_unpacked_is_reported(staging, spoil, why):
    """A damaged or encrypted archive is reported, and the rest is graded."""
    pack(staging)
    path = staging.submission / "work.zip"
    path.write_bytes(spoil(path.read_bytes()))
    problems = staging.stage().problems
    assert problems[0].startswith(f"work.zip {why}")
    assert problems[1] == "module.py is missing: its checks earn no points"


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        (
            [(f"{number}.ipynb", bytes(9_000_000)) for number in range(3)],
            f"more than {MAX_ALL:,} bytes",
        ),
        (
            [(f"{number}.txt", "") for number in range(MAX_ENTRIES)],
            f"more than {MAX_ENTRIES:,} files",
        ),
    ],
)
def test_a_zip_bomb_is_not_unpacked(staging, extra, why):
    """Total size and number of members are limited."""
    pack(staging, extra=extra)
    assert why in staging.stage().problems[0]
    assert not (staging.staged / "module.py").exists()


def test_another_archive_is_named(staging):
    """An archive in another format is reported."""
    (staging.submission / "module.py").rename(staging.submission / "work.7z")
    assert "work.7z is an archive that is not opened here: only .zip is" in staging.stage().problems


def test_no_archive_is_opened_if_nothing_is_missing(staging):
    """If the submission is complete, an archive is treated as an ordinary file."""
    (staging.submission / "data.zip").write_bytes(b"not a zip file")
    assert staging.stage() == intake_result()


# ---- Answers in other cells


def markdown(source, name="mine", **more):
    """A Markdown cell."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source, **more}


def code(source, name="mine"):
    """A code cell."""
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def taken(where, cells="cell"):
    """The message about an answer that was moved."""
    return (
        f"01_first.ipynb: answer-why is unchanged, so the text in the {cells} {where} it was "
        "taken as the answer"
    )


@pytest.mark.parametrize(
    "new",
    [
        markdown(MINE),
        markdown(MINE) | {"cell_type": "raw"},
        code(f"# {MINE}"),
        code(MINE),
        code("Ten is a lot, isn't it? " + MINE),
        markdown(MINE, metadata={"nbgrader": None}),
    ],
    ids=["markdown", "raw", "comment", "name", "prose", "metadata"],
)
@pytest.mark.parametrize(("place", "where"), [(3, "below"), (2, "above")])
@pytest.mark.parametrize("left", ["*Write here.*", "", " *Write here.*\n"])
def test_an_answer_next_to_its_cell_is_taken(staging, new, place, where, left):
    """An untouched answer cell receives the text of a new cell directly above or below it."""
    if new["source"] == MINE and new["cell_type"] == "code":
        new = new | {"source": "My answer"}  # no Python

    def edit(data):
        data["cells"][2]["source"] = left
        data["cells"].insert(place, copy.deepcopy(new))

    staging.edit(edit)
    assert staging.stage() == intake_result(taken(where))
    (answer,) = (
        cell
        for cell in staging.notebook().cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-why"
    )
    assert answer.source == new["source"]


def test_several_cells_below_and_their_pictures_are_taken(staging):
    """All new cells up to the next released one belong to the answer."""
    picture = {"a.png": {"image/png": "iVBORw0KGgo="}}
    staging.edit(
        lambda data: data["cells"].extend(
            [markdown("One.", "n1"), markdown("![](attachment:a.png)", "n2", attachments=picture)]
        )
    )
    assert staging.stage() == intake_result(taken("below", "2 cells"))
    assert staging.notebook().cells[2].source == "One.\n\n![](attachment:a.png)"
    assert staging.notebook().cells[2].attachments == picture


def test_words_added_to_the_question_are_taken(staging):
    """Text added to the released cell above is recognised as the answer."""

    def edit(data):
        (question,) = (cell for cell in data["cells"] if "Read this." in cell["source"])
        data["cells"].insert(1, data["cells"].pop())  # the answer follows the question
        question["source"] = f"Read this.\n\n{MINE}"

    staging.edit(edit)
    assert staging.stage() == intake_result(taken("above"))
    assert staging.notebook().cells[1].source == MINE


@pytest.mark.parametrize(
    "new",
    [
        code("x = 1"),
        code("print('hello')"),
        code("%matplotlib inline"),
        markdown(""),
        markdown("Read this."),
        code("1 + 1"),
    ],
)
def test_code_and_copies_of_the_release_are_no_answer(staging, new):
    """A cell added to try something out does not count as an answer."""
    staging.edit(lambda data: data["cells"].append(new))
    assert staging.stage() == intake_result()
    assert staging.notebook().cells[2].source == "*Write here.*"


def test_an_answer_that_was_written_stays_alone(staging):
    """Notes next to a written answer remain notes."""
    staging.edit(answered)
    staging.edit(lambda data: data["cells"].append(markdown("A note.")))
    assert staging.stage() == intake_result()
    assert staging.notebook().cells[2].source == MINE


def test_text_elsewhere_is_named(staging):
    """Text that is not adjacent to the answer cell is not moved, but it is reported for review."""
    staging.edit(lambda data: data["cells"].insert(0, markdown(MINE)))
    (problem,) = staging.stage().problems
    assert problem.startswith(
        "01_first.ipynb: answer-why is unchanged, but there is text in 1 "
        "new cell elsewhere in the notebook"
    )
    assert staging.notebook().cells[3].source == "*Write here.*"


def test_an_answer_in_the_place_of_its_cell_is_taken(staging):
    """The answer cell was deleted, and a new cell was written instead."""
    staging.edit(lambda data: data["cells"].__setitem__(2, markdown(MINE)))
    assert staging.stage().problems[-1] == taken("below")
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]


def test_an_answer_cell_without_metadata_is_known_by_its_id(staging):
    """A tool that drops metadata does not lose an answer."""
    staging.edit(answered)
    staging.edit(lambda data: [cell.update(metadata={}) for cell in data["cells"][2:]])
    assert staging.stage() == intake_result()
    assert checked(staging.notebook()) == RELEASED["01_first.ipynb"]
    assert staging.notebook().cells[2].source == MINE


@pytest.mark.parametrize("kind", ["raw", "code"])
def test_an_answer_cell_of_another_type_keeps_its_words(staging, kind):
    """A key press in JupyterLab turns an answer into raw text or code."""
    staging.edit(answered)
    staging.edit(
        lambda data: data["cells"][2].update(
            {"cell_type": kind}
            | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        )
    )
    assert staging.stage() == intake_result()
    cell = staging.notebook().cells[2]
    assert (cell.cell_type, cell.source) == ("markdown", MINE)
