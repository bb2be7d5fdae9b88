#!/usr/bin/env python3
"""Sets up .venv from the lock file and runs one command there: `python3 run.py help`.

Needs only Python 3.11 or newer with venv; uses uv if it is installed.
"""

import glob
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys

HELP = """usage: python3 run.py COMMAND [ARGUMENT ...]

  demo                generate every assignment, grade a bundled class, and list the results
  test [ARGUMENT ...] run the quick tests, or those that the arguments select; arguments are passed
                      to pytest, for example a file or -k NAME
  test --all          run all tests except those of unchanged content; --content adds them
  check               check format, style, types, imports, structure, spelling and workflows
  check study3 ...    run the public checks of a study on your module (--help for its options)
  package             make the wheel and the source archive in dist
  lab [FOLDER ...]    open JupyterLab at the start page of the course, or at the overview of a
                      course folder such as build/demo; more arguments are passed to JupyterLab
  lab --new FOLDER    make a course folder, and open JupyterLab at its overview
  book [FOLDER]       make a static site of the course (default: in build/book)
  site [FOLDER]       make a site whose notebooks run in the browser, without any installation
                      (default: in build/site; needs npm)
  league AGENT ...    play a league of Sequence agents; add --help for its options
  bench [NAME]        run a benchmark; without a name, list them (--json for machines)
  setup [EXTRA ...]   only set up; extras are open_spiel (tests against OpenSpiel), cluster (Dask for
                      grading and leagues on other machines), postgres (gradebooks in PostgreSQL)
                      and hub (JupyterHub)
  lock                update the lock files (needs uv)
  help                this text

The other commands belong to the autograder: plan (sets up a course of 6, 10 or 14 weeks), adapt
(applies a course's own table), next-year (draws variants of the studies), generate, release, collect,
grade, feedback, release-feedback, report, similarity (lists similar submissions), grade-all (grade,
feedback and report), late-penalties, extend (more time for students), history (every change of a
mark), regrade (students' regrade requests), export, roster, solutions,
slides, build, doctor, draw-positions, new-study (starts a new study), publish (makes the
public repository of a course) and upgrade (shows what a new kit changes).
`python3 run.py autograder --help` describes them; `python3 run.py grade study3` runs one of them.

The first command installs everything into .venv, which takes a minute or two.
"""
LAB_HELP = """usage: python3 run.py lab [FOLDER] [OPTION ...]

Opens JupyterLab at the start page of FOLDER (default: the course), for example

  python3 run.py lab my_course --no-browser --port 9999

JupyterLab's own options may come before or after the folder, for example

  --no-browser      open no window; the address is printed
  --port 9999       listen on this port
  --ip 0.0.0.0      listen on every address of this machine
  --new             make FOLDER a new course folder (instructors only)

`python3 run.py lab --help-all` lists the others.
"""
# JupyterLab's options that take a value, in addition to those with a dot, such as --ServerApp.port.
LAB_VALUES = """
    app-dir browser certfile client-ca config gateway-url ip keyfile log-level notebook-dir port
    port-retries preferred-dir pylab sock sock-mode transport
""".split()
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
LOCK = os.path.join(ROOT, "requirements.lock")
TEST_MINUTES = (7, 60)  # quick tests and all tests on two cores; .ci/run measures both
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)  # of numpy's matrix products
LIVE = os.path.join(ROOT, "autograder", "release", "site", "locks")  # of the live site
BROWSER = ["--python-version", "3.14", "--python-platform", "wasm32-pyodide2024"]
# Parts of widgets that the live site's own JupyterLab already has.
BROWSER += ["--no-emit-package=jupyterlab-widgets", "--no-emit-package=widgetsnbextension"]
EXTRAS = ("cluster", "hub", "open_spiel", "postgres")
COMMANDS = "demo test check package lab league bench setup autograder".split()
PUBLIC = os.path.join(ROOT, "autograder", "release", "public_course")  # of a course's repository
WORKFLOWS = [
    path
    for folder in (os.path.join(ROOT, ".github"), PUBLIC)
    for path in sorted(glob.glob(os.path.join(folder, "workflows", "*.yml")))
]
CHECKS = (
    ("format", ["-m", "ruff", "format", "--check", "--quiet", "."]),
    ("style", ["-m", "ruff", "check", "--quiet", "."]),
    ("types", ["-m", "mypy", "--no-error-summary"]),
    ("imports", ["-c", "from importlinter.cli import lint_imports_command as c; c()"]),
    ("structure", ["-m", "autograder.tests.support.structure"]),
    ("spelling", ["-m", "codespell_lib"]),
    (
        "workflows",
        ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
    ),
)
AUTOGRADER = """
    adapt book build collect doctor draw-positions export extend feedback generate grade
    grade-all history late-penalties new-study next-year plan publish regrade release
    release-feedback report roster similarity site slides solutions upgrade
""".split()


def main(arguments):
    """Run one command; return the exit status."""
    if sys.version_info < (3, 11):
        return print_error(
            "this needs Python 3.11 or newer, and python3 is {}.{}: run it with a newer one".format(
                *sys.version_info
            )
        )
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "-h", "--help") or (
        command in ("lock", "setup") and not {"-h", "--help"}.isdisjoint(rest)
    ):
        print(HELP, end="")
        return 0
    if command == "lock":
        return lock()
    extras = rest if command == "setup" else []
    problem = problem_of(command, extras)
    if problem:
        return print_error(problem)
    if command == "test" and rest in ([], ["--all"]):
        print(
            "On two cores, the quick tests take about {} minutes; all tests, with `python3 "
            "run.py test --all`, about {}".format(*TEST_MINUTES),
            file=sys.stderr,
        )
    try:
        problem = set_up(*extras)
    except KeyboardInterrupt:
        print_error("stopped during set-up; run the same command again to continue")
        return 130
    if problem:
        return print_error(problem)
    return 0 if command == "setup" else run_command(command, rest)


def problem_of(command, extras):
    """Return the reason why a command cannot be run, or None."""
    if command not in (*COMMANDS, *AUTOGRADER):
        return "there is no command {!r}; `python3 run.py help` lists them".format(command)
    for extra in extras:
        if extra not in EXTRAS:
            return "there is no extra {!r}; there are {}".format(extra, ", ".join(EXTRAS))
    return None


def run_command(command, rest):
    """Run a command in the environment, with the rest of the arguments; return its exit status."""
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
    # The command runs in the caller's folder, so that relative paths work; -P prevents imports from
    # that folder.
    names = [] if command == "autograder" else [command]
    return run(["-P", "-m", "autograder", *names, *rest], None, blocked=True)


def test_options(rest):
    """Return pytest's options. By default, only the quick tests are run, in parallel, and the
    reasons for skipped tests are shown.
    """
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
    """Run the checks with these names (default: all); return 1 if one of them fails. Names of
    studies, such as study3 and study3.type_a, are checks of a student's module.
    """
    known = [name for name, _ in CHECKS]
    if any(name.startswith(("study", "-")) for name in names):
        return run(["-P", "-m", "course.check", *names], None)
    for name in names:
        if name not in known:
            return print_error(
                "there is no check {!r}; there are {}".format(name, ", ".join(known))
            )
    failed = []
    for name, arguments in CHECKS:
        if name in (names or known):
            print("{} ...".format(name), file=sys.stderr, flush=True)
            if subprocess.call([PYTHON, *arguments], cwd=ROOT) != 0:
                failed.append(name)
    if failed:
        print("run.py: failed: {}".format(", ".join(failed)), file=sys.stderr)
    return int(bool(failed))


def print_error(problem):
    """Print what is wrong; return the exit status for bad input."""
    print("run.py: " + problem, file=sys.stderr)
    return 2


def run(arguments, folder=ROOT, blocked=False):
    """Run the environment's Python in `folder` (None: the current one); return the exit status."""
    environment = dict(
        os.environ, PATH=BIN + os.pathsep + os.environ.get("PATH", ""), VIRTUAL_ENV=VENV
    )
    environment.pop("PYTHONHOME", None)
    environment["AUTOGRADER_CALLED_AS"] = called_as(folder)  # read by common/command_lines.py
    for threads in THREADS:  # an agent's matrices are small, so more threads only slow it down
        environment.setdefault(threads, "1")
    try:
        return become([PYTHON, *arguments], folder, environment, blocked)
    except KeyboardInterrupt:
        return 130


def called_as(folder):
    """Return how to call this file from `folder` (None: the current one), for use in messages."""
    here = os.path.realpath(folder or os.getcwd()) == os.path.realpath(ROOT)
    return "python3 " + shlex.quote("run.py" if here else os.path.join(ROOT, "run.py"))


def become(command, cwd, env, blocked=False):
    """Replace this process with `command`, so that every signal reaches the command. If `blocked`,
    Ctrl-C stays pending until the command unblocks it, because the command can then end without a
    traceback.

    Windows cannot replace a process, so there the command is run and its exit status is returned.
    """
    if os.name != "posix":
        return subprocess.call(command, cwd=cwd, env=env)
    if cwd:
        os.chdir(cwd)
    sys.stdout.flush()
    if blocked:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return os.execve(command[0], command, env)


def lab(*arguments):
    """Open JupyterLab at the start page of a folder, relative to the current folder or to the kit.
    Options are passed to JupyterLab; `--new` creates the folder of a course first."""
    if "--help" in arguments or "-h" in arguments:
        print(LAB_HELP, end="")
        return 0
    new = "--new" in arguments
    folders, options = lab_arguments([a for a in arguments if a != "--new"])
    default = os.path.join(ROOT, "course")
    if new and not folders:
        return print_error("--new needs the folder of the new course")
    if len(folders) > 1:
        return print_error(
            "JupyterLab opens one folder, not {}".format(" and ".join(map(repr, folders)))
        )
    folder = folders[0] if folders else default
    if new:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            return print_error("cannot make {!r}: {}".format(folder, error.strerror))
    path = os.path.abspath(folder)
    if not os.path.isdir(path):
        path = os.path.join(ROOT, folder)
    if not os.path.isdir(path):
        return print_error(
            "there is no folder {!r}; `python3 run.py demo` makes build/demo".format(folder)
        )
    # A course folder has an overview for its staff, any other folder a start page for students.
    staff = new or os.path.exists(os.path.join(path, "nbgrader_config.py"))
    opener = "autograder.dashboard.overview" if staff else "course.lab.start_page"
    return run(["-P", "-m", opener, path, *options], path)


def lab_arguments(arguments):
    """Return the folders among the arguments of `lab`, and JupyterLab's options with values."""
    folders, options, takes_value = [], [], False
    for argument in arguments:
        is_option = argument.startswith("-")
        (options if is_option or takes_value else folders).append(argument)
        name = argument.lstrip("-")
        takes_value = is_option and "=" not in name and (name in LAB_VALUES or "." in name)
    return folders, options


def set_up(*extras):
    """Install what the lock files list for these extras and those installed before, unless .venv is
    up to date; return an error message if that fails.
    """
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
            for extra in (
                kept if first else []
            ):  # also after a failure, so that the next set-up installs them
                os.makedirs(VENV, exist_ok=True)
                open(extra_stamp(extra), "w").close()
        if problem:
            return problem
        with open(stamp, "w") as file:  # last: a set-up that was stopped is repeated
            file.write(wanted)
    return None


def install(locked, first):
    """Install one lock file and, with the first one, this folder; return a message on failure."""
    uv = shutil.which("uv")
    if first:
        shutil.rmtree(VENV, ignore_errors=True)
        # Not sys.executable, which was just removed if .venv is activated.
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
    quiet = [] if sys.stderr.isatty() else ["-q"]  # in a terminal, pip shows its progress
    pins = ["-r", LOCK] if first else ["-r", LOCK, "-r", locked]
    steps = [[*pip, *quiet, "--require-hashes", *pins]]
    if first:  # the lock includes the build tools, so this downloads nothing
        steps.append([*pip, "-q", "--no-deps", "--no-build-isolation", "-e", ROOT])
    for step in steps:
        if subprocess.call(step) != 0:
            return (
                "the installation failed; its last lines show why (no network? a full disk?). "
                "Run the same command again to continue."
            )
    return None


def set_up_before():
    """Return the extras that the environment has, or had before a set-up that was stopped."""
    names = os.listdir(VENV) if os.path.isdir(VENV) else []
    begin = os.path.basename(extra_stamp(""))
    extras = {name[len(begin) :] for name in names if name.startswith(begin)}
    return {extra for extra in extras if os.path.exists(extra_lock(extra))}


def extra_stamp(extra):
    """Return the file which records that an optional extra was set up, and from which lock."""
    return os.path.join(VENV, "installed-" + extra)


def extra_lock(extra):
    """Return the lock file of an optional extra."""
    return os.path.join(ROOT, "requirements-{}.lock".format(extra))


def digest(locked):
    """Return a digest of what .venv depends on: lock file, pyproject.toml, Python and location."""
    text = "{} {}".format(sys.version, ROOT).encode()
    for path in (locked, os.path.join(ROOT, "pyproject.toml")):
        with open(path, "rb") as file:
            text += file.read()
    return hashlib.sha256(text).hexdigest()


def lock():
    """Update the lock files with uv, for every platform and Python from 3.11 on."""
    uv = shutil.which("uv")
    if not uv:
        return print_error("`lock` needs uv: see its installation page, or `pip install uv`")
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
    # An extra's lock lists only what the first lock lacks, in versions that are compatible with it.
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
    """Return the names of the packages in a lock file."""
    with open(locked) as file:
        return [line.split("==")[0] for line in file if line[0] not in " #"]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
