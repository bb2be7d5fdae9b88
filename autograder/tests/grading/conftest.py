"""Fixtures shared by several modules of grading tests."""

import pytest

from autograder.grading.run import submission
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import SandboxLimits
from autograder.tests.support.courses.intake import StagingArea
from autograder.tests.support.needs import need_isolation


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox with the usual limits for grading a class."""
    need_isolation()
    with Sandbox(SandboxLimits()) as sandbox:
        yield sandbox


@pytest.fixture
def staging(tmp_path):
    """A release and a submission without problems."""
    return StagingArea(tmp_path)


@pytest.fixture
def no_self_test(monkeypatch) -> None:
    """Skip the self-test before grading, which does not affect the gradebook."""
    monkeypatch.setattr(submission, "run_self_test", lambda *arguments: None)
