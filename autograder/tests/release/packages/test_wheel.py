"""The wheel works in an empty environment, from any folder and without the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from autograder.release.derive import COURSE
from autograder.release.leaks import shipped
from autograder.tests.support.needs import need_isolation

ROOT = COURSE.parent
PACKAGES = ("autograder", "common", "course", "sequence", "tictactoe")
LEFT_OUT = {"benchmarks", "tests"}
PYTHON = getattr(sys, "_base_executable", None) or sys.executable
SECONDS = 900
USE = """
import sys
from pathlib import Path
import autograder, course, sequence, tictactoe
from course.check import check
from course.checks import load_study, studies
from sequence import Random
from sequence.widget import play as play_sequence
from tictactoe import Board
from tictactoe.solver import value

assert all(Path(module.__file__).is_relative_to(sys.prefix)
           for module in (autograder, course, sequence, tictactoe))
print(*studies(), value(Board("x_o_x_o__"), "x"))
check("study1.minimax", load_study("study1").folder)
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kit")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built by `run.py package`."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], ROOT)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory) -> Path:
    """The programs of a new environment with the wheel and its dependencies."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    run([PYTHON, "-m", "venv", environment], environment.parent)
    folder = environment / ("Scripts" if os.name == "nt" else "bin")
    pip = [folder / "python", "-m", "pip", "--disable-pip-version-check", "-q"]
    run([*pip, "install", "--no-deps", "--no-index", wheel], environment.parent)
    run([*pip, "uninstall", "-y", "setuptools"], environment.parent)  # from Python 3.11's venv
    site = sysconfig.get_path("purelib", vars={"base": os.fspath(environment)})
    ours = shutil.ignore_patterns("*adversarial_search_kit*")  # one of them leads to the checkout
    for source, target in (
        (sysconfig.get_path("purelib"), site),
        (Path(sys.prefix, "share", "jupyter"), environment / "share" / "jupyter"),
    ):
        shutil.copytree(source, target, ignore=ours, copy_function=link, dirs_exist_ok=True)
    return folder


def link(source: str, target: str) -> None:
    """Link a file or, if that is impossible, copy it, unless it exists."""
    if not Path(target).exists():
        try:
            Path(target).hardlink_to(source)
        except OSError:
            shutil.copy2(source, target)


def run(command: list, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with no other packages on Python's path."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def test_every_file_of_the_packages_is_in_it(wheel):
    """The wheel has data as well as modules; tests and benchmarks need the checkout and are
    excluded.
    """
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    paths = (path.relative_to(ROOT) for name in PACKAGES for path in shipped(ROOT / name))
    wanted = {path.as_posix() for path in paths if not LEFT_OUT & {*path.parts}}
    assert {"autograder/release/book/templates/book.css", "sequence/py.typed"} <= wanted
    assert found == wanted


def test_the_packages_work_without_the_checkout(programs, tmp_path):
    """They are imported from the environment, with their tables, styles and scripts."""
    said = run([programs / "python", "-W", "error", "-c", USE], tmp_path).stdout
    assert said.startswith("study1 study2 ")
    assert "study1.minimax: 0 of " in said
    assert list(tmp_path.iterdir()) == []


def test_an_instructor_needs_no_checkout(programs, tmp_path):
    """In an empty folder the commands create a course and grade a submission."""
    need_isolation()
    autograder = programs / "autograder"
    assert "grade-all" in run([autograder, "--help"], tmp_path).stdout
    run([autograder, "generate", "study1", "--course", "course"], tmp_path)
    released = tmp_path / "course" / "release" / "study1_minimax"
    assert (released / "minimax.py").is_file()
    submitted = tmp_path / "course" / "submitted" / "ada"
    submitted.mkdir(parents=True)
    released.rename(submitted / released.name)
    run([autograder, "generate", "study1", "--course", "course"], tmp_path)
    run([autograder, "grade-all", "study1", "--course", "course"], tmp_path)
    assert list((tmp_path / "course" / "feedback" / "ada").rglob("*.html"))


@pytest.mark.parametrize("command", [["generate", "--kit"], ["generate", "--worker"], ["book"]])
def test_what_needs_the_checkout_says_so(programs, tmp_path, command):
    """The message is one sentence, and nothing is created."""
    said = run([programs / "autograder", *command], tmp_path, status=2).stderr
    assert said == (
        "autograder: this command needs a checkout, but the packages are installed without one\n"
    )
