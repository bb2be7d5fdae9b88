"""The walls around one job: namespaces, a private folder, limits, no privileges, a call filter.

A job's process is the first of its own pid namespace, so that its end is the end of all that it
started. Everything here is done before any of the submission is read.
"""

import base64
import contextlib
import ctypes
import errno
import os
import resource
import socket
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyseccomp as seccomp

from .calls import (
    ACTIONS,
    ADVICE,
    CALLS,
    COMMANDS,
    CONTROLS,
    MAP_ANONYMOUS,
    MAP_SHARED,
    SHARINGS,
    SIGNALS,
)
from .frames import receive

# <linux/sched.h>, <linux/prctl.h>, <sys/mount.h>, <linux/capability.h>
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWCGROUP = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
    0x02000000,
)
NAMESPACES = NEWNS | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | NEWCGROUP
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION_3 = 0x20080522

FOLDER = Path("/tmp/submission")
ABSENT = Path(__file__).with_name("absent.py")  # what is there instead of an absent module

_libc = ctypes.CDLL(None, use_errno=True)


def _call(function, *arguments) -> None:
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")


def _filter() -> seccomp.SyscallFilter:
    """All that is allowed; a call that is not seems not to exist, as on an older kernel."""
    calls = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    for name in CALLS.split():
        with contextlib.suppress(RuntimeError, OSError):  # this processor does not have it
            calls.add_rule(seccomp.ALLOW, name)
    # clone3 stays out: its flags cannot be seen, and clone serves.
    calls.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NAMESPACES, 0))
    calls.add_rule(
        seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, socket.AF_UNIX)
    )
    for name in ACTIONS:
        with contextlib.suppress(RuntimeError, OSError):
            calls.add_rule(seccomp.ALLOW, name, seccomp.Arg(1, seccomp.EQ, 0))  # that only asks
            for number in SIGNALS:
                calls.add_rule(
                    seccomp.ALLOW, name, seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, number)
                )
    for name, place, numbers in (
        ("ioctl", 1, CONTROLS),
        ("fcntl", 1, COMMANDS),
        ("fcntl64", 1, COMMANDS),
        ("madvise", 2, ADVICE),
    ):
        for number in numbers.values():
            with contextlib.suppress(RuntimeError, OSError):
                calls.add_rule(
                    seccomp.ALLOW, name, seccomp.Arg(place, seccomp.MASKED_EQ, 0xFFFFFFFF, number)
                )
    for sharing in SHARINGS:
        calls.add_rule(
            seccomp.ALLOW,
            "mmap",
            seccomp.Arg(3, seccomp.MASKED_EQ, MAP_SHARED | MAP_ANONYMOUS, sharing),
        )
    return calls


def _seal_devices() -> None:
    """Mount the devices, which all jobs share, read-only: they can be written to, as before, but
    their times cannot be set, which the next job would see."""
    for device in filter(Path.is_char_device, Path("/dev").iterdir()):
        kept = os.statvfs(device).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
        _call(_libc.mount, None, bytes(device), None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, None)


class Walls:
    """The walls, prepared once by the warm parent; `enter` puts a child behind them.

    `uid` is the user that a child becomes where the parent is root; in a user namespace it is
    somebody without rights already.
    """

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.calls = _filter()
        _seal_devices()
        self.capabilities = _last_capability() + 1

    def prepare(self) -> None:
        """Let the next fork be the first process of a new pid namespace."""
        _call(_libc.setns, self.own, NEWPID)
        _call(_libc.unshare, NEWPID)

    def enter(
        self, talk: socket.socket, limits: dict[str, int], absent: Collection[Path] = ()
    ) -> dict[str, Any]:
        """Build the walls around this process, and return the request, its files written.

        Nothing that it does finds the public modules `absent`, neither their text nor compiled.

        Raises OSError, and then nothing of the submission may be run.
        """
        os.setsid()
        _only_descriptor(talk.fileno())
        user, group = os.getuid(), os.getgid()
        root = user == 0
        owner = f"uid={self.uid},gid={self.uid}" if root else f"uid={user}"
        _call(_libc.unshare, NEWNS | NEWUTS | NEWIPC | NEWNET | (0 if root else NEWUSER))
        if not root:  # in a namespace of users of its own, so that its processes count alone
            _map_user(user, group)
        megabytes, inodes = limits["files_mb"], limits["files"]
        _mount("/tmp", f"size={megabytes}m,nr_inodes={inodes},mode=700,{owner}")
        _mount("/dev/shm", f"size={megabytes}m,nr_inodes={inodes},mode=700,{owner}")
        _mount("/proc", "size=4k,nr_inodes=1,mode=555", MS_RDONLY)
        for module in absent:
            _call(_libc.mount, bytes(ABSENT), bytes(module), None, MS_BIND, None)
        for compiled in {module.with_name("__pycache__") for module in absent}:
            if compiled.is_dir():
                _mount(str(compiled), "size=4k,nr_inodes=1,mode=555", MS_RDONLY)
        for capability in range(self.capabilities):
            _call(_libc.prctl, PR_CAPBSET_DROP, capability, 0, 0, 0)
        if root:
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
        _drop_capabilities()
        _call(_libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        request = receive(talk)
        _write_files(request.pop("files"))
        _limit(limits)
        self.calls.load()
        os.umask(0o077)
        return request


def _map_user(user: int, group: int) -> None:
    """Let this process be in its new namespace of users who it was."""
    for name, text in (
        ("uid_map", f"{user} {user} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, "ascii")


def _mount(where: str, options: str, flags: int = 0) -> None:
    _call(
        _libc.mount,
        b"tmpfs",
        where.encode(),
        b"tmpfs",
        MS_NOSUID | MS_NODEV | flags,
        options.encode(),
    )


def _only_descriptor(kept: int) -> None:
    """Close everything but standard input, output and error, which are nowhere, and `kept`."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _last_capability() -> int:
    return int(Path("/proc/sys/kernel/cap_last_cap").read_text("ascii"))


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _call(_libc.capset, header, nothing)


def _write_files(files: dict[str, str]) -> None:
    """Write the submission's files, base64 by relative path, and make their folder the current.

    Files for which there is no room are left out: that is no fault of the machinery.
    """
    FOLDER.mkdir()
    paths = []
    try:
        for name, data in files.items():
            paths.append(FOLDER / name)
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            paths[-1].write_bytes(base64.b64decode(data))
    except OSError:
        for path in (paths[-1], *paths[20:][-4:]):  # some room is left for what cells write
            with contextlib.suppress(OSError):
                path.unlink()
            for folder in path.relative_to(FOLDER).parents[:-1]:
                with contextlib.suppress(OSError):  # it is not empty
                    (FOLDER / folder).rmdir()
    os.chdir(FOLDER)


def _limit(limits: dict[str, int]) -> None:
    for name, value in (
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_DATA", 2 * limits["memory_mb"] << 20),  # the watch outside is exact, but slower
        ("RLIMIT_NPROC", limits["processes"]),
        ("RLIMIT_FSIZE", limits["files_mb"] << 20),
        ("RLIMIT_NOFILE", limits["descriptors"]),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_MEMLOCK", 0),
    ):
        resource.setrlimit(getattr(resource, name), (value, value))
