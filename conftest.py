"""Settings for all tests: no deadlines for hypothesis, a limit for the length of names, and the
slowest tests first."""

import os

import pytest
from hypothesis import HealthCheck, settings

LONGEST = 10_000  # characters in the name of a test

os.environ.pop("AUTOGRADER_CALLED_AS", None)  # messages name `autograder`, not run.py

settings.register_profile("kit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kit")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of tests that are skipped while their inputs are unchanged, which has no
    effect in a student's kit.
    """
    config.addinivalue_line(
        "markers",
        "content(study, inputs): a test of the content of a study, or of all studies, which reads "
        "only some files if `inputs` names them; see autograder/tests/support/content.py",
    )


@pytest.hookimpl(trylast=True)  # runs after the order has been shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reject names that are too long. pytest puts a test's name into the environment, and if the
    environment is too large, no program can be started.

    Groups of tests that take one process minutes start first, and the other slow tests follow, so
    that no process is idle at the end.
    """
    long = [item.nodeid for item in items if len(item.nodeid) > LONGEST]
    if long:
        raise pytest.UsageError(f"give the values of this test short ids: {long[0][:LONGEST]}...")
    items.sort(
        key=lambda item: (
            not item.get_closest_marker("xdist_group"),
            not item.get_closest_marker("slow"),
        )
    )
