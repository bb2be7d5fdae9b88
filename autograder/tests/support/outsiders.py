"""The modules of people who had only the student kit: the wrong ones, which are edits of an answer,
and the right ones, whole or as a patch of an answer that they resemble.

A patch begins with the answer's name and digest. `@@ 4:7` replaces these lines of the answer,
counted as in a slice of Python's, with the lines that follow. To write the whole modules to a
folder, and to store the modules of a folder:

    python -m autograder.tests.support.outsiders unpack build/outsiders
    python -m autograder.tests.support.outsiders pack build/outsiders
"""

import hashlib
import re
import sys
from difflib import SequenceMatcher
from pathlib import Path

from autograder import workspace
from autograder.mutants import load_outsiders
from course.probes import load_study, studies

WRONG = [(name, module) for name in studies() for module in load_outsiders(load_study(name))]
RIGHT = Path(__file__).parents[1] / "studies" / "outsiders" / "right"
HUNK = re.compile(r"^@@ (\d+):(\d+)\n", re.MULTILINE)
SMALL = 2 / 3  # of a module's lines: a longer patch is not worth its dependence on the answer


def study_of(path: Path) -> str:
    """The study of a module or a patch: "study3"."""
    return path.stem.partition("__")[0]


def whole(path: Path) -> str:
    """The text of a stored module; raises ValueError if its answer has changed."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return text
    head, *hunks = HUNK.split(text)
    answer = workspace.answer_path(load_study(study_of(path))).with_name(head.split()[0])
    if head != _head(answer):
        raise ValueError(f"{path.name} is a patch of another {answer.name}: see CONTRIBUTING.md")
    lines = _lines(answer)
    for start, end, new in reversed([*zip(hunks[::3], hunks[1::3], hunks[2::3], strict=True)]):
        lines[int(start) : int(end)] = [new]
    return "".join(lines)


def patch(module: Path, answer: Path) -> str:
    """The patch that makes a module of an answer."""
    old, new = _lines(answer), _lines(module)
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return _head(answer) + "".join(
        f"@@ {start}:{end}\n{''.join(new[first:last])}"
        for tag, start, end, first, last in changes
        if tag != "equal"
    )


def pack(folder: Path) -> None:
    """Store the modules of a folder."""
    for module in folder.glob("*.py"):
        answers = workspace.answer_path(load_study(study_of(module))).parent.glob("*.py")
        shortest = min((patch(module, answer) for answer in answers), key=_length)
        text, suffix = module.read_text("utf-8"), ".py"
        if _length(shortest) <= SMALL * _length(text):
            text, suffix = shortest, ".patch"
        for stored in RIGHT.glob(f"{module.stem}.*"):
            stored.unlink()
        RIGHT.joinpath(module.stem + suffix).write_text(text, "utf-8")


def unpack(folder: Path) -> None:
    """Write all modules to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in RIGHT.glob("study*"):
        folder.joinpath(path.stem + ".py").write_text(whole(path), "utf-8")


def _length(text: str) -> int:
    return text.count("\n")


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


def _head(answer: Path) -> str:
    digest = hashlib.sha256(answer.read_text("utf-8").encode()).hexdigest()
    return f"{answer.name} {digest[:8]}\n"


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]))
