"""Searches files for leaks: hidden positions, expected replies, solutions.

Every release is searched, byte by byte; the doctor searches everything outside `autograder/`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import course
import sequence
import tictactoe
from autograder import verdicts, workspace
from autograder.course_folder import CONFIG_FILE
from autograder.workspace.strip import BEGIN, solutions
from course.probes import Study, load_expected
from course.probes.homes import homes
from course.probes.question import texts_of
from course.progress import NOTES
from course.start import PAGE

COURSE = Path(course.__file__).parent
PUBLIC_PACKAGES = (tictactoe, sequence, course)  # what a student may be given beside the assignment
MIN_LEAK = 40  # characters without white space from which a run of solution lines is an answer
REPLIES = 4  # so many neighbouring replies, or all node counts of a check, are no coincidence
CELLS = b"xo_"  # of which the boards of tic-tac-toe and its larger kin are written
STAFF_OR_MADE = {"autograder", "build", "dist"}  # folders at the root that are not handed out


def public_files() -> list[Path]:
    """Everything that a student may be given: all outside `autograder/`, in every home of studies.

    Where only the packages are installed, the files of the public ones.
    """
    root, others = COURSE.parent, homes()[1:]
    if (root / "pyproject.toml").is_file():
        roots = [root]
    else:
        roots = [Path(package.__file__).parent for package in PUBLIC_PACKAGES]
    return [path for root in (*roots, *others) for path in shipped(root)]


def shipped(root: Path) -> Iterator[Path]:
    """The files below `root` without what git ignores, environments and course folders."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not (
                name in (".git", ".hypothesis", ".ipynb_checkpoints")
                or "cache" in name
                or (here == root and name in STAFF_OR_MADE)
                or (here / name / "pyvenv.cfg").exists()
                or (here / name / CONFIG_FILE).exists()
            )
        )
        yield from (
            here / name
            for name in sorted(files)
            if name not in (".git", NOTES, PAGE) and (here / name).is_file()
        )


def find_leaks(study: Study, files: Iterable[Path], *, answers: bool = True) -> list[str]:
    """The leaks of hidden positions, expected replies or solutions in `files`, in sentences.

    Without `answers`, for what is handed out after the deadline, solutions are none.
    """
    hidden = verdicts.hidden_study(study.name)
    public = {
        text for check in study.checks.values() for case in check.cases for text in texts_of(case)
    }
    secret = {
        text for check in hidden.checks.values() for case in check.cases for text in texts_of(case)
    } - public
    pieces = _answer_pieces(study) if answers else set()
    replies = _reply_pieces(study)
    found = []
    for path in files:
        raw = path.read_bytes()
        text = raw.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')
        dense = squeezed(text)
        found += [
            f"{path.name} holds the hidden position {s}"
            for s in sorted(secret)
            if _holds(raw, s.encode())
        ]
        if answers and re.search(rf'{BEGIN}[ \t]*(?:["\r\n]|$)', text):  # it ends its line
            found.append(f"{path.name} holds a solution region")
        if any(piece in dense for piece in pieces):
            found.append(f"{path.name} holds lines of the answer")
        numbers = _numbers(text)
        found += [
            f"{path.name} holds expected replies to the hidden positions of {check}"
            for check, runs in replies.items()
            if any(run in numbers for run in runs)
        ]
    return found


def _holds(raw: bytes, position: bytes) -> bool:
    """Whether a position stands in these bytes, and not as a piece of a larger game's board."""
    if position not in raw or not set(position) <= set(CELLS):
        return position in raw
    return re.search(b"(?<![%b])%b(?![%b])" % (CELLS, re.escape(position), CELLS), raw) is not None


def squeezed(text: str, without: str = '",') -> str:
    """A text without white space and some other characters: much quicker than `re.sub`.

    A notebook keeps each line as a quoted string, with commas between them.
    """
    for character in without:
        text = text.replace(character, "")
    return "".join(text.split())


def _answer_pieces(study: Study) -> set[str]:
    """Every run of two or three neighbouring solution lines that is long enough to give it away."""
    pieces = set()
    for region in solutions(workspace.answer_path(study).read_text("utf-8")):
        lines = [squeezed(line) for line in region.splitlines()]
        for size in (2, 3):
            pieces |= {"".join(lines[i : i + size]) for i in range(len(lines) - size + 1)}
        pieces.add("".join(lines))
    return {piece for piece in pieces if len(piece) >= MIN_LEAK}


def _reply_pieces(study: Study) -> dict[str, list[str]]:
    """By check, the numbers of neighbouring expected replies and of all node counts, in a row.

    Only numbers, so that it makes no difference how they are written down.
    """
    hidden = verdicts.hidden_study(study.name)
    expected, _ = load_expected(verdicts.expected_file(study), hidden.checks.values())
    pieces = {}
    for check, replies in expected.items():
        runs = [replies[i : i + REPLIES] for i in range(max(1, len(replies) - REPLIES + 1))]
        runs.append([reply["nodes"] for reply in replies if "nodes" in reply])
        numbers = [_numbers(json.dumps(run)) for run in runs]
        pieces[check] = [run for run in numbers if len(run.split()) >= REPLIES]
    return pieces


def _numbers(text: str) -> str:
    """The numbers in a text, with a blank before and after each."""
    return f" {' '.join(re.findall(r'-?[0-9]+(?:[.][0-9]+)?', text))} "
