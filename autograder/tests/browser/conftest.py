"""The browser window that the browser tests use, and the rule for a missing browser."""

from collections.abc import Iterator

import pytest

from autograder.benchmarks.support.browser.harness import Browser, Missing, browse
from autograder.tests.support.needs import need


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A new window, closed after the test."""
    with browse() as window:
        yield window


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip a test if its browser is missing; fail it in CI (`CI=true`)."""
    try:
        return (yield)
    except Missing as error:
        return need(False, f"{error}: what people see and click stays unchecked")


pytest_runtest_call = pytest_runtest_setup
