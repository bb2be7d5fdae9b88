"""Sandboxes in which the staff's modules are asked: few, used again, and never a broken one."""

import os
import threading

import pytest

from autograder import workspace
from autograder.sandbox.client import SandboxFault
from autograder.tests.support.needs import need_isolation
from course.probes import load_study

STUDY = load_study("study3")
CHECK = STUDY.checks["is_quiescent"]
ANSWER = workspace.answer_path(STUDY).read_text("utf-8")


@pytest.fixture
def idle(monkeypatch):
    """The sandboxes of this process that nobody uses; none at first."""
    need_isolation()
    monkeypatch.setattr(workspace, "_idle", workspace._idle.copy())
    workspace._idle[os.getpid()] = []
    return workspace._idle[os.getpid()]


def ask_in_a_thread() -> None:
    """Ask the answer from a thread that ends with it."""
    replies = []
    thread = threading.Thread(
        target=lambda: replies.append(workspace.ask(STUDY, ANSWER, CHECK, 10))
    )
    thread.start()
    thread.join()
    assert [reply.stopped for reply in replies] == [None]


def test_a_sandbox_outlasts_the_thread_that_used_it(idle):
    """One thread after another finds the same one, and it still answers."""
    ask_in_a_thread()
    (first,) = idle
    ask_in_a_thread()
    assert idle == [first]


def test_a_broken_sandbox_is_not_used_again(idle):
    """Whoever meets it is told, and the next one gets a new one."""
    ask_in_a_thread()
    (broken,) = idle
    broken.sandbox._process.kill()
    broken.sandbox._process.wait()
    with pytest.raises(SandboxFault):
        workspace.ask(STUDY, ANSWER, CHECK, 10)
    assert idle == []
    ask_in_a_thread()
    assert len(idle) == 1
    assert idle != [broken]
