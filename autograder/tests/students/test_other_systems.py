"""The students' side works without POSIX features, in its main process and all others.

Every process gets a `sitecustomize` module that removes these functions and modules after Python's
own library has been imported, and that reports Windows as the system.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import workspace
from course.checks import load_study

ROOT = Path(__file__).parents[3]
AS_ON_WINDOWS = """
import asyncio, glob, multiprocessing.util, pathlib, shutil, socket, subprocess, tempfile, zipfile
import IPython, matplotlib.pyplot, numpy, psutil  # as built for this system
import os, signal, sys, types

subprocess.signal = types.SimpleNamespace(**vars(signal))  # `Popen.kill` works on every system
for name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in ("fork", "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg", "getpgid",
             "getpgrp", "getsid", "getuid", "killpg", "mkfifo", "nice", "pread", "pwrite",
             "sched_getaffinity", "setgid", "setpgid", "setsid", "setuid", "sysconf", "uname",
             "wait3", "wait4", "waitid"):
    vars(os).pop(name, None)
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGXCPU", "alarm",
             "pthread_sigmask", "setitimer"):
    vars(signal).pop(name, None)
start = subprocess.Popen.__init__


def __init__(self, *arguments, preexec_fn=None, pass_fds=(), process_group=None, **others):
    if preexec_fn or pass_fds or process_group is not None:
        raise ValueError("not supported on Windows platforms")
    others.pop("start_new_session", None)  # which Windows ignores
    start(self, *arguments, **others)


subprocess.Popen.__init__ = __init__
sys.platform = "win32"
"""
DRIVER = """
import json, os, signal, sys

assert sys.platform == "win32" and not hasattr(os, "fork") and not hasattr(signal, "SIGKILL")
from course.check import check
from course.submission import make_submission
from course.lab.start_page import start_page
from sequence.league import league
from sequence.widget import replay
from tictactoe import Random
from tictactoe.boards.play_board import play_against

points = [check(name) for name in sys.argv[2:]]
stopped = check(sys.argv[1] + ".type_a", "../endless", seconds=1)
packed = make_submission(sys.argv[1])
board = play_against(Random(1))
rows = league(["Random", "Greedy"], deals=1, seed=1).rows
print(json.dumps({"points": points, "stopped": stopped, "zip": str(packed.path),
                  "page": len(str(start_page())), "board": repr(board),
                  "games": [row.wins for row in rows]}))
"""


@pytest.fixture
def windows(tmp_path):
    """The environment of a process without POSIX features."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(AS_ON_WINDOWS, "utf-8")
    paths = os.pathsep.join(map(str, (tmp_path / "site", ROOT)))
    return os.environ | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def run_there(code, environment, folder, *arguments):
    """The last line printed by the code, parsed as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.content
@pytest.mark.slow
def test_students_work_without_posix(windows, tmp_path):
    """Checks give points, an endless loop is stopped, a league is played, and the submission
    archive has names with slashes.
    """
    study = load_study("study3")
    folder = tmp_path / "course" / study.assignment
    for place, text in (
        (folder, workspace.answer_path(study).read_text("utf-8")),
        (tmp_path / "course" / "endless", "while True:\n    pass\n"),
    ):
        place.mkdir(parents=True)
        (place / study.module).write_text(text, "utf-8")
    checks = [check for check in study.checks.values() if not check.extra_credit]
    said = run_there(DRIVER, windows, folder, study.name, *(check.id for check in checks))
    assert said["points"] == [check.max_points for check in checks]
    assert said["stopped"] == 0
    assert said["games"] == [2, 0]
    assert said["page"] > 100
    assert said["board"].startswith("<Play against Random")
    with zipfile.ZipFile(said["zip"]) as archive:
        assert archive.namelist() == [f"{study.assignment}/{study.module}"]


def test_the_process_really_lacks_posix(windows, tmp_path):
    """The names are missing in the process and in its child process."""
    code = (
        "import os, subprocess, sys\n"
        "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\n"
        "here = [sys.platform, hasattr(os, 'fork'), fcntl is not None]\n"
        "if sys.argv[1:]:\n"
        "    subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)\n"
        "else:\n    print(here)\n"
        "assert here == ['win32', False, False], here\nprint('true')\n"
    )
    assert run_there(code, windows, tmp_path, code) is True


def test_shipped_code_guards_what_only_posix_has():
    """POSIX modules and functions are used only after a test that they exist."""
    guarded = re.compile(r"hasattr\(|sys\.platform|os\.name|find_spec")
    names = re.compile(
        r"\b(?:import (?:fcntl|resource|pwd|grp|termios)|os\.(?:fork|getuid|geteuid|killpg|setsid|"
        r"pread)\(|signal\.(?:SIGKILL|SIGALRM|SIGHUP|pthread_sigmask))"
    )
    found = []
    for package in ("common", "course", "sequence", "tictactoe"):
        for path in sorted((ROOT / package).rglob("*.py")):
            lines = path.read_text("utf-8").splitlines()
            if "tests" in path.parts:
                continue
            for number, line in enumerate(lines):
                before = "\n".join(lines[max(0, number - 8) : number])
                if names.search(line) and not guarded.search(before):
                    found.append(f"{path.relative_to(ROOT)}:{number + 1}")
    assert found == []
