"""The worker kit: all that a worker needs to ask submissions, and nothing that answers."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands.cli import app
from autograder.release import worker_kit
from autograder.release.derive import COURSE
from autograder.release.kit import TEMPLATES, read
from autograder.sandbox import worker
from autograder.sandbox.cluster import PATIENCE
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


def test_all_code_in_it_is_compared(names):
    """A worker whose copy of any module or table differs is another version: none is left out."""
    compared = {
        path.relative_to(COURSE.parent).as_posix()
        for folder in worker.kit_folders()
        for path in cluster.code_files(folder)
    }
    code = {name for name in names if name.endswith(cluster.CODE)} - {"autograder/__init__.py"}
    assert code == compared
    assert "course/probes/questions/study3_type_a.py" in code
    assert "autograder/sandbox/inside/tests.py" in code


def test_nothing_of_the_staff_is_in_it_but_the_sandbox(names):
    """No answer, no hidden position, no expected reply; find_leaks has read every byte besides."""
    assert worker_kit.SETTINGS in names
    staff = {Path(name).parts[1] for name in names if name.startswith("autograder/")}
    assert staff == {"__init__.py", "sandbox"}


@pytest.mark.parametrize("change", ["module", "table", "name"])
def test_any_change_of_the_code_is_another_digest(tmp_path, change):
    """One byte, or a name: what a folder of tests or of a student holds decides nothing."""
    root = tmp_path / "probes"
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
    """One sentence, and nothing is made."""
    monkeypatch.setattr(worker_kit, "find_spec", lambda name: None)
    archive = tmp_path / "worker.zip"
    done = CliRunner().invoke(app, ["release", "--worker", "--output", str(archive)])
    assert done.exit_code == 2
    assert "`python3 run.py setup cluster` installs it" in done.stderr.replace("\n", " ")
    assert not archive.exists()


def test_two_archives_at_once_are_refused():
    """One sentence, and nothing is made."""
    done = CliRunner().invoke(app, ["release", "--kit", "--worker"])
    assert done.exit_code == 2
    assert "--kit and --worker make two archives" in done.stderr


def test_the_guide_says_how_long_a_cluster_may_be_away():
    """The number in the text is the one in the code."""
    text = " ".join((COURSE.parent / "docs" / "scale.md").read_text("utf-8").split())
    assert PATIENCE == 10 * 60
    assert "waits ten minutes for a scheduler, or for a worker" in text


def test_the_guide_and_the_kit_have_the_same_commands():
    """The README that a machine gets, and the guide to scale, but for the number of workers."""
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
    """Each name in dask.yaml is one that Dask knows by default: a name of ours would do nothing."""
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
