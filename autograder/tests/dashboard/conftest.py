"""The course shared by the dashboard tests."""

import pytest

from autograder.course_folder import CourseFolder
from autograder.release.assignments import generate_assignment
from course.checks import load_study


@pytest.fixture(scope="session")
def with_study2(tmp_path_factory) -> CourseFolder:
    """A course folder in which study 2 has been released, shared and never modified."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("with_study2") / "course")
    generate_assignment(folder, load_study("study2"))
    return folder
