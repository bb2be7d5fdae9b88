"""Notebooks from text: grading metadata, stable ids, and inconsistent cells."""

import json
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import compute_checksum

from autograder.release.notebooks import (
    NotebookError,
    answer_id,
    build_notebook,
    check_id,
    is_folded,
    notebook_number,
    notebook_texts,
    require_graded_cells,
    unprotect,
)
from course.checks import Check, Study

COUNT = Check("study99", "count_it", "search", {}, {"move": 1.5, "nodes": 2}, False, [])
BONUS = Check("study99", "bonus", "search", {}, {"move": 4}, True, [])
STUDY = Study(
    "study99",
    "Study 99",
    "study99_test",
    "module.py",
    {"count_it": COUNT, "bonus": BONUS},
    {"why": 3, "how": 0.5},
    Path("nowhere"),
)
TEXT = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Another kernel
#     language: python
#     name: another
# ---

# %% [markdown]
# # A title

# %%
1 + 1

# %%
# run this when the module is saved
check("study99.count_it")

# %%
check('study99.bonus')

# %% [markdown] answer="why"
# *Why?* Because.

# %% [markdown] answer="how"
# How?

# %% tags=["hide"]
%matplotlib inline

# %%
1 + 1
"""


def built(text=TEXT, name="01_test"):
    """The notebook built from a text, read again."""
    return nbformat.reads(build_notebook(text, name, STUDY), as_version=4)


def graded(notebook):
    """The nbgrader metadata of a notebook's cells, by grade id."""
    return {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    }


def with_cells(*sources):
    """The text of a notebook with these code cells."""
    return "".join(f"# %%\n{source}\n\n" for source in sources)


# ---- Metadata


def test_a_check_cell_is_an_autograded_test():
    """A check is locked and has the points of all its aspects."""
    cell = graded(built())["check-study99-count-it"]
    assert cell == {
        "cell_type": "code",
        "checksum": cell.checksum,
        "grade": True,
        "grade_id": "check-study99-count-it",
        "locked": True,
        "points": 3.5,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }


def test_extra_credit_has_no_points_of_its_own():
    """A check for extra credit is a graded cell with 0 points, so that the maximum stays."""
    cell = graded(built())["check-study99-bonus"]
    assert (cell.points, cell.grade, cell.locked) == (0, True, True)


def test_a_written_answer_is_graded_by_people():
    """A markdown cell with `answer=` is a manually graded solution with its points."""
    cells = graded(built())
    assert cells["answer-why"] == {
        "cell_type": "markdown",
        "checksum": cells["answer-why"].checksum,
        "grade": True,
        "grade_id": answer_id("why"),
        "locked": False,
        "points": 3,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    assert cells["answer-how"].points == 0.5


def test_other_cells_keep_only_their_tags():
    """Cell options from the text do not get into the notebook, except tags."""
    metadata = [cell.metadata for cell in built().cells if "nbgrader" not in cell.metadata]
    assert metadata == [{}, {}, {"tags": ["hide"]}, {}]


def test_an_instructors_own_test_keeps_its_metadata():
    """It is protected and has a checksum, like a check."""
    own = {
        "grade": True,
        "grade_id": "own",
        "locked": True,
        "points": 2,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    cell = built(TEXT + f"\n# %% nbgrader={json.dumps(own)}\nassert 1 + 1 == 2\n").cells[-1]
    assert (cell.metadata.deletable, cell.metadata.editable) == (False, False)
    assert cell.metadata.nbgrader.items() > own.items()
    assert cell.metadata.nbgrader.checksum


def test_graded_cells_are_protected():
    """Graded cells cannot be deleted; a check is read-only and an answer is not; other cells are
    free. `unprotect` makes the instructor's copy editable.
    """
    notebook = built()
    checks = [cell for cell in notebook.cells if check_id(cell)]
    answers = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    assert len(checks) == len(answers) == 2
    for cell in checks + answers:
        assert cell.metadata.deletable is False
        assert cell.metadata.nbgrader.checksum == compute_checksum(cell)
        assert cell.metadata.nbgrader.cell_type == cell.cell_type
    assert {cell.metadata.get("editable", True) for cell in checks} == {False}
    assert {cell.metadata.get("editable", True) for cell in answers} == {True}
    unprotect(notebook)
    assert {*chain(*(cell.metadata for cell in notebook.cells))} == {"nbgrader", "tags"}
    assert not {"checksum", "cell_type"} & {*chain(*graded(notebook).values())}


def test_a_check_cell_cannot_be_tagged():
    """A tag such as skip-execution is removed from a graded cell."""
    text = with_cells("") + '# %% tags=["skip-execution"]\ncheck("study99.count_it")\n'
    assert set(built(text).cells[-1].metadata) == {"deletable", "editable", "nbgrader"}


def test_the_source_of_a_tagged_cell_is_folded():
    """JupyterLab's metadata is used; only code can be folded."""
    code, text = (
        built(with_cells("") + f'# %% {kind}tags=["hide-input"]\n# words\n').cells[-1]
        for kind in ("", "[markdown] ")
    )
    assert code.metadata == {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}
    assert is_folded(code)
    assert text.metadata == {"tags": ["hide-input"]}
    assert not is_folded(text)


@pytest.mark.parametrize(
    "source",
    [
        'check("study99.count_it")',
        "check('study99.count_it')",
        '\n\ncheck("study99.count_it")\n\n',
        '# a comment\ncheck("study99.count_it")',
        '# one\n# two\n\ncheck("study99.count_it")',
        "# This cell (id:check-study99-count-it) was missing from the submission. "
        'It was added back by nbgrader.\n\ncheck("study99.count_it")',
    ],
)
def test_a_cell_that_only_checks_is_recognized(source):
    """Comments above the call are allowed, and so is nbgrader's text in restored cells."""
    assert check_id(new_code_cell(source)) == "study99.count_it"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "1 + 1",
        'x = check("study99.count_it")',
        'check("study99.count_it"); print(1)',
        'print(1)\ncheck("study99.count_it")',
        'check("study99.count_it")\nprint(1)',
        '# check("study99.count_it")',
        'recheck("study99.count_it")',
        "check(name)",
        'check("study99.count_it") or 1',
        'check("study99.count_it")\ncheck("study99.bonus")',
        '"""\ncheck("study99.count_it")\n"""',
        "check(\"study99.count_it')",
    ],
)
def test_a_cell_that_does_more_is_no_check(source):
    """Any other content makes it an ordinary cell."""
    assert check_id(new_code_cell(source)) is None


def test_a_check_in_prose_is_no_check():
    """A Markdown cell that mentions a check is not graded."""
    assert check_id(new_markdown_cell('check("study99.count_it")')) is None


def test_nbgrader_accepts_the_metadata():
    """nbgrader's own validator reports no problems."""
    notebook = built()
    assert len(graded(notebook)) == 4
    MetadataValidator().validate_nb(notebook)


# ---- The file


def test_the_notebook_is_valid_and_bare():
    """It has format 4.5 with a plain kernel and one id per cell, without outputs and execution
    counts.
    """
    notebook = built()
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata == {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [(c.outputs, c.execution_count) for c in code] == [([], None)] * len(code)


def test_the_text_becomes_the_cells():
    """Prose loses its comment signs, and magics become magics."""
    notebook = built()
    assert [cell.cell_type for cell in notebook.cells] == [
        "markdown",
        "code",
        "code",
        "code",
        "markdown",
        "markdown",
        "code",
        "code",
    ]
    assert notebook.cells[0].source == "# A title"
    assert notebook.cells[6].source == "%matplotlib inline"


def test_the_file_ends_with_one_line_end():
    """The text ends with a newline."""
    text = build_notebook(TEXT, "01_test", STUDY)
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


def test_the_same_text_gives_the_same_bytes():
    """Building is reproducible, because files are compared byte for byte."""
    assert build_notebook(TEXT, "01_test", STUDY) == build_notebook(TEXT, "01_test", STUDY)


def test_notebook_texts_come_in_order(tmp_path):
    """Only numbered texts are notebooks, ordered by number."""
    names = ("10b_a.py", "10_b.py", "02_a.py", "module.py", "02_a.ipynb", "1_x.py", "11.py")
    for name in (*names, "__init__.py"):
        (tmp_path / name).touch()
    paths = notebook_texts(tmp_path)
    assert [path.name for path in paths] == ["02_a.py", "10_b.py", "10b_a.py"]
    assert [notebook_number(path.stem) for path in paths] == ["2", "10", "10b"]
    assert notebook_number("module") == ""


# ---- Ids


def ids(*sources):
    """The ids of a notebook with these code cells."""
    return [cell.id for cell in built(with_cells(*sources)).cells]


def test_equal_cells_get_different_ids():
    """A cell that occurs three times has three ids."""
    assert len(set(ids("1 + 1", "2", "1 + 1", "1 + 1"))) == 4


def test_the_same_cell_in_another_notebook_gets_another_id():
    """Ids do not repeat across the notebooks of a study."""
    assert not {c.id for c in built(name="01_a").cells} & {c.id for c in built(name="02_b").cells}


def test_code_and_prose_of_the_same_text_differ():
    """A Markdown cell and a code cell with the same source get different ids."""
    notebook = built("# %% [markdown]\n# x\n\n# %%\nx\n")
    assert [cell.source for cell in notebook.cells] == ["x", "x"]
    assert notebook.cells[0].id != notebook.cells[1].id


SOURCES = st.lists(
    st.from_regex(r"[a-z]{1,3} = [0-9]{1,3}", fullmatch=True), unique=True, min_size=2, max_size=6
)


@settings(max_examples=40, deadline=None)
@given(SOURCES, st.data())
def test_editing_a_cell_changes_only_its_own_id(sources, data):
    """In a diff, an edited cell is one changed cell, and a new cell changes no ids."""
    before = ids(*sources)
    place = data.draw(st.integers(0, len(sources) - 1))
    edited = sources.copy()
    edited[place] += "  # edited"
    after = ids(*edited)
    assert [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b] == [place]
    longer = ids(*sources[:place], "new = 'cell'", *sources[place:])
    assert longer[:place] + longer[place + 1 :] == before


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["a = 1", "b = 2", "c = 3"]), min_size=1, max_size=8))
def test_ids_are_unique_and_valid(sources):
    """Repeated cells have different ids, which nbformat accepts."""
    notebook = built(with_cells(*sources))
    nbformat.validate(notebook)
    assert len({cell.id for cell in notebook.cells}) == len(sources)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["a = 1", "b = 2"]), min_size=2, max_size=5), st.data())
def test_editing_another_cell_never_changes_the_id_of_a_repeated_one(sources, data):
    """The ids of equal cells count from the top, so cells with other texts do not matter."""
    place = data.draw(st.integers(0, len(sources)))
    before = ids(*sources[:place], "only = 0", *sources[place:])
    after = ids(*sources[:place], "edited = 1", *sources[place:])
    assert before[:place] + before[place + 1 :] == after[:place] + after[place + 1 :]


# ---- Inconsistent cells


@pytest.mark.parametrize("name", ["study99.other", "study1.count_it", "count_it", "study99."])
def test_an_unknown_check_is_refused(name):
    """A check that is not in the study's table is an error that names both."""
    with pytest.raises(NotebookError, match=rf"01_test: study99\.toml has no check {name}$"):
        build_notebook(with_cells(f'check("{name}")'), "01_test", STUDY)


def test_an_unknown_answer_is_refused():
    """A written answer without points is an error that names it."""
    with pytest.raises(NotebookError, match=r"01_test: study99\.toml has no points .* whence"):
        build_notebook('# %% [markdown] answer="whence"\n# Text\n', "01_test", STUDY)


def test_a_written_answer_in_a_code_cell_is_refused():
    """Prose is marked manually, so `answer=` on a code cell is an author's mistake."""
    with pytest.raises(NotebookError):
        build_notebook('# %% answer="why"\n1 + 1\n', "01_test", STUDY)


def test_graded_cells_may_stand_in_several_notebooks():
    """Each check and answer may be in any notebook, once."""
    half = TEXT.index("# %% [markdown] answer")
    require_graded_cells([built(TEXT[:half]), built(TEXT[half:], "02_test")], STUDY)
    require_graded_cells([built()], STUDY)


@pytest.mark.parametrize(
    ("missing", "grade_id"),
    [
        (
            '# run this when the module is saved\ncheck("study99.count_it")',
            "check-study99-count-it",
        ),
        ("check('study99.bonus')", "check-study99-bonus"),
        ('# %% [markdown] answer="how"\n# How?', "answer-how"),
    ],
)
def test_a_missing_graded_cell_is_refused(missing, grade_id):
    """A check or an answer that is in no notebook is an error, including extra credit."""
    assert missing in TEXT
    with pytest.raises(NotebookError, match=rf"study99_test: the cell {grade_id} occurs 0 times"):
        require_graded_cells([built(TEXT.replace(missing, ""))], STUDY)


@pytest.mark.parametrize(
    "again", ['# %%\ncheck("study99.count_it")\n', '# %% [markdown] answer="why"\n# Again\n']
)
@pytest.mark.parametrize("same_notebook", [True, False])
def test_a_doubled_graded_cell_is_refused(again, same_notebook):
    """A check or an answer that occurs twice, in one notebook or in two, is an error."""
    notebooks = [built(f"{TEXT}\n{again}")] if same_notebook else [built(), built(again, "02_test")]
    with pytest.raises(NotebookError, match="occurs 2 times in the notebooks, but must occur once"):
        require_graded_cells(notebooks, STUDY)


def test_no_notebook_at_all_is_refused():
    """A study without notebooks lacks all its graded cells."""
    with pytest.raises(NotebookError, match="occurs 0 times"):
        require_graded_cells([], STUDY)
