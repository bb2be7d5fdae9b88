"""Commands for messages, in a form that can be pasted into a terminal.

A command starts with the program as the user called it, such as `python3 run.py` or `autograder`,
and contains the option `--course` unless the course is in the default folder.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

CALLED_AS = "AUTOGRADER_CALLED_AS"  # environment variable, set by run.py and `autograder`
KIT = Path(__file__).resolve().parents[1]
RUN_PY = "run.py"
ONLY_RUN_PY = ("lab", "setup")  # commands of run.py that `autograder` does not have
DISTRIBUTION = "adversarial-search-kit"


def program() -> str:
    """How the user called the program, for example `python3 run.py`."""
    return os.environ.get(CALLED_AS, "autograder")


def advice(command: str, *arguments: str, course: Path | None = None) -> str:
    """A command in backticks that works when pasted, for the end of a message.

    >>> advice("build", "study3")
    '`autograder build study3`'
    """
    words = [command, *arguments]
    if course is not None and course.resolve() != default_folder("course").resolve():
        words += ["--course", _displayed(course)]
    if command in ONLY_RUN_PY and RUN_PY not in program():
        return f"`{_without_run_py(command, arguments)}`"
    return f"`{program()} {join(words)}`"


def default_folder(name: str) -> Path:
    """A folder under `build/`: in the checkout if there is one, else in the current folder."""
    return (KIT if (KIT / "pyproject.toml").is_file() else Path()) / "build" / name


def join(words: list[str]) -> str:
    """The words of a command, quoted for this system's shell."""
    return shlex.join(words) if os.name == "posix" else subprocess.list2cmdline(words)


def called_directly() -> str:
    """The command by which the user called `autograder` without run.py."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return join([sys.orig_argv[0], "-m", "autograder"])
    folders = os.environ.get("PATH", "").split(os.pathsep)
    on_path = any(Path(folder) == started.parent for folder in folders if folder)
    return "autograder" if on_path else join([str(started)])


def _displayed(course: Path) -> str:
    """The path of a course folder: relative if it is below the current folder, else absolute."""
    path = course.resolve()
    try:
        current = Path.cwd()
    except OSError:  # it was deleted
        return str(path)
    return str(path.relative_to(current)) if current in path.parents else str(path)


def _without_run_py(command: str, arguments: tuple[str, ...]) -> str:
    """The equivalent of a command of run.py for users who called `autograder` instead."""
    if (KIT / RUN_PY).is_file():
        return join(["python3", str(KIT / RUN_PY), command, *arguments])
    if command == "lab":
        return join([sys.executable, "-m", "autograder.dashboard.overview", *arguments])
    extras = ",".join(arguments)
    return join([sys.executable, "-m", "pip", "install", f"{DISTRIBUTION}[{extras}]"])
