"""One file to hand in, and pictures where there is no matplotlib: what a live course adds."""

import io
import json
import os
import zipfile
from types import SimpleNamespace

import pytest

from autograder.release.derive import COURSE
from course import drawn_before
from course.drawn_before import DrawnBefore, NoAxes, key
from course.hand_in import LINK, hand_in
from course.probes import UnknownCheck, load_study, studies
from course.progress import SKIPPED
from course.start import KERNEL

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
                    {"cell_type": "code", "source": "hand_in()", "outputs": []},
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
    """From the folder of all studies, of this one, or of another; and nothing else is."""
    packed = hand_in(study, folder / where)
    files = {
        f"{STUDY.assignment}/{name}": (folder / STUDY.assignment / name).read_bytes()
        for name in (STUDY.module, "03_lane_heuristic.ipynb")
    }
    assert unpacked(packed) == files
    assert repr(packed).startswith("study3_type_a.zip, ")
    assert 'download="study3_type_a.zip"' in packed._repr_html_()


def test_it_is_written_next_to_the_study(folder):
    """Whole, again each time, and said where; a folder that cannot be written to is no error."""
    target = folder / "study3_type_a.zip"
    for text in ("x = 1\n", "x = 2\n"):
        (folder / STUDY.assignment / STUDY.module).write_text(text, "utf-8")
        packed = hand_in("study3", folder)
        assert packed.path == target
        assert target.read_bytes() == packed.data
        assert str(target) in repr(packed)
        assert str(target) in packed._repr_html_()
    assert sorted(path.name for path in folder.iterdir()) == [STUDY.assignment, target.name]
    target.unlink()
    target.mkdir()
    assert hand_in("study3", folder).path is None
    assert [path.name for path in folder.glob(".hand-in-*")] == []


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
    """Those in the folder, and those that a text cell shows; nothing from outside of it."""
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
    packed = hand_in("study3", folder)
    names = {name.removeprefix(f"{STUDY.assignment}/") for name in unpacked(packed)}
    assert names == {
        STUDY.module,
        "03_lane_heuristic.ipynb",
        "tree.PNG",
        "my pictures/caf\u00e9.png",
    }
    missing = [warning.split(",")[0] for warning in packed.warnings if "marker" in warning]
    assert missing == ["../outside.png", "link.png", "lost.png"]


def test_what_is_not_done_is_a_warning(folder):
    """Unwritten code, open questions, checks that were not run; nothing of a study that is done."""
    place = folder / STUDY.assignment
    for path in (COURSE / STUDY.assignment).glob("*.ipynb"):
        (place / path.name).write_bytes(path.read_bytes())
    (place / STUDY.module).write_bytes((COURSE / STUDY.assignment / STUDY.module).read_bytes())
    packed = hand_in("study3", folder)
    said = "\n".join(packed.warnings)
    assert f"{STUDY.module} has " in said
    assert "03_lane_heuristic.ipynb has 2 of 2 questions without an answer" in said
    assert "03_lane_heuristic.ipynb: not checked yet: study3.lane_counts" in said
    assert all(warning in repr(packed) for warning in packed.warnings)
    assert f"<li>{packed.warnings[0]}</li>" in packed._repr_html_()

    for path in place.glob("*.ipynb"):
        path.unlink()
    (place / STUDY.module).write_text("x = 1", "utf-8")
    answered(folder, "Because.")
    assert hand_in("study3", folder).warnings == ()
    (place / "03_lane_heuristic.ipynb").unlink()
    assert hand_in("study3", folder).warnings == (
        f"there is no notebook in the folder {STUDY.assignment}",
    )


def test_a_cell_that_was_never_saved_is_a_warning(folder, monkeypatch):
    """As far as the kernel can know; a cell that is saved says nothing."""
    place = folder / STUDY.assignment
    shell = SimpleNamespace(user_ns={"In": ["", 'hand_in("study3")']})
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert any("not in a saved notebook" in one for one in hand_in("study3", place).warnings)
    path = place / "03_lane_heuristic.ipynb"
    path.write_text(path.read_text("utf-8").replace("hand_in()", 'hand_in(\\"study3\\")'), "utf-8")
    assert not any("not in a saved notebook" in one for one in hand_in("study3", place).warnings)


def test_a_large_archive_is_linked_and_not_kept_in_the_notebook(folder, monkeypatch):
    """Or the notebook would be too large to hand in."""
    (folder / STUDY.assignment / "photo.jpg").write_bytes(os.urandom(3_000_000))
    monkeypatch.chdir(folder / STUDY.assignment)
    html = hand_in("study3")._repr_html_()
    assert 'href="../study3_type_a.zip"' in html
    assert len(html) < 2000


@pytest.mark.parametrize("runs", ["autograde", "validate"])
def test_nothing_is_packed_while_a_notebook_is_graded(folder, monkeypatch, runs):
    """A cell that was run by nbgrader leaves no file."""
    monkeypatch.setenv("NBGRADER_EXECUTION", runs)
    assert hand_in("study3", folder) is None
    assert [path.name for path in folder.iterdir()] == [STUDY.assignment]


@pytest.mark.parametrize("study", [load_study(name) for name in studies()], ids=lambda s: s.name)
def test_each_study_ends_with_the_cell_that_packs_it(study):
    """Only a person runs it: the book, Validate and grading pass over it."""
    *_, last = sorted((COURSE / study.assignment).glob("*.ipynb"))
    cells = json.loads(last.read_text("utf-8"))["cells"]
    assert "".join(cells[-1]["source"]).endswith(f'hand_in("{study.name}")')
    assert cells[-1]["metadata"] == {"tags": [SKIPPED]}
    assert f"`{study.assignment}.zip`" in "".join(cells[-2]["source"])


def test_an_archive_does_not_hold_the_one_before_it(folder):
    """The cell that made it keeps its other outputs."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][0]["outputs"] = [
        {"output_type": "execute_result", "data": {"text/html": f"<a href='{LINK}UEs='>"}},
        {"output_type": "stream", "text": "kept"},
    ]
    path.write_text(json.dumps(notebook), "utf-8")
    packed = json.loads(unpacked(hand_in("study3", folder))[f"{STUDY.assignment}/{path.name}"])
    assert packed["cells"][0]["outputs"] == [{"output_type": "stream", "text": "kept"}]
    assert packed["cells"][1:] == notebook["cells"][1:]


@pytest.mark.parametrize("written", ["{", "[]", '{"cells": 3}', ""])
def test_a_notebook_that_cannot_be_read_is_handed_in_as_it_is(folder, written):
    """Whoever marks it says what is wrong."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    path.write_text(written, "utf-8")
    assert unpacked(hand_in("study3", folder))[f"{STUDY.assignment}/{path.name}"] == (
        written.encode()
    )


def test_a_notebook_is_handed_in_for_the_kernel_that_it_was_handed_out_for(folder):
    """Lab in a browser names its own."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["metadata"] = {"kernelspec": {"name": "python", "display_name": "Python (Pyodide)"}}
    path.write_text(json.dumps(notebook), "utf-8")
    packed = json.loads(unpacked(hand_in("study3", folder))[f"{STUDY.assignment}/{path.name}"])
    assert packed == {**notebook, "metadata": {"kernelspec": KERNEL}}


def test_what_is_missing_is_said(folder, tmp_path):
    """No such study, no module, no study at all."""
    with pytest.raises(UnknownCheck, match="there is no study 'study99'"):
        hand_in("study99", folder)
    with pytest.raises(FileNotFoundError, match=r"minimax\.py of study1_minimax is not in"):
        hand_in("study1", folder)
    with pytest.raises(FileNotFoundError, match="say which study you hand in"):
        hand_in("", folder)


def test_a_picture_made_before_is_shown_with_its_words_and_with_todays(monkeypatch):
    """Another picture of the same cell is not, and a cell that was changed has none."""
    cell = "axes = figure()\npicture(axes, ...)"
    monkeypatch.setattr(
        drawn_before,
        "_table",
        lambda name: {
            key(cell): [
                ["Other words entirely", "<svg>other</svg>"],
                ["Bars of 1 to 3", "<svg>these</svg>"],
            ]
        },
    )
    monkeypatch.setattr(drawn_before, "running", lambda: cell + "\n")
    shown = drawn_before.drawn_before("Bars of 2 & 4")
    assert isinstance(shown, DrawnBefore)
    assert shown.svg == "<svg>these</svg>"
    page = shown._repr_html_()
    assert 'alt="Bars of 1 to 3"' in page
    assert page.endswith(f"<p><em>{drawn_before.MADE_BEFORE}</em> Bars of 2 &amp; 4</p>")
    assert repr(shown) == "Bars of 2 & 4"
    monkeypatch.setattr(drawn_before, "running", lambda: cell + " # mine")
    assert drawn_before.drawn_before("Bars of 2")._repr_html_() == (
        f"<p><em>{drawn_before.NO_PICTURE}</em> Bars of 2</p>"
    )


def test_axes_that_draw_nothing_take_every_call():
    """As notebooks use them: calls, attributes, what is returned, one line unpacked."""
    axes = NoAxes()
    (line,) = axes.plot([1, 2], label="a")
    axes.bar_label(axes.bar([1], [2]), fmt="{}")
    axes.figure.legend(loc="outside right upper")
    assert line.get_color() is axes
