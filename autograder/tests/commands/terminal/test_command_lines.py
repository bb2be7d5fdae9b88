"""Every command that a message recommends exists, has the given options, and works when pasted."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

from autograder.commands.cli import app
from common import command_lines
from common.command_lines import CALLED_AS, KIT, ONLY_RUN_PY, advice, default_folder

PACKAGES = ("autograder", "common", "course", "sequence", "tictactoe")
LITERAL = re.compile(r"(?:`|run )(?:autograder|python3 run\.py) ([a-z][a-z-]*)")
DOCUMENTED = re.compile(
    r"(?:python3 run\.py|autograder) ((?:[a-z][a-z-]* )?.*?)(?:`|#|&&|\||$)", re.M
)
COMMANDS = typer.main.get_command(app).commands
OPTIONS = {
    name: {option for parameter in command.params for option in parameter.opts}
    for name, command in COMMANDS.items()
}
OF_RUN_PY = {"lab", "setup", "test", "check", "package", "league", "bench", "lock", "help"}


@cache
def sources() -> list[tuple[Path, ast.Module]]:
    """The product's modules that mention a command, without tests and notebooks."""
    texts = {
        path: path.read_text("utf-8")
        for package in PACKAGES
        for path in sorted((KIT / package).rglob("*.py"))
        if "tests" not in path.parts
    }
    return [
        (path, ast.parse(text))
        for path, text in texts.items()
        if "advice" in text or "autograder " in text or "run.py" in text
    ]


def calls_of_advice() -> Iterator[tuple[str, ast.Call]]:
    """Every call of `advice`, by location."""
    for path, tree in sources():
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        if command_lines.__name__ not in {node.module for node in imports}:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "advice":
                yield f"{path.relative_to(KIT)}:{node.lineno}", node


def messages() -> Iterator[tuple[str, str]]:
    """Every string in the sources that is not a docstring, by location."""
    for path, tree in sources():
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docstrings
            ):
                yield f"{path.relative_to(KIT)}:{node.lineno}", node.value


def test_every_recommended_command_exists():
    """A call of `advice` names an existing command and only options that this command has."""
    calls = list(calls_of_advice())
    assert len(calls) > 20
    for place, call in calls:
        command, *arguments = call.args
        if not isinstance(command, ast.Constant):  # a step of the dashboard, tested there
            assert place.startswith("autograder/dashboard/buttons.py"), place
            continue
        known = {*COMMANDS, *ONLY_RUN_PY}
        assert command.value in known, place
        texts = [node.value for node in arguments if isinstance(node, ast.Constant)]
        options = {text for text in texts if text.startswith("--")}
        if any(keyword.arg == "course" for keyword in call.keywords):
            options.add("--course")
        assert options <= OPTIONS.get(command.value, set()), place


def test_messages_recommend_commands_by_this_function_only():
    """Messages use this function, because a literal command might name the wrong program or course."""
    written_out = [
        f"{place}: {text}"
        for place, text in messages()
        for command in LITERAL.findall(text)
        if command in OPTIONS or command in OF_RUN_PY
    ]
    allowed = (  # help texts, and the text of generated files
        "autograder/benchmarks/",
        "autograder/doctor/case_selection.py",
        "autograder/grading/run/nbgrader_steps.py",
        "autograder/release/own_course/translation.py",
        "autograder/release/teaching.py",
    )
    assert [line for line in written_out if not line.startswith(allowed)] == []


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "deploy/README.md", *(
        path.relative_to(KIT).as_posix() for path in sorted((KIT / "docs").rglob("*.md")))],
)  # fmt: skip
def test_every_documented_command_exists(page):
    """The guides name only commands and options that exist."""
    for line in DOCUMENTED.findall((KIT / page).read_text("utf-8")):
        command, *words = line.replace("[", " ").replace("]", " ").split() or ["help"]
        if not re.fullmatch(r"[a-z][a-z-]*", command) or command in OF_RUN_PY:
            continue
        if command == "autograder" or (command not in OPTIONS and "run.py" not in line):
            continue
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options - {"--help"} <= OPTIONS[command], line


@pytest.mark.parametrize(
    ("called", "course", "line"),
    [
        ("autograder", "class", "autograder grade study2 --course class"),
        ("python3 run.py", "my class", "python3 run.py grade study2 --course 'my class'"),
        ("autograder", "/srv/class", "autograder grade study2 --course /srv/class"),
        ("autograder", ".", "autograder grade study2 --course {here}"),
        ("python3 run.py", None, "python3 run.py grade study2"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="Windows quotes in another way")
def test_a_command_is_as_the_user_called_it(monkeypatch, tmp_path, called, course, line):
    """A command is printed with the user's program, and with the course unless it is the default."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CALLED_AS, called)
    folder = default_folder("course") if course is None else Path(course)
    assert advice("grade", "study2", course=folder) == f"`{line.format(here=tmp_path)}`"


@pytest.mark.skipif(os.name != "posix", reason="Windows quotes in another way")
def test_commands_of_run_py_have_equivalents_without_it(monkeypatch, tmp_path):
    """Without run.py, `lab` is the module that it runs, and `setup` is pip."""
    monkeypatch.setenv(CALLED_AS, "autograder")
    assert advice("lab", "class") == f"`python3 {shlex.quote(str(KIT / 'run.py'))} lab class`"
    monkeypatch.setattr(command_lines, "KIT", tmp_path)
    assert advice("lab", "class").endswith(" -m autograder.dashboard.overview class`")
    assert advice("setup", "postgres").endswith(" pip install 'adversarial-search-kit[postgres]'`")


@pytest.mark.slow
def test_a_recommended_command_works_when_pasted(tmp_path):
    """The pasted command creates the missing course from the user's current folder."""
    environment = os.environ | {CALLED_AS: "python3 run.py"}  # inherited, but not used here
    command = [sys.executable, "-m", "autograder", "report", "study1", "-c", "my course"]
    settings = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    failed = subprocess.run(command, check=False, **settings)
    assert failed.returncode == 2
    (line,) = re.findall(r"`(.*)`", failed.stderr)
    assert line == f"{shlex.quote(sys.executable)} -m autograder generate --course 'my course'"
    pasted = [*shlex.split(line)[:4], "study1", *shlex.split(line)[4:]]  # a single study is faster
    subprocess.run(pasted, check=True, **settings)
    assert (tmp_path / "my course" / "release" / "study1_minimax").is_dir()
