"""Tests of a study's content are skipped while nothing that they depend on has changed.

They prove the answers, the mutants, the outsiders' modules and the notebooks, which takes most of
the time of all tests. `content.json` holds, for each test that has passed, a digest of what it
depends on. `python3 run.py test --all --content` runs all of them, and writes that file.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("content.json")
STUDY = re.compile(r"study\d+")
# What decides whether the content is right. The rest of the kit has tests of its own.
FOLDERS = ("tictactoe", "sequence", "course", *(f"autograder/{name}" for name in (
    "answers", "benchmarks", "doctor", "grading", "mutants", "promises", "release", "sandbox",
    "verdicts", "workspace")))
NOT_READ = {"__pycache__", "tests"}
UNCHANGED = ("nothing that it depends on has changed since it passed "
             "(python3 run.py test --all --content runs it)")
_passed: dict[str, str | None] = {}  # test -> its digest, or None if it has failed


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--content`."""
    parser.addoption("--content", action="store_true",
                     help="run the tests of content that is unchanged too, and note which passed")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", "content(study): a test of what one study says and asks, or "
                                       "of all of them; see autograder/tests/content.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests of content that is unchanged, or note what they depend on."""
    noted = recorded()
    for item in items:
        if mark := item.get_closest_marker("content"):
            now = digest(item.path, *mark.args)
            test = _name(item)
            if config.getoption("--content"):
                item.user_properties.append(("content", (test, now)))
            elif noted.get(test) == now:
                item.add_marker(pytest.mark.skip(reason=UNCHANGED))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note which tests of content have passed, in the process that hears of all tests."""
    for name, value in report.user_properties:
        if name == "content" and (report.failed or (report.passed and report.when == "call")):
            test, now = value
            _passed[test] = now if report.passed else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down which tests have passed."""
    if _passed and not hasattr(session.config, "workerinput"):  # not in xdist's processes
        noted = {test: now for test, now in (recorded() | _passed).items() if now}
        RECORD.write_text(json.dumps(dict(sorted(noted.items())), indent=0) + "\n", "utf-8")


def recorded() -> dict[str, str]:
    """The digests of what the tests depended on when they passed."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def digest(test: Path, study: str | None = None) -> str:
    """A digest of what a module of tests depends on: itself, modules beside it that hold no tests,
    and the code and the data of the kit; of the studies' own files only those of `study`, if one is
    given."""
    helpers = [path for folder in (test.parent, RECORD.parent)
               for path in sorted(folder.glob("*.py")) if not path.name.startswith("test_")]
    found = hashlib.sha256(b"".join(path.read_bytes() for path in [test, *helpers]))
    for name, of_file in _files():
        if study is None or {*STUDY.findall(name)} <= {study}:
            found.update(f"{name} {of_file}\n".encode())
    return found.hexdigest()[:16]


def _name(item: pytest.Item) -> str:
    """The name of a test, without the group that xdist adds to it."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid.removesuffix(f"@{group.args[0]}") if group else item.nodeid


@cache
def _files() -> list[tuple[str, str]]:
    return [(path.relative_to(ROOT).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
            for path in (ROOT / "requirements.lock", *sorted(_below()))]


def _below() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and not NOT_READ & {*parts} and not any(
                    part.startswith(".") for part in parts):
                yield path
