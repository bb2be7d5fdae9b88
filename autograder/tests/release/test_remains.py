"""A student version contains no remains of a solution in pictures, metadata or files."""

import base64

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from autograder.course_folder import CourseFolder, run_quietly
from autograder.release.notebooks import NotebookError
from autograder.release.remains import clear_remains

PICTURE = {"image/png": base64.b64encode(b"a picture").decode()}


def marked(source, name, *, kind="markdown", solution=True, grade=True, task=False, **more):
    """A cell with nbgrader's metadata; `more` is further metadata."""
    make = new_code_cell if kind == "code" else new_markdown_cell
    own = {
        "grade_id": name,
        "schema_version": 3,
        "grade": grade,
        "solution": solution,
        "locked": not solution,
        "task": task,
    }
    return make(
        source, metadata={"nbgrader": own | ({"points": 3} if grade or task else {})} | more
    )


def attached(cell, *names):
    """The cell with pictures."""
    cell.attachments = dict.fromkeys(names, PICTURE)
    return cell


def generate(folder: CourseFolder, *cells, files=(), **metadata):
    """Generate a student version; return its notebook and nbgrader's log."""
    source = folder.root / "source" / "tree"
    source.mkdir(parents=True)
    for name, text in dict(files).items():
        (source / name).write_text(text, "utf-8")
    notebook = new_notebook(
        cells=list(cells),
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            **metadata,
        },
    )
    nbformat.write(notebook, source / "tree.ipynb")
    before = (source / "tree.ipynb").read_bytes()
    config = folder.config()
    config.CourseDirectory.assignment_id = "tree"
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    log = folder.root / "generate.log"
    run_quietly(converter, log)
    assert (source / "tree.ipynb").read_bytes() == before
    return (
        nbformat.read(folder.release("tree") / "tree.ipynb", as_version=4),
        log.read_text("utf-8"),
    )


@pytest.fixture
def course(tmp_path) -> CourseFolder:
    """An empty course folder."""
    return CourseFolder.create(tmp_path / "course")


def test_pictures_of_model_answers_are_removed(course):
    """Pictures in questions stay, in the same cell and in others."""
    notebook, said = generate(
        course,
        attached(
            new_markdown_cell("![the game](attachment:the%20game.png)"), "the game.png", "draft.png"
        ),
        attached(
            marked(
                "Look at ![this](attachment:question.png).\n### BEGIN SOLUTION\n"
                "![answer](attachment:answer.png)\n### END SOLUTION",
                "draw",
            ),
            "question.png",
            "answer.png",
        ),
        attached(
            marked("The tree is <img src='attachment:Lösung 2.png'>", "draw2"), "Lösung 2.png"
        ),
        attached(
            marked(
                "Draw it.\n### BEGIN MARK SCHEME\n<img src='attachment:scheme.png'>\n"
                "### END MARK SCHEME",
                "task",
                solution=False,
                grade=False,
                task=True,
            ),
            "scheme.png",
        ),
    )
    assert [[*cell.get("attachments", {})] for cell in notebook.cells] == [
        ["the game.png"],
        ["question.png"],
        [],
        [],
    ]
    assert "student version: the attachment 'answer.png' of the cell 'draw'" in said


def test_a_definition_of_a_picture_outside_the_solution_is_removed(course):
    """This covers `[label]: data:...` and `[label]: attachment:...` if only the solution used them."""
    notebook, _ = generate(
        course,
        attached(
            marked(
                "Why? ![q][game]\n### BEGIN SOLUTION\n![a][tree] ![b][cut]\n### END SOLUTION\n"
                "[tree]: attachment:secret.png\n[cut]: data:image/png;base64,U0VDUkVU\n"
                "[game]: attachment:game.png",
                "draw",
            ),
            "secret.png",
            "game.png",
        ),
    )
    (cell,) = notebook.cells
    assert "U0VDUkVU" not in cell.source
    assert [*cell.attachments] == ["game.png"]


def test_metadata_and_outputs_of_solutions_are_removed(course):
    """Unneeded keys of marked cells and of the notebook, and all outputs, are removed."""
    code = marked(
        "### BEGIN SOLUTION\nprint(42)\n### END SOLUTION",
        "code",
        kind="code",
        grade=False,
        solution_text="42",
        tags=["kept"],
        jupyter={"source_hidden": True},
    )
    code.outputs = [new_output("display_data", PICTURE)]
    code.metadata.nbgrader["comment"] = "42"
    described = new_markdown_cell("A game.", metadata={"my_answer": 42, "colour": "red"})
    notebook, _ = generate(
        course, code, described, widgets={"state": {"answer": 42}}, solution="42"
    )
    assert notebook.metadata.keys() == {"kernelspec"}
    assert notebook.cells[0].metadata.keys() == {"nbgrader", "tags", "jupyter", "deletable"}
    assert "comment" not in notebook.cells[0].metadata.nbgrader
    assert notebook.cells[0].outputs == []
    assert notebook.cells[1].metadata == {"colour": "red"}


def test_files_that_only_the_solution_uses_stay_in_source(course):
    """A file is identified by its name and by references in the notebook before and after clearing."""
    files = {
        "tree_solution.py": "",
        "tree.png": "",
        "data.csv": "",
        "rows.csv": "",
        "helper.py": "open('rows.csv')",
        "answers.csv": "",
        "notes.txt": "",
        "inner.csv": "",
    }
    _, said = generate(
        course,
        new_code_cell("import helper\nopen('data.csv'); open('answers.csv')"),
        marked(
            "### BEGIN SOLUTION\n![](tree.png)\nhelper reads rows.csv, we inner.csv\n"
            "### END SOLUTION",
            "draw",
        ),
        files=files,
    )
    released = {path.name for path in course.release("tree").iterdir()}
    assert released == {
        "tree.ipynb",
        "data.csv",
        "helper.py",
        "rows.csv",
        "answers.csv",
        "notes.txt",
    }
    assert {path.name for path in (course.root / "source" / "tree").iterdir()} >= {*files}
    assert "tree_solution.py is not part of the student version" in said


def test_a_python_file_with_marked_solutions_is_refused(course):
    """nbgrader clears notebooks only."""
    with pytest.raises(NotebookError, match=r"helper\.py contains 'BEGIN SOLUTION'"):
        generate(
            course,
            new_code_cell("import helper"),
            files={"helper.py": "### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"},
        )
    assert not (course.release("tree") / "helper.py").exists()


def test_clearing_again_removes_nothing():
    """The step runs twice during the generation of a student version."""
    notebook = new_notebook(cells=[attached(marked("*Answer*", "draw"), "answer.png")])
    assert len(list(clear_remains(notebook))) == 1
    assert list(clear_remains(notebook)) == []


@pytest.mark.parametrize(
    "shown",
    [
        "![](attachment:d%20(1).png)",
        "![](<attachment:d (1).png>)",
        "![](attachment:d%20%281%29.png)",
        '<img src="attachment:d (1).png">',
        "<img src='attachment:d&#32;(1).png'>",
        "![the tree][t]\n\n[t]: <attachment:d (1).png>",
    ],
)
def test_a_picture_that_is_shown_stays_however_it_is_written(shown):
    """The reference may be escaped by JupyterLab, in Markdown or in HTML; pictures with longer
    names are removed.
    """
    notebook = new_notebook(
        cells=[attached(marked(shown, "draw"), "d (1).png", "(1).png", "d.png", "d (1).png2")]
    )
    list(clear_remains(notebook))
    assert [*notebook.cells[0].attachments] == ["d (1).png"]
