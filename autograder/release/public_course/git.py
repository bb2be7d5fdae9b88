"""Runs git for `publish`: a repository, its files and objects, and commits without a work tree."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.errors import UserError
from autograder.release.kit import Member

# Variables with which git's hooks name another repository.
ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


class PublishError(UserError):
    """The public repository was not changed; the message gives the reason."""


@dataclass(frozen=True)
class Repository:
    """A git repository with or without a work tree."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, *options: str) -> "Repository":
        """Create an empty repository."""
        _run(None, "init", "-q", *options, os.fspath(folder))
        return cls(folder)

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Run git in this repository; return what it prints. Raises `PublishError`."""
        return _run(self.folder, *arguments, stdin=stdin).decode("utf-8", "surrogateescape").strip()

    def read(self, name: str) -> str:
        """Return what `git rev-parse` prints for a name; empty if there is no such object."""
        try:
            return self.git("rev-parse", "-q", "--verify", name)
        except PublishError:
            return ""

    def tree(self, commit: str) -> dict[str, str]:
        """Return the ids of a commit's files by path."""
        if not commit:
            return {}
        rows = self.git("ls-tree", "-r", "-z", commit).split("\0")
        return {row.partition("\t")[2]: row.split()[2] for row in rows if row}

    def blob(self, name: str) -> bytes:
        """Return the contents of a file, by its id or as COMMIT:PATH."""
        return _run(self.folder, "cat-file", "blob", name)

    def blob_id(self, data: bytes) -> str:
        """Return the id that these contents have in this repository."""
        header = b"blob %d\0" % len(data)
        return hashlib.new(_object_format(self.folder), header + data).hexdigest()

    def author(self) -> str:
        """Return the author of the next commit with the present time; raises `PublishError`."""
        try:
            return self.git("var", "GIT_COMMITTER_IDENT")
        except PublishError:
            raise PublishError(
                "git does not know who you are: run `git config --global user.name NAME` and "
                "`git config --global user.email ADDRESS` first"
            ) from None

    def commit(
        self,
        branch: str,
        author: str,
        message: str,
        written: Mapping[str, bytes],
        deleted: list[str] | None,
    ) -> None:
        """Commit to a branch without a work tree. `deleted` are the deleted files; if it is None,
        the commit has no other files than those in `written`.
        """
        before = self.read(f"refs/heads/{branch}")
        stream = [
            f"commit refs/heads/{branch}\ncommitter {author}\n".encode(),
            b"data %d\n%b\n" % (len(message.encode()), message.encode()),
            f"from {before}\n".encode() if before else b"",
            b"deleteall\n" if deleted is None else b"",
            *(b"D %b\n" % _quoted(path) for path in deleted or ()),
        ]
        for path, data in sorted(written.items()):
            mode = b"100755" if path == "run.py" else b"100644"
            stream.append(b"M %b inline %b\n" % (mode, _quoted(path)))
            stream.append(b"data %d\n%b\n" % (len(data), data))
        self.git("fast-import", "--quiet", stdin=b"".join(stream))

    def objects(self) -> Iterator[Member]:
        """Yield every object that a branch or tag reaches: files, folders, commits and tags."""
        rows = self.git("rev-list", "--objects", "--all").split("\n")
        names = dict(row.partition(" ")[::2] for row in rows if row)
        output = memoryview(
            _run(
                self.folder, "cat-file", "--batch", stdin="".join(f"{i}\n" for i in names).encode()
            )
        )
        at = 0
        for identity, path in names.items():
            header, at = _line(output, at)
            kind, size = header.split()[1], int(header.split()[2])
            name = path or ("the top folder" if kind == "tree" else kind)
            yield Member(f"{name} ({kind} {identity[:10]})", bytes(output[at : at + size]))
            at += size + 1


@cache
def _object_format(folder: Path) -> str:
    return _run(folder, "rev-parse", "--show-object-format").decode().strip()


def _line(output: memoryview, at: int) -> tuple[str, int]:
    """Return the line that begins at `at`, and where the next one begins."""
    end = at
    while output[end] != ord("\n"):
        end += 1
    return bytes(output[at:end]).decode(), end + 1


def _quoted(path: str) -> bytes:
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'.encode("utf-8", "surrogateescape")


def _run(folder: Path | None, *arguments: str, stdin: bytes | None = None) -> bytes:
    program = shutil.which("git")
    if program is None:
        raise PublishError("this command needs git: install it and run this again")
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    done = subprocess.run(
        [program, "-c", "core.quotePath=false", *arguments],
        cwd=folder,
        env=environment | {"LC_ALL": "C"},
        input=stdin or b"",
        capture_output=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise PublishError(f"`git {arguments[0]}` failed in {folder}: {' / '.join(lines[:3])}")
    return done.stdout
