"""Fixtures that several modules of grading tests share."""

import pytest

from autograder.grading import submission
from autograder.sandbox.client import Sandbox
from autograder.sandbox.limits import Limits
from autograder.tests.support.intake import Desk
from autograder.tests.support.needs import need_isolation


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox with the usual limits, in which a whole class is graded."""
    need_isolation()
    with Sandbox(Limits()) as sandbox:
        yield sandbox


@pytest.fixture
def desk(tmp_path):
    """A release and a faultless submission."""
    return Desk(tmp_path)


@pytest.fixture
def no_canaries(monkeypatch) -> None:
    """Leave out the self-test before grading: it does not touch the gradebook."""
    monkeypatch.setattr(submission, "prove_by_canaries", lambda *arguments: None)
