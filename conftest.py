"""What holds for all tests: hypothesis looks at no clock, names are no longer than may be, and what
takes longest comes first."""

import pytest
from hypothesis import HealthCheck, settings

LONGEST = 10_000  # letters in the name of a test

settings.register_profile("kit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kit")


@pytest.hookimpl(trylast=True)  # after the order was shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names that are too long: pytest puts a test's name into the environment, and with too
    much in there no program can be started, by whichever test comes first.

    Groups of tests, each run by one process for minutes, are begun first, then other slow tests,
    so that at the end no process waits for another's."""
    long = [item.nodeid for item in items if len(item.nodeid) > LONGEST]
    if long:
        raise pytest.UsageError(f"give the values of this test short ids: {long[0][:LONGEST]}...")
    items.sort(
        key=lambda item: (
            not item.get_closest_marker("xdist_group"),
            not item.get_closest_marker("slow"),
        )
    )
