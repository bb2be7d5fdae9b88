"""The submission archive, and stored pictures if there is no matplotlib, in a live course."""

import io
import json
import os
import zipfile
from types import SimpleNamespace

import pytest

from autograder.release.derive import COURSE
from course.checks import UnknownCheck, load_study, studies
from course.lab import prerendered
from course.lab.prerendered import NullAxes, PrerenderedFigure, key
from course.lab.progress import SKIPPED
from course.lab.start_page import KERNEL
from course.submission import LINK, make_submission

STUDY = load_study("study3")


@pytest.fixture
def folder(tmp_path):
    """A student's folder with one study."""
    place = tmp_path / STUDY.assignment
    place.mkdir()
    (place / STUDY.module).write_text("x = 1\n", "utf-8")
    (place / "03_lane_heuristic.ipynb").write_text(
        json.dumps(
            {
                "cells": [
                    {"cell_type": "code", "source": "make_submission()", "outputs": []},
                    {"cell_type": "markdown", "source": "words"},
                ],
                "metadata": {},
            }
        ),
        "utf-8",
    )
    (place / "notes.txt").write_text("mine", "utf-8")
    return tmp_path


def unpacked(packed):
    """The files in an archive."""
    with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("study", "where"),
    [
        ("study3", "."),
        ("study3", STUDY.assignment),
        ("", STUDY.assignment),
        ("study3", "study1_minimax"),
    ],
)
def test_the_module_and_the_notebooks_are_packed(folder, study, where):
    """The archive is made from the folder of all studies, of this one or of another, with nothing
    else.
    """
    packed = make_submission(study, folder / where)
    files = {
        f"{STUDY.assignment}/{name}": (folder / STUDY.assignment / name).read_bytes()
        for name in (STUDY.module, "03_lane_heuristic.ipynb")
    }
    assert unpacked(packed) == files
    assert repr(packed).startswith("study3_type_a.zip, ")
    assert 'download="study3_type_a.zip"' in packed._repr_html_()


def test_it_is_written_next_to_the_study(folder):
    """It is rewritten completely each time and its path is printed; a read-only folder is no error."""
    target = folder / "study3_type_a.zip"
    for text in ("x = 1\n", "x = 2\n"):
        (folder / STUDY.assignment / STUDY.module).write_text(text, "utf-8")
        packed = make_submission("study3", folder)
        assert packed.path == target
        assert target.read_bytes() == packed.data
        assert str(target) in repr(packed)
        assert str(target) in packed._repr_html_()
    assert sorted(path.name for path in folder.iterdir()) == [STUDY.assignment, target.name]
    target.unlink()
    target.mkdir()
    assert make_submission("study3", folder).path is None
    assert [path.name for path in folder.glob(".submission-*")] == []


def answered(folder, *texts):
    """Write a notebook with these written answers."""
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": text, "metadata": {"nbgrader": {"solution": True}}}
            for text in texts
        ],
        "metadata": {},
    }
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")


def test_pictures_of_the_answers_are_packed(folder):
    """The archive has the pictures in the folder and in text cells, but none from elsewhere."""
    place = folder / STUDY.assignment
    (place / "my pictures").mkdir()
    for name in ("tree.PNG", "my pictures/caf\u00e9.png", "my pictures/not shown.png"):
        (place / name).write_bytes(b"picture")
    (folder / "outside.png").write_bytes(b"secret")
    (place / "link.png").symlink_to(folder / "outside.png")
    answered(
        folder,
        "![a](my%20pictures/caf%C3%A9.png) ![b](../outside.png)",
        "<img alt='c' src='lost.png'> ![d](<link.png>) ![e](attachment:f.png) "
        "![g](https://example.org/g.png)",
    )
    packed = make_submission("study3", folder)
    names = {name.removeprefix(f"{STUDY.assignment}/") for name in unpacked(packed)}
    assert names == {
        STUDY.module,
        "03_lane_heuristic.ipynb",
        "tree.PNG",
        "my pictures/caf\u00e9.png",
    }
    missing = [warning.split(",")[0] for warning in packed.warnings if "grader" in warning]
    assert missing == ["../outside.png", "link.png", "lost.png"]


def test_what_is_not_done_is_a_warning(folder):
    """Warnings name unwritten code, open questions and unrun checks; a completed study has none."""
    place = folder / STUDY.assignment
    for path in (COURSE / STUDY.assignment).glob("*.ipynb"):
        (place / path.name).write_bytes(path.read_bytes())
    (place / STUDY.module).write_bytes((COURSE / STUDY.assignment / STUDY.module).read_bytes())
    packed = make_submission("study3", folder)
    said = "\n".join(packed.warnings)
    assert f"{STUDY.module} has " in said
    assert "03_lane_heuristic.ipynb has 2 of 2 questions without an answer" in said
    assert "03_lane_heuristic.ipynb: not yet checked: study3.lane_counts" in said
    assert all(warning in repr(packed) for warning in packed.warnings)
    assert f"<li>{packed.warnings[0]}</li>" in packed._repr_html_()

    for path in place.glob("*.ipynb"):
        path.unlink()
    (place / STUDY.module).write_text("x = 1", "utf-8")
    answered(folder, "Because.")
    assert make_submission("study3", folder).warnings == ()
    (place / "03_lane_heuristic.ipynb").unlink()
    assert make_submission("study3", folder).warnings == (
        f"there is no notebook in the folder {STUDY.assignment}",
    )


def test_a_cell_that_was_never_saved_is_a_warning(folder, monkeypatch):
    """Only the kernel's knowledge counts; a saved cell causes no warning."""
    place = folder / STUDY.assignment
    shell = SimpleNamespace(user_ns={"In": ["", 'make_submission("study3")']})
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert any(
        "not in a saved notebook" in one for one in make_submission("study3", place).warnings
    )
    path = place / "03_lane_heuristic.ipynb"
    path.write_text(
        path.read_text("utf-8").replace("make_submission()", 'make_submission(\\"study3\\")'),
        "utf-8",
    )
    assert not any(
        "not in a saved notebook" in one for one in make_submission("study3", place).warnings
    )


def test_a_large_archive_is_linked_and_not_kept_in_the_notebook(folder, monkeypatch):
    """Otherwise the notebook would be too large to submit."""
    (folder / STUDY.assignment / "photo.jpg").write_bytes(os.urandom(3_000_000))
    monkeypatch.chdir(folder / STUDY.assignment)
    html = make_submission("study3")._repr_html_()
    assert 'href="../study3_type_a.zip"' in html
    assert len(html) < 2000


@pytest.mark.parametrize("runs", ["autograde", "validate"])
def test_nothing_is_packed_while_a_notebook_is_graded(folder, monkeypatch, runs):
    """The cell writes no file when nbgrader runs it."""
    monkeypatch.setenv("NBGRADER_EXECUTION", runs)
    assert make_submission("study3", folder) is None
    assert [path.name for path in folder.iterdir()] == [STUDY.assignment]


@pytest.mark.parametrize("study", [load_study(name) for name in studies()], ids=lambda s: s.name)
def test_each_study_ends_with_the_cell_that_packs_it(study):
    """Only a person runs it: the book, Validate and grading skip it."""
    *_, last = sorted((COURSE / study.assignment).glob("*.ipynb"))
    cells = json.loads(last.read_text("utf-8"))["cells"]
    assert "".join(cells[-1]["source"]).endswith(f'make_submission("{study.name}")')
    assert cells[-1]["metadata"] == {"tags": [SKIPPED]}
    assert f"`{study.assignment}.zip`" in "".join(cells[-2]["source"])


def test_an_archive_does_not_hold_the_one_before_it(folder):
    """The cell that created it keeps its other outputs."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][0]["outputs"] = [
        {"output_type": "execute_result", "data": {"text/html": f"<a href='{LINK}UEs='>"}},
        {"output_type": "stream", "text": "kept"},
    ]
    path.write_text(json.dumps(notebook), "utf-8")
    packed = json.loads(
        unpacked(make_submission("study3", folder))[f"{STUDY.assignment}/{path.name}"]
    )
    assert packed["cells"][0]["outputs"] == [{"output_type": "stream", "text": "kept"}]
    assert packed["cells"][1:] == notebook["cells"][1:]


@pytest.mark.parametrize("written", ["{", "[]", '{"cells": 3}', ""])
def test_a_notebook_that_cannot_be_read_is_submitted_as_it_is(folder, written):
    """The marker gets the message about the problem."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    path.write_text(written, "utf-8")
    assert unpacked(make_submission("study3", folder))[f"{STUDY.assignment}/{path.name}"] == (
        written.encode()
    )


def test_a_notebook_is_submitted_for_the_kernel_that_it_was_handed_out_for(folder):
    """Lab in a browser has its own kernel name."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["metadata"] = {"kernelspec": {"name": "python", "display_name": "Python (Pyodide)"}}
    path.write_text(json.dumps(notebook), "utf-8")
    packed = json.loads(
        unpacked(make_submission("study3", folder))[f"{STUDY.assignment}/{path.name}"]
    )
    assert packed == {**notebook, "metadata": {"kernelspec": KERNEL}}


def test_missing_parts_are_reported(folder, tmp_path):
    """The message distinguishes a missing study, a missing module and a folder without studies."""
    with pytest.raises(UnknownCheck, match="there is no study 'study99'"):
        make_submission("study99", folder)
    with pytest.raises(FileNotFoundError, match=r"minimax\.py of study1_minimax is not in"):
        make_submission("study1", folder)
    with pytest.raises(FileNotFoundError, match="name the study that you want to submit"):
        make_submission("", folder)


def test_a_picture_made_before_is_shown_with_its_words_and_with_todays(monkeypatch):
    """Another picture of the same cell has none, and neither has a changed cell."""
    cell = "axes = figure()\npicture(axes, ...)"
    monkeypatch.setattr(
        prerendered,
        "_table",
        lambda name: {
            key(cell): [
                ["Other words entirely", "<svg>other</svg>"],
                ["Bars of 1 to 3", "<svg>these</svg>"],
            ]
        },
    )
    monkeypatch.setattr(prerendered, "running_cell", lambda: cell + "\n")
    shown = prerendered.prerendered_figure("Bars of 2 & 4")
    assert isinstance(shown, PrerenderedFigure)
    assert shown.svg == "<svg>these</svg>"
    page = shown._repr_html_()
    assert 'alt="Bars of 1 to 3"' in page
    assert page.endswith(f"<p><em>{prerendered.REFERENCE_PICTURE}</em> Bars of 2 &amp; 4</p>")
    assert repr(shown) == "Bars of 2 & 4"
    monkeypatch.setattr(prerendered, "running_cell", lambda: cell + " # mine")
    assert prerendered.prerendered_figure("Bars of 2")._repr_html_() == (
        f"<p><em>{prerendered.NO_PICTURE}</em> Bars of 2</p>"
    )


def test_axes_that_draw_nothing_take_every_call():
    """They accept what notebooks use: calls, attributes, return values and unpacking one line."""
    axes = NullAxes()
    (line,) = axes.plot([1, 2], label="a")
    axes.bar_label(axes.bar([1], [2]), fmt="{}")
    axes.figure.legend(loc="outside right upper")
    assert line.get_color() is axes
