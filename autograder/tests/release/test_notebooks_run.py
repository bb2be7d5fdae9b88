"""The notebooks run from top to bottom with the student's and the reference's modules."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.release.derive import COURSE
from autograder.release.notebooks import check_id
from course.checks import load_study, studies

NOTEBOOKS = [
    (load_study(name), path)
    for name in studies()
    for path in sorted((COURSE / load_study(name).assignment).glob("*.ipynb"))
]
IDS = [path.stem for _, path in NOTEBOOKS]


def run(notebook: Path, module: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook after running it next to this module."""
    shutil.copy(module, folder)
    cells = nbformat.read(notebook, as_version=4)
    NotebookClient(
        cells,
        timeout=900,
        allow_errors=True,
        shutdown_kernel="immediate",
        extra_arguments=["--log-level=ERROR", "--HistoryManager.hist_file=:memory:"],
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return cells


def errors(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """The name and text of every error, and the output on standard error."""
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    return [(o.ename, o.evalue) for o in outputs if o.output_type == "error"] + [
        ("stderr", o.text) for o in outputs if o.get("name") == "stderr"
    ]


def points(notebook: nbformat.NotebookNode) -> dict[str, float]:
    """The points that each check in the notebook reports, except extra credit."""
    return {
        check_id(cell): float(said[1])
        for cell in notebook.cells
        if check_id(cell)
        for o in cell.outputs
        if (
            said := re.match(
                rf"{check_id(cell)}: (\S+) of \S+ points(?! of extra)",
                o.get("data", {}).get("text/plain", ""),
            )
        )
    }


@pytest.mark.slow
@pytest.mark.content
@pytest.mark.xdist_group("whole book")
@pytest.mark.parametrize(("study", "path"), NOTEBOOKS, ids=IDS)
def test_runs_with_the_reference(study, path, whole_book):
    """With the references, as in the book, nothing fails and every check has full points."""
    assert path.stem in whole_book.notebooks, whole_book.command.stderr
    done = whole_book.notebooks[path.stem]
    assert errors(done) == []
    full = {check.id: check.max_points for check in study.checks.values() if not check.extra_credit}
    found = points(done)
    assert found == {name: full[name] for name in map(check_id, done.cells) if name in full}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "path"),
    [
        pytest.param(study, path, id=path.stem, marks=pytest.mark.content(study.name))
        for study, path in NOTEBOOKS
    ],
)
def test_runs_with_the_stub(study, path, tmp_path):
    """With the stub, cells explain what to write, without errors; no check gives a point.

    No output follows such a message, because an empty line or a number would confuse students.
    """
    done = run(path, COURSE / study.assignment / study.module, tmp_path)
    assert errors(done) == []
    assert {len(cell.outputs) for cell in done.cells if check_id(cell)} <= {1}
    said = [
        o.text for cell in done.cells for o in cell.get("outputs", ()) if o.output_type == "stream"
    ]
    checks = any(map(check_id, done.cells))
    module = study.module.removesuffix(".py")  # cells that need no function
    asks = any(
        re.search(rf"^(?:from|import) {module}\b", cell.source, re.MULTILINE)
        for cell in done.cells
        if cell.cell_type == "code"
    )
    assert any(text.startswith("Not written yet: ") for text in said) is (checks or asks)
    assert set(points(done).values()) == ({0} if checks else set())


@pytest.mark.parametrize(("study", "path"), NOTEBOOKS, ids=IDS)
def test_pictures_have_words(study, path):
    """Text cells have no picture without an alternative text."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert "![](" not in cell.source
        assert cell.source.count("<img") == cell.source.count("alt=")
