"""nbgrader's Validate, as a student's button runs it, says what the check said."""

import nbformat
import pytest
from nbgrader.validator import Validator
from traitlets.config import Config

from autograder import workspace
from autograder.mutants import load_mutants
from autograder.release.notebooks import build_notebook, notebook_texts
from course.probes import load_study

STUDY = load_study("study1")
CHECK = STUDY.checks["minimax"]
SLIP = load_mutants("study1")[0].name


@pytest.mark.parametrize(("module", "said"), [
    ("stub", "not written yet"), (SLIP, "not all right"), ("reference", None)])
def test_validate_says_why_a_check_is_not_right(tmp_path, monkeypatch, module, said):
    """nbgrader alone would say "Partial credit", or that no response was given."""
    source = notebook_texts(STUDY.folder)[0]
    notebook = nbformat.reads(
        build_notebook(source.read_text("utf-8"), source.stem, STUDY), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if f'check("{CHECK.id}")' in cell.source
                      or "from course.check" in cell.source]
    text = workspace.module_texts(STUDY)[module]
    (tmp_path / STUDY.module).write_text(text, "utf-8")
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    monkeypatch.chdir(tmp_path)
    found = Validator(config=Config()).validate("notebook.ipynb")
    if said is None:
        assert "failed" not in found
    else:
        cell, = found["failed"]
        assert CHECK.id in cell["error"]
        assert said in cell["error"]
