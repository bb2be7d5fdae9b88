"""run.py, copied into an empty checkout, where it never installs anything."""

import ast
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from autograder.commands.cli import app
from autograder.course_folder import CONFIG_FILE, STUDENT_FILE

RUN = Path(__file__).parents[4] / "run.py"
TEXT = RUN.read_text("utf-8")
TOO_NEW = {"graphlib", "tomllib", "zoneinfo"}  # modules that an old Python lacks
EXTRA = "open_spiel"
posix = pytest.mark.skipif(os.name != "posix", reason="the pretended uv is a script with a #! line")


def load(root: Path) -> ModuleType:
    """The run.py of a checkout, as a module."""
    spec = spec_from_file_location(f"run_in_{root.name}", root / "run.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BOTH = ["requirements.lock", f"requirements-{EXTRA}.lock"]


@dataclass
class Recorder:
    """Replaces `subprocess.call` and `become`: records commands and creates the environment.

    A command that contains a word of `fails` ends with status 1; one that contains a word of
    `stops` raises KeyboardInterrupt. The command itself (anything but set-up) ends with `status`.
    """

    run: ModuleType
    fails: set[str] = field(default_factory=set)
    stops: set[str] = field(default_factory=set)
    status: int = 0
    installing: list[list[str]] = field(default_factory=list)
    running: list[tuple[list[str], str, dict]] = field(default_factory=list)

    def __call__(self, command, cwd=None, env=None, blocked=False) -> int:
        """Record a command and end as configured."""
        if env is None:
            self.installing.append(command)
        else:
            self.running.append((command, cwd, env))
        if "venv" in command:
            Path(self.run.PYTHON).parent.mkdir(parents=True, exist_ok=True)
            Path(self.run.PYTHON).touch()
        if self.stops & set(command):
            raise KeyboardInterrupt
        if self.fails & set(command):
            return 1
        return 0 if env is None else self.status

    def forget(self) -> None:
        """Forget the recorded commands, and let everything succeed."""
        for noted in (self.installing, self.running, self.fails, self.stops):
            noted.clear()


@dataclass(frozen=True)
class Checkout:
    """A folder with run.py and the files that it reads."""

    root: Path
    run: ModuleType
    calls: Recorder

    @property
    def environment(self) -> Path:
        """The folder of the environment."""
        return self.root / ".venv"

    def main(self, *arguments: str) -> int:
        """Run a command; a Ctrl-C that escapes from it fails the test."""
        try:
            return self.run.main(list(arguments))
        except KeyboardInterrupt:
            pytest.fail("Ctrl-C ended in a traceback")

    def stamps(self) -> list[str]:
        """The stamps of completed installations."""
        return sorted(path.name for path in self.environment.glob("installed*"))


def open_checkout(root: Path, monkeypatch) -> Checkout:
    """A checkout whose run.py has `subprocess.call` and `become` replaced."""
    run = load(root)
    calls = Recorder(run)
    monkeypatch.setattr(run, "subprocess", SimpleNamespace(call=calls))
    monkeypatch.setattr(run, "become", calls)
    return Checkout(root, run, calls)


@pytest.fixture
def programs(tmp_path, monkeypatch) -> Path:
    """The only folder on PATH, without programs."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def bare(tmp_path, programs, monkeypatch) -> Checkout:
    """A checkout in which nothing has been set up, on a system without uv."""
    root = tmp_path / "checkout"
    (root / "course").mkdir(parents=True)
    shutil.copy(RUN, root)
    for name in ("requirements.lock", f"requirements-{EXTRA}.lock", "pyproject.toml", "README.md"):
        (root / name).write_text(name, "utf-8")
    monkeypatch.chdir(tmp_path)  # no command depends on the current folder
    return open_checkout(root, monkeypatch)


@pytest.fixture
def ready(bare) -> Checkout:
    """A checkout that has been set up, with the extra."""
    assert bare.main("setup", EXTRA) == 0
    bare.calls.forget()
    return bare


def the_sentence(capsys) -> str:
    """The error message: the last line of stderr, by run.py."""
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("run.py: ")
    return last.removeprefix("run.py: ")


def pretend(run: ModuleType, monkeypatch, **changes) -> None:
    """Replace the `sys` that run.py sees, with only the attributes it uses and some changes."""
    seen = {
        name: getattr(sys, name)
        for name in ("executable", "stderr", "version", "version_info", "_base_executable")
    }
    monkeypatch.setattr(run, "sys", SimpleNamespace(**(seen | changes)))


# ---- Requirements


def test_it_imports_the_standard_library_only():
    """Every module that run.py imports is available in any Python before anything is installed."""
    names = set()
    for node in ast.walk(ast.parse(TEXT)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            names.add(node.module.split(".")[0])
    assert names
    assert names <= sys.stdlib_module_names - TOO_NEW


def test_messages_name_it_as_it_can_be_called(bare, monkeypatch):
    """Messages use its name in its own folder, and its path if the command runs elsewhere."""
    elsewhere = "python3 {}".format(shlex.quote(str(bare.root / "run.py")))
    assert bare.run.called_as(None) == bare.run.called_as("course") == elsewhere
    assert bare.run.called_as(str(bare.root)) == "python3 run.py"
    monkeypatch.chdir(bare.root)
    assert bare.run.called_as(None) == "python3 run.py"


def test_an_old_python_can_read_it():
    """Its syntax is valid in Python 3.5, so that an old Python can report that it is too old."""
    tree = ast.parse(TEXT, feature_version=(3, 7))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer)] == []


@pytest.mark.parametrize("version", [(3, 5), (3, 8), (3, 10)])
@pytest.mark.parametrize("command", ["help", "demo"])
def test_an_old_python_gets_a_message(bare, monkeypatch, capsys, version, command):
    """The message gives the required and the running version, and nothing else happens."""
    pretend(bare.run, monkeypatch, version_info=(*version, 1, "final", 0))
    assert bare.main(command) == 2
    assert the_sentence(capsys) == (
        "this needs Python 3.11 or newer, and python3 is {}.{}: run it with a newer one".format(
            *version
        )
    )
    assert bare.calls.installing == bare.calls.running == []


@pytest.mark.parametrize("version", [(3, 11), (3, 14), (4, 0)])
def test_a_python_that_is_new_enough_is_content(bare, monkeypatch, version):
    """It runs with the version that pyproject.toml requires, or a newer one."""
    pretend(bare.run, monkeypatch, version_info=(*version, 0, "final", 0))
    assert bare.main("setup") == 0


# ---- Help and invalid input


@pytest.mark.parametrize(
    "arguments", [[], ["help"], ["-h"], ["--help"], ["lock", "--help"], ["setup", "-h"]]
)
def test_help_is_printed(bare, capsys, arguments):
    """The help lists every command, and nothing is installed."""
    assert bare.main(*arguments) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for command in ("demo", "test", "lab", "league", "bench", "setup", "lock", "help"):
        assert f"\n  {command} " in said.out
    assert all(command in said.out for command in bare.run.AUTOGRADER)
    assert bare.calls.installing == bare.calls.running == []
    assert not bare.environment.exists()


def test_every_command_of_the_autograder_is_passed_on(bare):
    """run.py has the same commands as the autograder, with or without their own help."""
    names = {c.name or c.callback.__name__ for c in app.registered_commands}
    assert {*bare.run.AUTOGRADER, "demo"} == names


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["tset"], "there is no command 'tset'; `python3 run.py help` lists them"),
    (["--course", "x"], "there is no command '--course'; `python3 run.py help` lists them"),
    ([""], "there is no command ''; `python3 run.py help` lists them"),
    (["setup", "openspiel"],
     "there is no extra 'openspiel'; there are cluster, hub, open_spiel, postgres"),
    (["lock"], "`lock` needs uv: see its installation page, or `pip install uv`"),
], ids=["mistake", "option", "empty", "extra", "lock"])  # fmt: skip
def test_invalid_input_is_reported_in_one_sentence(bare, capsys, arguments, sentence):
    """The exit status is 2, and nothing is installed."""
    assert bare.main(*arguments) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"run.py: {sentence}\n")
    assert bare.calls.installing == bare.calls.running == []
    assert not bare.environment.exists()


@pytest.mark.parametrize(
    ("argument", "status", "start"),
    [
        ("help", 0, "usage: python3 run.py COMMAND"),
        ("tset", 2, "run.py: there is no command 'tset'"),
    ],
)
def test_the_real_command_says_the_same(bare, tmp_path, argument, status, start):
    """A real process reports the same from any folder."""
    done = subprocess.run(
        [sys.executable, "-W", "error", bare.root / "run.py", argument],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert (done.stderr if status else done.stdout).startswith(start)
    assert (done.stdout if status else done.stderr) == ""
    assert not bare.environment.exists()


# ---- Commands and working directories


PARALLEL = ["-n", "auto", "--dist", "loadgroup"]
QUICK = ["-m", "not slow"]
PASSED_ON = [
    (["demo"], "autograder", ["demo"]),
    (["grade", "study3", "--force"], "autograder", ["grade", "study3", "--force"]),
    (["autograder", "--help"], "autograder", ["--help"]),
    (["bench"], "autograder.benchmarks", []),
    (["bench", "search", "--json"], "autograder.benchmarks", ["search", "--json"]),
    (["test"], "pytest", ["-rs", *PARALLEL, *QUICK]),
    (["test", "--all"], "pytest", ["-rs", *PARALLEL]),
    (["test", "--all", "--content"], "pytest", ["-rs", *PARALLEL, "--content"]),
    (["test", "-m", "slow"], "pytest", ["-rs", *PARALLEL, "-m", "slow"]),
    (["test", "-k", "board"], "pytest", ["-rs", *PARALLEL, "-k", "board"]),
    (["test", "-n0", "-x"], "pytest", ["-rs", *QUICK, "-n0", "-x"]),
    (["test", "-n0", "--last-failed"], "pytest", ["-rs", "-n0", "--last-failed"]),
    (["test", "-n", "4", "course"], "pytest", ["-rs", "-n", "4", "course"]),
    (["test", "README.md::README.md"], "pytest", ["-rs", *PARALLEL, "README.md::README.md"]),
]


@pytest.mark.parametrize(
    ("arguments", "module", "rest"), PASSED_ON, ids=[" ".join(row[0]) for row in PASSED_ON]
)
def test_a_command_is_run_by_the_environments_python(ready, arguments, module, rest):
    """Arguments are passed unchanged. The autograder runs in the caller's folder, from which it
    imports nothing; other commands run in the checkout.
    """
    ours = module == "autograder"
    assert ready.main(*arguments) == 0
    ((command, folder, _),) = ready.calls.running
    assert command == [ready.run.PYTHON, *(["-P"] if ours else []), "-m", module, *rest]
    assert Path(command[0]).is_relative_to(ready.environment)
    assert folder == (None if ours else str(ready.root))


def test_the_environments_programs_come_first(ready, programs, monkeypatch):
    """nbgrader runs programs by name and finds the environment's; others stay available."""
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    monkeypatch.setenv("HOME_TOWN", "Dartmouth")
    ready.main("demo")
    ((_, _, environment),) = ready.calls.running
    assert environment["PATH"].split(os.pathsep) == [ready.run.BIN, str(programs)]
    assert Path(ready.run.BIN) == Path(ready.run.PYTHON).parent
    assert environment["VIRTUAL_ENV"] == str(ready.environment)
    assert "PYTHONHOME" not in environment
    assert environment["HOME_TOWN"] == "Dartmouth"


def test_products_have_one_thread_unless_somebody_says_otherwise(ready, monkeypatch):
    """With BLAS's own threads, an agent's small products took four times as long under load."""
    for name in ready.run.THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    ready.main("demo")
    ((_, _, environment),) = ready.calls.running
    assert [environment[name] for name in ready.run.THREADS] == ["3", "1", "1"]


def test_the_duration_of_the_tests_is_printed_first(bare, capsys):
    """The expected time and the command for all tests appear before the set-up, unless tests are
    selected.
    """
    said = []
    bare.run.set_up = lambda *extras: said.append(capsys.readouterr())
    for arguments in ([], ["--all"], ["-m", "not slow"]):
        assert bare.main("test", *arguments) == 0
    quick, every = bare.run.TEST_MINUTES
    assert (
        said[0]
        == said[1]
        == (
            "",
            (
                f"On two cores, the quick tests take about {quick} minutes; all tests, with "
                f"`python3 run.py test --all`, about {every}\n"
            ),
        )
    )
    assert said[2] == ("", "")
    page = (RUN.parent / "CONTRIBUTING.md").read_text("utf-8")
    assert f"runs the quick tests, in about {quick} minutes" in page.replace("\n", " ")
    readme = (RUN.parent / "README.md").read_text("utf-8")
    assert f"run the quick tests, in about {quick} minutes\n" in readme


@pytest.mark.parametrize("status", [0, 1, 5])
def test_the_exit_status_is_passed_on(ready, status):
    """run.py ends with the exit status of the command."""
    ready.calls.status = status
    assert ready.main("test") == status


def test_a_command_that_is_interrupted_leaves_no_traceback(ready, capsys):
    """Ctrl-C gives the exit status that a shell expects; the command has already printed its
    message.
    """
    ready.calls.stops.add("autograder")
    assert ready.main("demo") == 130
    assert capsys.readouterr().err == ""


@posix
def test_a_command_takes_the_place_of_run_py(ready):
    """A signal sent to run.py reaches the command, which would otherwise continue alone."""
    python = Path(ready.run.PYTHON)
    python.write_text(f"#!{sys.executable}\nimport os\nprint(os.getpid())\n", "utf-8")
    python.chmod(0o755)
    command = subprocess.Popen(
        [sys.executable, ready.root / "run.py", "demo"], text=True, stdout=subprocess.PIPE
    )
    assert int(command.communicate()[0]) == command.pid


# ---- JupyterLab


@pytest.mark.parametrize(("arguments", "opener", "folder", "rest"), [
    ([], "course.lab.start_page", "course", []), (["course"], "course.lab.start_page", "course", []),
    (["build/demo"], "autograder.dashboard.overview", "build/demo", []),
    (["build/student"], "course.lab.start_page", "build/student", []),
    (["course", "--no-browser", "--port=9999"], "course.lab.start_page", "course",
     ["--no-browser", "--port=9999"]),
    (["--no-browser"], "course.lab.start_page", "course", ["--no-browser"]),
    (["--port", "9999"], "course.lab.start_page", "course", ["--port", "9999"]),
    (["--port", "9999", "build/student", "--debug"], "course.lab.start_page", "build/student",
     ["--port", "9999", "--debug"]),
    (["--no-browser", "build/demo", "--ServerApp.port", "9999"], "autograder.dashboard.overview",
     "build/demo", ["--no-browser", "--ServerApp.port", "9999"]),
    (["--help-all"], "course.lab.start_page", "course", ["--help-all"]),
], ids=["default", "course", "demo", "student", "options", "flag alone", "value alone", "value first",
        "both sides", "all options"])  # fmt: skip
def test_lab_opens_a_folder(ready, arguments, opener, folder, rest):
    """A course folder opens with the staff's overview, any other with the students' start page;
    nothing in the folder is imported.
    """
    (ready.root / "build" / "demo").mkdir(parents=True)
    (ready.root / "build" / "demo" / CONFIG_FILE).touch()
    (ready.root / "build" / "student").mkdir()
    (ready.root / "build" / "student" / STUDENT_FILE).touch()
    assert ready.main("lab", *arguments) == 0
    ((command, where, _),) = ready.calls.running
    path = ready.root / folder
    assert command == [ready.run.PYTHON, "-P", "-m", opener, str(path), *rest]
    assert Path(where) == path


def test_lab_opens_a_new_course(ready, tmp_path, monkeypatch, capsys):
    """The folder is created in the current folder and opened with the staff's overview."""
    monkeypatch.chdir(tmp_path)
    assert ready.main("lab", "--new", "teaching/ai", "--no-browser") == 0
    ((command, where, _),) = ready.calls.running
    path = tmp_path / "teaching" / "ai"
    assert path.is_dir()
    assert command == [
        ready.run.PYTHON,
        "-P",
        "-m",
        "autograder.dashboard.overview",
        str(path),
        "--no-browser",
    ]
    assert Path(where) == path
    (tmp_path / "file").touch()
    assert [ready.main("lab", "--new"), ready.main("lab", "--new", "file")] == [2, 2]
    assert capsys.readouterr().err == (
        "run.py: --new needs the folder of the new course\n"
        "run.py: cannot make 'file': File exists\n"
    )


def test_lab_explains_itself(ready, capsys):
    """`--help` describes the folder and the main options, and opens nothing."""
    assert [ready.main("lab", "--help"), ready.main("lab", "course", "-h")] == [0, 0]
    assert ready.calls.running == []
    said = capsys.readouterr().out
    assert said.count("usage: python3 run.py lab [FOLDER] [OPTION ...]") == 2
    for option in ("--no-browser", "--port 9999", "--help-all"):
        assert option in said


def test_lab_opens_one_folder(ready, capsys):
    """Two folders are an error, and neither is opened."""
    assert ready.main("lab", "course", "build") == 2
    assert capsys.readouterr().err == (
        "run.py: JupyterLab opens one folder, not 'course' and 'build'\n"
    )
    assert ready.calls.running == []


def test_lab_looks_for_a_folder_here_first(ready, tmp_path, monkeypatch):
    """A relative path refers to the caller's folder; `course` opens the kit's own course from
    anywhere.
    """
    (tmp_path / "elsewhere" / "course").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    ready.main("lab", "course")
    ready.main("lab")
    assert [Path(where) for _, where, _ in ready.calls.running] == [
        tmp_path / "elsewhere" / "course",
        ready.root / "course",
    ]


@pytest.mark.parametrize("folder", ["build/demo", "README.md"])
def test_lab_needs_a_folder(ready, capsys, folder):
    """If there is no such folder, the message explains how to create one."""
    assert ready.main("lab", folder) == 2
    assert capsys.readouterr().err == (
        f"run.py: there is no folder '{folder}'; `python3 run.py demo` makes build/demo\n"
    )
    assert ready.calls.running == []


# ---- Set-up


def locks(calls: Recorder) -> list[str]:
    """The installed locks, in order; an extra's lock follows the one it is compatible with."""
    return [
        Path(pins[-1]).name
        for command in calls.installing
        if (pins := [b for a, b in pairwise(command) if a == "-r"])
    ]


def test_the_first_command_sets_up(bare, capsys):
    """The first command creates an environment, installs the lock with hashes and this folder
    offline, then runs.
    """
    assert bare.main("demo") == 0
    venv, locked, this = bare.calls.installing
    assert venv[1:] == ["-m", "venv", str(bare.environment)]
    python = [bare.run.PYTHON, "-m", "pip", "install"]
    assert locked[:4] == this[:4] == python
    assert locked[-3:] == ["--require-hashes", "-r", str(bare.root / "requirements.lock")]
    assert {"--no-deps", "--no-build-isolation"} <= set(this)
    assert this[-2:] == ["-e", str(bare.root)]
    assert len(bare.calls.running) == 1
    assert bare.stamps() == ["installed"]
    assert capsys.readouterr().err == (
        f"Setting up {bare.environment} from requirements.lock ...\n"
    )


@pytest.mark.parametrize("watched", [True, False])
def test_pip_shows_how_it_goes_where_somebody_watches(bare, monkeypatch, watched):
    """In a terminal pip shows the progress of the long step; in a log it is quiet."""
    stderr = SimpleNamespace(isatty=lambda: watched, write=lambda said: None, flush=lambda: None)
    pretend(bare.run, monkeypatch, stderr=stderr)
    assert bare.main("setup") == 0
    assert ("-q" in bare.calls.installing[1]) != watched


@pytest.mark.parametrize("arguments", [["setup"], ["setup", EXTRA], ["demo"]], ids=" ".join)
def test_nothing_is_installed_twice(ready, capsys, arguments):
    """If the stamps are current, a command starts immediately."""
    before = {path: path.stat().st_mtime_ns for path in ready.environment.rglob("*")}
    assert ready.main(*arguments) == 0
    assert ready.calls.installing == []
    assert capsys.readouterr().err == ""
    assert {path: path.stat().st_mtime_ns for path in ready.environment.rglob("*")} == before


def test_the_extra_is_added_to_the_environment(bare):
    """The existing environment is kept, and the first lock is not reinstalled."""
    assert bare.main("setup") == 0
    bare.calls.forget()
    assert bare.main("setup", EXTRA) == 0
    assert len(bare.calls.installing) == 1
    assert locks(bare.calls) == [f"requirements-{EXTRA}.lock"]
    assert bare.stamps() == ["installed", f"installed-{EXTRA}"]


@pytest.mark.parametrize(
    ("name", "setups", "command"),
    [
        ("requirements.lock", BOTH, ["demo"]),
        ("pyproject.toml", BOTH, ["demo"]),
        ("requirements.lock", BOTH, ["setup", EXTRA]),
        (f"requirements-{EXTRA}.lock", BOTH[1:], ["setup", EXTRA]),
        (f"requirements-{EXTRA}.lock", BOTH[1:], ["demo"]),
        ("README.md", [], ["demo"]),
        ("python", BOTH, ["demo"]),
        (".venv/installed", BOTH, ["demo"]),
    ],
)
def test_what_has_changed_is_installed_again(ready, name, setups, command):
    """A changed lock or project file or a lost or unusable environment is reinstalled, once, and
    nothing else. An extra that was set up once stays.
    """
    if name == "python":
        Path(ready.run.PYTHON).unlink()
    else:
        (ready.root / name).write_text("changed", "utf-8")
    assert ready.main(*command) == 0
    assert locks(ready.calls) == setups
    ready.calls.forget()
    assert ready.main(*command) == 0
    assert ready.calls.installing == []


def test_another_python_sets_up_again(ready, monkeypatch):
    """An environment made by another Python version is recreated."""
    pretend(ready.run, monkeypatch, version="3.99.0 (from tomorrow)")
    assert ready.main("demo") == 0
    assert locks(ready.calls) == BOTH


def test_a_checkout_that_was_moved_is_set_up_again(ready, tmp_path, monkeypatch):
    """An environment contains its absolute path, so a moved one is recreated."""
    moved = open_checkout(ready.root.rename(tmp_path / "moved"), monkeypatch)
    assert moved.main("demo") == 0
    assert locks(moved.calls) == BOTH


def test_a_new_environment_holds_nothing_old(ready):
    """Packages that were removed from the lock are removed from the environment."""
    leftover = ready.environment / "leftover.txt"
    leftover.touch()
    (ready.root / "requirements.lock").write_text("changed", "utf-8")
    assert ready.main("setup") == 0
    assert not leftover.exists()
    assert ready.stamps() == ["installed", f"installed-{EXTRA}"]


@pytest.mark.parametrize("how", ["fails", "stops"])
@pytest.mark.parametrize("step", ["venv", "-r", "-e"])
def test_a_set_up_that_ends_early_forgets_no_extra(ready, how, step):
    """If recreating the environment for another lock fails, the next command installs everything."""
    (ready.root / "requirements.lock").write_text("changed", "utf-8")
    getattr(ready.calls, how).add(step)
    assert ready.main("demo") != 0
    ready.calls.forget()
    assert ready.main("demo") == 0
    assert locks(ready.calls) == BOTH


def test_an_extra_that_is_no_more_is_forgotten(ready):
    """An extra whose lock a later version lacks is ignored."""
    (ready.root / f"requirements-{EXTRA}.lock").unlink()
    assert ready.main("demo") == 0
    assert ready.calls.installing == []


def test_an_activated_environment_does_not_recreate_itself(bare, monkeypatch):
    """If .venv's own Python runs run.py, its base Python creates the new environment."""
    pretend(bare.run, monkeypatch, executable=bare.run.PYTHON, _base_executable="/usr/bin/python3")
    assert bare.main("setup") == 0
    assert bare.calls.installing[0][0] == "/usr/bin/python3"


# ---- Set-up that fails


def test_missing_venv_is_reported(bare, capsys):
    """The message names the package to install, and no partial environment remains."""
    bare.calls.fails.add("venv")
    assert bare.main("demo") == 2
    sentence = the_sentence(capsys)
    assert sentence.startswith("Python's venv or pip is missing. Install it")
    assert "sudo apt install python3-venv" in sentence
    assert "or install uv" in sentence
    assert len(bare.calls.installing) == 1
    assert bare.calls.running == []
    assert not bare.environment.exists()


@pytest.mark.parametrize("step", ["-r", "-e"])
def test_a_failed_installation_is_reported_and_repeated(bare, capsys, step):
    """The command is not run and no stamp is written; the next command repeats the installation."""
    bare.calls.fails.add(step)
    assert bare.main("demo") == 2
    assert the_sentence(capsys).startswith("the installation failed; its last lines show why")
    assert step in bare.calls.installing[-1]
    assert bare.stamps() == []
    assert bare.calls.running == []
    bare.calls.forget()
    assert bare.main("demo") == 0
    assert len(bare.calls.installing) == 3
    assert len(bare.calls.running) == 1
    assert bare.stamps() == ["installed"]


def test_a_failed_extra_leaves_the_rest_as_it_was(bare, capsys):
    """Only the extra has no stamp, and the next command installs only the extra."""
    assert bare.main("setup") == 0
    bare.calls.forget()
    bare.calls.fails.add("-r")
    assert bare.main("setup", EXTRA) == 2
    assert the_sentence(capsys).startswith("the installation failed")
    assert bare.stamps() == ["installed"]
    bare.calls.forget()
    assert bare.main("setup", EXTRA) == 0
    assert locks(bare.calls) == [f"requirements-{EXTRA}.lock"]


@pytest.mark.parametrize("step", ["venv", "-r", "-e"])
def test_a_set_up_that_is_interrupted_begins_again(bare, capsys, step):
    """Ctrl-C is reported without a traceback, no stamp is written, and the next command sets up."""
    bare.calls.stops.add(step)
    assert bare.main("demo") == 130
    assert the_sentence(capsys) == "stopped during set-up; run the same command again to continue"
    assert bare.stamps() == []
    assert bare.calls.running == []
    bare.calls.forget()
    assert bare.main("demo") == 0
    assert len(bare.calls.installing) == 3


# ---- uv

UV = """#!{python}
import pathlib, sys
here = pathlib.Path(__file__).parent
with open(here / "uv.log", "a") as log:
    print(*sys.argv[1:], sep="\\t", file=log)
if sys.argv[1] == "venv":
    pathlib.Path(sys.argv[-1]).mkdir()
sys.exit((here / "uv.fails").exists())
"""


@pytest.fixture
def uv(bare, programs, monkeypatch) -> Path:
    """An executable called uv on PATH that logs its arguments; the fixture returns its log."""
    (programs / "uv").write_text(UV.format(python=sys.executable), "utf-8")
    (programs / "uv").chmod(0o755)

    def call(command, **settings):
        assert command[0] == str(programs / "uv"), "something else would install"
        return subprocess.call(command, **settings)

    monkeypatch.setattr(bare.run, "subprocess", SimpleNamespace(call=call))
    return programs / "uv.log"


def uv_calls(log: Path) -> list[list[str]]:
    """The arguments of each call of uv."""
    return [line.split("\t") for line in log.read_text("utf-8").splitlines()]


@posix
def test_uv_installs_where_it_is_on_path(bare, uv):
    """uv creates the environment and installs the same packages as pip would."""
    assert bare.main("setup") == 0
    venv, locked, this = uv_calls(uv)
    assert venv[0] == "venv"
    assert venv[-1] == str(bare.environment)
    for step in (locked, this):
        assert step[:2] == ["pip", "install"]
        assert step[step.index("--python") + 1] == bare.run.PYTHON
    assert locked[-3:] == ["--require-hashes", "-r", str(bare.root / "requirements.lock")]
    assert "--no-deps" in this
    assert this[-2:] == ["-e", str(bare.root)]
    assert bare.stamps() == ["installed"]


@posix
def test_a_failing_uv_is_reported(bare, uv, capsys):
    """A failure is reported as with pip, and no stamp is written."""
    (uv.parent / "uv.fails").touch()
    assert bare.main("setup") == 2
    assert len(uv_calls(uv)) == 1
    assert the_sentence(capsys)
    assert not bare.environment.exists()


@posix
def test_lock_renews_every_lock(bare, uv):
    """All locks are compiled with hashes for every platform, without a set-up."""
    (bare.root / "requirements.lock").write_text(
        "numpy==2.1 \\\n    --hash=sha256:0\ntyper==0.15 ; python_version < '3.14' \\\n", "utf-8"
    )
    assert bare.main("lock") == 0
    calls = uv_calls(uv)
    assert [Path(call[call.index("-o") + 1]).name for call in calls] == [
        "requirements.lock",
        "build.lock",
        "browser.lock",
        *(f"requirements-{extra}.lock" for extra in bare.run.EXTRAS),
    ]
    assert EXTRA in bare.run.EXTRAS
    for call in calls:
        assert call[:2] == ["pip", "compile"]
        assert "--generate-hashes" in call
        assert ("--universal" in call) != ("wasm32-pyodide2024" in call)  # the browser's
    for extra in calls[3:]:  # omits the packages of the first lock, and agrees with it
        assert str(bare.root / "requirements.lock") in extra
        assert [b for a, b in pairwise(extra) if a == "--no-emit-package"] == ["numpy", "typer"]
    assert not bare.environment.exists()


@posix
def test_a_lock_that_cannot_be_renewed_gives_an_error_status(bare, uv):
    """uv has already printed the reason."""
    (uv.parent / "uv.fails").touch()
    assert bare.main("lock") == 1


GROUPED = """
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test_that_shares(number, worker_id):
    print(worker_id)
"""


@pytest.mark.slow
def test_tests_of_one_group_share_a_worker(tmp_path):
    """A fixture shared by a group is created once if pytest runs in several processes."""
    (tmp_path / "test_grouped.py").write_text(GROUPED, "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "2",
            "--dist",
            "loadgroup",
            "-v",
            "-p",
            "no:cacheprovider",
            ".",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
    )
    assert done.stdout.count("PASSED") == 6
    assert len({worker for worker in ("[gw0]", "[gw1]") if worker in done.stdout}) == 1, done.stdout


def test_check_with_a_study_runs_the_checks_of_a_student_s_module(ready):
    """The command runs in the caller's folder, and its status is passed on; without a study, the
    code of the kit is checked.
    """
    ready.calls.status = 1
    assert ready.main("check", "study3", "--folder", "mine") == 1
    ((command, folder, _),) = ready.calls.running
    assert command[1:] == ["-P", "-m", "course.check", "study3", "--folder", "mine"]
    assert folder is None
    assert ready.main("check", "nothing") == 2
