"""The workflows of a public repository: valid, with the right branch, studies and Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograder.release.derive import COURSE
from autograder.release.public_course import publish
from autograder.release.public_course.files import WORKFLOWS
from autograder.tests.support.public_course import (
    FIRST,
    KIT,
    PAGES,
    SECOND,
    VERSION,
    git,
    site_of,
)
from autograder.workspace import answer_path

FOLDER = Path(".github", "workflows")


def workflow(folder: Path, name: str) -> dict:
    """A workflow of the repository."""
    return yaml.safe_load((folder / FOLDER / name).read_text("utf-8"))


def test_all_workflows_are_valid(published, folder):
    """The sources, which `run.py check workflows` checks, and the filled-in ones."""
    published(site=site_of())
    one = folder.with_name("one")
    publish(one, KIT, [FIRST], VERSION)
    files = [*WORKFLOWS.glob("*.yml"), *(folder / FOLDER).iterdir(), *(one / FOLDER).iterdir()]
    assert len(files) == 6
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([sys.executable, *command, *files], check=False, capture_output=True)
    assert done.returncode == 0, done.stdout
    listed = "import run; print(*run.WORKFLOWS)"
    known = subprocess.run(
        [sys.executable, "-c", listed],
        cwd=COURSE.parent,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert all(str(path) in known for path in WORKFLOWS.glob("*.yml"))


def test_a_repository_for_one_assignment_runs_its_checks(folder):
    """It is the starter code of an assignment in GitHub Classroom."""
    publish(folder, KIT, [FIRST], VERSION)
    job = workflow(folder, "check.yml")["jobs"]["check"]
    assert job["if"] == "${{ !github.event.repository.is_template }}"
    assert [step["run"] for step in job["steps"] if "run" in step] == ["python run.py check study1"]
    (python,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert python == {"python-version": "3.12"}  # that of grading
    assert not (folder / FOLDER / "pages.yml").exists()


@pytest.mark.parametrize(
    ("begun", "expected"),
    [((), ""), ((SECOND,), "study2"), ((FIRST, SECOND), "study1 study2")],
)
def test_a_repository_of_the_course_checks_the_studies_that_are_begun(
    published, folder, tmp_path, begun, expected
):
    """Without one, the job ends before it sets up Python."""
    published()
    for study in begun:
        (folder / "course" / study.assignment / study.module).write_bytes(
            answer_path(study).read_bytes()
        )
    steps = workflow(folder, "check.yml")["jobs"]["check"]["steps"]
    (find,) = [step for step in steps if step.get("id") == "begun"]
    output = tmp_path / "output"
    output.touch()
    subprocess.run(
        ["bash", "-e", "-c", find["run"]],
        cwd=folder,
        check=True,
        env={**os.environ, "GITHUB_OUTPUT": str(output)},
    )
    assert output.read_text("utf-8").split() == f"studies= {expected}".split()
    later = steps[steps.index(find) + 1 :]
    assert {step["if"] for step in later} == {"${{ steps.begun.outputs.studies }}"}
    assert later[-1]["run"] == "python run.py check ${{ steps.begun.outputs.studies }}"


def test_the_site_that_pages_uploads_is_the_published_one(published, folder, tmp_path):
    """The workflow checks out a branch that was pushed with the same command."""
    remote, there = tmp_path / "remote.git", tmp_path / "runner"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(remote))
    done = published(site=site_of())
    git(folder, "remote", "add", "origin", str(remote))
    git(folder, *done.push_command()[3:])
    pages = workflow(folder, "pages.yml")
    assert pages[True] == {  # YAML's "on"
        "push": {"branches": ["main"], "paths": ["published.json"]},
        "workflow_dispatch": None,
    }
    job = pages["jobs"]["deploy"]
    assert job["if"] == "github.event.repository.has_pages"
    checkout, upload, _ = job["steps"]
    git(tmp_path, "clone", "-q", "-b", checkout["with"]["ref"], str(remote), str(there))
    assert upload["with"]["path"] == "."
    found = {path.name: path.read_bytes() for path in there.iterdir() if path.is_file()}
    assert found == PAGES
    # A repository that is made from the template has only the main branch.
    git(tmp_path, "clone", "-q", "--single-branch", str(remote), str(tmp_path / "student"))
    assert not (tmp_path / "student" / "index.html").exists()
