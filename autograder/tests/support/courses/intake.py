"""A small submission to a made-up study, and the result of its intake."""

import json
from pathlib import Path

import nbformat
from nbgrader.nbgraderformat import MetadataValidator

from autograder.grading.intake.intake import Intake, stage_submission
from autograder.grading.intake.submission_files import list_submission
from autograder.release.notebooks import build_notebook
from course.checks import Check, Study

STUDY = Study(
    "study99",
    "Study 99",
    "study99_test",
    "module.py",
    {
        "one": Check("study99", "one", "search", {}, {"move": 1}, False, []),
        "two": Check("study99", "two", "search", {}, {"move": 2}, False, []),
    },
    {"why": 3},
    Path("nowhere"),
)
FIRST = build_notebook(
    '# %% [markdown]\n# Read this.\n\n# %%\ncheck("study99.one")\n\n'
    '# %% [markdown] answer="why"\n# *Write here.*\n',
    "01_first",
    STUDY,
)
SECOND = build_notebook('# %%\n1 + 1\n\n# %%\ncheck("study99.two")\n', "02_second", STUDY)
NOTEBOOKS = {"01_first.ipynb": FIRST, "02_second.ipynb": SECOND}
MODULE = "def answer():\n    return 42\n"
LOST = "the released notebook is used instead, so its written answers are lost"


class StagingArea:
    """A release, one submission to it, and the result of the intake."""

    def __init__(self, root):
        self.release, self.submission, self.staged = (
            root / name for name in (f"release/{STUDY.assignment}", "submitted", "staged")
        )
        for folder in (self.release, self.submission):
            folder.mkdir(parents=True)
            for name, text in NOTEBOOKS.items():
                (folder / name).write_text(text, "utf-8")
        (self.submission / "module.py").write_text(MODULE, "utf-8")

    def edit(self, edit, name="01_first.ipynb"):
        """Apply `edit` to the notebook as plain data, and write it back."""
        data = json.loads((self.submission / name).read_text("utf-8"))
        edit(data)
        (self.submission / name).write_text(json.dumps(data), "utf-8")

    def stage(self):
        """Run the intake; the submission must not change, and the staged files must be valid."""
        before = snapshot(self.submission)
        intake = stage_submission(
            list_submission(self.submission, STUDY, self.release), STUDY, self.release, self.staged
        )
        assert snapshot(self.submission) == before
        assert all(isinstance(problem, str) and problem for problem in intake.problems)
        if intake.gradable:
            for name in NOTEBOOKS:
                nbformat.validate(self.notebook(name))
        return intake

    def notebook(self, name="01_first.ipynb"):
        """A staged notebook."""
        return nbformat.read(self.staged / name, as_version=4)


def snapshot(folder):
    """Names, kinds, contents, modes and times of everything in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = (
            str(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else None
        )
        found[path.relative_to(folder)] = status.st_mode, status.st_mtime_ns, content
    return found


def checked(notebook):
    """The nbgrader metadata of a notebook, after nbgrader's own validation."""
    MetadataValidator().validate_nb(notebook)
    return {
        cell.metadata.nbgrader.grade_id: dict(cell.metadata.nbgrader)
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    }


RELEASED = {name: checked(nbformat.reads(text, as_version=4)) for name, text in NOTEBOOKS.items()}


def intake_result(*problems):
    """Run the intake of a submission that can be graded and has exactly these problems."""
    return Intake(problems, True)


def answered(data):
    """An edit that writes the written answer."""
    data["cells"][2]["source"] = "My answer."


def places(data, path=()):
    """The paths of all values in plain data."""
    yield path
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))
