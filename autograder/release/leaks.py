"""Searches files for leaks: hidden positions, expected replies and solutions.

Every release is searched byte by byte. The doctor searches all files outside `autograder/`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import common
import course
import sequence
import tictactoe
from autograder import workspace
from autograder.course_folder import CONFIG_FILE
from autograder.release.notebooks import NOTEBOOK_NAME
from autograder.studies import hidden_cases
from autograder.workspace.strip import BEGIN, solutions
from common.syntax import SHELL_LINES
from course.checks import Study, load_expected
from course.checks.question import texts_of
from course.checks.study_paths import study_roots
from course.lab.progress import RESULTS_FILE
from course.lab.start_page import PAGE

COURSE = Path(course.__file__).parent
PUBLIC_PACKAGES = (
    common,
    tictactoe,
    sequence,
    course,
)  # packages that students may receive
CODE_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
MIN_LEAK = 40  # minimum length, without white space, of solution lines that give an answer away
MIN_REPLIES = 4  # consecutive replies that cannot be a coincidence
CELLS = b"xo_"  # the characters of boards of tic-tac-toe and its variants
NOT_PUBLIC = {"autograder", "build", "dist"}  # folders at the root: staff only, or generated


class Readable(Protocol):
    """A file that can be searched for leaks: a `Path` or the member of an archive."""

    @property
    def name(self) -> str:
        """The name that is used in messages."""

    def read_bytes(self) -> bytes:
        """Return the contents of the file."""


def public_files() -> list[Path]:
    """Return all files that students may receive, which are those outside `autograder/` in every
    study location.

    If only the packages are installed, these are the files of the public packages.
    """
    root, others = COURSE.parent, study_roots()[1:]
    if (root / "pyproject.toml").is_file():
        roots = [root]
    else:
        roots = [Path(package.__path__[0]) for package in PUBLIC_PACKAGES]
    return [path for root in (*roots, *others) for path in shipped(root)]


def public_code() -> Iterator[tuple[Path, str]]:
    """Yield the code in the public files, without tests: modules, the code of each notebook, and
    each code block of a page.
    """
    for path in public_files():
        if "tests" not in path.parts and not path.name.startswith("test_"):
            for text in _code_of(path):
                yield path, text


def _code_of(path: Path) -> Iterable[str]:
    # A file that is not a module is the text form of a notebook.
    if path.suffix == ".py" and not NOTEBOOK_NAME.match(path.name):
        return [path.read_text("utf-8")]
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text("utf-8"))["cells"]
        code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        return [SHELL_LINES.sub("", code)]
    return CODE_BLOCK.findall(path.read_text("utf-8")) if path.suffix == ".md" else []


def shipped(root: Path) -> Iterator[Path]:
    """Yield the files below `root`, without ignored files, environments and course folders."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not (
                name in (".git", ".hypothesis", ".ipynb_checkpoints")
                or "cache" in name
                or (here == root and name in NOT_PUBLIC)
                or (here / name / "pyvenv.cfg").exists()
                or (here / name / CONFIG_FILE).exists()
            )
        )
        yield from (
            here / name
            for name in sorted(files)
            if name not in (".git", RESULTS_FILE, PAGE) and (here / name).is_file()
        )


def find_leaks(study: Study, files: Iterable[Readable], *, answers: bool = True) -> list[str]:
    """Return messages on hidden positions, expected replies and solutions of a study that occur in
    `files`.

    Without `answers`, for pages published after the deadline, solutions are not reported.
    """
    hidden = _hidden_positions(study)
    pieces = _answer_pieces(study) if answers else set()
    replies = _reply_pieces(study)
    leaks = []
    for path in files:
        raw = path.read_bytes()
        text = raw.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')
        leaks += [
            f"{path.name} contains the hidden position {position}"
            for position in hidden
            if _holds(raw, position.encode())
        ]
        if answers:
            leaks += [f"{path.name} holds {leak}" for leak in _answer_leaks(text, pieces)]
        numbers = _numbers(text)
        leaks += [
            f"{path.name} contains expected replies to the hidden positions of {check}"
            for check, runs in replies.items()
            if any(run in numbers for run in runs)
        ]
    return leaks


def _hidden_positions(study: Study) -> list[str]:
    """Return the positions of hidden cases that are not public, in sorted order."""

    def positions(of: Study) -> set[str]:
        return {
            text for check in of.checks.values() for case in check.cases for text in texts_of(case)
        }

    return sorted(positions(hidden_cases.hidden_study(study.name)) - positions(study))


def _answer_leaks(text: str, pieces: Iterable[str]) -> Iterator[str]:
    """Yield the parts of an answer that a text contains: marked regions and solution lines."""
    if re.search(rf'{BEGIN}[ \t]*(?:["\r\n]|$)', text):  # only at the end of a line
        yield "a solution region"
    dense = strip_separators(text)
    if any(piece in dense for piece in pieces):
        yield "lines of the answer"


def _holds(raw: bytes, position: bytes) -> bool:
    """Whether these bytes contain the position and it is not part of a larger board."""
    if position not in raw or not set(position) <= set(CELLS):
        return position in raw
    return re.search(b"(?<![%b])%b(?![%b])" % (CELLS, re.escape(position), CELLS), raw) is not None


def strip_separators(text: str, without: str = '",') -> str:
    """Remove white space and some other characters. This is much faster than `re.sub`.

    A notebook stores each line as a quoted string, separated by commas.
    """
    for character in without:
        text = text.replace(character, "")
    return "".join(text.split())


def _answer_pieces(study: Study) -> set[str]:
    """Return all runs of two or three consecutive solution lines that would give the answer away."""
    pieces = set()
    for region in solutions(workspace.answer_path(study).read_text("utf-8")):
        lines = [strip_separators(line) for line in region.splitlines()]
        for size in (2, 3):
            pieces |= {"".join(lines[i : i + size]) for i in range(len(lines) - size + 1)}
        pieces.add("".join(lines))
    return {piece for piece in pieces if len(piece) >= MIN_LEAK}


def _reply_pieces(study: Study) -> dict[str, list[str]]:
    """Return, for each check, the numbers in runs of consecutive expected replies, and all node
    counts.

    Only numbers are compared, so that the format makes no difference.
    """
    hidden = hidden_cases.hidden_study(study.name)
    expected, _ = load_expected(hidden_cases.expected_file(study), hidden.checks.values())
    pieces = {}
    for check, replies in expected.items():
        runs = [replies[i : i + MIN_REPLIES] for i in range(max(1, len(replies) - MIN_REPLIES + 1))]
        runs.append([reply["nodes"] for reply in replies if "nodes" in reply])
        numbers = [_numbers(json.dumps(run)) for run in runs]
        pieces[check] = [run for run in numbers if len(run.split()) >= MIN_REPLIES]
    return pieces


def _numbers(text: str) -> str:
    """Return the numbers in a text, with a space before and after each number."""
    return f" {' '.join(re.findall(r'-?[0-9]+(?:[.][0-9]+)?', text))} "
