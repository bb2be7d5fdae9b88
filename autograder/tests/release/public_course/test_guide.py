"""The guide to a public course: its commands work, with local repositories instead of GitHub."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course_folder import CourseFolder
from autograder.release.derive import COURSE
from autograder.release.public_course.git import Repository
from autograder.release.public_course.proof import leaks_in
from autograder.tests.support.commands import autograder, is_one_sentence
from autograder.tests.support.public_course import PAGES, git
from autograder.workspace import answer_path
from course.checks import load_study
from course.checks.study_paths import VARIABLE

GUIDE = (COURSE.parent / "docs" / "public_course.md").read_text("utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```\n(.*?)```", GUIDE, re.DOTALL)
    for line in block.splitlines()
]
AT_GITHUB = "https://github.com/"
ONLY_AT_GITHUB = (["gh", "api"], ["gh", "workflow"], ["gh", "repo", "edit"])
STUDY = load_study("study1")


def run_line(command: list[str], home: Path, site: Path) -> None:
    """Run one command of the guide; one study and a finished site are enough."""
    github = home.parent / "github"
    if command[:3] == ["gh", "repo", "create"]:
        git(home, "init", "-q", "--bare", "-b", "main", str(github / f"{command[3]}.git"))
    elif command[:2] == ["python3", "run.py"]:
        full = [] if "--site" in command else ["--study", "study1", "--finished-site", str(site)]
        done = autograder(*command[2:], *full)
        assert done.exit_code == 0, done.stderr
    elif command[0] == "git":
        git(home, *(word.replace(AT_GITHUB, f"{github}/") for word in command[1:]))
    else:
        assert any(command[: len(words)] == words for words in ONLY_AT_GITHUB), command


@pytest.mark.slow
def test_the_guide_leads_to_public_repositories_without_answers(tmp_path, monkeypatch):
    """All commands work in this order; a student's copy runs the checks of the assignment."""
    home, site, student = tmp_path / "kit", tmp_path / "site", tmp_path / "student"
    git(tmp_path, "init", "-q", "-b", "main", str(home))
    git(home, "commit", "-q", "--allow-empty", "-m", "The private kit")
    site.mkdir()
    for name, data in PAGES.items():
        (site / name).write_bytes(data)
    monkeypatch.chdir(home)
    for command in COMMANDS:
        run_line(command, home, site)
    remotes = tmp_path / "github" / "YOU"
    branches = {
        path.stem: git(path, "for-each-ref", "--format=%(refname:short)").split()
        for path in remotes.iterdir()
    }
    assert branches == {
        "private_kit": ["main"],
        "public_course": ["main", "site"],
        "starter_study1": ["main"],
    }
    for name in ("public_course", "starter_study1"):
        assert leaks_in(Repository(remotes / f"{name}.git").objects()) == []
    assert git(remotes / "public_course.git", "rev-list", "--count", "main") == "1"  # no update
    git(tmp_path, "clone", "-q", str(remotes / "starter_study1.git"), str(student))

    def check() -> int:
        command = [sys.executable, "-P", "-m", "course.check", "study1"]
        environment = {**os.environ, "PYTHONPATH": str(student)}
        return subprocess.run(
            command, cwd=student, env=environment, capture_output=True, check=False
        ).returncode

    assert check() == 1
    module = student / "course" / STUDY.assignment / STUDY.module
    module.write_bytes(answer_path(STUDY).read_bytes())
    assert check() == 0


def test_the_guide_is_one_page_and_names_the_files(published, folder):
    """Its workflow file is the one that is published."""
    assert len(GUIDE.splitlines()) < 100
    published()
    assert (folder / ".github/workflows/check.yml").is_file()
    assert "`.github/workflows/check.yml`" in GUIDE


@pytest.mark.slow
def test_a_course_publishes_its_own_versions(tmp_path, monkeypatch):
    """Points of the course's table are in the public repository, and its folder is not named."""
    monkeypatch.setenv(VARIABLE, "")
    course, public = tmp_path / "my course", tmp_path / "public"
    CourseFolder.create(course)
    check = next(iter(STUDY.checks))
    aspect = next(iter(STUDY.checks[check].points))
    (course / "course.toml").write_text(
        f"[study1]\npoints = {{ {check} = {{ {aspect} = 9.5 }} }}\n", "utf-8"
    )
    options = ["--course", str(course), "--study", "study1", "--site", "none"]
    done = autograder("publish", str(public), *options)
    assert done.exit_code == 0, done.stderr
    table = public / "course" / STUDY.assignment / "_check" / "checks.toml"
    assert "9.5" in table.read_text("utf-8")
    assert "9.5" not in STUDY.table.read_text("utf-8")
    objects = list(Repository(public).objects())
    assert not [file.name for file in objects if str(tmp_path).encode() in file.data]
    record = json.loads((public / "published.json").read_text("utf-8"))
    assert record["version"] in git(public, "log", "--format=%s")
    assert "is up to date" in autograder("publish", str(public), *options).stdout


def test_refusals_of_the_command_are_one_sentence(tmp_path):
    """Nothing is made in these cases."""
    (tmp_path / "mine.txt").write_text("mine\n", "utf-8")
    for arguments in (
        [str(tmp_path), "--study", "study1", "--site", "none"],
        [str(tmp_path / "new"), "--study", "study1", "--finished-site", str(tmp_path)],
        [str(tmp_path / "new"), "--course", str(tmp_path)],
        [str(tmp_path / "new"), "--study", "study99"],
    ):
        done = autograder("publish", *arguments)
        assert done.exit_code == 2
        assert is_one_sentence(done.stderr), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
