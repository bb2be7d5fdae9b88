"""A course that the wizard made in another folder is opened in a JupyterLab of its own."""

import os
import signal
import sys
from urllib.request import urlopen

import pytest

from autograder.course_folder import CourseFolder
from autograder.desk import new_course
from autograder.desk.new_course import start_lab
from autograder.errors import Refused
from course.start import PAGE

pytestmark = pytest.mark.xdist_group("desk")


@pytest.mark.slow
def test_jupyterlab_opens_the_new_course(tmp_path, monkeypatch):
    """The link needs no other password, and the token is in no list of processes."""
    for name in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name))
    course = CourseFolder.create(tmp_path / "a new course")
    lab = start_lab(course.root)
    try:
        with urlopen(f"http://127.0.0.1:{lab.port}/{lab.path}", timeout=60) as page:
            assert "JupyterLab" in page.read().decode()
        assert (course.root / PAGE).is_file()
        token = lab.path.partition("token=")[2]
        assert token
        assert not any(token in argument for argument in lab.process.args)
    finally:
        os.killpg(lab.process.pid, signal.SIGTERM)
        lab.process.wait()


def test_a_server_that_does_not_start(tmp_path, monkeypatch):
    """The command to type is shown instead, quoted for the shell."""
    course = CourseFolder.create(tmp_path / "a new course")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(Refused, match=r"did not start .*run.py lab '.*a new course'`"):
        start_lab(course.root)


def test_on_a_hub(tmp_path, monkeypatch):
    """Another port cannot be reached there, so nothing is started."""
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setattr(new_course, "subprocess", None)
    with pytest.raises(Refused, match=r"run\.py lab"):
        start_lab(tmp_path)
