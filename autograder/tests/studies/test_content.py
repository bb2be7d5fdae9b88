"""Tests of content run if one of their inputs has changed; otherwise they are skipped."""

import shutil
import subprocess
import sys

import pytest

from autograder.tests.support import content

TESTS = """
import os
import pytest

@pytest.mark.content("study1")
def test_of_one_study():
    assert "FAIL" not in os.environ

@pytest.mark.content
@pytest.mark.xdist_group("some")
def test_of_all():
    pass

@pytest.mark.content(inputs=["course/shared.py"])
def test_of_a_file():
    pass

def test_of_something_else():
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Run the four tests in a small checkout; return their results, in order."""
    tests = tmp_path / "autograder" / "tests"
    plugins = tests / "support"
    for folder in (plugins, tmp_path / "course" / "study1_x", tmp_path / "course" / "study2_x"):
        folder.mkdir(parents=True)
    shutil.copy(content.__file__, plugins)
    (tests / "test_some.py").write_text(TESTS, "utf-8")
    (tmp_path / "requirements.lock").touch()
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")

    def run(*options, **environment):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-rs",
                "-p",
                "content",
                "-p",
                "no:randomly",
                "-p",
                "no:cacheprovider",
                *options,
                "autograder",
            ],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            check=False,
            env={"PYTHONPATH": str(plugins), **environment},
        )
        first = done.stdout.splitlines()[0]
        return first[: first.index(" ")], done.stdout

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "processes", [["-n0"], ["-n2", "--dist", "loadgroup"]], ids=["alone", "in two processes"]
)
def test_what_has_passed_is_skipped_until_something_changes(run, tmp_path, processes):
    """A file of a study is an input of that study's tests and of tests of all studies; a test can
    name its inputs.
    """
    assert run("-n0")[0] == run("-n0")[0] == "...."
    run(*processes, "--content")
    outcomes, said = run("-n0")
    assert outcomes == "sss."
    assert content.UNCHANGED in said
    assert run("-n0", "--content")[0] == "...."
    (tmp_path / "course" / "study2_x" / "table.toml").touch()
    assert run("-n0")[0] == "s.s."
    run("-n0", "--content")
    (tmp_path / "course" / "shared.py").touch()
    assert run("-n0")[0] == "...."


@pytest.mark.slow
def test_what_has_failed_runs_again(run):
    """A failure removes the record of an earlier success."""
    run("-n0", "--content")
    assert run("-n0")[0] == "sss."
    assert run("-n0", "--content", FAIL="1")[0] == "F..."
    assert run("-n0")[0] == ".ss."


def test_the_inputs_are_code_and_data():
    """Tests are not among them."""
    names = [name for name, _ in content._files(("requirements.lock", *content.FOLDERS))]
    for part in (
        "autograder/studies/study3_type_a/heuristic.py",
        "autograder/doctor/proof.py",
        "course/study3_type_a/heuristic.py",
        "requirements.lock",
        "tictactoe/contract.py",
    ):
        assert part in names
    assert not any("/tests/" in name or "__pycache__" in name for name in names)
