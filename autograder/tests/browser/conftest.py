"""The window that the browser tests share the making of."""

from collections.abc import Iterator

import pytest

from autograder.tests.browser.harness import Browser, browse


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A new window, closed after the test."""
    with browse() as window:
        yield window
