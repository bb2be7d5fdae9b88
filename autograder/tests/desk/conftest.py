"""The course that the tests of the desk share the making of."""

import pytest

from autograder.course_folder import CourseFolder
from autograder.release.assignments import release
from course.probes import load_study


@pytest.fixture(scope="session")
def with_study2(tmp_path_factory) -> CourseFolder:
    """A course folder in which study 2 has been released; nobody changes it."""
    folder = CourseFolder.create(tmp_path_factory.mktemp("with_study2") / "course")
    release(folder, load_study("study2"))
    return folder
