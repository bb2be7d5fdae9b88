"""The course, a release, the kit and the live site have byte-for-byte the same notebooks."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.course_folder import CourseFolder
from autograder.release.assignments import assignment_files, generate_assignment
from autograder.release.kit import contents
from autograder.release.site.live import write_files
from course.checks import Study, load_study, studies

STUDIES = [load_study(name) for name in studies()]
SLOW = [study for study in STUDIES if study.name != "study1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> CourseFolder:
    """A course folder."""
    return CourseFolder.create(tmp_path_factory.mktemp("course") / "course")


def notebooks(study: Study) -> Iterator[Path]:
    """The notebooks of a study in the course."""
    return (path for path in assignment_files(study) if path.suffix == ".ipynb")


@pytest.mark.parametrize(
    "study",
    [
        pytest.param(study, marks=[pytest.mark.slow] if study in SLOW else [], id=study.name)
        for study in STUDIES
    ],
)
def test_a_release_has_the_bytes_of_the_course(study, folder):
    """nbgrader's *generate* adds nothing. The instructor's copy in `source` is unprotected and
    gives the same release.
    """
    released = generate_assignment(folder, study)
    source = folder.root / "source" / study.assignment
    for path in notebooks(study):
        assert (released / path.name).read_bytes() == path.read_bytes()
        cells = nbformat.read(source / path.name, as_version=4).cells
        assert all(
            cell.metadata.get("editable", True) and cell.metadata.get("deletable", True)
            for cell in cells
        )


@pytest.mark.slow
def test_the_kit_and_the_live_site_have_the_bytes_of_the_course(tmp_path):
    """All files of the studies are identical."""
    kit = contents(STUDIES)
    write_files(tmp_path, STUDIES, kit)
    for study in STUDIES:
        for path in assignment_files(study):
            name = f"{study.assignment}/{path.name}"
            assert kit[f"course/{name}"] == path.read_bytes()
            assert (tmp_path / "files" / name).read_bytes() == path.read_bytes()
