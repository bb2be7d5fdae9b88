"""run.py at the root, on a copy of it in an empty checkout: nothing is ever installed here."""

import ast
import os
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

RUN = Path(__file__).parents[3] / "run.py"
TEXT = RUN.read_text("utf-8")
TOO_NEW = {"graphlib", "tomllib", "zoneinfo"}  # modules that an old Python does not have
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
    """Stands for `subprocess.call` and for `become`: notes commands and makes the environment.

    A command that has a word of `fails` in it ends with status 1, and one with a word of `stops` as
    if somebody had pressed Ctrl-C. The command itself, whatever is not setting up, ends with
    `status`.
    """

    run: ModuleType
    fails: set[str] = field(default_factory=set)
    stops: set[str] = field(default_factory=set)
    status: int = 0
    installing: list[list[str]] = field(default_factory=list)
    running: list[tuple[list[str], str, dict]] = field(default_factory=list)

    def __call__(self, command, cwd=None, env=None, blocked=False) -> int:
        """Note a command and end as it should."""
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
        """Forget what was noted, and let everything succeed."""
        for noted in (self.installing, self.running, self.fails, self.stops):
            noted.clear()


@dataclass(frozen=True)
class Checkout:
    """A folder with run.py and what it reads."""

    root: Path
    run: ModuleType
    calls: Recorder

    @property
    def environment(self) -> Path:
        """Where everything is installed."""
        return self.root / ".venv"

    def main(self, *arguments: str) -> int:
        """Run a command; a Ctrl-C that gets through it fails the test."""
        try:
            return self.run.main(list(arguments))
        except KeyboardInterrupt:
            pytest.fail("Ctrl-C ended in a traceback")

    def stamps(self) -> list[str]:
        """The stamps of what was installed to the end."""
        return sorted(path.name for path in self.environment.glob("installed*"))


def open_checkout(root: Path, monkeypatch) -> Checkout:
    """A checkout with `subprocess.call` and `become` replaced, for its run.py only."""
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
    """A checkout in which nothing has been set up, where there is no uv."""
    root = tmp_path / "checkout"
    (root / "course").mkdir(parents=True)
    shutil.copy(RUN, root)
    for name in ("requirements.lock", f"requirements-{EXTRA}.lock", "pyproject.toml", "README.md"):
        (root / name).write_text(name, "utf-8")
    monkeypatch.chdir(tmp_path)  # no command depends on where it is started
    return open_checkout(root, monkeypatch)


@pytest.fixture
def ready(bare) -> Checkout:
    """A checkout that has been set up, with the extra."""
    assert bare.main("setup", EXTRA) == 0
    bare.calls.forget()
    return bare


def the_sentence(capsys) -> str:
    """What was said of a problem: the last line of stderr, by run.py."""
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("run.py: ")
    return last.removeprefix("run.py: ")


def pretend(run: ModuleType, monkeypatch, **changes) -> None:
    """Let run.py see another `sys`: only what it uses, with changes."""
    seen = {
        name: getattr(sys, name)
        for name in ("executable", "stderr", "version", "version_info", "_base_executable")
    }
    monkeypatch.setattr(run, "sys", SimpleNamespace(**(seen | changes)))


# ---- What it needs


def test_it_imports_the_standard_library_only():
    """Every module that run.py imports is there before anything is installed, in any Python."""
    names = set()
    for node in ast.walk(ast.parse(TEXT)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            names.add(node.module.split(".")[0])
    assert names
    assert names <= sys.stdlib_module_names - TOO_NEW


def test_an_old_python_can_read_it():
    """It has no newer syntax than Python 3.5's, so that an old one can say that it is too old."""
    tree = ast.parse(TEXT, feature_version=(3, 7))
    newer = (ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer)] == []


@pytest.mark.parametrize("version", [(3, 5), (3, 8), (3, 10)])
@pytest.mark.parametrize("command", ["help", "demo"])
def test_an_old_python_is_told_so(bare, monkeypatch, capsys, version, command):
    """The sentence has the version that is needed and the one that runs, and nothing is done."""
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
    """From the version that pyproject.toml asks for, it works."""
    pretend(bare.run, monkeypatch, version_info=(*version, 0, "final", 0))
    assert bare.main("setup") == 0


# ---- Help, and bad input


@pytest.mark.parametrize("arguments", [[], ["help"], ["-h"], ["--help"]])
def test_help_is_printed(bare, capsys, arguments):
    """It lists every command, and nothing is installed."""
    assert bare.main(*arguments) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for command in ("demo", "test", "lab", "league", "bench", "setup", "lock", "help"):
        assert f"\n  {command} " in said.out
    assert all(command in said.out for command in bare.run.AUTOGRADER)
    assert bare.calls.installing == bare.calls.running == []
    assert not bare.environment.exists()


def test_every_command_of_the_autograder_is_passed_on(bare):
    """run.py knows the commands that the autograder has, with or without help of its own."""
    names = {c.name or c.callback.__name__ for c in app.registered_commands}
    assert {*bare.run.AUTOGRADER, "demo"} == names


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["tset"], "there is no command 'tset'; `python3 run.py help` lists them"),
    (["--course", "x"], "there is no command '--course'; `python3 run.py help` lists them"),
    ([""], "there is no command ''; `python3 run.py help` lists them"),
    (["setup", "openspiel"],
     "there is no extra 'openspiel'; there are cluster, hub, open_spiel, postgres"),
    (["lock"], "`lock` needs uv: see its installation page, or `pip install uv`"),
], ids=["slip", "option", "empty", "extra", "lock"])  # fmt: skip
def test_bad_input_is_told_in_one_sentence(bare, capsys, arguments, sentence):
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
    """It is the same in a process, whatever folder it is started in."""
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


# ---- What is run, and where


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
    """Its arguments are passed on as they are; the autograder runs in the caller's folder, from
    which it imports nothing, and the rest in the checkout."""
    ours = module == "autograder"
    assert ready.main(*arguments) == 0
    ((command, folder, _),) = ready.calls.running
    assert command == [ready.run.PYTHON, *(["-P"] if ours else []), "-m", module, *rest]
    assert Path(command[0]).is_relative_to(ready.environment)
    assert folder == (None if ours else str(ready.root))


def test_the_environments_programs_come_first(ready, programs, monkeypatch):
    """nbgrader calls programs by name: those of the environment are found, others stay there."""
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
    """With BLAS's own threads an agent's small products took four times as long beside other work."""
    for name in ready.run.THREADS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    ready.main("demo")
    ((_, _, environment),) = ready.calls.running
    assert [environment[name] for name in ready.run.THREADS] == ["3", "1", "1"]


def test_how_long_the_tests_take_is_told_at_once(bare, capsys):
    """Before anything is set up, with the command for all; not where somebody chose."""
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
                f"On two cores, the quick tests take about {quick} minutes; all of them, with "
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
    """Whatever the command ends with, run.py ends with."""
    ready.calls.status = status
    assert ready.main("test") == status


def test_a_command_that_is_interrupted_leaves_no_traceback(ready, capsys):
    """Ctrl-C ends it as a shell expects; the command has said what it had to say."""
    ready.calls.stops.add("autograder")
    assert ready.main("demo") == 130
    assert capsys.readouterr().err == ""


@posix
def test_a_command_takes_the_place_of_run_py(ready):
    """A signal sent to run.py reaches the command, which otherwise would continue alone."""
    python = Path(ready.run.PYTHON)
    python.write_text(f"#!{sys.executable}\nimport os\nprint(os.getpid())\n", "utf-8")
    python.chmod(0o755)
    command = subprocess.Popen(
        [sys.executable, ready.root / "run.py", "demo"], text=True, stdout=subprocess.PIPE
    )
    assert int(command.communicate()[0]) == command.pid


# ---- JupyterLab


@pytest.mark.parametrize(("arguments", "opener", "folder", "rest"), [
    ([], "course.start", "course", []), (["course"], "course.start", "course", []),
    (["build/demo"], "autograder.desk.overview", "build/demo", []),
    (["build/desk"], "course.start", "build/desk", []),
    (["course", "--no-browser", "--port=9999"], "course.start", "course",
     ["--no-browser", "--port=9999"]),
    (["--no-browser"], "course.start", "course", ["--no-browser"]),
    (["--port", "9999"], "course.start", "course", ["--port", "9999"]),
    (["--port", "9999", "build/desk", "--debug"], "course.start", "build/desk",
     ["--port", "9999", "--debug"]),
    (["--no-browser", "build/demo", "--ServerApp.port", "9999"], "autograder.desk.overview",
     "build/demo", ["--no-browser", "--ServerApp.port", "9999"]),
    (["--help-all"], "course.start", "course", ["--help-all"]),
], ids=["default", "course", "demo", "desk", "options", "flag alone", "value alone", "value first",
        "both sides", "all options"])  # fmt: skip
def test_lab_opens_a_folder(ready, arguments, opener, folder, rest):
    """A course folder opens with the staff's overview, any other with the students' start page;
    nothing in the folder is imported."""
    (ready.root / "build" / "demo").mkdir(parents=True)
    (ready.root / "build" / "demo" / CONFIG_FILE).touch()
    (ready.root / "build" / "desk").mkdir()
    (ready.root / "build" / "desk" / STUDENT_FILE).touch()
    assert ready.main("lab", *arguments) == 0
    ((command, where, _),) = ready.calls.running
    path = ready.root / folder
    assert command == [ready.run.PYTHON, "-P", "-m", opener, str(path), *rest]
    assert Path(where) == path


def test_lab_opens_a_new_course(ready, tmp_path, monkeypatch, capsys):
    """The folder is made where the caller is, and opened with the staff's overview."""
    monkeypatch.chdir(tmp_path)
    assert ready.main("lab", "--new", "teaching/ai", "--no-browser") == 0
    ((command, where, _),) = ready.calls.running
    path = tmp_path / "teaching" / "ai"
    assert path.is_dir()
    assert command == [
        ready.run.PYTHON,
        "-P",
        "-m",
        "autograder.desk.overview",
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
    """`--help` names the folder and the options that people look for, and opens nothing."""
    assert [ready.main("lab", "--help"), ready.main("lab", "course", "-h")] == [0, 0]
    assert ready.calls.running == []
    said = capsys.readouterr().out
    assert said.count("usage: python3 run.py lab [FOLDER] [OPTION ...]") == 2
    for option in ("--no-browser", "--port 9999", "--help-all"):
        assert option in said


def test_lab_opens_one_folder(ready, capsys):
    """Of two, none is opened."""
    assert ready.main("lab", "course", "build") == 2
    assert capsys.readouterr().err == (
        "run.py: JupyterLab opens one folder, not 'course' and 'build'\n"
    )
    assert ready.calls.running == []


def test_lab_looks_for_a_folder_here_first(ready, tmp_path, monkeypatch):
    """A relative path is the caller's; the kit's own course opens wherever one is."""
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
    """Where there is none, the sentence says how to make one."""
    assert ready.main("lab", folder) == 2
    assert capsys.readouterr().err == (
        f"run.py: there is no folder '{folder}'; `python3 run.py demo` makes build/demo\n"
    )
    assert ready.calls.running == []


# ---- Setting up


def locks(calls: Recorder) -> list[str]:
    """The locks that were installed, in order; an extra's is given after the one that it fits."""
    return [
        Path(pins[-1]).name
        for command in calls.installing
        if (pins := [b for a, b in pairwise(command) if a == "-r"])
    ]


def test_the_first_command_sets_up(bare, capsys):
    """An environment, the lock with its hashes, this folder without downloads; then the command."""
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
    """In a terminal the long step is not quiet, in a log it is."""
    stderr = SimpleNamespace(isatty=lambda: watched, write=lambda said: None, flush=lambda: None)
    pretend(bare.run, monkeypatch, stderr=stderr)
    assert bare.main("setup") == 0
    assert ("-q" in bare.calls.installing[1]) != watched


@pytest.mark.parametrize("arguments", [["setup"], ["setup", EXTRA], ["demo"]], ids=" ".join)
def test_nothing_is_installed_twice(ready, capsys, arguments):
    """Where the stamps are right, a command starts at once."""
    before = {path: path.stat().st_mtime_ns for path in ready.environment.rglob("*")}
    assert ready.main(*arguments) == 0
    assert ready.calls.installing == []
    assert capsys.readouterr().err == ""
    assert {path: path.stat().st_mtime_ns for path in ready.environment.rglob("*")} == before


def test_the_extra_is_installed_beside_what_is_there(bare):
    """It neither makes the environment anew nor installs the first lock again."""
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
    """A lock, the project's own data, a lost or odd environment; nothing else, and only once. An
    extra that was set up once stays."""
    if name == "python":
        Path(ready.run.PYTHON).unlink()
    else:
        (ready.root / name).write_text("changed", "utf-8")
    assert ready.main(*command) == 0
    assert locks(ready.calls) == setups
    ready.calls.forget()
    assert ready.main(*command) == 0
    assert ready.calls.installing == []


def test_another_python_sets_up_anew(ready, monkeypatch):
    """An environment that another version made is not used."""
    pretend(ready.run, monkeypatch, version="3.99.0 (from tomorrow)")
    assert ready.main("demo") == 0
    assert locks(ready.calls) == BOTH


def test_a_checkout_that_was_moved_is_set_up_anew(ready, tmp_path, monkeypatch):
    """An environment holds the path that it was made at."""
    moved = open_checkout(ready.root.rename(tmp_path / "moved"), monkeypatch)
    assert moved.main("demo") == 0
    assert locks(moved.calls) == BOTH


def test_a_new_environment_holds_nothing_old(ready):
    """What is not in the lock any more is not there any more."""
    leftover = ready.environment / "leftover.txt"
    leftover.touch()
    (ready.root / "requirements.lock").write_text("changed", "utf-8")
    assert ready.main("setup") == 0
    assert not leftover.exists()
    assert ready.stamps() == ["installed", f"installed-{EXTRA}"]


@pytest.mark.parametrize("how", ["fails", "stops"])
@pytest.mark.parametrize("step", ["venv", "-r", "-e"])
def test_a_set_up_that_ends_early_forgets_no_extra(ready, how, step):
    """The environment is made anew for another lock, and that fails; the next command makes all."""
    (ready.root / "requirements.lock").write_text("changed", "utf-8")
    getattr(ready.calls, how).add(step)
    assert ready.main("demo") != 0
    ready.calls.forget()
    assert ready.main("demo") == 0
    assert locks(ready.calls) == BOTH


def test_an_extra_that_is_no_more_is_forgotten(ready):
    """A later version may lack it: then its lock is gone."""
    (ready.root / f"requirements-{EXTRA}.lock").unlink()
    assert ready.main("demo") == 0
    assert ready.calls.installing == []


def test_an_activated_environment_is_not_asked_to_make_itself(bare, monkeypatch):
    """Where .venv's own Python runs run.py, the one that it was made from makes the new one."""
    pretend(bare.run, monkeypatch, executable=bare.run.PYTHON, _base_executable="/usr/bin/python3")
    assert bare.main("setup") == 0
    assert bare.calls.installing[0][0] == "/usr/bin/python3"


# ---- Setting up, and failing


def test_missing_venv_is_told(bare, capsys):
    """The sentence says what to install, and no half of an environment is left."""
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
def test_a_failed_installation_is_told_and_done_again(bare, capsys, step):
    """There is no stamp and the command is not run; the next time everything is done."""
    bare.calls.fails.add(step)
    assert bare.main("demo") == 2
    assert the_sentence(capsys).startswith("the installation failed; its last lines say why")
    assert step in bare.calls.installing[-1]
    assert bare.stamps() == []
    assert bare.calls.running == []
    bare.calls.forget()
    assert bare.main("demo") == 0
    assert len(bare.calls.installing) == 3
    assert len(bare.calls.running) == 1
    assert bare.stamps() == ["installed"]


def test_a_failed_extra_leaves_the_rest_as_it_was(bare, capsys):
    """Only the extra has no stamp, and only the extra is installed the next time."""
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
    """Ctrl-C is told in one sentence, leaves no stamp, and the next command sets up."""
    bare.calls.stops.add(step)
    assert bare.main("demo") == 130
    assert the_sentence(capsys) == "stopped while setting up; the same command begins it again"
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
    """A program on PATH that is called uv and notes its arguments; really called. Gives its log."""
    (programs / "uv").write_text(UV.format(python=sys.executable), "utf-8")
    (programs / "uv").chmod(0o755)

    def call(command, **settings):
        assert command[0] == str(programs / "uv"), "something else would install"
        return subprocess.call(command, **settings)

    monkeypatch.setattr(bare.run, "subprocess", SimpleNamespace(call=call))
    return programs / "uv.log"


def asked(log: Path) -> list[list[str]]:
    """What uv was asked for: its arguments, call by call."""
    return [line.split("\t") for line in log.read_text("utf-8").splitlines()]


@posix
def test_uv_installs_where_it_is_on_path(bare, uv):
    """It makes the environment and installs what pip would, into that environment."""
    assert bare.main("setup") == 0
    venv, locked, this = asked(uv)
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
def test_a_failing_uv_is_told(bare, uv, capsys):
    """It is as where pip fails: a sentence, and no stamp."""
    (uv.parent / "uv.fails").touch()
    assert bare.main("setup") == 2
    assert len(asked(uv)) == 1
    assert the_sentence(capsys)
    assert not bare.environment.exists()


@posix
def test_lock_renews_every_lock(bare, uv):
    """All are compiled with hashes for every platform, and nothing is set up for it."""
    (bare.root / "requirements.lock").write_text(
        "numpy==2.1 \\\n    --hash=sha256:0\ntyper==0.15 ; python_version < '3.14' \\\n", "utf-8"
    )
    assert bare.main("lock") == 0
    calls = asked(uv)
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
    for extra in calls[3:]:  # what the first lock has is left out, and the rest agrees with it
        assert str(bare.root / "requirements.lock") in extra
        assert [b for a, b in pairwise(extra) if a == "--no-emit-package"] == ["numpy", "typer"]
    assert not bare.environment.exists()


@posix
def test_a_lock_that_cannot_be_renewed_is_told_by_the_status(bare, uv):
    """uv has said why."""
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
    """What is made once for a group is made once: a pytest that xdist does not know lost that."""
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
