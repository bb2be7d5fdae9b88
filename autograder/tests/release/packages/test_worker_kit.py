"""The worker kit contains everything needed to run submissions and nothing that gives answers."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.release import worker_kit
from autograder.release.derive import COURSE
from autograder.release.kit import TEMPLATES, read
from autograder.sandbox import worker
from autograder.sandbox.cluster import MAX_OUTAGE_SECONDS
from autograder.tests.support.needs import need_module
from sequence.league import cluster


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> set[str]:
    """The files of the archive, by their paths in the checkout."""
    need_module("distributed", "what workers get")
    archive = tmp_path_factory.mktemp("kit") / "worker.zip"
    worker_kit.make_worker_kit(archive)
    return {
        name.partition("/")[2] for name in (member.name for member in read(archive.read_bytes()))
    }


@pytest.mark.slow
def test_all_code_in_it_is_compared(names):
    """A worker with a different copy of any module or table is another version."""
    compared = {
        path.relative_to(COURSE.parent).as_posix()
        for folder in worker.kit_folders()
        for path in cluster.code_files(folder)
    }
    code = {name for name in names if name.endswith(cluster.CODE_SUFFIXES)} - {
        "autograder/__init__.py"
    }
    assert code == compared
    assert "course/study3_type_a/_check/questions.py" in code
    assert "autograder/sandbox/inside/external_tests.py" in code


def test_nothing_of_the_staff_is_in_it_but_the_sandbox(names):
    """It has no answers, hidden positions or expected replies; find_leaks has also searched every
    byte.
    """
    assert worker_kit.SETTINGS in names
    staff = {Path(name).parts[1] for name in names if name.startswith("autograder/")}
    assert staff == {"__init__.py", "sandbox"}


@pytest.mark.parametrize("change", ["module", "table", "name"])
def test_any_change_of_the_code_is_another_digest(tmp_path, change):
    """The digest depends on every byte and name, except in folders of tests and of students."""
    root = tmp_path / "checks"
    for name in ("ask.py", "study1.toml", "study1_x/mine.py", "tests/test_ask.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1\n", "utf-8")
    before = cluster.digest_of([root])
    for name in ("study1_x/mine.py", "tests/test_ask.py"):
        (root / name).write_text("2\n", "utf-8")
    assert cluster.digest_of([root]) == before
    if change == "name":
        (root / "ask.py").rename(root / "asked.py")
    else:
        (root / ("ask.py" if change == "module" else "study1.toml")).write_text("2\n", "utf-8")
    assert cluster.digest_of([root]) != before


def test_without_dask_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    """The message is one sentence, and nothing is created."""
    monkeypatch.setattr(worker_kit, "find_spec", lambda name: None)
    archive = tmp_path / "worker.zip"
    done = CliRunner().invoke(app, ["generate", "--worker", "--output", str(archive)])
    assert done.exit_code == 2
    assert "run.py setup cluster` installs it" in done.stderr.replace("\n", " ")
    assert not archive.exists()


def test_two_archives_at_once_are_refused():
    """The message is one sentence, and nothing is created."""
    done = CliRunner().invoke(app, ["generate", "--kit", "--worker"])
    assert done.exit_code == 2
    assert "--kit and --worker make different archives" in done.stderr


def test_the_guide_says_how_long_a_cluster_may_be_away():
    """The number in the guide is the one in the code."""
    text = " ".join((COURSE.parent / "docs" / "scale.md").read_text("utf-8").split())
    assert MAX_OUTAGE_SECONDS == 10 * 60
    assert "waits ten minutes for a scheduler, or for a worker" in text


def test_the_guide_and_the_kit_have_the_same_commands():
    """The README for the machines and the scaling guide are the same, except the number of workers."""
    need_module("distributed", "what workers get")
    guide, readme = (
        re.sub(r"--nworkers \d+", "", text)
        for text in (
            (COURSE.parent / "docs" / "scale.md").read_text("utf-8"),
            worker_kit.contents()["README.md"].decode(),
        )
    )
    commands = re.search(r"```\n(.+?)```", readme, re.DOTALL)[1].splitlines()
    assert len(commands) == 4 and {*commands} <= {*guide.splitlines()}


def test_its_settings_are_settings_of_dask():
    """Each name in dask.yaml is one of Dask's defaults, because others would have no effect."""
    need_module("distributed", "what workers get")
    import dask.config
    import distributed  # noqa: F401 - it brings its defaults
    import yaml

    ours = yaml.safe_load((TEMPLATES / worker_kit.SETTINGS).read_text("utf-8"))
    theirs = dask.config.merge(*dask.config.defaults)

    def unknown(ours: dict, theirs: dict, path: str = "") -> list[str]:
        return [
            name
            for key, value in ours.items()
            for name in (
                [f"{path}{key}"]
                if key not in theirs
                else unknown(value, theirs[key], f"{path}{key}.")
                if isinstance(value, dict)
                else []
            )
        ]

    assert unknown(ours, theirs) == []
