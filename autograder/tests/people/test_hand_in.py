"""One file to hand in, and pictures where there is no matplotlib: what a live course adds."""

import io
import json
import zipfile

import pytest

from course import drawn_before
from course.drawn_before import DrawnBefore, NoAxes, key
from course.hand_in import LINK, hand_in
from course.probes import UnknownCheck, load_study
from course.start import KERNEL

STUDY = load_study("study3")


@pytest.fixture
def folder(tmp_path):
    """A student's folder with one study."""
    place = tmp_path / STUDY.assignment
    place.mkdir()
    (place / STUDY.module).write_text("x = 1\n", "utf-8")
    (place / "03_lane_heuristic.ipynb").write_text(json.dumps({"cells": [
        {"cell_type": "code", "source": "hand_in()", "outputs": []},
        {"cell_type": "markdown", "source": "words"}], "metadata": {}}), "utf-8")
    (place / "notes.txt").write_text("mine", "utf-8")
    return tmp_path


def unpacked(packed):
    """The files in an archive."""
    with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(("study", "where"), [
    ("study3", "."), ("study3", STUDY.assignment), ("", STUDY.assignment),
    ("study3", "study1_minimax")])
def test_the_module_and_the_notebooks_are_packed(folder, study, where):
    """From the folder of all studies, of this one, or of another; and nothing else is."""
    packed = hand_in(study, folder / where)
    files = {f"{STUDY.assignment}/{name}": (folder / STUDY.assignment / name).read_bytes()
             for name in (STUDY.module, "03_lane_heuristic.ipynb")}
    assert unpacked(packed) == files
    assert repr(packed).startswith("study3_type_a.zip, ")
    assert 'download="study3_type_a.zip"' in packed._repr_html_()


def test_an_archive_does_not_hold_the_one_before_it(folder):
    """The cell that made it keeps its other outputs."""
    path = folder / STUDY.assignment / "03_lane_heuristic.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"][0]["outputs"] = [
        {"output_type": "execute_result", "data": {"text/html": f"<a href='{LINK}UEs='>"}},
        {"output_type": "stream", "text": "kept"}]
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
        written.encode())


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
    monkeypatch.setattr(drawn_before, "_table", lambda name: {
        key(cell): [["Other words entirely", "<svg>other</svg>"],
                    ["Bars of 1 to 3", "<svg>these</svg>"]]})
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
        f"<p><em>{drawn_before.NO_PICTURE}</em> Bars of 2</p>")


def test_axes_that_draw_nothing_take_every_call():
    """As notebooks use them: calls, attributes, what is returned, one line unpacked."""
    axes = NoAxes()
    line, = axes.plot([1, 2], label="a")
    axes.bar_label(axes.bar([1], [2]), fmt="{}")
    axes.figure.legend(loc="outside right upper")
    assert line.get_color() is axes
