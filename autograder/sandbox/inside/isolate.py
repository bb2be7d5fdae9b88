"""Isolates one job with namespaces, a private folder, limits and a system call filter, and without
privileges.

A job's process is the first in a separate pid namespace, so everything that it started ends with
it. The job is isolated before any part of the submission is read.
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

from .frames import receive
from .syscall_filter import (
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
ABSENT = Path(__file__).with_name("absent.py")  # replaces a module that must not be found

_libc = ctypes.CDLL(None, use_errno=True)


def _call(function, *arguments) -> None:
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")


def _filter() -> seccomp.SyscallFilter:
    """Return the filter of allowed system calls; any other call seems not to exist, as on an older
    kernel.
    """
    calls = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    for name in CALLS.split():
        with contextlib.suppress(RuntimeError, OSError):  # not available on this processor
            calls.add_rule(seccomp.ALLOW, name)
    # clone3 is not allowed, because a filter cannot read its flags; clone does the same.
    calls.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NAMESPACES, 0))
    calls.add_rule(
        seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, socket.AF_UNIX)
    )
    for name in ACTIONS:
        with contextlib.suppress(RuntimeError, OSError):
            calls.add_rule(
                seccomp.ALLOW, name, seccomp.Arg(1, seccomp.EQ, 0)
            )  # this only reads the action
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
    """Mount the devices, which all jobs share, read-only.

    Jobs can still write to the devices, but cannot change their timestamps, which the next job
    would see.
    """
    for device in filter(Path.is_char_device, Path("/dev").iterdir()):
        flags = os.statvfs(device).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
        _call(
            _libc.mount, None, bytes(device), None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, None
        )


class IsolationConfig:
    """The isolation of jobs, prepared once by their parent; `enter` isolates a child.

    `uid` is the user id that a child gets if the parent is root. In a user namespace, the child has
    no rights anyway.
    """

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self._pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._filter = _filter()
        _seal_devices()
        self._capability_count = _last_capability() + 1

    def prepare(self) -> None:
        """Make the next fork the first process of a new pid namespace."""
        _call(_libc.setns, self._pid_namespace, NEWPID)
        _call(_libc.unshare, NEWPID)

    def enter(
        self, connection: socket.socket, limits: dict[str, int], absent: Collection[Path] = ()
    ) -> dict[str, Any]:
        """Isolate this process, write the submission's files and return the rest of the request.

        The process can find neither the source nor the compiled form of the public modules
        `absent`. If this function raises OSError, no part of the submission may run.
        """
        os.setsid()
        _close_descriptors_except(connection.fileno())
        user, group = os.getuid(), os.getgid()
        root = user == 0
        owner = f"uid={self.uid},gid={self.uid}" if root else f"uid={user}"
        _call(_libc.unshare, NEWNS | NEWUTS | NEWIPC | NEWNET | (0 if root else NEWUSER))
        if not root:  # in a separate user namespace, so that only its own processes are counted
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
        for capability in range(self._capability_count):
            _call(_libc.prctl, PR_CAPBSET_DROP, capability, 0, 0, 0)
        if root:
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
        _drop_capabilities()
        _call(_libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        request = receive(connection)
        _write_files(request.pop("files"))
        _set_limits(limits)
        self._filter.load()
        os.umask(0o077)
        return request


def _map_user(user: int, group: int) -> None:
    """Let this process keep its user and group in its new user namespace."""
    for name, text in (
        ("uid_map", f"{user} {user} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, "ascii")


def _mount(target: str, options: str, flags: int = 0) -> None:
    _call(
        _libc.mount,
        b"tmpfs",
        target.encode(),
        b"tmpfs",
        MS_NOSUID | MS_NODEV | flags,
        options.encode(),
    )


def _close_descriptors_except(kept: int) -> None:
    """Close all descriptors except `kept`; standard input, output and error become /dev/null."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(devnull, number)
    os.closerange(3, kept)
    os.closerange(kept + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _last_capability() -> int:
    return int(Path("/proc/sys/kernel/cap_last_cap").read_text("ascii"))


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    no_capabilities = (ctypes.c_uint32 * 6)()
    _call(_libc.capset, header, no_capabilities)


def _write_files(files: dict[str, str]) -> None:
    """Write the submission's files, given as base64 text by relative path, and change to their
    folder.

    Files for which there is no space are skipped, because this is not an error of the grader.
    """
    FOLDER.mkdir()
    paths = []
    try:
        for name, data in files.items():
            paths.append(FOLDER / name)
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            paths[-1].write_bytes(base64.b64decode(data))
    except OSError:
        for path in (paths[-1], *paths[20:][-4:]):  # leave some space for what cells write
            with contextlib.suppress(OSError):
                path.unlink()
            for folder in path.relative_to(FOLDER).parents[:-1]:
                with contextlib.suppress(OSError):  # the folder is not empty
                    (FOLDER / folder).rmdir()
    os.chdir(FOLDER)


def _set_limits(limits: dict[str, int]) -> None:
    for name, value in (
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        (
            "RLIMIT_DATA",
            2 * limits["memory_mb"] << 20,
        ),  # the trusted side measures exactly, but with a delay
        ("RLIMIT_NPROC", limits["processes"]),
        ("RLIMIT_FSIZE", limits["files_mb"] << 20),
        ("RLIMIT_NOFILE", limits["descriptors"]),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_MEMLOCK", 0),
    ):
        resource.setrlimit(getattr(resource, name), (value, value))
