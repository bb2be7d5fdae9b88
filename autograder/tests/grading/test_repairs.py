"""Notebooks that break the format, files with other names or in archives, answers in other cells.

Whatever an editor or a student did, the written answer reaches the marker or is named.
"""

import copy
import io
import json
import stat
import warnings
import zipfile

import nbformat
import pytest

from autograder.grading.handed_in import MAX_ALL, MAX_ENTRIES
from autograder.tests.support.intake import (
    FIRST,
    LOST,
    MODULE,
    RELEASED,
    answered,
    checked,
    desk_result,
)

MINE = "My answer."
ENTRY = b"PK\x01\x02\x14\x03\x14\x00"  # how an entry of a zip file's directory begins


# ---- Notebooks that do not follow the format


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
def test_what_the_format_forbids_is_repaired(desk, edit, name):
    """The answer is kept, nbgrader accepts the notebook, and one sentence reports the repair."""
    desk.edit(answered)
    desk.edit(edit)
    (desk.submission / "01_first.ipynb").rename(desk.submission / name)
    problems = desk.take_in().problems
    assert [each for each in problems if "did not follow the notebook format" in each]
    assert not [each for each in problems if LOST in each]
    assert MINE in [cell.source for cell in desk.notebook().cells]
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


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
def test_what_no_cell_needs_is_repaired_without_a_word(desk, edit):
    """Ids, versions and the notebook's own metadata are replaced anyway."""
    desk.edit(answered)
    desk.edit(edit)
    assert desk.take_in() == desk_result()
    assert desk.notebook().cells[2].source == MINE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_another_encoding_is_read_and_reported(desk, encoding):
    """Answers survive an editor that does not write UTF-8."""
    desk.edit(lambda data: data["cells"][2].update(source="Réponse"))
    path = desk.submission / "01_first.ipynb"
    text = json.dumps(json.loads(path.read_text("utf-8")), ensure_ascii=False)
    path.write_bytes(text.encode(encoding))
    [problem] = desk.take_in().problems
    assert "UTF-8" in problem
    assert desk.notebook().cells[2].source == "Réponse"


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
def test_a_damaged_notebook_keeps_the_cells_before_the_damage(desk, spoil, kept):
    """A cut-off file or one with text after its end loses only what is not there."""
    path = desk.submission / "01_first.ipynb"
    data = json.loads(path.read_text("utf-8"))
    answered(data)
    data = {"cells": data["cells"], **data}
    path.write_text(spoil(json.dumps(data, indent=1)), "utf-8")
    problems = desk.take_in().problems
    assert problems[0].startswith(
        ("01_first.ipynb is damaged (line ", "01_first.ipynb has text after its end (line ")
    )
    assert (MINE in [cell.source for cell in desk.notebook().cells]) == kept
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_a_notebook_of_format_3_that_nbformat_cannot_convert_keeps_its_text(desk):
    """Where the conversion fails the sources are taken without outputs."""
    with warnings.catch_warnings(action="ignore"):
        old = nbformat.convert(nbformat.reads(FIRST, as_version=4), 3)
    for cell in old.worksheets[0].cells:
        if cell.cell_type == "markdown" and "Write" in cell.source:
            cell.source = MINE
    old.worksheets[0].cells[1].outputs = [7]
    (desk.submission / "01_first.ipynb").write_text(json.dumps(old), "utf-8")
    assert LOST not in str(desk.take_in().problems)
    assert desk.notebook().cells[2].source == MINE
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


# ---- Other names and places


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
def test_a_module_with_another_name_is_used_and_reported(desk, name):
    """There is only one file that can be meant."""
    (desk.submission / name).parent.mkdir(parents=True, exist_ok=True)
    (desk.submission / "module.py").rename(desk.submission / name)
    if (desk.submission / "module.py").exists():
        pytest.skip("this file system does not distinguish these names")
    assert desk.take_in() == desk_result(
        f"module.py is missing, but {name!r} was found and is used instead"
    )
    assert (desk.staged / "module.py").read_text("utf-8") == MODULE


def test_the_exact_name_counts_and_the_other_one_is_named(desk):
    """A second version is ignored, but not silently; a mere copy is not worth a word."""
    (desk.submission / "module (1).py").write_text("other = 1\n", "utf-8")
    (desk.submission / "module (2).py").write_text(MODULE, "utf-8")
    assert desk.take_in() == desk_result(
        "'module (1).py' was also submitted and was ignored: 'module.py' counts"
    )
    assert (desk.staged / "module.py").read_text("utf-8") == MODULE


def test_of_two_different_copies_none_is_guessed(desk):
    """Both are named, and no module is used."""
    (desk.submission / "module.py").rename(desk.submission / "module (1).py")
    (desk.submission / "module (2).py").write_text("other = 1\n", "utf-8")
    assert desk.take_in() == desk_result(
        "module.py is missing: its checks get no marks; 'module (1).py' and 'module (2).py' "
        "differ, so rename the one that is meant and grade again"
    )
    assert not (desk.staged / "module.py").exists()


def test_a_checkpoint_is_named(desk):
    """What an editor saved by itself is no submission, but somebody may want to look."""
    folder = desk.submission / ".ipynb_checkpoints"
    folder.mkdir()
    (desk.submission / "module.py").rename(folder / "module-checkpoint.py")
    (desk.submission / "01_first.ipynb").rename(folder / "01_first-checkpoint.ipynb")
    assert desk.take_in() == desk_result(
        "module.py is missing: its checks get no marks; "
        "'.ipynb_checkpoints/module-checkpoint.py' holds an earlier version",
        f"01_first.ipynb is missing: {LOST}; "
        "'.ipynb_checkpoints/01_first-checkpoint.ipynb' holds an earlier version",
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
def test_a_notebook_with_another_name_is_used_and_reported(desk, name):
    """A notebook is found by its name or by its cells, in folders as well."""
    desk.edit(answered)
    (desk.submission / name).parent.mkdir(parents=True, exist_ok=True)
    (desk.submission / "01_first.ipynb").rename(desk.submission / name)
    assert desk.take_in() == desk_result(
        f"01_first.ipynb is missing, but {name!r} holds its cells and is used instead"
    )
    assert desk.notebook().cells[2].source == MINE


def test_a_copy_is_used_if_the_original_cannot_be_read(desk):
    """An empty file with the right name does not hide the copy."""
    desk.edit(answered)
    (desk.submission / "01_first.ipynb").rename(desk.submission / "01_first (1).ipynb")
    (desk.submission / "01_first.ipynb").touch()
    assert desk.take_in() == desk_result(
        "01_first.ipynb is not valid JSON (line 1, column 1), but '01_first (1).ipynb' holds its "
        "cells and is used instead"
    )
    assert desk.notebook().cells[2].source == MINE


# ---- Archives


def pack(desk, name="work.zip", inside="", extra=()):
    """Replace the submission by an archive of it, with more members."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(desk.submission.iterdir()):
            archive.write(path, f"{inside}{path.name}")
            path.unlink()
        for member, content in extra:
            archive.writestr(member, content)
    (desk.submission / name).write_bytes(data.getvalue())


@pytest.mark.parametrize("inside", ["", "study99_test/", "a/b c/"])
@pytest.mark.parametrize("name", ["work.zip", "Work.ZIP"])
def test_a_zip_file_is_unpacked(desk, inside, name):
    """Module, notebooks and what the module imports are taken out of it."""
    desk.edit(answered)
    (desk.submission / "helper.py").write_text("x = 1\n", "utf-8")
    pack(desk, name, inside, [("__MACOSX/._module.py", b"\0"), (f"{inside}.hidden/module.py", "")])
    problems = desk.take_in().problems
    assert problems[0] == (
        f"module.py is missing, but '{name}/{inside}module.py' was found and is used instead"
    )
    assert len(problems) == 3
    assert (desk.staged / "module.py").read_text("utf-8") == MODULE
    assert (desk.staged / "helper.py").exists()
    assert desk.notebook().cells[2].source == MINE


def link(name):
    """A member of an archive that is a symbolic link."""
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
def test_odd_members_of_a_zip_file_do_no_harm(desk, member, tmp_path):
    """No name leads out of the staged folder, and no link is made."""
    (desk.submission / "module.py").unlink()
    pack(desk, extra=[member])
    outside = {path for path in tmp_path.rglob("*") if desk.staged not in path.parents}
    assert desk.take_in().gradable
    assert {path for path in tmp_path.rglob("*") if desk.staged not in path.parents} == outside | {
        desk.staged
    }
    assert not [path for path in desk.staged.rglob("*") if path.is_symlink()]


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
def test_a_zip_file_that_cannot_be_unpacked_is_reported(desk, spoil, why):
    """Damaged or encrypted, it is named, and the rest is graded."""
    pack(desk)
    path = desk.submission / "work.zip"
    path.write_bytes(spoil(path.read_bytes()))
    problems = desk.take_in().problems
    assert problems[0].startswith(f"work.zip {why}")
    assert problems[1] == "module.py is missing: its checks get no marks"


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
def test_a_zip_bomb_is_not_unpacked(desk, extra, why):
    """Size and number of what is inside have limits."""
    pack(desk, extra=extra)
    assert why in desk.take_in().problems[0]
    assert not (desk.staged / "module.py").exists()


def test_another_archive_is_named(desk):
    """What cannot be opened here is not passed over in silence."""
    (desk.submission / "module.py").rename(desk.submission / "work.7z")
    assert "work.7z is an archive that is not opened here: only .zip is" in desk.take_in().problems


def test_no_archive_is_opened_if_nothing_is_missing(desk):
    """Data in an archive is a file like any other."""
    (desk.submission / "data.zip").write_bytes(b"not a zip file")
    assert desk.take_in() == desk_result()


# ---- Answers in other cells


def markdown(source, name="mine", **more):
    """A cell of Markdown."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source, **more}


def code(source, name="mine"):
    """A cell of code."""
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def taken(where, cells="cell"):
    """The sentence on an answer that was moved."""
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
def test_an_answer_next_to_its_cell_is_taken(desk, new, place, where, left):
    """An untouched answer cell gets what was written in a new cell right above or below it."""
    if new["source"] == MINE and new["cell_type"] == "code":
        new = new | {"source": "My answer"}  # no Python

    def edit(data):
        data["cells"][2]["source"] = left
        data["cells"].insert(place, copy.deepcopy(new))

    desk.edit(edit)
    assert desk.take_in() == desk_result(taken(where))
    (answer,) = (
        cell
        for cell in desk.notebook().cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-why"
    )
    assert answer.source == new["source"]


def test_several_cells_below_and_their_pictures_are_taken(desk):
    """All new cells up to the next released one belong to the answer."""
    picture = {"a.png": {"image/png": "iVBORw0KGgo="}}
    desk.edit(
        lambda data: data["cells"].extend(
            [markdown("One.", "n1"), markdown("![](attachment:a.png)", "n2", attachments=picture)]
        )
    )
    assert desk.take_in() == desk_result(taken("below", "2 cells"))
    assert desk.notebook().cells[2].source == "One.\n\n![](attachment:a.png)"
    assert desk.notebook().cells[2].attachments == picture


def test_words_added_to_the_question_are_taken(desk):
    """An answer in the released cell above it is found by what was added there."""

    def edit(data):
        (question,) = (cell for cell in data["cells"] if "Read this." in cell["source"])
        data["cells"].insert(1, data["cells"].pop())  # the answer follows the question
        question["source"] = f"Read this.\n\n{MINE}"

    desk.edit(edit)
    assert desk.take_in() == desk_result(taken("above"))
    assert desk.notebook().cells[1].source == MINE


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
def test_code_and_copies_of_the_release_are_no_answer(desk, new):
    """A cell that was added to try something out is not taken for an answer."""
    desk.edit(lambda data: data["cells"].append(new))
    assert desk.take_in() == desk_result()
    assert desk.notebook().cells[2].source == "*Write here.*"


def test_an_answer_that_was_written_stays_alone(desk):
    """Notes next to a written answer are notes."""
    desk.edit(answered)
    desk.edit(lambda data: data["cells"].append(markdown("A note.")))
    assert desk.take_in() == desk_result()
    assert desk.notebook().cells[2].source == MINE


def test_text_elsewhere_is_named(desk):
    """Words that are not next to the answer cell are not taken, but somebody is asked to look."""
    desk.edit(lambda data: data["cells"].insert(0, markdown(MINE)))
    (problem,) = desk.take_in().problems
    assert problem.startswith(
        "01_first.ipynb: answer-why is unchanged, but there is text in 1 "
        "new cell elsewhere in the notebook"
    )
    assert desk.notebook().cells[3].source == "*Write here.*"


def test_an_answer_in_the_place_of_its_cell_is_taken(desk):
    """The answer cell was deleted and a new one written instead."""
    desk.edit(lambda data: data["cells"].__setitem__(2, markdown(MINE)))
    assert desk.take_in().problems[-1] == taken("below")
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]


def test_an_answer_cell_without_metadata_is_known_by_its_id(desk):
    """A tool that drops metadata costs no answer."""
    desk.edit(answered)
    desk.edit(lambda data: [cell.update(metadata={}) for cell in data["cells"][2:]])
    assert desk.take_in() == desk_result()
    assert checked(desk.notebook()) == RELEASED["01_first.ipynb"]
    assert desk.notebook().cells[2].source == MINE


@pytest.mark.parametrize("kind", ["raw", "code"])
def test_an_answer_cell_of_another_type_keeps_its_words(desk, kind):
    """A key press in JupyterLab turns an answer into raw text or code."""
    desk.edit(answered)
    desk.edit(
        lambda data: data["cells"][2].update(
            {"cell_type": kind}
            | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        )
    )
    assert desk.take_in() == desk_result()
    cell = desk.notebook().cells[2]
    assert (cell.cell_type, cell.source) == ("markdown", MINE)
