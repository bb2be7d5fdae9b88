"""Fixtures that several modules of grading tests share."""

import pytest

from autograder.grading import submission
from autograder.tests.support.intake import Desk


@pytest.fixture
def desk(tmp_path):
    """A release and a faultless submission."""
    return Desk(tmp_path)


@pytest.fixture
def no_canaries(monkeypatch) -> None:
    """Leave out the self-test before grading: it does not touch the gradebook."""
    monkeypatch.setattr(submission, "prove_by_canaries", lambda *arguments: None)
