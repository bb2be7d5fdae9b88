"""A small kit, and functions for the repositories that are made from it."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from autograder.release.book import MARK
from autograder.release.kit import GRADING
from autograder.release.public_course import Publication, Site
from course.checks import load_study

FIRST, SECOND = load_study("study1"), load_study("study2")
WANTED = [FIRST, SECOND]
VERSION = "0.1.0 (abc1234)"
MODULES = {
    f"course/{study.assignment}/{study.module}": (study.folder / study.module).read_bytes()
    for study in WANTED
}
KIT = {
    "README.md": b"# The kit\n\nOne.\n\nTwo.\n\nThree.\n",
    "LICENSE": b"MIT\n",
    "run.py": b"#!/usr/bin/env python3\n",
    "sequence/old.py": b"OLD = 1\n",
    GRADING: b'{"python": "3.12"}\n',
    **MODULES,
}
PAGES = {
    "index.html": b"<!DOCTYPE html><p>The course</p>\n",
    MARK: b"The command `book` made this.\n",
}
Publish = Callable[..., Publication]


def site_of(pages: Mapping[str, bytes] = PAGES, made_from: str = "1") -> Site:
    """A finished site."""
    return Site(made_from, lambda: pages)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return what it prints."""
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, message: str = "My changes") -> None:
    """Commit all changes in the folder."""
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", message)


def state(folder: Path) -> dict[str, object]:
    """Everything that must not change if a command refuses: files, branches and stored objects."""
    if not folder.exists():
        return {}
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
    if not (folder / ".git").exists():
        return {"files": files}
    objects = git(folder, "cat-file", "--batch-all-objects", "--batch-check")
    return {
        "files": files,
        "branches": git(folder, "for-each-ref"),
        "objects": sorted(objects.splitlines()),
    }
