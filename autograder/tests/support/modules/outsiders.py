"""Modules by people with only the student kit: wrong ones, which are edits of an answer, and
correct ones, either complete or as a patch of a similar answer.

A patch begins with the answer's name and digest. `@@ 4:7` replaces these lines of the answer,
numbered as in a Python slice, with the lines that follow. To write the complete modules to a
folder, and to store the modules of a folder:

    python -m autograder.tests.support.modules.outsiders unpack build/outsiders
    python -m autograder.tests.support.modules.outsiders pack build/outsiders
"""

import re
import sys
from difflib import SequenceMatcher
from pathlib import Path

from autograder import workspace
from autograder.studies.mutants import load_outsiders
from autograder.workspace.alternatives import (
    complete_source,
    lines_of,
    patch_head,
    stored_modules,
)
from course.checks import load_study, studies

WRONG = [(name, module) for name in studies() for module in load_outsiders(load_study(name))]
STUDIES = load_study(studies()[0]).staff_folder.parent
LEAVES_OUT = re.compile(r"^ *# leaves out: (.+)$", re.MULTILINE)
SMALL = 2 / 3  # of a module's lines: a longer patch does not justify its dependence on the answer


def study_of(path: Path) -> str:
    """The study of a module or a patch: "study3"."""
    return path.parents[1].name.partition("_")[0]


def name_of(path: Path) -> str:
    """The name of a module or a patch, and of its file when unpacked: "study3__closures"."""
    return f"{study_of(path)}__{path.stem}"


def stored() -> list[Path]:
    """The stored modules and patches of all studies."""
    return [path for name in studies() for path in stored_modules(load_study(name))]


def whole(path: Path) -> str:
    """The source of a stored module; raises ValueError if its answer has changed."""
    return complete_source(path)


def left_out(text: str) -> list[str]:
    """The checks for extra credit that a module declares to leave out: `# leaves out: NAME`."""
    return [name for names in LEAVES_OUT.findall(text) for name in re.split(r",\s*", names)]


def patch(module: Path, answer: Path) -> str:
    """The patch that turns an answer into a module."""
    old, new = lines_of(answer), lines_of(module)
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return patch_head(answer) + "".join(
        f"@@ {start}:{end}\n{''.join(new[first:last])}"
        for tag, start, end, first, last in changes
        if tag != "equal"
    )


def pack(folder: Path) -> None:
    """Store the modules of a folder."""
    for module in folder.glob("*.py"):
        name, _, stem = module.stem.partition("__")
        study = load_study(name)
        place = STUDIES / study.assignment / "outsiders"
        place.mkdir(parents=True, exist_ok=True)
        answers = (
            study.staff_folder / name for name in (study.module, workspace.INDEPENDENT_SOLUTION)
        )
        shortest = min(
            (patch(module, answer) for answer in answers if answer.is_file()), key=_length
        )
        text, suffix = module.read_text("utf-8"), ".py"
        if _length(shortest) <= SMALL * _length(text):
            text, suffix = shortest, ".patch"
        for former in place.glob(f"{stem}.*"):
            former.unlink()
        place.joinpath(stem + suffix).write_text(text, "utf-8")


def unpack(folder: Path) -> None:
    """Write all modules to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in stored():
        folder.joinpath(name_of(path) + ".py").write_text(whole(path), "utf-8")


def _length(text: str) -> int:
    return text.count("\n")


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]))
