#!/usr/bin/env python3
"""Sets everything up in .venv, from the lock, and runs one command there: `python3 run.py help`.

Needs Python 3.11 or newer with venv, and nothing else; uses uv where it is installed.
"""

import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys

HELP = """usage: python3 run.py COMMAND [ARGUMENT ...]

  demo                release every assignment, grade a bundled class, show where all of it is
  test [ARGUMENT ...] run the quick tests, or those that the arguments select; arguments go to
                      pytest, for example a file or -k NAME
  test --all          run every test but those of unchanged content, which --content runs too
  check               check format, style, types, imports, spelling and workflows, in half a minute
  package             make the wheel and the source archive in dist
  lab [FOLDER ...]    open JupyterLab at the start page of the course, or at the overview of a
                      course folder such as build/demo; more arguments go to JupyterLab
  lab --new FOLDER    make a course folder, and open JupyterLab at its overview
  book [FOLDER]       make the course a site of static pages, in build/book unless told otherwise
  site [FOLDER]       make the book a live course: the notebooks run in the browser, with no
                      installing; in build/site unless told otherwise (needs npm)
  league AGENT ...    play a league of Sequence agents, --help describes it
  bench [NAME]        measure; without a name, list what can be measured (--json for machines)
  setup [EXTRA ...]   only set up; the extra open_spiel adds the tests against OpenSpiel, cluster
                      Dask for grading and leagues on other machines, postgres what a gradebook in
                      PostgreSQL needs, hub what JupyterHub needs
  lock                renew the lock files (needs uv)
  help                this text

Everything else is the autograder's: plan (a course of 6, 10 or 14 weeks, set up), release, grade,
feedback, report, evening (grade, feedback and report in one), late, export, solutions, slides,
doctor, positions, build, roster, and of nbgrader's exchange hand-out, collect and hand-back.
`python3 run.py autograder --help` describes them, `python3 run.py grade study3` runs one.
The first command of all installs into .venv, which takes a minute or two; later ones start at once.
"""
LAB_HELP = """usage: python3 run.py lab [FOLDER] [OPTION ...]

Opens JupyterLab at the start page of FOLDER, by default of the course. JupyterLab's own options may
stand before or after the folder, for example

  --no-browser      open no window; the address is printed
  --port 9999       listen on this port
  --ip 0.0.0.0      listen on every address of this machine
  --new             make FOLDER a new course folder (instructors only)

`python3 run.py lab --help-all` lists the others.
"""
# JupyterLab's options that have a value, next to those with a dot such as --ServerApp.port.
LAB_VALUES = """
    app-dir browser certfile client-ca config gateway-url ip keyfile log-level notebook-dir port
    port-retries preferred-dir pylab sock sock-mode transport
""".split()
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
LOCK = os.path.join(ROOT, "requirements.lock")
TEST_MINUTES = (5, 40)  # on two cores: the quick tests, and all; .ci/run measures both
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of numpy's products
LIVE = os.path.join(ROOT, "autograder", "release", "site", "locks")  # of the live site
BROWSER = ["--python-version", "3.14", "--python-platform", "wasm32-pyodide2024"]
# Parts of widgets that the live site's own Lab has already.
BROWSER += ["--no-emit-package=jupyterlab-widgets", "--no-emit-package=widgetsnbextension"]
EXTRAS = ("cluster", "hub", "open_spiel", "postgres")
COMMANDS = "demo test check package lab league bench setup autograder".split()
WORKFLOWS = sorted(glob.glob(os.path.join(ROOT, ".github", "workflows", "*.yml")))
CHECKS = (
    ("format", ["-m", "ruff", "format", "--check", "--quiet", "."]),
    ("style", ["-m", "ruff", "check", "--quiet", "."]),
    ("types", ["-m", "mypy", "--no-error-summary"]),
    ("imports", ["-c", "from importlinter.cli import lint_imports_command as c; c()"]),
    ("spelling", ["-m", "codespell_lib"]),
    (
        "workflows",
        ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
    ),
)
AUTOGRADER = """
    book build collect doctor evening export feedback grade hand-back hand-out late plan
    positions release report roster site slides solutions
""".split()


def main(arguments):
    """Run one command; returns the exit status."""
    if sys.version_info < (3, 11):
        return say(
            "this needs Python 3.11 or newer, and python3 is {}.{}: run it with a newer one".format(
                *sys.version_info
            )
        )
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "-h", "--help"):
        print(HELP, end="")
        return 0
    if command == "lock":
        return lock()
    if command not in (*COMMANDS, *AUTOGRADER):
        return say("there is no command {!r}; `python3 run.py help` lists them".format(command))
    extras = rest if command == "setup" else []
    unknown = [extra for extra in extras if extra not in EXTRAS]
    if unknown:
        return say("there is no extra {!r}; there are {}".format(unknown[0], ", ".join(EXTRAS)))
    if command == "test" and rest in ([], ["--all"]):
        print(
            "On two cores, the quick tests take about {} minutes; all of them, with `python3 "
            "run.py test --all`, about {}".format(*TEST_MINUTES),
            file=sys.stderr,
        )
    try:
        problem = set_up(*extras)
    except KeyboardInterrupt:
        say("stopped while setting up; the same command begins it again")
        return 130
    if problem:
        return say(problem)
    if command == "setup":
        return 0
    if command == "test":
        return run(["-m", "pytest", *test_options(rest)])
    if command == "check":
        return check(rest)
    if command == "package":
        return run(["-m", "hatchling", "build", "-d", os.path.join(ROOT, "dist"), *rest])
    if command == "lab":
        return lab(*rest)
    if command == "bench":
        return run(["-m", "autograder.benchmarks", *rest], blocked=True)
    if command == "league":
        return run(["-P", "-m", "sequence.league", *rest], None, blocked=True)
    # In the caller's folder, as the paths that were given mean it; -P: nothing there is imported.
    command = [] if command == "autograder" else [command]
    return run(["-P", "-m", "autograder", *command, *rest], None, blocked=True)


def test_options(rest):
    """pytest's options: parallel, with the reasons of skipped tests, and the quick tests only,
    unless the caller's options say otherwise."""
    options = ["-rs"]
    if not any(a.startswith("-n") for a in rest):
        options += ["-n", "auto", "--dist", "loadgroup"]
    selects = any(
        a.startswith(("-k", "-m", "--lf", "--last-failed"))
        or os.path.exists(os.path.join(ROOT, a.partition("::")[0]))
        for a in rest
    )
    if "--all" not in rest and not selects:
        options += ["-m", "not slow"]
    return [*options, *(a for a in rest if a != "--all")]


def check(names):
    """Run the checks of these names, by default all; returns 1 if one of them fails."""
    known = [name for name, _ in CHECKS]
    for name in names:
        if name not in known:
            return say("there is no check {!r}; there are {}".format(name, ", ".join(known)))
    failed = []
    for name, arguments in CHECKS:
        if name in (names or known):
            print("{} ...".format(name), file=sys.stderr, flush=True)
            if subprocess.call([PYTHON, *arguments], cwd=ROOT) != 0:
                failed.append(name)
    if failed:
        print("run.py: failed: {}".format(", ".join(failed)), file=sys.stderr)
    return int(bool(failed))


def say(problem):
    """Say in one sentence what is wrong; returns the exit status of bad input."""
    print("run.py: " + problem, file=sys.stderr)
    return 2


def run(arguments, folder=ROOT, blocked=False):
    """Run the environment's Python in `folder` (None: where we are); returns the exit status."""
    environment = dict(
        os.environ, PATH=BIN + os.pathsep + os.environ.get("PATH", ""), VIRTUAL_ENV=VENV
    )
    environment.pop("PYTHONHOME", None)
    for threads in THREADS:  # an agent's products are small: more threads only wait for one another
        environment.setdefault(threads, "1")
    try:
        return become([PYTHON, *arguments], folder, environment, blocked)
    except KeyboardInterrupt:
        return 130


def become(command, cwd, env, blocked=False):
    """Run `command` in place of this process, so that every signal reaches it. If `blocked`, Ctrl-C
    waits until the command unblocks it, when it can end without a traceback.

    Windows cannot replace a process: there it is run, and its exit status returned."""
    if os.name != "posix":
        return subprocess.call(command, cwd=cwd, env=env)
    if cwd:
        os.chdir(cwd)
    sys.stdout.flush()
    if blocked:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return os.execve(command[0], command, env)


def lab(*arguments):
    """Open JupyterLab with a folder, of here or of the kit, as its root, at its start page. Options
    are passed on to JupyterLab; with `--new`, makes the folder of a course first."""
    if "--help" in arguments or "-h" in arguments:
        print(LAB_HELP, end="")
        return 0
    new = "--new" in arguments
    folders, options = lab_arguments([a for a in arguments if a != "--new"])
    default = os.path.join(ROOT, "course")
    if new and not folders:
        return say("--new needs the folder of the new course")
    if len(folders) > 1:
        return say("JupyterLab opens one folder, not {}".format(" and ".join(map(repr, folders))))
    folder = folders[0] if folders else default
    if new:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            return say("cannot make {!r}: {}".format(folder, error.strerror))
    path = os.path.abspath(folder)
    if not os.path.isdir(path):
        path = os.path.join(ROOT, folder)
    if not os.path.isdir(path):
        return say("there is no folder {!r}; `python3 run.py demo` makes build/demo".format(folder))
    # A course folder has an overview for its staff, any other a start page for students.
    staff = new or os.path.exists(os.path.join(path, "nbgrader_config.py"))
    opener = "autograder.desk.overview" if staff else "course.start"
    return run(["-P", "-m", opener, path, *options], path)


def lab_arguments(arguments):
    """The folders among the arguments of `lab`, and JupyterLab's options with their values."""
    folders, options, takes_value = [], [], False
    for argument in arguments:
        is_option = argument.startswith("-")
        (options if is_option or takes_value else folders).append(argument)
        name = argument.lstrip("-")
        takes_value = is_option and "=" not in name and (name in LAB_VALUES or "." in name)
    return folders, options


def set_up(*extras):
    """Make .venv what the locks say, unless it is, with these extras and those that it has had;
    returns a sentence if that cannot be done."""
    kept = sorted(set(extras) | set_up_before())
    stamps = [(os.path.join(VENV, "installed"), LOCK)]
    stamps += [(extra_stamp(extra), extra_lock(extra)) for extra in kept]
    for stamp, locked in stamps:
        wanted = digest(locked)
        if os.path.exists(PYTHON) and os.path.exists(stamp):
            with open(stamp) as file:
                if file.read() == wanted:
                    continue
        first = locked == LOCK
        print("Setting up {} from {} ...".format(VENV, os.path.basename(locked)), file=sys.stderr)
        try:
            problem = install(locked, first)
        finally:
            for extra in kept if first else []:  # however that ended, the next set-up knows of them
                os.makedirs(VENV, exist_ok=True)
                open(extra_stamp(extra), "w").close()
        if problem:
            return problem
        with open(stamp, "w") as file:  # last: a set-up that was stopped is done again
            file.write(wanted)
    return None


def install(locked, first):
    """Install one lock file, and with the first one this folder; a sentence if that fails."""
    uv = shutil.which("uv")
    if first:
        shutil.rmtree(VENV, ignore_errors=True)
        # Not sys.executable: where .venv is activated, that was just removed.
        python = getattr(sys, "_base_executable", None) or sys.executable
        make = [uv, "venv", "-q", "--python", python, VENV] if uv else [python, "-m", "venv", VENV]
        if subprocess.call(make) != 0:
            shutil.rmtree(VENV, ignore_errors=True)
            return (
                "Python's venv or pip is missing. Install it (on Debian and Ubuntu: "
                "sudo apt install python3-venv), or install uv, and run this again."
            )
    pip = (
        [uv, "pip", "install", "--compile-bytecode", "--python", PYTHON]
        if uv
        else [PYTHON, "-m", "pip", "install", "--disable-pip-version-check"]
    )
    quiet = [] if sys.stderr.isatty() else ["-q"]  # where somebody watches, pip shows how it goes
    pins = ["-r", LOCK] if first else ["-r", LOCK, "-r", locked]
    steps = [[*pip, *quiet, "--require-hashes", *pins]]
    if first:  # the build tools are in the lock, so that this downloads nothing
        steps.append([*pip, "-q", "--no-deps", "--no-build-isolation", "-e", ROOT])
    for step in steps:
        if subprocess.call(step) != 0:
            return (
                "the installation failed; its last lines say why (no network? a full disk?). "
                "Run the same command again to go on."
            )
    return None


def set_up_before():
    """The optional extras that the environment has, or had before a set-up that was stopped."""
    names = os.listdir(VENV) if os.path.isdir(VENV) else []
    begin = os.path.basename(extra_stamp(""))
    extras = {name[len(begin) :] for name in names if name.startswith(begin)}
    return {extra for extra in extras if os.path.exists(extra_lock(extra))}


def extra_stamp(extra):
    """The file that says that an optional extra was set up, and from which lock."""
    return os.path.join(VENV, "installed-" + extra)


def extra_lock(extra):
    """The lock file of an optional extra."""
    return os.path.join(ROOT, "requirements-{}.lock".format(extra))


def digest(locked):
    """What an environment depends on: the lock, the package's own data, Python, and the place."""
    text = "{} {}".format(sys.version, ROOT).encode()
    for path in (locked, os.path.join(ROOT, "pyproject.toml")):
        with open(path, "rb") as file:
            text += file.read()
    return hashlib.sha256(text).hexdigest()


def lock():
    """Renew the lock files with uv, for every platform and Python from 3.11 on."""
    uv = shutil.which("uv")
    if not uv:
        return say("`lock` needs uv: see its installation page, or `pip install uv`")
    compile_ = [
        uv,
        "pip",
        "compile",
        "-q",
        "--upgrade",
        "--generate-hashes",
        "--no-annotate",
        "--no-header",
    ]
    ours = ["--universal", "--python-version", "3.11"]
    outputs = [["pyproject.toml", *ours, "--extra", "test", "--extra", "build", "-o", LOCK]]
    outputs += [
        [os.path.join(LIVE, name + ".in"), *options, "-o", os.path.join(LIVE, name + ".lock")]
        for name, options in (("build", ours), ("browser", BROWSER))
    ]
    status = max(subprocess.call([*compile_, *output], cwd=ROOT) for output in outputs)
    # An extra's lock has only what the first lock lacks, in versions that fit it.
    extras = [
        [
            "pyproject.toml",
            *ours,
            "--extra",
            extra,
            "-c",
            LOCK,
            "-o",
            extra_lock(extra),
            *(word for name in pinned(LOCK) for word in ("--no-emit-package", name)),
        ]
        for extra in EXTRAS
    ]
    return max(status, *(subprocess.call([*compile_, *extra], cwd=ROOT) for extra in extras))


def pinned(locked):
    """The names of the packages in a lock file."""
    with open(locked) as file:
        return [line.split("==")[0] for line in file if line[0] not in " #"]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
