"""Hostile submissions: nothing they do gains a mark, reads what is not theirs, or harms others.

Most rows run in one sandbox, as a whole class does, and after each the next student must find
everything as it should be. Where a protection can be taken away by itself, a test does so and shows
that the attack then succeeds.
"""

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import nbformat
import psutil
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import determine_grade

from autograder import intake, verdicts, workspace
from autograder import step as steps
from autograder.course_folder import CourseFolder, configure, quiet_log
from autograder.feedback import write_feedback
from autograder.grader import grader
from autograder.release import release
from autograder.sandbox import client, launch
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import Limits
from autograder.tests import attacks
from autograder.tests.needs import need_isolation
from course.probes import load_study
from course.probes.explain import as_html, as_text
from course.probes.outcome import mark_by_file

pytestmark = pytest.mark.xdist_group("attacks")  # one sandbox and one course for all of them

LIMITS = Limits(cpu_seconds=5, memory_mb=256, processes=32, files_mb=16, files=200, descriptors=64,
                characters=100_000)
STUDY = load_study("study2")
HIDDEN = verdicts.hidden_study("study2")
CHECK = HIDDEN.checks["alpha_beta"]
MODULES = workspace.module_texts(STUDY)
MISTAKES = {"NameError", "SyntaxError", "IndentationError", "TabError", "UnboundLocalError"}
WARM = 2  # processes below bubblewrap: its own second one, and the warm parent
INSIDE = Path(launch.HERE) / "inside"


@pytest.fixture(scope="module")
def sandbox():
    """The sandbox in which a whole class of attackers is graded."""
    need_isolation()
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What attackers are after, made as easy to get as can be, and its names for programs."""
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
    with socket.create_server(("127.0.0.1", 0)) as listening, \
            socket.socket(socket.AF_UNIX) as nameless, pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            nameless.bind("\0" + abstract)
            nameless.listen()
        patch.setenv("GRADERS_SECRET", "a token")
        wanted = {"AUTOGRADER": str(launch.AUTOGRADER), "GRADEBOOK": str(book), "HOST": str(host),
                  "OTHER": str(host / "other.py"), "PORT": listening.getsockname()[1],
                  "ABSTRACT": abstract, "SECRET": "GRADERS_SECRET"}
        yield "".join(f"{name} = {value!r}\n" for name, value in wanted.items()) + "import os\n"


def run(sandbox: Sandbox, *cells: str, files=None, seconds: float = 2):
    """Run cells as one student's notebook."""
    return sandbox.run_cells(files or {}, cells, seconds, 0.5, 4)


def shown(ran) -> str:
    """All that cells put out, as text."""
    return "\n".join(str(output.get("text") or output.get("evalue") or output.get("data"))
                     for outputs in ran.outputs for output in outputs or [])


def errors(ran) -> set[str]:
    """The names of the errors that cells ended with."""
    return {output.ename for outputs in ran.outputs for output in outputs or []
            if output.output_type == "error"}


def ask(sandbox: Sandbox, module: str | bytes, seconds: float = 3, **files: bytes):
    """The outcome of the check of study 2 for a module, which can be shown and kept."""
    data = module.encode("utf-8", "surrogatepass") if isinstance(module, str) else module
    replies = sandbox.ask({STUDY.module: data} | files, STUDY.module, CHECK, seconds)
    outcome = mark_by_file(CHECK, replies, verdicts.expected_file(HIDDEN))
    for text in (json.dumps(outcome.to_json(), indent=1), as_html(outcome), as_text(outcome)):
        text.encode()
    return outcome


def processes(sandbox: Sandbox) -> int:
    """How many processes the sandbox has, the warm parent included."""
    return len(psutil.Process(sandbox._process.pid).children(recursive=True))


def assert_next_student_is_well(sandbox: Sandbox) -> None:
    """The next one finds an empty folder, whole modules and an honest check; nobody is left."""
    assert processes(sandbox) == WARM
    ran = run(sandbox, "import json, math, socket, numpy, matplotlib.pyplot as plt, os, builtins\n"
              "assert not hasattr(builtins, 'owned'), 'owned'\n"
              "assert os.listdir('.') == [] and os.listdir('/dev/shm') == []\n"
              "assert os.listdir('/tmp') and set(os.listdir('/tmp')) <= "
              "{'submission', '.stdout', '.stderr', 'matplotlib'}, os.listdir('/tmp')\n"
              "assert json.loads(json.dumps([len('xy')])) == [2]", "print(6 * 7)", "7 / 2", "1 / 0")
    assert [[o.get("text") or o.get("ename") or o.data["text/plain"] for o in outputs]
            for outputs in ran.outputs] == [[], ["42\n"], ["3.5"], ["ZeroDivisionError"]]
    assert (ran.stopped, ran.late, ran.counts) == (None, [], [1, 2, 3, 4])


# ---- Reading and reaching what is not one's own


@pytest.mark.parametrize("name", [*attacks.READS, *attacks.TRIES])
def test_nothing_is_taken(sandbox, names, name):
    """What a program is after is not there, or refused, and the program did try."""
    _, program = (attacks.READS | attacks.TRIES)[name]
    ran = run(sandbox, names, program)
    assert errors(ran) & MISTAKES == set(), shown(ran)
    assert "taken" not in shown(ran).split()
    assert (ran.stopped, ran.late) == (None, [])


@pytest.mark.parametrize("name", attacks.READS)
def test_without_the_sandbox_it_is_taken(names, name, sandbox):
    """The same program in a plain process gets what it is after: the rows can fail."""
    if name in ("root", "bounding set", "core limit") and os.geteuid() != 0:
        pytest.skip("this one needs a grader who is root")
    ran = subprocess.run([sys.executable, "-c", names + attacks.READS[name][1]], check=False,
                         capture_output=True, text=True, timeout=60)
    assert "taken" in ran.stdout.split(), ran.stderr


def test_modules_are_asked_behind_the_same_walls(sandbox, names):
    """A module under a check reaches no more than a notebook's cell does."""
    tries = [program for _, program in attacks.READS.values()]
    module = names + "import contextlib, io, os\nfound = []\nout = io.StringIO()\n" + (
        f"for number, program in enumerate({tries!r}):\n"
        "    with contextlib.suppress(BaseException), contextlib.redirect_stdout(out):\n"
        "        exec(program, globals())\n"
        "raise ValueError(f'tried: {out.getvalue()!r}')\n")
    outcome = ask(sandbox, module)
    assert outcome.problem.startswith("ValueError: tried: ''")


def test_no_expected_value_is_in_the_process(sandbox):
    """In all memory that Python knows there are the asked positions, and nothing to reply."""
    expected = json.loads(verdicts.expected_file(HIDDEN).read_text("utf-8"))["expected"]
    numbers = sorted({o["nodes"] for o in expected["alpha_beta"] if o["nodes"] > 500})
    other = verdicts.hidden_study("study3").checks["type_a"]
    asked = [case["on"] for case in CHECK.cases]
    texts = [case["on"] for case in other.cases if case["on"] not in asked]
    assert numbers
    assert texts
    module = f"""
import gc, sys
seen, values, left = set(), set(), [sys._getframe(), *gc.get_objects(), *gc.get_referrers(gc)]
frame = sys._getframe()
while frame:
    left += [*frame.f_locals.values(), *frame.f_globals.values()]
    frame = frame.f_back
while left:
    thing = left.pop()
    if id(thing) in seen: continue
    seen.add(id(thing))
    if type(thing) in (int, str): values.add(thing)
    else: left += gc.get_referents(thing)
wanted = [text[::-1] for text in {[text[::-1] for text in texts]}] + [
    -number for number in {[-number for number in numbers]}]
raise ValueError(f"{{len([w for w in wanted if w in values])}} of them, "
                 f"{{len([w for w in {[text[::-1] for text in asked]} if w[::-1] in values])}} asked")
"""
    assert ask(sandbox, module).problem.startswith(
        f"ValueError: 0 of them, {len(set(asked))} asked")


def test_two_at_once_do_not_see_each_other(sandbox, names):
    """One student's socket and files are not there for another who is graded at the same time."""
    serve = ("import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0meet'); s.listen()"
             "\nopen('/tmp/left', 'w').close(); open('/dev/shm/left', 'w').close(); time.sleep(1.5)")
    meet = ("import socket, time, os; time.sleep(.5); assert not os.path.exists('/tmp/left')\n"
            "assert os.listdir('/dev/shm') == []\n"
            "socket.socket(socket.AF_UNIX).connect('\\0meet')")
    found = []
    with Sandbox(LIMITS) as second:
        thread = threading.Thread(target=lambda: found.append(run(sandbox, serve)))
        thread.start()
        ran = run(second, meet)
        thread.join()
    assert errors(ran) == {"ConnectionRefusedError"}
    assert errors(found[0]) == set()


# ---- Disturbing


@pytest.mark.parametrize("name", attacks.NUISANCES)
def test_the_next_student_notices_nothing(sandbox, name):
    """Whatever one notebook does, it ends in time, costs little, and the next one is well."""
    begun, before = time.monotonic(), psutil.virtual_memory().available
    ran = run(sandbox, "import os, sys, time", *attacks.NUISANCES[name], seconds=1)
    assert time.monotonic() - begun < 8
    assert before - psutil.virtual_memory().available < 1 << 30
    assert errors(ran) & MISTAKES == set()
    assert sum(len(json.dumps(outputs)) for outputs in ran.outputs) < 20 * LIMITS.characters
    assert_next_student_is_well(sandbox)


@pytest.mark.parametrize(("name", "reason"), [
    ("hogs", "stopped: it used more than 256 MB of memory"),
    ("segfault", "a cell ended the Python process (Segmentation fault)"),
    ("end in the middle", "a cell ended the Python process"),
])
def test_why_it_was_stopped_is_told(sandbox, name, reason):
    """The reason is told in one sentence."""
    assert run(sandbox, "import os", *attacks.NUISANCES[name]).stopped == reason


@pytest.mark.parametrize("name", attacks.WORDS)
def test_words_on_the_socket(sandbox, name):
    """Forged messages count as words of the student's own, and harm nobody."""
    begun = time.monotonic()
    ran = run(sandbox, attacks.SPEAK + attacks.WORDS[name], "print('second')")
    assert errors(ran) & MISTAKES == set(), shown(ran)
    assert time.monotonic() - begun < 8
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
    """Forged messages earn nothing, and what is kept of them can be shown."""
    assert ask(sandbox, attacks.SPEAK + attacks.WORDS[name]).earned == 0
    assert processes(sandbox) == WARM


@pytest.mark.parametrize("name", attacks.MODULES)
def test_a_module_earns_nothing(sandbox, name):
    """A module that does not solve the exercise earns nothing, however it answers."""
    outcome = ask(sandbox, attacks.MODULES[name])
    assert outcome.earned == 0
    assert not any(ord(c) < 32 and c != "\n" for c in outcome.problem or "")
    assert processes(sandbox) == WARM


def test_the_reference_still_earns_all(sandbox):
    """After all of them, the honest module gets full marks from the same sandbox."""
    assert ask(sandbox, MODULES["reference"]).earned == CHECK.max_points
    assert_next_student_is_well(sandbox)


@pytest.mark.parametrize("name", attacks.SHADOWS)
def test_a_file_shadows_nothing(sandbox, name):
    """What is named like a real module, or like a file that Python or IPython runs, is not run."""
    ran = run(sandbox, "import json, numpy, statistics, socket, matplotlib.pyplot, tictactoe, course"
              "\nimport course.check, subprocess, sys, IPython, bleach\n"
              "import builtins; assert not hasattr(builtins, 'owned')\n"
              "assert json.dumps([1]) == '[1]' and statistics.mean([1, 3]) == 2\n"
              "done = subprocess.run([sys.executable, '-c', "
              "'import builtins, json, statistics; assert not hasattr(builtins, \"owned\")'])\n"
              "assert done.returncode == 0\nmatplotlib.pyplot.figure().savefig('x.png')\nprint('ok')",
              files={name: attacks.SHADOWS[name]}, seconds=4)
    assert shown(ran) == "ok\n"
    outcome = ask(sandbox, MODULES["reference"], **{name: attacks.SHADOWS[name]})
    assert outcome.earned == CHECK.max_points


@pytest.mark.parametrize("files", [
    {f"{n}.txt": b"x" for n in range(500)},
    {"/".join([str(n)] * 50): b"x" for n in range(50)},
    {"big.bin": bytes(19_000_000)},
    {"new\nline.txt": b"", "\udcff\udcfe.txt": b"", "é\u202e\U0001f600": b"", "x" * 255: b"",
     "-rf *": b"", "$(echo taken)": b"", "{AUTOGRADER}": b""},
], ids=["many", "deep", "big", "odd names"])
def test_files_are_no_fault_of_the_machinery(sandbox, files):
    """Too many, too large or strange files cost neither the module's marks nor the notebook."""
    outcome = ask(sandbox, MODULES["reference"], **files)
    assert outcome.earned == CHECK.max_points
    assert shown(run(sandbox, "print('ok')", files=files)) == "ok\n"
    assert_next_student_is_well(sandbox)


# ---- Without one protection the attack succeeds


@contextlib.contextmanager
def weakened(monkeypatch, folder: Path, file: str, *lines: tuple[str, str]):
    """A sandbox whose inner side has these pieces of text replaced."""
    shutil.copytree(INSIDE, folder / "inside", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "inside" / file
    text = path.read_text("utf-8")
    for old, new in lines:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, "utf-8")
    monkeypatch.setattr(launch, "HERE", folder)
    for parent in (folder, *folder.parents):
        with contextlib.suppress(PermissionError):
            parent.chmod(parent.stat().st_mode | 0o055)
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


WEAKER = {  # what is taken away: file, replacements, what a program then gets
    "proc": ("isolate.py", [('        _mount("/proc", "size=4k,nr_inodes=1,mode=555", MS_RDONLY)\n',
                             "")], "proc"),
    "filter": ("isolate.py", [("        self.calls.load()\n", "")], "ptrace"),
    "shared memory": ("isolate.py", [("calls.add_rule(refuse, \"mmap\"", "(lambda *a: a)(refuse")],
                      "shared memory"),
    "bounding set": ("isolate.py", [("_call(_libc.prctl, PR_CAPBSET_DROP, capability, 0, 0, 0)",
                                     "pass")], "bounding set"),
    "privileges": ("isolate.py", [("        _call(_libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)\n",
                                   ""),
                                  ("        self.calls.load()\n", "")], "setuid programs"),
    "user": ("isolate.py", [("os.setresuid(self.uid, self.uid, self.uid)", "pass")], "root"),
    "limits": ("isolate.py", [("        _limit(limits)\n", "")], "hard limit"),
    "private folder": ("isolate.py", [("mode=700,{owner}\")\n        _mount(\"/dev/shm\"",
                                       "mode=777\")\n        _mount(\"/dev/shm\"")], None),
}
PROGRAMS = {name: program for name, (_, program) in attacks.READS.items()} | {
    "hard limit": "import resource\nif resource.getrlimit(resource.RLIMIT_NPROC)[1] != 32:\n"
                  "    print('taken')"}


@pytest.mark.parametrize("name", [name for name in WEAKER if WEAKER[name][2]])
def test_without_a_wall(sandbox, names, monkeypatch, tmp_path_factory, name):
    """Each wall, taken away by itself, lets through what it is there to stop."""
    file, lines, program = WEAKER[name]
    if name in ("user", "bounding set") and os.geteuid() != 0:
        pytest.skip("only root has a user, or capabilities, to give up")
    assert "taken" not in shown(run(sandbox, names, PROGRAMS[program])).split()
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), file, *lines) as weak:
        assert "taken" in shown(run(weak, names, PROGRAMS[program])).split()


def test_without_own_network(sandbox, names, monkeypatch, tmp_path_factory):
    """In the grader's network, the grader's services would be there."""
    monkeypatch.setattr(launch, "NAMESPACES", tuple(
        name for name in launch.NAMESPACES if name != "--unshare-net"))
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), "isolate.py",
                  ("NEWUTS | NEWIPC | NEWNET)", "NEWUTS | NEWIPC)")) as weak:
        for name in ("loopback", "abstract"):
            assert "taken" in shown(run(weak, names, PROGRAMS[name])).split()


def test_without_own_processes(monkeypatch, tmp_path_factory, sandbox):
    """In the warm parent's pid namespace, a daemon would outlive its notebook."""
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), "isolate.py",
                  ("        _call(_libc.unshare, NEWPID)\n", "")) as weak:
        run(weak, "import os", *attacks.NUISANCES["daemon"])
        assert processes(weak) > WARM


def test_without_a_private_folder(sandbox, monkeypatch, tmp_path_factory):
    """In a common /tmp, a student would find what another one has left."""
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), "isolate.py",
                  ('        _mount("/tmp", f"size={megabytes}m,nr_inodes={inodes},mode=700,{owner}'
                   '")\n', "        os.chmod('/tmp', 0o777)\n"),
                  ("    FOLDER.mkdir()\n", "    FOLDER.mkdir(exist_ok=True)\n"),
                  ) as weak:
        run(weak, "open('/tmp/left', 'w').write('mine')")
        assert shown(run(weak, "print(open('/tmp/left').read())")) == "mine\n"


def test_without_the_order_of_the_path(sandbox, monkeypatch, tmp_path_factory):
    """With the submission first on the path, its files would be imported."""
    files = {"wave.py": b"owned = True"}
    use = "import wave; print(hasattr(wave, 'owned'))"
    assert shown(run(sandbox, use, files=files)) == "False\n"
    with weakened(monkeypatch, tmp_path_factory.mktemp("weak"), "cells.py",
                  ("sys.path.append(str(FOLDER))", "sys.path.insert(0, str(FOLDER))")) as weak:
        assert shown(run(weak, use, files=files)) == "True\n"


def test_without_the_cover_of_the_staff(names, sandbox, monkeypatch):
    """If the staff's folder were in the tree, it could be read."""
    monkeypatch.setattr(launch, "SYSTEM", (*launch.SYSTEM, str(launch.AUTOGRADER)))
    monkeypatch.setattr(launch, "AUTOGRADER", Path("/nowhere"))
    with Sandbox(LIMITS) as weak:
        assert "taken" in shown(run(weak, names, PROGRAMS["verdicts"])).split()


def test_without_an_own_environment(names, sandbox, monkeypatch):
    """If the environment were handed on, secrets in it could be read."""
    plain = subprocess.Popen

    def popen(words, **options):
        return plain([word for word in words if word != "--clearenv"], **options)

    monkeypatch.setattr(launch.subprocess, "Popen", popen)
    with Sandbox(LIMITS) as weak:
        assert "taken" in shown(run(weak, names, PROGRAMS["environment"])).split()


def test_without_the_watch(sandbox, monkeypatch):
    """Without the watch on memory, processes that are small by themselves are large together."""
    assert run(sandbox, "import os", *attacks.NUISANCES["hogs"]).stopped.startswith("stopped: it")
    monkeypatch.setattr(client._Job, "_look", lambda job: None)
    ran = run(sandbox, "import os", *attacks.NUISANCES["hogs"])
    assert ran.late == [1]


def test_without_the_cap_on_output(sandbox, monkeypatch):
    """Without the outer cap, forged messages bring in what nobody wants to keep."""
    cells = (attacks.SPEAK + attacks.WORDS["much output"], *["1"] * 8)
    assert run(sandbox, *cells).stopped == "it put out more than is kept"
    monkeypatch.setattr(client, "ROOM", 1 << 30)
    assert len(shown(run(sandbox, *cells))) > 8_000_000


@pytest.mark.parametrize(("name", "where"), [
    ("errors that are none", "course.probes.process._is_observation"),
    ("deep replies", "autograder.sandbox.client._plain"),
    ("strange outputs", "autograder.sandbox.client._output"),
])
def test_without_the_schema(sandbox, monkeypatch, name, where):
    """What does not fit the schema would break the marking, the page or the notebook."""
    program = attacks.SPEAK + attacks.WORDS[name]

    def whole():
        if where.endswith("_output"):
            outputs = run(sandbox, program).outputs[0]
            nbformat.validate(new_notebook(cells=[new_code_cell("1", outputs=outputs)]))
        else:
            ask(sandbox, program)

    whole()
    monkeypatch.setattr(where, lambda data, *depth: data or True)
    with pytest.raises((AttributeError, TypeError, ValueError, RecursionError,
                        nbformat.ValidationError)):
        whole()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="root plays an ordinary user")
@pytest.mark.parametrize("name", ["passwd", "answers", "gradebook edit", "other student", "proc",
                                  "loopback", "abstract", "ptrace", "unshare", "environment", "root"])
def test_the_walls_of_an_ordinary_user(sandbox, names, monkeypatch, name):
    """In a user namespace, as where the grader is not root, the walls are the same."""
    monkeypatch.setattr(launch, "AS_ROOT", launch.AS_USER)
    with Sandbox(LIMITS) as theirs:
        assert shown(run(theirs, "import os; print(os.getuid())")) == "1000\n"
        assert "taken" not in shown(run(theirs, names, PROGRAMS[name])).split()
        assert ask(theirs, MODULES["reference"]).earned == CHECK.max_points


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="root plays another user")
def test_an_ordinary_user_can_grade(sandbox):
    """Somebody without any rights has a sandbox that works."""
    program = ("from autograder.sandbox.client import Sandbox\n"
               "from autograder.sandbox.limits import Limits\n"
               "with Sandbox(Limits()) as sandbox:\n"
               "    ran = sandbox.run_cells({}, ['import os; print(os.getuid())'], 2, 1, 4)\n"
               "print(ran.outputs[0][0].text)")
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/", "text": True,
              "capture_output": True}
    try:
        subprocess.run([sys.executable, "-c", "import autograder"], check=True, **nobody)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this Python lies where other users cannot read it; AS_USER is tested as root")
    ran = subprocess.run([sys.executable, "-c", program], check=False, **nobody)
    assert ran.stdout.strip() == "1000", ran.stderr
