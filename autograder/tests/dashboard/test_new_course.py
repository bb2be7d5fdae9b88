"""A course that the wizard created in another folder opens in its own JupyterLab."""

import os
import signal
import sys
from urllib.request import urlopen

import pytest

from autograder.course_folder import CourseFolder
from autograder.dashboard import new_course, overview
from autograder.dashboard.new_course import start_lab
from autograder.errors import UserError
from course.lab.start_page import PAGE

pytestmark = pytest.mark.xdist_group("dashboard")


@pytest.mark.slow
def test_jupyterlab_opens_the_new_course(tmp_path, monkeypatch):
    """The link needs no password, and the token does not appear in the process list."""
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
    with pytest.raises(UserError, match=r"did not start .*run.py lab '.*a new course'`"):
        start_lab(course.root)


def test_on_a_hub(tmp_path, monkeypatch):
    """Another port is not reachable on a hub, so nothing is started."""
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setattr(new_course, "subprocess", None)
    with pytest.raises(UserError, match=r"run\.py lab"):
        start_lab(tmp_path)


def test_the_overview_of_an_older_version_is_rewritten(tmp_path, monkeypatch):
    """Opening the course replaces a cell that calls a function which no longer exists."""
    opened = []
    monkeypatch.setattr(overview, "open_lab", lambda *arguments: opened.append(arguments))
    overview.main(str(tmp_path))
    page = tmp_path / PAGE
    new = page.read_text("utf-8")
    assert "from autograder.dashboard.buttons import dashboard" in new
    old = new.replace(
        "autograder.dashboard.buttons import dashboard", "autograder.desk.buttons import desk"
    )
    page.write_text(old.replace("dashboard()", "desk()"), "utf-8")
    overview.main(str(tmp_path))
    assert page.read_text("utf-8") == new
    assert [written for _, written, _ in opened] == [True, True]
