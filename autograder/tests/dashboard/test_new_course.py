"""A course that the wizard created in another folder opens in its own JupyterLab."""

import os
import signal
import subprocess
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


@pytest.mark.parametrize(
    ("arguments", "status", "shown"),
    [
        (["--help"], 0, "usage: python3 -m autograder.dashboard.overview [-h] FOLDER [OPTION ...]"),
        (["-h"], 0, "the course folder"),
        (["course", "--no-browser", "--help"], 0, "an option of JupyterLab"),
        ([], 2, "the following arguments are required: FOLDER\n"),
        (["--no-browser"], 2, "the following arguments are required: FOLDER\n"),
        (["--new", "course"], 2, "unrecognized arguments: --new"),
        ([""], 2, "the name of the folder is empty"),
    ],
)
def test_help_and_wrong_arguments(capsys, arguments, status, shown):
    """Both end the program, with the exit status of a help or of an error."""
    with pytest.raises(SystemExit) as ended:
        overview.parse(arguments)
    printed = capsys.readouterr()
    assert ended.value.code == status
    assert shown in (printed.err if status else printed.out)


def test_help_makes_no_folder(tmp_path):
    """The arguments are read before a course is made or a server is started."""
    command = [sys.executable, "-P", "-m", overview.__name__, "--help"]
    done = subprocess.run(
        command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert not list(tmp_path.iterdir())


def test_options_after_the_folder_are_passed_to_jupyterlab():
    """They keep their order, and `--help-all` is JupyterLab's."""
    given = ["course", "--port", "9999", "--help-all", "--no-browser"]
    assert list(overview.parse(given)) == given
