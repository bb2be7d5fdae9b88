"""Derived files are up to date: stubs, notebooks, expected replies, node counts and locks."""

import ast
import json
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from autograder.release.derive import _loses, derived_files, files_of_all
from autograder.studies import hidden_cases
from course.checks import load_check, load_study, studies

ROOT = Path(__file__).parents[3]
SIX = {"jupyterlab", "numpy", "matplotlib", "ipywidgets", "nbgrader", "pytest"}


def project() -> dict:
    """The `[project]` table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.slow
@pytest.mark.usefixtures("cached_replies")
@pytest.mark.parametrize(
    "of",
    [
        *(
            pytest.param(name, marks=[pytest.mark.xdist_group(name), pytest.mark.content(name)])
            for name in studies()
        ),
        pytest.param("all together", marks=pytest.mark.content()),
    ],
)
def test_derived_files_are_fresh(of):
    """Every derived file equals, byte for byte, the result of building it from its sources."""
    stale = [
        path.name
        for path, text in (derived_files(of) if of in studies() else files_of_all())
        if not path.exists() or path.read_bytes() != text.encode()
    ]
    assert not stale


def test_a_mistake_affects_only_checks_in_which_marked_aspects_are_wrong():
    """Aspects without points may differ: no student's reply is compared in them."""
    check = replace(load_check("study1.minimax"), points={"move": 1.0})
    right = {"move": 4, "value": 1, "nodes": 9}
    assert not _loses(check, [right], [{**right, "nodes": 8}])
    assert not _loses(check, [right], [{"move": 4, "errors": {"value": "KeyError: 1"}}])
    assert _loses(check, [right], [{**right, "move": 5}])
    assert _loses(check, [right], [{"nodes": 9, "errors": {"move": "KeyError: 1"}}])
    assert _loses(check, [right], [None])


@pytest.mark.parametrize("name", studies())
def test_expected_replies_take_a_line_each(name):
    """A change of one reply changes one line in the files of expected replies."""
    study = load_study(name)
    for path in (study.expected_file, hidden_cases.expected_file(study)):
        text = path.read_text("utf-8")
        data = json.loads(text)
        replies = [
            reply
            for observed in (data["expected"], *(s["observed"] for s in data["mistakes"]))
            for of_check in observed.values()
            for reply in of_check
        ]
        lines = [line.strip().removesuffix(",") for line in text.splitlines()]
        assert [json.loads(line) for line in lines if re.fullmatch(r"null|\{.+\}", line)] == replies


def supported_pythons() -> list[str]:
    """The Python versions that pyproject.toml lists and the workflows test."""
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))


def pinned_for(python: str) -> dict[str, str]:
    """The version of each package that requirements.lock installs for this Python, by name."""
    lines = re.findall(
        r"^(\S+==\S+(?: ; .+)?) \\$", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE
    )
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    return {
        r.name: str(r.specifier)
        for r in map(Requirement, lines)
        if r.marker is None or r.marker.evaluate(environment)
    }


def test_conda_pins_what_is_tested():
    """environment.yml has this folder and the six packages in the versions of requirements.lock for
    each of its Pythons, and each of these is tested.
    """
    text = (ROOT / "environment.yml").read_text("utf-8")
    listed = dict(re.findall(r"^  - ([a-z]+)([=<>]\S+)$", text, re.MULTILINE))
    range_ = SpecifierSet(listed.pop("python"))
    pythons = [f"3.{minor}" for minor in range(100) if f"3.{minor}" in range_]
    assert pythons
    assert set(pythons) <= set(supported_pythons())
    for python in pythons:
        pinned = pinned_for(python)
        assert listed == {name: pinned[name] for name in SIX}
    assert "      - -e .[test]\n" in text


def test_every_package_says_what_belongs_there_and_what_it_may_import():
    """Both are stated in each folder's docstring; the imports match a contract."""
    faces = [
        path
        for name in ("common", "tictactoe", "sequence", "course", "autograder")
        for path in (ROOT / name).rglob("__init__.py")
        if "tests" not in path.relative_to(ROOT).parts
    ]
    told = {path: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in faces}
    silent = [
        path.parent.relative_to(ROOT).as_posix()
        for path, text in told.items()
        if not re.search(r"May import|[Ii]mports (the|nothing)", text)
    ]
    assert len(faces) > 20
    assert silent == []


def test_every_dependency_has_a_line_in_the_table():
    """The table in CONTRIBUTING.md states the purpose of every direct dependency."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = page.split("\n## Dependencies\n")[1].split("\n## ")[0]
    named = {
        name.strip()
        for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        for name in row.split(",")
    }
    extras = [r for group in project()["optional-dependencies"].values() for r in group]
    wanted = {Requirement(r).name for r in [*project()["dependencies"], *extras]}
    assert wanted <= named


EXTRAS = ["cluster", "hub", "open_spiel", "postgres"]
CHECKS = dict(runpy.run_path(str(ROOT / "run.py"))["CHECKS"])
LOCKS = ["requirements.lock", *(f"requirements-{extra}.lock" for extra in EXTRAS)]


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_pin_every_dependency_with_hashes(lock):
    """Each lock pins the requirements of pyproject.toml with hashes and without URLs."""
    text = (ROOT / lock).read_text("utf-8")
    pinned = dict(re.findall(r"^([a-z0-9_.-]+)==([^\s;]+)", text, re.MULTILINE))
    wanted = [Requirement(r) for r in project()["dependencies"]]
    for extra in EXTRAS:
        if extra in lock:
            wanted = [Requirement(r) for r in project()["optional-dependencies"][extra]]
    for requirement in wanted:
        name = requirement.name.replace("_", "-")
        assert requirement.specifier.contains(pinned[name]), requirement
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


@pytest.mark.parametrize("other", LOCKS[1:])
def test_an_extras_lock_has_only_what_the_first_lacks(other):
    """No package has its version in two places."""
    first, extra = (
        set(re.findall(r"^([a-z0-9_.-]+)==", (ROOT / lock).read_text("utf-8"), re.MULTILINE))
        for lock in (LOCKS[0], other)
    )
    assert extra and not first & extra


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "types")) for n in CHECKS]
)
def test_every_check_passes(name):
    """Format, style, types, import directions, spelling and workflows have no problems."""
    command = [sys.executable, *CHECKS[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_call_run_py_and_know_every_supported_python():
    """A workflow step can be repeated locally, and the tests run on each supported Python."""
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / ".github").rglob("*.yml")}
    commands = [line for text in texts.values() for line in re.findall(r"- run: (.+)", text)]
    others = [line for line in commands if not line.startswith("python run.py ")]
    assert sorted(line.split()[:3] for line in others if "zipfile" not in line) == [
        ["gh", "release", "create"],
        ["sudo", "env", '"PATH=$PATH"'],
    ]
    tested = re.search(r"python: \[(.+)\]", texts["test.yml"])[1]
    assert re.findall(r"3\.\d+", tested) == supported_pythons()
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    stated = re.search(r"runs the quick tests with Python (.+)\.\n", page)[1]
    assert re.findall(r"3\.\d+", stated) == supported_pythons()


def test_engines_need_no_numpy():
    """The games and the checks import without numpy, matplotlib or IPython."""
    code = (
        "import sys\nfor name in ('numpy', 'matplotlib', 'IPython'): sys.modules[name] = None\n"
        "import tictactoe, tictactoe.explorables.tree, tictactoe.solver, sequence, course.check"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
