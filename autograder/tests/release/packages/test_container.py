"""The container recipe: its steps run in a fresh folder if no container can be built.

Steps that need root are skipped: no user is created, and the system's packages are only compared by
name. The worker runs as in a rootless container: in a user namespace, as an ordinary user.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import string
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from autograder import workspace
from autograder.benchmarks.support.cluster import START, local_cluster
from autograder.release import worker_kit
from autograder.release.derive import COURSE
from autograder.sandbox.client import Sandbox
from autograder.sandbox.cluster import Cluster, ClusterSandbox, worker_requirements
from autograder.sandbox.launch import bubblewrap
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.tests.support.needs import need_isolation, need_module
from course.checks import load_study

ROOT = COURSE.parent
HOME = "/home/somebody"  # in the images
PYTHON = getattr(sys, "_base_executable", None) or sys.executable  # as in the base image
AS_ROOT = ("useradd", "apt-get")  # steps that are not followed here
STUDY = load_study("study2")


def steps(target: str) -> list[tuple[str, str]]:
    """The instructions that make this image, starting with its base's: pairs like ("RUN", "a &&
    b").
    """
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    stages: dict[str, list[tuple[str, str]]] = {}
    given: dict[str, str] = {}
    found: list[tuple[str, str]] = []  # of the stage being read; empty before the first one
    for line in re.sub(r"\s*\\\n\s*", " ", text).splitlines():
        name, _, rest = line.partition(" ")
        if name == "ARG":
            given |= [rest.split("=")]
        elif name == "FROM":
            image, _, stage = string.Template(rest).substitute(given).partition(" AS ")
            stages[stage] = found = [*stages.get(image, [("FROM", image)])]
        elif line:
            found.append((name, rest))
    return stages[target]


def all_of(target: str, name: str) -> list[str]:
    """The arguments of all instructions with this name."""
    return [rest for step, rest in steps(target) if step == name]


def built(target: str, context: Path, home: Path) -> Mapping[str, str]:
    """Run the steps that need no root, with `home` replacing the image's; return the environment."""
    home.mkdir()
    ours = {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"}
    environment = {key: value for key, value in os.environ.items() if key not in ours} | {
        "HOME": str(home)
    }
    for name, rest in steps(target):
        if name == "ENV":
            environment |= [
                setting.replace(HOME, str(home)).split("=", 1) for setting in shlex.split(rest)
            ]
        elif name == "COPY":
            *options, source, destination = shlex.split(rest)
            assert (options, destination) == (["--chown=somebody"], "./")
            if source == ".":
                shutil.copytree(context, home, dirs_exist_ok=True)
            else:
                shutil.copy(context / source, home)
        elif name == "RUN" and not rest.startswith(AS_ROOT):
            step = re.sub(r"^python3 ", f"{shlex.quote(PYTHON)} ", rest)
            done = subprocess.run(
                ["/bin/sh", "-c", step],
                cwd=home,
                env=environment,
                text=True,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return environment


@pytest.mark.parametrize("target", ["worker", "lab"])
def test_an_image_is_small_and_runs_as_an_ordinary_user(target):
    """The base is Debian's slim image with a recent Python; the user is not root and has a home."""
    (base,) = all_of(target, "FROM")
    version = re.fullmatch(r"docker\.io/library/python:([\d.]+)-slim-bookworm", base)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"{version}.99" in SpecifierSet(project["requires-python"])
    user = all_of(target, "USER")[-1]
    assert f"useradd --create-home {user}" in all_of(target, "RUN")
    assert all_of(target, "WORKDIR") == [f"/home/{user}"] == [HOME]
    assert {name for name, _ in steps(target)} <= {
        "FROM",
        "ENV",
        "RUN",
        "USER",
        "WORKDIR",
        "COPY",
        "ENTRYPOINT",
        "CMD",
        "EXPOSE",
    }


def test_the_system_gets_what_the_tests_need_of_it():
    """These are bubblewrap and libseccomp, under the names that CI installs."""
    (apt,) = (step for step in all_of("worker", "RUN") if step.startswith("apt-get"))
    packages = re.search(r"--no-install-recommends (.+?) &&", apt)[1].split()
    assert packages == ["bubblewrap", "libseccomp2", "python3-venv"]  # the last on Debian's image
    assert {*packages} < {
        *re.search(r'packages="(.+?)"', (ROOT / ".ci" / "run").read_text("utf-8"))[1].split()
    }


def test_the_lab_is_the_student_kit_as_students_have_it():
    """The commands that build and start it are the ones that test_kit.py runs on a fresh machine."""
    assert [step for step in all_of("lab", "RUN") if not step.startswith(AS_ROOT)] == [
        "python3 run.py setup"
    ]
    assert all_of("lab", "COPY") == ["--chown=somebody . ./"]
    (command,) = map(json.loads, all_of("lab", "CMD"))
    assert command[:5] == ["python3", "run.py", "lab", "course", "--no-browser"]
    assert all_of("lab", "ENTRYPOINT") == []


@pytest.mark.slow
def test_a_worker_that_was_built_so_is_used(tmp_path):
    """A worker installed from its lock is accepted by the grader and gives the local replies."""
    need_module("distributed", "grading on a cluster")
    need_isolation()
    archive = worker_kit.make_worker_kit(tmp_path / "worker.zip").path
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(tmp_path)
    environment = built("worker", tmp_path / worker_kit.NAME, tmp_path / "home")
    (entry,) = map(json.loads, all_of("worker", "ENTRYPOINT"))
    container = [
        bubblewrap(),
        "--unshare-user",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--unshare-pid",
        "--die-with-parent",
        "--dev-bind",
        "/",
        "/",
        "--proc",
        "/proc",
    ]
    check = hidden_cases.hidden_study(STUDY.name).checks["alpha_beta"]
    files = {STUDY.module: workspace.module_texts(STUDY)["reference"].encode()}
    (tmp_path / "cluster").mkdir()
    with (
        local_cluster(tmp_path / "cluster", workers=0) as cluster,
        (tmp_path / "worker.log").open("w+") as log,
    ):
        worker = subprocess.Popen(
            [*container, *entry, cluster.address],
            cwd=tmp_path / "home",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            cluster.wait(1)
            with (
                contextlib.closing(
                    Cluster(cluster.address, max_outage_seconds=START)
                ) as connection,
                Sandbox(SandboxLimits()) as ours,
            ):
                assert connection.slots(worker_requirements(SandboxLimits())) == 1
                replies = ClusterSandbox(connection, SandboxLimits()).run_check(
                    files, STUDY.module, check, 60
                )
                assert not replies.broken
                assert replies == ours.run_check(files, STUDY.module, check, 60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGTERM)
            worker.wait(START)
            print((tmp_path / "worker.log").read_text("utf-8", "replace"))  # shown on failure
