"""The sandboxes for the staff's modules: few, reused, and never a broken one."""

import os
import threading

import pytest

from autograder import workspace
from autograder.sandbox.client import SandboxFault
from autograder.tests.support.needs import need_isolation
from course.checks import load_study, study_paths

STUDY = load_study("study3")
CHECK = STUDY.checks["is_quiescent"]
ANSWER = workspace.answer_path(STUDY).read_text("utf-8")


@pytest.fixture
def idle(monkeypatch):
    """The unused sandboxes of this process; none at first."""
    need_isolation()
    monkeypatch.setattr(workspace, "_idle", workspace._idle.copy())
    pool = os.getpid(), tuple(study_paths.tables().values())
    workspace._idle[pool] = []
    return workspace._idle[pool]


def run_in_a_thread() -> None:
    """Run a check on the answer in a new thread."""
    replies = []
    thread = threading.Thread(
        target=lambda: replies.append(workspace.run_check(STUDY, ANSWER, CHECK, 10))
    )
    thread.start()
    thread.join()
    assert [reply.stopped for reply in replies] == [None]


def test_a_sandbox_outlasts_the_thread_that_used_it(idle):
    """A second thread uses the same sandbox, which still works."""
    run_in_a_thread()
    (first,) = idle
    run_in_a_thread()
    assert idle == [first]


def test_a_broken_sandbox_is_not_used_again(idle):
    """It raises an error once; after that there is a new sandbox."""
    run_in_a_thread()
    (broken,) = idle
    broken.sandbox._process.kill()
    broken.sandbox._process.wait()
    with pytest.raises(SandboxFault):
        workspace.run_check(STUDY, ANSWER, CHECK, 10)
    assert idle == []
    run_in_a_thread()
    assert len(idle) == 1
    assert idle != [broken]
