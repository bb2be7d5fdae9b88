"""Stores the measurements of long benchmarks, so that an interrupted run can continue."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import autograder
from autograder.code_meaning import meaning
from autograder.workspace import answer_path
from course.checks import load_study

FOLDER = Path(__file__).parents[3] / "build" / "benchmarks"
TEXT = {".py", ".toml", ".json"}


class Journal:
    """The measurements of one benchmark by key, stored in NAME.jsonl in the folder.

    Measurements of other versions of the code are discarded. `code` lists the files and folders
    that affect the results (tests in them are ignored), and `settings` contains everything else
    that affects them. Docstrings, annotations and format are ignored.
    """

    def __init__(
        self, name: str, code: Iterable[Path], settings: object = None, folder: Path | None = None
    ) -> None:
        self.path = (folder or FOLDER) / f"{name}.jsonl"
        self._digest = _digest(code, settings)
        self._stored = dict(self._lines())

    def __contains__(self, key: Sequence[str | int]) -> bool:
        """Whether there is a measurement with this key."""
        return json.dumps(key) in self._stored

    def measured(self, key: Sequence[str | int], measure: Callable[[], Any]) -> Any:
        """Return the stored measurement with this key, or a new one, as JSON data."""
        name = json.dumps(key)
        if name not in self._stored:
            self._stored[name] = json.loads(json.dumps(measure()))
            self._write()
        return self._stored[name]

    def keep(self, key: Sequence[str | int], value: object) -> None:
        """Store a measurement that was made elsewhere, unless there is already one with this key."""
        self.measured(key, lambda: value)

    def close(self) -> None:
        """Delete all measurements, so that the next run starts again."""
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        """Replace the file atomically, without measurements of other versions of the code."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(
            "".join(
                json.dumps([self._digest, name, value]) + "\n"
                for name, value in self._stored.items()
            ),
            "utf-8",
        )
        new.replace(self.path)

    def _lines(self) -> Iterable[tuple[str, Any]]:
        for line in self.path.read_text("utf-8").splitlines() if self.path.is_file() else ():
            try:
                digest, name, value = json.loads(line)
            except ValueError:  # the line was cut off when the run was stopped
                continue
            if digest == self._digest:
                yield name, value


def journal_of_grading(benchmark: Path, study: str) -> Journal:
    """Return the journal of a benchmark that grades a study."""
    staff = Path(autograder.__file__).parent
    return Journal(
        benchmark.stem,
        [
            answer_path(load_study(study)),
            benchmark,
            *(staff / name for name in ("grading", "sandbox", "reporting", "database.py")),
        ],
        (study,),
    )


def _digest(code: Iterable[Path], settings: object) -> str:
    digest = hashlib.sha256(repr(settings).encode())
    for root in code:
        files = (
            [root]
            if root.is_file()
            else sorted(
                path
                for path in root.rglob("*")
                if path.suffix in TEXT and "tests" not in path.relative_to(root).parts
            )
        )
        for path in files:
            digest.update(f"{path.name}\0".encode() + _relevant_content(path))
    return digest.hexdigest()


def _relevant_content(path: Path) -> bytes:
    """Return the meaning of a Python file (see `code_meaning`), or the content of any other file."""
    if path.suffix != ".py":
        return path.read_bytes()
    return repr(meaning(path.read_text("utf-8"))).encode()
