"""What takes minutes and is made once for all tests that look at it, in a group that they share.

The group, "whole book", "outsiders" or a study's name, has one process run them all. They look at
the book or at the notebooks that were run for it, or at what mutants or outsiders' modules reply.
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
from course.probes.replies import Replies

# A shell ignores Ctrl-C in the commands that a script runs in the background, and what a test
# starts would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=hasattr(signal, "pthread_sigmask"))
def _ctrl_c_is_heard_afterwards():
    """A test that leaves Ctrl-C blocked or ignored fails, and not some other test after it."""
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
    """The book of every notebook of every study, made by the command."""
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
    from autograder.benchmarks._postgres import server  # cannot be imported on Windows
    from autograder.tests.support.postgres import need_postgres

    need_postgres()
    with server() as running:
        yield running


_replies: dict[tuple[str, str, str], Replies] = {}  # of the staff's modules, in this process


@pytest.fixture
def asked_once(monkeypatch):
    """A module of the staff's is not asked a check's cases again, in all tests that say so.

    That takes minutes for the mutants of one study. What was stopped is asked again, as another
    test may give it more time.
    """
    ask = workspace.ask

    def remembered(study, text, check, seconds):
        key = (study.name, text, repr(check))
        if key not in _replies or _replies[key].computed > seconds:
            replies = ask(study, text, check, seconds)
            if replies.stopped:
                return replies
            _replies[key] = replies
        return _replies[key]

    monkeypatch.setattr(workspace, "ask", remembered)
