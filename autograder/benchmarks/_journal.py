"""What a long benchmark has measured so far: a run that was stopped goes on where it stopped."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import autograder
from autograder.code_meaning import meaning
from autograder.workspace import answer_path
from course.probes import load_study

FOLDER = Path(__file__).parents[2] / "build" / "benchmarks"
TEXT = {".py", ".toml", ".json"}


class Journal:
    """The measurements of one benchmark, in NAME.jsonl in the folder, each with its key.

    Those of other code count no more: `code` are the files and folders that decide what is
    measured, tests in them left out, and `settings` whatever else does. Docstrings, annotations
    and format decide nothing.
    """

    def __init__(
        self, name: str, code: Iterable[Path], settings: object = None, folder: Path | None = None
    ) -> None:
        self.path = (folder or FOLDER) / f"{name}.jsonl"
        self._digest = _digest(code, settings)
        self._known = dict(self._lines())

    def __contains__(self, key: Sequence[str | int]) -> bool:
        """Whether something was measured under this key."""
        return json.dumps(key) in self._known

    def measured(self, key: Sequence[str | int], measure: Callable[[], Any]) -> Any:
        """What was measured under this key, as JSON has it; now, unless it was before."""
        name = json.dumps(key)
        if name not in self._known:
            self._known[name] = json.loads(json.dumps(measure()))
            self._write()
        return self._known[name]

    def keep(self, key: Sequence[str | int], value: object) -> None:
        """Keep what was measured elsewhere under this key, unless there is something already."""
        self.measured(key, lambda: value)

    def close(self) -> None:
        """Forget it all: the next run measures anew."""
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        """The file is never seen with half of it written, and holds nothing of other code."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(
            "".join(
                json.dumps([self._digest, name, value]) + "\n"
                for name, value in self._known.items()
            ),
            "utf-8",
        )
        new.replace(self.path)

    def _lines(self) -> Iterable[tuple[str, Any]]:
        for line in self.path.read_text("utf-8").splitlines() if self.path.is_file() else ():
            try:
                digest, name, value = json.loads(line)
            except ValueError:  # cut off when the run was stopped
                continue
            if digest == self._digest:
                yield name, value


def journal_of_grading(benchmark: Path, study: str) -> Journal:
    """What an interrupted run of a benchmark that grades a study has measured with this code."""
    staff = Path(autograder.__file__).parent
    return Journal(
        benchmark.stem,
        [
            answer_path(load_study(study)),
            benchmark,
            *(staff / name for name in ("grading", "sandbox", "telling", "database.py")),
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
            digest.update(f"{path.name}\0".encode() + _deciding(path))
    return digest.hexdigest()


def _deciding(path: Path) -> bytes:
    """What a file does if it contains Python code, otherwise its content."""
    if path.suffix != ".py":
        return path.read_bytes()
    return repr(meaning(path.read_text("utf-8"))).encode()
