"""Reads the correct modules by people with only the student kit, which each study stores in
`outsiders/`: complete, or as a patch of a similar answer.

A patch begins with the answer's name and digest. `@@ 4:7` replaces these lines of the answer,
numbered as in a Python slice, with the lines that follow.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from course.checks import Study

FOLDER = "outsiders"
HUNK = re.compile(r"^@@ (\d+):(\d+)\n", re.MULTILINE)


def stored_modules(study: Study) -> list[Path]:
    """Return the stored modules and patches of a study."""
    return sorted(path for path in study.staff_folder.glob(f"{FOLDER}/*.*") if path.is_file())


def alternative_solutions(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each stored module. Patches of another version of the answer
    are skipped.
    """
    for path in stored_modules(study):
        try:
            yield path.stem, complete_source(path)
        except ValueError:
            continue


def complete_source(path: Path) -> str:
    """Return the source of a stored module; raises ValueError if its answer has changed."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return text
    head, *hunks = HUNK.split(text)
    answer = path.parents[1] / (head.split() or [""])[0]
    if not answer.is_file() or head != patch_head(answer):
        raise ValueError(f"{path.name} is a patch of another {answer.name}: see CONTRIBUTING.md")
    lines = lines_of(answer)
    for start, end, new in reversed([*zip(hunks[::3], hunks[1::3], hunks[2::3], strict=True)]):
        lines[int(start) : int(end)] = [new]
    return "".join(lines)


def patch_head(answer: Path) -> str:
    """Return the first line of a patch of an answer."""
    digest = hashlib.sha256(answer.read_text("utf-8").encode()).hexdigest()
    return f"{answer.name} {digest[:8]}\n"


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file with their ends."""
    return path.read_text("utf-8").splitlines(keepends=True)
