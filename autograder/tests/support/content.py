"""A pytest plugin that skips tests of content if their inputs have not changed.

These tests verify the answers, the mutants, the outsiders' modules, the notebooks, the pages and the
engines of the games, and take many minutes. `content.json` holds a digest of the inputs of each test
that has passed. `python3 run.py test --all --content` runs all of these tests and updates that file.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TESTS = Path(__file__).parents[1]
RECORD = TESTS / "content.json"
STUDY = re.compile(r"study\d+")
# The inputs. Other parts of the kit, such as the command line, have no influence on these tests.
FOLDERS = (
    "common",
    "tictactoe",
    "sequence",
    "course",
    *(
        f"autograder/{name}"
        for name in (
            "benchmarks",
            "doctor",
            "grading",
            "release",
            "sandbox",
            "studies",
            "workspace",
        )
    ),
)
# What happens to marks after they were decided, and the inputs of tests that grade classes, which
# depend on it.
MARKS = (
    "autograder/grading/mark_history",
    *(f"autograder/grading/records/{name}.py" for name in ("attempts", "group_marks", "late")),
)
CLASSES = (*FOLDERS, *MARKS)
NOT_READ = {"__pycache__", "tests"}
UNCHANGED = (
    "its inputs have not changed since it passed; to run it: python3 run.py test --all --content"
)
_passed: dict[str, str | None] = {}  # test -> digest of its inputs, or None if it has failed


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--content`."""
    parser.addoption(
        "--content",
        action="store_true",
        help="run all tests of content, and record which of them have passed",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests of content whose inputs have not changed; with `--content`, skip none."""
    noted = recorded()
    for item in items:
        if mark := item.get_closest_marker("content"):
            now = digest(item.path, *mark.args, **mark.kwargs)
            test = _name(item)
            if config.getoption("--content"):
                item.user_properties.append(("content", (test, now)))
            elif noted.get(test) == now:
                item.add_marker(pytest.mark.skip(reason=UNCHANGED))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the result of a test of content, in the process that receives all reports."""
    for name, value in report.user_properties:
        if name == "content" and (report.failed or (report.passed and report.when == "call")):
            test, now = value
            _passed[test] = now if report.passed else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Record which tests of content have passed."""
    if _passed and not hasattr(session.config, "workerinput"):  # not in xdist's workers
        noted = {test: now for test, now in (recorded() | _passed).items() if now}
        RECORD.write_text(json.dumps(dict(sorted(noted.items())), indent=0) + "\n", "utf-8")


def recorded() -> dict[str, str]:
    """The digest of the inputs of each test when it last passed."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def digest(test: Path, study: str | None = None, inputs: Iterable[str] = FOLDERS) -> str:
    """A digest of the inputs of a test module.

    These are the module itself, the helper modules in its folder and in those above it, the helpers
    of all tests, and the kit's files `inputs`, with those in folders, without the files of studies
    other than `study` if one is given. `MARKS` are left out unless `inputs` contains them.
    """
    helpers = [
        path
        for folder in (*_folders(test), *sorted(ROOT.glob("*/tests/support/**")))
        for path in sorted(folder.glob("*.py"))
        if not path.name.startswith("test_") and path != Path(__file__)
    ]
    found = hashlib.sha256(b"".join(path.read_bytes() for path in [test, *helpers]))
    left_out = tuple({*MARKS} - {*inputs})
    for name, of_file in _files(("requirements.lock", *inputs)):
        if not name.startswith(left_out) and (study is None or {*STUDY.findall(name)} <= {study}):
            found.update(f"{name} {of_file}\n".encode())
    return found.hexdigest()[:16]


def _folders(test: Path) -> list[Path]:
    """The folder of a test module and those above it, up to that of all the autograder's tests."""
    return [folder for folder in test.parents if folder.is_relative_to(TESTS)]


def _name(item: pytest.Item) -> str:
    """The name of a test, without the group that xdist adds to it."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid.removesuffix(f"@{group.args[0]}") if group else item.nodeid


@cache
def _files(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (path.relative_to(ROOT).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for name in names
        for path in sorted(_below(ROOT / name))
    ]


def _below(top: Path) -> Iterator[Path]:
    for path in [top, *top.rglob("*")]:
        parts = path.relative_to(ROOT).parts
        if (
            path.is_file()
            and not NOT_READ & {*parts}
            and not any(part.startswith(".") for part in parts)
        ):
            yield path
