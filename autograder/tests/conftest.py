"""Expensive fixtures that are created once for all tests of a group.

A group ("whole book", "outsiders" or a study's name) runs in one process. Its tests use the book,
the notebooks run for it, or the replies of mutants or outsiders' modules.
"""

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import Result
from nbformat import NotebookNode
from typer.testing import CliRunner

from autograder import workspace
from autograder.commands.cli import app
from autograder.release import book
from course.checks.replies import Replies

# A shell ignores Ctrl-C in a script's background commands, and the processes that a test starts
# would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=hasattr(signal, "pthread_sigmask"))
def _ctrl_c_is_heard_afterwards():
    """A test that leaves Ctrl-C blocked or ignored fails itself, instead of a later test."""
    yield
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.SIGINT not in blocked
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


@dataclass
class Book:
    """The folder of a book, the command that made it, and the notebooks with their outputs."""

    folder: Path
    command: Result | None = None
    notebooks: dict[str, NotebookNode] = field(default_factory=dict)


@pytest.fixture(scope="session")
def whole_book(tmp_path_factory):
    """The book with every notebook of every study, made by the command."""
    made = Book(tmp_path_factory.mktemp("whole") / "book")

    def remembered(source, *arguments):
        made.notebooks[source.name] = run(source, *arguments)
        return made.notebooks[source.name]

    run = book.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "run", remembered)
        made.command = CliRunner().invoke(app, ["book", str(made.folder)])
    return made


@pytest.fixture(scope="session")
def postgres() -> Iterator:
    """A running PostgreSQL server for all tests of a process; skips the test if there is none."""
    from autograder.benchmarks.support.postgres import server  # not importable on Windows
    from autograder.tests.support.postgres import need_postgres

    need_postgres()
    with server() as running:
        yield running


_replies: dict[tuple[str, str, str], Replies] = {}  # of the staff's modules, in this process


@pytest.fixture
def cached_replies(monkeypatch):
    """The replies of staff modules are computed once per process and shared by the tests.

    This takes minutes for the mutants of one study. Interrupted runs are repeated, because another
    test may allow more time.
    """
    ask = workspace.run_check

    def remembered(study, text, check, seconds):
        key = (study.name, text, repr(check))
        if key not in _replies or _replies[key].computed > seconds:
            replies = ask(study, text, check, seconds)
            if replies.stopped:
                return replies
            _replies[key] = replies
        return _replies[key]

    monkeypatch.setattr(workspace, "run_check", remembered)
